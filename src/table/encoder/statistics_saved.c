/* statistics_saved.c - see statistics_saved.h. Every value that is read is checked. */
#include "table/encoder/statistics_saved.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"

#define IN IN_ENCODER "statistics."

/* --- writing --- */

struct saving {
    struct tensor_writer *writer;
    uint32_t number; /* of the encoder */
    struct arena *arena;
};

static void *room(const struct saving *k, uint64_t count, size_t size)
{
    return arena_alloc(k->arena, count + 1, size);
}

/* name: after "encoders.<number>.statistics.". */
static void add(const struct saving *k, const char *name, enum dtype type, unsigned rank,
                const uint64_t *dims, const void *data)
{
    struct text whole = {0};
    text_printf(&whole, "encoders.%u.statistics.%s", k->number, name);
    tensor_add(k->writer, whole.data, type, rank, dims, data);
    text_free(&whole);
}

static void save_keys(const struct statistics *t, const struct saving *k)
{
    const uint64_t count = t->key_count, offsets = count + 1;
    int32_t *keys = room(k, count, sizeof *keys);
    int64_t *values_at = room(k, count, sizeof *values_at);
    for (uint64_t i = 0; i < count; i++) {
        keys[i] = (int32_t)t->keys[i].column;
        values_at[i + 1] = values_at[i] + (t->keys[i].number ? t->keys[i].count : 0);
    }
    const uint64_t all = (uint64_t)values_at[count];
    float *values = room(k, all, sizeof *values);
    for (uint64_t i = 0; i < count; i++)
        if (t->keys[i].number && t->keys[i].count)
            memcpy(values + values_at[i], t->keys[i].values, t->keys[i].count * sizeof *values);
    add(k, "keys", DTYPE_I32, 1, &count, keys);
    add(k, "values", DTYPE_F32, 1, &all, values);
    add(k, "values.offsets", DTYPE_I64, 1, &offsets, values_at);
}

static void save_tables(const struct statistics *t, const struct saving *k)
{
    const uint64_t count = t->table_count, offsets = count + 1, ids[2] = {count, 2};
    int32_t *tables = room(k, 2 * count, sizeof *tables), *means = room(k, count, sizeof *means);
    uint8_t *counted = room(k, count, 1);
    int64_t *codes_at = room(k, count, sizeof *codes_at);
    uint64_t numbers = 0;
    for (uint64_t i = 0; i < count; i++) {
        const struct statistic_table *one = &t->tables[i];
        tables[2 * i] = (int32_t)one->keys[0];
        tables[2 * i + 1] = one->keys[1] == STATISTICS_ABSENT ? -1 : (int32_t)one->keys[1];
        means[i] = (int32_t)one->means;
        counted[i] = one->counted;
        codes_at[i + 1] = codes_at[i] + one->count;
        numbers += (uint64_t)one->count * statistic_width(one);
    }
    const uint64_t code_dims[2] = {(uint64_t)codes_at[count], 2};
    int32_t *codes = room(k, 2 * code_dims[0], sizeof *codes), *code = codes;
    float *entries = room(k, numbers, sizeof *entries), *to = entries;
    for (uint64_t i = 0; i < count; i++) {
        const struct statistic_table *one = &t->tables[i];
        const bool pair = one->keys[1] != STATISTICS_ABSENT;
        const size_t width = (size_t)one->count * statistic_width(one);
        memcpy(to, one->values, width * sizeof *to);
        to += width;
        for (uint32_t e = 0; e < one->count; e++) {
            *code++ = (int32_t)(pair ? one->codes[e] >> 32 : one->codes[e]);
            *code++ = pair ? (int32_t)(uint32_t)one->codes[e] : 0;
        }
    }
    add(k, "tables", DTYPE_I32, 2, ids, tables);
    add(k, "means", DTYPE_I32, 1, &count, means);
    add(k, "counted", DTYPE_U8, 1, &count, counted);
    add(k, "codes", DTYPE_I32, 2, code_dims, codes);
    add(k, "codes.offsets", DTYPE_I64, 1, &offsets, codes_at);
    add(k, "entries", DTYPE_F32, 1, &numbers, entries);
}

void statistics_save(const struct encoder *e, uint32_t number, struct tensor_writer *w,
                     struct arena *arena)
{
    const struct statistics *t = e->statistics;
    const struct saving k = {w, number, arena};
    if (!t)
        return;
    save_keys(t, &k);
    save_tables(t, &k);
    const uint64_t numbers = t->numbers;
    double *center = room(&k, numbers, sizeof *center), *factor = room(&k, numbers, sizeof *factor);
    for (uint64_t i = 0; i < numbers; i++) {
        center[i] = e->numbers[t->first + i].center;
        factor[i] = e->numbers[t->first + i].factor;
    }
    add(&k, "center", DTYPE_F64, 1, &numbers, center);
    add(&k, "factor", DTYPE_F64, 1, &numbers, factor);
}

/* --- reading --- */

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
    if (count > INT32_MAX)
        return saved_damaged(l, IN "values", "are too many");
    if (!saved_ascends(l, IN "values", values, count, true))
        return false;
    k->values = mem_copy(values, count * sizeof *values);
    k->count = (uint32_t)count;
    return true;
}

static bool load_keys(const struct loading *l, struct statistics *t, const int32_t *columns)
{
    const int64_t *at;
    const float *values;
    if (!saved_offsets(l, IN "values.offsets", t->key_count, &at) ||
        !saved_find(l, IN "values", DTYPE_F32, (uint64_t)at[t->key_count], &values))
        return false;
    for (uint32_t i = 0; i < t->key_count; i++)
        if (!load_key(l, &t->keys[i], columns[i], values + at[i], (uint64_t)(at[i + 1] - at[i])))
            return false;
    return true;
}

static bool load_entries(const struct loading *l, const struct statistics *t,
                         struct statistic_table *to, const int32_t *codes, const float *values)
{
    const bool pair = to->keys[1] != STATISTICS_ABSENT;
    const uint32_t a = t->keys[to->keys[0]].count + 2;
    const uint32_t b = pair ? t->keys[to->keys[1]].count + 2 : 1;
    const size_t numbers = (size_t)to->count * statistic_width(to);
    to->codes = mem_alloc((size_t)to->count + 1, sizeof *to->codes);
    for (uint32_t i = 0; i < to->count; i++) {
        uint32_t one = (uint32_t)codes[2 * (size_t)i], other = (uint32_t)codes[2 * (size_t)i + 1];
        to->codes[i] = pair ? (uint64_t)one << 32 | other : one;
        if (one >= a || other >= b || (i && to->codes[i] <= to->codes[i - 1]))
            return saved_damaged(l, IN "codes", "holds ids that are not there or not in order");
    }
    for (size_t i = 0; i < numbers; i++)
        if (!isfinite(values[i]))
            return saved_damaged(l, IN "entries", "is not finite");
    to->values = mem_copy(values, numbers * sizeof *values);
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
    const int32_t *keys, *means, *codes;
    const uint8_t *counted;
    const int64_t *at;
    const float *values;
    uint64_t numbers = 0;
    if (!saved_find(l, IN "tables", DTYPE_I32, 2 * tables, &keys) ||
        !saved_find(l, IN "means", DTYPE_I32, tables, &means) ||
        !saved_find(l, IN "counted", DTYPE_U8, tables, &counted) ||
        !saved_offsets(l, IN "codes.offsets", tables, &at))
        return false;
    for (uint64_t i = 0; i < tables; i++) {
        if (!load_table(l, t, &t->tables[i], keys + 2 * i, means[i], counted[i],
                        at[i + 1] - at[i]))
            return false;
        numbers += (uint64_t)t->tables[i].count * statistic_width(&t->tables[i]);
    }
    if (!saved_find(l, IN "codes", DTYPE_I32, 2 * (uint64_t)at[tables], &codes) ||
        !saved_find(l, IN "entries", DTYPE_F32, numbers, &values))
        return false;
    for (uint64_t i = 0; i < tables; i++) {
        if (!load_entries(l, t, &t->tables[i], codes + 2 * at[i], values))
            return false;
        values += (size_t)t->tables[i].count * statistic_width(&t->tables[i]);
    }
    return true;
}

static bool load_scale(const struct loading *l, const struct statistics *t)
{
    const double *center, *factor;
    if (!saved_find(l, IN "center", DTYPE_F64, t->numbers, &center) ||
        !saved_find(l, IN "factor", DTYPE_F64, t->numbers, &factor))
        return false;
    for (uint32_t i = 0; i < t->numbers; i++) {
        if (!isfinite(center[i]) || !isfinite(factor[i]) || factor[i] < 0)
            return saved_damaged(l, IN "center", "or .factor is not finite");
        l->encoder->numbers[t->first + i].center = center[i];
        l->encoder->numbers[t->first + i].factor = factor[i];
    }
    return true;
}

bool statistics_load(const struct loading *l)
{
    if (!saved_has(l, IN "keys"))
        return true;
    const struct tensor *columns = saved_need(l, IN "keys", DTYPE_I32, UINT64_MAX), *tables;
    if (!columns || !(tables = saved_need(l, IN "counted", DTYPE_U8, UINT64_MAX)))
        return false;
    if (columns->count > CSV_MOST_COLUMNS ||
        tables->count > CSV_MOST_COLUMNS + STATISTICS_PAIRS_MOST)
        return saved_damaged(l, IN "keys", "are too many");
    struct statistics *t = statistics_new((uint32_t)columns->count, (uint32_t)tables->count);
    if (!load_keys(l, t, columns->data) || !load_tables(l, t)) {
        statistics_free(t);
        return false;
    }
    encoder_add_statistics(l->encoder, t);
    return load_scale(l, t);
}
