/* embed_numbers.c - every number with bins becomes `dim` numbers: e = x scale + shift + its
 * components times its rows of ple.weight (Gorishniy et al., "On embeddings for numerical
 * features", 2022; version B of their code, where the rows begin at 0). Columns without bins come
 * first, unchanged. It can only be the first layer, and is left out if no number has bins. */
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "model/layer.h"

struct run { uint32_t from, to, width; }; /* columns of x that become columns of y */
struct embed_spec {
    int type;
    int64_t dim;
    double deviation, rate;
    /* planned */
    uint32_t *numbers, count; /* owned: columns of x that have bins */
    struct run *runs;         /* owned: the others */
    uint32_t run_count, held; /* held: columns of x */
    uint64_t scale, shift;
};

static const struct option options[] = {
    LAYER_TYPE_ROW("embed_numbers"),
    {OPT_ROW(struct embed_spec, dim, OPT_INT, "16"), .low = 1, .high = 1024,
     .help = "How many numbers a number becomes."},
    {OPT_ROW(struct embed_spec, deviation, OPT_NUMBER, "0"), .flags = OPT_TRAINING, .low = 0,
     .high = 100,
     .help = "The standard deviation of the first weights of the components. 0: they begin at 0, "
             "and each number with a straight line."},
    {OPT_ROW(struct embed_spec, rate, OPT_NUMBER, "1"), .flags = OPT_TRAINING | OPT_OPEN_LOW,
     .low = 0, .high = 1000,
     .help = "The factor on the learning rate of the weights, and on their weight decay."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"embed_numbers\", \"dim\": 3}",
    "{\"type\": \"embed_numbers\", \"dim\": 2, \"deviation\": 0.3, \"rate\": 0.3}",
    NULL,
};

static uint32_t takes_pairs(const struct layer *l, double *rate)
{
    const struct embed_spec *s = l->spec;
    *rate = s->rate;
    return (uint32_t)s->dim;
}

/* True: column i of x is a number with bins. */
static bool has_bins(const struct features *f, uint32_t i)
{
    return f->numbers && i < f->format.numbers && f->numbers[i].bins > 0;
}

static void sort_columns(struct embed_spec *s, const struct features *f)
{
    s->numbers = mem_alloc((size_t)f->format.numbers + 1, sizeof *s->numbers);
    s->runs = mem_alloc((size_t)f->format.numbers + 1, sizeof *s->runs);
    for (uint32_t i = 0, to = 0; i < s->held; i++) {
        if (has_bins(f, i)) {
            s->numbers[s->count++] = i;
            continue;
        }
        if (i == 0 || has_bins(f, i - 1))
            s->runs[s->run_count++] = (struct run){.from = i, .to = to};
        s->runs[s->run_count - 1].width++;
        to++;
    }
}

/* Sets the ends of each feature's columns in y: columns of x, then `dim` for each number with
 * bins. */
static void put_chunks(const struct embed_spec *s, struct planner *p)
{
    uint32_t count = 0, at = 0;
    for (uint32_t i = 0, begin = 0; i < p->x.end_count; i++) {
        uint32_t end = p->x.ends[i];
        if (!has_bins(p->features, begin))
            p->x.ends[count++] = at += end - begin;
        begin = end;
    }
    for (uint32_t i = 0; i < s->count; i++)
        p->x.ends[count++] = at += (uint32_t)s->dim;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct embed_spec *s = l->spec;
    uint32_t dim = (uint32_t)s->dim;
    (void)e;
    l->skipped = !l->pairs.count;
    if (l->skipped) {
        p->x.read_by += p->x.read_by == l->position;
        return true;
    }
    s->held = l->in - l->pairs.components;
    sort_columns(s, p->features);
    uint64_t out = s->held - s->count + (uint64_t)s->count * dim;
    if (out > LAYER_MOST_UNITS)
        plan_refuse(p, "%d outputs of a layer", (int)LAYER_MOST_UNITS);
    l->out = (uint32_t)out;
    put_chunks(s, p);
    p->x.read_by = l->position + 1;
    s->scale = plan_param(p, "scale", SHAPE2(s->count, dim), PARAM_NORM);
    plan_rates(p, s->rate, 1);
    s->shift = plan_param(p, "shift", SHAPE2(s->count, dim), PARAM_NORM);
    plan_rates(p, s->rate, 1);
    l->y = plan_plain(p, l->out);
    p->flops += 6 * (uint64_t)s->count * dim;
    return true;
}

static void init(const struct layer *l, const struct first_values *v)
{
    const struct embed_spec *s = l->spec;
    uint64_t count = (uint64_t)s->count * (uint64_t)s->dim;
    double limit = 1 / sqrt((double)s->dim);
    init_uniform(v, s->scale, count, limit, 0);
    init_uniform(v, s->shift, count, limit, count);
    if (s->deviation > 0)
        init_normal(v, l->pairs.weight, (uint64_t)l->pairs.components * (uint64_t)s->dim,
                    s->deviation, 2 * count);
}

/* The places of one number, for its operations. */
struct one {
    uint64_t scale, shift; /* of parameters and gradients */
    const int32_t *bins;
    const real *shares;
    const struct ple_column *column;
    uint32_t at; /* column of y */
};

static struct one one_of(const struct layer *l, const struct pass *p, uint32_t i)
{
    const struct embed_spec *s = l->spec;
    uint64_t at = (uint64_t)i * (uint64_t)s->dim;
    uint64_t rows = (uint64_t)i * p->dims.rows * p->dims.steps;
    const void *table = pass_table(p, l->pairs.table);
    return (struct one){
        .scale = s->scale + at,
        .shift = s->shift + at,
        .bins = bytes_at(reals_at(p->reals, l->pairs.bins), rows * sizeof(int32_t)),
        .shares = reals_at(p->reals, l->pairs.shares + rows),
        .column = bytes_at(table, i * sizeof(struct ple_column)),
        .at = s->held - s->count + (uint32_t)at};
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct embed_spec *s = l->spec;
    struct act y = pass_act(p, l->y);
    uint32_t dim = (uint32_t)s->dim;
    for (uint32_t i = 0; i < s->run_count; i++)
        op_add(p->m, &(struct op_add){.y = act_part(p->m, y, s->runs[i].to, 1),
                                      .a = act_part(p->m, x, s->runs[i].from, 1),
                                      .dims = pass_dims(p, s->runs[i].width),
                                      .ldy = l->out,
                                      .lda = s->held});
    for (uint32_t i = 0; i < s->count; i++) {
        struct one one = one_of(l, p, i);
        op_dense(p->m, &(struct op_dense){.y = act_part(p->m, y, one.at, 1),
                                          .x = act_part(p->m, x, s->numbers[i], 1),
                                          .w = reals_at(p->params, one.scale),
                                          .b = reals_at(p->params, one.shift),
                                          .dims = pass_dims(p, 1),
                                          .out = dim,
                                          .ldx = s->held,
                                          .ldy = l->out,
                                          .exact = p->exact});
    }
    for (uint32_t i = 0; i < s->count; i++) {
        struct one one = one_of(l, p, i);
        op_ple_dense(p->m, &(struct op_ple_dense){.y = act_part(p->m, y, one.at, 1),
                                                  .bins = one.bins,
                                                  .shares = one.shares,
                                                  .w = reals_at(p->params, l->pairs.weight),
                                                  .column = one.column,
                                                  .dims = pass_dims(p, dim),
                                                  .columns = 1,
                                                  .ldy = l->out});
    }
    return y;
}

/* Numbers with bins are data: only the other columns of dx are written. */
static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct embed_spec *s = l->spec;
    uint32_t dim = (uint32_t)s->dim;
    for (uint32_t i = 0; i < s->run_count && dx.at; i++) {
        struct act to = act_part(p->m, dx, s->runs[i].from, 1);
        op_add(p->m, &(struct op_add){.y = to,
                                      .a = act_part(p->m, dy, s->runs[i].to, 1),
                                      .b = add ? to : no_act(),
                                      .dims = pass_dims(p, s->runs[i].width),
                                      .ldy = s->held,
                                      .lda = l->out,
                                      .ldb = s->held});
    }
    for (uint32_t i = 0; i < s->count; i++) {
        struct one one = one_of(l, p, i);
        op_ple_dense_back(p->m,
                          &(struct op_ple_dense_back){.dw = reals_at(p->grads, l->pairs.weight),
                                                      .dy = act_part(p->m, dy, one.at, 1),
                                                      .bins = one.bins,
                                                      .shares = one.shares,
                                                      .column = one.column,
                                                      .dims = pass_dims(p, dim),
                                                      .columns = 1,
                                                      .lddy = l->out,
                                                      .more = p->more});
    }
    for (uint32_t i = 0; i < s->count; i++) {
        struct one one = one_of(l, p, i);
        op_dense_back(p->m, &(struct op_dense_back){.dw = reals_at(p->grads, one.scale),
                                                    .db = reals_at(p->grads, one.shift),
                                                    .dy = act_part(p->m, dy, one.at, 1),
                                                    .y = act_part(p->m, pass_act(p, l->y), one.at,
                                                                  1),
                                                    .x = act_part(p->m, x, s->numbers[i], 1),
                                                    .w = reals_at(p->params, one.scale),
                                                    .now = p->now,
                                                    .dims = pass_dims(p, 1),
                                                    .out = dim,
                                                    .ldx = s->held,
                                                    .ldy = l->out,
                                                    .lddy = l->out,
                                                    .more = p->more});
    }
}

static void release(struct layer *l)
{
    struct embed_spec *s = l->spec;
    mem_free(s->numbers);
    mem_free(s->runs);
}

const struct layer_type layer_embed_numbers = {
    .name = "embed_numbers",
    .summary = "As the first layer: every number with bins becomes several, by a learned "
               "piecewise-linear function for each.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct embed_spec),
    .of = LAYER_OF_ROWS,
    .takes_pairs = takes_pairs,
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
    .release = release,
};
