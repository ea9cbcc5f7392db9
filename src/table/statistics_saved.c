/* statistics_saved.c - see statistics_saved.h. Every value that is read is checked. */
#include "table/statistics_saved.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

#define IN IN_ENCODER "statistics."

struct statistics_saved {
    struct tensor_writer *writer;
    uint32_t number; /* of the encoder */
    int32_t *keys, *tables, *means, *codes;
    int64_t *values_at, *codes_at;
    uint8_t *counted;
    float *values, *entries;
    double *center, *factor;
};

/* --- writing --- */

/* name: after "encoders.<number>.statistics.". */
static void add(const struct statistics_saved *k, const char *name, enum dtype type, unsigned rank,
                const uint64_t *dims, const void *data)
{
    struct text whole = {0};
    text_printf(&whole, "encoders.%u.statistics.%s", k->number, name);
    tensor_add(k->writer, whole.data, type, rank, dims, data);
    text_free(&whole);
}

static void save_keys(const struct statistics *t, struct statistics_saved *k)
{
    const uint64_t keys = t->key_count, offsets = keys + 1;
    k->keys = mem_zero(keys + 1, sizeof *k->keys);
    k->values_at = mem_zero(offsets, sizeof *k->values_at);
    for (uint64_t i = 0; i < keys; i++) {
        k->keys[i] = (int32_t)t->keys[i].column;
        k->values_at[i + 1] = k->values_at[i] + (t->keys[i].number ? t->keys[i].count : 0);
    }
    const uint64_t values = (uint64_t)k->values_at[keys];
    k->values = mem_alloc(values + 1, sizeof *k->values);
    for (uint64_t i = 0; i < keys; i++)
        if (t->keys[i].number && t->keys[i].count)
            memcpy(k->values + k->values_at[i], t->keys[i].values,
                   t->keys[i].count * sizeof *k->values);
    add(k, "keys", DTYPE_I32, 1, &keys, k->keys);
    add(k, "values", DTYPE_F32, 1, &values, k->values);
    add(k, "values.offsets", DTYPE_I64, 1, &offsets, k->values_at);
}

static void save_tables(const struct statistics *t, struct statistics_saved *k)
{
    const uint64_t tables = t->table_count, offsets = tables + 1, ids[2] = {tables, 2};
    uint64_t numbers = 0;
    k->tables = mem_zero(2 * tables + 1, sizeof *k->tables);
    k->means = mem_zero(tables + 1, sizeof *k->means);
    k->counted = mem_zero(tables + 1, sizeof *k->counted);
    k->codes_at = mem_zero(offsets, sizeof *k->codes_at);
    for (uint64_t i = 0; i < tables; i++) {
        const struct statistic_table *one = &t->tables[i];
        k->tables[2 * i] = (int32_t)one->keys[0];
        k->tables[2 * i + 1] =
            one->keys[1] == STATISTICS_ABSENT ? -1 : (int32_t)one->keys[1];
        k->means[i] = (int32_t)one->means;
        k->counted[i] = one->counted;
        k->codes_at[i + 1] = k->codes_at[i] + one->count;
        numbers += (uint64_t)one->count * statistic_width(one);
    }
    const uint64_t codes[2] = {(uint64_t)k->codes_at[tables], 2};
    k->codes = mem_alloc(2 * codes[0] + 1, sizeof *k->codes);
    k->entries = mem_alloc(numbers + 1, sizeof *k->entries);
    float *to = k->entries;
    int32_t *code = k->codes;
    for (uint64_t i = 0; i < tables; i++) {
        const struct statistic_table *one = &t->tables[i];
        const size_t count = (size_t)one->count * statistic_width(one);
        memcpy(to, one->values, count * sizeof *to);
        to += count;
        for (uint32_t e = 0; e < one->count; e++) {
            bool pair = one->keys[1] != STATISTICS_ABSENT;
            *code++ = (int32_t)(pair ? one->codes[e] >> 32 : one->codes[e]);
            *code++ = pair ? (int32_t)(uint32_t)one->codes[e] : 0;
        }
    }
    add(k, "tables", DTYPE_I32, 2, ids, k->tables);
    add(k, "means", DTYPE_I32, 1, &tables, k->means);
    add(k, "counted", DTYPE_U8, 1, &tables, k->counted);
    add(k, "codes", DTYPE_I32, 2, codes, k->codes);
    add(k, "codes.offsets", DTYPE_I64, 1, &offsets, k->codes_at);
    add(k, "entries", DTYPE_F32, 1, &numbers, k->entries);
}

struct statistics_saved *statistics_save(const struct encoder *e, uint32_t number,
                                         struct tensor_writer *w)
{
    const struct statistics *t = e->statistics;
    if (!t)
        return NULL;
    struct statistics_saved *k = mem_zero(1, sizeof *k);
    const uint64_t numbers = t->numbers;
    k->writer = w;
    k->number = number;
    save_keys(t, k);
    save_tables(t, k);
    k->center = mem_alloc(numbers + 1, sizeof *k->center);
    k->factor = mem_alloc(numbers + 1, sizeof *k->factor);
    for (uint64_t i = 0; i < numbers; i++) {
        k->center[i] = e->numbers[t->first + i].center;
        k->factor[i] = e->numbers[t->first + i].factor;
    }
    add(k, "center", DTYPE_F64, 1, &numbers, k->center);
    add(k, "factor", DTYPE_F64, 1, &numbers, k->factor);
    return k;
}

void statistics_saved_free(struct statistics_saved *k)
{
    if (!k)
        return;
    void *const blocks[] = {k->keys,  k->tables,  k->means,   k->codes,  k->values_at, k->codes_at,
                            k->values, k->entries, k->counted, k->center, k->factor};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        mem_free(blocks[i]);
    mem_free(k);
}

/* --- reading --- */

/* Finds a tensor; NULL, E15, without it. count UINT64_MAX: any. */
static const void *need(const struct loading *l, const char *name, enum dtype type, uint64_t count,
                        uint64_t *found)
{
    const struct tensor *t = saved_need(l, name, type, count);
    if (t && found)
        *found = t->count;
    return t ? t->data : NULL;
}

/* Offsets of `count` lists, from 0 and ascending. */
static const int64_t *need_offsets(const struct loading *l, const char *name, uint64_t count,
                                   uint64_t *end)
{
    const int64_t *at = need(l, name, DTYPE_I64, count + 1, NULL);
    bool good = at && at[0] == 0;
    for (uint64_t i = 0; good && i < count; i++)
        good = at[i + 1] >= at[i] && at[i + 1] <= INT32_MAX;
    if (at && !good)
        saved_damaged(l, name, "does not ascend from 0");
    *end = good ? (uint64_t)at[count] : 0;
    return good ? at : NULL;
}

static bool load_key(const struct loading *l, struct statistic_key *k, int32_t column,
                     const float *values, uint64_t count)
{
    const struct schema *s = l->schema;
    if (column < 0 || (uint64_t)column >= s->column_count)
        return saved_damaged(l, IN "keys", "names a column that is not there");
    const struct column *c = &s->columns[column];
    k->column = (uint32_t)column;
    k->number = c->type == COLUMN_NUMERIC;
    k->slot = k->number ? c->number : c->category;
    if (!k->number)
        return (c->type == COLUMN_CATEGORICAL && !count)
                   ? k->count = vocab_count(l->encoder->columns[column].vocab), true
                   : saved_damaged(l, IN "keys", "names a column that has no keys");
    k->values = mem_alloc(count + 1, sizeof *values);
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(values[i]) || (i && values[i] <= values[i - 1]))
            return saved_damaged(l, IN "values", "is not finite and ascending");
        k->values[i] = values[i];
    }
    k->count = (uint32_t)count;
    return true;
}

static bool load_keys(const struct loading *l, struct statistics *t, const int32_t *columns)
{
    uint64_t end = 0;
    const int64_t *at = need_offsets(l, IN "values.offsets", t->key_count, &end);
    const float *values = at ? need(l, IN "values", DTYPE_F32, end, NULL) : NULL;
    for (uint32_t i = 0; values && i < t->key_count; i++)
        if (!load_key(l, &t->keys[i], columns[i], values + at[i], (uint64_t)(at[i + 1] - at[i])))
            return false;
    return values != NULL;
}

static bool load_entries(const struct loading *l, const struct statistics *t,
                         struct statistic_table *to, const int32_t *codes, const float *values)
{
    const bool pair = to->keys[1] != STATISTICS_ABSENT;
    const uint32_t a = t->keys[to->keys[0]].count + 2;
    const uint32_t b = pair ? t->keys[to->keys[1]].count + 2 : 1;
    const size_t numbers = (size_t)to->count * statistic_width(to);
    to->codes = mem_alloc((size_t)to->count + 1, sizeof *to->codes);
    to->values = mem_alloc(numbers + 1, sizeof *to->values);
    for (uint32_t i = 0; i < to->count; i++) {
        uint32_t one = (uint32_t)codes[2 * (size_t)i], other = (uint32_t)codes[2 * (size_t)i + 1];
        to->codes[i] = pair ? (uint64_t)one << 32 | other : one;
        if (one >= a || other >= b || (i && to->codes[i] <= to->codes[i - 1]))
            return saved_damaged(l, IN "codes", "holds ids that are not there or not in order");
    }
    for (size_t i = 0; i < numbers; i++) {
        if (!isfinite(values[i]))
            return saved_damaged(l, IN "entries", "is not finite");
        to->values[i] = values[i];
    }
    return true;
}

static bool load_table(const struct loading *l, const struct statistics *t,
                       struct statistic_table *to, const int32_t *keys, int32_t means,
                       uint8_t counted, int64_t count)
{
    bool pair = keys[1] != -1;
    if (keys[0] < 0 || keys[0] >= (int64_t)t->key_count || keys[1] < -1 ||
        keys[1] >= (int64_t)t->key_count || means < 0 || means > STATISTICS_CLASSES_MOST ||
        counted > 1 || means + counted == 0 || count > STATISTICS_ENTRIES_MOST)
        return saved_damaged(l, IN "tables", "has a table that cannot be");
    to->keys[0] = (uint32_t)keys[0];
    to->keys[1] = pair ? (uint32_t)keys[1] : STATISTICS_ABSENT;
    to->means = (uint32_t)means;
    to->counted = counted;
    to->count = (uint32_t)count;
    return true;
}

static bool load_tables(const struct loading *l, struct statistics *t)
{
    const uint64_t tables = t->table_count;
    uint64_t end = 0, numbers = 0;
    const int32_t *keys = need(l, IN "tables", DTYPE_I32, 2 * tables, NULL);
    const int32_t *means = keys ? need(l, IN "means", DTYPE_I32, tables, NULL) : NULL;
    const uint8_t *counted = means ? need(l, IN "counted", DTYPE_U8, tables, NULL) : NULL;
    const int64_t *at = counted ? need_offsets(l, IN "codes.offsets", tables, &end) : NULL;
    const int32_t *codes = at ? need(l, IN "codes", DTYPE_I32, 2 * end, NULL) : NULL;
    if (!codes)
        return false;
    for (uint64_t i = 0; i < tables; i++) {
        if (!load_table(l, t, &t->tables[i], keys + 2 * i, means[i], counted[i],
                        at[i + 1] - at[i]))
            return false;
        numbers += (uint64_t)t->tables[i].count * statistic_width(&t->tables[i]);
    }
    const float *values = need(l, IN "entries", DTYPE_F32, numbers, NULL);
    for (uint64_t i = 0; values && i < tables; i++) {
        if (!load_entries(l, t, &t->tables[i], codes + 2 * at[i], values))
            return false;
        values += (size_t)t->tables[i].count * statistic_width(&t->tables[i]);
    }
    return values != NULL;
}

static bool load_scale(const struct loading *l, const struct statistics *t)
{
    const double *center = need(l, IN "center", DTYPE_F64, t->numbers, NULL);
    const double *factor = center ? need(l, IN "factor", DTYPE_F64, t->numbers, NULL) : NULL;
    for (uint32_t i = 0; factor && i < t->numbers; i++) {
        if (!isfinite(center[i]) || !isfinite(factor[i]) || factor[i] < 0)
            return saved_damaged(l, IN "center", "or .factor is not finite");
        l->encoder->numbers[t->first + i].center = center[i];
        l->encoder->numbers[t->first + i].factor = factor[i];
    }
    return factor != NULL;
}

bool statistics_load(const struct loading *l)
{
    uint64_t keys, tables;
    if (!saved_has(l, IN "keys"))
        return true;
    const int32_t *columns = need(l, IN "keys", DTYPE_I32, UINT64_MAX, &keys);
    if (!columns || !need(l, IN "counted", DTYPE_U8, UINT64_MAX, &tables))
        return false;
    if (keys > CSV_MOST_COLUMNS || tables > CSV_MOST_COLUMNS + STATISTICS_PAIRS_MOST)
        return saved_damaged(l, IN "keys", "are too many");
    struct statistics *t = statistics_new((uint32_t)keys, (uint32_t)tables);
    if (!load_keys(l, t, columns) || !load_tables(l, t)) {
        statistics_free(t);
        return false;
    }
    encoder_add_statistics(l->encoder, t);
    return load_scale(l, t);
}
