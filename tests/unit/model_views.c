/* model_views.c - views (TabM): the constants of the recipe, the answer as the mean of the views',
 * the loss as the mean of theirs, and shapes that cannot be. */
#include <math.h>

#include "netcase.h"
#include "model/init.h"
#include "tap.h"

enum { K = 16 };
#define TABM "{\"preset\": \"tabm\", \"k\": 16, \"hidden\": [24, 20], \"dropout\": 0, \"variant\": "

static struct netcase table(const char *model, uint32_t outputs)
{
    return (struct netcase){.model = model,
                            .numbers = 4,
                            .indicators = 1,
                            .categories = 2,
                            .category = {{.count = 5, .encode = CATEGORY_ONEHOT},
                                         {.count = 9, .encode = CATEGORY_EMBEDDING, .dim = 3}},
                            .outputs = outputs,
                            .rows = 40,
                            .micro = 1,
                            .count = 40,
                            .seed = 5};
}

static const real *find(const struct netcase *c, const char *name, uint64_t *count)
{
    const struct param *p = param_find(&network_model(c->network)->list, name);
    ok(p != NULL, "there is %s", name);
    *count = p ? p->count : 0;
    return p ? c->state.params + p->at : NULL;
}

static void all_within(const struct netcase *c, const char *name, uint64_t count, double limit)
{
    uint64_t n;
    double most = 0;
    const real *w = find(c, name, &n);
    for (uint64_t i = 0; i < n; i++)
        most = fmax(most, fabs((double)w[i]));
    is_int((int64_t)n, (int64_t)count, "  so many numbers");
    ok(most <= limit && most > 0.8 * limit, "  within %g: %g", limit, most);
}

/* Columns 5 to 7 are those of one embedding, 8 to 12 one-hot ones of one category. */
static void same_of_a_feature(const real *w, const char *name)
{
    enum { WIDTH = 13 };
    bool equal = true, differ = false;
    for (int j = 0; j < K; j++) {
        const real *row = w + j * WIDTH;
        for (int i = 6; i < WIDTH; i++)
            equal = equal && (i == 8 || memcmp(&row[i], &row[i - 1], sizeof *w) == 0);
        differ = differ || memcmp(&row[0], &row[1], sizeof *w) != 0;
    }
    ok(equal && differ, "%s: one number a feature and view", name);
}

static void constants(void)
{
    uint64_t n;
    struct netcase c = table(TABM "\"mini\"}", 3); /* no bins: nothing is embedded */
    ok(case_ready(&c), "mini: %s", c.e.what);
    const real *w = find(&c, "layers.1.layers.0.weight", &n);
    int plus = 0, minus = 0;
    for (uint64_t i = 0; i < n; i++) {
        plus += w[i] >= 1 && w[i] <= 1;
        minus += w[i] >= -1 && w[i] <= -1;
    }
    is_int((int64_t)n, K * 13, "  a weight a view and input");
    ok(plus + minus == (int)n && plus > 70 && minus > 70, "  signs at random");
    same_of_a_feature(w, "mini");
    all_within(&c, "layers.1.layers.1.weight", 13 * 24, 1 / sqrt(13));
    all_within(&c, "layers.1.layers.1.bias", 24, 1 / sqrt(13));
    all_within(&c, "layers.1.layers.3.weight", 24 * 20, 1 / sqrt(24));
    all_within(&c, "layers.2.weight", K * 20 * 3, 1 / sqrt(20));
    all_within(&c, "layers.2.bias", K * 3, 1 / sqrt(20));
    case_close(&c);

    c = table(TABM "\"full\"}", 3);
    c.bins = 3; /* the first scales are normal numbers */
    c.numbers = 2;
    ok(case_ready(&c), "full: %s", c.e.what);
    w = find(&c, "layers.1.layers.0.weight", &n);
    double square = 0;
    for (uint64_t i = 0; i < n; i++)
        square += (double)w[i] * (double)w[i] / (double)n;
    ok(square > 0.6 && square < 1.5, "  normal numbers: mean square %g", square);
    /* columns: indicator, 3 of an embedding, 5 one-hot, then 16 for each of two numbers */
    ok(memcmp(&w[9], &w[24], sizeof *w) == 0 && memcmp(&w[24], &w[25], sizeof *w) != 0 &&
           memcmp(&w[25], &w[40], sizeof *w) == 0 && memcmp(&w[4], &w[8], sizeof *w) == 0,
       "  what a number or category became has one weight");
    all_within(&c, "layers.0.scale", 2 * 16, 1 / sqrt(16));
    all_within(&c, "layers.0.shift", 2 * 16, 1 / sqrt(16));
    w = find(&c, "ple.weight", &n);
    bool zero = true;
    for (uint64_t i = 0; i < n; i++)
        zero = zero && !(fabs((double)w[i]) > 0);
    ok(zero && n == (3 + 4) * 16, "  the piecewise part begins at 0");
    w = find(&c, "layers.1.layers.2.bias", &n);
    bool equal = true;
    for (uint64_t j = 1; j < K; j++)
        equal = equal && memcmp(w, w + j * (n / K), n / K * sizeof *w) == 0;
    ok(equal, "  all views begin with one bias");
    all_within(&c, "layers.1.layers.2.bias", K * 24, 1 / sqrt(1 + 3 + 5 + 2 * 16));
    static const char *const ones[] = {"layers.1.layers.2.weight", "layers.1.layers.4.weight",
                                       "layers.1.layers.6.weight"};
    for (size_t k = 0; k < 3; k++) {
        w = find(&c, ones[k], &n);
        equal = true;
        for (uint64_t i = 0; i < n; i++)
            equal = equal && w[i] >= 1 && w[i] <= 1;
        ok(equal && n >= K * 20, "  all 1");
    }
    case_close(&c);
}

/* With output weights of 0 the logits of view j are its bias: the answer and the loss are known. */
static void mean(uint32_t outputs)
{
    enum { VIEWS = 3 };
    struct netcase c =
        table("{\"preset\": \"tabm\", \"k\": 3, \"hidden\": [8], \"dropout\": 0}", outputs);
    uint64_t n;
    ok(case_ready(&c), "%u outputs: %s", outputs, c.e.what);
    const real *w = find(&c, "layers.2.weight", &n);
    init_constant(c.state.params + (w - c.state.params), n, 0);
    const real *b = find(&c, "layers.2.bias", &n);
    network_set(c.network, &c.state);
    real logits[40 * 3];
    ok(case_answer(&c, c.network, &c.source, 0, 40, logits), "  answered");
    for (uint32_t k = 0; k < outputs; k++) {
        double want = 0;
        for (int j = 0; j < VIEWS; j++) {
            const real *of = b + (uint32_t)j * outputs;
            double sum = 0;
            for (uint32_t i = 0; i < outputs; i++)
                sum += exp((double)of[i]);
            want += (outputs > 1 ? exp((double)of[k]) / sum : (double)of[k]) / VIEWS;
        }
        is_near((double)logits[k], outputs > 1 ? log(want) : want, 1e-5, "  the mean of the views");
    }
    double want = 0, weights = 0;
    for (uint64_t row = 0; row < c.count; row++) {
        const unsigned char *at = c.records + row * c.features.format.stride;
        float weight, value;
        int32_t label;
        memcpy(&weight, at + c.features.format.at_weight, sizeof weight);
        memcpy(&value, at + c.features.format.at_target, sizeof value);
        memcpy(&label, at + c.features.format.at_target, sizeof label);
        for (int j = 0; j < VIEWS; j++) {
            const real *of = b + (uint32_t)j * outputs;
            double sum = 0, off = (double)of[0] - (double)value;
            for (uint32_t i = 0; i < outputs; i++)
                sum += exp((double)of[i]);
            double loss = outputs > 1 ? log(sum) - (double)of[label] : off * off;
            want += (double)weight * loss;
            weights += (double)weight;
        }
    }
    struct hyper still[1] = {{0, 0, 0}};
    struct step now;
    network_epoch(c.network, 0, still, 1, &c.e);
    case_steps(&c, 1);
    network_step(c.network, &now);
    is_near(now.loss / now.weight, want / weights, 1e-5, "  the loss is the mean of theirs");
    case_close(&c);
}

/* Label and weight of the record at a position of the order of view j. */
static double loss_at(const struct netcase *c, uint32_t i, uint32_t j, const real *b,
                      double *weight)
{
    uint32_t row = rng_permute(c->state.now.seed, 0, rng_order(c->state.now.model, j),
                               (uint32_t)c->count, i);
    const unsigned char *at = c->records + row * c->features.format.stride;
    float w;
    int32_t label;
    double sum = 0;
    memcpy(&w, at + c->features.format.at_weight, sizeof w);
    memcpy(&label, at + c->features.format.at_target, sizeof label);
    for (uint32_t k = 0; k < c->outputs; k++)
        sum += exp((double)b[k]);
    *weight = (double)w;
    return (double)w * (log(sum) - (double)b[label]);
}

/* With output weights of 0 the loss of a step tells which rows each view has read. */
static void own_rows(void)
{
    enum { VIEWS = 3, ROWS = 16 };
    struct netcase c =
        table("{\"preset\": \"tabm\", \"k\": 3, \"hidden\": [8], \"dropout\": 0}", 3);
    uint64_t n;
    c.rows = ROWS;
    c.micro = 2;
    c.count = 40;
    c.shuffle = true;
    ok(case_ready(&c), "own rows: %s", c.e.what);
    const real *w = find(&c, "layers.2.weight", &n);
    init_constant(c.state.params + (w - c.state.params), n, 0);
    const real *b = find(&c, "layers.2.bias", &n);
    network_set(c.network, &c.state);
    struct hyper still[2] = {{0, 0, 0}, {0, 0, 0}};
    struct step now;
    network_epoch(c.network, 0, still, 2, &c.e);
    for (uint32_t step = 0; step < 2; step++) {
        uint32_t first = step * 2 * ROWS, end = step ? 40 : 2 * ROWS;
        double loss = 0, weights = 0, alike = 0, weight;
        for (uint32_t j = 0; j < VIEWS; j++)
            for (uint32_t i = first; i < end; i++) {
                loss += loss_at(&c, i, j, b + j * c.outputs, &weight);
                weights += weight;
                alike += loss_at(&c, i, 0, b + j * c.outputs, &weight);
            }
        case_steps(&c, 1);
        network_step(c.network, &now);
        is_near(now.weight, weights, 1e-5 * weights, "  the rows of each view");
        is_near(now.loss, loss, 1e-5 * loss, "  with its own loss");
        ok(fabs(loss - alike) > 1e-3 * loss, "  which are not those of the first one");
    }
    case_close(&c);
}

/* Views that may not have rows of their own. */
static void misplaced(void)
{
    static const char *const layers[] = {
        "{\"type\": \"dense\", \"units\": 4}, {\"type\": \"views\", \"k\": 2, \"share_batches\": "
        "false, \"layers\": [{\"type\": \"view_scale\"}]}",
        "{\"type\": \"views\", \"k\": 2, \"share_batches\": false, \"layers\": [{\"type\": "
        "\"view_scale\"}]}, {\"type\": \"relu\"}",
        "{\"type\": \"residual\", \"layers\": [{\"type\": \"views\", \"k\": 2, \"share_batches\": "
        "false, \"layers\": [{\"type\": \"view_scale\"}]}]}"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        char text[400];
        snprintf(text, sizeof text, "{\"layers\": [%s]}", layers[i]);
        struct netcase c = table(text, 2);
        ok(!case_ready(&c) && c.e.id == ERR_CONFIG_CONFLICT &&
               strstr(c.e.what, "share_batches false"),
           "refused: %s", c.e.what);
        case_close(&c);
    }
}

static void refused(void)
{
    struct netcase c = table("{\"layers\": [{\"type\": \"dense\", \"units\": 7}, "
                             "{\"type\": \"view_dense\", \"units\": 2, \"views\": 3}]}",
                             2);
    ok(!case_ready(&c) && c.e.id == ERR_CONFIG_SIZE && strstr(c.e.what, "7 inputs"),
       "7 inputs are not those of 3 views: %s", c.e.what);
    case_close(&c);
}

int main(void)
{
    constants();
    mean(3);
    mean(1);
    own_rows();
    misplaced();
    refused();
    return done();
}
