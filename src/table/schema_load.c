/* schema_load.c - reads a schema from an untrusted model file: every count, index, word and number
 * is checked before use. */
#include "table/schema.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "csv/form/date.h"
#include "table/schema_saved.h"
#include "table/sequence.h"
#include "table/statistics_saved.h"

/* --- the head: settings and lists of words --- */

/* By code of the file: the value of the enum. */
struct codes {
    uint8_t ours[256];
    unsigned count;
};
enum { UNKNOWN_WORD = 255 };
struct head {
    struct codes types, scales, imputes, unknowns, encodes, transforms;
    int words; /* enum word_rule */
};

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

/* All inputs are the numbers of channels x steps. */
static bool check_sequence(const struct loading *l)
{
    const struct schema *s = l->schema;
    const struct windows *w = &s->windows;
    if (w->window && (w->group >= s->column_count || w->group == s->target ||
                      (w->order != UINT32_MAX &&
                       (w->order >= s->column_count || w->order == s->target))))
        return saved_damaged(l, IN_HEAD, "holds a sequence of other columns");
    if (!s->steps ||
        (s->number_count == (uint64_t)s->steps * s->channels.count && !s->category_count))
        return true;
    return saved_damaged(l, IN_HEAD, "holds a sequence of other columns");
}

static bool load_head(const struct loading *l, struct head *h)
{
    const struct tensor *t = saved_need(l, IN_HEAD, DTYPE_U8, UINT64_MAX);
    struct err inner = {0};
    if (!t)
        return false;
    struct json_doc *doc = json_parse_own(t->data, (size_t)t->count, IN_HEAD, &inner);
    if (!doc || json_kind(json_root(doc)) != JSON_OBJECT) {
        json_free(doc);
        return saved_damaged(l, IN_HEAD, "is not a JSON object");
    }
    const struct json *head = json_root(doc);
    bool good = read_settings(l, head, h) && read_sequence(l, head) && read_windows(l, head) &&
                read_codes(l, head, "types", column_role_names, &h->types) &&
                read_codes(l, head, "scales", column_scale_names, &h->scales) &&
                read_codes(l, head, "imputes", column_impute_names, &h->imputes) &&
                read_codes(l, head, "unknowns", column_unknown_names, &h->unknowns) &&
                read_codes(l, head, "encodes", column_encode_names, &h->encodes) &&
                (!json_get(head, "transforms") || /* a model may be older than they are */
                 read_codes(l, head, "transforms", column_transform_names, &h->transforms));
    json_free(doc);
    return good;
}

/* Sets *to to the enum's value of a code. False: unknown. */
static bool decode(const struct loading *l, const struct codes *c, uint8_t code, const char *tensor,
                   int *to)
{
    if (code >= c->count)
        return saved_damaged(l, tensor, "holds a code that has no word");
    if (c->ours[code] == UNKNOWN_WORD)
        return newer(l, "something unknown in", tensor);
    *to = c->ours[code];
    return true;
}

/* --- columns --- */

struct columns {
    const uint8_t *types, *impute, *unknown, *encode;
    const int64_t *dim, *min_count, *missing, *first;
};

/* Finds a tensor of `count` entries; sets *to to its data. */
static bool find(const struct loading *l, const char *name, enum dtype type, uint64_t count,
                 void *to)
{
    const struct tensor *t = saved_need(l, name, type, count);
    if (t)
        memcpy(to, &t->data, sizeof t->data);
    return t != NULL;
}

static bool find_columns(const struct loading *l, uint64_t count, struct columns *c)
{
    return find(l, IN_TYPES, DTYPE_U8, count, &c->types) &&
           find(l, IN_ENCODER "impute", DTYPE_U8, count, &c->impute) &&
           find(l, IN_ENCODER "unknown", DTYPE_U8, count, &c->unknown) &&
           find(l, IN_ENCODER "encode", DTYPE_U8, count, &c->encode) &&
           find(l, IN_ENCODER "dim", DTYPE_I64, count, &c->dim) &&
           find(l, IN_ENCODER "min_count", DTYPE_I64, count, &c->min_count) &&
           find(l, IN_ENCODER "missing", DTYPE_I64, count, &c->missing) &&
           find(l, IN_FIRST, DTYPE_I64, count + 1, &c->first);
}

static bool load_column(const struct loading *l, const struct head *h, const struct columns *from,
                        size_t i)
{
    struct column *c = &l->schema->columns[i];
    if (!decode(l, &h->types, from->types[i], IN_TYPES, &c->type))
        return false;
    c->min_count = saved_within(from->min_count[i], 1, COLUMN_MIN_COUNT_MOST) ? from->min_count[i]
                                                                              : 1;
    c->missing = from->missing[i] > 0 ? (uint64_t)from->missing[i] : 0;
    if ((c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME) &&
        !decode(l, &h->imputes, from->impute[i], IN_ENCODER "impute", &c->impute))
        return false;
    c->dim = from->dim[i]; /* of a text, load_text checks it and the values */
    if (c->type != COLUMN_CATEGORICAL && c->type != COLUMN_TEXT)
        return from->first[i + 1] == from->first[i] ||
               saved_damaged(l, IN_FIRST, "gives values to a column without any");
    if (c->type == COLUMN_TEXT)
        return true;
    if (!decode(l, &h->unknowns, from->unknown[i], IN_ENCODER "unknown", &c->unknown) ||
        !decode(l, &h->encodes, from->encode[i], IN_ENCODER "encode", &c->encode))
        return false;
    return saved_within(c->dim, c->encode == ENCODE_EMBEDDING,
                        c->encode == ENCODE_EMBEDDING ? COLUMN_DIM_MOST : 0) ||
           saved_damaged(l, IN_ENCODER "dim", "holds a width that cannot be");
}

static bool load_values(const struct loading *l, const int64_t *first)
{
    struct schema *s = l->schema;
    struct saved_texts values;
    if (!saved_texts(l, OFFSETS_OF(IN_VALUES), IN_VALUES, UINT64_MAX, &values))
        return false;
    bool good = first[0] == 0 && (uint64_t)first[s->column_count] == values.count;
    for (size_t i = 0; good && i < s->column_count; i++)
        good = first[i + 1] >= first[i] && first[i + 1] - first[i] <= (int64_t)VOCAB_MOST &&
               (uint64_t)first[i + 1] <= values.count;
    if (!good)
        return saved_damaged(l, IN_FIRST, "does not divide the values among the columns");
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        if (c->type != COLUMN_CATEGORICAL && c->type != COLUMN_TEXT)
            continue;
        c->vocab = saved_vocab(l, &values, (uint64_t)first[i],
                               (uint64_t)(first[i + 1] - first[i]));
        if (!c->vocab)
            return false;
    }
    return true;
}

static bool load_columns(const struct loading *l, const struct head *h)
{
    struct schema *s = l->schema;
    struct saved_texts names;
    struct columns from;
    if (!saved_texts(l, OFFSETS_OF(IN_NAMES), IN_NAMES, CSV_MOST_COLUMNS, &names))
        return false;
    if (!names.count)
        return saved_damaged(l, IN_NAMES, "there are no columns");
    if (!find_columns(l, names.count, &from))
        return false;
    s->column_count = (size_t)names.count;
    s->columns = mem_zero(s->column_count, sizeof *s->columns);
    for (size_t i = 0; i < s->column_count; i++)
        if (!load_column(l, h, &from, i))
            return false;
    return saved_roles(l) && saved_names(l, &names) && load_values(l, from.first);
}

/* --- numbers --- */

const char *const saved_number_names[SAVED_NUMBERS] = {
#define X(name) IN_ENCODER #name,
    SAVED_STATISTICS(X)
#undef X
};

static uint64_t count_numbers(const struct schema *s)
{
    uint64_t count = 0;
    for (size_t i = 0; i < s->column_count; i++)
        count += s->columns[i].type == COLUMN_NUMERIC    ? 1
                 : s->columns[i].type == COLUMN_DATETIME ? DATE_PARTS
                                                         : 0;
    return count;
}

/* Data of the number tensors; all sizes are checked before memory is allocated. */
struct numbers {
    const double *statistics[SAVED_NUMBERS];
    const uint8_t *scale, *indicator;
    const int64_t *knots; /* [count + 1] */
    const float *quantiles;
};

static bool find_numbers(const struct loading *l, uint64_t count, struct numbers *n)
{
    for (int k = 0; k < SAVED_NUMBERS; k++)
        if (!find(l, saved_number_names[k], DTYPE_F64, count, &n->statistics[k]))
            return false;
    if (!find(l, IN_ENCODER "scale", DTYPE_U8, count, &n->scale) ||
        !find(l, IN_ENCODER "indicator", DTYPE_U8, count, &n->indicator) ||
        !find(l, IN_KNOTS, DTYPE_I64, count + 1, &n->knots))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (n->knots[i + 1] < n->knots[i])
            return saved_damaged(l, IN_KNOTS, "goes backwards");
    if (n->knots[0] != 0)
        return saved_damaged(l, IN_KNOTS, "does not begin at 0");
    return find(l, IN_QUANTILES, DTYPE_F32, (uint64_t)n->knots[count], &n->quantiles);
}

static bool load_number(const struct loading *l, const struct head *h, const struct numbers *from,
                        uint32_t i)
{
    struct number_slot *n = &l->schema->numbers[i];
    double v[SAVED_NUMBERS];
    int scale;
    for (int k = 0; k < SAVED_NUMBERS; k++)
        v[k] = from->statistics[k][i];
    return decode(l, &h->scales, from->scale[i], IN_ENCODER "scale", &scale) &&
           ((from->indicator[i] <= 1 &&
             saved_number(n, scale, from->indicator[i], v,
                          (uint64_t)(from->knots[i + 1] - from->knots[i]))) ||
            saved_damaged(l, IN_ENCODER "*", "a statistic of a number cannot be")) &&
           saved_knots(l, IN_QUANTILES, from->quantiles + from->knots[i], n);
}

static bool load_bins(const struct loading *l)
{
    struct schema *s = l->schema;
    const int64_t *first;
    const float *edges;
    const uint8_t *plain;
    uint64_t count = s->number_count;
    if (!saved_has(l, IN_BINS))
        return true;
    if (!find(l, IN_EDGES, DTYPE_I64, count + 1, &first) ||
        !find(l, IN_PLAIN, DTYPE_U8, count, &plain))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (first[i + 1] < first[i])
            return saved_damaged(l, IN_EDGES, "goes backwards");
    if (first[0] != 0)
        return saved_damaged(l, IN_EDGES, "does not begin at 0");
    if (!find(l, IN_BINS, DTYPE_F32, (uint64_t)first[count], &edges))
        return false;
    for (uint32_t i = 0; i < s->number_count; i++) {
        if (!saved_edges(l, IN_BINS, edges + first[i], (uint64_t)(first[i + 1] - first[i]),
                         &s->numbers[i]))
            return false;
        s->numbers[i].alone = s->numbers[i].edge_count && !plain[i];
    }
    return true;
}

static bool load_transforms(const struct loading *l, const struct head *h)
{
    const uint8_t *codes;
    if (!saved_has(l, IN_TRANSFORM))
        return true;
    if (!find(l, IN_TRANSFORM, DTYPE_U8, l->schema->number_count, &codes))
        return false;
    for (uint32_t i = 0; i < l->schema->number_count; i++)
        if (!decode(l, &h->transforms, codes[i], IN_TRANSFORM, &l->schema->numbers[i].transform))
            return false;
    return true;
}

static bool load_text(const struct loading *l, int rule, struct column *c, const int64_t *v)
{
    const struct schema *s = l->schema;
    const bool tokens = v[5] == TEXT_TOKENS, alone = s->category_count + s->number_count == 1;
    if (!saved_within(v[0], 1, TERM_BUCKETS_MOST) || !saved_within(v[1], 0, TERM_RUN_MOST) ||
        !saved_within(v[2], v[1], TERM_RUN_MOST) || !saved_within(v[3], 0, TERM_RUN_MOST) ||
        !saved_within(v[4], v[3], TERM_RUN_MOST) || !saved_within(v[5], TEXT_TFIDF, TEXT_TOKENS) ||
        !saved_within(v[6], 1 + tokens, TERM_SLOTS_MOST) ||
        (tokens ? !alone || s->windows.window || !saved_within(c->dim, 1, COLUMN_DIM_MOST)
                : c->dim || vocab_count(c->vocab)))
        return saved_damaged(l, IN_TEXTS, "holds a value that cannot be");
    c->text = (struct text_options){.buckets = (uint32_t)v[0],
                                    .words = {(uint32_t)v[1], (uint32_t)v[2]},
                                    .chars = {(uint32_t)v[3], (uint32_t)v[4]},
                                    .weight = (int)v[5], .rule = rule};
    c->slots = (uint32_t)v[6];
    return true;
}

static bool load_texts(const struct loading *l, int rule)
{
    struct schema *s = l->schema;
    const int64_t *options;
    const float *weights;
    uint64_t texts = 0, buckets = 0;
    for (size_t i = 0; i < s->column_count; i++)
        texts += s->columns[i].type == COLUMN_TEXT;
    if (!texts)
        return true;
    if (!find(l, IN_TEXTS, DTYPE_I64, texts * SAVED_TEXT, &options))
        return false;
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        if (c->type != COLUMN_TEXT)
            continue;
        if (!load_text(l, rule, c, options))
            return false;
        options += SAVED_TEXT;
        buckets += c->text.weight == TEXT_TFIDF ? c->text.buckets : 0;
    }
    if (!find(l, IN_BUCKETS, DTYPE_F32, buckets, &weights))
        return false;
    for (uint64_t i = 0; i < buckets; i++)
        if (!isfinite(weights[i]))
            return saved_damaged(l, IN_BUCKETS, "is not finite");
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        if (c->type != COLUMN_TEXT || c->text.weight != TEXT_TFIDF)
            continue;
        c->bucket_weights = mem_copy(weights, c->text.buckets * sizeof *weights);
        weights += c->text.buckets;
    }
    schema_add_texts(s);
    return true;
}

static bool load_periodic(const struct loading *l)
{
    const uint8_t *is;
    if (!saved_has(l, IN_PERIODIC))
        return true;
    if (!find(l, IN_PERIODIC, DTYPE_U8, l->schema->number_count, &is))
        return false;
    for (uint32_t i = 0; i < l->schema->number_count; i++)
        l->schema->numbers[i].periodic = is[i] != 0;
    return true;
}

static bool load(const struct loading *l)
{
    struct head h = {0};
    struct numbers numbers;
    struct saved_texts labels, missing;
    if (!load_head(l, &h) || !load_columns(l, &h) || !saved_forms(l) ||
        !saved_texts(l, OFFSETS_OF(IN_LABELS), IN_LABELS, VOCAB_MOST, &labels) ||
        !saved_labels(l, &labels) ||
        !saved_texts(l, OFFSETS_OF(IN_MISSING), IN_MISSING, SAVED_MISSING_MOST, &missing) ||
        !saved_missing(l, &missing) || !find_numbers(l, count_numbers(l->schema), &numbers))
        return false;
    schema_layout(l->schema);
    if (!check_sequence(l))
        return false;
    for (uint32_t i = 0; i < l->schema->number_count; i++)
        if (!load_number(l, &h, &numbers, i))
            return false;
    return load_texts(l, h.words) && load_bins(l) && load_transforms(l, &h) && load_periodic(l) &&
           saved_target(l) && saved_spread(l) && statistics_load(l);
}

struct schema *schema_load(const struct tensor_file *f, uint32_t number, struct err *e)
{
    struct loading l = {
        .file = f, .schema = mem_zero(1, sizeof(struct schema)), .e = e, .number = number};
    bool good = load(&l);
    l.schema->fitted = good;
    if (good)
        return l.schema;
    schema_free(l.schema);
    return NULL;
}
