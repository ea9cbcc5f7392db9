/* leak_check.c - warnings about a table: columns that give the target away, rows in two parts,
 * numbers that are names. */
#include "table/leak.h"

#include <math.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/thread.h"
#include "table/stats_parts.h"

/* --- columns that give the target away --- */

struct sample {
    const struct schema *schema;
    const struct table *table;
    struct leak_target target;
    uint32_t *rows;
    double *explained; /* by schema column */
};

static void column_tile(void *context, unsigned tile, unsigned hand)
{
    (void)hand;
    struct sample *s = context;
    const struct column *c = &s->schema->columns[tile];
    uint32_t n = s->target.count;
    if (c->number != UINT32_MAX) {
        float *v = mem_alloc((size_t)n + 1, sizeof *v);
        for (uint32_t i = 0; i < n; i++)
            v[i] = stats_number_at(rows_at(&s->table->rows, s->rows[i]), c->number);
        s->explained[tile] = leak_of_number(&s->target, v);
        mem_free(v);
    } else if (c->category != UINT32_MAX) {
        int32_t *v = mem_alloc((size_t)n + 1, sizeof *v);
        for (uint32_t i = 0; i < n; i++)
            v[i] = stats_int_at(rows_at(&s->table->rows, s->rows[i]),
                                s->schema->format.at_category + 4 * c->category);
        s->explained[tile] = leak_of_group(&s->target, v, vocab_count(c->vocab) + 2);
        mem_free(v);
    }
}

static void check_columns(const struct schema *s, struct table *t)
{
    uint64_t rows = t->count[PART_TRAIN];
    uint32_t n = 0, most = rows < LEAK_ROWS ? (uint32_t)rows : LEAK_ROWS;
    struct sample sample = {.schema = s, .table = t};
    int32_t *label = mem_alloc((size_t)most + 1, sizeof *label);
    float *value = mem_alloc((size_t)most + 1, sizeof *value);
    sample.rows = mem_alloc((size_t)most + 1, sizeof *sample.rows);
    sample.explained = mem_zero(s->column_count, sizeof *sample.explained);
    for (uint32_t i = 0; i < most; i++) {
        uint32_t row = t->index[PART_TRAIN][(uint64_t)i * rows / most];
        const unsigned char *at = rows_at(&t->rows, row) + s->format.at_target;
        label[n] = stats_int_at(at, 0);
        value[n] = stats_number_at(at, 0);
        if (s->labels ? label[n] >= 0 : value[n] == value[n])
            sample.rows[n++] = row;
    }
    sample.target = (struct leak_target){.count = n,
                                         .classes = s->labels ? vocab_count(s->labels) : 0,
                                         .label = label,
                                         .value = value};
    threads_run_few((unsigned)s->column_count, column_tile, &sample);
    struct text list = {0};
    size_t found = 0;
    for (size_t i = 0; i < s->column_count; i++)
        if (!s->columns[i].constant && leak_suspect(&sample.target, sample.explained[i]) &&
            found++ < STATS_NAMED)
            text_printf(&list, "%s\"%s\"", found > 1 ? ", " : "", text_quote_z(s->columns[i].name));
    if (found > STATS_NAMED)
        text_printf(&list, " and %zu more", found - STATS_NAMED);
    if (found)
        stats_warn(t,
                   "one column alone gives the target away almost completely; leave it out unless "
                   "it is known beforehand: %s", list.data);
    text_free(&list);
    mem_free(label);
    mem_free(value);
    mem_free(sample.rows);
    mem_free(sample.explained);
}

/* --- the same rows in training and elsewhere --- */

/* A set of the hashes of validation and test rows; 0 marks a free place. */
struct hashes {
    uint64_t *place;
    uint8_t *met; /* a training row has it */
    size_t mask;
    const struct schema *schema;
    const struct table *table;
};

/* All but the weight. */
static uint64_t hash_row(const struct hashes *h, uint64_t row)
{
    uint64_t hash = rng_hash(rows_at(&h->table->rows, row), h->schema->format.at_weight, 0);
    return hash ? hash : 1;
}

static size_t find(const struct hashes *h, uint64_t hash)
{
    size_t at = hash & h->mask;
    while (h->place[at] && h->place[at] != hash)
        at = (at + 1) & h->mask;
    return at;
}

enum { TILE_ROWS = 16384 };

static void mark_tile(void *context, unsigned tile, unsigned thread)
{
    (void)thread;
    struct hashes *h = context;
    const uint32_t *rows = h->table->index[PART_TRAIN];
    uint64_t end = h->table->count[PART_TRAIN], from = (uint64_t)tile * TILE_ROWS;
    end = end - from < TILE_ROWS ? end : from + TILE_ROWS;
    for (uint64_t i = from; i < end; i++) {
        size_t at = find(h, hash_row(h, rows[i]));
        if (h->place[at]) /* several threads may say the same */
            __atomic_store_n(&h->met[at], 1, __ATOMIC_RELAXED);
    }
}

static void check_duplicates(const struct schema *s, struct table *t)
{
    uint64_t others = t->count[PART_VALID] + t->count[PART_TEST];
    size_t places = 16;
    if (!others)
        return;
    while (places < others + others / 2)
        places *= 2;
    struct hashes h = {.mask = places - 1, .schema = s, .table = t};
    h.place = mem_zero(places, sizeof *h.place);
    h.met = mem_zero(places, 1);
    for (int p = PART_VALID; p < PARTS; p++)
        for (uint64_t i = 0; i < t->count[p]; i++) {
            uint64_t hash = hash_row(&h, t->index[p][i]);
            h.place[find(&h, hash)] = hash;
        }
    threads_run((unsigned)((t->count[PART_TRAIN] + TILE_ROWS - 1) / TILE_ROWS), mark_tile, &h);
    for (int p = PART_VALID; p < PARTS; p++) {
        uint64_t same = 0;
        for (uint64_t i = 0; i < t->count[p]; i++)
            same += h.met[find(&h, hash_row(&h, t->index[p][i]))];
        if (same * 100 >= t->count[p] && same) /* fewer meet by chance, and change no metric */
            stats_warn(t,
                       "%llu of %llu %s rows equal a training row in every column used; if they "
                       "are copies, its metrics are too good", (unsigned long long)same,
                       (unsigned long long)t->count[p], part_names[p]);
    }
    mem_free(h.place);
    mem_free(h.met);
}

/* --- numbers that are names --- */

/* A float32 holds every whole number up to the first, a double up to the second. */
#define WHOLE_FLOAT 16777216.0f
#define WHOLE_DOUBLE 9007199254740992.0f

/* Of values in ascending order those beyond WHOLE_FLOAT. */
struct beyond {
    bool rounded; /* some may have been: not all are multiples of more than what a float32 holds */
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

/* The training values of a slot in ascending order; false: some are not whole. What a value beyond
 * 2^23 was before it was rounded is not known. */
static bool whole_values(const struct table *t, const struct number_slot *n, uint32_t slot,
                         float *values, uint32_t *count)
{
    *count = 0;
    for (uint64_t k = 0; k < t->count[PART_TRAIN]; k++) {
        float v = stats_number_at(rows_at(&t->rows, t->index[PART_TRAIN][k]), slot);
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

/* A numeric column that float32 rounds to whole numbers further apart than 1. */
static void check_identifiers(const struct schema *s, struct table *t)
{
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->type != COLUMN_NUMERIC)
            continue;
        const struct number_slot *n = &s->numbers[c->number];
        float most = fmaxf(fabsf(n->low), fabsf(n->high));
        if (most <= WHOLE_FLOAT)
            continue;
        float *values = mem_alloc(t->count[PART_TRAIN] + 1, sizeof *values);
        struct beyond b = {0};
        uint32_t count;
        if (whole_values(t, n, c->number, values, &count))
            b = beyond_of(values, count);
        if (b.rounded && (b.twice || most <= WHOLE_DOUBLE))
            stats_warn(t,
                       "column \"%s\" goes to %.17g, where float32 makes numbers equal that are "
                       "nearer than %.9g to each other%s: what looks like an identifier is better "
                       "of type \"categorical\" or \"ignore\"", text_quote_z(c->name),
                       n->offset + (double)(n->high >= -n->low ? n->high : n->low),
                       (double)(most - nextafterf(most, 0)),
                       b.twice ? ", and equal ones are met" : "");
        mem_free(values);
    }
}

void leak_check(const struct schema *s, struct table *t)
{
    check_identifiers(s, t);
    check_columns(s, t);
    check_duplicates(s, t);
}
