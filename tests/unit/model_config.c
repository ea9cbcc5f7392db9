/* Of the catalogue: J05 J06 J07 J13 J14.
 * model_config.c - the "model" object: presets, layers, what is refused and how it is said;
 * resolved and read back. */
#include "base/mem.h"
#include "model/network/model.h"
#include "tap.h"

static struct feature_category categories[2] = {
    {.count = 5, .encode = CATEGORY_ONEHOT}, {.count = 9, .encode = CATEGORY_EMBEDDING, .dim = 3}};
static uint32_t indicators[1] = {1};
static struct features features, sequences; /* two steps of one channel */
static uint32_t both[2] = {0, 1};

static struct model *plan(const char *text, uint32_t rows, uint32_t shards, bool training,
                          struct err *e)
{
    struct architecture *a = architecture_parse(text, "model.json", e);
    struct model *m = a ? model_plan(a, &features, rows, shards, training, e) : NULL;
    architecture_free(a);
    return m;
}

static void refused(const char *text, enum err_id id, const char *what, int64_t column)
{
    struct err e = {0};
    struct model *m = plan(text, 4, 1, true, &e);
    ok(!m && e.id == id && strstr(e.what, what), "%s: E%d %s", text, (int)e.id, e.what);
    is_int(e.column, column, "  its place");
    model_free(m);
}

/* Resolves, reads that back, resolves again: the same text and the same plan. */
static void round_trip(const char *text, const char *want)
{
    struct err e = {0};
    struct text once = {0}, twice = {0};
    struct architecture *first = architecture_parse(text, "model.json", &e);
    ok(first != NULL, "%s resolves %s", text ? text : "nothing", e.what);
    architecture_write(first, &once);
    struct architecture *back = architecture_parse(once.data, "back", &e);
    ok(back != NULL, "  and so does the answer %s", e.what);
    architecture_write(back, &twice);
    is_string(twice.data, once.data, "  to itself");
    if (want)
        is_string(once.data, want, "  as expected");
    struct model *a = plan(text, 8, 1, true, &e), *b = plan(once.data, 8, 1, true, &e);
    ok(a && b && a->params == b->params && a->trained == b->trained && a->acts == b->acts,
       "  and the plans agree");
    model_free(a);
    model_free(b);
    architecture_free(first);
    architecture_free(back);
    text_free(&once);
    text_free(&twice);
}

static void resolved(void)
{
    round_trip("{\"preset\": \"linear\"}",
               "{\"preset\":\"linear\",\"solver\":\"path\",\"l1\":[1,0.1],\"penalties\":25,"
               "\"layers\":[]}");
    round_trip("{\"preset\": \"linear\", \"solver\": \"gradient\", \"l1\": [0.5]}",
               "{\"preset\":\"linear\",\"solver\":\"gradient\",\"l1\":[0.5],"
               "\"penalties\":25,\"layers\":[]}");
    round_trip("{\"preset\": \"mlp\", \"hidden\": [3], \"activation\": \"elu\", \"norm\": "
               "\"layer\", \"dropout\": 0.25}",
               "{\"preset\":\"mlp\",\"hidden\":[3],\"activation\":\"elu\",\"norm\":\"layer\","
               "\"dropout\":0.25,"
               "\"layers\":[{\"type\":\"dense\",\"units\":3,\"bias\":true,\"init\":\"auto\"},"
               "{\"type\":\"layer_norm\",\"epsilon\":1e-05},{\"type\":\"elu\",\"alpha\":1},"
               "{\"type\":\"dropout\",\"p\":0.25}]}");
    round_trip(
        "{\"layers\": [{\"type\": \"residual\", \"layers\": [{\"type\": \"dense\", \"units\": 4}, "
        "{\"type\": \"relu\"}]}]}",
        "{\"layers\":[{\"type\":\"residual\",\"layers\":[{\"type\":\"dense\",\"units\":4,\"bias\":"
        "true,"
        "\"init\":\"auto\"},{\"type\":\"relu\"}]}]}");
    round_trip(NULL, NULL);
    round_trip("{\"preset\": \"auto\"}", NULL);
    round_trip("{\"preset\": \"mlp\"}", NULL);
    round_trip("{\"preset\": \"mlp\", \"hidden\": []}", NULL);
    round_trip("{\"preset\": \"mlp\", \"layers\": null}", NULL);
    round_trip("{\"layers\": []}", NULL);
    for (const struct layer_type *const *t = layer_types; *t; t++)
        for (const char *const *example = (*t)->examples; *example; example++) {
            struct text text = {0};
            bool steps = (*t)->of == LAYER_OF_STEPS;
            text_printf(&text, "{\"layers\": [%s%s]}", *example,
                        steps && !(*t)->ends_steps ? ", {\"type\": \"pool\"}" : "");
            struct features table = features;
            if (steps)
                features = sequences;
            round_trip(text.data, NULL);
            features = table;
            text_free(&text);
        }
}

static void errors(void)
{
    refused("3", ERR_CONFIG_TYPE, "`model`", 1);
    refused("{\"preset\": null}", ERR_CONFIG_TYPE, "`model.preset`", 12);
    refused("{\"preset\": 3}", ERR_CONFIG_TYPE, "`model.preset`", 12);
    refused("{\"preset\": \"mpl\"}", ERR_CONFIG_WORD, "\"mpl\"", 12);
    refused("{\"preset\": \"rockt\"}", ERR_CONFIG_WORD, "\"rockt\"", 12);
    /* J05 an unknown key */
    refused("{\"preset\": \"mlp\", \"hiden\": [3]}", ERR_CONFIG_KEY, "model.hiden", 19);
    /* J07 out of range, J06 another type */
    refused("{\"preset\": \"mlp\", \"hidden\": [0]}", ERR_CONFIG_RANGE, "model.hidden", 30);
    refused("{\"preset\": \"mlp\", \"hidden\": 5}", ERR_CONFIG_TYPE, "model.hidden", 29);
    refused("{\"preset\": \"mlp\", \"dropout\": 1.0}", ERR_CONFIG_RANGE, "model.dropout", 30);
    refused("{\"preset\": \"mlp\", \"norm\": \"bach\"}", ERR_CONFIG_WORD, "model.norm", 27);
    refused("{\"preset\": \"auto\", \"hidden\": [3]}", ERR_CONFIG_KEY, "model.hidden", 20);
    refused("{\"hidden\": [3]}", ERR_CONFIG_KEY, "model.hidden", 2);
    refused("{\"layers\": {}}", ERR_CONFIG_TYPE, "model.layers", 12);
    refused("{\"layers\": [3]}", ERR_CONFIG_TYPE, "`model.layers.0`", 13);
    refused("{\"layers\": [{\"units\": 3}]}", ERR_CONFIG_MISSING_KEY, "`model.layers.0.type`", 13);
    refused("{\"layers\": [{\"type\": 1}]}", ERR_CONFIG_TYPE, "`model.layers.0.type`", 22);
    refused("{\"layers\": [{\"type\": \"relu\"}, {\"type\": \"dens\"}]}", ERR_CONFIG_WORD,
            "`model.layers.1.type`", 40);
    refused("{\"layers\": [{\"type\": \"dense\"}]}", ERR_CONFIG_MISSING_KEY,
            "`model.layers.0.units`", 13);
    refused("{\"layers\": [{\"type\": \"dense\", \"units\": \"3\"}]}", ERR_CONFIG_TYPE,
            "`model.layers.0.units`", 40);
    refused("{\"layers\": [{\"type\": \"dense\", \"units\": 3, \"unit\": 3}]}", ERR_CONFIG_KEY,
            "model.layers.0.unit", 43);
    refused("{\"layers\": [{\"type\": \"dropout\", \"p\": 1}]}", ERR_CONFIG_RANGE,
            "`model.layers.0.p`", 38);
    refused("{\"layers\": [{\"type\": \"batch_norm\", \"epsilon\": 0}]}", ERR_CONFIG_RANGE,
            "epsilon", 47);
    refused("{\"layers\": [{\"type\": \"views\", \"layers\": []}]}", ERR_CONFIG_EMPTY,
            "`model.layers.0.layers`", 41);
    refused("{\"layers\": [{\"type\": \"views\", \"layers\": [{\"type\": \"relu\"}]}]}",
            ERR_CONFIG_CONFLICT, "does not begin with a view_scale", 41);
    refused("{\"layers\": [{\"type\": \"views\", \"layers\": [{\"type\": \"view_scale\"}, "
            "{\"type\": \"residual\", \"layers\": [{\"type\": \"batch_norm\"}]}]}]}",
            ERR_CONFIG_CONFLICT, "batch_norm cannot stand inside views", 41);
    refused("{\"layers\": [{\"type\": \"residual\"}]}", ERR_CONFIG_MISSING_KEY,
            "`model.layers.0.layers`", 13);
    refused("{\"layers\": [{\"type\": \"residual\", \"layers\": []}]}", ERR_CONFIG_EMPTY,
            "`model.layers.0.layers`", 44);
    refused("{\"layers\": [{\"type\": \"residual\", \"layers\": [{\"type\": \"x\"}]}]}",
            ERR_CONFIG_WORD, "`model.layers.0.layers.0.type`", 54);
    /* J13 contradictions */
    refused("{\"preset\": \"mlp\", \"layers\": []}", ERR_CONFIG_CONFLICT, "`model.preset`", 29);
    struct err e = {0};
    /* J14 more parameters than can be */
    ok(!plan("{\"layers\": [{\"type\": \"dense\", \"units\": 16777216}, {\"type\": \"dense\", "
             "\"units\": 16777216}]}",
             4, 1, true, &e) &&
           e.id == ERR_CONFIG_SIZE && strstr(e.what, "more than 2^40 parameters"),
       "2^48 parameters: %s", e.what);
    e = (struct err){0};
    ok(!plan("{\"layers\": [{\"type\": \"dense\", \"units\": 16777216}]}", UINT32_MAX, 1, true,
             &e) &&
           e.id == ERR_CONFIG_SIZE && strstr(e.what, "more than 2^46 activations of a batch"),
       "few parameters, and 2^56 activations: %s", e.what);
    struct text many = {0};
    text_put(&many, "{\"layers\": [");
    for (int i = 0; i < 4096; i++)
        text_printf(&many, "%s{\"type\": \"relu\"}", i ? "," : "");
    text_put(&many, "]}");
    e = (struct err){0};
    ok(!plan(many.data, 4, 1, true, &e) && e.id == ERR_CONFIG_SIZE &&
           strstr(e.what, "more than 4096 layers"),
       "4096 layers and the output: %s", e.what);
    text_free(&many);
    struct features none = {.format = rowfmt_make(0, 0), .outputs = 2}, kept = features;
    features = none;
    e = (struct err){0};
    ok(!plan("{\"preset\": \"linear\"}", 4, 1, true, &e) && e.id == ERR_CONFIG_EMPTY,
       "no features: %s", e.what);
    features = kept;
}

/* A model file's layers count, whatever its preset has become since. */
static void stored(void)
{
    static const char text[] =
        "{\"preset\": \"mlp\", \"hidden\": [3], \"layers\": [{\"type\": \"dense\", \"units\": 7}, "
        "{\"type\": \"dense\", \"units\": 3}]}";
    struct err e = {0};
    struct json_doc *doc = json_parse(text, strlen(text), "model.json", &e);
    struct architecture *of = architecture_stored(doc, json_get(json_root(doc), "layers"), &e);
    struct model *m = model_plan(of, &features, 1, 1, false, &e);
    architecture_free(of);
    ok(m && m->layer_count == 2 && m->layers[0]->out == 7,
       "a stored model has the layers it was trained with");
    model_free(m);
    json_free(doc);
}

/* Where parameters stand depends on options and features alone; groups cover all of them in order.
 */
static void offsets(void)
{
    static const char *const texts[] = {
        NULL, "{\"preset\": \"linear\"}",
        "{\"preset\": \"mlp\", \"hidden\": [7, 5], \"norm\": \"batch\", \"activation\": \"gelu\"}",
        "{\"layers\": [{\"type\": \"residual\", \"layers\": [{\"type\": \"dense\", \"units\": 3, "
        "\"bias\": false}]}]}"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct err e = {0};
        struct model *a = plan(texts[i], 1, 1, false, &e), *b = plan(texts[i], 1000, 15, true, &e);
        bool same = a && b && a->params == b->params && a->buffers == b->buffers &&
                    a->groups.count == b->groups.count && a->trained == b->trained &&
                    a->inputs.params == b->inputs.params && a->flops == b->flops;
        uint64_t at = 0, weights = 0;
        for (uint32_t g = 0; same && g < a->groups.count; g++) {
            const struct group *x = &a->groups.items[g], *y = &b->groups.items[g];
            same = x->begin == y->begin && x->end == y->end && x->in == y->in && x->out == y->out &&
                   a->groups.kinds[g] == b->groups.kinds[g] && x->begin == at &&
                   x->end > x->begin &&
                   (!x->in || x->end - x->begin == (uint64_t)x->in * x->out) &&
                   (!x->in || x->begin % 16 == 0);
            at = x->end;
            weights += x->in > 0;
        }
        ok(same && at == a->params && weights > 0, "offsets of %s",
           texts[i] ? texts[i] : "the default");
        ok(a->inputs.params >= 27 && a->groups.items[0].begin == 0 &&
               a->groups.kinds[0] == PARAM_EMBEDDING && b->groups.items[0].shards == 1,
           "  embeddings stand first, outside the shards");
        model_free(a);
        model_free(b);
    }
}

/* Initial weights: the same for the same seed, others for another; unknown and missing slots are
 * silent. */
static void first_weights(void)
{
    struct err e = {0};
    struct model *m = plan("{\"preset\": \"mlp\", \"hidden\": [64, 32]}", 4, 1, true, &e);
    real *a = mem_zero(m->params, sizeof *a), *b = mem_zero(m->params, sizeof *b),
         *buffers = mem_zero(1, sizeof *a);
    model_init(m, 1, 0, a, buffers);
    model_init(m, 1, 0, b, buffers);
    ok(memcmp(a, b, m->params * sizeof *a) == 0, "the same seed gives the same weights");
    model_init(m, 2, 0, b, buffers);
    ok(memcmp(a, b, m->params * sizeof *a) != 0, "another seed gives others");
    model_init(m, 1, 1, b, buffers);
    ok(memcmp(a, b, m->params * sizeof *a) != 0, "so does another model");
    const struct layer *l = m->layers[0];
    const uint64_t weight = param_find(&m->list, "layers.0.weight")->at,
                   bias = param_find(&m->list, "layers.0.bias")->at;
    double square = 0, most = 0;
    for (uint64_t i = 0; i < 3u * 64; i++) {
        square += (double)a[weight + i] * (double)a[weight + i];
        most = fmax(most, fabs((double)a[weight + i]));
    }
    double limit = sqrt(6.0 / l->in);
    ok(most <= limit && most > 0.9 * limit, "he: within sqrt(6 / in)");
    is_near(square / (3 * 64), limit * limit / 3, 0.15 * limit * limit / 3,
            "he: the variance is 2 / in");
    bool zero = true;
    for (uint32_t j = 0; j < 64; j++)
        zero = zero && a[bias + j] == 0;
    ok(zero, "biases start at zero");
    const struct onehot_column *c = &l->onehot.columns[0];
    for (uint32_t j = 0; j < 2 * 64; j++)
        zero = zero && a[weight + (uint64_t)c->at * 64 + j] == 0;
    ok(zero && a[weight + (uint64_t)(c->at + 2) * 64] != 0,
       "missing and unknown add nothing at first, values do");
    const struct param *table = param_find(&m->list, "embedding.1.weight");
    for (uint64_t j = 0; j < 2 * table->shape.dims[1]; j++)
        zero = zero && a[table->at + j] == 0;
    ok(zero && a[table->at + 2 * table->shape.dims[1]] != 0, "nor do their embeddings");
    const uint64_t last = param_find(&m->list, "layers.6.weight")->at;
    most = 0;
    for (uint64_t i = 0; i < 32u * m->outputs; i++)
        most = fmax(most, fabs((double)a[last + i]));
    ok(most > 0 && most <= 0.1 * sqrt(3.0 / 32), "the output layer starts small");
    mem_free(a);
    mem_free(b);
    mem_free(buffers);
    model_free(m);
}

static void described(void)
{
    struct err e = {0};
    struct json_out out = {0};
    struct model *m =
        plan("{\"layers\": [{\"type\": \"dense\", \"units\": 4}, {\"type\": \"relu\"}]}", 4, 1,
             true, &e);
    json_open(&out, NULL, '{');
    model_describe(m, &out);
    json_close(&out, '}');
    is_string(out.text.data,
              "{\"inputs\":11,\"outputs\":3,\"parameters\":90,\"embeddings\":[{\"values\":9,"
              "\"dim\":3}],\"layers\":["
              "{\"type\":\"dense\",\"in\":11,\"out\":4,\"parameters\":48,"
              "\"activation_bytes\":128},{\"type\":\"relu\","
              "\"in\":4,\"out\":4,\"parameters\":0,\"activation_bytes\":0},"
              "{\"type\":\"dense\",\"in\":4,\"out\":3,\"parameters\":15,"
              "\"activation_bytes\":64}]}",
              "described");
    is_int((int64_t)m->flops, 2 * (7 * 4 + 4 * 3),
           "operations of a row: of five one-hot inputs one is looked up");
    ok(m->layers[1]->skipped && m->layers[0]->fused_act == ACT_RELU,
       "the dense layer takes in its activation");
    text_free(&out.text);
    model_free(m);
    out = (struct json_out){0};
    json_open(&out, NULL, '{');
    architecture_schema(&out);
    json_open(&out, "$defs", '{');
    layer_schema(&out);
    json_close(&out, '}');
    json_close(&out, '}');
    struct json_doc *schema = json_parse(out.text.data, out.text.length, "schema", &e);
    ok(schema, "the schema is JSON");
    json_free(schema);
    ok(strstr(out.text.data, "\"leaky_relu\"") && strstr(out.text.data, "\"hidden\""),
       "with every layer and option");
    text_free(&out.text);
    for (const struct layer_type *const *t = layer_types; *t; t++)
        for (const struct option *row = (*t)->options; row->key; row++)
            if (!row->help)
                ok(false, "%s.%s has help", (*t)->name, row->key);
}

int main(void)
{
    features = (struct features){.format = rowfmt_make(2, 2),
                                 .indicators = indicators,
                                 .indicator_count = 1,
                                 .categories = categories,
                                 .outputs = 3};
    sequences = (struct features){.format = rowfmt_make(2, 0),
                                  .indicators = both,
                                  .indicator_count = 2,
                                  .outputs = 3,
                                  .steps = 2};
    resolved();
    errors();
    stored();
    offsets();
    first_weights();
    described();
    return done();
}
