/* netfit.c - the fit hooks of layers: one way forward over the first rows, on which each layer that
 * has a hook is fitted to its input before it computes its output. */
#include "base/mem.h"
#include "model/netarena.h"

struct fitting {
    struct network *n;
    uint32_t rows, model; /* rows: of the batch, without those past its end */
    uint64_t seed;
    bool good;
    struct err *e;
};

static void fit_on(struct fitting *f, const struct layer *l, const struct fit_sample *x)
{
    const struct model *m = f->n->step.model;
    struct network_state s = {.params = mem_alloc(m->params, sizeof *s.params),
                              .buffers = mem_alloc(m->buffers + 1, sizeof *s.buffers)};
    f->good = network_get(f->n, &s, f->e);
    if (f->good) {
        l->type->fit(l, x, s.params, s.buffers);
        network_set(f->n, &s);
    }
    mem_free(s.params);
    mem_free(s.buffers);
}

void layer_fit(const struct layer *l, struct pass *p, struct act x)
{
    struct fitting *f = p->fitting;
    uint32_t width = l->in - l->hot.width;
    if (!l->type->fit || !f->good)
        return;
    uint32_t rows = f->rows * l->steps;
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
    p.fitting = &f;
    model_forward(m, &p, n->step.batch.target);
    return f.good && machine_wait(n->m, MACHINE_PATIENCE, e);
}
