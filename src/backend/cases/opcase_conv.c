/* opcase_conv.c - the cases of convolution: `in` columns, `out` steps. */
#include "backend/cases/opcase.h"

/* kind: dilation less 1, and every second one strides by 2; CASE_SECOND: causal, of 4 taps, else 3.
 * The outputs are 5 more than the inputs. */
#define CONV(OP, r, i, o, k, f)                                                                    \
    {.op = OP, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .gate = 1e-4}
#define CONVS(OP, f)                                                                               \
    CONV(OP, 64, 32, 16, 0, 0), CONV(OP, 33, 17, 5, 1, CASE_SECOND | f),                           \
        CONV(OP, 130, 3, 9, 2, CASE_SECOND), CONV(OP, 5, 1, 140, 3, f), CONV(OP, 1, 40, 1, 0, 0)
static const struct opcase cases_conv[] = {CONVS(OP_conv, 0)};

enum { WIDER = 5 };
static struct convolution shape_of(const struct opcase *c)
{
    struct convolution v = {.out = c->in + WIDER,
                            .kernel = c->flags & CASE_SECOND ? 4 : 3,
                            .dilation = c->kind + 1,
                            .stride = 1 + c->kind % 2};
    v.before = (v.kernel - 1) * v.dilation / (c->flags & CASE_SECOND ? 1 : 2);
    v.steps = (c->out + v.stride - 1) / v.stride;
    return v;
}

static struct act input(struct opdata *d, const char *name, size_t rows, uint32_t width)
{
    return (struct act){.at = opdata_input(d, name, BUFFER_REAL, rows, width, 0, 1)};
}

static void make_conv(const struct opcase *c, struct opdata *d)
{
    struct convolution v = shape_of(c);
    d->arguments.conv = (struct op_conv){
        .y = {.at = opdata_output(d, "y", BUFFER_REAL, (size_t)c->rows * v.steps, v.out, 0,
                                  false)},
        .x = input(d, "x", (size_t)c->rows * c->out, c->in),
        .w = opdata_input(d, "w", BUFFER_REAL, (size_t)v.kernel * c->in, v.out, 0, 0.3),
        .b = opdata_input(d, "b", BUFFER_REAL, 1, v.out, 0, 1),
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .in = c->in,
        .c = v};
    d->flops = 2.0 * c->rows * v.steps * v.kernel * c->in * v.out;
}
OPCASES(conv);

static const struct opcase cases_conv_back[] = {CONVS(OP_conv_back, CASE_ADD | CASE_MORE),
                                                CONV(OP_conv_back, 7, 4, 6, 0, CASE_BARE)};

static void make_conv_back(const struct opcase *c, struct opdata *d)
{
    struct convolution v = shape_of(c);
    size_t weights = (size_t)v.kernel * c->in * v.out, all = weights + v.out;
    uint32_t shards = plan_shards(c->rows);
    real *g = opdata_shards(d, "dw db", all, shards, true);
    d->arguments.conv_back = (struct op_conv_back){
        .dx = c->flags & CASE_BARE
                  ? no_act()
                  : (struct act){.at = opdata_output(d, "dx", BUFFER_REAL,
                                                     (size_t)c->rows * c->out, c->in, 0, true)},
        .dw = g,
        .db = g + weights,
        .dy = input(d, "dy", (size_t)c->rows * v.steps, v.out),
        .x = input(d, "x", (size_t)c->rows * c->out, c->in),
        .w = opdata_input(d, "w", BUFFER_REAL, (size_t)v.kernel * c->in, v.out, 0, 0.3),
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .in = c->in,
        .shard_stride = all,
        .c = v,
        .add_dx = c->flags & CASE_ADD ? 1 : 0,
        .more = c->flags & CASE_MORE ? 1 : 0};
    d->flops = 4.0 * c->rows * v.steps * v.kernel * c->in * v.out;
}
OPCASES(conv_back);

/* kind: thresholds of a kernel; two dilations */
#define ROCKET(r, i, o, k) {.op = OP_rocket, .rows = r, .in = i, .out = o, .kind = k, .gate = 1e-5}
static const struct opcase cases_rocket[] = {ROCKET(3, 1, 30, 2), ROCKET(2, 12, 17, 1),
                                             ROCKET(1, 3, 1, 1)};

static void make_rocket(const struct opcase *c, struct opdata *d)
{
    const uint32_t groups = 2 * ROCKET_KERNELS;
    uint32_t *dilation = opdata_host(d, 2, sizeof *dilation);
    uint8_t *three = opdata_host(d, (size_t)ROCKET_KERNELS * 4, 1);
    real *channels = opdata_host(d, (size_t)groups * ROCKET_CHANNELS, sizeof *channels);
    dilation[0] = 1;
    dilation[1] = c->out > 16 ? 2 : 1;
    for (uint32_t k = 0; k < ROCKET_KERNELS; k++)
        for (uint32_t i = 0; i < 3; i++)
            three[4 * k + i] = (uint8_t)(3 * i + opdata_random(d, 3));
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t i = 0; i < ROCKET_CHANNELS; i++)
            channels[g * ROCKET_CHANNELS + i] =
                i <= g % 3 && i < c->in ? (real)opdata_random(d, c->in) : -1;
    d->arguments.rocket = (struct op_rocket){
        .y = {.at = opdata_output(d, "y", BUFFER_REAL, c->rows, (size_t)groups * c->kind, 0,
                                  false)},
        .x = input(d, "x", (size_t)c->rows * c->out, c->in),
        .of = {.bias = opdata_input(d, "bias", BUFFER_REAL, groups, c->kind, 0, 3),
               .channels = opdata_values(d, "channels", BUFFER_REAL, channels,
                                         (size_t)groups * ROCKET_CHANNELS, false),
               .dilation = opdata_map_host(d, dilation, 2 * sizeof *dilation),
               .three = opdata_map_host(d, three, (size_t)ROCKET_KERNELS * 4),
               .dilations = 2,
               .each = c->kind},
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .width = c->in};
}
OPCASES(rocket);
