/* config_near.c - the known key nearest to an unknown one. Most unknown keys are known ones in the
 * wrong place of the config. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "config/config_help.h"
#include "config/config_table.h"
#include "model/preset/preset.h"

static void keep_path(const char *key, const struct option *row, void *context)
{
    (void)row;
    opt_strings_add(context, key);
}

bool config_near_path(const char *key, struct text *out)
{
    struct opt_strings p = {0};
    config_keys(keep_path, &p);
    const char *near = text_nearest(key, (const char *const *)p.items, p.count);
    if (near)
        text_put(out, near);
    opt_strings_free(&p);
    return near != NULL;
}

/* --- a key in the wrong place --- */

static void keep_once(struct opt_strings *p, const char *path, size_t length)
{
    char *one = mem_string_n(path, length);
    if (!opt_strings_has(p, one, length))
        opt_strings_add(p, one);
    mem_free(one);
}

/* Every key and every group of keys: "train", "train.optimizer", "train.optimizer.type". Keys of
 * "encoders" are keys of columns, which are kept. */
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

static void keep_table(struct opt_strings *p, const char *where, const struct option *table)
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

/* Names of other programs for our keys: how ours ends, and the value that theirs stands for. */
static const struct spoken { const char *other, *ours, *value; } words[] = {
    {"lr", "learning_rate", NULL},
    {"eta", "learning_rate", NULL},
    {"max_epochs", "epochs", NULL},
    {"num_epochs", "epochs", NULL},
    {"n_epochs", "epochs", NULL},
    {"nb_epoch", "epochs", NULL},
    {"epoch", "epochs", NULL},
    {"max_iter", "epochs", NULL},
    {"iterations", "epochs", NULL},
    {"num_boost_round", "epochs", NULL},
    {"n_estimators", "epochs", NULL},
    {"early_stop", "patience", NULL},
    {"early_stopping_rounds", "patience", NULL},
    {"no_early_stopping", "patience", "0"},
    {"eval_metric", "metric", NULL},
    {"objective", "loss", NULL},
    {"criterion", "loss", NULL},
    {"optim", "optimizer", NULL},
    {"scheduler", "schedule", NULL},
    {"lr_scheduler", "schedule", NULL},
    {"lr_schedule", "schedule", NULL},
    {"l2", "weight_decay", NULL},
    {"wd", "weight_decay", NULL},
    {"clip", "clip_norm", NULL},
    {"grad_clip", "clip_norm", NULL},
    {"max_grad_norm", "clip_norm", NULL},
    {"class_weight", "class_weights", NULL},
    {"balanced", "class_weights", "balanced"},
    {"activations", "activation", NULL},
    {"hidden_layers", "hidden", NULL},
    {"hidden_units", "hidden", NULL},
    {"hidden_size", "hidden", NULL},
    {"hidden_layer_sizes", "hidden", NULL},
    {"units", "hidden", NULL},
    {"layers", "hidden", "[256, 128]"},
    {"num_layers", "hidden", "[256, 128]"},
    {"n_layers", "hidden", "[256, 128]"},
    {"drop_rate", "dropout", NULL},
    {"random_state", "seed", NULL},
    {"random_seed", "seed", NULL},
    {"label", "target", NULL},
    {"y", "target", NULL},
    {"features", "columns", NULL},
    {"separator", "delimiter", NULL},
    {"sep", "delimiter", NULL},
    {"na_values", "missing", NULL},
    {"no_header", "header", "false"},
    {"cols", "columns", NULL},
    {"data", "data.train", NULL},
    {"train_data", "data.train", NULL},
    {"val", "data.valid", NULL},
    {"validation", "data.valid", NULL},
    {"validation_data", "data.valid", NULL},
    {"test_data", "data.test", NULL},
    {"validation_split", "split.valid", NULL},
    {"val_split", "split.valid", NULL},
    {"val_size", "split.valid", NULL},
    {"test_split", "split.test", NULL},
    {"test_size", "split.test", NULL},
    {"stratify", "split.method", "stratified"},
    {"shuffle", "split.method", "random"},
    {"bagging", "ensemble.folds", NULL},
    {"fp16", "precision", "fp16"},
    {"bf16", "precision", "bf16"},
    {"amp", "precision", "bf16"},
    {"mixed_precision", "precision", "bf16"}};

static const struct spoken *spoken(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].other, word) == 0)
            return &words[i];
    return NULL;
}

static size_t depth(const char *path)
{
    size_t dots = 0;
    for (; *path; path++)
        dots += *path == '.';
    return dots;
}

static bool ends_so(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n >= m && strcmp(path + n - m, end) == 0 && (n == m || path[n - m - 1] == '.');
}

/* The path with this end that is nearest to the top; NULL if more than two are as near. */
static const char *nearest_top(const struct opt_strings *p, const char *end)
{
    const char *best = NULL;
    size_t same = 0;
    for (size_t i = 0; i < p->count; i++) {
        if (!ends_so(p->items[i], end))
            continue;
        if (!best || depth(p->items[i]) < depth(best)) {
            best = p->items[i];
            same = 0;
        }
        same += depth(p->items[i]) == depth(best);
    }
    return same <= 2 ? best : NULL;
}

/* The key of a group that decides most: `train.loss` is given by `train.loss.type`. */
static const char *const chief[] = {"type", "preset", "method", "patience", "folds"};

static bool list_of_numbers(const char *key)
{
    const struct option *row = opt_find(config_table, key);
    for (size_t i = 0; !row && i < preset_count() && strncmp(key, "model.", 6) == 0; i++)
        row = opt_find(presets[i].options, key + 6);
    return row && (row->type == OPT_INTS || row->type == OPT_NUMBERS);
}

bool config_spoken_key(const char *word, struct spoken_key *out)
{
    struct opt_strings p = {0};
    struct text end = {0};
    const struct spoken *known = spoken(word);
    const char *best = NULL;
    word = known ? known->ours : word;
    config_keys(keep_path, &p);
    for (size_t i = 0; i < preset_count(); i++)
        keep_table(&p, "model", presets[i].options);
    for (size_t i = 0; !best && i < sizeof chief / sizeof *chief; i++) {
        text_clear(&end);
        text_printf(&end, "%s.%s", word, chief[i]);
        best = nearest_top(&p, end.data);
    }
    if (!best)
        best = nearest_top(&p, word);
    if (best) {
        snprintf(out->key, sizeof out->key, "%s", best);
        out->value = known ? known->value : NULL;
        out->list = list_of_numbers(best);
    }
    text_free(&end);
    opt_strings_free(&p);
    return best != NULL;
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
    struct opt_strings p = {0};
    struct text help = {0};
    config_keys(keep_groups, &p);
    for (size_t i = 0; i < preset_count(); i++)
        keep_table(&p, "model", presets[i].options);
    for (int i = 0; i < CONFIG_COLUMNS; i++)
        keep_table(&p, "data.columns.NAME", config_columns[i].table);
    const char **tails = mem_zero(p.count, sizeof *tails), *word = tail(e->key);
    size_t found = 0, all = 0;
    bool ours = false;
    for (size_t i = 0; i < p.count; i++) {
        tails[i] = tail(p.items[i]);
        ours = ours || strcmp(tails[i], word) == 0;
    }
    if (!ours && spoken(word))
        word = tail(spoken(word)->ours);
    const char *near = text_nearest(word, tails, p.count);
    for (size_t i = 0; near && i < p.count; i++)
        all += strcmp(tails[i], near) == 0;
    for (size_t i = 0; all <= 3 && i < p.count; i++) /* "type" would be anything */
        if (near && strcmp(tails[i], near) == 0 && !in_place(p.items[i], e->key))
            text_printf(&help, "%s`%s`", found++ ? " or " : "", p.items[i]);
    if (found)
        err_help(e, "did you mean %s?", help.data);
    mem_free(tails);
    opt_strings_free(&p);
    text_free(&help);
}
