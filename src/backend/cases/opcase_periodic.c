/* opcase_periodic.c - the cases of periodic numbers: `in` numbers, followed by their outputs. */
#include "backend/cases/opcase.h"

static struct periodic inputs_of(struct opdata *d, uint32_t n)
{
    return (struct periodic){
        .frequency = opdata_input(d, "frequency", BUFFER_REAL, n, PERIODIC_WAVES, 0, 0.3),
        .phase = opdata_input(d, "phase", BUFFER_REAL, n, PERIODIC_WAVES, 0, 2),
        .weight = opdata_input(d, "weight", BUFFER_REAL, n, PERIODIC_WAVES * PERIODIC_OUTPUTS, 0,
                               0.3),
        .bias = opdata_input(d, "bias", BUFFER_REAL, n, PERIODIC_OUTPUTS, 0, 0.3)};
}

static const struct periodic_column *columns_of(struct opdata *d, uint32_t n)
{
    struct periodic_column *columns = opdata_host(d, n, sizeof *columns);
    for (uint32_t i = 0; i < n; i++)
        columns[i] = (struct periodic_column){n - 1 - i, n + i * PERIODIC_OUTPUTS};
    return opdata_map_host(d, columns, n * sizeof *columns);
}

#define PERIODIC(OP, r, i, p, f)                                                                   \
    {.op = OP, .rows = r, .in = i, .pad = p, .flags = f, .gate = 1e-4}
static const struct opcase cases_periodic[] = {PERIODIC(OP_periodic, 256, 8, 0, 0),
                                               PERIODIC(OP_periodic, 100, 33, 3, 0),
                                               PERIODIC(OP_periodic, 1, 1, 0, 0)};

static void make_periodic(const struct opcase *c, struct opdata *d)
{
    uint32_t width = (1 + PERIODIC_OUTPUTS) * c->in;
    d->arguments.periodic =
        (struct op_periodic){.x = opdata_act_output(d, "x", c, width, true),
                             .p = inputs_of(d, c->in),
                             .column = columns_of(d, c->in),
                             .rows = c->rows,
                             .columns = c->in,
                             .ld = width + c->pad};
}
OPCASES(periodic);

static const struct opcase cases_periodic_back[] = {
    PERIODIC(OP_periodic_back, 256, 8, 0, 0), PERIODIC(OP_periodic_back, 100, 33, 3, CASE_MORE),
    PERIODIC(OP_periodic_back, 1, 1, 0, 0)};

static void make_periodic_back(const struct opcase *c, struct opdata *d)
{
    uint32_t width = (1 + PERIODIC_OUTPUTS) * c->in;
    uint32_t both = PERIODIC_WAVES * PERIODIC_OUTPUTS;
    d->arguments.periodic_back = (struct op_periodic_back){
        .d = {opdata_output(d, "dfrequency", BUFFER_REAL, c->in, PERIODIC_WAVES, 0, true),
              opdata_output(d, "dphase", BUFFER_REAL, c->in, PERIODIC_WAVES, 0, true),
              opdata_output(d, "dweight", BUFFER_REAL, c->in, both, 0, true),
              opdata_output(d, "dbias", BUFFER_REAL, c->in, PERIODIC_OUTPUTS, 0, true)},
        .dx = opdata_act_input(d, "dx", c, width, 1),
        .x = opdata_act_input(d, "x", c, width, 1),
        .p = inputs_of(d, c->in),
        .column = columns_of(d, c->in),
        .rows = c->rows,
        .columns = c->in,
        .ld = width + c->pad,
        .more = c->flags & CASE_MORE ? 1 : 0};
}
OPCASES(periodic_back);
