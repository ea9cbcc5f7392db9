/* hard_rows.c - see hard_rows.h. */
#include "answer/evaluate/hard_rows.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

static void free_cells(struct hard_row *r, size_t columns)
{
    for (size_t k = 0; r->cells && k < columns; k++)
        mem_free(r->cells[k]);
    mem_free(r->cells);
    r->cells = NULL;
}

static char **copy_cells(const struct stream *t, const struct stream_group *g, uint64_t i)
{
    const struct csv_record *r = &g->cells->records[g->first + i];
    char **cells = mem_zero(t->schema->column_count + 1, sizeof *cells);
    for (size_t k = 0; k < t->schema->column_count; k++) {
        const int32_t at = t->in.binding.cell_of[k];
        if (at < 0 || (uint32_t)at >= r->cells)
            continue;
        const struct csv_cell *c = &g->cells->cells[r->first_cell + (uint32_t)at];
        cells[k] = mem_alloc((size_t)c->length + 1, 1);
        memcpy(cells[k], c->text, c->length);
        cells[k][c->length] = '\0';
    }
    return cells;
}

static void take(struct hard_rows *h, const struct stream *t, const struct stream_group *g,
                 uint64_t i, const struct hard_row *as)
{
    uint32_t at = h->count;
    while (at && as->badness > h->rows[at - 1].badness)
        at--;
    if (at == HARD_ROWS)
        return;
    if (h->count == HARD_ROWS)
        free_cells(&h->rows[--h->count], h->columns);
    memmove(&h->rows[at + 1], &h->rows[at], (h->count - at) * sizeof *h->rows);
    h->rows[at] = *as;
    h->rows[at].file = stream_place(t, g, i, &h->rows[at].line);
    h->rows[at].cells = copy_cells(t, g, i);
    h->count++;
}

void hard_rows_add(struct hard_rows *h, const struct stream *t, const struct stream_group *g,
                   const struct scores *s, const struct tally *y)
{
    const uint32_t values = criterion_values(&y->criterion);
    const uint32_t middle = values > 1 ? loss_middle(y->criterion.loss.q, values) : 0;
    h->columns = t->schema->column_count;
    for (uint64_t i = 0; g->cells && i < g->rows; i++) {
        struct hard_row row = {.badness = 0};
        if (g->bad[i])
            continue;
        if (s->classes) {
            const double *p = s->probability + i * s->classes;
            row.label = (uint32_t)s->label[i];
            row.answer = decision_label(&y->decision, p, s->classes);
            row.probability = p[row.label];
            row.badness = 1 - row.probability;
        } else {
            row.truth = s->target[i];
            row.value = s->value[i * values + middle];
            row.badness = fabs(row.value - row.truth);
        }
        take(h, t, g, i, &row);
    }
}

void hard_rows_free(struct hard_rows *h)
{
    for (uint32_t k = 0; k < h->count; k++)
        free_cells(&h->rows[k], h->columns);
    *h = (struct hard_rows){0};
}
