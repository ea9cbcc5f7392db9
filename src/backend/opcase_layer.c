/* opcase_layer.c - the cases of the operations that work on activations. */
#include <string.h>

#include "backend/opcase.h"

/* The step every case runs in: row0 as the flags say, 100 steps tried. */
static struct step *step_of(struct opdata *d)
{
    struct step now = {.seed = 0x9e3779b97f4a7c15u, .tried = 100, .applied = 97, .epoch = 3, .lr = 0.01, .weight_decay = 0.1};
    return opdata_values(d, "now", BUFFER_BYTES, &now, sizeof now, false);
}

/* How many rows of the batch are data. */
static uint64_t count_of(const struct opcase *c)
{
    return c->flags & CASE_ONE_ROW ? 1 : c->flags & CASE_RAGGED ? c->rows - c->rows / 3 : c->rows;
}

static struct act *act_input(struct opdata *d, const char *name, const struct opcase *c, uint32_t width, double scale)
{
    return opdata_input(d, name, BUFFER_ACT, c->rows, width, c->pad, scale);
}

static struct act *act_output(struct opdata *d, const char *name, const struct opcase *c, uint32_t width, bool fill)
{
    return opdata_output(d, name, BUFFER_ACT, c->rows, width, c->pad, fill);
}

/* --- batches: in numbers (every third with an indicator), out categories --- */

static const struct opcase cases_gather[] = {
    {.op = OP_gather, .rows = 256, .in = 14, .out = 0, .gate = 0},
    {.op = OP_gather, .rows = 256, .in = 14, .out = 3, .kind = 2, .flags = CASE_SHUFFLE, .gate = 0},
    {.op = OP_gather, .rows = 100, .in = 70, .out = 1, .pad = 3, .kind = 5, .flags = CASE_SHUFFLE | CASE_RAGGED, .gate = 0},
    {.op = OP_gather, .rows = 9, .in = 1, .out = 2, .flags = CASE_ONE_ROW, .gate = 0},
};

static void make_gather(const struct opcase *c, struct opdata *d)
{
    uint32_t records = c->flags & (CASE_RAGGED | CASE_ONE_ROW) ? (uint32_t)count_of(c) : 3 * c->rows;
    struct source *from = opdata_host(d, 1, sizeof *from);
    struct features *features = opdata_host(d, 1, sizeof *features);
    uint32_t *indicators = opdata_host(d, c->in, sizeof *indicators), *index = opdata_host(d, records, sizeof *index);
    float *class_weight = opdata_host(d, c->kind, sizeof *class_weight);
    unsigned char **chunk = opdata_host(d, 1, sizeof *chunk);
    struct rowfmt f = rowfmt_make(c->in, c->out);
    unsigned char *bytes = *chunk = opdata_host(d, records, f.stride);
    for (uint32_t i = 0; i < records; i++) {
        unsigned char *record = bytes + (size_t)i * f.stride;
        for (uint32_t k = 0; k < c->in; k++) {
            float x = (float)opdata_random(d, 2001) / 1000 - 1;
            memcpy(record + 4 * (size_t)k, &x, 4);
        }
        for (uint32_t k = 0; k < f.words; k++) {
            uint32_t word = (uint32_t)opdata_random(d, 1u << 30);
            memcpy(record + f.at_missing + 4 * (size_t)k, &word, 4);
        }
        for (uint32_t k = 0; k < c->out; k++) {
            int32_t id = (int32_t)opdata_random(d, 10);
            memcpy(record + f.at_category + 4 * (size_t)k, &id, 4);
        }
        int32_t label = (int32_t)opdata_random(d, c->kind + 1) - 1;
        float value = opdata_random(d, 10) ? (float)opdata_random(d, 100) : __builtin_nanf(""), weight = (float)(1 + opdata_random(d, 3));
        memcpy(record + f.at_target, c->kind ? (const void *)&label : (const void *)&value, 4);
        memcpy(record + f.at_weight, &weight, 4);
        index[i] = records - 1 - i;
    }
    for (uint32_t k = 0; k < c->kind; k++)
        class_weight[k] = 1 + (float)k;
    for (uint32_t k = 0; k < c->in; k += 3)
        indicators[features->indicator_count++] = k;
    features->format = f;
    features->indicators = indicators;
    *from = (struct source){.rows = {f, chunk, 63, records}, .index = index, .count = records,
                            .shuffle = c->flags & CASE_SHUFFLE ? 1 : 0, .classes = c->kind,
                            .class_weight = c->kind > 2 ? class_weight : NULL, .features = features};
    uint32_t width = c->in + features->indicator_count;
    d->arguments.gather = (struct op_gather){
        .x = act_output(d, "x", c, width, false), .ids = opdata_output(d, "ids", BUFFER_INT, c->rows, c->out, 0, false),
        .target = opdata_output(d, "target", BUFFER_REAL, c->rows, 1, 0, false),
        .weight = opdata_output(d, "weight", BUFFER_REAL, c->rows, 1, 0, false), .from = from, .now = step_of(d),
        .rows = c->rows, .ld = width + c->pad};
}
OPCASES(gather);

/* in categories of 2, 5, 8, ... values; out is the dimension of an embedding */
static int32_t *ids_of(struct opdata *d, const struct opcase *c)
{
    int32_t *ids = opdata_host(d, (size_t)c->rows * c->in, sizeof *ids);
    for (size_t i = 0; i < (size_t)c->rows * c->in; i++)
        ids[i] = (int32_t)opdata_random(d, 2 + 3 * (i % c->in));
    return opdata_values(d, "ids", BUFFER_INT, ids, (size_t)c->rows * c->in, false);
}

static const struct opcase cases_onehot[] = {
    {.op = OP_onehot, .rows = 100, .in = 1},
    {.op = OP_onehot, .rows = 256, .in = 6, .pad = 5},
};

static void make_onehot(const struct opcase *c, struct opdata *d)
{
    struct onehot_column *columns = opdata_host(d, c->in, sizeof *columns);
    uint32_t width = 0;
    for (uint32_t k = 0; k < c->in; k++) {
        columns[k] = (struct onehot_column){k, width, 2 + 3 * k};
        width += 2 + 3 * k;
    }
    d->arguments.onehot = (struct op_onehot){.x = act_output(d, "x", c, width, false), .ids = ids_of(d, c), .columns = columns,
                                             .rows = c->rows, .ld = width + c->pad, .ids_ld = c->in, .column_count = c->in};
}
OPCASES(onehot);

static struct embed_column *tables_of(struct opdata *d, const struct opcase *c, uint64_t *size)
{
    struct embed_column *columns = opdata_host(d, c->in, sizeof *columns);
    *size = 7; /* something stands before the first table */
    for (uint32_t k = 0; k < c->in; k++) {
        columns[k] = (struct embed_column){k, k * c->out, c->out, 2 + 3 * k, *size};
        *size += (uint64_t)(2 + 3 * k) * c->out;
    }
    return columns;
}

static const struct opcase cases_embed[] = {
    {.op = OP_embed, .rows = 100, .in = 1, .out = 3},
    {.op = OP_embed, .rows = 256, .in = 5, .out = 8, .pad = 2},
};

static void make_embed(const struct opcase *c, struct opdata *d)
{
    uint64_t size;
    struct embed_column *columns = tables_of(d, c, &size);
    d->arguments.embed = (struct op_embed){
        .x = act_output(d, "x", c, c->in * c->out, false), .ids = ids_of(d, c),
        .params = opdata_input(d, "params", BUFFER_REAL, 1, size, 0, 1), .columns = columns, .rows = c->rows,
        .ld = c->in * c->out + c->pad, .ids_ld = c->in, .column_count = c->in};
}
OPCASES(embed);

static const struct opcase cases_embed_back[] = {
    {.op = OP_embed_back, .rows = 100, .in = 1, .out = 3, .gate = 1e-5},
    {.op = OP_embed_back, .rows = 256, .in = 5, .out = 8, .pad = 2, .flags = CASE_MORE, .gate = 1e-5},
    {.op = OP_embed_back, .rows = 300, .in = 30, .out = 130, .gate = 1e-5},
};

static void make_embed_back(const struct opcase *c, struct opdata *d)
{
    uint64_t size;
    struct embed_column *columns = tables_of(d, c, &size);
    d->arguments.embed_back = (struct op_embed_back){
        .grads = opdata_output(d, "grads", BUFFER_REAL, 1, size, 0, true), .dx = act_input(d, "dx", c, c->in * c->out, 1),
        .ids = ids_of(d, c), .columns = columns, .now = step_of(d),
        .scratch = opdata_host(d, c->in, embed_back_scratch(c->rows)), .rows = c->rows, .ld = c->in * c->out + c->pad,
        .ids_ld = c->in, .column_count = c->in, .more = c->flags & CASE_MORE ? 1 : 0};
    d->flops = (double)c->rows * c->in * c->out;
}
OPCASES(embed_back);

/* --- layers --- */

static struct group weight_group(const struct opcase *c)
{
    return (struct group){.begin = 0, .end = (uint64_t)c->in * c->out, .lr = 1, .weight_decay = 1, .in = c->in, .out = c->out, .shards = 1};
}

static const void *shadow_of(struct opdata *d, const struct opcase *c, const real *w)
{
    struct group g = weight_group(c);
    size_t bytes = machine_shadow_bytes(d->machine, &g, 1, g.end);
    if (!(c->flags & CASE_SHADOW) || !bytes)
        return NULL;
    void *shadow = opdata_output(d, "shadow", BUFFER_BYTES, 1, bytes, 0, false);
    d->buffers[d->count - 1].written = false;
    machine_refresh(d->machine, shadow, w, &g, 1);
    return machine_shadow_of(d->machine, shadow, 0);
}

#define DENSE(r, i, o, k, f, p) {.op = OP_dense, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .pad = p, .gate = 1e-5}
static const struct opcase cases_dense[] = {
    DENSE(256, 14, 128, ACT_RELU, CASE_SHADOW, 0),
    DENSE(256, 128, 128, ACT_RELU, CASE_SHADOW, 0),
    DENSE(256, 128, 2, ACT_NONE, CASE_SHADOW, 0),
    DENSE(256, 128, 128, ACT_RELU, 0, 0),
    DENSE(100, 37, 53, ACT_NONE, CASE_BARE, 5),
    DENSE(100, 37, 53, ACT_RELU, CASE_SHADOW | CASE_KEEP_Z, 5),
    DENSE(77, 300, 70, ACT_GELU, CASE_SHADOW | CASE_KEEP_Z, 1),
    DENSE(77, 520, 33, ACT_SILU, CASE_KEEP_Z, 0),
    DENSE(1, 1, 1, ACT_NONE, 0, 0),
    DENSE(3, 17, 3, ACT_TANH, CASE_SHADOW, 2),
    DENSE(3, 5, 4, ACT_RELU, CASE_SHADOW | CASE_BARE, 0),
    DENSE(1000, 20, 5, ACT_SIGMOID, CASE_SHADOW, 0),
    DENSE(64, 16, 48, ACT_LEAKY_RELU, CASE_SHADOW, 0),
    DENSE(64, 31, 32, ACT_ELU, CASE_SHADOW, 0),
    DENSE(64, 8, 16, ACT_SELU, CASE_SHADOW, 0),
    DENSE(64, 8, 130, ACT_MISH, CASE_SHADOW | CASE_KEEP_Z, 0),
};

static void make_dense(const struct opcase *c, struct opdata *d)
{
    real *w = opdata_input(d, "w", BUFFER_REAL, c->in, c->out, 0, 0.3);
    d->arguments.dense = (struct op_dense){
        .y = act_output(d, "y", c, c->out, false), .z = c->flags & CASE_KEEP_Z ? act_output(d, "z", c, c->out, false) : NULL,
        .x = act_input(d, "x", c, c->in, 1), .w = w,
        .b = c->flags & CASE_BARE ? NULL : opdata_input(d, "b", BUFFER_REAL, 1, c->out, 0, 1), .shadow = shadow_of(d, c, w),
        .rows = c->rows, .in = c->in, .out = c->out, .ldx = c->in + c->pad, .ldy = c->out + c->pad, .ldz = c->out + c->pad,
        .act = c->kind, .exact = 1, .slope = 0.2};
    d->flops = 2.0 * c->rows * c->in * c->out;
}
OPCASES(dense);

#define BACK(r, i, o, k, f, p) {.op = OP_dense_back, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .pad = p, .gate = 1e-4}
static const struct opcase cases_dense_back[] = {
    BACK(256, 128, 128, ACT_RELU, CASE_SHADOW, 0),
    BACK(256, 14, 128, ACT_RELU, CASE_SHADOW | CASE_BARE, 0),
    BACK(256, 128, 2, ACT_NONE, CASE_SHADOW, 0),
    BACK(256, 128, 2, ACT_NONE, CASE_SHADOW | CASE_MORE | CASE_ADD, 0),
    BACK(200, 37, 53, ACT_TANH, CASE_SHADOW | CASE_ADD, 5),
    BACK(200, 37, 53, ACT_SIGMOID, CASE_MORE, 5),
    BACK(77, 300, 70, ACT_GELU, CASE_SHADOW, 1),
    BACK(77, 70, 300, ACT_SILU, 0, 1),
    BACK(500, 33, 9, ACT_MISH, CASE_SHADOW, 0),
    BACK(1, 1, 1, ACT_NONE, 0, 0),
    BACK(130, 19, 3, ACT_LEAKY_RELU, CASE_SHADOW, 2),
    BACK(64, 31, 32, ACT_ELU, CASE_SHADOW | CASE_MORE, 0),
    BACK(64, 8, 17, ACT_SELU, CASE_SHADOW, 0),
};

static void make_dense_back(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    size_t n = (size_t)c->in * c->out + c->out;
    real *w = opdata_input(d, "w", BUFFER_REAL, c->in, c->out, 0, 0.3);
    real *g = opdata_shards(d, "dw db", n, shards, true);
    bool bare = c->flags & CASE_BARE;
    d->arguments.dense_back = (struct op_dense_back){
        .dx = bare ? NULL : act_output(d, "dx", c, c->in, true), .dw = g, .db = g + (size_t)c->in * c->out,
        .dy = act_output(d, "dy", c, c->out, true), .y = act_input(d, "y", c, c->out, 0.6), .z = act_input(d, "z", c, c->out, 1),
        .x = act_input(d, "x", c, c->in, 1), .w = w, .shadow = shadow_of(d, c, w), .shard_stride = n, .rows = c->rows,
        .in = c->in, .out = c->out, .ldx = c->in + c->pad, .ldy = c->out + c->pad, .ldz = c->out + c->pad,
        .lddx = c->in + c->pad, .lddy = c->out + c->pad, .act = c->kind, .add_dx = c->flags & CASE_ADD ? 1 : 0,
        .more = c->flags & CASE_MORE ? 1 : 0, .slope = 0.2};
    d->flops = (bare ? 2.0 : 4.0) * c->rows * c->in * c->out;
}
OPCASES(dense_back);

#define ACTS(OP, g)                                                                                                     \
    {.op = OP, .rows = 33, .in = 128, .kind = ACT_RELU, .gate = g}, {.op = OP, .rows = 33, .in = 5, .kind = ACT_LEAKY_RELU, .gate = g}, \
    {.op = OP, .rows = 256, .in = 40, .kind = ACT_GELU, .gate = g}, {.op = OP, .rows = 256, .in = 40, .kind = ACT_SILU, .flags = CASE_ADD, .gate = g}, \
    {.op = OP, .rows = 256, .in = 40, .kind = ACT_ELU, .pad = 3, .gate = g}, {.op = OP, .rows = 256, .in = 40, .kind = ACT_SELU, .gate = g}, \
    {.op = OP, .rows = 256, .in = 40, .kind = ACT_TANH, .gate = g}, {.op = OP, .rows = 256, .in = 40, .kind = ACT_SIGMOID, .gate = g}, \
    {.op = OP, .rows = 256, .in = 40, .kind = ACT_MISH, .pad = 1, .flags = CASE_ADD, .gate = g}, {.op = OP, .rows = 8, .in = 1, .kind = ACT_NONE, .gate = g}
static const struct opcase cases_act[] = {ACTS(OP_act, 1e-5)};
static const struct opcase cases_act_back[] = {ACTS(OP_act_back, 1e-5)};

static void make_act(const struct opcase *c, struct opdata *d)
{
    d->arguments.act = (struct op_act){.y = act_output(d, "y", c, c->in, false), .x = act_input(d, "x", c, c->in, 3),
                                       .rows = c->rows, .width = c->in, .ldx = c->in + c->pad, .ldy = c->in + c->pad,
                                       .act = c->kind, .slope = 0.3};
}
OPCASES(act);

static void make_act_back(const struct opcase *c, struct opdata *d)
{
    d->arguments.act_back = (struct op_act_back){
        .dx = act_output(d, "dx", c, c->in, true), .dy = act_input(d, "dy", c, c->in, 1), .x = act_input(d, "x", c, c->in, 2),
        .rows = c->rows, .width = c->in, .ldx = c->in + c->pad, .lddx = c->in + c->pad, .lddy = c->in + c->pad, .act = c->kind,
        .add_dx = c->flags & CASE_ADD ? 1 : 0, .slope = 0.3};
}
OPCASES(act_back);

/* kind: the layer's number */
static const struct opcase cases_dropout[] = {
    {.op = OP_dropout, .rows = 256, .in = 128, .kind = 1, .gate = 1e-6},
    {.op = OP_dropout, .rows = 100, .in = 37, .kind = 65535, .pad = 3, .flags = CASE_ADD, .gate = 1e-6},
    {.op = OP_dropout, .rows = 10, .in = 1, .kind = 7, .flags = CASE_MORE, .gate = 1e-6},
    {.op = OP_dropout, .rows = 65, .in = 66, .gate = 1e-6},
};

static void make_dropout(const struct opcase *c, struct opdata *d)
{
    d->arguments.dropout = (struct op_dropout){
        .y = act_output(d, "y", c, c->in, true), .x = act_input(d, "x", c, c->in, 1), .now = step_of(d), .rows = c->rows,
        .width = c->in, .ldx = c->in + c->pad, .ldy = c->in + c->pad, .layer = c->kind, .micro = c->flags & CASE_MORE ? 2 : 0,
        .threshold = 1288490189 /* 0.3 * 2^32 */, .add = c->flags & CASE_ADD ? 1 : 0, .scale = 1 / 0.7};
}
OPCASES(dropout);

static const struct opcase cases_add[] = {
    {.op = OP_add, .rows = 256, .in = 128, .gate = 1e-6},
    {.op = OP_add, .rows = 100, .in = 37, .pad = 3, .gate = 1e-6},
    {.op = OP_add, .rows = 100, .in = 37, .pad = 3, .flags = CASE_BARE, .gate = 1e-6},
};

static void make_add(const struct opcase *c, struct opdata *d)
{
    d->arguments.add = (struct op_add){.y = act_output(d, "y", c, c->in, false), .a = act_input(d, "a", c, c->in, 1),
                                       .b = c->flags & CASE_BARE ? NULL : act_input(d, "b", c, c->in, 1), .rows = c->rows,
                                       .width = c->in, .ldy = c->in + c->pad, .lda = c->in + c->pad, .ldb = c->in + c->pad};
}
OPCASES(add);

/* --- normalisation --- */

/* 1 + 0.2 normal: what stands for variances, 1/deviations and gammas */
static real *near_one(struct opdata *d, const char *name, size_t n, size_t from, bool written)
{
    real *values = opdata_host(d, n, sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (real)((i < from ? 0.0 : 0.5) + (double)opdata_random(d, 1000) / 1000);
    return opdata_values(d, name, BUFFER_REAL, values, n, written);
}

#define NORMS(OP, f, g)                                                                                                  \
    {.op = OP, .rows = 256, .in = 128, .flags = f, .gate = g}, {.op = OP, .rows = 100, .in = 70, .pad = 3, .flags = (f) | CASE_RAGGED, .gate = g}, \
    {.op = OP, .rows = 9, .in = 1, .flags = f, .gate = g}, {.op = OP, .rows = 20, .in = 17, .flags = (f) | CASE_ONE_ROW, .gate = g}
static const struct opcase cases_bnorm_stats[] = {NORMS(OP_bnorm_stats, 0, 1e-5)};

static void make_bnorm_stats(const struct opcase *c, struct opdata *d)
{
    d->arguments.bnorm_stats = (struct op_bnorm_stats){
        .mean = opdata_output(d, "mean", BUFFER_REAL, 1, c->in, 0, false),
        .inv = opdata_output(d, "inv", BUFFER_REAL, 1, c->in, 0, false), .running = near_one(d, "running", 2 * c->in, c->in, true),
        .x = act_input(d, "x", c, c->in, 2), .weight = opdata_input(d, "weight", BUFFER_REAL, c->rows, 1, 0, 1),
        .now = step_of(d), .count = count_of(c), .rows = c->rows, .width = c->in, .ld = c->in + c->pad, .momentum = 0.1,
        .epsilon = 1e-5};
}
OPCASES(bnorm_stats);

static const struct opcase cases_bnorm[] = {NORMS(OP_bnorm, 0, 1e-5), NORMS(OP_bnorm, CASE_BARE, 1e-5)};

static void make_bnorm(const struct opcase *c, struct opdata *d)
{
    bool bare = c->flags & CASE_BARE;
    d->arguments.bnorm = (struct op_bnorm){
        .y = act_output(d, "y", c, c->in, false), .x = act_input(d, "x", c, c->in, 2),
        .mean = bare ? NULL : opdata_input(d, "mean", BUFFER_REAL, 1, c->in, 0, 1), .inv = bare ? NULL : near_one(d, "inv", c->in, 0, false),
        .running = near_one(d, "running", 2 * c->in, c->in, false), .gamma = near_one(d, "gamma", c->in, 0, false),
        .beta = opdata_input(d, "beta", BUFFER_REAL, 1, c->in, 0, 1), .rows = c->rows, .width = c->in, .ldx = c->in + c->pad,
        .ldy = c->in + c->pad, .epsilon = 1e-5};
}
OPCASES(bnorm);

static const struct opcase cases_bnorm_sums[] = {NORMS(OP_bnorm_sums, 0, 1e-5), NORMS(OP_bnorm_sums, CASE_MORE, 1e-5)};

static void make_bnorm_sums(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    real *g = opdata_shards(d, "dgamma dbeta", 2 * c->in, shards, true);
    d->arguments.bnorm_sums = (struct op_bnorm_sums){
        .sums = opdata_output(d, "sums", BUFFER_REAL, 2, c->in, 0, false), .dgamma = g, .dbeta = g + c->in,
        .dy = act_input(d, "dy", c, c->in, 1), .x = act_input(d, "x", c, c->in, 2),
        .mean = opdata_input(d, "mean", BUFFER_REAL, 1, c->in, 0, 1), .inv = near_one(d, "inv", c->in, 0, false),
        .now = step_of(d), .count = count_of(c), .shard_stride = 2 * c->in, .rows = c->rows, .width = c->in,
        .ldx = c->in + c->pad, .lddy = c->in + c->pad, .more = c->flags & CASE_MORE ? 1 : 0, .shards = shards};
}
OPCASES(bnorm_sums);

static const struct opcase cases_bnorm_back[] = {NORMS(OP_bnorm_back, 0, 1e-5), NORMS(OP_bnorm_back, CASE_ADD, 1e-5)};

static void make_bnorm_back(const struct opcase *c, struct opdata *d)
{
    d->arguments.bnorm_back = (struct op_bnorm_back){
        .dx = act_output(d, "dx", c, c->in, true), .dy = act_input(d, "dy", c, c->in, 1), .x = act_input(d, "x", c, c->in, 2),
        .mean = opdata_input(d, "mean", BUFFER_REAL, 1, c->in, 0, 1), .inv = near_one(d, "inv", c->in, 0, false),
        .gamma = near_one(d, "gamma", c->in, 0, false), .sums = opdata_input(d, "sums", BUFFER_REAL, 2, c->in, 0, 5),
        .now = step_of(d), .count = count_of(c), .rows = c->rows, .width = c->in, .ldx = c->in + c->pad,
        .lddx = c->in + c->pad, .lddy = c->in + c->pad, .add_dx = c->flags & CASE_ADD ? 1 : 0};
}
OPCASES(bnorm_back);

static const struct opcase cases_lnorm[] = {NORMS(OP_lnorm, 0, 1e-5), {.op = OP_lnorm, .rows = 70, .in = 33, .flags = CASE_BARE, .gate = 1e-5}};

static void make_lnorm(const struct opcase *c, struct opdata *d)
{
    bool bare = c->flags & CASE_BARE;
    d->arguments.lnorm = (struct op_lnorm){
        .y = act_output(d, "y", c, c->in, false), .mean = bare ? NULL : opdata_output(d, "mean", BUFFER_REAL, 1, c->rows, 0, false),
        .inv = bare ? NULL : opdata_output(d, "inv", BUFFER_REAL, 1, c->rows, 0, false), .x = act_input(d, "x", c, c->in, 2),
        .gamma = near_one(d, "gamma", c->in, 0, false), .beta = opdata_input(d, "beta", BUFFER_REAL, 1, c->in, 0, 1),
        .rows = c->rows, .width = c->in, .ldx = c->in + c->pad, .ldy = c->in + c->pad, .epsilon = 1e-5};
}
OPCASES(lnorm);

static const struct opcase cases_lnorm_back[] = {NORMS(OP_lnorm_back, 0, 1e-4), NORMS(OP_lnorm_back, CASE_ADD | CASE_MORE, 1e-4)};

static void make_lnorm_back(const struct opcase *c, struct opdata *d)
{
    real *g = opdata_shards(d, "dgamma dbeta", 2 * c->in, plan_shards(c->rows), true);
    d->arguments.lnorm_back = (struct op_lnorm_back){
        .dx = act_output(d, "dx", c, c->in, true), .dgamma = g, .dbeta = g + c->in, .dy = act_input(d, "dy", c, c->in, 1),
        .x = act_input(d, "x", c, c->in, 2), .mean = opdata_input(d, "mean", BUFFER_REAL, 1, c->rows, 0, 0.3),
        .inv = near_one(d, "inv", c->rows, 0, false), .gamma = near_one(d, "gamma", c->in, 0, false), .shard_stride = 2 * c->in,
        .rows = c->rows, .width = c->in, .ldx = c->in + c->pad, .lddx = c->in + c->pad, .lddy = c->in + c->pad,
        .add_dx = c->flags & CASE_ADD ? 1 : 0, .more = c->flags & CASE_MORE ? 1 : 0};
}
OPCASES(lnorm_back);

/* --- losses: in classes; kind 1 to 10 stands for smoothing kind / 20, or gamma kind - 1 of a focal one --- */

static real *weights_of(struct opdata *d, const struct opcase *c)
{
    real *values = opdata_host(d, c->rows, sizeof *values);
    for (size_t i = 0; i < count_of(c); i++)
        values[i] = (real)opdata_random(d, 4) / 2; /* some rows weigh nothing */
    return opdata_values(d, "weight", BUFFER_REAL, values, c->rows, false);
}

#define CLASSES(r, i, k, f, p) {.op = OP_loss_class, .rows = r, .in = i, .kind = k, .flags = f, .pad = p, .gate = 1e-5}
static const struct opcase cases_loss_class[] = {
    CLASSES(256, 2, 0, 0, 0), CLASSES(256, 2, 2, 0, 0), CLASSES(100, 9, 2, CASE_RAGGED, 3), CLASSES(5, 1000, 1, 0, 0),
    CLASSES(3, 20000, 1, 0, 0), CLASSES(256, 2, 3, CASE_SECOND, 0), CLASSES(70, 5, 1, CASE_SECOND | CASE_MORE, 1),
    CLASSES(256, 3, 0, CASE_BARE, 0), CLASSES(33, 4, 2, CASE_SECOND | CASE_RAGGED, 0),
};

static void make_loss_class(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    real *target = opdata_host(d, c->rows, sizeof *target);
    for (size_t i = 0; i < c->rows; i++)
        target[i] = (real)opdata_random(d, c->in);
    bool focal = c->flags & CASE_SECOND;
    d->arguments.loss_class = (struct op_loss_class){
        .dlogits = c->flags & CASE_BARE ? NULL : act_output(d, "dlogits", c, c->in, false),
        .part_loss = opdata_output(d, "part_loss", BUFFER_DOUBLE, 1, shards, 0, true),
        .part_weight = opdata_output(d, "part_weight", BUFFER_DOUBLE, 1, shards, 0, true),
        .logits = act_input(d, "logits", c, c->in, 3), .target = opdata_values(d, "target", BUFFER_REAL, target, c->rows, false),
        .weight = weights_of(d, c), .rows = c->rows, .classes = c->in, .ld = c->in + c->pad, .ldd = c->in + c->pad,
        .kind = focal ? CLASS_FOCAL : CLASS_CROSS_ENTROPY, .more = c->flags & CASE_MORE ? 1 : 0,
        .smoothing = focal ? 0 : c->kind / 20.0, .gamma = focal ? c->kind - 1.0 : 0};
    d->flops = 10.0 * c->rows * c->in;
}
OPCASES(loss_class);

#define VALUES(r, k, f, p) {.op = OP_loss_value, .rows = r, .in = 1, .kind = k, .flags = f, .pad = p, .gate = 1e-5}
static const struct opcase cases_loss_value[] = {
    VALUES(256, VALUE_MSE, 0, 0), VALUES(100, VALUE_MAE, CASE_RAGGED, 2), VALUES(256, VALUE_HUBER, CASE_MORE, 0),
    VALUES(65, VALUE_QUANTILE, 0, 1), VALUES(256, VALUE_MSE, CASE_BARE, 0),
};

static void make_loss_value(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    d->arguments.loss_value = (struct op_loss_value){
        .dy = c->flags & CASE_BARE ? NULL : act_output(d, "dy", c, 1, false),
        .part_loss = opdata_output(d, "part_loss", BUFFER_DOUBLE, 1, shards, 0, true),
        .part_weight = opdata_output(d, "part_weight", BUFFER_DOUBLE, 1, shards, 0, true), .y = act_input(d, "y", c, 1, 2),
        .target = opdata_input(d, "target", BUFFER_REAL, c->rows, 1, 0, 2), .weight = weights_of(d, c), .rows = c->rows,
        .ld = 1 + c->pad, .ldd = 1 + c->pad, .kind = c->kind, .more = c->flags & CASE_MORE ? 1 : 0, .delta = 1.3, .q = 0.8};
    d->flops = 5.0 * c->rows;
}
OPCASES(loss_value);
