/* config_member.c - the members of an ensemble: each is a config of its own, made of the whole one
 * with the member's keys laid over it. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "config/config_help.h"
#include "config/config_table.h"

static const char *const member_keys[] = {"name", "encoders", "model", "train"};
enum { MEMBER_KEYS = sizeof member_keys / sizeof *member_keys };

static const struct json *entry(const struct config *c, size_t i)
{
    return c->ensemble.members ? json_at(c->ensemble.members, i) : NULL;
}

static size_t entries(const struct config *c)
{
    const struct json *list = c->ensemble.members;
    return list && json_kind(list) == JSON_LIST ? json_count(list) : 0;
}

bool config_is_ensemble(const struct config *c)
{
    return c->ensemble.folds > 0 || entries(c) > 0;
}

size_t config_member_count(const struct config *c)
{
    return entries(c) ? entries(c) : 1;
}

const char *config_member_name(const struct config *c, size_t i, char room[32])
{
    const struct json *name = entries(c) ? json_get(entry(c, i), "name") : NULL;
    if (name)
        return json_string(name);
    snprintf(room, 32, entries(c) ? "member-%zu" : "base", i);
    return room;
}

/* --- a member's config --- */

/* Objects merge, everything else is replaced. */
static bool lay_over(struct json_doc *doc, const char *path, const struct json *v, struct err *e)
{
    const struct json *there = json_path(json_root(doc), path);
    bool merge = json_kind(v) == JSON_OBJECT && there && json_kind(there) == JSON_OBJECT;
    bool good = true;
    struct text text = {0};
    if (!merge) {
        json_write(&text, v, 0);
        good = json_set(doc, path, text.data, e);
    }
    for (const struct json *k = merge ? json_at(v, 0) : NULL; k && good; k = json_next(k)) {
        text_clear(&text);
        text_printf(&text, "%s.%s", path, json_key(k));
        good = lay_over(doc, text.data, k, e);
    }
    text_free(&text);
    return good;
}

void config_drop_preset(const struct config *c, struct json_doc *doc)
{
    for (size_t i = 0; i < c->setting_count; i++)
        if (strcmp(c->settings[i].from, "preset") == 0)
            json_remove(doc, c->settings[i].key);
}

struct json_doc *config_base(const struct config *c, struct err *e)
{
    struct text text = {0};
    json_write(&text, json_root(c->doc), 0);
    struct json_doc *doc = json_parse_own(text.data, text.length, json_name(c->doc), e);
    text_free(&text);
    if (doc)
        config_drop_preset(c, doc);
    return doc;
}

/* An error of a member's config has no place in a file: it gets the place of the member's key in
 * c. */
static void place_in(const struct config *c, size_t i, struct err *e)
{
    char name[32], what[sizeof e->what];
    struct text key = {0};
    text_printf(&key, "ensemble.members.%zu.%s", i, e->key);
    const struct json *v = *e->key ? json_path(json_root(c->doc), key.data) : NULL;
    if (!v)
        v = entry(c, i);
    if (v) {
        const char *file = json_name(c->doc);
        json_place(c->doc, v, &e->line, &e->column);
        snprintf(e->file, sizeof e->file, "%s", file);
        snprintf(what, sizeof what, "%s", e->what);
        snprintf(e->what, sizeof e->what, "member \"%.60s\" of the ensemble: %.900s",
                 text_quote_z(config_member_name(c, i, name)), what);
    }
    text_free(&key);
}

/* A member with another preset takes nothing from the model of the whole config; one with other
 * options of it does not take the layers that they had given. */
static bool free_model(struct json_doc *doc, const struct json *model, struct err *e)
{
    const struct json *own = json_get(model, "preset"),
                      *base = json_path(json_root(doc), "model.preset");
    bool both = own && base && json_kind(own) == JSON_STRING && json_kind(base) == JSON_STRING;
    if (both && strcmp(json_string(own), json_string(base)) != 0)
        return json_set(doc, "model", "{}", e);
    if (base && json_count(model) && !json_get(model, "layers"))
        json_remove(doc, "model.layers");
    return true;
}

static struct config *make(const struct config *c, size_t i, struct err *e)
{
    struct json_doc *doc = config_base(c, e);
    const struct json *over = entries(c) ? entry(c, i) : NULL;
    bool good = doc != NULL;
    if (doc) {
        json_remove(doc, "ensemble");
        json_remove(doc, "tune");
    }
    for (size_t k = 1; good && k < MEMBER_KEYS; k++) {
        const struct json *v = over ? json_get(over, member_keys[k]) : NULL;
        if (v && strcmp(member_keys[k], "model") == 0)
            good = free_model(doc, v, e);
        good = good && (!v || lay_over(doc, member_keys[k], v, e));
    }
    struct config *m = NULL;
    if (good)
        m = config_beside(c, doc, e); /* owns doc */
    else
        json_free(doc);
    if (m && !config_answers_alike(c, m, e)) {
        config_free(m);
        m = NULL;
    }
    if (!m)
        place_in(c, i, e);
    return m;
}

struct config *config_member(const struct config *c, size_t i, struct err *e)
{
    if (!c->members[i])
        c->members[i] = make(c, i, e);
    return c->members[i];
}

/* --- checks --- */

static bool known_key(const char *key)
{
    for (size_t i = 0; i < MEMBER_KEYS; i++)
        if (strcmp(member_keys[i], key) == 0)
            return true;
    return false;
}

static bool bad_key(const struct config *c, size_t i, const struct json *k, struct err *e)
{
    const char *key = text_quote_z(json_key(k));
    if (!config_top_key(json_key(k), NULL)) {
        json_fail(c->doc, k, e, ERR_CONFIG_KEY, "`ensemble.members.%zu`: unknown key \"%s\"", i,
                  key);
    } else {
        json_fail(c->doc, k, e, ERR_CONFIG_KEY,
                  "`ensemble.members.%zu`: \"%s\" cannot be set in a member", i, key);
        err_help(e, "members differ in encoders, model and train alone; `%s` is that of the whole "
                    "config", key);
    }
    return err_words(e, member_keys, MEMBER_KEYS);
}

/* The entry is an object of known keys, with a name that no other has. */
static bool check_entry(const struct config *c, size_t i, struct err *e)
{
    const struct json *v = entry(c, i);
    char one[32], other[32];
    if (json_kind(v) != JSON_OBJECT)
        return json_fail(c->doc, v, e, ERR_CONFIG_TYPE,
                         "`ensemble.members`: a member is an object with \"name\", \"model\" and "
                         "\"train\"");
    for (const struct json *k = json_at(v, 0); k; k = json_next(k)) {
        if (!known_key(json_key(k)))
            return bad_key(c, i, k, e);
        bool name = strcmp(json_key(k), "name") == 0;
        if (json_kind(k) != (name ? JSON_STRING : JSON_OBJECT))
            return json_fail(c->doc, k, e, ERR_CONFIG_TYPE, "`ensemble.members.%zu.%s` is %s", i,
                             json_key(k), name ? "a string" : "an object");
        if (name && !*json_string(k))
            return json_fail(c->doc, k, e, ERR_CONFIG_EMPTY, "a member's name is empty");
    }
    const struct json *preset = json_path(v, "model.preset");
    if (preset && json_kind(preset) == JSON_STRING && strcmp(json_string(preset), "auto") == 0) {
        json_fail(c->doc, preset, e, ERR_CONFIG_WORD,
                  "member \"%.60s\" of the ensemble: preset \"auto\" is a list of members, and "
                  "cannot be one of them", text_quote_z(config_member_name(c, i, one)));
        return err_help(e, "name a network, as \"mlp\" or \"realmlp\"; auto is the list where "
                           "the config has no members");
    }
    for (size_t k = 0; k < i; k++)
        if (strcmp(config_member_name(c, i, one), config_member_name(c, k, other)) == 0) {
            json_fail(c->doc, v, e, ERR_CONFIG_CONFLICT,
                      "two members of the ensemble have the name \"%s\"",
                      text_quote_z(config_member_name(c, i, one)));
            return err_help(e, "a run's seed follows from its member's name: give each its own");
        }
    return true;
}

bool config_check_members(const struct config *c, struct err *e)
{
    const struct json *list = c->ensemble.members;
    const struct json *folds = json_path(json_root(c->doc), "ensemble.folds");
    if (list && json_kind(list) != JSON_LIST)
        return json_fail(c->doc, list, e, ERR_CONFIG_TYPE, "`ensemble.members` is a list");
    if (c->ensemble.folds == 1) {
        json_fail(c->doc, folds, e, ERR_CONFIG_RANGE, "`ensemble.folds` is 0, or 2 and more");
        return err_help(e, "0: one run on the training rows of the split");
    }
    if (entries(c) > ENSEMBLE_MEMBERS)
        return json_fail(c->doc, list, e, ERR_CONFIG_RANGE, "`ensemble.members` has more than %d",
                         ENSEMBLE_MEMBERS);
    for (size_t i = 0; i < entries(c); i++)
        if (!check_entry(c, i, e) || !config_member(c, i, e))
            return false;
    return true;
}
