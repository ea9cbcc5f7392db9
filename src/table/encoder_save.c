/* encoder_save.c - writes schema and encoder as tensors. Lists that grow are tensors; the JSON
 * header of the file stays short. */
#include <string.h>

#include "base/mem.h"
#include "table/encoder_saved.h"
#include "table/sequence.h"
#include "table/statistics_saved.h"

struct texts {
    struct text bytes;
    int64_t *offsets;
    size_t count;
};

struct encoder_saved {
    struct tensor_writer *writer;
    uint32_t number; /* of the encoder */
    struct json_out head;
    struct texts names, missing, labels, values;
    uint8_t *types, *impute, *unknown, *encode;         /* [columns] */
    int64_t *dim, *min_count, *missing_cells, *first;   /* [columns], first [columns + 1] */
    uint8_t *scale, *indicator;                         /* [numbers] */
    double *statistics[SAVED_NUMBERS], target[2];
    int64_t *knots;                                     /* [numbers + 1] */
    float *quantiles;
    uint8_t *transform, *periodic, *plain;              /* [numbers] */
    int64_t *first_edge;                                /* [numbers + 1] */
    float *edges, *bucket_weights;
    int64_t *text_options;                              /* [texts][SAVED_TEXT] */
    int64_t *first_place;                               /* [columns + 1] */
    int32_t *places;
    float *place_edges;
    struct statistics_saved *statistics_tables;
};

/* --- texts --- */

static void texts_add(struct texts *t, const char *bytes, size_t length)
{
    if (!(t->count & (t->count + 1))) /* at 0, 1, 3, 7, ..: double the size */
        t->offsets = mem_grow(t->offsets, 2 * t->count + 2, sizeof *t->offsets);
    t->offsets[0] = 0;
    text_add(&t->bytes, bytes, length);
    t->offsets[++t->count] = (int64_t)t->bytes.length;
}

static void texts_of_vocab(struct texts *t, const struct vocab *v)
{
    t->offsets = mem_grow(t->offsets, t->count + vocab_count(v) + 1, sizeof *t->offsets);
    t->offsets[0] = 0;
    for (uint32_t i = 0; i < vocab_count(v); i++) {
        size_t length;
        const char *bytes = vocab_text(v, i, &length);
        text_add(&t->bytes, bytes, length);
        t->offsets[++t->count] = (int64_t)t->bytes.length;
    }
}

/* name: as for encoder 0. For another encoder, tensors of the schema are written already. */
static void add(const struct encoder_saved *k, const char *name, enum dtype type, uint64_t count,
                const void *data)
{
    const char *tail = encoder_tail(name);
    struct text own = {0};
    if (k->number && !tail)
        return;
    if (k->number)
        text_printf(&own, "encoders.%u.%s", k->number, tail);
    tensor_add(k->writer, k->number ? own.data : name, type, 1, &count, count ? data : "");
    text_free(&own);
}

static void texts_save(const struct encoder_saved *k, struct texts *t, const char *in_offsets,
                       const char *in_bytes)
{
    if (!t->offsets)
        t->offsets = mem_zero(1, sizeof *t->offsets);
    add(k, in_offsets, DTYPE_I64, t->count + 1, t->offsets);
    add(k, in_bytes, DTYPE_U8, t->bytes.length, t->bytes.data);
}

/* --- the head --- */

static void write_words(struct json_out *out, const char *key, const char *const *words)
{
    json_open(out, key, '[');
    for (; *words; words++)
        json_put_string(out, NULL, *words);
    json_close(out, ']');
}

/* Writes the rule that cuts texts into words; older readers know bytes only. */
static void write_rule(const struct schema *s, struct json_out *out)
{
    int rule = WORDS_BYTES;
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type == COLUMN_TEXT)
            rule = s->columns[i].text.rule;
    if (rule != WORDS_BYTES)
        json_put_string(out, "words", word_rule_names[rule]);
}

/* The columns whose cells are not plain. */
static void write_forms(const struct schema *s, struct json_out *out)
{
    bool any = false;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct form *f = s->columns[i].form;
        if (!f)
            continue;
        if (!any)
            json_open(out, "forms", '[');
        any = true;
        json_open(out, NULL, '{');
        json_put_int(out, "column", (int64_t)i);
        json_put_string(out, "thousands", f->thousands);
        json_put_strings(out, "unit", f->units, f->unit_count);
        json_put_string(out, "format", f->format);
        json_close(out, '}');
    }
    if (any)
        json_close(out, ']');
}

/* The columns with texts of their own that mean missing. */
static void write_missing(const struct schema *s, struct json_out *out)
{
    bool any = false;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct opt_strings *none = &s->columns[i].none;
        if (!none->count)
            continue;
        if (!any)
            json_open(out, "missing", '[');
        any = true;
        json_open(out, NULL, '{');
        json_put_int(out, "column", (int64_t)i);
        json_put_strings(out, "texts", none->items, none->count);
        json_close(out, '}');
    }
    if (any)
        json_close(out, ']');
}

static void save_windows(const struct windows *w, struct json_out *out)
{
    json_open(out, "windows", '{');
    json_put_int(out, "window", w->window);
    json_put_int(out, "stride", w->stride);
    json_put_int(out, "group", w->group);
    if (w->order != UINT32_MAX)
        json_put_int(out, "order", w->order);
    json_put_string(out, "label", window_label_names[w->label]);
    if (w->sort)
        json_put_bool(out, "sort", true);
    if (w->carry)
        json_put_bool(out, "carry_state", true);
    if (w->step > 0)
        json_put_number(out, "step", w->step);
    json_close(out, '}');
}

static void save_head(const struct schema *s, struct encoder_saved *k)
{
    const char delimiter[2] = {s->dialect.delimiter, '\0'}, decimal[2] = {s->decimal, '\0'};
    struct json_out *out = &k->head;
    json_open(out, NULL, '{');
    json_put_string(out, "task", task_names[s->task]);
    json_put_string(out, "delimiter", delimiter);
    json_put_string(out, "decimal", decimal);
    json_put_string(out, "encoding", csv_encoding_names[s->dialect.encoding]);
    json_put_bool(out, "header", s->dialect.header);
    json_put_bool(out, "tsv", s->dialect.tsv);
    if (s->dialect.quote != QUOTE_STRICT)
        json_put_string(out, "quote", csv_quote_names[s->dialect.quote]);
    json_put_int(out, "target", s->target);
    json_put_int(out, "cells", s->file_columns);
    if (s->steps) {
        json_put_int(out, "steps", s->steps);
        json_put_strings(out, "channels", s->channels.items, s->channels.count);
    }
    if (s->windows.window)
        save_windows(&s->windows, out);
    write_words(out, "types", column_role_names);
    write_words(out, "scales", column_scale_names);
    write_words(out, "imputes", column_impute_names);
    write_words(out, "unknowns", column_unknown_names);
    write_words(out, "encodes", column_encode_names);
    write_words(out, "transforms", column_transform_names);
    write_rule(s, out);
    write_forms(s, out);
    write_missing(s, out);
    json_close(out, '}');
    add(k, IN_HEAD, DTYPE_U8, out->text.length, out->text.data);
}

/* --- columns --- */

static void save_column(const struct encoder *e, size_t i, struct encoder_saved *k)
{
    const struct column *c = &e->schema->columns[i];
    const struct column_fit *fit = &e->columns[i];
    texts_add(&k->names, c->name, strlen(c->name));
    k->types[i] = (uint8_t)c->type;
    k->impute[i] = (uint8_t)c->impute;
    k->unknown[i] = (uint8_t)c->unknown;
    k->min_count[i] = fit->min_count;
    k->missing_cells[i] = (int64_t)fit->missing;
    if (c->category != UINT32_MAX) {
        struct feature_category f = encoder_category(e, i);
        k->encode[i] = (uint8_t)(f.encode == CATEGORY_ONEHOT      ? ENCODE_ONEHOT
                                 : f.encode == CATEGORY_EMBEDDING ? ENCODE_EMBEDDING
                                                                  : c->encode);
        k->dim[i] = f.dim;
        texts_of_vocab(&k->values, fit->vocab);
    }
    k->first[i + 1] = (int64_t)k->values.count;
}

static void save_columns(const struct encoder *e, struct encoder_saved *k)
{
    size_t count = e->schema->column_count;
    uint8_t **codes[] = {&k->types, &k->impute, &k->unknown, &k->encode};
    int64_t **counts[] = {&k->dim, &k->min_count, &k->missing_cells, &k->first};
    for (size_t i = 0; i < 4; i++) {
        *codes[i] = mem_zero(count + 1, sizeof **codes[i]);
        *counts[i] = mem_zero(count + 1, sizeof **counts[i]);
    }
    for (size_t i = 0; i < count; i++)
        save_column(e, i, k);
    add(k, IN_TYPES, DTYPE_U8, count, k->types);
    add(k, IN_ENCODER "impute", DTYPE_U8, count, k->impute);
    add(k, IN_ENCODER "unknown", DTYPE_U8, count, k->unknown);
    add(k, IN_ENCODER "encode", DTYPE_U8, count, k->encode);
    add(k, IN_ENCODER "dim", DTYPE_I64, count, k->dim);
    add(k, IN_ENCODER "min_count", DTYPE_I64, count, k->min_count);
    add(k, IN_ENCODER "missing", DTYPE_I64, count, k->missing_cells);
    add(k, IN_FIRST, DTYPE_I64, count + 1, k->first);
}

static void save_texts(const struct encoder *e, struct encoder_saved *k)
{
    const struct schema *s = e->schema;
    uint64_t texts = 0, buckets = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        texts += c->type == COLUMN_TEXT;
        buckets += e->columns[i].bucket_weights ? c->text.buckets : 0;
    }
    if (!texts)
        return;
    k->text_options = mem_alloc(texts * SAVED_TEXT, sizeof *k->text_options);
    k->bucket_weights = mem_alloc(buckets + 1, sizeof *k->bucket_weights);
    int64_t *to = k->text_options;
    float *weights = k->bucket_weights;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        const struct column_fit *fit = &e->columns[i];
        if (c->type != COLUMN_TEXT)
            continue;
        const int64_t v[SAVED_TEXT] = {c->text.buckets,  c->text.words[0], c->text.words[1],
                                       c->text.chars[0], c->text.chars[1], c->text.weight,
                                       fit->slots};
        memcpy(to, v, sizeof v);
        to += SAVED_TEXT;
        if (fit->bucket_weights) {
            memcpy(weights, fit->bucket_weights, c->text.buckets * sizeof *weights);
            weights += c->text.buckets;
        }
    }
    add(k, IN_TEXTS, DTYPE_I64, texts * SAVED_TEXT, k->text_options);
    add(k, IN_BUCKETS, DTYPE_F32, buckets, k->bucket_weights);
}

/* Only for the first encoder: it counts drift. */
static void save_spread(const struct encoder *e, struct encoder_saved *k)
{
    const size_t columns = e->schema->column_count;
    uint64_t places = 0, edges = 0;
    k->first_place = mem_zero(columns + 1, sizeof *k->first_place);
    for (size_t i = 0; i < columns; i++) {
        places += e->columns[i].spread.places;
        edges += e->columns[i].spread.edges;
        k->first_place[i + 1] = (int64_t)places;
    }
    if (k->number || !places)
        return;
    k->places = mem_alloc(places, sizeof *k->places);
    k->place_edges = mem_alloc(edges + 1, sizeof *k->place_edges);
    float *to = k->place_edges;
    for (size_t i = 0; i < columns; i++) {
        const struct distribution *d = &e->columns[i].spread;
        if (!d->places)
            continue;
        memcpy(k->places + k->first_place[i], d->rows, d->places * sizeof *d->rows);
        memcpy(to, d->edge, d->edges * sizeof *to);
        to += d->edges;
    }
    add(k, IN_SPREAD, DTYPE_I32, places, k->places);
    add(k, OFFSETS_OF(IN_SPREAD), DTYPE_I64, columns + 1, k->first_place);
    add(k, IN_SPREAD_EDGES, DTYPE_F32, edges, k->place_edges);
}

/* --- numbers --- */

static void save_number(const struct number_slot *n, uint32_t i, struct encoder_saved *k)
{
    double v[SAVED_NUMBERS] = {[SAVED_offset] = n->offset,      [SAVED_center] = n->center,
                               [SAVED_factor] = n->factor,      [SAVED_least] = n->least,
                               [SAVED_most] = n->most,          [SAVED_fill] = (double)n->impute,
                               [SAVED_low] = (double)n->low,    [SAVED_high] = (double)n->high};
    for (int s = 0; s < SAVED_NUMBERS; s++)
        k->statistics[s][i] = v[s];
    k->scale[i] = (uint8_t)n->scale;
    k->indicator[i] = n->indicator;
    k->knots[i + 1] = k->knots[i] + n->quantile_count;
    if (n->quantile_count)
        memcpy(k->quantiles + k->knots[i], n->quantiles, n->quantile_count * sizeof(float));
}

/* Saves piecewise-linear numbers, if there are any. */
static void save_bins(const struct encoder *e, struct encoder_saved *k)
{
    uint32_t count = e->schema->number_count;
    k->first_edge = mem_zero((size_t)count + 1, sizeof *k->first_edge);
    for (uint32_t i = 0; i < count; i++)
        k->first_edge[i + 1] = k->first_edge[i] + e->numbers[i].edge_count;
    uint64_t edges = (uint64_t)k->first_edge[count];
    if (!edges)
        return;
    k->edges = mem_alloc(edges, sizeof *k->edges);
    k->plain = mem_zero(count, sizeof *k->plain);
    for (uint32_t i = 0; i < count; i++) {
        const struct number_slot *n = &e->numbers[i];
        k->plain[i] = !n->alone;
        if (n->edge_count)
            memcpy(k->edges + k->first_edge[i], n->edges, n->edge_count * sizeof *n->edges);
    }
    add(k, IN_PLAIN, DTYPE_U8, count, k->plain);
    add(k, IN_EDGES, DTYPE_I64, (uint64_t)count + 1, k->first_edge);
    add(k, IN_BINS, DTYPE_F32, edges, k->edges);
}

static void save_transforms(const struct encoder *e, struct encoder_saved *k)
{
    uint32_t count = e->schema->number_count, found = 0;
    k->transform = mem_zero((size_t)count + 1, sizeof *k->transform);
    for (uint32_t i = 0; i < count; i++) {
        k->transform[i] = (uint8_t)e->numbers[i].transform;
        found += e->numbers[i].transform != TRANSFORM_NONE;
    }
    if (found)
        add(k, IN_TRANSFORM, DTYPE_U8, count, k->transform);
}

static void save_periodic(const struct encoder *e, struct encoder_saved *k)
{
    uint32_t count = e->schema->number_count, found = 0;
    k->periodic = mem_zero((size_t)count + 1, sizeof *k->periodic);
    for (uint32_t i = 0; i < count; i++)
        found += k->periodic[i] = e->numbers[i].periodic;
    if (found)
        add(k, IN_PERIODIC, DTYPE_U8, count, k->periodic);
}

static void save_numbers(const struct encoder *e, struct encoder_saved *k)
{
    uint32_t count = e->schema->number_count;
    uint64_t knots = 0;
    for (uint32_t i = 0; i < count; i++)
        knots += e->numbers[i].quantile_count;
    for (int i = 0; i < SAVED_NUMBERS; i++)
        k->statistics[i] = mem_zero((size_t)count + 1, sizeof *k->statistics[i]);
    k->scale = mem_zero((size_t)count + 1, sizeof *k->scale);
    k->indicator = mem_zero((size_t)count + 1, sizeof *k->indicator);
    k->knots = mem_zero((size_t)count + 1, sizeof *k->knots);
    k->quantiles = mem_zero((size_t)knots + 1, sizeof *k->quantiles);
    for (uint32_t i = 0; i < count; i++)
        save_number(&e->numbers[i], i, k);
    for (int i = 0; i < SAVED_NUMBERS; i++)
        add(k, saved_number_names[i], DTYPE_F64, count, k->statistics[i]);
    add(k, IN_ENCODER "scale", DTYPE_U8, count, k->scale);
    add(k, IN_ENCODER "indicator", DTYPE_U8, count, k->indicator);
    add(k, IN_KNOTS, DTYPE_I64, (uint64_t)count + 1, k->knots);
    add(k, IN_QUANTILES, DTYPE_F32, knots, k->quantiles);
    save_bins(e, k);
    save_transforms(e, k);
    save_periodic(e, k);
    k->target[0] = e->coding.center;
    k->target[1] = e->coding.scale;
    add(k, saved_target_names[e->coding.transform], DTYPE_F64, 2, k->target);
    if (e->coding.knot_count)
        add(k, IN_TARGET_KNOTS, DTYPE_F64, e->coding.knot_count, e->coding.knots);
    if (e->schema->quantile_count)
        add(k, IN_TARGET_QUANTILES, DTYPE_F64, e->schema->quantile_count, e->schema->quantiles);
}

struct encoder_saved *encoder_save(const struct encoder *e, uint32_t number,
                                   struct tensor_writer *w)
{
    const struct schema *s = e->schema;
    struct encoder_saved *k = mem_zero(1, sizeof *k);
    k->writer = w;
    k->number = number;
    save_head(s, k);
    save_columns(e, k);
    save_texts(e, k);
    save_spread(e, k);
    save_numbers(e, k);
    k->statistics_tables = statistics_save(e, number, w);
    for (size_t i = 0; i < s->missing.count; i++)
        texts_add(&k->missing, s->missing.items[i], strlen(s->missing.items[i]));
    if (s->labels)
        texts_of_vocab(&k->labels, s->labels);
    texts_save(k, &k->names, OFFSETS_OF(IN_NAMES), IN_NAMES);
    texts_save(k, &k->missing, OFFSETS_OF(IN_MISSING), IN_MISSING);
    texts_save(k, &k->labels, OFFSETS_OF(IN_LABELS), IN_LABELS);
    texts_save(k, &k->values, OFFSETS_OF(IN_VALUES), IN_VALUES);
    return k;
}

bool encoder_holds(const struct encoder *c, struct err *e)
{
    static const char name[] = "model";
    struct tensor_writer *w = tensor_writer_new();
    struct encoder_saved *k = encoder_save(c, 0, w);
    struct text bytes = {0};
    struct err inner = {0};
    tensor_meta(w, "kind", name);
    bool written = tensor_write_bytes(w, name, &bytes, &inner);
    encoder_saved_free(k);
    tensor_writer_free(w);
    struct tensor_file *f =
        written ? tensor_open_bytes(bytes.data, bytes.length, name, &inner) : NULL;
    text_free(&bytes);
    struct encoder *read = f ? encoder_load(f, 0, &inner) : NULL;
    tensor_close(f);
    encoder_free(read);
    if (read)
        return true;
    err_set(e, ERR_CSV_LIMIT, "what was learnt from the data does not fit a model file: %.700s",
            inner.what);
    return err_help(e, "give fewer or smaller values");
}

void encoder_saved_free(struct encoder_saved *k)
{
    if (!k)
        return;
    struct texts *const texts[] = {&k->names, &k->missing, &k->labels, &k->values};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        text_free(&texts[i]->bytes);
        mem_free(texts[i]->offsets);
    }
    void *const blocks[] = {k->types, k->impute,        k->unknown, k->encode, k->dim, k->min_count,
                            k->first, k->missing_cells, k->scale,   k->indicator, k->knots,
                            k->quantiles, k->transform, k->periodic, k->plain, k->first_edge,
                            k->edges, k->text_options, k->bucket_weights, k->first_place, k->places,
                            k->place_edges};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mem_free(blocks[i]);
    for (int i = 0; i < SAVED_NUMBERS; i++)
        mem_free(k->statistics[i]);
    statistics_saved_free(k->statistics_tables);
    text_free(&k->head.text);
    mem_free(k);
}
