/* opcase_text.c - the cases of texts: two columns, one of `in` terms by weight, one of in / 2 + 1
 * counts, of `kind` buckets each; out: columns of y. */
#include "backend/cases/opcase.h"

enum { COLUMNS = 2 };

struct texts {
    const struct text_column *column;
    const float *weights;
    int32_t *ids;
    uint32_t ids_ld, buckets;
};

/* Every fourth text has no term, the others up to all. */
static struct texts texts_of(struct opdata *d, const struct opcase *c, uint32_t at)
{
    struct texts t = {.ids_ld = 1 + c->in + c->in / 2 + 1, .buckets = COLUMNS * c->kind};
    struct text_column *column = opdata_host(d, COLUMNS, sizeof *column);
    float *weights = opdata_host(d, t.buckets, sizeof *weights);
    int32_t *ids = opdata_host(d, (size_t)c->rows * t.ids_ld, sizeof *ids);
    column[0] = (struct text_column){
        .slot = 1, .slots = c->in, .count = c->kind, .weighted = 1, .at = at};
    column[1] = (struct text_column){.slot = 1 + c->in,
                                     .slots = c->in / 2 + 1,
                                     .first = c->kind,
                                     .count = c->kind,
                                     .at = at + 1};
    for (uint32_t i = 0; i < t.buckets; i++)
        weights[i] = 1 + (float)opdata_random(d, 1000) / 200;
    for (uint32_t r = 0; r < c->rows; r++)
        for (uint32_t i = 0; i < COLUMNS; i++) {
            int32_t *to = ids + (size_t)r * t.ids_ld + column[i].slot;
            uint32_t terms =
                opdata_random(d, 4) ? (uint32_t)opdata_random(d, column[i].slots + 1) : 0;
            for (uint32_t k = 0; k < terms; k++)
                to[k] = term_make((uint32_t)opdata_random(d, c->kind),
                                  opdata_random(d, 2) ? 1 : -(int32_t)opdata_random(d, 3) - 1);
        }
    t.column = opdata_map_host(d, column, COLUMNS * sizeof *column);
    t.weights = opdata_map_host(d, weights, t.buckets * sizeof *weights);
    t.ids = opdata_values(d, "ids", BUFFER_INT, ids, (size_t)c->rows * t.ids_ld, false);
    return t;
}

static const real *scales_of(struct opdata *d, const struct opcase *c)
{
    real *scales = opdata_host(d, (size_t)COLUMNS * c->rows, sizeof *scales);
    for (size_t i = 0; i < (size_t)COLUMNS * c->rows; i++)
        scales[i] = (real)(1 + opdata_random(d, 1000)) / 1000;
    return opdata_values(d, "scales", BUFFER_REAL, scales, (size_t)COLUMNS * c->rows, false);
}

#define TEXT(r, i, k, p) {.op = OP_text, .rows = r, .in = i, .kind = k, .pad = p, .gate = 1e-5}
static const struct opcase cases_text[] = {TEXT(256, 32, 2000, 0), TEXT(100, 9, 7, 3),
                                           TEXT(1, 1, 1, 0)};

static void make_text(const struct opcase *c, struct opdata *d)
{
    struct texts t = texts_of(d, c, 1);
    d->arguments.text = (struct op_text){
        .scales = opdata_output(d, "scales", BUFFER_REAL, COLUMNS, c->rows, 0, false),
        .x = opdata_act_output(d, "x", c, 1 + COLUMNS, true),
        .ids = t.ids,
        .column = t.column,
        .weights = t.weights,
        .rows = c->rows,
        .columns = COLUMNS,
        .ld = 1 + COLUMNS + c->pad,
        .ids_ld = t.ids_ld};
}
OPCASES(text);

#define TEXT_DENSE(r, i, o, k, p, f)                                                               \
    {.op = OP_text_dense, .rows = r, .in = i, .out = o, .kind = k, .pad = p, .flags = f,           \
     .gate = 1e-5}
static const struct opcase cases_text_dense[] = {
    TEXT_DENSE(256, 32, 128, 2000, 0, 0), TEXT_DENSE(100, 9, 37, 7, 3, CASE_BARE),
    TEXT_DENSE(1, 1, 1, 1, 0, 0), TEXT_DENSE(70, 300, 3, 65536, 1, 0)};

/* CASE_BARE: y is written, and begins after other columns. */
static void make_text_dense(const struct opcase *c, struct opdata *d)
{
    struct texts t = texts_of(d, c, 0);
    const uint32_t at = c->flags & CASE_BARE ? 3 : 0;
    d->arguments.text_dense = (struct op_text_dense){
        .y = opdata_act_output(d, "y", c, at + c->out, true),
        .ids = t.ids,
        .scales = scales_of(d, c),
        .w = opdata_input(d, "w", BUFFER_REAL, t.buckets, c->out, 0, 0.3),
        .column = t.column,
        .weights = t.weights,
        .rows = c->rows,
        .out = c->out,
        .columns = COLUMNS,
        .ldy = at + c->out + c->pad,
        .ids_ld = t.ids_ld,
        .at = at,
        .set = c->flags & CASE_BARE ? 1 : 0};
    d->flops = 1.5 * c->rows * c->in * c->out;
}
OPCASES(text_dense);

#define TEXT_BACK(r, i, o, k, p, f)                                                                \
    {.op = OP_text_dense_back, .rows = r, .in = i, .out = o, .kind = k, .pad = p, .flags = f,      \
     .gate = 1e-4}
static const struct opcase cases_text_dense_back[] = {
    TEXT_BACK(256, 32, 128, 2000, 0, 0), TEXT_BACK(100, 9, 37, 7, 3, CASE_MORE),
    TEXT_BACK(1, 1, 1, 1, 0, 0), TEXT_BACK(70, 300, 3, 65536, 1, 0)};

static void make_text_dense_back(const struct opcase *c, struct opdata *d)
{
    struct texts t = texts_of(d, c, 0);
    d->arguments.text_dense_back = (struct op_text_dense_back){
        .dw = opdata_output(d, "dw", BUFFER_REAL, t.buckets, c->out, 0, true),
        .dy = opdata_act_input(d, "dy", c, c->out, 1),
        .ids = t.ids,
        .scales = scales_of(d, c),
        .column = t.column,
        .weights = t.weights,
        .rows = c->rows,
        .out = c->out,
        .columns = COLUMNS,
        .lddy = c->out + c->pad,
        .ids_ld = t.ids_ld,
        .buckets = t.buckets,
        .more = c->flags & CASE_MORE ? 1 : 0};
    d->flops = 1.5 * c->rows * c->in * c->out;
}
OPCASES(text_dense_back);
