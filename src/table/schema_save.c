/* schema_save.c - a fitted schema as tensors. Everything that grows is a tensor, nothing stands
 * in the JSON header. */
#include "table/schema.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "table/schema_saved.h"

struct texts {
    struct text bytes;
    int64_t *offsets;
    size_t count;
};

struct schema_saved {
    int64_t settings[SAVED_SETTINGS];
    int64_t *columns;
    double *numbers, target[2];
    float *quantiles;
    struct texts names, missing, labels, categories;
};

static void texts_add(struct texts *t, const char *bytes, size_t length)
{
    if (!(t->count & (t->count + 1))) /* 0, 1, 3, 7, ..: room for twice as many */
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

static void texts_save(struct texts *t, const char *in_offsets, const char *in_bytes,
                       struct tensor_writer *w)
{
    if (!t->offsets)
        t->offsets = mem_zero(1, sizeof *t->offsets);
    text_char(&t->bytes, '\0');
    const uint64_t offsets = t->count + 1, bytes = t->bytes.length;
    tensor_add(w, in_offsets, DTYPE_I64, 1, &offsets, t->offsets);
    tensor_add(w, in_bytes, DTYPE_U8, 1, &bytes, t->bytes.data);
}

static void save_settings(const struct schema *s, struct schema_saved *k, struct tensor_writer *w)
{
    k->settings[SAVED_LAYOUT] = SAVED_LAYOUT_NOW;
    k->settings[SAVED_TASK] = s->task;
    k->settings[SAVED_DELIMITER] = s->dialect.delimiter;
    k->settings[SAVED_HEADER] = s->dialect.header;
    k->settings[SAVED_TSV] = s->dialect.tsv;
    k->settings[SAVED_ENCODING] = s->dialect.encoding;
    k->settings[SAVED_DECIMAL] = s->decimal;
    k->settings[SAVED_TARGET] = s->target;
    k->settings[SAVED_FILE_COLUMNS] = s->file_columns;
    const uint64_t settings = SAVED_SETTINGS, two = 2;
    tensor_add(w, SAVED_IN_SETTINGS, DTYPE_I64, 1, &settings, k->settings);
    k->target[0] = s->target_center;
    k->target[1] = s->target_scale;
    tensor_add(w, SAVED_IN_TARGET, DTYPE_F64, 1, &two, k->target);
}

static void save_columns(const struct schema *s, struct schema_saved *k, struct tensor_writer *w)
{
    k->columns = mem_zero(s->column_count, SAVED_COLUMN * sizeof *k->columns);
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        int64_t *to = k->columns + i * SAVED_COLUMN;
        to[SAVED_TYPE] = c->type;
        to[SAVED_SCALE] = c->scale;
        to[SAVED_IMPUTE] = c->impute;
        to[SAVED_UNKNOWN] = c->unknown;
        to[SAVED_ENCODE] = c->encode;
        to[SAVED_MIN_COUNT] = c->min_count;
        to[SAVED_DIM] = c->dim;
        to[SAVED_MISSING] = (int64_t)c->missing;
        texts_add(&k->names, c->name, strlen(c->name));
        if (c->category == UINT32_MAX)
            continue;
        to[SAVED_VALUES] = vocab_count(c->vocab);
        texts_of_vocab(&k->categories, c->vocab);
    }
    const uint64_t dims[2] = {s->column_count, SAVED_COLUMN};
    tensor_add(w, SAVED_IN_COLUMNS, DTYPE_I64, 2, dims, k->columns);
}

static void save_numbers(const struct schema *s, struct schema_saved *k, struct tensor_writer *w)
{
    uint64_t knots = 0, at = 0;
    for (uint32_t i = 0; i < s->number_count; i++)
        knots += s->numbers[i].quantile_count;
    k->numbers = mem_zero(s->number_count ? s->number_count : 1, SAVED_NUMBER * sizeof *k->numbers);
    k->quantiles = mem_alloc(knots ? knots : 1, sizeof *k->quantiles);
    for (uint32_t i = 0; i < s->number_count; i++) {
        const struct number_slot *n = &s->numbers[i];
        double *to = k->numbers + (size_t)i * SAVED_NUMBER;
        to[SAVED_OFFSET] = n->offset;
        to[SAVED_NUMBER_SCALE] = n->scale;
        to[SAVED_CENTER] = n->center;
        to[SAVED_FACTOR] = n->factor;
        to[SAVED_FILL] = (double)n->impute;
        to[SAVED_INDICATOR] = n->indicator;
        to[SAVED_KNOTS] = n->quantile_count;
        to[SAVED_LOW] = (double)n->low;
        to[SAVED_HIGH] = (double)n->high;
        to[SAVED_LEAST] = n->least;
        to[SAVED_MOST] = n->most;
        for (uint32_t q = 0; q < n->quantile_count; q++)
            k->quantiles[at++] = n->quantiles[q];
    }
    const uint64_t dims[2] = {s->number_count, SAVED_NUMBER};
    if (s->number_count)
        tensor_add(w, SAVED_IN_NUMBERS, DTYPE_F64, 2, dims, k->numbers);
    if (knots)
        tensor_add(w, SAVED_IN_QUANTILES, DTYPE_F32, 1, &knots, k->quantiles);
}

struct schema_saved *schema_save(const struct schema *s, struct tensor_writer *w)
{
    assert(s->fitted);
    struct schema_saved *k = mem_zero(1, sizeof *k);
    save_settings(s, k, w);
    save_columns(s, k, w);
    save_numbers(s, k, w);
    for (size_t i = 0; i < s->missing.count; i++)
        texts_add(&k->missing, s->missing.items[i], strlen(s->missing.items[i]));
    if (s->labels)
        texts_of_vocab(&k->labels, s->labels);
    texts_save(&k->names, SAVED_IN_NAMES, w);
    texts_save(&k->missing, SAVED_IN_MISSING, w);
    texts_save(&k->labels, SAVED_IN_LABELS, w);
    texts_save(&k->categories, SAVED_IN_CATEGORIES, w);
    return k;
}

bool schema_holds(const struct schema *s, struct err *e)
{
    static const char name[] = "model";
    struct tensor_writer *w = tensor_writer_new();
    struct schema_saved *k = schema_save(s, w);
    struct text bytes = {0};
    struct err inner = {0};
    tensor_meta(w, "kind", name);
    bool written = tensor_write_bytes(w, name, &bytes, &inner);
    schema_saved_free(k);
    tensor_writer_free(w);
    struct tensor_file *f =
        written ? tensor_open_bytes(bytes.data, bytes.length, name, &inner) : NULL;
    text_free(&bytes);
    struct schema *read = f ? schema_load(f, &inner) : NULL;
    tensor_close(f);
    schema_free(read);
    if (read)
        return true;
    err_set(e, ERR_CSV_LIMIT, "what was learnt from the data does not fit a model file: %.700s",
            inner.what);
    return err_help(e, "give fewer or smaller values");
}

void schema_saved_free(struct schema_saved *k)
{
    if (!k)
        return;
    struct texts *const all[] = {&k->names, &k->missing, &k->labels, &k->categories};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        text_free(&all[i]->bytes);
        mem_free(all[i]->offsets);
    }
    mem_free(k->columns);
    mem_free(k->numbers);
    mem_free(k->quantiles);
    mem_free(k);
}
