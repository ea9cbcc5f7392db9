/* encoder.c - creates and frees an encoder, the inputs of the network, and what inspect shows. */
#include "table/encoder/encoder.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "table/schema/tokens.h"

struct number_slot number_plain(double offset)
{
    return (struct number_slot){.offset = offset,
                                .factor = 1,
                                .least = -SCHEMA_SCALED_MOST,
                                .most = SCHEMA_SCALED_MOST};
}

struct encoder *encoder_new(struct schema *s)
{
    struct encoder *c = mem_zero(1, sizeof *c);
    c->schema = s;
    c->columns = mem_zero(s->column_count + 1, sizeof *c->columns);
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *column = &s->columns[i];
        c->columns[i].min_count = column->min_count ? column->min_count : 1;
        if (column->category != UINT32_MAX)
            c->columns[i].vocab = vocab_new();
    }
    c->number_count = s->number_count;
    c->numbers = mem_zero((size_t)s->number_count + 1, sizeof *c->numbers);
    for (uint32_t i = 0; i < s->number_count; i++)
        c->numbers[i] = number_plain(s->offsets[i]);
    c->coding = (struct target_coding){.transform = s->target_transform, .scale = 1};
    c->format = s->raw;
    return c;
}

void encoder_forget_rows(struct encoder *c)
{
    for (uint32_t i = 0; c->slot_of && i < c->schema->category_count; i++)
        mem_free(c->slot_of[i]);
    mem_free(c->slot_of);
    mem_free(c->class_of);
    mem_free(c->held);
    mem_free(c->held_rows);
    c->slot_of = NULL;
    c->class_of = NULL;
    c->held = NULL;
    c->held_rows = NULL;
    c->held_count = 0;
}

void encoder_free(struct encoder *c)
{
    if (!c)
        return;
    encoder_forget_rows(c);
    for (size_t i = 0; i < c->schema->column_count; i++) {
        vocab_free(c->columns[i].vocab);
        mem_free(c->columns[i].bucket_weights);
        distribution_free(&c->columns[i].spread);
    }
    for (uint32_t i = 0; i < c->number_count; i++) {
        mem_free(c->numbers[i].quantiles);
        mem_free(c->numbers[i].edges);
    }
    mem_free(c->columns);
    mem_free(c->numbers);
    mem_free(c->coding.knots);
    statistics_free(c->statistics);
    remarks_free(&c->remarks);
    schema_free(c->schema);
    mem_free(c);
}

static void set_format(struct encoder *c)
{
    c->format = rowfmt_make(c->number_count, c->schema->category_count + c->term_count);
}

void encoder_add_texts(struct encoder *c)
{
    const struct schema *s = c->schema;
    c->term_count = 0;
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_TEXT) {
            c->columns[i].term = s->category_count + c->term_count;
            c->term_count += c->columns[i].slots;
        }
    set_format(c);
}

void encoder_add_statistics(struct encoder *c, struct statistics *t)
{
    statistics_layout(t);
    statistics_index(t);
    c->statistics = t;
    t->first = c->number_count;
    c->numbers = mem_grow(c->numbers, (size_t)t->first + t->numbers + 1, sizeof *c->numbers);
    for (; c->number_count < t->first + t->numbers; c->number_count++) {
        c->numbers[c->number_count] = number_plain(0);
        c->numbers[c->number_count].scale = SCALE_STANDARD;
    }
    set_format(c);
}

size_t encoder_place_text(const struct encoder *c, size_t column, struct terms *t, const char *text,
                          size_t length, unsigned char *to)
{
    const struct column *of = &c->schema->columns[column];
    const struct column_fit *fit = &c->columns[column];
    size_t tokens = 0;
    if (column_is_tokens(of))
        tokens = tokens_make(t, of->text.rule, fit->vocab, text, length, fit->slots);
    else
        terms_make(t, &of->text, text, length, fit->slots);
    if (t->count)
        memcpy(to, t->items, t->count * sizeof *t->items);
    return tokens;
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

struct feature_category encoder_category(const struct encoder *e, size_t column)
{
    const struct column *c = &e->schema->columns[column];
    const uint32_t values = vocab_count(e->columns[column].vocab);
    struct feature_category f = {.count = 2 + values};
    if (c->encode == ENCODE_TARGET || c->encode == ENCODE_COUNT || c->type == COLUMN_TEXT) {
        f.encode = CATEGORY_NONE;
        f.dim = column_is_tokens(c) ? token_dim(c) : 0;
        return f;
    }
    uint32_t most = c->onehot_values ? (uint32_t)c->onehot_values : c->dim ? 0 : ONEHOT_MOST;
    bool onehot = c->encode == ENCODE_ONEHOT || (c->encode == ENCODE_AUTO && values <= most);
    f.encode = onehot ? CATEGORY_ONEHOT : CATEGORY_EMBEDDING;
    f.normal = c->init != 0;
    if (!onehot)
        f.dim = c->dim ? (uint32_t)c->dim : auto_dim(f.count);
    return f;
}

/* Adds numbers and edges of piecewise-linear encoding, and the periodic ones; NULL if all are
 * plain. */
static void add_bins(struct features *f, const struct encoder *s)
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
static void add_tokens(struct features *f, const struct encoder *e, size_t column)
{
    const struct column_fit *fit = &e->columns[column];
    f->texts = mem_zero(1, sizeof *f->texts);
    f->text_count = 1;
    f->texts[0] = (struct feature_text){.slot = fit->term,
                                        .slots = fit->slots,
                                        .tokens = 2 + vocab_count(fit->vocab),
                                        .dim = token_dim(&e->schema->columns[column])};
    f->steps = fit->slots;
}

static void add_texts(struct features *f, const struct encoder *e)
{
    const struct schema *s = e->schema;
    for (uint32_t i = s->category_count; i < f->format.categories; i++)
        f->categories[i].encode = CATEGORY_NONE;
    for (size_t i = 0; i < s->column_count; i++)
        if (column_is_tokens(&s->columns[i])) {
            add_tokens(f, e, i);
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
        const struct column_fit *fit = &e->columns[i];
        if (c->type != COLUMN_TEXT)
            continue;
        *to++ = (struct feature_text){.slot = fit->term,
                                      .slots = fit->slots,
                                      .first = first,
                                      .buckets = c->text.buckets,
                                      .weighted = c->text.weight == TEXT_TFIDF};
        if (fit->bucket_weights)
            memcpy(f->text_weights + first, fit->bucket_weights,
                   c->text.buckets * sizeof *f->text_weights);
        first += c->text.buckets;
    }
}

struct features *encoder_features(const struct encoder *e)
{
    const struct schema *s = e->schema;
    struct features *f = mem_zero(1, sizeof *f);
    f->format = e->format;
    f->indicators = mem_alloc(e->number_count ? e->number_count : 1, sizeof *f->indicators);
    for (uint32_t i = 0; i < e->number_count; i++)
        if (e->numbers[i].indicator || s->steps)
            f->indicators[f->indicator_count++] = i;
    f->categories = mem_zero((size_t)e->format.categories + 1, sizeof *f->categories);
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].category != UINT32_MAX)
            f->categories[s->columns[i].category] = encoder_category(e, i);
    f->quantiles = s->quantile_count;
    f->outputs = s->labels ? vocab_count(s->labels) : schema_values(s);
    f->steps = s->steps;
    f->window = s->windows.window;
    f->each = s->windows.label == LABEL_ROW;
    f->carry = s->windows.carry;
    add_bins(f, e);
    add_texts(f, e);
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

static void write_number(const struct encoder *e, const struct column *c, struct json_out *out)
{
    const struct number_slot *n = &e->numbers[c->number];
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

static void write_category(const struct encoder *e, size_t column, struct json_out *out)
{
    const struct column *c = &e->schema->columns[column];
    struct feature_category f = encoder_category(e, column);
    json_put_int(out, "values", vocab_count(e->columns[column].vocab));
    json_put_string(out, "unknown", column_unknown_names[c->unknown]);
    json_put_string(out, "encode",
                    column_encode_names[f.encode == CATEGORY_ONEHOT      ? ENCODE_ONEHOT
                                        : f.encode == CATEGORY_EMBEDDING ? ENCODE_EMBEDDING
                                                                         : c->encode]);
    if (f.encode == CATEGORY_EMBEDDING)
        json_put_int(out, "dim", f.dim);
    json_put_int(out, "min_count", e->columns[column].min_count);
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

static void write_text(const struct encoder *e, size_t column, struct json_out *out)
{
    const struct column *c = &e->schema->columns[column];
    const struct column_fit *fit = &e->columns[column];
    json_put_string(out, "encode", text_encode_names[column_is_tokens(c)]);
    if (column_is_tokens(c)) {
        json_put_int(out, "vocabulary", vocab_count(fit->vocab));
        json_put_int(out, "length", fit->slots);
        json_put_int(out, "dim", token_dim(c));
        json_put_int(out, "min_count", fit->min_count);
        return;
    }
    json_put_int(out, "buckets", c->text.buckets);
    write_runs("ngram", c->text.words, out);
    write_runs("char_ngram", c->text.chars, out);
    json_put_string(out, "weight", text_weight_names[c->text.weight]);
    json_put_int(out, "terms", fit->slots);
}

static void write_column(const struct encoder *e, size_t column, struct json_out *out)
{
    const struct column *c = &e->schema->columns[column];
    json_open(out, NULL, '{');
    json_put_string(out, "name", c->name);
    json_put_string(out, "type", column_role_names[c->type]);
    if (c->none.count)
        json_put_strings(out, "missing_texts", c->none.items, c->none.count);
    if (column_type_is_input(c->type))
        json_put_int(out, "missing", (int64_t)e->columns[column].missing);
    if (c->number != UINT32_MAX)
        write_number(e, c, out);
    else if (c->type == COLUMN_TEXT)
        write_text(e, column, out);
    else if (c->category != UINT32_MAX)
        write_category(e, column, out);
    json_close(out, '}');
}

static void write_statistics(const struct encoder *e, struct json_out *out)
{
    const struct statistics *t = e->statistics;
    json_open(out, "target_statistics", '[');
    for (uint32_t i = 0; i < t->table_count; i++) {
        const struct statistic_table *one = &t->tables[i];
        json_open(out, NULL, '{');
        json_open(out, "columns", '[');
        for (int k = 0; k < 2 && one->keys[k] != STATISTICS_ABSENT; k++)
            json_put_string(out, NULL, e->schema->columns[t->keys[one->keys[k]].column].name);
        json_close(out, ']');
        json_put_int(out, "entries", one->count);
        json_put_int(out, "means", one->means);
        json_put_bool(out, "counts", one->counted);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void encoder_write_json(const struct encoder *e, struct json_out *out)
{
    const struct schema *s = e->schema;
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
    } else {
        if (e->coding.transform)
            json_put_string(out, "target_transform", target_transform_names[e->coding.transform]);
        json_put_number(out, "target_mean", e->coding.center);
        json_put_number(out, "target_deviation", e->coding.scale);
        if (s->quantile_count)
            json_open(out, "quantiles", '[');
        for (uint32_t k = 0; k < s->quantile_count; k++)
            json_put_number(out, NULL, s->quantiles[k]);
        if (s->quantile_count)
            json_close(out, ']');
    }
    json_open(out, "columns", '[');
    for (size_t i = 0; i < s->column_count; i++)
        write_column(e, i, out);
    json_close(out, ']');
    if (e->statistics)
        write_statistics(e, out);
}
