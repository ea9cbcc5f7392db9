/* schema.c - the layout of records, the inputs of the network, and freeing. */
#include "table/schema.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "csv/form/date.h"

void schema_layout(struct schema *s)
{
    s->number_count = s->category_count = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        c->number = c->category = UINT32_MAX;
        if (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME) {
            c->number = s->number_count;
            s->number_count += c->type == COLUMN_DATETIME ? DATE_PARTS : 1;
        } else if (c->type == COLUMN_CATEGORICAL || c->type == COLUMN_TEXT) {
            c->category = s->category_count++;
            if (!c->vocab)
                c->vocab = vocab_new();
        }
    }
    if (s->task != TASK_REGRESSION && !s->labels) {
        s->labels = vocab_new();
        s->columns[s->target].vocab = s->labels;
    }
    s->numbers = mem_zero(s->number_count ? s->number_count : 1, sizeof *s->numbers);
    for (uint32_t i = 0; i < s->number_count; i++)
        s->numbers[i] = (struct number_slot){
            .factor = 1, .least = -SCHEMA_SCALED_MOST, .most = SCHEMA_SCALED_MOST};
    s->format = rowfmt_make(s->number_count, s->category_count);
}

static void set_format(struct schema *s)
{
    s->format = rowfmt_make(s->number_count, s->category_count + s->term_count);
}

void schema_add_texts(struct schema *s)
{
    s->term_count = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        if (c->type != COLUMN_TEXT)
            continue;
        c->term = s->category_count + s->term_count;
        s->term_count += c->slots;
    }
    set_format(s);
}

void schema_add_statistics(struct schema *s, struct statistics *t)
{
    const struct number_slot plain = {
        .scale = SCALE_STANDARD, .factor = 1, .least = -SCHEMA_SCALED_MOST,
        .most = SCHEMA_SCALED_MOST};
    statistics_layout(t);
    statistics_index(t);
    s->statistics = t;
    t->first = s->number_count;
    s->numbers = mem_grow(s->numbers, (size_t)s->number_count + t->numbers + 1,
                          sizeof *s->numbers);
    for (uint32_t i = 0; i < t->numbers; i++)
        s->numbers[s->number_count++] = plain;
    set_format(s);
}

static char *copy_name(const char *name)
{
    return name ? mem_string(name) : NULL;
}

struct schema *schema_copy(const struct schema *s)
{
    struct schema *copy = mem_copy(s, sizeof *s);
    copy->columns = mem_copy(s->columns, s->column_count * sizeof *s->columns);
    copy->missing = opt_strings_copy(&s->missing);
    copy->channels = opt_strings_copy(&s->channels);
    copy->positive = copy_name(s->positive);
    copy->split_columns =
        s->split_columns
            ? mem_copy(s->split_columns, s->split_column_count * sizeof *s->split_columns)
            : NULL;
    copy->labels = NULL;
    copy->statistics = NULL;
    copy->quantiles =
        s->quantile_count ? mem_copy(s->quantiles, s->quantile_count * sizeof(double)) : NULL;
    copy->coding.knots = NULL;
    copy->coding.knot_count = 0;
    copy->fitted = false;
    for (size_t i = 0; i < s->column_count; i++) {
        copy->columns[i].name = copy_name(s->columns[i].name);
        copy->columns[i].vocab = NULL;
        copy->columns[i].form = form_copy(s->columns[i].form);
        copy->columns[i].none = opt_strings_copy(&s->columns[i].none);
        copy->columns[i].bucket_weights = NULL;
        copy->columns[i].slots = column_is_tokens(&s->columns[i]) ? s->columns[i].slots : 0;
    }
    copy->term_count = 0;
    schema_layout(copy);
    for (uint32_t i = 0; i < s->number_count; i++)
        copy->numbers[i].offset = s->numbers[i].offset;
    return copy;
}

uint32_t schema_group_column(const struct schema *s)
{
    uint32_t found = s->windows.window ? s->windows.group : UINT32_MAX;
    for (uint32_t i = 0; found == UINT32_MAX && i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_GROUP)
            found = i;
    return found;
}

void schema_free(struct schema *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->column_count; i++) {
        mem_free(s->columns[i].name);
        form_free(s->columns[i].form);
        opt_strings_free(&s->columns[i].none);
        distribution_free(&s->columns[i].spread);
        mem_free(s->columns[i].bucket_weights);
        if (s->columns[i].vocab != s->labels)
            vocab_free(s->columns[i].vocab);
    }
    vocab_free(s->labels);
    for (uint32_t i = 0; s->numbers && i < s->number_count; i++)
        mem_free(s->numbers[i].quantiles);
    for (uint32_t i = 0; s->numbers && i < s->number_count; i++)
        mem_free(s->numbers[i].edges);
    opt_strings_free(&s->missing);
    opt_strings_free(&s->channels);
    statistics_free(s->statistics);
    mem_free(s->columns);
    mem_free(s->positive);
    mem_free(s->quantiles);
    mem_free(s->coding.knots);
    mem_free(s->numbers);
    mem_free(s->split_columns);
    mem_free(s);
}

void schema_add_missing(struct schema *s, const char *text)
{
    opt_strings_add(&s->missing, text);
}

/* --- inputs of the network --- */

/* One-hot needs a weight row for each slot and learns fast; above this limit an embedding's shared
 * rows generalise better. */
#define ONEHOT_MOST 30u /* values */

/* The width rule of AutoGluon's tabular networks: min(100, round(1.6 n^0.56)) (Erickson et al.,
 * 2020). */
static uint32_t auto_dim(uint32_t count)
{
    double dim = round(1.6 * pow((double)count, 0.56));
    return dim > 100 ? 100 : dim < 1 ? 1 : (uint32_t)dim;
}

/* The width of a token: "auto" is the same for every text. */
static uint32_t token_dim(const struct column *c)
{
    enum { TOKEN_DIM = 128 };
    return c->dim ? (uint32_t)c->dim : TOKEN_DIM;
}

struct feature_category column_category(const struct column *c)
{
    struct feature_category f = {.count = 2 + vocab_count(c->vocab)};
    if (c->encode == ENCODE_TARGET || c->encode == ENCODE_COUNT || c->type == COLUMN_TEXT) {
        f.encode = CATEGORY_NONE;
        f.dim = column_is_tokens(c) ? token_dim(c) : 0;
        return f;
    }
    uint32_t most = c->onehot_values ? (uint32_t)c->onehot_values : c->dim ? 0 : ONEHOT_MOST;
    bool onehot = c->encode == ENCODE_ONEHOT ||
                  (c->encode == ENCODE_AUTO && vocab_count(c->vocab) <= most);
    f.encode = onehot ? CATEGORY_ONEHOT : CATEGORY_EMBEDDING;
    f.normal = c->init != 0;
    if (!onehot)
        f.dim = c->dim ? (uint32_t)c->dim : auto_dim(f.count);
    return f;
}

/* Adds numbers and edges of piecewise-linear encoding, and the periodic ones; NULL if all are
 * plain. */
static void add_bins(struct features *f, const struct schema *s)
{
    bool periodic = false;
    for (uint32_t i = 0; i < s->number_count; i++) {
        f->edge_count += s->numbers[i].edge_count;
        periodic |= s->numbers[i].periodic;
    }
    if (!f->edge_count && !periodic)
        return;
    f->numbers = mem_zero(s->number_count, sizeof *f->numbers);
    f->edges = mem_alloc((size_t)f->edge_count + 1, sizeof *f->edges);
    for (uint32_t i = 0, at = 0; i < s->number_count; i++) {
        const struct number_slot *n = &s->numbers[i];
        f->numbers[i].periodic = n->periodic;
        if (!n->edge_count)
            continue;
        f->numbers[i].bins = n->edge_count - 1;
        f->numbers[i].edges = at;
        f->numbers[i].alone = n->alone;
        memcpy(f->edges + at, n->edges, n->edge_count * sizeof *n->edges);
        at += n->edge_count;
    }
}

/* A text as tokens is the only input. */
static void add_tokens(struct features *f, const struct column *c)
{
    f->texts = mem_zero(1, sizeof *f->texts);
    f->text_count = 1;
    f->texts[0] = (struct feature_text){.slot = c->term,
                                        .slots = c->slots,
                                        .tokens = 2 + vocab_count(c->vocab),
                                        .dim = token_dim(c)};
    f->steps = c->slots;
}

static void add_texts(struct features *f, const struct schema *s)
{
    for (uint32_t i = s->category_count; i < f->format.categories; i++)
        f->categories[i].encode = CATEGORY_NONE;
    for (size_t i = 0; i < s->column_count; i++)
        if (column_is_tokens(&s->columns[i])) {
            add_tokens(f, &s->columns[i]);
            return;
        } else if (s->columns[i].type == COLUMN_TEXT) {
            f->text_count++;
            f->bucket_count += s->columns[i].text.buckets;
        }
    if (!f->text_count)
        return;
    f->texts = mem_zero(f->text_count, sizeof *f->texts);
    f->text_weights = mem_zero(f->bucket_count, sizeof *f->text_weights);
    struct feature_text *to = f->texts;
    uint32_t first = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->type != COLUMN_TEXT)
            continue;
        *to++ = (struct feature_text){.slot = c->term,
                                      .slots = c->slots,
                                      .first = first,
                                      .buckets = c->text.buckets,
                                      .weighted = c->text.weight == TEXT_TFIDF};
        if (c->bucket_weights)
            memcpy(f->text_weights + first, c->bucket_weights,
                   c->text.buckets * sizeof *f->text_weights);
        first += c->text.buckets;
    }
}

struct features *schema_features(const struct schema *s)
{
    struct features *f = mem_zero(1, sizeof *f);
    f->format = s->format;
    f->indicators = mem_alloc(s->number_count ? s->number_count : 1, sizeof *f->indicators);
    for (uint32_t i = 0; i < s->number_count; i++)
        if (s->numbers[i].indicator || s->steps)
            f->indicators[f->indicator_count++] = i;
    f->categories = mem_zero((size_t)s->format.categories + 1, sizeof *f->categories);
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].category != UINT32_MAX)
            f->categories[s->columns[i].category] = column_category(&s->columns[i]);
    f->quantiles = s->quantile_count;
    f->outputs = s->labels ? vocab_count(s->labels) : schema_values(s);
    f->steps = s->steps;
    f->window = s->windows.window;
    f->each = s->windows.label == LABEL_ROW;
    f->carry = s->windows.carry;
    add_bins(f, s);
    add_texts(f, s);
    return f;
}

void features_free(struct features *f)
{
    if (!f)
        return;
    mem_free(f->indicators);
    mem_free(f->categories);
    mem_free(f->numbers);
    mem_free(f->edges);
    mem_free(f->texts);
    mem_free(f->text_weights);
    mem_free(f);
}

/* --- for inspect --- */

static void write_number(const struct schema *s, const struct column *c, struct json_out *out)
{
    const struct number_slot *n = &s->numbers[c->number];
    const double offset = n->transform ? 0 : n->offset;
    if (n->transform)
        json_put_string(out, "transform", column_transform_names[n->transform]);
    json_put_string(out, "scale", column_scale_names[n->scale]);
    json_put_string(out, "impute", column_impute_names[c->impute]);
    json_put_number(out, "low", n->offset + (double)n->low);
    json_put_number(out, "high", n->offset + (double)n->high);
    json_put_number(out, "imputed", offset + (double)n->impute);
    if (n->scale == SCALE_QUANTILE) {
        json_put_int(out, "quantiles", n->quantile_count);
    } else if (n->scale != SCALE_NONE) {
        json_put_number(out, "center", offset + n->center);
        if (n->factor > 0)
            json_put_number(out, "divided_by", 1 / n->factor);
    }
    json_put_bool(out, "indicator", n->indicator);
    if (!n->edge_count && !n->periodic)
        return;
    json_open(out, "encode", '[');
    if (!n->alone && !n->periodic)
        json_put_string(out, NULL, number_encode_names[NUMBER_PLAIN]);
    if (n->edge_count)
        json_put_string(out, NULL, number_encode_names[NUMBER_PLE]);
    if (n->periodic)
        json_put_string(out, NULL, number_encode_names[NUMBER_PERIODIC]);
    json_close(out, ']');
    if (n->edge_count)
        json_put_int(out, "bins", n->edge_count - 1);
}

static void write_category(const struct column *c, struct json_out *out)
{
    struct feature_category f = column_category(c);
    json_put_int(out, "values", vocab_count(c->vocab));
    json_put_string(out, "unknown", column_unknown_names[c->unknown]);
    json_put_string(out, "encode",
                    column_encode_names[f.encode == CATEGORY_ONEHOT      ? ENCODE_ONEHOT
                                        : f.encode == CATEGORY_EMBEDDING ? ENCODE_EMBEDDING
                                                                         : c->encode]);
    if (f.encode == CATEGORY_EMBEDDING)
        json_put_int(out, "dim", f.dim);
    json_put_int(out, "min_count", c->min_count);
}

static void write_runs(const char *key, const uint32_t runs[2], struct json_out *out)
{
    if (!runs[0]) {
        json_put_null(out, key);
        return;
    }
    json_open(out, key, '[');
    json_put_int(out, NULL, runs[0]);
    json_put_int(out, NULL, runs[1]);
    json_close(out, ']');
}

static void write_text(const struct column *c, struct json_out *out)
{
    json_put_string(out, "encode", text_encode_names[column_is_tokens(c)]);
    if (column_is_tokens(c)) {
        json_put_int(out, "vocabulary", vocab_count(c->vocab));
        json_put_int(out, "length", c->slots);
        json_put_int(out, "dim", token_dim(c));
        json_put_int(out, "min_count", c->min_count);
        return;
    }
    json_put_int(out, "buckets", c->text.buckets);
    write_runs("ngram", c->text.words, out);
    write_runs("char_ngram", c->text.chars, out);
    json_put_string(out, "weight", text_weight_names[c->text.weight]);
    json_put_int(out, "terms", c->slots);
}

static void write_column(const struct schema *s, const struct column *c, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "name", c->name);
    json_put_string(out, "type", column_role_names[c->type]);
    if (c->none.count)
        json_put_strings(out, "missing_texts", c->none.items, c->none.count);
    if (s->fitted && (c->number != UINT32_MAX || c->category != UINT32_MAX)) {
        json_put_int(out, "missing", (int64_t)c->missing);
        if (c->number != UINT32_MAX)
            write_number(s, c, out);
        else if (c->type == COLUMN_TEXT)
            write_text(c, out);
        else
            write_category(c, out);
    }
    json_close(out, '}');
}

static void write_statistics(const struct schema *s, struct json_out *out)
{
    const struct statistics *t = s->statistics;
    json_open(out, "target_statistics", '[');
    for (uint32_t i = 0; i < t->table_count; i++) {
        const struct statistic_table *one = &t->tables[i];
        json_open(out, NULL, '{');
        json_open(out, "columns", '[');
        for (int k = 0; k < 2 && one->keys[k] != STATISTICS_ABSENT; k++)
            json_put_string(out, NULL, s->columns[t->keys[one->keys[k]].column].name);
        json_close(out, ']');
        json_put_int(out, "entries", one->count);
        json_put_int(out, "means", one->means);
        json_put_bool(out, "counts", one->counted);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void schema_write_json(const struct schema *s, struct json_out *out)
{
    char delimiter[2] = {s->dialect.delimiter, '\0'}, decimal[2] = {s->decimal, '\0'};
    json_put_string(out, "task", task_names[s->task]);
    json_put_string(out, "target", s->columns[s->target].name);
    json_put_string(out, "delimiter", delimiter);
    json_put_string(out, "decimal", decimal);
    json_put_string(out, "encoding", csv_encoding_names[s->dialect.encoding]);
    json_put_bool(out, "header", s->dialect.header);
    json_put_strings(out, "missing", s->missing.items, s->missing.count);
    if (s->labels) {
        json_open(out, "labels", '[');
        for (uint32_t i = 0; i < vocab_count(s->labels); i++)
            json_put_string(out, NULL, vocab_text(s->labels, i, NULL));
        json_close(out, ']');
    } else if (s->fitted) {
        if (s->coding.transform)
            json_put_string(out, "target_transform", target_transform_names[s->coding.transform]);
        json_put_number(out, "target_mean", s->coding.center);
        json_put_number(out, "target_deviation", s->coding.scale);
        if (s->quantile_count)
            json_open(out, "quantiles", '[');
        for (uint32_t k = 0; k < s->quantile_count; k++)
            json_put_number(out, NULL, s->quantiles[k]);
        if (s->quantile_count)
            json_close(out, ']');
    }
    json_open(out, "columns", '[');
    for (size_t i = 0; i < s->column_count; i++)
        write_column(s, &s->columns[i], out);
    json_close(out, ']');
    if (s->statistics)
        write_statistics(s, out);
}
