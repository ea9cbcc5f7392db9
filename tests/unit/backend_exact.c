/* The answer to a row depends on that row alone: the same bits at any place of any batch, with or
 * without a shadow, whatever the leading dimension, for widths of every kind. */
#include "tap.h"

#include <stdlib.h>

#include "backend/backend.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/process/thread.h"

enum { PLACES = 20, MOST = 700 };

struct layer {
    uint32_t in, out, act;
};

static void *take(struct machine *m, size_t count, size_t size)
{
    struct err e = {0};
    return machine_alloc(m, count * size + 1, &e);
}

static void fill(real *to, size_t count, uint64_t seed, double scale)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (real)(scale * rng_normal(seed, i, 0, 0, RNG_TEST));
}

#define OF(of_rows) .rows = (of_rows), .steps = 1, .shards = plan_shards(of_rows)

/* One answer on its way: y and x are [rows][ld]. */
struct answer {
    const struct layer *l;
    uint32_t rows, ld;
    const real *p;
    struct act shadow;
    struct act x, y;
};

/* dense, layer norm, batch norm with running statistics, one after the other. */
static void issue_answer(void *context, struct machine *m)
{
    const struct answer *c = context;
    const struct layer *l = c->l;
    uint32_t rows = c->rows, ld = c->ld;
    const real *b = c->p + (size_t)l->in * l->out, *gamma = b + l->out, *beta = gamma + l->out,
        *running = beta + l->out;
    struct act o = c->y;
    op_dense(m, &(struct op_dense){.y = o, .x = c->x, .w = c->p, .b = b, OF(rows), .in = l->in,
                                   .out = l->out, .shadow = c->shadow, .ldx = ld, .ldy = ld,
                                   .act = l->act == ACT_GELU ? ACT_NONE : l->act, .exact = 1,
                                   .slope = 0.1});
    op_act(m, &(struct op_act){.y = o, .x = o, OF(rows), .width = l->out, .ldx = ld, .ldy = ld,
                               .act = l->act == ACT_GELU ? ACT_GELU : ACT_NONE});
    op_lnorm(m, &(struct op_lnorm){.y = o, .x = o, .gamma = gamma, .beta = beta, OF(rows),
                                   .width = l->out, .ldx = ld, .ldy = ld, .epsilon = 1e-5});
    op_bnorm(m, &(struct op_bnorm){.y = o, .x = o, .running = running, .gamma = gamma, .beta = beta,
                                   OF(rows), .width = l->out, .ldx = ld, .ldy = ld,
                                   .epsilon = 1e-5});
}

static void answer(struct machine *m, const struct layer *l, uint32_t rows, uint32_t ld,
                   bool shadowed, const real *p, const real *x, real *y)
{
    struct group g = {.end = (uint64_t)l->in * l->out, .in = l->in, .out = l->out, .shards = 1};
    void *shadow = shadowed ? take(m, machine_shadow_bytes(m, &g, 1, g.end), 1) : NULL;
    machine_refresh(m, shadow, p, &g, 1);
    real *in = take(m, (size_t)rows * ld, sizeof *in), *out = take(m, (size_t)rows * ld,
            sizeof *out);
    for (uint32_t r = 0; r < rows; r++)
        memcpy(in + (size_t)r * ld, x + (size_t)r * l->in, l->in * sizeof *in);
    struct answer c = {l, rows, ld, p, shadow ? machine_shadow_of(m, shadow, 0) : no_act(),
                       {.at = in}, {.at = out}};
    struct routine *r = machine_record(m, issue_answer, &c);
    machine_play(m, r, 1);
    machine_act_download(m, y, c.y, rows, l->out, ld);
    routine_drop(m, r);
    machine_release(m, in);
    machine_release(m, out);
    machine_release(m, shadow);
}

static void one_layer(struct machine *m, const struct layer *l, const char *core,
                      const real *alone_c, real *keep)
{
    size_t parameters = (size_t)l->in * l->out + 5 * l->out;
    real *p = mem_alloc(parameters, sizeof *p), *x = mem_alloc((size_t)MOST * l->in, sizeof *x);
    real *y = mem_alloc((size_t)MOST * l->out, sizeof *y), *alone = mem_alloc(l->out,
            sizeof *alone);
    fill(p, parameters, 1, 0.5);
    for (size_t i = parameters - l->out; i < parameters; i++)
        p[i] = 1 + p[i] * p[i]; /* a running variance */
    fill(x, (size_t)MOST * l->in, 2, 1);
    real *row = mem_alloc(l->in, sizeof *row);
    fill(row, l->in, 3, 1);
    answer(m, l, 1, l->in > l->out ? l->in : l->out, true, p, row, alone);
    static const uint32_t batches[] = {2, 7, 64, 100, 700};
    bool same = true;
    for (uint32_t place = 0; place < PLACES; place++) {
        uint32_t rows = batches[place % 5], at = (place * 37 + place / 5) % rows;
        uint32_t ld = (l->in > l->out ? l->in : l->out) + place % 3;
        memcpy(x + (size_t)at * l->in, row, l->in * sizeof *x);
        answer(m, l, rows, ld, place % 2, p, x, y);
        same = same && memcmp(y + (size_t)at * l->out, alone, l->out * sizeof *y) == 0;
    }
    ok(same, "%s: a row through %u -> %u has the same bits at %d places", core, l->in, l->out,
       PLACES);
    if (alone_c)
        ok(memcmp(alone, alone_c, l->out * sizeof *alone) == 0, "and those of the plain C code");
    memcpy(keep, alone, l->out * sizeof *alone);
    mem_free(p);
    mem_free(x);
    mem_free(y);
    mem_free(alone);
    mem_free(row);
}

int main(void)
{
    static const struct layer layers[] = {{14, 128, ACT_RELU}, {128, 2, ACT_NONE},
                                          {37, 53, ACT_GELU}, {300, 33, ACT_TANH},
                                          {5, 1, ACT_SIGMOID}, {20, 3, ACT_RELU},
                                          {600, 17, ACT_ELU}};
    enum { LAYERS = sizeof layers / sizeof *layers };
    static const char *const cores[] = {"c", "avx2", "avx512"};
    static real first[LAYERS][128], other[128];
    threads_start(2);
    for (int i = 0; i < (sizeof(real) == sizeof(float) ? 3 : 1); i++) {
        struct err e = {0};
        setenv("DNN_CPU", cores[i], 1);
        struct machine *m = machine_open(&(struct machine_options){.backend = "cpu"}, &e);
        if (!m) {
            tap_skip(cores[i], "not on this processor");
            continue;
        }
        for (size_t k = 0; k < LAYERS; k++)
            one_layer(m, &layers[k], cores[i], i ? first[k] : NULL, i ? other : first[k]);
        machine_close(m);
    }
    threads_stop();
    is_int(mem_in_use(), 0, "everything was given back");
    return done();
}
