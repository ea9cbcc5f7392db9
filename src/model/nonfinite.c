/* nonfinite.c - see nonfinite.h. */
#include "model/nonfinite.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "model/netarena.h"

static bool all_finite(const real *values, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

/* What the layers of a list and of the lists inside them are asked for, in their order. */
struct search {
    struct network *n;
    const struct model *m;
    uint64_t at; /* of a parameter */
    const struct layer *found;
    bool (*look)(struct search *s, const struct layer *l); /* true: this is the one */
};

static bool walk(struct search *s, struct layer *const *layers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct layer *l = layers[i];
        /* what lies inside a layer comes before its own output */
        if (walk(s, l->children, l->child_count))
            return true;
        if (!l->skipped && s->look(s, l)) {
            s->found = l;
            return true;
        }
    }
    return false;
}

static bool walk_all(struct search *s)
{
    return walk(s, s->m->layers, s->m->layer_count);
}

static bool bad_output(struct search *s, const struct layer *l)
{
    struct machine *machine = s->n->m;
    uint64_t count = (uint64_t)s->m->rows * l->out;
    real *y = mem_alloc(count ? count : 1, sizeof *y);
    machine_act_download(machine, y, act_at(machine, s->n->train.acts, l->y), s->m->rows, l->out,
                         l->out);
    bool bad = !all_finite(y, count);
    mem_free(y);
    return bad;
}

/* The parameters of a layer begin at its w; the last one that begins before is the owner. */
static bool owns(struct search *s, const struct layer *l)
{
    bool has = l->params > 0 && (l->child_count == 0 || l->out != l->in);
    if (has && l->w <= s->at && (!s->found || l->w >= s->found->w))
        s->found = l;
    return false;
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
    struct search s = {.m = m, .at = at, .look = owns};
    if (at >= m->embed_params)
        walk_all(&s);
    name_layer(m, s.found, what, text, room);
}

void model_name_weight(const struct model *m, uint64_t at, char *text, size_t room)
{
    name_parameter(m, at, "a weight", text, room);
}

/* The way back runs from the last layer to the first: the last parameter whose gradient is not
 * finite stands where it began. UINT64_MAX: there is none. */
static uint64_t bad_gradient(struct network *n)
{
    const struct model *m = n->model;
    uint64_t count = net_grads(m, n->shards), stride = net_shard_stride(m), worst = UINT64_MAX;
    real *g = mem_alloc(count, sizeof *g);
    machine_download(n->m, g, n->grads, (size_t)count * sizeof *g);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t at = i < m->params ? i : m->embed_params + (i - m->params) % stride;
        if (!isfinite(g[i]) && (worst == UINT64_MAX || at > worst))
            worst = at;
    }
    mem_free(g);
    return worst;
}

static bool bad_loss(struct network *n)
{
    bool bad = false;
    double *loss = mem_alloc(n->shards, sizeof *loss);
    machine_download(n->m, loss, n->part_loss, n->shards * sizeof *loss);
    for (uint32_t i = 0; i < n->shards; i++)
        bad = bad || !isfinite(loss[i]);
    mem_free(loss);
    return bad;
}

/* True when this micro-batch is where it began. */
static bool look_at_micro(struct network *n, uint32_t micro, char *text, size_t room)
{
    const struct model *m = n->model;
    struct pass p = net_train_pass(n, n->m, micro);
    struct search s = {.n = n, .m = m, .look = bad_output};
    const struct act *logits = model_forward(m, &p, n->train.target);
    if (walk_all(&s)) {
        name_layer(m, s.found, "the output", text, room);
        return true;
    }
    net_issue_loss(n, &p, logits);
    if (bad_loss(n)) {
        snprintf(text, room, "the loss");
        return true;
    }
    model_backward(m, &p);
    uint64_t at = bad_gradient(n);
    if (at == UINT64_MAX)
        return false;
    name_parameter(m, at, "the gradient", text, room);
    return true;
}

/* A step may leave a weight that is not finite behind finite gradients. */
static bool look_at_weights(struct network *n, char *text, size_t room)
{
    const struct model *m = n->model;
    uint64_t at = 0;
    struct network_state s;
    struct err e = {0};
    bool in_place = network_view(n, &s);
    if (!in_place)
        s = (struct network_state){.params = mem_alloc(m->params, sizeof *s.params)};
    if (!in_place && !network_get(n, &s, &e))
        at = m->params; /* whoever waits for the machine next is told why */
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
    if (look_at_weights(n, text, room))
        return;
    snprintf(text, room, "a gradient");
    network_step(n, &now);
    again = now;
    again.tried -= now.bad_steps;
    again.row0 -= (uint64_t)now.bad_steps * net_step_rows(n);
    machine_upload(n->m, n->now, &again, sizeof again);
    net_feed_again(n, &again);
    for (uint32_t micro = 0; micro < n->o.micro; micro++)
        if (look_at_micro(n, micro, text, room))
            break;
    machine_upload(n->m, n->now, &now, sizeof now);
}
