/* config_preset.c - the defaults that a preset brings: its fragment of config, laid under the
 * document. */
#include <stdio.h>
#include <string.h>

#include "config/config_table.h"
#include "model/preset/preset.h"
#include "table/schema/options.h"

struct laying {
    struct json_doc *doc;
    struct text *keys;
    struct err *e;
};

bool config_has_steps(const struct json *sequence, const struct json *columns)
{
    return (sequence && json_kind(sequence) != JSON_NULL) || columns_have_tokens(columns);
}

const struct preset *config_preset(const struct json_doc *doc)
{
    const struct json *word = json_path(json_root(doc), "model.preset");
    const struct json *layers = json_path(json_root(doc), "model.layers");
    if (!word && layers && json_kind(layers) != JSON_NULL)
        return NULL;
    const struct preset *p = preset_find(word ? json_string(word) : "auto");
    return p ? preset_meant(p, config_has_steps(json_path(json_root(doc), "data.sequence"),
                                                json_path(json_root(doc), "data.columns")))
             : NULL;
}

/* True: "key=word" or "key!=word" holds; it ends at a comma or with the string. */
static bool holds_one(const struct json_doc *doc, const char *condition)
{
    char key[80];
    const char *equals = strchr(condition, '='), *word = equals + 1;
    bool not = equals[-1] == '!';
    snprintf(key, sizeof key, "%.*s", (int)(equals - condition) - not, condition);
    const struct json *v = json_path(json_root(doc), key);
    const char *is = v && json_kind(v) == JSON_STRING ? json_string(v) : "";
    size_t length = strcspn(word, ",");
    return (strlen(is) == length && strncmp(is, word, length) == 0) != not;
}

static bool holds(const struct json_doc *doc, const char *conditions)
{
    for (const char *at = conditions; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!holds_one(doc, at))
            return false;
    }
    return true;
}

/* False: a value stands at the key or in the way to it, right or wrong. */
static bool is_free(const struct json_doc *doc, const char *key)
{
    char way[120];
    for (const char *dot = strchr(key, '.'); dot; dot = strchr(dot + 1, '.')) {
        snprintf(way, sizeof way, "%.*s", (int)(dot - key), key);
        const struct json *v = json_path(json_root(doc), way);
        if (v && json_kind(v) != JSON_OBJECT)
            return false;
    }
    return !json_path(json_root(doc), key);
}

static bool lay_value(const struct laying *l, const char *key, const struct json *value)
{
    struct text text = {0};
    if (!is_free(l->doc, key))
        return true;
    json_write(&text, value, 0);
    bool good = json_set(l->doc, key, text.data, l->e);
    text_add(l->keys, key, strlen(key) + 1);
    text_free(&text);
    return good;
}

/* Objects are walked down to the keys that the config's table has. */
static bool lay(const struct laying *l, const char *path, const struct json *from)
{
    bool good = true;
    for (const struct json *c = json_at(from, 0); c && good; c = json_next(c)) {
        struct text key = {0};
        text_printf(&key, "%s%s%s", path, *path ? "." : "", json_key(c));
        const struct option *row = opt_find(config_table, key.data);
        bool inside = json_kind(c) == JSON_OBJECT && (!row || row->type == OPT_TABLE);
        good = inside ? lay(l, key.data, c) : lay_value(l, key.data, c);
        text_free(&key);
    }
    return good;
}

static bool lay_fragment(const struct laying *l, const struct preset *p, const char *text)
{
    struct json_doc *fragment = json_parse_own(text, strlen(text), p->name, l->e);
    bool good = fragment && lay(l, "", json_root(fragment));
    json_free(fragment);
    return good;
}

bool config_add_preset(struct json_doc *doc, const struct preset *p, struct text *keys,
                       struct err *e)
{
    if (json_kind(json_root(doc)) != JSON_OBJECT)
        return true;
    struct laying l = {.doc = doc, .keys = keys, .e = e};
    const char *more = p && p->config_of ? p->config_of(doc) : NULL;
    bool good = !more || lay_fragment(&l, p, more);
    for (const struct preset_defaults *d = p ? p->defaults : NULL; d && d->config && good; d++) {
        if (d->when && !holds(doc, d->when))
            continue;
        good = lay_fragment(&l, p, d->config);
    }
    return good;
}
