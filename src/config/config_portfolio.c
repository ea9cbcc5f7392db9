/* config_portfolio.c - preset auto: the table of portfolio.def, for these rows and columns. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "config/config_table.h"
#include "csv/source.h"
#include "model/preset/preset.h"

enum { FOLDS = 5, FOLDS_OF_MANY = 3, MANY_ROWS = 100000, SMALL_ROWS = 10000, WIDE = 64 };
enum { VISITS = 320000, VISITS_OF_VALUES = 600000, EPOCHS_LEAST = 6, EPOCHS_MOST = 40 };
enum { EPOCHS_HURRIED = 2, EPOCHS_OF_MANY = 20 };
/* Sequences. SEEN: steps seen in all epochs; USUAL: steps of a sample in long format, as nothing
 * gives them; RATE: steps that a network reads in a second. */
enum { STEPS_SEEN = 5000000, STEPS_USUAL = 32, STEPS_RATE = 80000, FEW_SERIES = 400 };
enum { FEWEST_SERIES = 100, FOLDS_OF_FEWEST = 10 }; /* a row each: how many are known */
enum { SERIES_EPOCHS_LEAST = 10, SERIES_EPOCHS_MOST = 60 };
enum { TEXTS_SEEN = 60000, TEXT_EPOCHS_LEAST = 4, TEXT_EPOCHS_MOST = 20 };
#define HEAVY 2e7 /* rows times columns times outputs of the elastic net */
#define ROWS_UNKNOWN 10000.0 /* of a pipe, or a file that cannot be read, which is said later */

/* The conditions of the table. */
struct portfolio {
    double rows; /* of the data without test rows */
    uint64_t numbers, categories;
    uint64_t texts;
    double steps; /* of all sequences; 0: rows of a table */
    bool tokens;  /* the sequences are texts */
    bool regression, binary, keys, wide, many, heavy;
    bool convex;   /* the path has a solution for the loss */
    bool embedded; /* a category's own entry asks for embeddings, which the path cannot solve for */
    bool brief; /* the time limit leaves no room for the slow members */
    bool given; /* the number of folds stands in the config */
    int epochs, folds;
};

/* --- rows and columns --- */

/* How often a byte stands in a file, or in its first line; -1: the file cannot be read. */
static double count_bytes(const char *path, char byte, bool first_line)
{
    struct source_file f;
    struct err ignored = {0};
    size_t got = 1, room = 1 << 18;
    double count = 0;
    if (strcmp(path, "-") == 0 || !file_lasts(path) || !source_open(&f, path, false, &ignored))
        return -1;
    char *bytes = mem_alloc(room, 1);
    while (got > 0 && source_read(&f, bytes, room, &got, &ignored)) {
        const char *line = first_line ? memchr(bytes, '\n', got) : NULL, *p = bytes;
        for (const char *end = line ? line : bytes + got; (p = memchr(p, byte, (size_t)(end - p)));
             p++)
            count++;
        got = line ? 0 : got;
    }
    source_close(&f);
    mem_free(bytes);
    return count;
}

/* Lines of a file, without its header; a quoted line end counts as one. */
static double count_lines(const char *path, bool header)
{
    double lines = count_bytes(path, '\n', false);
    return lines > 1 ? lines - header : ROWS_UNKNOWN;
}

static double count_all(const struct opt_strings *files, bool header)
{
    double lines = 0;
    for (size_t i = 0; i < files->count; i++)
        lines += count_lines(files->items[i], header);
    return lines;
}

static void count_columns(const struct config *c, struct portfolio *t)
{
    for (const struct json *v = json_at(c->data.columns, 0); v; v = json_next(v)) {
        const char *word = column_entry_type(v);
        if (strcmp(json_key(v), c->data.target) == 0) /* it says how the target is written */
            continue;
        t->numbers += strcmp(word, "numeric") == 0 || strcmp(word, "datetime") == 0;
        t->categories += strcmp(word, "categorical") == 0;
        t->texts += strcmp(word, "text") == 0;
        const struct json *encode = json_get(v, "encode");
        t->embedded |= json_get(v, "dim") != NULL ||
                       (encode && json_kind(encode) == JSON_STRING &&
                        strcmp(json_string(encode), "embedding") == 0);
    }
}

/* The folds of the config, or else of the list. */
static int folds_of(const struct portfolio *t, int usual)
{
    return t->given ? t->folds : usual;
}

/* Shortens the list for the time limit. The whole list takes `seconds` on two cores (figures:
 * portfolio.def); three folds take half of that, and without the slow members a third is left. */
static void hurry(struct portfolio *t, double limit)
{
    const double visits = t->rows * (t->folds - 1) / t->folds * t->epochs;
    double seconds = (t->regression ? 180 : t->binary ? 45 : 140) / 2.0 * (t->folds / 5.0) *
                     visits / (t->regression ? VISITS_OF_VALUES : VISITS) *
                     (1 + (double)(t->numbers + t->categories) / 100);
    double share = limit / seconds;
    double least = t->given ? 1 : 0.5; /* of fewer folds */
    t->folds = share < 1 ? folds_of(t, FOLDS_OF_MANY) : t->folds;
    t->brief = share < least;
    if (share < least / 3)
        t->epochs = (int)fmax(EPOCHS_HURRIED, t->epochs * share * 3 / least);
}

/* --- sequences --- */

/* Columns of a file, by the delimiters of its first line. */
static double count_cells(const char *path, char delimiter)
{
    double delimiters = count_bytes(path, delimiter, true);
    return delimiters > 0 ? delimiters + 1 : 1;
}

/* Wide: a row is a sequence. Long: a row is a step. */
static void measure_series(const struct config *c, struct portfolio *t)
{
    const struct json *wide = json_get(c->data.sequence, "wide"),
                      *window = json_get(c->data.sequence, "window");
    bool few = false;
    if (wide && json_kind(wide) == JSON_OBJECT && json_count(wide) && c->data.train.count) {
        few = t->rows < FEWEST_SERIES && t->rows >= 2 * FOLDS_OF_FEWEST;
        double cells = count_cells(c->data.train.items[0], *c->data.delimiter);
        t->steps = t->rows * fmax(1, cells / (double)json_count(wide));
    } else {
        bool given = window && json_kind(window) == JSON_NUMBER && json_number(window) >= 1;
        t->steps = t->rows;
        t->rows /= given ? json_number(window) : STEPS_USUAL;
    }
    t->folds = folds_of(t, few                    ? FOLDS_OF_FEWEST
                           : t->rows < FEW_SERIES ? FOLDS
                                                  : FOLDS_OF_MANY);
    double epochs = STEPS_SEEN / (t->steps * (t->folds - 1) / t->folds);
    t->epochs = (int)fmin(fmax(epochs, SERIES_EPOCHS_LEAST), SERIES_EPOCHS_MOST);
}

/* A text as tokens; its steps are not known. */
static void measure_tokens(struct portfolio *t)
{
    t->tokens = true;
    t->steps = t->rows * STEPS_USUAL;
    t->folds = folds_of(t, t->rows < SMALL_ROWS ? FOLDS : FOLDS_OF_MANY);
    double epochs = TEXTS_SEEN / (t->rows * (t->folds - 1) / t->folds);
    t->epochs = (int)fmin(fmax(epochs, TEXT_EPOCHS_LEAST), TEXT_EPOCHS_MOST);
}

/* Two networks on two cores; rocket comes first, and takes little. */
static void hurry_series(struct portfolio *t, double limit)
{
    double share = limit * STEPS_RATE / (t->steps * (t->folds - 1) * t->epochs);
    t->folds = share < 1 ? folds_of(t, FOLDS_OF_MANY) : t->folds;
    t->brief = share < 0.5;
    if (t->brief)
        t->epochs = (int)fmax(EPOCHS_HURRIED, t->epochs * share * 2);
}

/* --- all of it --- */

static struct portfolio measure(const struct config *c)
{
    const struct data_options *d = &c->data;
    struct portfolio t = {.regression = c->task == TASK_REGRESSION,
                          .binary = c->task == TASK_BINARY,
                          .convex = config_path_solves(&c->train.loss),
                          .given = c->ensemble.folds > 0,
                          .folds = (int)c->ensemble.folds};
    double rows = count_all(&d->train, d->header);
    bool shares = !d->test.count && d->split.method != SPLIT_COLUMN;
    t.rows = rows * (shares ? 1 - d->split.test : 1) + count_all(&d->valid, d->header);
    if (c->model.sequences) {
        if (columns_have_tokens(c->data.columns))
            measure_tokens(&t);
        else
            measure_series(c, &t);
        if (c->train.time_limit_s > 0)
            hurry_series(&t, c->train.time_limit_s);
        return t;
    }
    count_columns(c, &t);
    t.keys = c->task != TASK_MULTICLASS && c->task != TASK_TAGGING && t.numbers + t.categories > 1;
    t.wide = t.numbers >= WIDE && !t.categories && !t.texts;
    t.many = t.rows > MANY_ROWS;
    double columns = (double)(t.numbers + 8 * t.categories);
    t.heavy = t.rows * columns * (c->task == TASK_MULTICLASS ? 8 : 1) > HEAVY;
    t.folds = folds_of(&t, t.many ? FOLDS_OF_MANY : FOLDS);
    double epochs = (t.regression ? VISITS_OF_VALUES : VISITS) / (t.rows * (t.folds - 1) / t.folds);
    t.epochs = epochs < EPOCHS_LEAST ? EPOCHS_LEAST : epochs > EPOCHS_MOST ? EPOCHS_MOST
                                                                          : (int)epochs;
    if (c->train.time_limit_s > 0)
        hurry(&t, c->train.time_limit_s);
    return t;
}

/* --- the members --- */

#define REALMLP_CATEGORIES                                                                         \
    "{\"encode\": \"auto\", \"onehot_values\": 8, \"dim\": 8, \"init\": \"normal\"}"
#define REALMLP_TRAIN                                                                              \
    "\"batch_size\": %s, \"optimizer\": {\"type\": \"adamw\", \"learning_rate\": %s, "          \
    "\"weight_decay\": 0.02, \"betas\": [0.9, 0.95], \"epsilon\": 1e-08}, "                        \
    "\"schedule\": {\"type\": \"coslog4\", \"weight_decay\": \"flat_cos\", "                       \
    "\"dropout\": \"constant\"}, "                                                                 \
    "\"early_stopping\": {\"patience\": 0, \"ties\": \"last\"}"

/* A word in braces, as its value. */
static bool put_value(const struct portfolio *t, const char *word, size_t length, struct text *out)
{
    const bool small = t->rows < SMALL_ROWS;
    char epochs[16], half[16], slow[16], train[400];
    snprintf(epochs, sizeof epochs, "%d", t->epochs);
    snprintf(half, sizeof half, "%d", t->epochs / 2);
    snprintf(slow, sizeof slow, "%d", t->many ? EPOCHS_OF_MANY : t->epochs);
    snprintf(train, sizeof train, REALMLP_TRAIN, t->many ? "512" : "256",
             t->regression ? "0.2" : "0.04");
    const struct {
        const char *word, *value;
    } values[] = {
        {"{epochs}", epochs},
        {"{half}", half},
        {"{slow}", slow}, /* of RealMLP */
        {"{dropout}", small ? "0.35" : "0.1"},
        {"{smoothing}", t->regression || t->binary || !t->convex ? "0" : "0.1"},
        {"{rate}", t->regression ? "0.004" : "0.002"},
        {"{hidden}", t->binary || t->many ? "[128, 128, 128]" : "[256, 256, 256]"},
        {"{activation}", t->regression ? "\"mish\"" : "\"selu\""},
        {"{bins}", t->regression && !small ? "64" : "32"},
        {"{tabm_bins}", t->regression && !small ? "48" : "16"},
        {"{realmlp_categories}", REALMLP_CATEGORIES},
        {"{realmlp_train}", train},
        {"{realmlp_dropout}", t->many ? "0.1" : t->binary ? "0.3" : "0.15"},
    };
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (strncmp(word, values[i].word, length) == 0) {
            text_put(out, values[i].value);
            return true;
        }
    return false;
}

static void put_filled(const struct portfolio *t, const char *text, struct text *out)
{
    while (*text) {
        const char *end = *text == '{' ? strchr(text, '}') : NULL;
        size_t length = end ? (size_t)(end - text) + 1 : 0;
        if (length && put_value(t, text, length, out))
            text += length;
        else
            text_char(out, *text++);
    }
}

static void put_member(const struct portfolio *t, bool when, const char *const parts[4],
                       struct text *out)
{
    if (!when)
        return;
    text_printf(out, "%s{\"name\": \"%s\", \"encoders\": ", out->data[out->length - 1] == '[' ? ""
                                                                                             : ", ",
                parts[0]);
    put_filled(t, parts[1], out);
    text_put(out, ", \"model\": ");
    put_filled(t, parts[2], out);
    text_put(out, ", \"train\": ");
    put_filled(t, parts[3], out);
    text_put(out, "}");
}

const char *config_auto_network(const struct config *c)
{
    const struct json *word = json_path(json_root(c->doc), "model.preset");
    const struct json *members = c->ensemble.members;
    bool list = word && json_kind(word) == JSON_STRING && strcmp(json_string(word), "auto") == 0 &&
                !c->model.each && !(members && json_count(members)); /* each: one recurrent one */
    const struct preset *p = list ? config_preset(c->doc) : NULL;
    return p ? p->name : NULL;
}

bool config_portfolio(const struct config *c, struct text *out, int *folds)
{
    if (!config_auto_network(c))
        return false;
    const struct portfolio all = measure(c), *t = &all;
    *folds = t->folds;
    text_put(out, "[");
#define PUT(when, ...) put_member(t, when, (const char *const[]){__VA_ARGS__}, out);
#define ROW(name, when, ...) PUT(!(t->steps > 0) && (when), name, __VA_ARGS__)
#define SERIES_ROW(name, when, ...)                                                                \
    PUT(t->steps > 0 && !t->tokens && (when), name, "{}", __VA_ARGS__)
#define TOKENS_ROW(name, when, ...) PUT(t->tokens && (when), name, "{}", __VA_ARGS__)
#include "config/portfolio.def"
#undef TOKENS_ROW
#undef SERIES_ROW
#undef ROW
#undef PUT
    text_put(out, "]");
    return true;
}
