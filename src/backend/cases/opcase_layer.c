/* opcase_layer.c - cases of operations on activations. */
#include <string.h>

#include "backend/cases/opcase.h"

/* --- batches: in numbers (every third with an indicator), out categories. CASE_SECOND: sequences
 * of 1 to 5 steps; CASE_MORE: each step has a target; CASE_ZEROS_IN: sequences in runs, with places
 * for more steps --- */

enum { GATHER_STEPS = 5, GATHER_PLACES = 7 };

static const struct opcase cases_gather[] = {
    {.op = OP_gather, .rows = 256, .in = 14, .out = 0, .gate = 0},
    {.op = OP_gather, .rows = 256, .in = 14, .out = 3, .kind = 2, .flags = CASE_SHUFFLE, .gate = 0},
    {.op = OP_gather, .rows = 100, .in = 70, .out = 1, .pad = 3, .kind = 5,
     .flags = CASE_SHUFFLE | CASE_RAGGED, .gate = 0},
    {.op = OP_gather, .rows = 60, .in = 30, .out = 1, .pad = 2, .kind = 3, .flags = CASE_SHUFFLE,
     .gate = 0}, /* some lanes of a warp a record */
    {.op = OP_gather, .rows = 9, .in = 1, .out = 2, .flags = CASE_ONE_ROW, .gate = 0},
    {.op = OP_gather, .rows = 64, .in = 14, .out = 2, .kind = 3, .pad = 1,
     .flags = CASE_SHUFFLE | CASE_SECOND, .gate = 0},
    {.op = OP_gather, .rows = 50, .in = 33, .out = 1, .kind = 2,
     .flags = CASE_SHUFFLE | CASE_SECOND | CASE_MORE | CASE_RAGGED, .gate = 0},
    {.op = OP_gather, .rows = 40, .in = 17, .out = 1, .kind = 2,
     .flags = CASE_SHUFFLE | CASE_SECOND | CASE_ZEROS_IN, .gate = 0},
    {.op = OP_gather, .rows = 5, .in = 60, .out = 0,
     .flags = CASE_SECOND | CASE_MORE | CASE_ONE_ROW, .gate = 0},
    {.op = OP_gather, .rows = 200, .in = 20, .out = 2, .kind = 3,
     .flags = CASE_BARE | CASE_SHUFFLE | CASE_RAGGED, .gate = 0}, /* views */
    {.op = OP_gather, .rows = 7, .in = 3, .out = 0, .kind = 2, .flags = CASE_BARE | CASE_ONE_ROW,
     .gate = 0},
    {.op = OP_gather, .rows = 20, .in = 50, .out = 1, .flags = CASE_BARE | CASE_SHUFFLE,
     .gate = 0},
    {.op = OP_gather, .rows = 3, .in = 4001, .out = 700, .kind = 2, .pad = 1,
     .flags = CASE_SHUFFLE | CASE_RAGGED, .gate = 0}, /* several blocks a record */
    {.op = OP_gather, .rows = 900, .in = 2, .out = 1, .pad = 1, .flags = CASE_SHUFFLE, .gate = 0},
};

/* The records of each sequence, SOURCE_NONE after its end. */
static const uint32_t *make_steps(struct opdata *d, uint32_t records, uint32_t places)
{
    uint32_t *index = opdata_host(d, (size_t)records * places, sizeof *index);
    for (size_t i = 0; i < records; i++) {
        uint64_t length = 1 + opdata_random(d, GATHER_STEPS);
        for (uint64_t t = 0; t < places; t++)
            index[i * places + t] =
                t < length ? (uint32_t)opdata_random(d, records) : SOURCE_NONE;
    }
    return opdata_map_host(d, index, (size_t)records * places * sizeof *index);
}

static void make_gather(const struct opcase *c, struct opdata *d)
{
    uint32_t records = c->flags & (CASE_RAGGED | CASE_ONE_ROW) ? (uint32_t)opcase_count(c)
        : 3 * c->rows;
    uint32_t views = c->flags & CASE_BARE ? 1 : 0, each = views || c->flags & CASE_MORE ? 1 : 0;
    uint32_t steps = views || c->flags & CASE_SECOND ? GATHER_STEPS : 1;
    uint32_t places = c->flags & CASE_ZEROS_IN ? GATHER_PLACES : steps;
    uint32_t targets = each ? c->rows * steps : c->rows;
    struct opcase long_case = *c;
    struct features features = {.format = rowfmt_make(c->in, c->out)};
    uint32_t *indicators = opdata_host(d, c->in, sizeof *indicators), *index = opdata_host(d,
            records, sizeof *index);
    float *class_weight = opdata_host(d, c->kind, sizeof *class_weight);
    struct rowfmt f = features.format;
    unsigned char *bytes = opdata_host(d, records, f.stride);
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
        float value = opdata_random(d, 10) ? (float)opdata_random(d, 100) : __builtin_nanf(""),
            weight = (float)(1 + opdata_random(d, 3));
        memcpy(record + f.at_target, c->kind ? (const void *)&label : (const void *)&value, 4);
        memcpy(record + f.at_weight, &weight, 4);
        index[i] = records - 1 - i;
    }
    for (uint32_t k = 0; k < c->kind; k++)
        class_weight[k] = 1 + (float)k;
    for (uint32_t k = 0; k < c->in; k += 3)
        indicators[features.indicator_count++] = k;
    const void *pointed =
        opdata_map_host(d, indicators, features.indicator_count * sizeof *indicators);
    memcpy(&features.indicators, &pointed, sizeof pointed);
    const void *chunk = opdata_map_host(d, bytes, (size_t)records * f.stride);
    struct source from = {
        .rows = {f, opdata_values(d, "chunks", BUFFER_BYTES, &chunk, sizeof chunk, false), 63,
                 records},
        .index = steps > 1 && !views ? make_steps(d, records, places)
                                     : opdata_map_host(d, index, records * sizeof *index),
        .count = records,
        .steps = views ? 1 : places,
        .by_length = {.batch = 7, .runs = places > steps ? 3 : 0},
        .shuffle = c->flags & CASE_SHUFFLE ? 1 : 0,
        .classes = c->kind,
        .class_weight =
            c->kind > 2 ? opdata_map_host(d, class_weight, c->kind * sizeof *class_weight) : NULL,
        .features = opdata_values(d, "features", BUFFER_BYTES, &features, sizeof features, false)};
    uint32_t width = c->in + features.indicator_count;
    long_case.rows = c->rows * steps;
    d->arguments.gather = (struct op_gather){
        .x = opdata_act_output(d, "x", &long_case, width, false),
        .ids = opdata_output(d, "ids", BUFFER_INT, long_case.rows, c->out, 0, false),
        .target = opdata_output(d, "target", BUFFER_REAL, targets, 1, 0, false),
        .weight = opdata_output(d, "weight", BUFFER_REAL, targets, 1, 0, false),
        .length = steps > 1 && !views
                      ? opdata_output(d, "length", BUFFER_INT, c->rows, 1, 0, false)
                      : NULL,
        .from = opdata_values(d, "from", BUFFER_BYTES, &from, sizeof from, false),
        .now = opdata_step(d),
        .rows = c->rows,
        .steps = steps,
        .each = each,
        .views = views,
        .categories = c->out,
        .ld = width + c->pad};
}
OPCASES(gather);

/* categories of 2, 5, 8, ... values and `kind` more: `in` of a case; its out is the dimension of an
 * embedding */
static uint32_t values_of(const struct opcase *c, uint32_t category)
{
    return 2 + 3 * category + c->kind;
}

/* If there are many values, some are frequent. */
static int32_t *ids_of(struct opdata *d, const struct opcase *c, uint32_t categories)
{
    size_t count = (size_t)c->rows * categories;
    int32_t *ids = opdata_host(d, count, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)opdata_random(d, c->kind && i % 3 ? 9 :
                                               values_of(c, (uint32_t)(i % categories)));
    return opdata_values(d, "ids", BUFFER_INT, ids, count, false);
}

/* Their 0/1 columns from column `width` on; adds to width. */
static const struct onehot_column *columns_of(struct opdata *d, uint32_t categories,
                                              uint32_t *width)
{
    struct onehot_column *columns = opdata_host(d, categories, sizeof *columns);
    for (uint32_t k = 0; k < categories; k++) {
        columns[k] = (struct onehot_column){k, *width, 2 + 3 * k};
        *width += 2 + 3 * k;
    }
    return opdata_map_host(d, columns, categories * sizeof *columns);
}

static const struct opcase cases_onehot[] = {
    {.op = OP_onehot, .rows = 100, .in = 1},
    {.op = OP_onehot, .rows = 256, .in = 6, .pad = 5},
};

static void make_onehot(const struct opcase *c, struct opdata *d)
{
    uint32_t width = 0;
    const struct onehot_column *columns = columns_of(d, c->in, &width);
    d->arguments.onehot = (struct op_onehot){.x = opdata_act_output(d, "x", c, width, false),
                                             .ids = ids_of(d, c, c->in), .columns = columns,
                                             .rows = c->rows, .ld = width + c->pad, .ids_ld = c->in,
                                             .column_count = c->in};
}
OPCASES(onehot);

static const struct embed_column *tables_of(struct opdata *d, const struct opcase *c,
                                            uint64_t *size)
{
    struct embed_column *columns = opdata_host(d, c->in, sizeof *columns);
    *size = 7; /* something stands before the first table */
    for (uint32_t k = 0; k < c->in; k++) {
        columns[k] = (struct embed_column){k, k * c->out, c->out, values_of(c, k), *size};
        *size += (uint64_t)values_of(c, k) * c->out;
    }
    return opdata_map_host(d, columns, c->in * sizeof *columns);
}

static const struct opcase cases_embed[] = {
    {.op = OP_embed, .rows = 100, .in = 1, .out = 3},
    {.op = OP_embed, .rows = 256, .in = 5, .out = 8, .pad = 2},
};

static void make_embed(const struct opcase *c, struct opdata *d)
{
    uint64_t size;
    const struct embed_column *columns = tables_of(d, c, &size);
    d->arguments.embed = (struct op_embed){
        .x = opdata_act_output(d, "x", c, c->in * c->out, false), .ids = ids_of(d, c, c->in),
        .params = opdata_input(d, "params", BUFFER_REAL, 1, size, 0, 1), .columns = columns,
            .rows = c->rows,
        .ld = c->in * c->out + c->pad, .ids_ld = c->in, .column_count = c->in};
}
OPCASES(embed);

static const struct opcase cases_embed_back[] = {
    {.op = OP_embed_back, .rows = 100, .in = 1, .out = 3, .gate = 1e-5},
    {.op = OP_embed_back, .rows = 256, .in = 5, .out = 8, .pad = 2, .flags = CASE_MORE,
     .gate = 1e-5},
    {.op = OP_embed_back, .rows = 300, .in = 30, .out = 130, .gate = 1e-5},
    {.op = OP_embed_back, .rows = 70, .in = 2, .out = 3, .kind = 4000, .gate = 1e-5},
    {.op = OP_embed_back, .rows = 90, .in = 3, .out = 5, .kind = 3000, .pad = 1,
     .flags = CASE_MORE, .gate = 1e-5},
};

static void make_embed_back(const struct opcase *c, struct opdata *d)
{
    uint64_t size;
    const struct embed_column *columns = tables_of(d, c, &size);
    d->arguments.embed_back =
        (struct op_embed_back){.grads = opdata_output(d, "grads", BUFFER_REAL, 1, size, 0, true),
                               .dx = opdata_act_input(d, "dx", c, c->in * c->out, 1),
                               .ids = ids_of(d, c, c->in),
                               .columns = columns,
                               .now = opdata_step(d),
                               .rows = c->rows,
                               .ld = c->in * c->out + c->pad,
                               .ids_ld = c->in,
                               .column_count = c->in,
                               .more = c->flags & CASE_MORE ? 1 : 0,
                               .largest = values_of(c, c->in - 1)};
    d->flops = (double)c->rows * c->in * c->out;
}
OPCASES(embed_back);

/* --- layers --- */

static struct group weight_group(const struct opcase *c)
{
    return (struct group){.begin = 0, .end = (uint64_t)c->in * c->out, .lr = 1, .weight_decay = 1,
                          .in = c->in, .out = c->out, .shards = 1};
}

static struct act shadow_of(struct opdata *d, const struct opcase *c, const real *w)
{
    struct group g = weight_group(c);
    size_t bytes = machine_shadow_bytes(d->machine, &g, 1, g.end);
    if (!(c->flags & CASE_SHADOW) || !bytes)
        return no_act();
    void *shadow = opdata_output(d, "shadow", BUFFER_BYTES, 1, bytes, 0, false);
    d->buffers[d->count - 1].written = false;
    if (!opcase_ready(d, NULL))
        return no_act();
    machine_refresh(d->machine, shadow, w, &g, 1);
    return machine_shadow_of(d->machine, shadow, 0);
}

enum { HOT_CATEGORIES = 5 };

/* One id in ten is unknown to its column. */
static struct onehot_inputs onehot_of(struct opdata *d, const struct opcase *c)
{
    if (!(c->flags & CASE_HOT))
        return (struct onehot_inputs){0};
    uint32_t end = c->in;
    struct onehot_inputs onehot = {.columns = columns_of(d, HOT_CATEGORIES, &end),
                                   .ids_ld = HOT_CATEGORIES, .column_count = HOT_CATEGORIES};
    onehot.width = end - c->in;
    size_t count = (size_t)c->rows * HOT_CATEGORIES;
    int32_t *ids = opdata_host(d, count, sizeof *ids);
    for (size_t i = 0; i < count; i++)
        ids[i] = (int32_t)opdata_random(d, (2 + 3 * (i % HOT_CATEGORIES)) * 10 / 9 + 1) - 1;
    onehot.ids = opdata_values(d, "ids", BUFFER_INT, ids, count, false);
    return onehot;
}

#define DENSE(r, i, o, k, f, p)                                                                    \
    {.op = OP_dense, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .pad = p, .gate = 1e-5}
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
    DENSE(256, 6, 128, ACT_RELU, CASE_HOT, 0),
    DENSE(100, 300, 150, ACT_GELU, CASE_HOT | CASE_KEEP_Z, 3),
    DENSE(100, 9, 2, ACT_TANH, CASE_HOT | CASE_BARE, 1),
    DENSE(9, 0, 33, ACT_RELU, CASE_HOT, 0),
    DENSE(9, 0, 3, ACT_NONE, CASE_HOT, 0),
    DENSE(256, 128, 128, ACT_RELU, CASE_SHADOW | CASE_ZEROS_IN, 0),
    DENSE(200, 150, 300, ACT_GELU, CASE_KEEP_Z | CASE_ZEROS_IN, 3),
    DENSE(100, 70, 33, ACT_NONE, CASE_BARE | CASE_ZEROS_IN, 1),
    DENSE(100, 40, 150, ACT_RELU, CASE_HOT | CASE_ZEROS_IN, 0),
};

static void make_dense(const struct opcase *c, struct opdata *d)
{
    struct onehot_inputs onehot = onehot_of(d, c);
    real *w = opdata_input(d, "w", BUFFER_REAL, c->in + onehot.width, c->out, 0, 0.3);
    d->arguments.dense = (struct op_dense){
        .y = opdata_act_output(d, "y", c, c->out, false),
        .z = c->flags & CASE_KEEP_Z ? opdata_act_output(d, "z", c, c->out, false) : no_act(),
        .x = opdata_act_input(d, "x", c, c->in, 1),
        .w = w,
        .b = c->flags & CASE_BARE ? NULL : opdata_input(d, "b", BUFFER_REAL, 1, c->out, 0, 1),
        .shadow = shadow_of(d, c, w),
        .onehot = onehot,
        .rows = c->rows,
        .in = c->in,
        .out = c->out,
        .ldx = c->in + c->pad,
        .ldy = c->out + c->pad,
        .ldz = c->out + c->pad,
        .act = c->kind,
        .exact = c->flags & CASE_ZEROS_IN ? 0 : 1,
        .slope = 0.2};
    d->flops = 2.0 * c->rows * c->in * c->out;
}
OPCASES(dense);

#define BACK(r, i, o, k, f, p)                                                                     \
    {.op = OP_dense_back, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .pad = p,           \
     .gate = 1e-4}
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
    BACK(256, 6, 128, ACT_RELU, CASE_HOT, 0),
    BACK(200, 30, 150, ACT_GELU, CASE_HOT | CASE_MORE | CASE_ADD, 3),
    BACK(200, 9, 2, ACT_NONE, CASE_HOT, 1),
    BACK(9, 0, 33, ACT_TANH, CASE_HOT | CASE_BARE, 0),
    BACK(256, 128, 128, ACT_RELU, CASE_SHADOW | CASE_ZEROS_IN | CASE_ZEROS_OUT, 0),
    BACK(200, 70, 150, ACT_RELU, CASE_ADD | CASE_MORE | CASE_ZEROS_IN | CASE_ZEROS_OUT, 5),
    BACK(500, 33, 300, ACT_RELU, CASE_ADD | CASE_ZEROS_OUT, 1),
    BACK(77, 130, 40, ACT_GELU, CASE_MORE | CASE_ZEROS_IN, 0),
    BACK(100, 64, 64, ACT_NONE, CASE_ZEROS_OUT, 0),
    BACK(200, 40, 128, ACT_RELU, CASE_HOT | CASE_ZEROS_IN | CASE_ZEROS_OUT, 0),
};

static void make_dense_back(const struct opcase *c, struct opdata *d)
{
    uint32_t shards = plan_shards(c->rows);
    struct onehot_inputs onehot = onehot_of(d, c);
    size_t weights = (size_t)(c->in + onehot.width) * c->out, n = weights + c->out;
    real *w = opdata_input(d, "w", BUFFER_REAL, c->in + onehot.width, c->out, 0, 0.3);
    real *g = opdata_shards(d, "dw db", n, shards, true);
    bool bare = c->flags & CASE_BARE;
    d->arguments.dense_back =
        (struct op_dense_back){.dx = bare ? no_act() : opdata_act_output(d, "dx", c, c->in, true),
                               .dw = g,
                               .db = g + weights,
                               .dy = opdata_act_input(d, "dy", c, c->out, 1),
                               .y = opdata_act_input(d, "y", c, c->out, 0.6),
                               .z = opdata_act_input(d, "z", c, c->out, 1),
                               .x = opdata_act_input(d, "x", c, c->in, 1),
                               .w = w,
                               .shadow = shadow_of(d, c, w),
                               .onehot = onehot,
                               .shard_stride = n,
                               .rows = c->rows,
                               .in = c->in,
                               .out = c->out,
                               .ldx = c->in + c->pad,
                               .ldy = c->out + c->pad,
                               .ldz = c->out + c->pad,
                               .lddx = c->in + c->pad,
                               .lddy = c->out + c->pad,
                               .act = c->kind,
                               .add_dx = c->flags & CASE_ADD ? 1 : 0,
                               .more = c->flags & CASE_MORE ? 1 : 0,
                               .slope = 0.2};
    d->flops = (bare ? 2.0 : 4.0) * c->rows * c->in * c->out;
}
OPCASES(dense_back);

#define ACT(OP, r, i, k, p, f)                                                                     \
    {.op = OP, .rows = r, .in = i, .kind = k, .pad = p, .flags = f, .gate = 1e-5}
#define ACTS(OP)                                                                                   \
    ACT(OP, 33, 128, ACT_RELU, 0, 0), ACT(OP, 33, 5, ACT_LEAKY_RELU, 0, 0),                        \
        ACT(OP, 256, 40, ACT_GELU, 0, 0), ACT(OP, 256, 40, ACT_SILU, 0, CASE_ADD),                 \
        ACT(OP, 256, 40, ACT_ELU, 3, 0), ACT(OP, 256, 40, ACT_SELU, 0, 0),                         \
        ACT(OP, 256, 40, ACT_TANH, 0, 0), ACT(OP, 256, 40, ACT_SIGMOID, 0, 0),                     \
        ACT(OP, 256, 40, ACT_MISH, 1, CASE_ADD), ACT(OP, 8, 1, ACT_NONE, 0, 0)
static const struct opcase cases_act[] = {ACTS(OP_act)};
static const struct opcase cases_act_back[] = {ACTS(OP_act_back)};

static void make_act(const struct opcase *c, struct opdata *d)
{
    d->arguments.act = (struct op_act){.y = opdata_act_output(d, "y", c, c->in, false),
                                       .x = opdata_act_input(d, "x", c, c->in, 3), .rows = c->rows,
                                       .width = c->in, .ldx = c->in + c->pad, .ldy = c->in + c->pad,
                                       .act = c->kind, .slope = 0.3};
}
OPCASES(act);

static void make_act_back(const struct opcase *c, struct opdata *d)
{
    d->arguments.act_back = (struct op_act_back){.dx = opdata_act_output(d, "dx", c, c->in, true),
                                                 .dy = opdata_act_input(d, "dy", c, c->in, 1),
                                                 .x = opdata_act_input(d, "x", c, c->in, 2),
                                                 .rows = c->rows,
                                                 .width = c->in,
                                                 .ldx = c->in + c->pad,
                                                 .lddx = c->in + c->pad,
                                                 .lddy = c->in + c->pad,
                                                 .act = c->kind,
                                                 .add_dx = c->flags & CASE_ADD ? 1 : 0,
                                                 .slope = 0.3};
}
OPCASES(act_back);

/* kind: the layer's number; CASE_SECOND: element numbers beyond 32 bits; CASE_KEEP_Z: the mask is
 * written; CASE_SHADOW: it is read */
static const struct opcase cases_dropout[] = {
    {.op = OP_dropout, .rows = 256, .in = 128, .kind = 1, .gate = 1e-6},
    {.op = OP_dropout, .rows = 100, .in = 37, .kind = 65535, .pad = 3, .flags = CASE_ADD,
     .gate = 1e-6},
    {.op = OP_dropout, .rows = 10, .in = 1, .kind = 7, .flags = CASE_MORE, .gate = 1e-6},
    {.op = OP_dropout, .rows = 65, .in = 66, .gate = 1e-6},
    {.op = OP_dropout, .rows = 65, .in = 67, .flags = CASE_SECOND, .gate = 1e-6},
    {.op = OP_dropout, .rows = 100, .in = 48, .flags = CASE_KEEP_Z, .gate = 1e-6},
    {.op = OP_dropout, .rows = 33, .in = 144, .pad = 5, .flags = CASE_KEEP_Z, .gate = 1e-6},
    {.op = OP_dropout, .rows = 100, .in = 48, .flags = CASE_SHADOW, .gate = 1e-6},
    {.op = OP_dropout, .rows = 9, .in = 16, .pad = 1, .flags = CASE_SHADOW | CASE_ADD,
     .gate = 1e-6},
    {.op = OP_dropout, .rows = 100, .in = 48, .flags = CASE_KEEP_Z | CASE_FALLS, .gate = 1e-6},
    {.op = OP_dropout, .rows = 33, .in = 144, .pad = 5, .flags = CASE_KEEP_Z | CASE_FALLS,
     .gate = 1e-6},
    {.op = OP_dropout, .rows = 65, .in = 67, .flags = CASE_FALLS, .gate = 1e-6},
};

/* NULL: without */
static uint16_t *kept_of(struct opdata *d, const struct opcase *c)
{
    size_t words = (size_t)c->rows * (c->in / 16);
    if (c->flags & CASE_KEEP_Z)
        return opdata_output(d, "kept", BUFFER_BYTES, 1, words * sizeof(uint16_t), 0, false);
    if (!(c->flags & CASE_SHADOW))
        return NULL;
    uint16_t *bits = opdata_host(d, words, sizeof *bits);
    for (size_t i = 0; i < words; i++)
        bits[i] = (uint16_t)opdata_random(d, 1 << 16);
    return opdata_values(d, "kept", BUFFER_BYTES, bits, words * sizeof *bits, false);
}

static void make_dropout(const struct opcase *c, struct opdata *d)
{
    d->arguments.dropout = (struct op_dropout){
        .kept = kept_of(d, c), .kept_known = c->flags & CASE_SHADOW ? 1 : 0,
        .y = opdata_act_output(d, "y", c, c->in, true), .x = opdata_act_input(d, "x", c, c->in, 1),
            .now = opdata_step(d), .rows = c->rows,
        .schedule = c->flags & CASE_FALLS ? opdata_schedule(d) : (struct schedule){0},
        .width = c->in, .ldx = c->in + c->pad, .ldy = c->in + c->pad, .layer = c->kind,
            .micro = c->flags & CASE_SECOND ? 0x7ffffff1u : c->flags & CASE_MORE ? 2 : 0,
        .threshold = 1288490189 /* 0.3 * 2^32 */, .add = c->flags & CASE_ADD ? 1 : 0,
            .scale = 1 / 0.7};
}
OPCASES(dropout);

static const struct opcase cases_add[] = {
    {.op = OP_add, .rows = 256, .in = 128, .gate = 1e-6},
    {.op = OP_add, .rows = 100, .in = 37, .pad = 3, .gate = 1e-6},
    {.op = OP_add, .rows = 100, .in = 37, .pad = 3, .flags = CASE_BARE, .gate = 1e-6},
};

static void make_add(const struct opcase *c, struct opdata *d)
{
    d->arguments.add =
        (struct op_add){.y = opdata_act_output(d, "y", c, c->in, false),
                        .a = opdata_act_input(d, "a", c, c->in, 1),
                        .b = c->flags & CASE_BARE ? no_act()
                                                  : opdata_act_input(d, "b", c, c->in, 1),
                        .rows = c->rows,
                        .width = c->in,
                        .ldy = c->in + c->pad,
                        .lda = c->in + c->pad,
                        .ldb = c->in + c->pad};
}
OPCASES(add);
