/* statistics_keys.c - the keys of target statistics: columns, their values, and ids of the rows. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/process/thread.h"
#include "table/fit/statistics_fit.h"

enum { ROWS_A_VALUE = 4 }; /* a number with fewer rows a value is no key */

/* Reads the distinct values of a number, ascending. False: it has more than `most`. */
static bool read_values(const struct statistics_fit *f, struct statistic_key *k, uint32_t most)
{
    const struct rows *rows = &f->fit->data->rows;
    uint32_t mask = 1023, count = 0;
    while (mask < 2 * (uint64_t)most)
        mask = 2 * mask + 1;
    uint32_t *table = mem_zero((size_t)mask + 1, sizeof *table);
    k->values = mem_alloc((size_t)most + 2, sizeof *k->values);
    for (uint32_t i = 0; i < f->count && count <= most; i++) {
        float v = record_number(rows_at(rows, f->fit->weighed.single[i]), k->slot);
        uint32_t bits;
        v = v + 0.0f; /* -0 is 0 */
        memcpy(&bits, &v, sizeof bits);
        uint32_t at = (uint32_t)(bits * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
        if (v != v)
            continue;
        while (table[at] && (k->values[table[at] - 1] < v || k->values[table[at] - 1] > v))
            at = (at + 1) & mask;
        if (!table[at]) {
            k->values[count++] = v;
            table[at] = count;
        }
    }
    mem_free(table);
    k->count = count;
    sort_floats(k->values, count);
    return count <= most;
}

/* Reads the ids of the rows. Returns how many differ. */
static uint32_t read_ids(struct statistics_fit *f, uint32_t key)
{
    const struct statistic_key *k = &f->made->keys[key];
    const struct rows *rows = &f->fit->data->rows;
    const int32_t *slot_of = k->number ? NULL : f->fit->encoder->slot_of[k->slot];
    const uint32_t at = rows->format.at_category + 4 * k->slot;
    uint8_t *met = mem_zero((size_t)k->count + 2, 1);
    uint32_t *ids = mem_alloc((size_t)f->count + 1, sizeof *ids), differ = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        const unsigned char *record = rows_at(rows, f->fit->weighed.single[i]);
        ids[i] = k->number ? statistic_id(k, record_number(record, k->slot))
                           : (uint32_t)slot_of[record_int(record, at)];
        differ += !met[ids[i]];
        met[ids[i]] = 1;
    }
    mem_free(met);
    f->ids[key] = ids;
    return differ;
}

bool statistics_is_key(const struct schema *s, const struct column *c)
{
    bool kind = c->type == COLUMN_CATEGORICAL || c->type == COLUMN_NUMERIC;
    return kind && (s->all_keys || c->keyed ||
                    (c->type == COLUMN_CATEGORICAL && c->encode >= ENCODE_TARGET));
}

struct keys_task {
    struct statistics_fit *f;
    bool *keep;          /* [keys] */
};

static void key_tile(void *context, unsigned tile, unsigned hand)
{
    struct keys_task *t = context;
    struct statistics_fit *f = t->f;
    struct statistic_key *k = &f->made->keys[tile];
    const struct column *c = &f->fit->encoder->schema->columns[k->column];
    const double rows = weighed_rows(&f->fit->weighed, f->fit->count) / ROWS_A_VALUE;
    const uint32_t most = rows < f->count ? (uint32_t)rows : f->count;
    (void)hand;
    k->number = c->type == COLUMN_NUMERIC;
    k->slot = k->number ? c->number : c->category;
    k->count = k->number ? 0 : vocab_count(f->fit->encoder->columns[k->column].vocab);
    t->keep[tile] = (!k->number ||
                     read_values(f, k, c->keyed ? f->count : most)) &&
                    (read_ids(f, tile) > 1 || c->keyed || c->encode >= ENCODE_TARGET);
}

void statistics_keys(struct statistics_fit *f)
{
    const struct schema *s = f->fit->encoder->schema;
    uint32_t found = 0, kept = 0;
    f->made = statistics_new((uint32_t)s->column_count, 0);
    for (uint32_t i = 0; i < s->column_count; i++)
        if (statistics_is_key(s, &s->columns[i]))
            f->made->keys[found++].column = i;
    struct keys_task t = {.f = f, .keep = mem_zero((size_t)found + 1, sizeof *t.keep)};
    f->ids = mem_zero((size_t)found + 1, sizeof *f->ids);
    threads_run_few(found, key_tile, &t);
    for (uint32_t i = 0; i < found; i++) {
        struct statistic_key *k = &f->made->keys[i];
        if (t.keep[i]) {
            f->ids[kept] = f->ids[i];
            f->made->keys[kept++] = *k;
        } else {
            mem_free(f->ids[i]);
            mem_free(k->values);
        }
    }
    f->made->key_count = kept;
    mem_free(t.keep);
}

