/* encoder_save.c - writes schema and encoder as tensors. Lists that grow are tensors; the JSON
 * header of the file stays short. */
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "table/encoder/encoder_saved.h"
#include "table/schema/sequence.h"
#include "table/encoder/statistics_saved.h"

struct texts {
    struct text bytes;
    int64_t *offsets;
    size_t count;
};

struct encoder_saved {
    struct tensor_writer *writer;
    uint32_t number;     /* of the encoder */
    struct arena *arena; /* of the tensors' memory, but for texts */
    struct json_out head;
    struct texts names, missing, labels, values;
};

/* Zeroed memory of a tensor. */
static void *room(const struct encoder_saved *k, size_t count, size_t size)
{
    return arena_alloc(k->arena, count + 1, size);
}

static float *append(float *to, const float *from, uint32_t count)
{
    if (count)
        memcpy(to, from, count * sizeof *to);
    return to + count;
}

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

struct columns {
    uint8_t *types, *impute, *unknown, *encode;
    int64_t *dim, *min_count, *missing, *first;
};

static void save_column(const struct encoder *e, size_t i, struct columns *to,
                        struct encoder_saved *k)
{
    const struct column *c = &e->schema->columns[i];
    const struct column_fit *fit = &e->columns[i];
    texts_add(&k->names, c->name, strlen(c->name));
    to->types[i] = (uint8_t)c->type;
    to->impute[i] = (uint8_t)c->impute;
    to->unknown[i] = (uint8_t)c->unknown;
    to->min_count[i] = fit->min_count;
    to->missing[i] = (int64_t)fit->missing;
    if (c->category != UINT32_MAX) {
        struct feature_category f = encoder_category(e, i);
        to->encode[i] = (uint8_t)(f.encode == CATEGORY_ONEHOT      ? ENCODE_ONEHOT
                                  : f.encode == CATEGORY_EMBEDDING ? ENCODE_EMBEDDING
                                                                   : c->encode);
        to->dim[i] = f.dim;
        texts_of_vocab(&k->values, fit->vocab);
    }
    to->first[i + 1] = (int64_t)k->values.count;
}

static void save_columns(const struct encoder *e, struct encoder_saved *k)
{
    const size_t count = e->schema->column_count;
    struct columns to;
    uint8_t **codes[] = {&to.types, &to.impute, &to.unknown, &to.encode};
    int64_t **counts[] = {&to.dim, &to.min_count, &to.missing, &to.first};
    for (size_t i = 0; i < 4; i++) {
        *codes[i] = room(k, count, sizeof **codes[i]);
        *counts[i] = room(k, count, sizeof **counts[i]);
    }
    for (size_t i = 0; i < count; i++)
        save_column(e, i, &to, k);
    add(k, IN_TYPES, DTYPE_U8, count, to.types);
    add(k, IN_ENCODER "impute", DTYPE_U8, count, to.impute);
    add(k, IN_ENCODER "unknown", DTYPE_U8, count, to.unknown);
    add(k, IN_ENCODER "encode", DTYPE_U8, count, to.encode);
    add(k, IN_ENCODER "dim", DTYPE_I64, count, to.dim);
    add(k, IN_ENCODER "min_count", DTYPE_I64, count, to.min_count);
    add(k, IN_ENCODER "missing", DTYPE_I64, count, to.missing);
    add(k, IN_FIRST, DTYPE_I64, count + 1, to.first);
}

static void save_texts(const struct encoder *e, struct encoder_saved *k)
{
    const struct schema *s = e->schema;
    uint64_t texts = 0, buckets = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        texts += s->columns[i].type == COLUMN_TEXT;
        buckets += e->columns[i].bucket_weights ? s->columns[i].text.buckets : 0;
    }
    if (!texts)
        return;
    int64_t *options = room(k, texts * SAVED_TEXT, sizeof *options), *to = options;
    float *weights = room(k, buckets, sizeof *weights), *next = weights;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct text_options *o = &s->columns[i].text;
        const struct column_fit *fit = &e->columns[i];
        if (s->columns[i].type != COLUMN_TEXT)
            continue;
        const int64_t v[SAVED_TEXT] = {o->buckets,  o->words[0], o->words[1], o->chars[0],
                                       o->chars[1], o->weight,   fit->slots};
        memcpy(to, v, sizeof v);
        to += SAVED_TEXT;
        next = append(next, fit->bucket_weights, fit->bucket_weights ? o->buckets : 0);
    }
    add(k, IN_TEXTS, DTYPE_I64, texts * SAVED_TEXT, options);
    add(k, IN_BUCKETS, DTYPE_F32, buckets, weights);
}

/* Only for the first encoder: it counts drift. */
static void save_spread(const struct encoder *e, struct encoder_saved *k)
{
    const size_t columns = e->schema->column_count;
    int64_t *first = room(k, columns, sizeof *first);
    uint64_t edges = 0;
    for (size_t i = 0; i < columns; i++) {
        first[i + 1] = first[i] + e->columns[i].spread.places;
        edges += e->columns[i].spread.edges;
    }
    const uint64_t places = (uint64_t)first[columns];
    if (k->number || !places)
        return;
    int32_t *rows = room(k, places, sizeof *rows);
    float *edge = room(k, edges, sizeof *edge), *next = edge;
    for (size_t i = 0; i < columns; i++) {
        const struct distribution *d = &e->columns[i].spread;
        if (!d->places)
            continue;
        memcpy(rows + first[i], d->rows, d->places * sizeof *rows);
        next = append(next, d->edge, d->edges);
    }
    add(k, IN_SPREAD, DTYPE_I32, places, rows);
    add(k, OFFSETS_OF(IN_SPREAD), DTYPE_I64, columns + 1, first);
    add(k, IN_SPREAD_EDGES, DTYPE_F32, edges, edge);
}

/* --- numbers --- */

static void save_statistics(const struct number_slot *numbers, uint32_t count,
                            struct encoder_saved *k)
{
    double *to[SAVED_NUMBERS];
    for (int s = 0; s < SAVED_NUMBERS; s++)
        to[s] = room(k, count, sizeof **to);
    for (uint32_t i = 0; i < count; i++) {
        const struct number_slot *n = &numbers[i];
        const double v[SAVED_NUMBERS] = {
            [SAVED_offset] = n->offset,   [SAVED_center] = n->center,
            [SAVED_factor] = n->factor,   [SAVED_least] = n->least,
            [SAVED_most] = n->most,       [SAVED_fill] = (double)n->impute,
            [SAVED_low] = (double)n->low, [SAVED_high] = (double)n->high};
        for (int s = 0; s < SAVED_NUMBERS; s++)
            to[s][i] = v[s];
    }
    for (int s = 0; s < SAVED_NUMBERS; s++)
        add(k, saved_number_names[s], DTYPE_F64, count, to[s]);
}

static void save_numbers(const struct encoder *e, struct encoder_saved *k)
{
    const uint32_t count = e->schema->number_count;
    uint8_t *scale = room(k, count, 1), *indicator = room(k, count, 1), *plain = room(k, count, 1),
            *transform = room(k, count, 1), *periodic = room(k, count, 1);
    int64_t *knots = room(k, count, sizeof *knots), *edges = room(k, count, sizeof *edges);
    bool transforms = false, periodics = false;
    for (uint32_t i = 0; i < count; i++) {
        const struct number_slot *n = &e->numbers[i];
        scale[i] = (uint8_t)n->scale;
        indicator[i] = n->indicator;
        plain[i] = !n->alone;
        transforms |= (transform[i] = (uint8_t)n->transform) != TRANSFORM_NONE;
        periodics |= periodic[i] = n->periodic;
        knots[i + 1] = knots[i] + n->quantile_count;
        edges[i + 1] = edges[i] + n->edge_count;
    }
    const uint64_t quantile_count = (uint64_t)knots[count], edge_count = (uint64_t)edges[count];
    float *quantiles = room(k, quantile_count, sizeof *quantiles), *quantile = quantiles;
    float *bins = room(k, edge_count, sizeof *bins), *bin = bins;
    for (uint32_t i = 0; i < count; i++) {
        quantile = append(quantile, e->numbers[i].quantiles, e->numbers[i].quantile_count);
        bin = append(bin, e->numbers[i].edges, e->numbers[i].edge_count);
    }
    save_statistics(e->numbers, count, k);
    add(k, IN_ENCODER "scale", DTYPE_U8, count, scale);
    add(k, IN_ENCODER "indicator", DTYPE_U8, count, indicator);
    add(k, IN_KNOTS, DTYPE_I64, (uint64_t)count + 1, knots);
    add(k, IN_QUANTILES, DTYPE_F32, quantile_count, quantiles);
    if (edge_count) {
        add(k, IN_PLAIN, DTYPE_U8, count, plain);
        add(k, IN_EDGES, DTYPE_I64, (uint64_t)count + 1, edges);
        add(k, IN_BINS, DTYPE_F32, edge_count, bins);
    }
    if (transforms)
        add(k, IN_TRANSFORM, DTYPE_U8, count, transform);
    if (periodics)
        add(k, IN_PERIODIC, DTYPE_U8, count, periodic);
}

static void save_target(const struct encoder *e, struct encoder_saved *k)
{
    const struct target_coding *c = &e->coding;
    double *target = room(k, 2, sizeof *target);
    target[0] = c->center;
    target[1] = c->scale;
    add(k, saved_target_names[c->transform], DTYPE_F64, 2, target);
    if (c->knot_count)
        add(k, IN_TARGET_KNOTS, DTYPE_F64, c->knot_count, c->knots);
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
    k->arena = arena_new(16384);
    save_head(s, k);
    save_columns(e, k);
    save_texts(e, k);
    save_spread(e, k);
    save_numbers(e, k);
    save_target(e, k);
    statistics_save(e, number, w, k->arena);
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
    arena_free(k->arena);
    text_free(&k->head.text);
    mem_free(k);
}
