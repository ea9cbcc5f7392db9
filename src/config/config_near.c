/* config_near.c - the known key nearest to an unknown one. Most unknown keys are known ones in the
 * wrong place of the config. */
#include <string.h>

#include "base/mem.h"
#include "config/config_help.h"
#include "config/config_table.h"
#include "model/preset.h"

struct paths {
    char **names;
    size_t count, room;
};

static void path_add(struct paths *p, char *name)
{
    if (p->count == p->room) {
        p->room = p->room ? p->room * 2 : 128;
        p->names = mem_grow(p->names, p->room, sizeof *p->names);
    }
    p->names[p->count++] = name;
}

static void keep_path(const char *key, const struct option *row, void *context)
{
    (void)row;
    path_add(context, mem_string(key));
}

static void paths_free(struct paths *p)
{
    for (size_t i = 0; i < p->count; i++)
        mem_free(p->names[i]);
    mem_free(p->names);
}

bool config_near_path(const char *key, struct text *out)
{
    struct paths p = {0};
    config_keys(keep_path, &p);
    const char *near = text_nearest(key, (const char *const *)p.names, p.count);
    if (near)
        text_put(out, near);
    paths_free(&p);
    return near != NULL;
}

/* --- a key in the wrong place --- */

static void keep_once(struct paths *p, const char *path, size_t length)
{
    for (size_t i = 0; i < p->count; i++)
        if (strlen(p->names[i]) == length && memcmp(p->names[i], path, length) == 0)
            return;
    path_add(p, mem_string_n(path, length));
}

/* Every key and every group of keys: "train", "train.optimizer", "train.optimizer.type". Keys of
 * "encoders" are those of columns, which are kept. */
static void keep_groups(const char *key, const struct option *row, void *context)
{
    (void)row;
    if (strncmp(key, "encoders.", 9) == 0)
        return;
    for (size_t n = strcspn(key, "."); n <= strlen(key); n += 1 + strcspn(key + n + 1, ".")) {
        keep_once(context, key, n);
        if (!key[n])
            break;
    }
}

static void keep_table(struct paths *p, const char *where, const struct option *table)
{
    struct text path = {0};
    for (const struct option *row = table; row->key; row++) {
        text_clear(&path);
        text_printf(&path, "%s.%s", where, row->key);
        keep_once(p, path.data, path.length);
    }
    text_free(&path);
}

static const char *tail(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot ? dot + 1 : path;
}

/* Names of other programs for our keys. */
static const char *spoken(const char *word)
{
    static const struct { const char *other, *ours; } words[] = {
        {"lr", "learning_rate"},       {"eta", "learning_rate"},
        {"early_stop", "patience"},    {"activations", "activation"},
        {"hidden_layers", "hidden"},   {"max_epochs", "epochs"},
        {"num_epochs", "epochs"},      {"n_epochs", "epochs"},
        {"random_state", "seed"},      {"random_seed", "seed"},
        {"label", "target"},           {"separator", "delimiter"},
        {"sep", "delimiter"},          {"na_values", "missing"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].other, word) == 0)
            return words[i].ours;
    return word;
}

static size_t depth(const char *path)
{
    size_t dots = 0;
    for (; *path; path++)
        dots += *path == '.';
    return dots;
}

bool config_spoken_key(const char *word, struct text *out)
{
    struct paths p = {0};
    const char *best = NULL;
    size_t same = 0;
    word = spoken(word);
    config_keys(keep_path, &p);
    for (size_t i = 0; i < preset_count(); i++)
        keep_table(&p, "model", presets[i].options);
    for (size_t i = 0; i < p.count; i++) {
        if (strcmp(tail(p.names[i]), word) != 0)
            continue;
        if (!best || depth(p.names[i]) < depth(best)) {
            best = p.names[i];
            same = 0;
        }
        same += depth(p.names[i]) == depth(best);
    }
    if (best && same <= 2)
        text_put(out, best);
    paths_free(&p);
    return best && same <= 2;
}

/* The key stands in its place, but belongs to another type of column. */
static bool in_place(const char *path, const char *key)
{
    static const char columns[] = "data.columns.";
    return strcmp(path, key) == 0 || (strncmp(path, columns, sizeof columns - 1) == 0 &&
                                      strncmp(key, columns, sizeof columns - 1) == 0);
}

void config_near(struct err *e)
{
    if (e->id != ERR_CONFIG_KEY || e->help[0] || !e->key[0])
        return;
    struct paths p = {0};
    struct text help = {0};
    config_keys(keep_groups, &p);
    for (size_t i = 0; i < preset_count(); i++)
        keep_table(&p, "model", presets[i].options);
    keep_table(&p, "data.columns.NAME", column_numeric_table);
    keep_table(&p, "data.columns.NAME", column_categorical_table);
    keep_table(&p, "data.columns.NAME", column_text_table);
    keep_table(&p, "data.columns.NAME", column_datetime_table);
    const char **tails = mem_zero(p.count, sizeof *tails), *word = spoken(tail(e->key));
    size_t found = 0, all = 0;
    for (size_t i = 0; i < p.count; i++)
        tails[i] = tail(p.names[i]);
    const char *near = text_nearest(word, tails, p.count);
    for (size_t i = 0; near && i < p.count; i++)
        all += strcmp(tails[i], near) == 0;
    for (size_t i = 0; all <= 3 && i < p.count; i++) /* "type" would be anything */
        if (near && strcmp(tails[i], near) == 0 && !in_place(p.names[i], e->key))
            text_printf(&help, "%s`%s`", found++ ? " or " : "", p.names[i]);
    if (found)
        err_help(e, "did you mean %s?", help.data);
    mem_free(tails);
    paths_free(&p);
    text_free(&help);
}
