/* config_trial.c - a config with other values at some keys, for a search. */
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "config/config_table.h"
#include "model/preset/preset.h"

/* The space that every network has. */
static const char common_space[] =
    "{\"train.optimizer.learning_rate\": {\"low\": 0.0003, \"high\": 0.03, \"log\": true}, "
    "\"train.optimizer.weight_decay\": {\"low\": 0.0001, \"high\": 0.1, \"log\": true}, "
    "\"train.batch_size\": [64, 128, 256, 512], "
    "\"train.loss.class_weights\": [null, \"balanced\"], "
    "\"encoders.numeric.encode\": [\"plain\", \"ple\"]}";

const char *config_space(const struct config *c)
{
    const struct preset *p = config_preset(c->doc);
    if (p && p->solved_space && c->architecture->solution == SOLVED_BY_RIDGE)
        return p->solved_space;
    return p && p->space ? p->space : common_space;
}

const struct option *config_row(const struct config *c, const char *key)
{
    const struct preset *p = config_preset(c->doc);
    const struct option *row = opt_find(config_table, key);
    if (!row && p && strncmp(key, "model.", 6) == 0)
        row = opt_find(p->options, key + 6);
    return row;
}

static bool put_preset(struct json_doc *doc, const struct preset *p, struct err *e)
{
    struct json_out name = {0};
    json_put_string(&name, NULL, p->name);
    bool good = json_set(doc, "model.preset", name.text.data, e);
    text_free(&name.text);
    return good;
}

/* A search of "auto" varies the network that it stands for: the config names that network. */
static bool name_network(const struct config *c, struct json_doc *doc, struct err *e)
{
    const struct preset *p = config_preset(c->doc);
    const struct json *word = json_path(json_root(doc), "model.preset");
    bool is_auto = word && json_kind(word) == JSON_STRING && strcmp(json_string(word), "auto") == 0;
    return !p || !is_auto || put_preset(doc, p, e);
}

/* "key=value" put into doc. A key of a preset needs the preset's name beside it: "auto" has no
 * options. */
static bool put(const struct config *c, struct json_doc *doc, const char *set, struct err *e)
{
    const struct preset *p = config_preset(c->doc);
    const char *equals = strchr(set, '=');
    char *key = mem_string_n(set, (size_t)(equals - set));
    bool good = true;
    if (p && strncmp(key, "model.", 6) == 0)
        good = put_preset(doc, p, e);
    good = good && json_set(doc, key, equals + 1, e);
    mem_free(key);
    return good;
}

struct config *config_trial(const struct config *c, const char *const *sets, size_t count,
                            struct err *e)
{
    struct json_doc *doc = config_base(c, e);
    struct config *trial = NULL;
    bool good = doc != NULL;
    if (doc) {
        json_remove(doc, "ensemble");
        json_remove(doc, "tune");
    }
    good = good && name_network(c, doc, e);
    for (size_t i = 0; good && i < count; i++)
        good = put(c, doc, sets[i], e);
    if (good)
        trial = config_beside(c, doc, e); /* owns doc */
    else
        json_free(doc);
    if (trial && !config_answers_alike(c, trial, e)) {
        config_free(trial);
        return NULL;
    }
    return trial;
}

/* --- as a file --- */

/* A file of the config as the new config names it. */
static void put_file(struct json_out *out, const char *key, const char *name, const char *path)
{
    char *there = strcmp(name, "-") == 0 ? mem_string(name) : file_seen_from(path, name);
    json_put_string(out, key, there);
    mem_free(there);
}

static bool put_files(struct json_doc *doc, const char *key, const struct opt_strings *files,
                      const char *path, struct err *e)
{
    struct json_out out = {0};
    if (!files->count || !json_path(json_root(doc), key))
        return true;
    if (files->count > 1)
        json_open(&out, NULL, '[');
    for (size_t i = 0; i < files->count; i++)
        put_file(&out, NULL, files->items[i], path);
    if (files->count > 1)
        json_close(&out, ']');
    bool good = json_set(doc, key, out.text.data, e);
    text_free(&out.text);
    return good;
}

static bool put_output(struct json_doc *doc, const char *key, const char *name, const char *path,
                       struct err *e)
{
    const struct json *v = json_path(json_root(doc), key);
    struct json_out out = {0};
    if (!v || json_kind(v) != JSON_STRING || !name)
        return true;
    put_file(&out, NULL, name, path);
    bool good = json_set(doc, key, out.text.data, e);
    text_free(&out.text);
    return good;
}

bool config_trial_text(const struct config *c, const char *const *sets, size_t count,
                       const char *path, struct text *out, struct err *e)
{
    struct json_doc *doc = config_base(c, e);
    bool good = doc && put_files(doc, "data.train", &c->data.train, path, e) &&
                put_files(doc, "data.valid", &c->data.valid, path, e) &&
                put_files(doc, "data.test", &c->data.test, path, e) &&
                put_output(doc, "output.model", c->output.model, path, e) &&
                put_output(doc, "output.metrics", c->output.metrics, path, e) &&
                name_network(c, doc, e);
    for (size_t i = 0; good && i < count; i++)
        good = put(c, doc, sets[i], e);
    if (good) {
        json_write(out, json_root(doc), 2);
        text_char(out, '\n');
    }
    json_free(doc);
    return good;
}
