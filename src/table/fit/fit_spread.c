/* fit_spread.c - fits how the training values of the columns are spread, on some of the rows.
 * Prediction compares with it. */
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/process/thread.h"
#include "table/fit/fit.h"

#define VALUES_MOST ((uint64_t)4 << 20) /* of all columns; at least ROWS_LEAST a column */
#define ROWS_LEAST 1024u

struct spread {
    const struct fit *fit;
    uint64_t rows;
};

static const unsigned char *record_of(const struct spread *p, uint64_t i)
{
    const struct fit *f = p->fit;
    return rows_at(&f->data->rows, f->rows[i * f->count / p->rows]);
}

/* Edges at the tenths of the values, each once; none at the largest. */
static void spread_number(const struct spread *p, uint32_t number, struct distribution *spread)
{
    float *v = mem_alloc(p->rows, sizeof *v), *sorted = mem_alloc(p->rows, sizeof *sorted);
    uint64_t count = 0;
    uint32_t edges = 0;
    float edge[DISTRIBUTION_EDGES];
    for (uint64_t i = 0; i < p->rows; i++) {
        v[i] = record_number(record_of(p, i), number);
        if (v[i] == v[i])
            sorted[count++] = v[i];
    }
    sort_floats(sorted, count);
    for (uint64_t k = 1; count && k <= DISTRIBUTION_EDGES; k++) {
        float at = sorted[k * count / (DISTRIBUTION_EDGES + 1)];
        if (at < sorted[count - 1] && (!edges || at > edge[edges - 1]))
            edge[edges++] = at;
    }
    distribution_new(spread, edges + 2);
    spread->edges = edges;
    memcpy(spread->edge, edge, edges * sizeof *edge);
    for (uint64_t i = 0; i < p->rows; i++)
        spread->rows[distribution_place(spread, v[i])]++;
    mem_free(v);
    mem_free(sorted);
}

static void spread_category(const struct spread *p, uint32_t category, uint32_t places,
                            struct distribution *spread)
{
    const int32_t *slot_of = p->fit->encoder->slot_of[category];
    uint32_t at = p->fit->data->rows.format.at_category + 4 * category;
    if (places > DISTRIBUTION_PLACES_MOST)
        return;
    distribution_new(spread, places);
    for (uint64_t i = 0; i < p->rows; i++)
        spread->rows[slot_of[record_int(record_of(p, i), at)]]++;
}

static void spread_tile(void *context, unsigned tile, unsigned hand)
{
    const struct spread *p = context;
    const struct column *c = &p->fit->encoder->schema->columns[tile];
    struct column_fit *fit = &p->fit->encoder->columns[tile];
    (void)hand;
    if (c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME)
        spread_number(p, c->number, &fit->spread);
    else if (c->type == COLUMN_CATEGORICAL)
        spread_category(p, c->category, vocab_count(fit->vocab) + 2, &fit->spread);
}

void fit_spread(const struct fit *f)
{
    const struct schema *s = f->encoder->schema;
    struct spread p = {.fit = f, .rows = VALUES_MOST / s->column_count};
    if (s->steps)
        return;
    p.rows = p.rows > ROWS_LEAST ? p.rows : ROWS_LEAST;
    p.rows = p.rows < DISTRIBUTION_ROWS_MOST ? p.rows : DISTRIBUTION_ROWS_MOST;
    p.rows = p.rows < f->count ? p.rows : f->count;
    threads_run_few((unsigned)s->column_count, spread_tile, &p);
}
