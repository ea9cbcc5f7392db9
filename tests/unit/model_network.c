/* model_network.c - small problems that a network must learn, each within about a second; the same bytes whatever the number
 * of threads; every awkward shape of a batch. */
#include "base/thread.h"
#include "netcase.h"
#include "tap.h"

/* Share of records whose largest logit is the label; for numbers the root mean square error. */
static double score(struct netcase *c)
{
    real *logits = mem_alloc(c->count * c->outputs, sizeof *logits);
    ok(network_answer(c->network, &c->source, 0, c->count, logits, &c->e), "answers");
    double sum = 0;
    for (uint64_t row = 0; row < c->count; row++) {
        const real *y = logits + row * c->outputs;
        const unsigned char *target = c->records + row * c->features.format.stride + c->features.format.at_target;
        int32_t label;
        float value;
        memcpy(&label, target, 4);
        memcpy(&value, target, 4);
        uint32_t best = 0;
        for (uint32_t k = 1; k < c->outputs; k++)
            if (y[k] > y[best])
                best = k;
        if (c->outputs > 1)
            sum += best == (uint32_t)label;
        else
            sum += ((double)y[0] - (double)value) * ((double)y[0] - (double)value);
    }
    mem_free(logits);
    sum /= (double)c->count;
    return c->outputs > 1 ? sum : sqrt(sum);
}

static void xor(void)
{
    struct netcase c = {.model = "{\"preset\": \"mlp\", \"hidden\": [8], \"activation\": \"tanh\", \"dropout\": 0}",
                        .numbers = 2, .outputs = 2, .rows = 4, .micro = 1, .count = 4, .seed = 1};
    ok(case_make(&c), "xor: made");
    for (unsigned row = 0; row < 4; row++) {
        *case_number(&c, row, 0) = row & 1 ? 1 : -1;
        *case_number(&c, row, 1) = row & 2 ? 1 : -1;
        case_target(&c, row, (row & 1) ^ (row >> 1));
    }
    ok(case_open(&c) && case_train(&c, 500, 0.02, 0), "xor: trained");
    is_near(score(&c), 1, 0, "xor: all four are right");
    case_close(&c);
}

static void spirals(void)
{
    struct netcase c = {.model = "{\"preset\": \"mlp\", \"hidden\": [64, 64], \"dropout\": 0}", .numbers = 2,
                        .outputs = 3, .rows = 64, .micro = 1, .count = 600, .seed = 3, .shuffle = true};
    ok(case_make(&c), "spirals: made");
    for (unsigned row = 0; row < 600; row++) {
        double t = (row / 3) / 200.0, angle = 6 * t + (row % 3) * 2.0943951 + 0.1 * rng_normal(5, row, 0, 0, RNG_TEST);
        *case_number(&c, row, 0) = (float)(2 * t * cos(angle));
        *case_number(&c, row, 1) = (float)(2 * t * sin(angle));
        case_target(&c, row, row % 3);
    }
    ok(case_open(&c) && case_train(&c, 120, 0.005, 0.001), "spirals: trained");
    double right = score(&c);
    ok(right > 0.97, "spirals: %.3f of the rows are right", right);
    case_close(&c);
}

static void sine(void)
{
    struct netcase c = {.model = "{\"preset\": \"mlp\", \"hidden\": [32, 32], \"activation\": \"silu\", \"dropout\": 0}",
                        .numbers = 1, .outputs = 1, .rows = 32, .micro = 2, .count = 500, .seed = 4, .shuffle = true};
    ok(case_make(&c), "sine: made");
    for (unsigned row = 0; row < 500; row++) {
        double x = 4 * row / 500.0 - 2;
        *case_number(&c, row, 0) = (float)x;
        case_target(&c, row, sin(3 * x));
    }
    ok(case_open(&c) && case_train(&c, 200, 0.005, 0), "sine: trained");
    double error = score(&c);
    ok(error < 0.03, "sine: root mean square error %.4f", error);
    case_close(&c);
}

int main(void)
{
    threads_start(2);
    xor();
    spirals();
    sine();
    threads_stop();
    return done();
}
