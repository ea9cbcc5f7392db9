/* encoder_check.c - checks of schema and encoder from a model file. The input is not trusted. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "table/encoder/encoder_saved.h"

const struct tensor *saved_need(const struct loading *l, const char *name, enum dtype type,
                                uint64_t count)
{
    struct text own = {0};
    const char *rest = encoder_tail(name);
    if (!rest || !l->number)
        return tensor_need(l->file, name, type, count, l->e);
    text_printf(&own, "encoders.%u.%s", l->number, rest);
    const struct tensor *t = tensor_need(l->file, own.data, type, count, l->e);
    text_free(&own);
    return t;
}

bool saved_has(const struct loading *l, const char *name)
{
    struct text own = {0};
    const char *rest = encoder_tail(name);
    text_printf(&own, "encoders.%u.%s", l->number, rest);
    bool found = tensor_find(l->file, own.data) != NULL;
    text_free(&own);
    return found;
}

bool saved_find(const struct loading *l, const char *name, enum dtype type, uint64_t count,
                void *to)
{
    const struct tensor *t = saved_need(l, name, type, count);
    if (t)
        memcpy(to, &t->data, sizeof t->data);
    return t != NULL;
}

bool saved_offsets(const struct loading *l, const char *name, uint64_t count, const int64_t **to)
{
    if (!saved_find(l, name, DTYPE_I64, count + 1, to))
        return false;
    if (**to != 0)
        return saved_damaged(l, name, "does not begin at 0");
    for (uint64_t i = 0; i < count; i++)
        if ((*to)[i + 1] < (*to)[i])
            return saved_damaged(l, name, "goes backwards");
    return true;
}

bool saved_ascends(const struct loading *l, const char *name, const float *v, uint64_t count,
                   bool distinct)
{
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite(v[i]) || (i && (v[i] < v[i - 1] || (distinct && v[i] <= v[i - 1]))))
            return saved_damaged(l, name, "is not finite and ascending");
    return true;
}

bool saved_damaged(const struct loading *l, const char *tensor, const char *what)
{
    return err_at(l->e, ERR_MODEL_SCHEMA, tensor_file_path(l->file), 0, 0, "tensor %s: %s", tensor,
                  what);
}

bool saved_within(int64_t value, int64_t low, int64_t high)
{
    return value >= low && value <= high;
}

/* --- texts --- */

bool saved_texts(const struct loading *l, const char *in_offsets, const char *in_bytes,
                 uint64_t most, struct saved_texts *t)
{
    const struct tensor *offsets = saved_need(l, in_offsets, DTYPE_I64, UINT64_MAX);
    if (!offsets)
        return false;
    t->count = offsets->count - 1;
    if (offsets->count < 1 || t->count > most)
        return saved_damaged(l, in_offsets, "has a wrong count");
    if (!saved_offsets(l, in_offsets, t->count, &t->offsets))
        return false;
    const struct tensor *bytes = saved_need(l, in_bytes, DTYPE_U8, UINT64_MAX);
    if (!bytes)
        return false;
    uint64_t length = (uint64_t)t->offsets[t->count];
    t->bytes = bytes->data;
    if (bytes->count != length)
        return saved_damaged(l, in_bytes, "is not as long as its offsets say");
    if (length && memchr(t->bytes, '\0', length))
        return saved_damaged(l, in_bytes, "has a NUL byte inside");
    return true;
}

/* Checks text i: at most `most` bytes of UTF-8. */
static bool text_at(const struct loading *l, const struct saved_texts *t, uint64_t i, size_t most,
                    const char **text, size_t *length)
{
    *text = t->bytes + t->offsets[i];
    *length = (size_t)(t->offsets[i + 1] - t->offsets[i]);
    if (*length > most)
        return saved_damaged(l, "schema", "a text is too long");
    if (utf8_valid_prefix(*text, *length) != *length)
        return saved_damaged(l, "schema", "a text is not UTF-8");
    return true;
}

bool saved_values(const struct loading *l, const struct saved_texts *t, uint64_t first,
                  uint64_t count, struct vocab *into)
{
    bool good = true;
    for (uint64_t i = 0; good && i < count; i++) {
        const char *text;
        size_t length;
        good = text_at(l, t, first + i, CSV_MOST_FIELD, &text, &length);
        if (good && vocab_add(into, text, length) != i)
            good = saved_damaged(l, "schema", "a value stands twice in one vocabulary");
    }
    return good;
}

/* --- columns --- */

bool saved_names(const struct loading *l, const struct saved_texts *names)
{
    struct schema *s = l->schema;
    if (names->count != s->column_count)
        return saved_damaged(l, "schema names", "there is not one name a column");
    struct vocab *known = vocab_new();
    bool good = true;
    for (uint64_t i = 0; i < names->count && good; i++) {
        const char *text;
        size_t length;
        good = text_at(l, names, i, CSV_MOST_NAME, &text, &length);
        if (good && (!length || vocab_add(known, text, length) != i))
            good = saved_damaged(l, "schema names", "a name is empty or stands twice");
        if (good)
            s->columns[i].name = mem_string_n(text, length);
    }
    vocab_free(known);
    return good;
}

bool saved_roles(const struct loading *l)
{
    const struct schema *s = l->schema;
    size_t targets = 0, weights = 0, features = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        int type = s->columns[i].type;
        targets += type == COLUMN_TARGET;
        weights += type == COLUMN_WEIGHT;
        features += column_type_is_input(type);
    }
    if (targets == 1 && weights <= 1 && features && s->target < s->column_count &&
        s->columns[s->target].type == COLUMN_TARGET)
        return true;
    return saved_damaged(l, "schema columns",
                         "there is not one target, features, and at most one weight");
}

bool saved_missing(const struct loading *l, const struct saved_texts *missing)
{
    struct schema *s = l->schema;
    s->missing.items = mem_zero(missing->count + 1, sizeof *s->missing.items);
    for (uint64_t i = 0; i < missing->count; i++) {
        const char *text;
        size_t length;
        if (!text_at(l, missing, i, CSV_MOST_FIELD, &text, &length))
            return false;
        s->missing.items[s->missing.count++] = mem_string_n(text, length);
    }
    return true;
}

bool saved_labels(const struct loading *l, const struct saved_texts *labels)
{
    struct schema *s = l->schema;
    uint64_t least = s->task == TASK_REGRESSION ? 0 : 2;
    uint64_t most = s->task == TASK_MULTICLASS || s->task == TASK_TAGGING ? VOCAB_MOST : least;
    if (labels->count < least || labels->count > most)
        return saved_damaged(l, "schema labels", "their count does not fit the task");
    if (!least)
        return true;
    s->labels = vocab_new();
    if (!saved_values(l, labels, 0, labels->count, s->labels))
        return false;
    if (s->task == TASK_BINARY)
        s->positive = mem_string(vocab_text(s->labels, 1, NULL));
    return true;
}

/* --- numbers --- */

/* True for a finite double that is a float32. */
static bool is_float(double v)
{
    return fabs(v) <= (double)FLT_MAX && (double)(float)v == v;
}

bool saved_number(struct number_slot *n, int scale, bool indicator, const double *v, uint64_t knots)
{
    if (!saved_within(scale, SCALE_NONE, SCALE_KINDS - 1) || !isfinite(v[SAVED_offset]) ||
        !isfinite(v[SAVED_center]) || !isfinite(v[SAVED_factor]) || v[SAVED_factor] < 0 ||
        !is_float(v[SAVED_fill]) || !is_float(v[SAVED_low]) || !is_float(v[SAVED_high]) ||
        v[SAVED_low] > v[SAVED_high] || !(v[SAVED_least] >= -SCHEMA_SCALED_MOST) ||
        !(v[SAVED_least] <= v[SAVED_most]) || !(v[SAVED_most] <= SCHEMA_SCALED_MOST) ||
        (scale == SCALE_QUANTILE ? knots < 1 || knots > 1000000 : knots != 0))
        return false;
    *n = (struct number_slot){.offset = v[SAVED_offset],
                              .scale = scale,
                              .center = v[SAVED_center],
                              .factor = v[SAVED_factor],
                              .impute = (float)v[SAVED_fill],
                              .indicator = indicator,
                              .quantile_count = (uint32_t)knots,
                              .low = (float)v[SAVED_low],
                              .high = (float)v[SAVED_high],
                              .least = v[SAVED_least],
                              .most = v[SAVED_most]};
    return true;
}

bool saved_edges(const struct loading *l, const char *tensor, const float *v, uint64_t count,
                 struct number_slot *n)
{
    if (!count)
        return true;
    if (count < 2 || count > COLUMN_BINS_MOST + 1)
        return saved_damaged(l, tensor, "has too few or too many edges of a number");
    if (!saved_ascends(l, tensor, v, count, true))
        return false;
    n->edges = mem_copy(v, count * sizeof *v);
    n->edge_count = (uint32_t)count;
    return true;
}

bool saved_knots(const struct loading *l, const char *tensor, const float *v, struct number_slot *n)
{
    if (!saved_ascends(l, tensor, v, n->quantile_count, false))
        return false;
    if (n->quantile_count)
        n->quantiles = mem_copy(v, n->quantile_count * sizeof *v);
    return true;
}
