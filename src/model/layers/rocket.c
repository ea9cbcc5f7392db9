/* rocket.c - random convolution features of sequences after MiniRocket (Dempster, Schmidt and Webb,
 * 2021): 84 kernels of nine taps, three of 2 and six of -1, at dilations up to the length. A
 * feature is the share of steps at which a kernel's answer is above a threshold, which is a
 * quantile of its answers on the first rows of training. With several channels a kernel and
 * dilation reads the sum of some of them. Nothing of it is trained. */
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "model/layer.h"

enum { MOST_DILATIONS = 32, MOST_STEPS = 32768 };
struct rocket_spec {
    int type;
    int64_t features;
    /* planned */
    uint64_t bias, channels;     /* buffers */
    uint64_t dilation_at, three_at; /* tables */
    uint32_t dilation[MOST_DILATIONS], dilations, each;
};

static const struct option options[] = {
    LAYER_TYPE_ROW("rocket"),
    {OPT_ROW(struct rocket_spec, features, OPT_INT, "10000"), .low = 84, .high = 1 << 20,
     .help = "About how many features there are: 84 kernels, times dilations, times thresholds."},
    {0},
};
static const char *const examples[] = {"{\"type\": \"rocket\", \"features\": 84}", NULL};

/* Distinct powers of 2 with equal steps of the exponent, so that a kernel is no longer than the
 * sequence. */
static void choose_dilations(struct rocket_spec *s, uint32_t steps)
{
    double most = steps > ROCKET_TAPS ? log2((steps - 1.0) / (ROCKET_TAPS - 1)) : 0;
    s->dilations = 0;
    for (int i = 0; i < MOST_DILATIONS; i++) {
        uint32_t d = (uint32_t)exp2(most * i / (MOST_DILATIONS - 1));
        if (!s->dilations || s->dilation[s->dilations - 1] != d)
            s->dilation[s->dilations++] = d;
    }
    int64_t each = s->features / (ROCKET_KERNELS * (int64_t)s->dilations);
    s->each = each > 1 ? (uint32_t)each : 1;
}

/* The places of the taps of 2 of each kernel: three of nine, in order. */
static uint64_t plan_threes(struct planner *p)
{
    uint8_t three[ROCKET_KERNELS][4] = {{0}};
    int k = 0;
    for (uint8_t a = 0; a < ROCKET_TAPS; a++)
        for (uint8_t b = (uint8_t)(a + 1); b < ROCKET_TAPS; b++)
            for (uint8_t c = (uint8_t)(b + 1); c < ROCKET_TAPS; c++, k++) {
                three[k][0] = a;
                three[k][1] = b;
                three[k][2] = c;
            }
    return plan_table(p, three, sizeof three);
}

static uint32_t groups_of(const struct rocket_spec *s)
{
    return s->dilations * ROCKET_KERNELS;
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    static const char *const biases[] = {"thresholds", NULL};
    static const char *const channels[] = {"channels", NULL};
    struct rocket_spec *s = l->spec;
    (void)e;
    if (p->at.steps > MOST_STEPS)
        plan_refuse(p, "%d steps before rocket", MOST_STEPS);
    choose_dilations(s, l->from.steps);
    l->out = groups_of(s) * s->each;
    s->bias = plan_buffers(p, biases, SHAPE1(l->out));
    s->channels = plan_buffers(p, channels, SHAPE2(groups_of(s), ROCKET_CHANNELS));
    s->dilation_at = plan_table(p, s->dilation, s->dilations * sizeof *s->dilation);
    s->three_at = plan_threes(p);
    p->flops += (uint64_t)groups_of(s) * (13 + s->each);
    plan_one_step(p);
    l->y = plan_plain(p, l->out);
    return true;
}

/* Up to nine channels of a kernel and dilation, few more often than many; -1: no further one. */
static void init(const struct layer *l, const struct first_values *v)
{
    const struct rocket_spec *s = l->spec;
    double most = log2((l->in < ROCKET_CHANNELS ? l->in : ROCKET_CHANNELS) + 1.0);
    for (uint32_t g = 0; g < groups_of(s); g++) {
        double u = rng_uniform(v->seed, g, l->position, v->model, RNG_INIT);
        uint32_t count = (uint32_t)exp2(u * most);
        for (uint32_t i = 0; i < ROCKET_CHANNELS; i++)
            v->buffers[s->channels + g * ROCKET_CHANNELS + i] =
                i < count ? (real)rng_permute(v->seed, g, v->model, l->in, i) : -1;
    }
}

static struct rocket rocket_of(const struct layer *l, const real *buffers, const uint32_t *dilation,
                               const void *three)
{
    const struct rocket_spec *s = l->spec;
    return (struct rocket){.bias = buffers + s->bias,
                           .channels = buffers + s->channels,
                           .dilation = dilation,
                           .three = three,
                           .dilations = s->dilations,
                           .each = s->each};
}

/* The answers of kernel k at dilation d on one sequence; returns how many. */
static size_t answers(const real *channel, const uint8_t *three, uint32_t d, uint32_t k,
                      const real *x, uint32_t width, uint32_t length, float *y)
{
    int64_t reach = (int64_t)d * (ROCKET_TAPS / 2);
    bool inside = !rocket_padded(k, d, length);
    size_t n = 0;
    for (int64_t t = inside ? reach : 0; t < (inside ? length - reach : length); t++, n++) {
        double sum = 0;
        for (int j = 0; j < ROCKET_TAPS; j++) {
            int64_t at = t - reach + (int64_t)j * d;
            bool two = j == three[0] || j == three[1] || j == three[2];
            for (int c = 0; c < ROCKET_CHANNELS && channel[c] >= 0 && at >= 0 && at < length; c++)
                sum += (two ? 2.0 : -1.0) * (double)x[(size_t)at * width + (size_t)channel[c]];
        }
        y[n] = (float)sum;
    }
    return n;
}

/* A threshold stands between two answers on a sequence of its own, at a quantile of them; multiples
 * of the golden ratio, less their whole part, fill [0, 1] evenly. */
static void fit(const struct layer *l, const struct fit_sample *x, real *params, real *buffers)
{
    const struct rocket_spec *s = l->spec;
    struct planner tables = {0};
    uint64_t at = plan_threes(&tables);
    const uint8_t *threes = (const uint8_t *)tables.tables.data + at;
    uint32_t rows = x->rows / l->from.steps;
    float *y = mem_alloc(l->from.steps, sizeof *y);
    (void)params;
    for (uint32_t f = 0; f < l->out; f++) {
        uint32_t g = f / s->each, d = s->dilation[g / ROCKET_KERNELS], k = g % ROCKET_KERNELS;
        uint32_t row = rng_bits(x->seed, f, l->position, x->model, RNG_SAMPLE) % rows;
        size_t n = answers(buffers + s->channels + g * ROCKET_CHANNELS, threes + 4 * k, d, k,
                           x->x + (size_t)row * l->from.steps * x->width, x->width,
                           (uint32_t)x->length[row], y);
        size_t low = n > 1 ? (size_t)(fmod((f + 1) * 0.61803398874989485, 1) * (double)(n - 1)) : 0;
        sort_floats(y, n);
        buffers[s->bias + f] = n > 1 ? (y[low] + y[low + 1]) / 2 : 0;
    }
    mem_free(y);
    text_free(&tables.tables);
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct rocket_spec *s = l->spec;
    struct act y = pass_act(p, l->y);
    if (p->moved) { /* op_add of one operand copies: these buffers keep their values */
        uint32_t count = (uint32_t)(s->channels - s->bias) + groups_of(s) * ROCKET_CHANNELS;
        op_add(p->m, &(struct op_add){.y = {.at = reals_at(p->moved, s->bias)},
                                      .a = {.at = reals_at(p->buffers, s->bias)},
                                      .dims = {.rows = 1, .steps = 1, .width = count, .shards = 1},
                                      .ldy = count,
                                      .lda = count});
    }
    op_rocket(p->m, &(struct op_rocket){.y = y,
                                        .x = x,
                                        .of = rocket_of(l, p->buffers,
                                                        pass_table(p, s->dilation_at),
                                                        pass_table(p, s->three_at)),
                                        .length = p->length,
                                        .dims = pass_dims(p, l->in)});
    return y;
}

/* A share of steps does not move with a small step of the input: its gradient is 0. */
static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    (void)x;
    if (dx.at && !add)
        op_position(p->m, &(struct op_position){.y = dx,
                                                .x = dy,
                                                .dims = pass_dims(p, l->in)});
}

const struct layer_type layer_rocket = {
    .name = "rocket",
    .summary = "Random convolution features: the shares of steps at which fixed kernels are above "
               "thresholds.",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct rocket_spec),
    .of = LAYER_OF_STEPS,
    .ends_steps = true,
    .whole_rows = true,
    .plan = plan,
    .init = init,
    .fit = fit,
    .forward = forward,
    .backward = backward,
};
