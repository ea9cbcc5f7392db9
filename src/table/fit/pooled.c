/* pooled.c - see pooled.h. */
#include "table/fit/pooled.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/process/thread.h"
#include "table/encoder/drift.h"
#include "table/schema/record.h"

#define VALUES_MOST ((uint64_t)((double)(BLOOM_BYTES * 8) / BLOOM_BITS))

struct pooled_value {
    uint64_t key, rows;
};

struct search {
    const struct dataset *data;
    const uint32_t *rows;
    uint64_t count;
    struct encoder *const *encoders;
    uint32_t encoder_count;
    const uint32_t *column_of; /* by category slot */
    struct found {
        struct pooled_value *values;
        uint64_t count;
    } *found; /* by category slot */
};

/* Slots 0 and 1 are missing and unknown values. */
static bool is_pooled(const struct search *s, uint32_t slot, uint32_t id)
{
    for (uint32_t k = 0; k < s->encoder_count; k++)
        if (s->encoders[k]->slot_of[slot][id + 2] < 2)
            return true;
    return false;
}

static void search_tile(void *context, unsigned slot, unsigned hand)
{
    (void)hand;
    const struct search *s = context;
    const struct dataset *d = s->data;
    const struct column *c = &d->schema->columns[s->column_of[slot]];
    struct found *found = &s->found[slot];
    if (c->type != COLUMN_CATEGORICAL)
        return;
    const uint32_t at = d->rows.format.at_category + 4 * slot, values = vocab_count(c->values);
    uint64_t *rows = mem_zero((size_t)values + 2, sizeof *rows);
    for (uint64_t i = 0; i < s->count; i++)
        if (dataset_counts(d, s->rows[i]))
            rows[record_int(rows_at(&d->rows, s->rows[i]), at)]++;
    found->values = mem_alloc((size_t)values + 1, sizeof *found->values);
    for (uint32_t id = 0; id < values; id++) {
        size_t length;
        const char *text = vocab_text(c->values, id, &length);
        if (rows[id + 2] && is_pooled(s, slot, id))
            found->values[found->count++] =
                (struct pooled_value){category_key(c->name, text, length), rows[id + 2]};
    }
    mem_free(rows);
}

/* The most frequent ones first; the key decides between equals. */
static int by_rows(const void *one, const void *other, const void *context)
{
    const struct pooled_value *a = one, *b = other;
    (void)context;
    if (a->rows != b->rows)
        return a->rows > b->rows ? -1 : 1;
    return a->key < b->key ? -1 : a->key > b->key;
}

static struct bloom filter_of(const struct found *found, uint32_t categories)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < categories; i++)
        count += found[i].count;
    struct pooled_value *all = mem_alloc(count + 1, sizeof *all), *to = all;
    for (uint32_t i = 0; i < categories; i++) {
        if (found[i].count)
            memcpy(to, found[i].values, found[i].count * sizeof *to);
        to += found[i].count;
    }
    if (count > VALUES_MOST) {
        sort_stable(all, count, sizeof *all, by_rows, NULL);
        count = VALUES_MOST;
    }
    struct bloom b = bloom_make((double)count);
    for (uint64_t i = 0; i < count; i++)
        bloom_add(&b, all[i].key);
    mem_free(all);
    return b;
}

struct bloom pooled_make(const struct dataset *d, const uint32_t *rows, uint64_t count,
                         struct encoder *const *encoders, uint32_t encoder_count)
{
    const struct schema *s = d->schema;
    const uint32_t categories = s->category_count;
    bool any = false;
    uint32_t *column_of = mem_zero((size_t)categories + 1, sizeof *column_of);
    for (uint32_t i = 0; i < s->column_count; i++)
        if (s->columns[i].category != UINT32_MAX) {
            column_of[s->columns[i].category] = i;
            any = any || s->columns[i].type == COLUMN_CATEGORICAL;
        }
    struct search search = {.data = d,
                            .rows = rows,
                            .count = count,
                            .encoders = encoders,
                            .encoder_count = encoder_count,
                            .column_of = column_of,
                            .found = mem_zero((size_t)categories + 1, sizeof *search.found)};
    struct bloom b = {0};
    if (any) {
        threads_run_few(categories, search_tile, &search);
        b = filter_of(search.found, categories);
    }
    for (uint32_t i = 0; i < categories; i++)
        mem_free(search.found[i].values);
    mem_free(search.found);
    mem_free(column_of);
    return b;
}
