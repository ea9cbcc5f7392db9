/* encoder_head.c - reads the head of a model's schema: settings, lists of words, and how the cells
 * of columns are written. */
#include <string.h>

#include "base/mem.h"
#include "table/encoder/encoder_saved.h"
#include "table/schema/sequence.h"

/* --- settings and lists of words --- */

enum { UNKNOWN_WORD = 255 };

static bool newer(const struct loading *l, const char *what, const char *word)
{
    return err_at(l->e, ERR_MODEL_NEWER, tensor_file_path(l->file), 0, 0,
                  "made by a newer version of dnn: it has %s \"%s\"", what, text_quote_z(word));
}

/* Returns the index of `word` in a NULL-terminated list, -1: absent. */
static int place_of(const char *word, const char *const *words)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* An unknown word is an error only if a column uses it. */
static bool read_codes(const struct loading *l, const struct json *head, const char *key,
                       const char *const *words, struct codes *codes)
{
    const struct json *list = json_get(head, key);
    if (!list || json_kind(list) != JSON_LIST || json_count(list) >= UNKNOWN_WORD)
        return saved_damaged(l, IN_HEAD, "a list of words is missing");
    for (const struct json *v = json_at(list, 0); v; v = json_next(v)) {
        int place = place_of(json_string(v), words);
        codes->ours[codes->count++] = (uint8_t)(place < 0 ? UNKNOWN_WORD : place);
    }
    return true;
}

static const char *word_at(const struct json *head, const char *key)
{
    const struct json *v = json_get(head, key);
    return v && json_kind(v) == JSON_STRING ? json_string(v) : "";
}

static bool read_count(const struct json *head, const char *key, int64_t low, int64_t high,
                       uint32_t *to)
{
    const struct json *v = json_get(head, key);
    int64_t value;
    if (!v || json_kind(v) != JSON_NUMBER || !json_integer(v, &value) ||
        !saved_within(value, low, high))
        return false;
    *to = (uint32_t)value;
    return true;
}

static bool read_settings(const struct loading *l, const struct json *head, struct head *h)
{
    struct schema *s = l->schema;
    const char *task = word_at(head, "task"), *delimiter = word_at(head, "delimiter"),
               *decimal = word_at(head, "decimal"), *encoding = word_at(head, "encoding");
    const struct json *header = json_get(head, "header"), *tsv = json_get(head, "tsv");
    s->task = place_of(task, task_names);
    if (s->task < 0 && *task)
        return newer(l, "the task", task);
    s->dialect.encoding = place_of(encoding, csv_encoding_names);
    if (s->dialect.encoding < 0 && *encoding)
        return newer(l, "the encoding", encoding);
    const char *quote = json_get(head, "quote") ? word_at(head, "quote") : csv_quote_names[0];
    s->dialect.quote = place_of(quote, csv_quote_names);
    if (s->dialect.quote < 0 && *quote)
        return newer(l, "the quoting", quote);
    const char *words = json_get(head, "words") ? word_at(head, "words") : word_rule_names[0];
    h->words = place_of(words, word_rule_names);
    if (h->words < 0)
        return newer(l, "the rule of words", words);
    if (s->task < 0 || s->dialect.encoding < 0 || s->dialect.quote < 0 || strlen(delimiter) != 1 ||
        !strchr(",;\t|", *delimiter) || strlen(decimal) != 1 || !strchr(".,", *decimal) ||
        !read_count(head, "target", 0, CSV_MOST_COLUMNS - 1, &s->target) ||
        !read_count(head, "cells", 1, CSV_MOST_COLUMNS, &s->file_columns))
        return saved_damaged(l, IN_HEAD, "holds a value that does not exist");
    s->dialect.delimiter = *delimiter;
    s->decimal = *decimal;
    s->dialect.header = header && json_true(header);
    s->dialect.tsv = tsv && json_true(tsv);
    return true;
}

/* The names of channels, if the rows are sequences. */
static bool read_sequence(const struct loading *l, const struct json *head)
{
    struct schema *s = l->schema;
    const struct json *channels = json_get(head, "channels");
    if (!json_get(head, "steps") && !channels)
        return true;
    if (!read_count(head, "steps", 2, CSV_MOST_COLUMNS, &s->steps) || !channels ||
        json_kind(channels) != JSON_LIST || !json_count(channels))
        return saved_damaged(l, IN_HEAD, "holds a sequence that cannot be");
    s->channels.items = mem_zero(json_count(channels), sizeof *s->channels.items);
    for (const struct json *v = json_at(channels, 0); v; v = json_next(v)) {
        if (json_kind(v) != JSON_STRING)
            return saved_damaged(l, IN_HEAD, "holds a channel without a name");
        s->channels.items[s->channels.count++] = mem_string(json_string(v));
    }
    return true;
}

static bool read_windows(const struct loading *l, const struct json *head)
{
    struct windows *w = &l->schema->windows;
    const struct json *v = json_get(head, "windows"), *label = v ? json_get(v, "label") : NULL;
    if (!v)
        return true;
    w->order = UINT32_MAX;
    w->label = label && json_kind(label) == JSON_STRING
                   ? place_of(json_string(label), window_label_names)
                   : -1;
    if (label && json_kind(label) == JSON_STRING && w->label < 0)
        return newer(l, "the label of sequences", json_string(label));
    if (w->label < 0 || l->schema->steps || !read_count(v, "window", 2, INT32_MAX, &w->window) ||
        !read_count(v, "stride", 1, w->window, &w->stride) ||
        !read_count(v, "group", 0, CSV_MOST_COLUMNS - 1, &w->group) ||
        (json_get(v, "order") && !read_count(v, "order", 0, CSV_MOST_COLUMNS - 1, &w->order)))
        return saved_damaged(l, IN_HEAD, "holds a sequence of records that cannot be");
    const struct json *sort = json_get(v, "sort"), *step = json_get(v, "step");
    const struct json *carry = json_get(v, "carry_state");
    w->carry = carry && json_kind(carry) == JSON_TRUE && w->stride == w->window &&
               w->label == LABEL_ROW;
    w->sort = sort && w->order != UINT32_MAX && json_kind(sort) == JSON_TRUE;
    if (step && json_kind(step) == JSON_NUMBER)
        w->step = json_number(step);
    return true;
}

bool saved_head(const struct loading *l, struct head *h)
{
    const struct tensor *t = saved_need(l, IN_HEAD, DTYPE_U8, UINT64_MAX);
    struct err inner = {0};
    if (!t)
        return false;
    h->doc = json_parse_own(t->data, (size_t)t->count, IN_HEAD, &inner);
    if (!h->doc || json_kind(json_root(h->doc)) != JSON_OBJECT)
        return saved_damaged(l, IN_HEAD, "is not a JSON object");
    const struct json *head = json_root(h->doc);
    return read_settings(l, head, h) && read_sequence(l, head) && read_windows(l, head) &&
                read_codes(l, head, "types", column_role_names, &h->types) &&
                read_codes(l, head, "scales", column_scale_names, &h->scales) &&
                read_codes(l, head, "imputes", column_impute_names, &h->imputes) &&
                read_codes(l, head, "unknowns", column_unknown_names, &h->unknowns) &&
                read_codes(l, head, "encodes", column_encode_names, &h->encodes) &&
                (!json_get(head, "transforms") || /* a model may be older than they are */
                 read_codes(l, head, "transforms", column_transform_names, &h->transforms));
}

bool saved_decode(const struct loading *l, const struct codes *c, uint8_t code, const char *tensor,
                  int *to)
{
    if (code >= c->count)
        return saved_damaged(l, tensor, "holds a code that has no word");
    if (c->ours[code] == UNKNOWN_WORD)
        return newer(l, "something unknown in", tensor);
    *to = c->ours[code];
    return true;
}

/* --- how cells are written --- */

/* Text of a member; NULL: null or absent. */
static const char *text_of(const struct json *entry, const char *key)
{
    const struct json *v = json_get(entry, key);
    return v && json_kind(v) == JSON_STRING ? json_string(v) : NULL;
}

/* The column of an entry; SIZE_MAX: there is none. */
static size_t column_of(const struct loading *l, const struct json *entry)
{
    const struct json *number = json_get(entry, "column");
    int64_t column;
    return number && json_kind(number) == JSON_NUMBER && json_integer(number, &column) &&
                   saved_within(column, 0, (int64_t)l->schema->column_count - 1)
               ? (size_t)column
               : SIZE_MAX;
}

static bool load_missing(const struct loading *l, const struct json *entry)
{
    const size_t column = column_of(l, entry);
    const struct json *texts = json_get(entry, "texts");
    bool good = column != SIZE_MAX && texts && json_kind(texts) == JSON_LIST &&
                !l->schema->columns[column].none.count;
    for (const struct json *t = good ? json_at(texts, 0) : NULL; t && good; t = json_next(t)) {
        good = json_kind(t) == JSON_STRING;
        if (good)
            opt_strings_add(&l->schema->columns[column].none, json_string(t));
    }
    return good || saved_damaged(l, IN_HEAD, "holds a missing text that cannot be");
}

static bool load_form(const struct loading *l, const struct json *entry)
{
    struct schema *s = l->schema;
    const struct json *units = json_get(entry, "unit");
    const size_t column = column_of(l, entry);
    const char *words[3], **texts = mem_zero((units ? json_count(units) : 0) + 1, sizeof *texts);
    size_t count = 0;
    for (const struct json *u = units ? json_at(units, 0) : NULL; u; u = json_next(u))
        if (json_kind(u) == JSON_STRING)
            texts[count++] = json_string(u);
    struct form *f = form_new(text_of(entry, "thousands"), (char *const *)(const void *)texts,
                              count, text_of(entry, "format"));
    bool good = column != SIZE_MAX && !s->columns[column].form &&
                form_check(f, s->columns[column].type != COLUMN_DATETIME, s->decimal, &words[0],
                           &words[1], &words[2]);
    mem_free(texts);
    if (good)
        s->columns[column].form = f;
    else
        form_free(f);
    return good || saved_damaged(l, IN_HEAD, "holds a form that cannot be");
}

bool saved_forms(const struct loading *l, const struct head *h)
{
    const struct json *forms = json_get(json_root(h->doc), "forms"),
                      *missing = json_get(json_root(h->doc), "missing");
    bool good = true;
    for (const struct json *v = forms ? json_at(forms, 0) : NULL; v && good; v = json_next(v))
        good = load_form(l, v);
    for (const struct json *v = missing ? json_at(missing, 0) : NULL; v && good; v = json_next(v))
        good = load_missing(l, v);
    return good;
}
