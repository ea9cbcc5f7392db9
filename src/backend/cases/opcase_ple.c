/* opcase_ple.c - the cases of piecewise-linear numbers: `in` numbers with kind + 1, kind + 2, ..
 * bins, the first one without an edge inside; out: columns of y. */
#include "backend/cases/opcase.h"

static uint32_t bins_of(const struct opcase *c, uint32_t column)
{
    return column % 7 ? c->kind + column % 5 : 1;
}

/* Every third number may be missing, every fourth stands alone. */
static const struct ple_column *columns_of(struct opdata *d, const struct opcase *c,
                                           uint32_t *components, uint32_t *edges)
{
    struct ple_column *columns = opdata_host(d, c->in, sizeof *columns);
    *components = *edges = 0;
    for (uint32_t i = 0; i < c->in; i++) {
        columns[i] = (struct ple_column){.number = i,
                                         .missing = i % 3 ? PLE_NONE : c->in + i / 3,
                                         .first = *components,
                                         .count = bins_of(c, i),
                                         .edges = *edges,
                                         .alone = i % 4 == 3};
        *components += columns[i].count;
        *edges += columns[i].count + 1;
    }
    return opdata_map_host(d, columns, c->in * sizeof *columns);
}

#define PLE(r, i, k, p) {.op = OP_ple, .rows = r, .in = i, .kind = k, .pad = p}
static const struct opcase cases_ple[] = {PLE(256, 20, 46, 0), PLE(100, 9, 2, 3), PLE(1, 1, 1, 0),
                                          PLE(70, 33, 300, 1)};

static void make_ple(const struct opcase *c, struct opdata *d)
{
    uint32_t components, count, at = 0, width = c->in + (c->in + 2) / 3;
    const struct ple_column *columns = columns_of(d, c, &components, &count);
    float *edges = opdata_host(d, count, sizeof *edges);
    real *x = opdata_host(d, (size_t)c->rows * (width + c->pad), sizeof *x);
    for (uint32_t i = 0; i < c->in; i++) {
        float edge = -2;
        for (uint32_t k = 0; k <= bins_of(c, i); k++, at++)
            edges[at] = edge += (float)(1 + opdata_random(d, 1000)) / 1000;
        for (uint32_t r = 0; r < c->rows; r++) { /* below, above, and on an edge */
            real *v = &x[(size_t)r * (width + c->pad) + i];
            float on = edges[at - 1 - opdata_random(d, bins_of(c, i) + 1)];
            *v = (real)on + (opdata_random(d, 4) ? (real)opdata_random(d, 4000) / 1000 - 2 : 0);
        }
    }
    for (uint32_t r = 0; r < c->rows; r++)
        for (uint32_t k = c->in; k < width; k++)
            x[(size_t)r * (width + c->pad) + k] = opdata_random(d, 4) == 0;
    const float *of_machine = opdata_map_host(d, edges, count * sizeof *edges);
    d->arguments.ple = (struct op_ple){
        .bins = opdata_output(d, "bins", BUFFER_INT, c->in, c->rows, 0, false),
        .shares = opdata_output(d, "shares", BUFFER_REAL, c->in, c->rows, 0, false),
        .x = {.at = opdata_values(d, "x", BUFFER_REAL, x, (size_t)c->rows * (width + c->pad),
                                  true)},
        .column = columns,
        .edges = of_machine,
        .rows = c->rows,
        .columns = c->in,
        .ld = width + c->pad};
}
OPCASES(ple);

struct pairs { int32_t *bins; real *shares; };
static struct pairs pairs_of(struct opdata *d, const struct opcase *c)
{
    size_t count = (size_t)c->rows * c->in;
    int32_t *bins = opdata_host(d, count, sizeof *bins);
    real *shares = opdata_host(d, count, sizeof *shares);
    for (size_t i = 0; i < count; i++) {
        bins[i] = (int32_t)opdata_random(d, bins_of(c, (uint32_t)(i / c->rows)));
        shares[i] = (real)opdata_random(d, 1001) / 1000;
    }
    return (struct pairs){opdata_values(d, "bins", BUFFER_INT, bins, count, false),
                          opdata_values(d, "shares", BUFFER_REAL, shares, count, false)};
}

#define PLE_WIDE(r, i, k, p) {.op = OP_ple_wide, .rows = r, .in = i, .kind = k, .pad = p}
static const struct opcase cases_ple_wide[] = {PLE_WIDE(256, 20, 46, 0), PLE_WIDE(100, 9, 2, 3),
                                               PLE_WIDE(1, 1, 1, 0)};

static void make_ple_wide(const struct opcase *c, struct opdata *d)
{
    uint32_t components, edges;
    const struct ple_column *columns = columns_of(d, c, &components, &edges);
    struct pairs pairs = pairs_of(d, c);
    d->arguments.ple_wide =
        (struct op_ple_wide){.x = opdata_act_output(d, "x", c, 5 + components, true),
                             .bins = pairs.bins,
                             .shares = pairs.shares,
                             .column = columns,
                             .rows = c->rows,
                             .columns = c->in,
                             .ld = 5 + components + c->pad,
                             .at = 5};
}
OPCASES(ple_wide);

#define PLE_DENSE(r, i, o, k, p)                                                                   \
    {.op = OP_ple_dense, .rows = r, .in = i, .out = o, .kind = k, .pad = p, .gate = 1e-5}
static const struct opcase cases_ple_dense[] = {
    PLE_DENSE(256, 20, 256, 46, 0), PLE_DENSE(100, 9, 37, 2, 3), PLE_DENSE(1, 1, 1, 1, 0),
    PLE_DENSE(70, 3, 130, 300, 1), PLE_DENSE(300, 8, 3, 16, 0)};

static void make_ple_dense(const struct opcase *c, struct opdata *d)
{
    uint32_t components, edges;
    const struct ple_column *columns = columns_of(d, c, &components, &edges);
    struct pairs pairs = pairs_of(d, c);
    d->arguments.ple_dense = (struct op_ple_dense){
        .y = opdata_act_output(d, "y", c, c->out, true),
        .bins = pairs.bins,
        .shares = pairs.shares,
        .w = opdata_input(d, "w", BUFFER_REAL, components, c->out, 0, 0.3),
        .column = columns,
        .rows = c->rows,
        .out = c->out,
        .columns = c->in,
        .ldy = c->out + c->pad};
    d->flops = 4.0 * c->rows * c->in * c->out;
}
OPCASES(ple_dense);

#define PLE_BACK(r, i, o, k, p, f)                                                                 \
    {.op = OP_ple_dense_back, .rows = r, .in = i, .out = o, .kind = k, .pad = p, .flags = f,       \
     .gate = 1e-4}
static const struct opcase cases_ple_dense_back[] = {
    PLE_BACK(256, 20, 256, 46, 0, 0), PLE_BACK(100, 9, 37, 2, 3, CASE_MORE),
    PLE_BACK(1, 1, 1, 1, 0, 0), PLE_BACK(70, 3, 130, 300, 1, 0),
    PLE_BACK(300, 8, 3, 16, 0, CASE_MORE)};

static void make_ple_dense_back(const struct opcase *c, struct opdata *d)
{
    uint32_t components, edges;
    const struct ple_column *columns = columns_of(d, c, &components, &edges);
    struct pairs pairs = pairs_of(d, c);
    d->arguments.ple_dense_back = (struct op_ple_dense_back){
        .dw = opdata_output(d, "dw", BUFFER_REAL, components, c->out, 0, true),
        .dy = opdata_act_input(d, "dy", c, c->out, 1),
        .bins = pairs.bins,
        .shares = pairs.shares,
        .column = columns,
        .rows = c->rows,
        .out = c->out,
        .columns = c->in,
        .lddy = c->out + c->pad,
        .more = c->flags & CASE_MORE ? 1 : 0};
    d->flops = 4.0 * c->rows * c->in * c->out;
}
OPCASES(ple_dense_back);
