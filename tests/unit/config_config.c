/* Of the catalogue: J05 J06 J07 J08 J13.
 * The config: joined, refused with its place, overridden by command line and environment, written,
 * described. */
#include "tap.h"

#include <stdlib.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_help.h"
#include "config_case.h"

static void joined(void)
{
    struct err e = {0};
    struct config *c = make("\"train\": {\"epochs\": 3, \"optimizer\": {\"type\": \"sgd\"}},\n"
                            "\"output\": {\"model\": \"m.dnn\", \"metrics\": \"/abs/x.jsonl\"}",
                            NULL, &e);
    if (!ok(c, "a config"))
        return;
    ok(c->task == TASK_BINARY && c->train.epochs == 3 && c->train.batch_size == 256,
       "values and defaults");
    ok(c->train.optimizer.kind == OPTIM_SGD && c->train.loss.kind == LOSS_CROSS_ENTROPY,
       "auto is resolved");
    is_int(c->data.split.method, SPLIT_STRATIFIED, "and so is the split");
    is_string(c->data.train.items[0], "dir/a.csv", "files start at the config's folder");
    is_string(c->output.model, "dir/m.dnn", "outputs too");
    is_string(c->output.metrics, "/abs/x.jsonl", "absolute names stay");
    ok(c->backend.memory_limit_gb == 0 && isnan(c->backend.memory_limit_gb) == 0,
       "no memory limit is 0");
    is_string(from(c, "train.epochs"), "config", "from the config");
    is_string(from(c, "train.batch_size"), "default", "from the table");
    is_string(setting(c, "train.optimizer.type")->value, "\"sgd\"", "values are JSON");
    const char *where = NULL;
    is_int(config_backend(&c->backend, JOB_TRAIN, c->settings, c->setting_count, &where),
           BACKEND_AUTO, "auto");
    is_string(where, "default", "by default");
    config_free(c);
}

/* The rate where the config names none: as JSON, and where it comes from; resolved too, and read
 * back. */
static void rate(const char *more, const char *value, const char *where)
{
    static const char key[] = "train.optimizer.learning_rate";
    struct err e = {0};
    struct text one = {0};
    struct config *c = make(more, NULL, &e);
    if (!ok(c, "%s: %s", more, e.what))
        return;
    ok(strcmp(setting(c, key)->value, value) == 0, "the rate of %s", more);
    is_string(from(c, key), where, "  and where it comes from");
    ok(c->train.optimizer.learning_rate == strtod(value, NULL), "  as it is used");
    config_resolved(c, NULL, false, &one, &e);
    config_free(c);
    c = config_parse(one.data, one.length, "dir/r.json", NULL, &e);
    ok(c && c->train.optimizer.learning_rate == strtod(value, NULL), "  resolved, the same: %s",
       e.what);
    config_free(c);
    text_free(&one);
}

static void rates(void)
{
    rate("\"model\": {\"preset\": \"mlp\"}", "0.001", "default");
    rate("\"train\": {\"epochs\": 3}", "0.001", "default");
    rate("\"model\": {\"preset\": \"linear\"}", "0.001", "default"); /* no steps */
    rate("\"model\": {\"preset\": \"linear\", \"solver\": \"gradient\"}", "0.01", "preset");
    rate("\"model\": {\"preset\": \"linear\"}, \"train\": {\"optimizer\": {\"type\": \"rmsprop\"}}",
         "0.01", "preset");
    rate("\"model\": {\"preset\": \"linear\"}, \"train\": {\"optimizer\": {\"type\": \"sgd\"}}",
         "0.001", "default");
    rate("\"model\": {\"preset\": \"linear\"},\n"
         "\"train\": {\"optimizer\": {\"learning_rate\": 0.001}}", "0.001", "config");
}

struct refusal {
    const char *more;
    enum err_id id;
    int line, column;
    const char *what, *hint; /* parts of the sentence, and of what is expected or of the help */
};
static const struct refusal refused[] = {
    /* J05 unknown keys */
    {"\"tarin\": {}", ERR_CONFIG_KEY, 2, 1, "unknown key \"tarin\"", "did you mean `train`?"},
    {"\"Train\": {}", ERR_CONFIG_KEY, 2, 1, "unknown key \"Train\"", "did you mean `train`?"},
    {"\"train\": {\"epoch\": 3}", ERR_CONFIG_KEY, 2, 11, "\"train.epoch\"",
     "did you mean `epochs`?"},
    /* J07 out of range, J08 a fraction, J06 another type */
    {"\"train\": {\"epochs\": 0}", ERR_CONFIG_RANGE, 2, 21, "`train.epochs`: 0", ""},
    {"\"train\": {\"epochs\": 2.5}", ERR_CONFIG_TYPE, 2, 21, "expected an integer, got 2.5", ""},
    {"\"train\": {\"epochs\": true}", ERR_CONFIG_TYPE, 2, 21, "expected an integer, got true", ""},
    {"\"train\": {\"optimizer\": {\"learning_rate\": 0}}", ERR_CONFIG_RANGE, 2, 42, "learning_rate",
     ""},
    {"\"train\": {\"optimizer\": {\"lr\": 1}}", ERR_CONFIG_KEY, 2, 25, "\"train.optimizer.lr\"",
     ""},
    {"\"train\": {\"optimizer\": {\"type\": \"adamww\"}}", ERR_CONFIG_WORD, 2, 33,
     "unknown word \"adamww\"", "did you mean `adamw`?"},
    {"\"train\": {\"optimizer\": {\"betas\": [0.9]}}", ERR_CONFIG_RANGE, 2, 34,
     "`train.optimizer.betas`", ""},
    {"\"train\": {\"schedule\": {\"type\": \"coslog5\"}}", ERR_CONFIG_WORD, 2, 32, "\"coslog5\"",
     ""},
    {"\"train\": {\"schedule\": 3}", ERR_CONFIG_TYPE, 2, 23, "`train.schedule`: expected an object",
     ""},
    /* J13 contradictions */
    {"\"train\": {\"loss\": {\"type\": \"mse\"}}", ERR_CONFIG_CONFLICT, 2, 28, "`task`",
     "cross_entropy"},
    {"\"train\": {\"loss\": {\"type\": \"hard_f1\"}}", ERR_CONFIG_WORD, 2, 28, "\"hard_f1\"", ""},
    {"\"train\": {\"loss\": {\"delta\": 3}}", ERR_CONFIG_CONFLICT, 2, 29,
     "`train.loss.delta` has no effect", "huber"},
    {"\"train\": {\"optimizer\": {\"momentum\": 0.5}}", ERR_CONFIG_CONFLICT, 2, 37,
     "`train.optimizer.type` is \"adamw\"", "sgd"},
    {"\"train\": {\"optimizer\": {\"type\": \"rmsprop\", \"momentum\": 0.5}}",
     ERR_CONFIG_CONFLICT, 2, 56, "`train.optimizer.type` is \"rmsprop\"", "it belongs to: sgd;"},
    {"\"train\": {\"optimizer\": {\"epsilon\": 1e-46}}", ERR_CONFIG_RANGE, 2, 36,
     "`train.optimizer.epsilon`: 1e-46 is out of range, allowed: 1e-20 to 1", ""},
    {"\"train\": {\"loss\": {\"class_weights\": \"even\"}}", ERR_CONFIG_WORD, 2, 37, "\"even\"",
     "balanced"},
    {"\"train\": {\"loss\": {\"class_weights\": {\"a\": \"x\"}}}", ERR_CONFIG_TYPE, 2, 43,
     "weight of \"a\"", ""},
    {"\"train\": {\"early_stopping\": {\"metric\": \"rmse\"}}", ERR_CONFIG_CONFLICT, 2, 40,
     "not a metric of `task` \"binary\"", "auc"},
    {"\"train\": {\"early_stopping\": {\"metric\": \"acuracy\"}}", ERR_CONFIG_WORD, 2, 40,
     "\"acuracy\"", "did you mean `accuracy`?"},
    {"\"train\": {\"sampling\": \"ovr\"}", ERR_CONFIG_WORD, 2, 23, "\"ovr\"", "over"},
    {"\"model\": {\"preset\": \"realmpl\"}", ERR_CONFIG_WORD, 2, 21, "\"realmpl\"", "realmlp"},
    {"\"model\": {\"preset\": \"mlp\", \"hiden\": [1]}", ERR_CONFIG_KEY, 2, 28, "hiden",
     "did you mean `hidden`?"},
    {"\"model\": {\"layers\": [{\"type\": \"dropout\", \"p\": 1.0}]}", ERR_CONFIG_RANGE, 2, 47,
     "1 is out of range", ""},
    {"\"backend\": {\"name\": \"gpu\"}", ERR_CONFIG_WORD, 2, 21,
     "`backend.name`: unknown word \"gpu\"", "dnn_gpu"},
    {"\"backend\": {\"train\": \"cuda\"}", ERR_CONFIG_WORD, 2, 22, "`backend.train`", ""},
    {"\"backend\": {\"device\": \"banana\"}", ERR_CONFIG_WORD, 2, 23,
     "`backend.device`: \"banana\"", "cuda:0"},
    {"\"backend\": {\"tune\": \"cuda\"}", ERR_CONFIG_WORD, 2, 21, "`backend.tune`", ""},
    {"\"ensemble\": {\"members\": 1}", ERR_CONFIG_TYPE, 2, 25, "is a list", ""},
    {"\"calibrate\": \"platt\"", ERR_CONFIG_WORD, 2, 14, "unknown word \"platt\"", "affine"},
    {"\"task\": \"binary\"", ERR_JSON_DUPLICATE, 2, 1, "line 1 and at line 2", ""},
    {"\"TASK\": \"binary\"", ERR_JSON_DUPLICATE, 2, 1,
     "differs only by case from \"task\" at line 1", ""},
};

static void refusing(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const struct refusal *r = &refused[i];
        struct err e = {0};
        struct config *c = make(r->more, NULL, &e);
        bool right = !c && e.id == r->id && e.line == r->line && e.column == r->column &&
                     strstr(e.what, r->what) &&
                     (strstr(e.expected, r->hint) || strstr(e.help, r->hint)) &&
                     err_exit(&e) == EXIT_CONFIG && strcmp(e.file, "dir/c.json") == 0;
        if (!ok(right, "refused: %s", r->more))
            printf("#   got E%d %s:%lld:%lld: %s; expected %s; help %s\n", (int)e.id, e.file,
                   (long long)e.line, (long long)e.column, e.what, e.expected, e.help);
        config_free(c);
    }
    static const char *const whole[] = {
        "[]",
        "3",
        "{}",
        "{\"task\": \"tagger\"}",
        "{\"task\": \"binary\"}",
        "{\"task\": \"binary\", \"data\": {\"train\": \"a\"}}",
        "{\"task\": \"binary\", \"data\": {\"train\": [], \"target\": \"y\", \"columns\": {}}}"};
    static const char *const what[] = {"expected an object, got list",
                                       "expected an object, got number",
                                       "`task` is missing",
                                       "unknown word \"tagger\"",
                                       "`data.train` is missing",
                                       "`data.target` is missing",
                                       "`data.train`"};
    for (size_t i = 0; i < sizeof whole / sizeof *whole; i++) {
        struct err e = {0};
        ok(!config_parse(whole[i], strlen(whole[i]), "c.json", NULL, &e) &&
               err_exit(&e) == EXIT_CONFIG && strstr(e.what, what[i]),
           "refused: %s: %s", whole[i], e.what);
    }
    struct err e = {0};
    struct config *c =
        make("\"ensemble\": null, \"calibrate\": null, \"threshold\": null, \"tune\": null,\n"
             "\"backend\": {\"explain\": null, \"tune\": null}, \"train\": {\"sampling\": null}",
             NULL, &e);
    ok(c, "null for what is not built: %s", e.what);
    config_free(c);
}

/* One --set over the config; the value of a key afterwards, or the error. */
static void set_one(const char *set, const char *key, const char *value)
{
    struct err e = {0};
    struct overrides o = NONE;
    o.sets = &set;
    o.set_count = 1;
    struct config *c = make("", &o, &e);
    if (!ok(c, "--set %s", set)) {
        printf("#   %s\n", e.what);
        return;
    }
    const struct setting *s = setting(c, key);
    is_string(s ? s->value : NULL, value, "its value");
    config_free(c);
}

static void set_bad(const char *set, const char *what)
{
    struct err e = {0};
    struct overrides o = NONE;
    o.sets = &set;
    o.set_count = 1;
    struct config *c = make("", &o, &e);
    if (!ok(!c && e.id == ERR_SET_VALUE && err_exit(&e) == EXIT_USAGE && strstr(e.what, what),
            "--set %s", set))
        printf("#   got E%d: %s\n", (int)e.id, e.what);
    config_free(c);
}

static void setting_keys(void)
{
    set_one("train.epochs=7", "train.epochs", "7");
    set_one("train.optimizer.learning_rate=1e-2", "train.optimizer.learning_rate", "0.01");
    set_one("train.optimizer.betas=[0.8,0.9]", "train.optimizer.betas", "[0.8,0.9]");
    set_one("train.optimizer.betas.1=0.95", "train.optimizer.betas", "[0.9,0.95]");
    set_one("data.positive=1", "data.positive", "\"1\"");
    set_one("data.positive=\"1\"", "data.positive", "\"1\"");
    set_one("data.positive=null", "data.positive", "null");
    set_one("data.target=null", "data.target", "\"null\"");
    set_one("data.missing=?", "data.missing", "[\"?\"]");
    set_one("data.missing=[\"\",\"-\"]", "data.missing", "[\"\",\"-\"]");
    set_one("data.delimiter=\\t", "data.delimiter", "\"\\t\"");
    set_one("data.header=false", "data.header", "false");
    set_one("train.seed=18446744073709551615", "train.seed", "\"18446744073709551615\"");
    set_one("train.loss.class_weights=balanced", "train.loss.class_weights", "\"balanced\"");
    set_one("train.loss.class_weights.yes=2.5", "train.loss.class_weights", "{\"yes\":2.5}");
    set_one("data.columns.x=id", "data.columns", "{\"x\":\"id\",\"a.b\":\"categorical\"}");
    set_one("data.columns.x.scale=robust", "data.columns",
            "{\"x\":{\"type\":\"numeric\",\"scale\":\"robust\"},\"a.b\":\"categorical\"}");
    set_one("data.columns.a.b.min_count=3", "data.columns",
            "{\"x\":\"numeric\",\"a.b\":{\"type\":\"categorical\",\"min_count\":3}}");
    set_one("data.columns.new=ignore", "data.columns",
            "{\"x\":\"numeric\",\"a.b\":\"categorical\",\"new\":\"ignore\"}");
    set_one("model={\"preset\":\"mlp\",\"hidden\":[8]}", "model",
            "{\"preset\":\"mlp\",\"hidden\":[8]}");
    set_one("model.preset=linear", "model", "{\"preset\":\"linear\"}");
    set_one("backend.name=dnn", "backend.name", "\"dnn_cpu\"");
    set_one("output.model=x=y.dnn", "output.model", "\"x=y.dnn\"");

    set_bad("train.epochs", "no key and value");
    set_bad("=3", "no key and value");
    set_bad("train.epochs=10x", "--set train.epochs: \"10x\" is not an integer");
    set_bad("train.epochs=-1", "-1 is out of range");
    set_bad("data.train=", "--set data.train: the name of a file is empty");
    set_bad("backend.device=x", "--set backend.device: \"x\" is not a device");
    set_bad("train.epochs=", "\"\" is not an integer");
    set_bad("train.optimizer.learning_rate=fast", "\"fast\" is not a number");
    set_bad("train.epoch=3", "unknown key \"train.epoch\"");
    set_bad("train.epochs.x=3", "expected an integer, got object");
    set_bad("train..x=3", "not a path");
    set_bad("task.x=3", "not an object");
    set_bad("model.preset=rockt", "\"rockt\"");
    set_bad("tune=1", "expected an object");
    set_bad("data.delimiter=x", "delimiter");

    struct err e = {0};
    static const char *const twice[] = {"train.epochs=3", "train.epochs=4"};
    struct overrides o = NONE;
    o.sets = twice;
    o.set_count = 2;
    struct config *c = make("\"train\": {\"epochs\": 2}", &o, &e);
    ok(c && c->train.epochs == 4, "the last one counts");
    is_string(c ? from(c, "train.epochs") : "", "--set", "and is named");
    config_free(c);

    struct overrides all = {.backend = "cuda:1",
                            .output_model = "out.dnn",
                            .threads = 2,
                            .batch_size = 64,
                            .time_limit_s = 1.5};
    c = make("\"backend\": {\"predict\": \"dnn_cpu\"}", &all, &e);
    if (ok(c, "every option of the command line")) {
        ok(c->train.batch_size == 64 && c->train.time_limit_s == 1.5 && c->backend.threads == 2,
           "numbers");
        is_string(c->output.model, "out.dnn", "-o is relative to the working folder");
        is_string(c->backend.device, "cuda:1", "--backend cuda:1 names the device");
        is_string(c->backend.predict, "dnn_gpu", "--backend is for every job");
        is_string(from(c, "backend.predict"), "--backend", "and is named");
        is_string(from(c, "train.batch_size"), "--batch-size", "so is --batch-size");
    }
    config_free(c);
    static const struct overrides bad[] = {
        {.backend = "gpu", .threads = -1, .batch_size = -1, .time_limit_s = -1},
        {.device = "x", .threads = -1, .batch_size = -1, .time_limit_s = -1},
        {.threads = 5000, .batch_size = -1, .time_limit_s = -1},
        {.threads = -1, .batch_size = 0, .time_limit_s = -1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err_clear(&e);
        ok(!make("", &bad[i], &e) && err_exit(&e) == EXIT_USAGE, "refused: %s", e.what);
    }
}

/* --- writing --- */

static void resolved(void)
{
    struct err e = {0};
    struct text one = {0}, two = {0}, three = {0};
    struct config *c = config_load("configs/default.json", NULL, &e);
    if (!ok(c, "configs/default.json: %s", e.what))
        return;
    char *bytes;
    size_t length;
    config_resolved(c, NULL, false, &one, &e);
    if (ok(file_slurp("configs/default.json", 1 << 20, ERR_JSON_LIMIT, &bytes, &length, &e),
           "read"))
        is_string(bytes, one.data, "it holds every key with its default, as the tables have it");
    mem_free(bytes);
    for (size_t i = 0; i < c->setting_count; i++) {
        const struct setting *s = &c->settings[i];
        if (strcmp(s->from, "config") != 0)
            ok(false, "%s is missing in configs/default.json", s->key);
    }
    config_free(c);

    struct overrides o = NONE;
    const char *set = "train.seed=5";
    o.sets = &set;
    o.set_count = 1;
    o.threads = 3;
    o.batch_size = 32;
    const char *by_column[] = {"data.split.method=column", "data.split.column=p"};
    o.sets = by_column;
    o.set_count = 2;
    c = make("", &o, &e);
    if (ok(c, "a split by a column: %s", e.what)) {
        for (int portable = 0; portable < 2; portable++) {
            text_clear(&one);
            config_resolved(c, NULL, portable, &one, &e);
            ok(strstr(one.data, "\"column\"") && !strstr(one.data, "0.15"),
               "has no shares when it is written");
        }
    }
    config_free(c);
    o.sets = &set;
    o.set_count = 1;
    c = make("\"output\": {\"model\": \"m.dnn\"}, \"train\": {\"time_limit_s\": 9}, \"backend\": "
             "{\"device\": \"0\"}",
             &o, &e);
    text_clear(&one);
    if (ok(c, "a config to write")) {
        config_resolved(c, NULL, true, &one, &e);
        ok(!strstr(one.data, "a.csv") && !strstr(one.data, "m.dnn") &&
               !strstr(one.data, "time_limit") && !strstr(one.data, "threads") &&
               !strstr(one.data, "device") && !strchr(one.data, '\n'),
           "what a model file must not hold is left out");
        ok(strstr(one.data, "\"seed\":5") && strstr(one.data, "\"batch_size\":32") &&
               strstr(one.data, "\"type\":\"cross_entropy\"") &&
               strstr(one.data, "\"method\":\"stratified\""),
           "what decides is in it");
        config_resolved(c, NULL, false, &two, &e);
        config_free(c);
        c = config_parse(two.data, two.length, "again.json", NULL, &e);
        ok(c, "what is written can be read: %s", e.what);
        if (c)
            config_resolved(c, NULL, false, &three, &e);
        is_string(three.data, two.data, "and is the same then");
    }
    config_free(c);
    text_free(&one);
    text_free(&two);
    text_free(&three);
}

/* A config that says nearly as much as one may, to which other keys and its layers are added. */
static void resolved_large(void)
{
    struct err e = {0};
    struct text text = {0}, one = {0};
    text_put(&text, "{\"task\": \"regression\", \"data\": {\"train\": \"a.csv\", \"target\": "
                    "\"y\", \"columns\": {");
    for (int i = 0; i < 39970; i++)
        text_printf(&text, "\"col %d\": \"numeric\",", i);
    text_put(&text, "\"x\": \"numeric\"}}, \"model\": {\"preset\": \"mlp\", \"hidden\": [8");
    for (int i = 0; i < 1300; i++)
        text_put(&text, ",8");
    text_put(&text, "]}}");
    struct config *c = config_parse(text.data, text.length, "large.json", NULL, &e);
    if (ok(c, "a config of nearly 40,000 keys: %s", e.what)) {
        const struct features f = {.format = rowfmt_make(1, 0), .outputs = 1};
        ok(config_resolved(c, &f, true, &one, &e),
           "what it becomes in a model file is read again: %s", e.what);
        ok(one.length > text.length && strstr(one.data, "\"layers\""), "with every layer");
    }
    config_free(c);
    text_free(&text);
    text_free(&one);
}

/* --- describing --- */

static void count_key(const char *key, const struct option *row, void *context)
{
    int *keys = context;
    ++*keys;
    struct text page = {0};
    if (!row->help || !*row->help || !config_key_help(key, &page) || !strstr(page.data, key))
        ok(false, "%s has no page", key);
    if (strchr(key, '.') && !row->standard && !(row->flags & OPT_REQUIRED))
        ok(false, "%s has neither a default nor is it required", key);
    text_free(&page);
}

static bool page_has(const char *key, const char *part)
{
    struct text page = {0};
    bool found = config_key_help(key, &page) && strstr(page.data, part);
    if (!found)
        printf("#   %s: %s\n", key, page.data ? page.data : "");
    text_free(&page);
    return found;
}

static void describing(void)
{
    int keys = 0;
    config_keys(count_key, &keys);
    ok(keys > 50, "%d keys, each with its page", keys);
    ok(page_has("train.batch_size", "integer, 1 to 65536; default 256"), "a key");
    ok(page_has("train.optimizer", "train.optimizer.betas"), "a group of keys");
    ok(page_has("learning_rate", "train.optimizer.learning_rate"), "the end of a key");
    ok(page_has("adamw", "train.optimizer.type"), "a word");
    ok(page_has("model", "dropout") && page_has("mlp", "hidden") && page_has("dense", "units"),
       "models and layers");
    ok(page_has("model.hidden", "integers") && page_has("data.columns", "impute"), "their options");
    ok(page_has("categorical", "min_count") && page_has("datetime", "\"datetime\""),
       "types of columns");
    struct text near = {0};
    ok(!config_key_help("train.optimizer.learning_rat", &near), "no key");
    is_string(near.data, "train.optimizer.learning_rate", "the nearest");
    text_free(&near);

    struct text schema = {0};
    struct err e = {0};
    config_schema(&schema);
    struct json_doc *doc =
        schema.data ? json_parse(schema.data, schema.length, "schema", &e) : NULL;
    if (ok(doc, "the schema is JSON")) {
        const struct json *root = json_root(doc);
        is_string(json_string(json_path(root, "$schema")),
                  "https://json-schema.org/draft/2020-12/schema", "its draft");
        static const char *const named[] = {"data.properties.train", "data.properties.target",
                                            "output.properties.model", "output.properties.metrics"};
        for (size_t i = 0; i < sizeof named / sizeof *named; i++) {
            char path[80];
            snprintf(path, sizeof path, "properties.%s.minLength", named[i]);
            ok(json_number(json_path(root, path)) == 1, "%s: no name is empty", named[i]);
        }
        is_int(json_number(json_path(root, "properties.train.properties.batch_size.maximum")),
               65536, "a range");
        is_string(json_string(json_path(root, "properties.model.$ref")), "#/$defs/model",
                  "the model");
        ok(json_path(root, "$defs.model") && json_path(root, "$defs.layer"),
           "and what it refers to");
        is_int(json_count(json_path(root, "required")), 2, "task and data are required");
    }
    json_free(doc);
    text_free(&schema);
}

int main(void)
{
    static const char *const variables[] = {
        "MODEL_BACKEND",    "ALL_GPU",     "DNN_TRAIN_GPU", "DNN_PREDICT_GPU",
        "DNN_EVALUATE_GPU", "GPU_BACKEND", "GPU_DEVICE_ID", "GPU_MEMORY_LIMIT_GB",
        "GPU_BATCH_SIZE"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
    joined();
    rates();
    refusing();
    setting_keys();
    resolved();
    resolved_large();
    describing();
    is_int(mem_in_use(), 0, "nothing is left behind");
    return done();
}
