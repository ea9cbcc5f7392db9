/* netfit.c - the fit hooks of layers: one way forward over the first rows, on which each layer that
 * has a hook is fitted to its input before it computes its output. It also computes a layer's input
 * for all rows, for layers that the host solves (rocket's output layer). */
#include "base/mem.h"
#include "model/network/netarena.h"

struct fitting {
    struct network *n;
    uint32_t rows, model; /* rows of the batch, without those past its end */
    uint64_t seed;
    const struct layer *tap; /* its input is fetched, and nothing is fitted; NULL: none */
    real *to;
    bool good;
    struct err *e;
};

static void fit_on(struct fitting *f, const struct layer *l, const struct fit_sample *x)
{
    const struct model *m = f->n->step.model;
    struct network_state s = {.params = mem_alloc(m->params, sizeof *s.params),
                              .buffers = mem_alloc(network_buffers(f->n) + 1, sizeof *s.buffers)};
    f->good = network_get(f->n, &s, f->e);
    if (f->good) {
        l->type->fit(l, x, s.params, s.buffers);
        network_set(f->n, &s);
    }
    mem_free(s.params);
    mem_free(s.buffers);
}

/* Fits a layer to this input, if its type has a hook. */
static void fit_layer(const struct layer *l, struct pass *p, struct act x)
{
    struct fitting *f = p->fitting;
    uint32_t width = l->in - l->onehot.width;
    if (l == f->tap)
        machine_act_download(p->m, f->to, x, f->rows, width, width);
    if (f->tap || !l->type->fit || !f->good)
        return;
    uint32_t rows = f->rows * l->from.steps;
    real *values = mem_alloc((size_t)rows * width + 1, sizeof *values);
    int32_t *length = mem_alloc(f->rows, sizeof *length);
    machine_act_download(p->m, values, x, rows, width, width);
    if (p->length)
        machine_download(p->m, length, p->length, f->rows * sizeof *length);
    fit_on(f, l,
           &(struct fit_sample){.x = values,
                                .length = p->length ? length : NULL,
                                .rows = rows,
                                .width = width,
                                .model = f->model,
                                .seed = f->seed});
    mem_free(values);
    mem_free(length);
}

static bool has_hook(struct layer *const *layers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (layers[i]->type->fit || has_hook(layers[i]->children, layers[i]->child_count))
            return true;
    return false;
}

bool network_fit_layers(struct network *n, struct err *e)
{
    const struct model *m = n->step.model;
    struct fitting f = {.n = n, .rows = m->rows, .good = true, .e = e};
    struct step now;
    if (!has_hook(m->layers, m->layer_count))
        return true;
    if (n->rows.train.from.count < f.rows)
        f.rows = (uint32_t)n->rows.train.from.count;
    network_step(n, &now);
    f.seed = now.seed;
    f.model = now.model;
    net_feed_again(n, &now);
    struct pass p = net_train_pass(n, n->m, 0);
    p.before = fit_layer;
    p.fitting = &f;
    p.most = 0;
    model_forward(m, &p, p.target);
    return f.good && machine_wait(n->m, MACHINE_PATIENCE, e);
}

bool network_layer_input(struct network *n, const struct source *from, uint32_t layer, real *to,
                         const struct stopper *stop, uint64_t *done, struct err *e)
{
    bool good = network_answer_source(n, from, e);
    uint32_t most;
    *done = 0;
    for (uint64_t at = 0; good && at < from->count && !(at && stopper_asked(stop)); at += most) {
        struct netshape *s = network_shape(n, from->count - at, &most);
        uint64_t left = from->count - at;
        const struct layer *tap = s->model->layers[layer];
        struct fitting f = {.n = n, .rows = left < most ? (uint32_t)left : most, .tap = tap,
                            .to = to + at * tap->in, .good = true, .e = e};
        network_answer_from(n, s, at);
        struct pass p = net_answer_pass(n, n->m, s);
        p.before = fit_layer;
        p.fitting = &f;
        model_forward(s->model, &p, p.target);
        good = machine_wait(n->m, MACHINE_PATIENCE, e);
        *done = at + f.rows;
    }
    network_answer_release(n);
    return good;
}
