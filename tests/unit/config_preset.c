/* config_preset.c - the fragment of config that a preset brings, laid under a document. */
#include "tap.h"

#include "config/config_table.h"
#include "model/preset/preset.h"

/* A preset may set any default; what the document says is kept, right or wrong. */
static void fragments(void)
{
    static const struct preset_defaults defaults[] = {
        {"train.optimizer.type=sgd,train.optimizer.nesterov!=x", "{\"train\": {\"epochs\": 9}}"},
        {"train.optimizer.type!=sgd",
         "{\"train\": {\"epochs\": 7, \"batch_size\": 32, \"schedule\": {\"type\": \"constant\"}, "
         "\"loss\": {\"class_weights\": {\"a\": 2}}}, "
         "\"data\": {\"split\": {\"valid\": 0.3}}, \"backend\": {\"threads\": 3}}"},
        {NULL, "{\"train\": {\"epochs\": 8}}"},
        {0}};
    static const struct preset toy = {.name = "toy", .defaults = defaults};
    static const char text[] = "{\"train\": {\"batch_size\": 16, \"schedule\": 5}}";
    static const char sgd[] = "{\"train\": {\"optimizer\": {\"type\": \"sgd\"}}}";
    struct err e = {0};
    struct text keys = {0}, all = {0}, now = {0};
    struct json_doc *doc = json_parse(text, strlen(text), "c.json", &e);
    ok(config_add_preset(doc, &toy, &keys, &e), "a fragment of config %s", e.what);
    for (size_t at = 0; at < keys.length; at += strlen(keys.data + at) + 1)
        text_printf(&all, "%s ", keys.data + at);
    is_string(all.data, "train.epochs train.loss.class_weights data.split.valid backend.threads ",
              "gives these keys");
    json_write(&now, json_root(doc), 0);
    is_string(now.data,
              "{\"train\":{\"batch_size\":16,\"schedule\":5,\"epochs\":7,\"loss\":"
              "{\"class_weights\":{\"a\":2}}},\"data\":{\"split\":{\"valid\":0.3}},"
              "\"backend\":{\"threads\":3}}",
              "and these values");
    json_free(doc);
    doc = json_parse(sgd, strlen(sgd), "c.json", &e);
    text_clear(&keys);
    text_clear(&now);
    ok(config_add_preset(doc, &toy, &keys, &e), "a config that says so");
    json_write(&now, json_root(doc), 0);
    is_string(now.data, "{\"train\":{\"optimizer\":{\"type\":\"sgd\"},\"epochs\":9}}",
              "gets other ones, the first that counts");
    json_free(doc);
    text_free(&keys);
    text_free(&all);
    text_free(&now);
}

/* The constants of RealMLP, as its paper and its program have them. */
struct constant {
    const char *key, *td[2], *td_s[2]; /* classes, regression; NULL: as td's first */
};
static const struct constant constants[] = {
    {"train.epochs", {"256"}, {NULL}},
    {"train.batch_size", {"256"}, {NULL}},
    {"train.optimizer.type", {"\"adamw\""}, {NULL}},
    {"train.optimizer.betas", {"[0.9,0.95]"}, {NULL}},
    {"train.optimizer.epsilon", {"1e-08"}, {NULL}},
    {"train.optimizer.learning_rate", {"0.04", "0.2"}, {"0.04", "0.07"}},
    {"train.optimizer.weight_decay", {"0.02", "0.02"}, {"0", "0"}},
    {"train.schedule.type", {"\"coslog4\""}, {NULL}},
    {"train.schedule.weight_decay", {"\"flat_cos\""}, {NULL}},
    {"train.schedule.dropout",
     {"\"flat_cos\"", "\"flat_cos\""},
     {"\"constant\"", "\"constant\""}},
    {"train.early_stopping.patience", {"0"}, {NULL}},
    {"train.early_stopping.ties", {"\"last\""}, {NULL}},
    {"train.loss.label_smoothing", {"0"}, {NULL}},
    {"train.clip_norm", {"0"}, {NULL}},
    {"encoders.numeric.scale", {"\"clip\""}, {NULL}},
    {"encoders.numeric.encode", {"\"periodic\"", "\"periodic\""}, {"\"plain\"", "\"plain\""}},
    {"encoders.numeric.impute", {"\"mean\""}, {NULL}},
    {"encoders.categorical.encode", {"\"auto\"", "\"auto\""}, {"\"onehot\"", "\"onehot\""}},
    {"encoders.categorical.onehot_values", {"8", "8"}, {"\"auto\"", "\"auto\""}},
    {"encoders.categorical.dim", {"8", "8"}, {"\"auto\"", "\"auto\""}},
    {"encoders.categorical.init", {"\"normal\"", "\"normal\""}, {"\"uniform\"", "\"uniform\""}},
};

static void realmlp(const char *task, bool td_s)
{
    struct text text = {0}, json = {0};
    struct err e = {0};
    bool regression = strcmp(task, "regression") == 0;
    text_printf(&text,
                "{\"task\": \"%s\", \"data\": {\"train\": \"a.csv\", \"target\": \"y\", "
                "\"columns\": {\"x\": \"numeric\"}}, \"model\": {\"preset\": \"realmlp\", "
                "\"variant\": \"%s\", \"hidden\": [4]}}",
                task, td_s ? "td-s" : "td");
    struct config *c = config_parse(text.data, text.length, "c.json", NULL, &e);
    ok(c != NULL, "realmlp %s %s: %s", task, td_s ? "td-s" : "td", e.what);
    for (size_t i = 0; c && i < sizeof constants / sizeof *constants; i++) {
        const struct constant *k = &constants[i];
        const char *want = (td_s && k->td_s[0] ? k->td_s : k->td)[regression];
        want = want ? want : k->td[0];
        is_string(settings_find(c->settings, c->setting_count, k->key)->value, want, k->key);
    }
    if (c)
        architecture_write(c->architecture, &json);
    const char *layers = strstr(json.data ? json.data : "\"layers\"", "\"layers\"");
    const char *f = regression ? "mish" : "selu";
    text_clear(&text);
    if (td_s)
        text_printf(&text,
                    "\"layers\":[{\"type\":\"embed_numbers\",\"dim\":8,\"deviation\":0.3,"
                    "\"rate\":0.3},{\"type\":\"scale\",\"rate\":6},{\"type\":\"ntk_dense\","
                    "\"units\":4,\"bias\":true,\"init\":\"normal\",\"bias_init\":\"normal\","
                    "\"bias_rate\":0.1},{\"type\":\"%s\"}],\"output\":{\"type\":\"ntk_dense\","
                    "\"init\":\"zero\",\"bias_init\":\"zero\"}}", f);
    else
        text_printf(&text,
                    "\"layers\":[{\"type\":\"embed_numbers\",\"dim\":8,\"deviation\":0.3,"
                    "\"rate\":0.3},{\"type\":\"scale\",\"rate\":6},{\"type\":\"ntk_dense\","
                    "\"units\":4,\"bias\":true,\"init\":\"data\",\"bias_init\":\"data\","
                    "\"bias_rate\":0.1},{\"type\":\"blend\",\"activation\":\"%s\",\"rate\":0.1},"
                    "{\"type\":\"dropout\",\"p\":0.15}],\"output\":{\"type\":\"ntk_dense\"}}", f);
    is_string(layers, text.data, "are these");
    config_free(c);
    text_free(&text);
    text_free(&json);
}

/* The output layer of layers that are spelled out. */
static void outputs(void)
{
    static const struct {
        const char *output;
        enum err_id id;
    } given[] = {{"null", ERR_NONE},
                 {"{\"type\": \"ntk_dense\", \"init\": \"zero\"}", ERR_NONE},
                 {"{\"type\": \"dense\", \"units\": 2}", ERR_CONFIG_CONFLICT},
                 {"{\"type\": \"scale\"}", ERR_CONFIG_KEY},
                 {"{\"type\": \"dense\", \"init\": \"?\"}", ERR_CONFIG_WORD},
                 {"3", ERR_CONFIG_TYPE}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        struct text text = {0};
        struct err e = {0};
        text_printf(&text,
                    "{\"task\": \"binary\", \"data\": {\"train\": \"a.csv\", \"target\": \"y\", "
                    "\"columns\": {\"x\": \"numeric\"}},\n\"model\": {\"layers\": [], \"output\": "
                    "%s}}", given[i].output);
        struct config *c = config_parse(text.data, text.length, "c.json", NULL, &e);
        ok(e.id == given[i].id && (c != NULL) == (e.id == ERR_NONE) && (c || e.line == 2),
           "output %s: %s", given[i].output, e.what);
        config_free(c);
        text_free(&text);
    }
}

/* What the preset says of adamw is left out where the config names another optimiser. */
static void other_optimisers(void)
{
    static const char *const kinds[] = {"sgd", "rmsprop", "adam", "adamw"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct text text = {0};
        struct err e = {0};
        text_printf(&text,
                    "{\"task\": \"binary\", \"data\": {\"train\": \"a.csv\", \"target\": \"y\", "
                    "\"columns\": {\"x\": \"numeric\"}}, \"model\": {\"preset\": \"realmlp\"}, "
                    "\"train\": {\"optimizer\": {\"type\": \"%s\"}}}",
                    kinds[i]);
        struct config *c = config_parse(text.data, text.length, "c.json", NULL, &e);
        ok(c != NULL, "realmlp with %s: %s", kinds[i], e.what);
        config_free(c);
        text_free(&text);
    }
}

int main(void)
{
    fragments();
    other_optimisers();
    realmlp("binary", false);
    realmlp("regression", false);
    realmlp("multiclass", true);
    realmlp("regression", true);
    outputs();
    return done();
}
