/* schema_load.c - a schema from a model file that anyone may have written: every count, index,
 * word and number is checked before it is used. */
#include "table/schema.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "table/schema_saved.h"

struct loading {
    const struct tensor_file *file;
    struct schema *schema;
    struct err *e;
    int64_t layout; /* SAVED_LAYOUT_FIRST .. SAVED_LAYOUT_NOW */
};

static bool damaged(const struct loading *l, const char *tensor, const char *what)
{
    return err_at(l->e, ERR_MODEL_SCHEMA, tensor_file_path(l->file), 0, 0, "tensor %s: %s", tensor,
                  what);
}

/* --- texts --- */

struct texts {
    const int64_t *offsets;
    const char *bytes;
    uint64_t count;
};

static bool texts_open(const struct loading *l, const char *in_offsets, const char *in_bytes,
                       uint64_t most, struct texts *t)
{
    const struct tensor *offsets = tensor_need(l->file, in_offsets, DTYPE_I64, UINT64_MAX, l->e);
    if (!offsets)
        return false;
    t->offsets = offsets->data;
    t->count = offsets->count - 1;
    if (offsets->count < 1 || t->count > most || t->offsets[0] != 0)
        return damaged(l, in_offsets, "has a wrong count or beginning");
    for (uint64_t i = 0; i < t->count; i++)
        if (t->offsets[i + 1] < t->offsets[i])
            return damaged(l, in_offsets, "goes backwards");
    const struct tensor *bytes = tensor_need(l->file, in_bytes, DTYPE_U8, UINT64_MAX, l->e);
    if (!bytes)
        return false;
    t->bytes = bytes->data;
    if (bytes->count != (uint64_t)t->offsets[t->count] + 1 || t->bytes[bytes->count - 1] != '\0')
        return damaged(l, in_bytes, "is not as long as its offsets say");
    if (memchr(t->bytes, '\0', bytes->count) != t->bytes + bytes->count - 1)
        return damaged(l, in_bytes, "has a NUL byte inside");
    return true;
}

/* Text i, which is at most `most` bytes of UTF-8. */
static bool texts_at(const struct loading *l, const struct texts *t, uint64_t i, size_t most,
                     const char **text, size_t *length)
{
    *text = t->bytes + t->offsets[i];
    *length = (size_t)(t->offsets[i + 1] - t->offsets[i]);
    if (*length > most)
        return damaged(l, "schema", "a text is too long");
    if (utf8_valid_prefix(*text, *length) != *length)
        return damaged(l, "schema", "a text is not UTF-8");
    return true;
}

static struct vocab *vocab_load(const struct loading *l, const struct texts *t, uint64_t first,
                                uint64_t count)
{
    struct vocab *v = vocab_new();
    for (uint64_t i = 0; i < count; i++) {
        const char *text;
        size_t length;
        bool good = texts_at(l, t, first + i, CSV_MOST_FIELD, &text, &length);
        if (good && vocab_add(v, text, length) != i)
            good = damaged(l, "schema", "a value stands twice in one vocabulary");
        if (!good) {
            vocab_free(v);
            return NULL;
        }
    }
    return v;
}

/* --- settings and columns --- */

static bool within(int64_t value, int64_t low, int64_t high)
{
    return value >= low && value <= high;
}

static bool load_settings(struct loading *l)
{
    static const char name[] = SAVED_IN_SETTINGS;
    struct schema *s = l->schema;
    const struct tensor *t = tensor_need(l->file, name, DTYPE_I64, SAVED_SETTINGS, l->e);
    if (!t)
        return false;
    const int64_t *v = t->data;
    if (!within(v[SAVED_LAYOUT], SAVED_LAYOUT_FIRST, SAVED_LAYOUT_NOW))
        return damaged(l, name, "has a layout that this build does not know");
    l->layout = v[SAVED_LAYOUT];
    int64_t delimiter = v[SAVED_DELIMITER];
    if (!within(v[SAVED_TASK], TASK_BINARY, TASK_REGRESSION) ||
        !within(v[SAVED_HEADER], 0, 1) || !within(v[SAVED_TSV], 0, 1) ||
        !within(v[SAVED_ENCODING], ENCODING_UTF8, ENCODING_CP1252) ||
        (v[SAVED_DECIMAL] != '.' && v[SAVED_DECIMAL] != ',') ||
        (delimiter != ',' && delimiter != ';' && delimiter != '\t' && delimiter != '|') ||
        !within(v[SAVED_FILE_COLUMNS], 1, CSV_MOST_COLUMNS) ||
        !within(v[SAVED_TARGET], 0, CSV_MOST_COLUMNS - 1))
        return damaged(l, name, "holds a value that does not exist");
    s->task = (int)v[SAVED_TASK];
    s->dialect.delimiter = (char)delimiter;
    s->dialect.header = v[SAVED_HEADER];
    s->dialect.tsv = v[SAVED_TSV];
    s->dialect.encoding = (int)v[SAVED_ENCODING];
    s->decimal = (char)v[SAVED_DECIMAL];
    s->target = (uint32_t)v[SAVED_TARGET];
    s->file_columns = (uint32_t)v[SAVED_FILE_COLUMNS];
    return true;
}

static bool column_valid(const int64_t *v)
{
    return within(v[SAVED_TYPE], COLUMN_NUMERIC, COLUMN_SPLIT) &&
           within(v[SAVED_SCALE], SCALE_AUTO, SCALE_QUANTILE) &&
           within(v[SAVED_IMPUTE], IMPUTE_MEDIAN, IMPUTE_ERROR) &&
           within(v[SAVED_UNKNOWN], UNKNOWN_BUCKET, UNKNOWN_ERROR) &&
           within(v[SAVED_ENCODE], ENCODE_AUTO, ENCODE_EMBEDDING) &&
           within(v[SAVED_MIN_COUNT], 1, COLUMN_MIN_COUNT_MOST) &&
           within(v[SAVED_DIM], 0, COLUMN_DIM_MOST) &&
           v[SAVED_MISSING] >= 0 &&
           within(v[SAVED_VALUES], 0, v[SAVED_TYPE] == COLUMN_CATEGORICAL ? VOCAB_MOST : 0);
}

/* The names, which must differ. */
static bool load_names(const struct loading *l, uint64_t count)
{
    struct texts names;
    if (!texts_open(l, SAVED_IN_NAMES, CSV_MOST_COLUMNS, &names))
        return false;
    if (names.count != count)
        return damaged(l, "schema.names_offsets", "does not have one name a column");
    struct vocab *known = vocab_new();
    bool good = true;
    for (uint64_t i = 0; i < count && good; i++) {
        const char *text;
        size_t length;
        good = texts_at(l, &names, i, CSV_MOST_NAME, &text, &length);
        if (good && (!length || vocab_add(known, text, length) != i))
            good = damaged(l, "schema.names_bytes", "a name is empty or stands twice");
        if (good)
            l->schema->columns[i].name = mem_string_n(text, length);
    }
    vocab_free(known);
    return good;
}

static bool check_roles(const struct loading *l)
{
    const struct schema *s = l->schema;
    size_t targets = 0, weights = 0, features = 0;
    for (size_t i = 0; i < s->column_count; i++) {
        int type = s->columns[i].type;
        targets += type == COLUMN_TARGET;
        weights += type == COLUMN_WEIGHT;
        features += type == COLUMN_NUMERIC || type == COLUMN_CATEGORICAL || type == COLUMN_DATETIME;
    }
    if (targets == 1 && weights <= 1 && features && s->target < s->column_count &&
        s->columns[s->target].type == COLUMN_TARGET)
        return true;
    return damaged(l, SAVED_IN_COLUMNS,
                   "does not have one target, features, and at most one weight");
}

static bool load_columns(const struct loading *l)
{
    static const char name[] = SAVED_IN_COLUMNS;
    struct schema *s = l->schema;
    const struct tensor *t = tensor_need(l->file, name, DTYPE_I64, UINT64_MAX, l->e);
    if (!t)
        return false;
    uint64_t count = t->count / SAVED_COLUMN, values = 0, first = 0;
    if (t->count % SAVED_COLUMN || count < 1 || count > CSV_MOST_COLUMNS)
        return damaged(l, name, "has a wrong count");
    s->columns = mem_zero(count, sizeof *s->columns);
    s->column_count = count;
    const int64_t *v = t->data;
    for (uint64_t i = 0; i < count; i++, v += SAVED_COLUMN) {
        if (!column_valid(v))
            return damaged(l, name, "holds a value that does not exist");
        s->columns[i] = (struct column){.type = (int)v[SAVED_TYPE],
                                        .scale = (int)v[SAVED_SCALE],
                                        .impute = (int)v[SAVED_IMPUTE],
                                        .unknown = (int)v[SAVED_UNKNOWN],
                                        .encode = (int)v[SAVED_ENCODE],
                                        .min_count = v[SAVED_MIN_COUNT],
                                        .dim = v[SAVED_DIM],
                                        .missing = (uint64_t)v[SAVED_MISSING]};
        values += (uint64_t)v[SAVED_VALUES];
    }
    struct texts categories;
    if (!check_roles(l) || !load_names(l, count) ||
        !texts_open(l, SAVED_IN_CATEGORIES, UINT64_MAX, &categories))
        return false;
    if (categories.count != values)
        return damaged(l, "schema.categories_offsets", "has another count than the columns say");
    v = t->data;
    for (uint64_t i = 0; i < count; i++, v += SAVED_COLUMN) {
        if (s->columns[i].type != COLUMN_CATEGORICAL)
            continue;
        s->columns[i].vocab = vocab_load(l, &categories, first, (uint64_t)v[SAVED_VALUES]);
        if (!s->columns[i].vocab)
            return false;
        first += (uint64_t)v[SAVED_VALUES];
    }
    return true;
}

static bool load_labels(const struct loading *l)
{
    struct schema *s = l->schema;
    struct texts labels, missing;
    if (!texts_open(l, SAVED_IN_LABELS, VOCAB_MOST, &labels))
        return false;
    uint64_t least = s->task == TASK_REGRESSION ? 0 : 2;
    uint64_t most = s->task == TASK_MULTICLASS ? VOCAB_MOST : least;
    if (labels.count < least || labels.count > most)
        return damaged(l, "schema.labels_offsets", "has a count that does not fit the task");
    if (least) {
        s->labels = vocab_load(l, &labels, 0, labels.count);
        if (!s->labels)
            return false;
        s->columns[s->target].vocab = s->labels;
    }
    if (s->task == TASK_BINARY)
        s->positive = mem_string(vocab_text(s->labels, 1, NULL));
    if (!texts_open(l, SAVED_IN_MISSING, SAVED_MISSING_MOST, &missing))
        return false;
    s->missing.items = mem_zero(missing.count + 1, sizeof *s->missing.items);
    for (uint64_t i = 0; i < missing.count; i++) {
        const char *text;
        size_t length;
        if (!texts_at(l, &missing, i, CSV_MOST_FIELD, &text, &length))
            return false;
        s->missing.items[s->missing.count++] = mem_string_n(text, length);
    }
    return true;
}

/* --- numbers --- */

/* A double that is a float32, and finite. */
static bool is_float(double v)
{
    return fabs(v) <= (double)FLT_MAX && (double)(float)v == v;
}

static int number_width(const struct loading *l)
{
    return l->layout == SAVED_LAYOUT_FIRST ? SAVED_NUMBER_FIRST : SAVED_NUMBER;
}

/* A saved row as it is now: numbers of layout 1 had no limits of their own. */
static void number_row(const struct loading *l, const double *from, double *row)
{
    row[SAVED_LEAST] = -SCHEMA_SCALED_MOST;
    row[SAVED_MOST] = SCHEMA_SCALED_MOST;
    memcpy(row, from, (size_t)number_width(l) * sizeof *row);
}

static bool number_valid(const double *v)
{
    double knots = v[SAVED_KNOTS];
    int scale = 0;
    for (int k = SCALE_NONE; k <= SCALE_QUANTILE; k++)
        if (v[SAVED_NUMBER_SCALE] == k)
            scale = k;
    return scale && isfinite(v[SAVED_OFFSET]) && isfinite(v[SAVED_CENTER]) &&
           isfinite(v[SAVED_FACTOR]) && v[SAVED_FACTOR] >= 0 && is_float(v[SAVED_FILL]) &&
           (v[SAVED_INDICATOR] == 0 || v[SAVED_INDICATOR] == 1) && is_float(v[SAVED_LOW]) &&
           is_float(v[SAVED_HIGH]) && v[SAVED_LOW] <= v[SAVED_HIGH] &&
           v[SAVED_LEAST] >= -SCHEMA_SCALED_MOST && v[SAVED_LEAST] <= v[SAVED_MOST] &&
           v[SAVED_MOST] <= SCHEMA_SCALED_MOST &&
           (scale == SCALE_QUANTILE ? knots >= 1 && knots <= 1e6 && knots == floor(knots)
                                    : knots == 0);
}

static bool load_quantiles(const struct loading *l, uint64_t knots)
{
    static const char name[] = SAVED_IN_QUANTILES;
    if (!knots)
        return !tensor_find(l->file, name) || damaged(l, name, "belongs to no column");
    const struct tensor *t = tensor_need(l->file, name, DTYPE_F32, knots, l->e);
    if (!t)
        return false;
    const float *v = t->data;
    for (uint32_t i = 0; i < l->schema->number_count; i++) {
        struct number_slot *n = &l->schema->numbers[i];
        for (uint32_t q = 0; q < n->quantile_count; q++)
            if (!isfinite(v[q]) || (q && v[q] < v[q - 1]))
                return damaged(l, name, "is not finite and ascending");
        if (n->quantile_count)
            n->quantiles = mem_copy(v, n->quantile_count * sizeof *v);
        v += n->quantile_count;
    }
    return true;
}

static bool load_numbers(const struct loading *l)
{
    static const char name[] = SAVED_IN_NUMBERS;
    struct schema *s = l->schema;
    uint64_t knots = 0;
    if (!s->number_count)
        return (!tensor_find(l->file, name) || damaged(l, name, "belongs to no column")) &&
               load_quantiles(l, 0);
    const struct tensor *t = tensor_need(l->file, name, DTYPE_F64,
                                         s->number_count * (uint64_t)number_width(l), l->e);
    if (!t)
        return false;
    const double *at = t->data;
    for (uint32_t i = 0; i < s->number_count; i++, at += number_width(l)) {
        double v[SAVED_NUMBER];
        number_row(l, at, v);
        if (!number_valid(v))
            return damaged(l, name, "holds a value that cannot be");
        s->numbers[i] = (struct number_slot){.offset = v[SAVED_OFFSET],
                                             .scale = (int)v[SAVED_NUMBER_SCALE],
                                             .center = v[SAVED_CENTER],
                                             .factor = v[SAVED_FACTOR],
                                             .impute = (float)v[SAVED_FILL],
                                             .indicator = v[SAVED_INDICATOR] > 0,
                                             .quantile_count = (uint32_t)v[SAVED_KNOTS],
                                             .low = (float)v[SAVED_LOW],
                                             .high = (float)v[SAVED_HIGH],
                                             .least = v[SAVED_LEAST],
                                             .most = v[SAVED_MOST]};
        knots += s->numbers[i].quantile_count;
    }
    return load_quantiles(l, knots);
}

static bool load_target(const struct loading *l)
{
    const struct tensor *t = tensor_need(l->file, SAVED_IN_TARGET, DTYPE_F64, 2, l->e);
    if (!t)
        return false;
    const double *v = t->data;
    if (!isfinite(v[0]) || !isfinite(v[1]) || !(v[1] > 0))
        return damaged(l, SAVED_IN_TARGET, "is not a finite center and a positive scale");
    l->schema->target_center = v[0];
    l->schema->target_scale = v[1];
    return true;
}

struct schema *schema_load(const struct tensor_file *f, struct err *e)
{
    struct loading l = {.file = f, .schema = mem_zero(1, sizeof(struct schema)), .e = e};
    if (load_settings(&l) && load_columns(&l) && load_labels(&l)) {
        schema_layout(l.schema);
        if (load_numbers(&l) && load_target(&l)) {
            l.schema->fitted = true;
            return l.schema;
        }
    }
    schema_free(l.schema);
    return NULL;
}

bool schema_tensor(const char *name)
{
    static const char *const names[] = {SAVED_TENSORS};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}
