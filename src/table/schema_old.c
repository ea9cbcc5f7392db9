/* schema_old.c - the schema of a model of format 2:
 *
 *   schema.settings   I64 [SETTINGS]          enum setting
 *   schema.columns    I64 [columns][COLUMN]   enum member
 *   schema.numbers    F64 [numbers][NUMBER]   enum statistic; absent without numbers
 *   schema.quantiles  F32 [knots]             of all quantile scales; absent without one
 *   schema.target     F64 [2]                 center and scale of a regression target
 *   schema.T_offsets  I64 [n + 1]             n texts: text i is bytes offsets[i] ..
 *   schema.T_bytes    U8  [total + 1]         offsets[i + 1]; a 0 byte ends them all
 *
 * T: names (of the columns), missing, labels, and categories (column by column). The numbers in
 * the enums here are those of the files, for ever. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "table/schema_saved.h"

#define OLD_SETTINGS "schema.settings"
#define OLD_COLUMNS "schema.columns"
#define OLD_NUMBERS "schema.numbers"
#define OLD_QUANTILES "schema.quantiles"
#define OLD_TARGET "schema.target"
#define OLD_TEXTS(T) "schema." T "_offsets", "schema." T "_bytes", true

enum setting {
    OLD_LAYOUT, OLD_TASK, OLD_DELIMITER, OLD_HEADER, OLD_TSV, OLD_ENCODING, OLD_DECIMAL,
    OLD_TARGET_AT, OLD_FILE_COLUMNS, SETTINGS
};
enum { LAYOUT_FIRST = 1, LAYOUT_LAST = 2 };
enum member {
    OLD_TYPE, OLD_SCALE, OLD_IMPUTE, OLD_UNKNOWN, OLD_ENCODE, OLD_MIN_COUNT, OLD_DIM, OLD_MISSING,
    OLD_VALUES, COLUMN
};
enum statistic {
    OLD_OFFSET, OLD_NUMBER_SCALE, OLD_CENTER, OLD_FACTOR, OLD_FILL, OLD_INDICATOR, OLD_KNOTS,
    OLD_LOW, OLD_HIGH, NUMBER_FIRST, /* the members of layout 1 */
    OLD_LEAST = NUMBER_FIRST, OLD_MOST, NUMBER
};

static bool load_settings(struct loading *l, int64_t *layout)
{
    static const char name[] = OLD_SETTINGS;
    struct schema *s = l->schema;
    const struct tensor *t = tensor_need(l->file, name, DTYPE_I64, SETTINGS, l->e);
    if (!t)
        return false;
    const int64_t *v = t->data;
    if (!saved_within(v[OLD_LAYOUT], LAYOUT_FIRST, LAYOUT_LAST))
        return saved_damaged(l, name, "has a layout that this build does not know");
    *layout = v[OLD_LAYOUT];
    int64_t delimiter = v[OLD_DELIMITER];
    if (!saved_within(v[OLD_TASK], TASK_BINARY, TASK_REGRESSION) ||
        !saved_within(v[OLD_HEADER], 0, 1) || !saved_within(v[OLD_TSV], 0, 1) ||
        !saved_within(v[OLD_ENCODING], ENCODING_UTF8, ENCODING_CP1252) ||
        (v[OLD_DECIMAL] != '.' && v[OLD_DECIMAL] != ',') ||
        (delimiter != ',' && delimiter != ';' && delimiter != '\t' && delimiter != '|') ||
        !saved_within(v[OLD_FILE_COLUMNS], 1, CSV_MOST_COLUMNS) ||
        !saved_within(v[OLD_TARGET_AT], 0, CSV_MOST_COLUMNS - 1))
        return saved_damaged(l, name, "holds a value that does not exist");
    s->task = (int)v[OLD_TASK];
    s->dialect.delimiter = (char)delimiter;
    s->dialect.header = v[OLD_HEADER];
    s->dialect.tsv = v[OLD_TSV];
    s->dialect.encoding = (int)v[OLD_ENCODING];
    s->decimal = (char)v[OLD_DECIMAL];
    s->target = (uint32_t)v[OLD_TARGET_AT];
    s->file_columns = (uint32_t)v[OLD_FILE_COLUMNS];
    return true;
}

/* Types, scales and other words by their numbers in format 2: the enums of schema.h, which only
 * grow at the end. */
static bool column_valid(const int64_t *v)
{
    return saved_within(v[OLD_TYPE], COLUMN_NUMERIC, COLUMN_SPLIT - 1) &&
           saved_within(v[OLD_SCALE], SCALE_AUTO, SCALE_QUANTILE) &&
           saved_within(v[OLD_IMPUTE], IMPUTE_MEDIAN, IMPUTE_ERROR) &&
           saved_within(v[OLD_UNKNOWN], UNKNOWN_BUCKET, UNKNOWN_ERROR) &&
           saved_within(v[OLD_ENCODE], ENCODE_AUTO, ENCODE_EMBEDDING) &&
           saved_within(v[OLD_MIN_COUNT], 1, COLUMN_MIN_COUNT_MOST) &&
           saved_within(v[OLD_DIM], 0, COLUMN_DIM_MOST) && v[OLD_MISSING] >= 0 &&
           saved_within(v[OLD_VALUES], 0, v[OLD_TYPE] == COLUMN_CATEGORICAL ? VOCAB_MOST : 0);
}

static bool load_columns(const struct loading *l)
{
    static const char name[] = OLD_COLUMNS;
    struct schema *s = l->schema;
    const struct tensor *t = tensor_need(l->file, name, DTYPE_I64, UINT64_MAX, l->e);
    if (!t)
        return false;
    uint64_t count = t->count / COLUMN, values = 0, first = 0;
    if (t->count % COLUMN || count < 1 || count > CSV_MOST_COLUMNS)
        return saved_damaged(l, name, "has a wrong count");
    s->columns = mem_zero(count, sizeof *s->columns);
    s->column_count = count;
    const int64_t *v = t->data;
    for (uint64_t i = 0; i < count; i++, v += COLUMN) {
        if (!column_valid(v))
            return saved_damaged(l, name, "holds a value that does not exist");
        int type = (int)v[OLD_TYPE]; /* there were no texts */
        s->columns[i] = (struct column){.type = type + (type >= COLUMN_TEXT),
                                        .scale = (int)v[OLD_SCALE],
                                        .impute = (int)v[OLD_IMPUTE],
                                        .unknown = (int)v[OLD_UNKNOWN],
                                        .encode = (int)v[OLD_ENCODE],
                                        .min_count = v[OLD_MIN_COUNT],
                                        .dim = v[OLD_DIM],
                                        .missing = (uint64_t)v[OLD_MISSING]};
        values += (uint64_t)v[OLD_VALUES];
    }
    struct saved_texts names, categories;
    if (!saved_roles(l) || !saved_texts(l, OLD_TEXTS("names"), CSV_MOST_COLUMNS, &names) ||
        !saved_names(l, &names) ||
        !saved_texts(l, OLD_TEXTS("categories"), UINT64_MAX, &categories))
        return false;
    if (categories.count != values)
        return saved_damaged(l, "schema.categories_offsets",
                             "has another count than the columns say");
    v = t->data;
    for (uint64_t i = 0; i < count; i++, v += COLUMN) {
        if (s->columns[i].type != COLUMN_CATEGORICAL)
            continue;
        s->columns[i].vocab = saved_vocab(l, &categories, first, (uint64_t)v[OLD_VALUES]);
        if (!s->columns[i].vocab)
            return false;
        first += (uint64_t)v[OLD_VALUES];
    }
    return true;
}

/* --- numbers --- */

static bool load_quantiles(const struct loading *l, uint64_t knots)
{
    static const char name[] = OLD_QUANTILES;
    if (!knots)
        return true;
    const struct tensor *t = tensor_need(l->file, name, DTYPE_F32, knots, l->e);
    if (!t)
        return false;
    const float *v = t->data;
    for (uint32_t i = 0; i < l->schema->number_count; i++) {
        if (!saved_knots(l, name, v, &l->schema->numbers[i]))
            return false;
        v += l->schema->numbers[i].quantile_count;
    }
    return true;
}

static int scale_of(double v)
{
    for (int k = SCALE_NONE; k <= SCALE_QUANTILE; k++)
        if (v == k)
            return k;
    return -1;
}

/* Reads one row of schema.numbers. */
static bool load_number(const double *v, struct number_slot *n)
{
    const double knots = v[OLD_KNOTS];
    const double now[SAVED_NUMBERS] = {
        [SAVED_offset] = v[OLD_OFFSET], [SAVED_center] = v[OLD_CENTER],
        [SAVED_factor] = v[OLD_FACTOR], [SAVED_least] = v[OLD_LEAST],
        [SAVED_most] = v[OLD_MOST],     [SAVED_fill] = v[OLD_FILL],
        [SAVED_low] = v[OLD_LOW],       [SAVED_high] = v[OLD_HIGH]};
    if (!(knots >= 0 && knots <= 1e6 && knots == floor(knots)) ||
        (v[OLD_INDICATOR] != 0 && v[OLD_INDICATOR] != 1))
        return false;
    return saved_number(n, scale_of(v[OLD_NUMBER_SCALE]), v[OLD_INDICATOR] > 0, now,
                        (uint64_t)knots);
}

static bool load_numbers(const struct loading *l, int64_t layout)
{
    static const char name[] = OLD_NUMBERS;
    struct schema *s = l->schema;
    const size_t width = layout == LAYOUT_FIRST ? NUMBER_FIRST : NUMBER;
    uint64_t knots = 0;
    if (!s->number_count)
        return true;
    const struct tensor *t =
        tensor_need(l->file, name, DTYPE_F64, s->number_count * (uint64_t)width, l->e);
    if (!t)
        return false;
    const double *at = t->data;
    for (uint32_t i = 0; i < s->number_count; i++, at += width) {
        double v[NUMBER] = {[OLD_LEAST] = -SCHEMA_SCALED_MOST, [OLD_MOST] = SCHEMA_SCALED_MOST};
        memcpy(v, at, width * sizeof *v);
        if (!load_number(v, &s->numbers[i]))
            return saved_damaged(l, name, "holds a value that cannot be");
        knots += s->numbers[i].quantile_count;
    }
    return load_quantiles(l, knots);
}

static bool load_target(const struct loading *l)
{
    const struct tensor *t = tensor_need(l->file, OLD_TARGET, DTYPE_F64, 2, l->e);
    if (!t)
        return false;
    const double *v = t->data;
    if (!isfinite(v[0]) || !isfinite(v[1]) || !(v[1] > 0))
        return saved_damaged(l, OLD_TARGET, "is not a finite center and a positive scale");
    l->schema->coding.center = v[0];
    l->schema->coding.scale = v[1];
    return true;
}

bool schema_load_old(struct loading *l)
{
    struct saved_texts labels, missing;
    int64_t layout = LAYOUT_LAST;
    if (!load_settings(l, &layout) || !load_columns(l) ||
        !saved_texts(l, OLD_TEXTS("labels"), VOCAB_MOST, &labels) || !saved_labels(l, &labels) ||
        !saved_texts(l, OLD_TEXTS("missing"), SAVED_MISSING_MOST, &missing) ||
        !saved_missing(l, &missing))
        return false;
    schema_layout(l->schema);
    return load_numbers(l, layout) && load_target(l);
}
