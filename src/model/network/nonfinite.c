/* nonfinite.c - finds the layer where a number first was not finite. */
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/network/netarena.h"

static bool all_finite(const real *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static bool bad_output(const struct pass *p, const struct layer *l)
{
    uint32_t rows = p->dims.rows * pass_steps(p, &l->to);
    uint32_t width = l->out * (l->answers ? l->answers : 1);
    uint64_t count = (uint64_t)rows * width;
    real *y = mem_alloc(count ? count : 1, sizeof *y);
    machine_act_download(p->m, y, pass_act(p, l->y), rows, width, width);
    bool bad = !all_finite(y, count);
    mem_free(y);
    return bad;
}

/* The first layer whose output is not finite, NULL: none. The layers inside one come before its own
 * output. */
static const struct layer *first_bad(const struct pass *p, struct layer *const *layers,
                                     uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct layer *l = layers[i], *inside = first_bad(p, l->children, l->child_count);
        if (inside)
            return inside;
        if (!l->skipped && bad_output(p, l))
            return l;
    }
    return NULL;
}

static void name_layer(const struct model *m, const struct layer *l, const char *what, char *text,
                       size_t room)
{
    if (l)
        snprintf(text, room, "%s of layer %u of %u (%s)", what, l->position,
                 m->layers[m->layer_count - 1]->position, l->type->name);
    else
        snprintf(text, room, "%s of an embedding", what);
}

static void name_parameter(const struct model *m, uint64_t at, const char *what, char *text,
                           size_t room)
{
    const struct param *found = NULL;
    for (uint32_t i = 0; i < m->list.count; i++) {
        const struct param *p = &m->list.items[i];
        if (!p->buffer && p->at <= at)
            found = p;
    }
    name_layer(m, found ? found->layer : NULL, what, text, room);
}

void model_name_weight(const struct model *m, uint64_t at, char *text, size_t room)
{
    name_parameter(m, at, "a weight", text, room);
}

/* The way back runs from the last layer to the first: the last parameter whose gradient is not
 * finite is the origin. UINT64_MAX: all are finite. */
static uint64_t bad_gradient(const struct model *m, const struct pass *p)
{
    uint64_t count = dims_arena(p->dims, m->params), stride = p->dims.shard_stride;
    uint64_t worst = UINT64_MAX;
    real *g = mem_alloc(count, sizeof *g);
    machine_download(p->m, g, p->grads, (size_t)count * sizeof *g);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = i < m->params ? i : m->inputs.params + (i - m->params) % stride;
        if (!isfinite(g[i]) && (worst == UINT64_MAX || at > worst))
            worst = at;
    }
    mem_free(g);
    return worst;
}

static bool bad_loss(const struct pass *p)
{
    bool bad = false;
    double *loss = mem_alloc(p->dims.shards, sizeof *loss);
    machine_download(p->m, loss, p->part_loss, p->dims.shards * sizeof *loss);
    for (uint32_t i = 0; i < p->dims.shards; i++)
        bad = bad || !isfinite(loss[i]);
    mem_free(loss);
    return bad;
}

/* True: this micro-batch is the origin; text names the place. */
static bool bad_micro(struct network *n, uint32_t micro, char *text, size_t room)
{
    const struct model *m = n->step.model;
    struct pass p = net_train_pass(n, n->m, micro);
    struct act logits = model_forward(m, &p, p.target);
    const struct layer *bad = first_bad(&p, m->layers, m->layer_count);
    if (bad) {
        name_layer(m, bad, "the output", text, room);
        return true;
    }
    net_issue_loss(n, &p, logits);
    if (bad_loss(&p)) {
        snprintf(text, room, "the loss");
        return true;
    }
    model_backward(m, &p);
    uint64_t at = bad_gradient(m, &p);
    if (at == UINT64_MAX)
        return false;
    name_parameter(m, at, "the gradient", text, room);
    return true;
}

/* Finds a weight that is not finite although all gradients were. */
static bool bad_weights(struct network *n, char *text, size_t room)
{
    const struct model *m = n->step.model;
    uint64_t at = 0;
    struct network_state s;
    struct err e = {0};
    bool in_place = network_view(n, &s);
    if (!in_place)
        s = (struct network_state){.params = mem_alloc(m->params, sizeof *s.params)};
    if (!in_place && !network_get(n, &s, &e))
        at = m->params; /* the next wait reports the machine's failure */
    while (at < m->params && isfinite(s.params[at]))
        at++;
    if (!in_place)
        mem_free(s.params);
    if (at < m->params)
        model_name_weight(m, at, text, room);
    return at < m->params;
}

void network_nonfinite(struct network *n, char *text, size_t room)
{
    struct step now, again;
    if (bad_weights(n, text, room))
        return;
    snprintf(text, room, "a gradient");
    network_step(n, &now);
    again = now;
    again.tried -= now.bad_steps;
    again.row0 -= (uint64_t)now.bad_steps * net_step_rows(n);
    machine_upload(n->m, n->step.now, &again, sizeof again);
    net_feed_again(n, &again);
    for (uint32_t micro = 0; micro < n->o.micro; micro++)
        if (bad_micro(n, micro, text, room))
            break;
    machine_upload(n->m, n->step.now, &now, sizeof now);
}
