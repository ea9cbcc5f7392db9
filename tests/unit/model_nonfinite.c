/* model_nonfinite.c - a step that is not finite: where it began is named, and the weights stay as
 * the first such step met them, whatever follows it. Ids: N01. */
#include <math.h>

#include "netcase.h"
#include "tap.h"

#define NET                                                                                        \
    "{\"layers\": [{\"type\": \"dense\", \"units\": 12}, {\"type\": \"tanh\"}, "                   \
    "{\"type\": \"batch_norm\"}, "                                                                 \
    "{\"type\": \"residual\", \"layers\": [{\"type\": \"dense\", \"units\": 12}, "                 \
    "{\"type\": \"sigmoid\"}]}, {\"type\": \"dense\", \"units\": 5}]}"

static void begin(struct netcase *c, uint32_t micro)
{
    *c = (struct netcase){.model = NET, .numbers = 4, .outputs = 1, .rows = 40, .micro = micro,
                          .count = 400, .seed = 3};
    ok(case_ready(c), "opened");
}

static void train(struct netcase *c, uint32_t steps)
{
    struct hyper table[16];
    for (int i = 0; i < 16; i++)
        table[i] = (struct hyper){0.01, 0, 0};
    network_epoch(c->network, 0, table, 16, &c->e);
    case_steps(c, steps);
}

/* `value` stands in the weights from `at` on, `count` times. */
static void named(uint64_t (*at)(const struct model *m), unsigned count, double value,
                  const char *expected)
{
    struct netcase c;
    char text[160];
    begin(&c, 2);
    const struct model *m = network_model(c.network);
    network_get(c.network, &c.state, &c.e);
    for (unsigned i = 0; i < count; i++)
        c.state.params[at(m) + i] = (real)value;
    network_set(c.network, &c.state);
    train(&c, 1);
    network_nonfinite(c.network, text, sizeof text);
    is_string(text, expected, "N01 the layer is named");
    model_name_weight(m, at(m), text, sizeof text);
    ok(strstr(text, strstr(expected, "layer")) != NULL, "and that of a weight: %s", text);
    case_close(&c);
}

static uint64_t first(const struct model *m)
{
    return param_find(&m->list, "layers.0.weight")->at;
}
static uint64_t norm(const struct model *m)
{
    return param_find(&m->list, "layers.2.scale")->at;
}
static uint64_t inner(const struct model *m)
{
    return param_find(&m->list, "layers.3.layers.0.weight")->at;
}
static uint64_t output(const struct model *m)
{
    return param_find(&m->list, "layers.5.weight")->at;
}

/* Finite layers, a target that no loss can take. */
static void loss(void)
{
    struct netcase c;
    char text[160];
    begin(&c, 1);
    for (uint64_t row = 0; row < c.count; row++)
        case_target(&c, row, row == 130 ? (double)INFINITY : 1);
    network_source(c.network, &c.source, &c.e); /* lent anew */
    real *before = mem_alloc(network_model(c.network)->params, sizeof *before);
    train(&c, 3);
    network_get(c.network, &c.state, &c.e);
    size_t bytes = network_model(c.network)->params * sizeof(real);
    memcpy(before, c.state.params, bytes);
    train(&c, 10);
    network_nonfinite(c.network, text, sizeof text);
    is_string(text, "the loss", "N01 the loss, where every layer is finite");
    network_get(c.network, &c.state, &c.e);
    is_int(c.state.now.bad_steps, 7, "N01 the fourth step is bad, and with it all that follow");
    struct netcase d;
    begin(&d, 1);
    for (uint64_t row = 0; row < d.count; row++)
        case_target(&d, row, row == 130 ? (double)INFINITY : 1);
    network_source(d.network, &d.source, &d.e);
    train(&d, 3);
    train(&d, 3);
    network_get(d.network, &d.state, &d.e);
    ok(memcmp(c.state.params, d.state.params, bytes) == 0,
       "N01 the weights are those that the first bad step met");
    mem_free(before);
    case_close(&c);
    case_close(&d);
}

/* Rows that pass through: those of the bad step have left the machine when it is looked at. */
static void streamed(void)
{
    struct netcase c = {.model = NET, .numbers = 4, .outputs = 1, .rows = 400, .micro = 1,
                        .count = 7000, .seed = 3, .streams = true};
    char text[160];
    ok(case_make(&c), "rows in parts");
    case_fill(&c);
    case_target(&c, 50, (double)INFINITY);
    ok(case_open(&c) && network_streams(c.network) > 0, "opened");
    train(&c, 12);
    network_nonfinite(c.network, text, sizeof text);
    is_string(text, "the loss", "N01 what was bad in a part that others have replaced");
    network_get(c.network, &c.state, &c.e);
    is_int(c.state.now.bad_steps, 12, "in the first step");
    case_close(&c);
}

/* A layer that gives fewer steps than it reads: what lies behind its output is no part of it. */
static void strided(void)
{
    struct netcase c = {.numbers = 8, .steps = 4, .outputs = 1, .rows = 40, .micro = 1,
                        .count = 400, .seed = 3};
    char text[160];
    c.model = "{\"layers\": [{\"type\": \"conv1d\", \"units\": 3, \"stride\": 2}, {\"type\": "
              "\"pool\"}]}";
    ok(case_ready(&c), "opened");
    network_get(c.network, &c.state, &c.e);
    uint64_t at = param_find(&network_model(c.network)->list, "layers.2.weight")->at;
    for (unsigned i = 0; i < 3; i++)
        c.state.params[at + i] = (real)3e38;
    network_set(c.network, &c.state);
    train(&c, 1);
    network_nonfinite(c.network, text, sizeof text);
    is_string(text, "the output of layer 3 of 3 (dense)", "N01 behind a convolution with a stride");
    case_close(&c);
}

int main(void)
{
    named(first, 1, (double)NAN, "a weight of layer 1 of 8 (dense)");
    named(inner, 1, (double)INFINITY, "a weight of layer 5 of 8 (dense)");
    named(norm, 12, 3e38, "the output of layer 3 of 8 (batch_norm)");
    named(output, 5, 3e38, "the output of layer 8 of 8 (dense)");
    loss();
    streamed();
    strided();
    return done();
}
