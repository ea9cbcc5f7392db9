/* leak_check.c - warnings about the data: columns that determine the target, rows in two parts,
 * numbers that are identifiers. */
#include "table/fit/leak.h"

#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "table/encoder/encoder.h"
#include "table/schema/record.h"
#include "table/dataset/record_hash.h"
#include "table/split/split.h"

enum { NAMED_MOST = 4 }; /* columns named in one warning */

/* The training rows and the list of remarks. */
struct check {
    const struct encoder *encoder;
    const struct schema *schema; /* the encoder's */
    const struct dataset *data;
    const struct split *split;
    const uint32_t *rows;
    uint64_t count;
    struct remarks *remarks;
};

/* --- columns that determine the target --- */

struct sample {
    const struct check *check;
    struct leak_target target;
    uint32_t *rows;
    double *explained; /* by schema column */
};

/* Columns of a tile: their cells share lines of the cache. */
enum { COLUMNS_TOGETHER = 8 };

/* The offset of a column's value in a record; UINT32_MAX: the network does not use it. */
static uint32_t value_at(const struct rowfmt *f, const struct column *c)
{
    return c->number != UINT32_MAX     ? 4 * c->number
           : c->category != UINT32_MAX ? f->at_category + 4 * c->category
                                       : UINT32_MAX;
}

static void measure(struct sample *s, size_t column, uint32_t *values)
{
    const struct check *k = s->check;
    const struct column *c = &k->schema->columns[column];
    if (c->number != UINT32_MAX) {
        s->explained[column] = leak_of_number(&s->target, (const float *)(const void *)values);
        return;
    }
    const int32_t *slot_of = k->encoder->slot_of[c->category];
    for (uint32_t i = 0; i < s->target.count; i++)
        values[i] = (uint32_t)slot_of[values[i]];
    s->explained[column] = leak_of_group(&s->target, (const int32_t *)values,
                                         vocab_count(k->encoder->columns[column].vocab) + 2);
}

static void column_tile(void *context, unsigned tile, unsigned hand)
{
    (void)hand;
    struct sample *s = context;
    const struct schema *schema = s->check->schema;
    const struct rows *rows = &s->check->data->rows;
    size_t from = (size_t)tile * COLUMNS_TOGETHER, columns = schema->column_count - from, used = 0;
    uint32_t n = s->target.count, at[COLUMNS_TOGETHER], *values;
    size_t column[COLUMNS_TOGETHER];
    for (size_t i = from; i < from + (columns < COLUMNS_TOGETHER ? columns : COLUMNS_TOGETHER); i++)
        if ((at[used] = value_at(&rows->format, &schema->columns[i])) != UINT32_MAX)
            column[used++] = i;
    values = mem_alloc(used * n + 1, sizeof *values);
    for (uint32_t i = 0; i < n; i++) {
        const unsigned char *record = rows_at(rows, s->rows[i]);
        __builtin_prefetch(rows_at(rows, s->rows[i + 8 < n ? i + 8 : i]) + at[0]);
        for (size_t k = 0; k < used; k++)
            memcpy(&values[k * n + i], record + at[k], sizeof *values);
    }
    for (size_t k = 0; k < used; k++)
        measure(s, column[k], values + k * n);
    mem_free(values);
}

/* Returns the target of a row: its class or its standardised value. False: missing. */
static bool read_target(const struct check *k, uint32_t row, int32_t *label, float *value)
{
    const struct schema *s = k->schema;
    if (s->labels) {
        int32_t id = record_int(rows_at(&k->data->rows, row), k->data->rows.format.at_target);
        *label = id < 0 ? -1 : k->encoder->class_of[id];
        return *label >= 0;
    }
    *value = (float)coding_encode(&k->encoder->coding, k->data->target[row]);
    return *value == *value;
}

static void report_columns(const struct check *k, const struct sample *sample)
{
    const struct schema *s = k->schema;
    struct text list = {0};
    size_t found = 0;
    for (size_t i = 0; i < s->column_count; i++)
        if (!k->encoder->columns[i].constant &&
            leak_suspect(&sample->target, sample->explained[i]) && found++ < NAMED_MOST)
            text_printf(&list, "%s\"%s\"", found > 1 ? ", " : "", text_quote_z(s->columns[i].name));
    if (found > NAMED_MOST)
        text_printf(&list, " and %zu more", found - NAMED_MOST);
    if (found)
        remark_add(k->remarks,
                   "one column alone gives the target away almost completely; leave it out unless "
                   "it is known beforehand: %s", list.data);
    text_free(&list);
}

static void check_columns(const struct check *k)
{
    uint32_t n = 0, most = k->count < LEAK_ROWS ? (uint32_t)k->count : LEAK_ROWS;
    struct sample sample = {.check = k};
    int32_t *label = mem_zero((size_t)most + 1, sizeof *label);
    float *value = mem_zero((size_t)most + 1, sizeof *value);
    sample.rows = mem_alloc((size_t)most + 1, sizeof *sample.rows);
    sample.explained = mem_zero(k->schema->column_count, sizeof *sample.explained);
    for (uint32_t i = 0; i < most; i++) {
        uint32_t row = k->rows[(uint64_t)i * k->count / most];
        if (read_target(k, row, &label[n], &value[n]))
            sample.rows[n++] = row;
    }
    sample.target = (struct leak_target){.count = n,
                                         .classes =
                                             k->schema->labels ? vocab_count(k->schema->labels) : 0,
                                         .label = label,
                                         .value = value};
    size_t columns = k->schema->column_count;
    threads_run_few((unsigned)((columns + COLUMNS_TOGETHER - 1) / COLUMNS_TOGETHER), column_tile,
                    &sample);
    report_columns(k, &sample);
    mem_free(label);
    mem_free(value);
    mem_free(sample.rows);
    mem_free(sample.explained);
}

/* --- the same rows in training and elsewhere --- */

/* A hash set; 0: free. */
struct hashes {
    uint64_t *place;
    size_t mask;
};

static size_t find(const struct hashes *h, uint64_t hash)
{
    size_t at = hash & h->mask;
    while (h->place[at] && h->place[at] != hash)
        at = (at + 1) & h->mask;
    return at;
}

static uint64_t hash_of(const uint64_t *hash, uint32_t row)
{
    return hash[row] ? hash[row] : 1;
}

static size_t power_above(uint64_t least)
{
    size_t size = 64;
    while (size < least)
        size *= 2;
    return size;
}

/* A hash set of validation and test rows: a bit each, in 16 times as many bits. */
struct sieve {
    uint64_t *bits;
    size_t mask;
};

static bool is_set(const struct sieve *s, uint64_t hash)
{
    return s->bits[(hash & s->mask) / 64] >> hash % 64 & 1;
}

static struct sieve make_sieve(const struct split *split, const uint64_t *hash)
{
    uint64_t others = split->record_count[PART_VALID] + split->record_count[PART_TEST];
    size_t size = power_above(16 * others);
    struct sieve s = {mem_zero(size / 64, sizeof *s.bits), size - 1};
    for (int p = PART_VALID; p < PARTS; p++)
        for (uint64_t i = 0; i < split->record_count[p]; i++) {
            uint64_t h = hash_of(hash, split->records[p][i]);
            s.bits[(h & s.mask) / 64] |= UINT64_C(1) << h % 64;
        }
    return s;
}

/* The training rows that pass the sieve: rows with a copy, and few others. */
static struct hashes sift(const struct check *k, const uint64_t *hash)
{
    struct sieve s = make_sieve(k->split, hash);
    uint64_t passed = 0;
    for (uint64_t i = 0; i < k->count; i++)
        passed += is_set(&s, hash_of(hash, k->rows[i]));
    struct hashes h = {.mask = power_above(passed + passed / 2) - 1};
    h.place = mem_zero(h.mask + 1, sizeof *h.place);
    for (uint64_t i = 0; i < k->count; i++) {
        uint64_t one = hash_of(hash, k->rows[i]);
        if (is_set(&s, one))
            h.place[find(&h, one)] = one;
    }
    mem_free(s.bits);
    return h;
}

/* By training rows, evenly spaced. */
static bool by_chance(const struct check *k, const uint64_t *hash)
{
    uint32_t n = k->count < LEAK_ROWS ? (uint32_t)k->count : LEAK_ROWS, copies;
    struct leak_row *rows = mem_alloc((size_t)n + 1, sizeof *rows);
    struct rowfmt inputs = k->data->rows.format;
    inputs.at_weight = inputs.at_target; /* the hash ends before the target */
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = k->rows[(uint64_t)i * k->count / n];
        rows[i] = (struct leak_row){record_hash(rows_at(&k->data->rows, row), &inputs), hash[row]};
    }
    bool chance = leak_by_chance(rows, n, &copies);
    mem_free(rows);
    return chance;
}

static void check_duplicates(const struct check *k, const uint64_t *hash)
{
    const struct split *s = k->split;
    if (!s->record_count[PART_VALID] && !s->record_count[PART_TEST])
        return;
    struct hashes h = sift(k, hash);
    for (int p = PART_VALID; p < PARTS; p++) {
        uint64_t same = 0;
        for (uint64_t i = 0; i < s->record_count[p]; i++)
            same += h.place[find(&h, hash_of(hash, s->records[p][i]))] != 0;
        if (!same || same * 100 < s->record_count[p])
            continue; /* so few change no metric */
        char said[160];
        snprintf(said, sizeof said,
                 "%llu of %llu %s rows equal a training row in every column used",
                 (unsigned long long)same, (unsigned long long)s->record_count[p], part_names[p]);
        if (same * 20 < s->record_count[p])
            log_note("%s", said);
        else if (by_chance(k, hash))
            log_note("%s: the columns have few values, and such rows meet by chance", said);
        else
            remark_add(k->remarks, "%s; if they are copies, its metrics are too good", said);
    }
    mem_free(h.place);
}

/* --- numbers that are identifiers --- */

/* Limits of exact integers: the first for float32, the second for double. */
#define WHOLE_FLOAT 16777216.0f
#define WHOLE_DOUBLE 9007199254740992.0f

/* The values beyond WHOLE_FLOAT, ascending. */
struct beyond {
    bool rounded; /* true: some may be rounded (not all are multiples of more than the float32
                   * step) */
    bool twice;   /* some are equal */
};

static struct beyond beyond_of(const float *sorted, uint32_t count)
{
    struct beyond b = {0};
    for (uint32_t i = 0; i < count; i++) {
        float v = fabsf(sorted[i]);
        if (v <= WHOLE_FLOAT)
            continue;
        b.rounded |= fmodf(v, 2 * (nextafterf(v, INFINITY) - v)) != 0;
        b.twice |= i > 0 && sorted[i] == sorted[i - 1];
    }
    return b;
}

/* Reads the training values of a slot, ascending. False: some are not integers. Values beyond 2^23
 * may be rounded. */
static bool whole_values(const struct check *c, const struct number_slot *n, uint32_t slot,
                         float *values, uint32_t *count)
{
    *count = 0;
    for (uint64_t k = 0; k < c->count; k++) {
        float v = record_number(rows_at(&c->data->rows, c->rows[k]), slot);
        double full = (double)v + n->offset;
        if (v != v)
            continue;
        if (full != rint(full))
            return false;
        values[(*count)++] = v;
    }
    sort_floats(values, *count);
    return true;
}

/* Warns of a numeric column that float32 rounds to integers more than 1 apart. */
static void check_identifiers(const struct check *k)
{
    const struct schema *s = k->schema;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->type != COLUMN_NUMERIC)
            continue;
        const struct number_slot *n = &k->encoder->numbers[c->number];
        float most = fmaxf(fabsf(n->low), fabsf(n->high));
        if (most <= WHOLE_FLOAT)
            continue;
        float *values = mem_alloc(k->count + 1, sizeof *values);
        struct beyond b = {0};
        uint32_t count;
        if (whole_values(k, n, c->number, values, &count))
            b = beyond_of(values, count);
        if (b.rounded && (b.twice || most <= WHOLE_DOUBLE))
            remark_add(k->remarks,
                       "column \"%s\" goes to %.17g, where float32 makes numbers equal that are "
                       "nearer than %.9g to each other%s: what looks like an identifier is better "
                       "of type \"categorical\" or \"ignore\"", text_quote_z(c->name),
                       n->offset + (double)(n->high >= -n->low ? n->high : n->low),
                       (double)(most - nextafterf(most, 0)),
                       b.twice ? ", and equal ones are met" : "");
        mem_free(values);
    }
}

void leak_check(const struct encoder *c, const struct dataset *d, const struct split *split,
                const uint64_t *hash, struct remarks *remarks)
{
    const struct check k = {.encoder = c,
                            .schema = c->schema,
                            .data = d,
                            .split = split,
                            .rows = split->records[PART_TRAIN],
                            .count = split->record_count[PART_TRAIN],
                            .remarks = remarks};
    check_identifiers(&k);
    check_columns(&k);
    if (!d->schema->windows.window) /* of sequences a row is but a step */
        check_duplicates(&k, hash);
}
