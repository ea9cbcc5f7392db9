/* layers.c - the gradient of every example of every layer type, alone and in the places where
 * layers meet: behind and before dense layers (where activations are taken in), nested, after
 * one-hot columns and embeddings, accumulated, in shards. */
#include "grad.h"

#include "base/process/thread.h"

static struct netcase standard(const char *model)
{
    return (struct netcase){
        .model = model, .numbers = 3, .outputs = 2, .rows = 7, .micro = 1, .count = 7, .seed = 11};
}

static void check_list(const char *layers, const char *name)
{
    struct text model = {0};
    text_printf(&model, "{\"layers\": [%s]}", layers);
    grad_check(standard(model.data), name);
    text_free(&model);
}

/* Three channels of four steps, of which random ones are missing. */
static void check_steps(const char *layers, const char *name)
{
    struct text model = {0};
    text_printf(&model, "{\"layers\": [%s]}", layers);
    struct netcase c = standard(model.data);
    c.numbers = 12;
    c.steps = 4;
    grad_check(c, name);
    text_free(&model);
}

/* First (the gradient of its input is not asked for), between, behind a dense layer, and twice. */
static void check_example(const struct layer_type *type, const char *example)
{
    static const char *const steps_places[] = {
        "%s, {\"type\": \"pool\"}",
        "{\"type\": \"layer_norm\"}, {\"type\": \"dense\", \"units\": 4}, %s, %s, {\"type\": "
        "\"dropout\", \"p\": 0.3}, {\"type\": \"pool\"}, {\"type\": \"dense\", \"units\": 3}",
        "{\"type\": \"residual\", \"layers\": [{\"type\": \"dense\", \"units\": 4}, %s]}, "
        "{\"type\": \"pool\", \"kind\": \"last\"}",
    };
    static const char *const pool_places[] = {
        "%s",
        "{\"type\": \"dense\", \"units\": 4}, {\"type\": \"gelu\"}, %s, {\"type\": \"dense\", "
        "\"units\": 3}",
    };
    static const char *const places[] = {
        "%s",
        "{\"type\": \"layer_norm\"}, %s, {\"type\": \"dense\", \"units\": 4}",
        "{\"type\": \"dense\", \"units\": 4}, %s, %s, {\"type\": \"dense\", \"units\": 3}",
        "{\"type\": \"residual\", \"layers\": [{\"type\": \"dense\", \"units\": 4}, %s, %s]}",
    };
    const char *const *place = places;
    size_t count = sizeof places / sizeof places[0];
    if (type->of == LAYER_OF_STEPS) {
        place = type->ends_steps ? pool_places : steps_places;
        count = type->ends_steps || strcmp(type->name, "class_token") == 0 ? 2 : 3;
    }
    for (size_t i = 0; i < count; i++) {
        struct text layers = {0};
        for (const char *c = place[i]; *c; c++)
            if (c[0] == '%') {
                text_put(&layers, example);
                c++;
            } else {
                text_char(&layers, *c);
            }
        (type->of == LAYER_OF_STEPS ? check_steps : check_list)(layers.data, layers.data);
        text_free(&layers);
    }
}

static void features(void)
{
    struct netcase c =
        standard("{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": \"tanh\"}]}");
    c.categories = 4;
    c.indicators = 2;
    c.category[0] = (struct feature_category){.count = 4, .encode = CATEGORY_ONEHOT};
    c.category[1] = (struct feature_category){.count = 5, .encode = CATEGORY_EMBEDDING, .dim = 3};
    c.category[2] = (struct feature_category){.count = 3, .encode = CATEGORY_EMBEDDING, .dim = 2};
    c.category[3] = (struct feature_category){.count = 2, .encode = CATEGORY_ONEHOT};
    grad_check(c, "numbers, indicators, one-hot columns and embeddings");
    c.model = "{\"preset\": \"linear\"}";
    grad_check(c, "linear on all features");
    c.model = "{\"layers\": [{\"type\": \"batch_norm\"}, {\"type\": \"dropout\", \"p\": 0.3}, "
              "{\"type\": \"dense\", \"units\": 3}]}";
    grad_check(c, "embeddings below batch_norm and dropout");
    c.micro = 3;
    c.count = 17;
    c.shuffle = true;
    grad_check(c, "embeddings, three micro-batches of which the last is ragged, shuffled");
    c.numbers = 0;
    c.indicators = 0;
    c.model = "{\"preset\": \"linear\"}";
    grad_check(c, "categories only");
    c.categories = 0;
    c.numbers = 1;
    grad_check(c, "one column");
}

/* Each input layer by itself, in front of one that takes ids and of one that does not. */
static void input_layers(void)
{
    static const char *const models[] = {
        "{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": \"tanh\"}]}",
        "{\"layers\": [{\"type\": \"layer_norm\"}, {\"type\": \"dense\", \"units\": 4}]}"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct netcase c = standard(models[i]);
        c.indicators = 2;
        grad_check(c, "input layer numbers");
        c.numbers = c.indicators = 0;
        c.categories = 2;
        c.category[0] = (struct feature_category){.count = 3, .encode = CATEGORY_ONEHOT};
        c.category[1] = (struct feature_category){.count = 4, .encode = CATEGORY_ONEHOT};
        grad_check(c, "input layer one_hot");
        c.category[0] =
            (struct feature_category){.count = 3, .encode = CATEGORY_EMBEDDING, .dim = 2};
        c.category[1] =
            (struct feature_category){.count = 4, .encode = CATEGORY_EMBEDDING, .dim = 3};
        grad_check(c, "input layer embedding");
    }
}

/* Periodic numbers before layers that take ids and pairs, and before those that do not. */
static void periodic(void)
{
    struct netcase c = standard("{\"layers\": [{\"type\": \"scale\"}, {\"type\": \"ntk_dense\", "
                                "\"units\": 4}, {\"type\": \"blend\"}], "
                                "\"output\": {\"type\": \"ntk_dense\"}}");
    c.periodic = true;
    grad_check(c, "periodic numbers");
    c.micro = 2;
    c.indicators = 2;
    c.categories = 2;
    c.category[0] = (struct feature_category){.count = 4, .encode = CATEGORY_ONEHOT};
    c.category[1] = (struct feature_category){.count = 5, .encode = CATEGORY_EMBEDDING, .dim = 3};
    grad_check(c, "periodic numbers beside categories, in two micro-batches");
    c.bins = 2;
    c.model = "{\"preset\": \"linear\"}";
    grad_check(c, "linear on numbers that are periodic and piecewise-linear");
}

/* Piecewise-linear numbers: as pairs, as components, and beside everything else. */
static void bins(void)
{
    struct netcase c = standard("{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": "
                                "\"gelu\"}, {\"type\": \"dense\", \"units\": 3}]}");
    c.bins = 3;
    grad_check(c, "piecewise-linear numbers");
    c.indicators = 2;
    c.categories = 2;
    c.category[0] = (struct feature_category){.count = 4, .encode = CATEGORY_ONEHOT};
    c.category[1] = (struct feature_category){.count = 5, .encode = CATEGORY_EMBEDDING, .dim = 3};
    grad_check(c, "piecewise-linear numbers beside categories");
    c.model = "{\"preset\": \"linear\"}";
    grad_check(c, "linear on piecewise-linear numbers");
    c.model = "{\"layers\": [{\"type\": \"layer_norm\"}, {\"type\": \"dense\", \"units\": 4}]}";
    grad_check(c, "components of piecewise-linear numbers below layer_norm");
    c.model = "{\"layers\": [{\"type\": \"residual\", \"layers\": [{\"type\": \"tanh\"}]}]}";
    c.count = c.rows = 200;
    grad_check(c, "components below a residual block, three shards");
    c.rows = 130;
    c.micro = 2;
    c.numbers = 1;
    c.indicators = 0;
    c.bins = 1;
    c.model = "{\"layers\": [{\"type\": \"dense\", \"units\": 37}, {\"type\": \"relu\"}]}";
    grad_check(c, "one bin, two micro-batches of which the last is ragged");
}

/* Views of everything that an input can be, in shards and micro-batches. */
static void views(void)
{
    static const char *const models[] = {
        "{\"preset\": \"tabm\", \"k\": 3, \"hidden\": [4, 3], \"activation\": \"tanh\"}",
        "{\"preset\": \"tabm\", \"k\": 3, \"hidden\": [4, 3], \"activation\": \"tanh\", "
        "\"share_batches\": true}",
        "{\"preset\": \"tabm\", \"k\": 3, \"hidden\": [4, 3], \"activation\": \"tanh\", "
        "\"variant\": \"full\"}"};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct netcase c = standard(models[i]);
        c.indicators = 2;
        c.categories = 2;
        c.category[0] = (struct feature_category){.count = 4, .encode = CATEGORY_ONEHOT};
        c.category[1] =
            (struct feature_category){.count = 5, .encode = CATEGORY_EMBEDDING, .dim = 3};
        grad_check(c, "views of numbers, indicators, embeddings and one-hot columns");
        c.outputs = 1;
        grad_check(c, "views with values");
        c.bins = 3; /* and numbers that become several */
        c.outputs = 2;
        grad_check(c, "views of embedded numbers beside everything else");
        c.categories = 0;
        c.indicators = 0;
        c.rows = 130;
        c.micro = 2;
        c.count = 200;
        c.outputs = 3;
        grad_check(c, "views in two shards, two micro-batches of which the last is ragged");
    }
}

/* Texts: as terms of a dense layer, as columns, and beside everything else. */
static void texts(void)
{
    struct netcase c = standard("{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": "
                                "\"gelu\"}, {\"type\": \"dense\", \"units\": 3}]}");
    c.texts = 4;
    grad_check(c, "texts");
    c.bins = 3;
    c.indicators = 2;
    c.categories = 2;
    c.category[0] = (struct feature_category){.count = 4, .encode = CATEGORY_ONEHOT};
    c.category[1] = (struct feature_category){.count = 5, .encode = CATEGORY_EMBEDDING, .dim = 3};
    grad_check(c, "texts beside numbers and categories");
    c.bins = c.indicators = c.categories = c.numbers = 0;
    c.micro = 2;
    c.model = "{\"preset\": \"linear\"}";
    grad_check(c, "linear on texts alone, two micro-batches");
    c.model = "{\"layers\": [{\"type\": \"layer_norm\"}, {\"type\": \"dense\", \"units\": 4}]}";
    grad_check(c, "columns of texts below layer_norm");
}

/* A text as tokens, of ragged lengths, below each kind of layer of sequences. */
static void tokens(void)
{
    static const char *const layers[] = {
        "{\"type\": \"pool\", \"kind\": \"mean\"}, {\"type\": \"dense\", \"units\": 3}",
        "{\"type\": \"gru\", \"units\": 3, \"bidirectional\": true}, {\"type\": \"pool\"}",
        "{\"type\": \"conv1d\", \"units\": 3, \"kernel\": 3}, {\"type\": \"pool\", "
        "\"kind\": \"max\"}",
        "{\"type\": \"attention\", \"heads\": 1}, {\"type\": \"pool\", \"kind\": "
        "\"attention\"}"};
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        struct text model = {0};
        text_printf(&model, "{\"layers\": [%s]}", layers[i]);
        struct netcase c = standard(model.data);
        c.numbers = c.indicators = c.categories = 0;
        c.tokens = 6;
        c.micro = 2;
        c.count = 50;
        grad_check(c, "tokens of a text, two micro-batches");
        text_free(&model);
    }
}

static void batches(void)
{
    struct netcase c = standard(
        "{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": \"layer_norm\"}, "
        "{\"type\": \"gelu\"}, {\"type\": \"dense\", \"units\": 3}, {\"type\": \"silu\"}]}");
    c.count = 5;
    grad_check(c, "fewer rows than the batch");
    c.count = 1;
    grad_check(c, "one row");
    c.count = c.rows = 200;
    grad_check(c, "three shards");
    c.micro = 2;
    c.rows = 130;
    grad_check(c, "two shards, two micro-batches of which the last is ragged");
    c.model = "{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": \"batch_norm\"}, "
              "{\"type\": \"tanh\"}]}";
    grad_check(c, "batch_norm with a ragged micro-batch in shards");
    c.micro = 1;
    c.rows = 9;
    c.count = 5;
    grad_check(c, "batch_norm with fewer rows than the batch");
    float weights[2] = {3, 0.5f};
    c.class_weight = weights;
    grad_check(c, "class weights");
    c.clip = 1e6;
    grad_check(c, "a clip that does not bite");
}

/* Sequences in shards and micro-batches, of one and of many channels. */
static void sequences(void)
{
    struct netcase c = standard(
        "{\"layers\": [{\"type\": \"lstm\", \"units\": 3, \"bidirectional\": true}, {\"type\": "
        "\"gru\", \"units\": 2}, {\"type\": \"pool\", \"kind\": \"max\"}]}");
    c.numbers = 14;
    c.steps = 7;
    c.count = c.rows = 200;
    grad_check(c, "lstm and gru, three shards");
    c.rows = 130;
    c.micro = 2;
    c.shuffle = true;
    grad_check(c, "lstm and gru, two micro-batches of which the last is ragged, shuffled");
    c.steps = 14;
    c.count = 9;
    c.rows = 16;
    c.micro = 1;
    c.outputs = 1;
    grad_check(c, "one channel, regression");
    c.model = "{\"layers\": [{\"type\": \"pool\"}, {\"type\": \"batch_norm\"}]}";
    grad_check(c, "batch_norm behind pool");
}

/* Windows over groups that are longer than they are, with a short one at the end of each, whose
 * rows lie in several windows: an answer each row, some without a label, or one each window. */
static void windows(void)
{
    static const char *const layers[] = {
        "{\"type\": \"lstm\", \"units\": 3, \"bidirectional\": true}, {\"type\": \"gru\", "
        "\"units\": 2}",
        "{\"type\": \"dense\", \"units\": 4}, {\"type\": \"position\"}, {\"type\": \"attention\", "
        "\"heads\": 2, \"causal\": true}",
        "{\"type\": \"conv1d\", \"units\": 3, \"kernel\": 3, \"causal\": true}, {\"type\": "
        "\"gelu\"}"};
    static const uint32_t strides[] = {5, 2, 1};
    for (size_t i = 0; i < 6; i++) {
        struct text model = {0};
        const bool each = i < 3;
        text_printf(&model, "{\"layers\": [%s%s]}", layers[i % 3],
                    each ? "" : ", {\"type\": \"pool\", \"kind\": \"last\"}");
        struct netcase c = standard(model.data);
        c.count = 60;
        c.group = 17;
        c.window = 5;
        c.stride = strides[i % 3];
        c.each = each;
        grad_check(c, "windows that follow one another, or overlap");
        c.rows = 4;
        c.micro = 2;
        c.shuffle = true;
        c.categories = 2;
        c.indicators = 1;
        c.category[0] = (struct feature_category){.count = 4, .encode = CATEGORY_ONEHOT};
        c.category[1] =
            (struct feature_category){.count = 5, .encode = CATEGORY_EMBEDDING, .dim = 3};
        grad_check(c, "windows of all kinds of columns, two micro-batches, shuffled");
        c.outputs = 1;
        grad_check(c, "windows with values");
        text_free(&model);
    }
}

/* Windows that begin with the state of those before them. */
static void carried(void)
{
    struct netcase c = standard(
        "{\"layers\": [{\"type\": \"lstm\", \"units\": 3}, {\"type\": \"gru\", \"units\": 2}]}");
    c.count = 60;
    c.group = 17;
    c.window = c.stride = 5;
    c.each = c.carry = true;
    grad_check(c, "state carried: lstm below gru");
    c.rows = 3;
    c.micro = 2;
    c.outputs = 1;
    grad_check(c, "state carried, two micro-batches, values");
    c.model = "{\"layers\": [{\"type\": \"gru\", \"units\": 3}, {\"type\": \"residual\", "
              "\"layers\": [{\"type\": \"lstm\", \"units\": 3}]}]}";
    c.rows = 130;
    c.count = 1300;
    c.group = 41;
    grad_check(c, "state carried: gru below lstm, shards");
}

/* Attention in all its forms, at lengths from 0 to all steps, in shards and micro-batches. */
static void attention(void)
{
    struct netcase c = standard(
        "{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": \"class_token\"}, "
        "{\"type\": \"position\"}, {\"type\": \"residual\", \"layers\": [{\"type\": "
        "\"layer_norm\"}, {\"type\": \"attention\", \"heads\": 2, \"rotary\": true}, {\"type\": "
        "\"dropout\", \"p\": 0.2}]}, {\"type\": \"pool\", \"kind\": \"cls\"}]}");
    c.numbers = 14;
    c.steps = 7;
    c.count = c.rows = 20;
    grad_check(c, "attention with a class token and rotary positions");
    c.rows = 130;
    c.micro = 2;
    c.count = 200;
    c.shuffle = true;
    c.model = "{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": \"position\"}, "
              "{\"type\": \"attention\", \"heads\": 2, \"causal\": true, \"rotary\": true}, "
              "{\"type\": \"pool\", \"kind\": \"attention\"}]}";
    grad_check(c, "causal attention, two shards, two micro-batches of which the last is ragged");
    c.rows = 5;
    c.count = 5;
    c.micro = 1;
    c.numbers = c.steps = 70; /* more than a block of queries */
    c.model = "{\"layers\": [{\"type\": \"dense\", \"units\": 2}, {\"type\": \"attention\", "
              "\"heads\": 1, \"causal\": true}, {\"type\": \"pool\"}]}";
    grad_check(c, "causal attention of 70 steps");
    c.model = "{\"layers\": [{\"type\": \"dense\", \"units\": 2}, {\"type\": \"attention\", "
              "\"heads\": 1}, {\"type\": \"pool\"}]}";
    grad_check(c, "attention of 70 steps");
}

/* Strides and dilations at ragged lengths, in shards and micro-batches. */
static void convolution(void)
{
    struct netcase c = standard(
        "{\"layers\": [{\"type\": \"conv1d\", \"units\": 3, \"stride\": 2}, {\"type\": \"gelu\"}, "
        "{\"type\": \"residual\", \"layers\": [{\"type\": \"conv1d\", \"units\": 2, \"dilation\": "
        "2, \"causal\": true}]}, {\"type\": \"pool\", \"kind\": \"last\"}]}");
    c.numbers = 14;
    c.steps = 7;
    c.rows = 130;
    c.micro = 2;
    c.count = 200;
    c.shuffle = true;
    grad_check(c, "conv1d, two shards, two micro-batches of which the last is ragged");
}

/* The harness can fail: one gradient wrong by a hundred-thousandth is seen, and so is a loss
 * without gradient. */
static void harness(void)
{
    struct netcase c =
        standard("{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": \"tanh\"}]}");
    c.optim = "{\"type\": \"sgd\", \"momentum\": 0}";
    uint64_t at;
    ok(case_ready(&c), "opened");
    grad_shake(&c);
    ok(grad_worst(&c, 1, &at) <= GRAD_GATE, "a right gradient passes");
    ok(grad_worst(&c, 1 + 1e-5, &at) > GRAD_GATE,
       "a gradient wrong by a hundred-thousandth is seen");
    ok(grad_worst(&c, -1, &at) > GRAD_GATE, "a gradient of the wrong sign is seen");
    case_close(&c);
}

int main(void)
{
    threads_start(2);
    harness();
    for (const struct layer_type *const *t = layer_types; *t; t++)
        for (const char *const *example = (*t)->examples; *example; example++)
            check_example(*t, *example);
    check_list("{\"type\": \"residual\", \"layers\": [{\"type\": \"dropout\", \"p\": 0}]}",
               "a residual block of nothing");
    check_list("{\"type\": \"dense\", \"units\": 3}, {\"type\": \"residual\", \"layers\": "
               "[{\"type\": \"residual\", "
               "\"layers\": [{\"type\": \"dense\", \"units\": 5}, {\"type\": \"mish\"}]}, "
               "{\"type\": \"dense\", "
               "\"units\": 3}]}, {\"type\": \"elu\"}",
               "residual in residual, both with projections");
    features();
    input_layers();
    bins();
    periodic();
    views();
    texts();
    tokens();
    sequences();
    windows();
    carried();
    attention();
    convolution();
    batches();
    threads_stop();
    return done();
}
