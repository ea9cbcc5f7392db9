/* model_fit.c - the fit hooks of layers: called once each, in order, with the input that the layer
 * computes on, that of layers before it that are fitted already. */
#include <math.h>

#include "netcase.h"
#include "tap.h"

enum { CALLS = 8 };
static struct call {
    uint32_t position, rows, width;
    double mean; /* of the sample */
} calls[CALLS];
static unsigned call_count;

static double mean_of(const struct fit_sample *x)
{
    double sum = 0;
    for (uint64_t i = 0; i < (uint64_t)x->rows * x->width; i++)
        sum += (double)x->x[i];
    return sum / ((double)x->rows * x->width);
}

/* A layer_norm whose shift becomes its position: the layer behind it sees that mean. */
static const struct model *model;
static void fit(const struct layer *l, const struct fit_sample *x, real *params, real *buffers)
{
    (void)buffers;
    if (call_count < CALLS)
        calls[call_count++] = (struct call){l->position, x->rows, x->width, mean_of(x)};
    for (uint32_t i = 0; i < model->list.count; i++) {
        const struct param *p = &model->list.items[i];
        if (p->layer == l && strstr(p->name, "shift"))
            for (uint64_t k = 0; k < p->count; k++)
                params[p->at + k] = (real)(10 * l->position);
    }
}

static void fitted(void)
{
    struct layer_type toy = layer_layer_norm;
    struct netcase c = {.model = "{\"layers\": [{\"type\": \"layer_norm\"}, "
                                 "{\"type\": \"residual\", \"layers\": "
                                 "[{\"type\": \"layer_norm\"}]}, {\"type\": \"layer_norm\"}]}",
                        .numbers = 6, .outputs = 1, .rows = 40, .micro = 2, .count = 30,
                        .seed = 3, .shuffle = true};
    ok(case_ready(&c), "opened: %s", c.e.what);
    model = network_model(c.network);
    call_count = 0;
    ok(network_fit_layers(c.network, &c.e) && call_count == 0, "no layer has a hook");
    toy.fit = fit;
    model->layers[0]->type = &toy;
    model->layers[1]->children[0]->type = &toy;
    model->layers[2]->type = &toy;
    double before = 0;
    for (uint64_t row = 0; row < c.count; row++)
        for (uint32_t i = 0; i < 6; i++)
            before += (double)*case_number(&c, row, i) / (6 * 30.0);
    ok(network_fit_layers(c.network, &c.e), "fitted");
    is_int(call_count, 3, "three hooks");
    ok(calls[0].position == 1 && calls[1].position == 3 && calls[2].position == 4, "in order");
    ok(calls[0].rows == 30 && calls[0].width == 6, "all rows of the data, no more");
    is_near(calls[0].mean, before, 1e-5, "the first one sees the records");
    is_near(calls[1].mean, 10, 1e-4, "the inner one what the first was fitted to");
    is_near(calls[2].mean, 10 + 30, 1e-4, "the last one the sum of both");
    network_get(c.network, &c.state, &c.e);
    const struct param *shift = param_find(&model->list, "layers.2.shift");
    ok(fabs((double)c.state.params[shift->at] - 40) < 1e-6, "its parameters are the network's");
    model->layers[0]->type = model->layers[2]->type = &layer_layer_norm;
    model->layers[1]->children[0]->type = &layer_layer_norm;
    struct hyper table[1] = {{0.01, 0, 0}};
    ok(network_epoch(c.network, 0, table, 1, &c.e), "the training begins behind it");
    case_steps(&c, 1);
    case_close(&c);
}

/* ntk_dense: on the rows of the first batch each output has deviation 1, and zero lies between its
 * values. Another seed gives another bias; init and bias_init leave it out. */
static void scaled(const char *options, bool data)
{
    enum { ROWS = 30, WIDTH = 6, UNITS = 5 };
    char text[200];
    snprintf(text, sizeof text, "{\"layers\": [{\"type\": \"ntk_dense\", \"units\": 5%s}]}",
             options);
    struct netcase c = {.model = text, .numbers = WIDTH, .outputs = 1, .rows = ROWS, .micro = 1,
                        .count = ROWS, .seed = 3};
    ok(case_ready(&c) && network_fit_layers(c.network, &c.e), "fitted: %s", c.e.what);
    network_get(c.network, &c.state, &c.e);
    const struct model *m = network_model(c.network);
    const real *w = c.state.params + param_find(&m->list, "layers.0.weight")->at,
               *b = c.state.params + param_find(&m->list, "layers.0.bias")->at;
    double off = 0;
    bool inside = true;
    for (int j = 0; j < UNITS; j++) {
        double sum = 0, square = 0, low = INFINITY, high = -INFINITY;
        for (uint64_t row = 0; row < ROWS; row++) {
            double z = 0;
            for (uint32_t i = 0; i < WIDTH; i++)
                z += (double)*case_number(&c, row, i) * (double)w[i * UNITS + (uint32_t)j];
            sum += z / ROWS;
            square += z * z / ROWS;
            low = fmin(low, z);
            high = fmax(high, z);
        }
        off = fmax(off, fabs(sqrt(square - sum * sum) - 1));
        inside = inside && low + (double)b[j] <= 1e-5 && high + (double)b[j] >= -1e-5;
    }
    ok((off < 1e-5) == data, "deviations off by %.1e: %s", off, text);
    ok(!data || (inside && b[0] != b[1]), "zero lies between the outputs");
    case_close(&c);
}

int main(void)
{
    fitted();
    scaled("", true);
    scaled(", \"init\": \"normal\", \"bias_init\": \"zero\"", false);
    return done();
}
