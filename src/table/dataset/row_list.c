/* row_list.c - see row_list.h. */
#include "table/dataset/row_list.h"

#include <math.h>

#include "base/mem.h"
#include "table/schema/record.h"
#include "table/sequence/windows.h"

static bool labelled(const struct dataset *d, uint64_t row)
{
    if (d->target)
        return !isnan(d->target[row]);
    return record_int(rows_at(&d->rows, row), d->rows.format.at_target) >= 0;
}

/* first: row 0 of the window's group. */
static void add_window(const struct dataset *d, uint64_t first, const struct window *x,
                       struct row_list *to)
{
    const uint64_t before = to->count;
    for (uint64_t t = x->answer; t < x->length; t++)
        if (labelled(d, first + x->first + t))
            to->index[to->count++] = (uint32_t)(first + x->first + t);
    if (to->count == before && !to->begins)
        return;
    if (to->begins)
        to->begins[to->window_count] = x->first == 0;
    window_rows(to->windows + to->window_count++ * to->window, to->window, first + x->first,
                x->length);
}

void row_list_windows(const struct dataset *d, const uint32_t *groups, uint64_t count,
                      struct row_list *to)
{
    const struct windows *w = &d->schema->windows;
    uint64_t most = 0;
    for (uint64_t i = 0; i < count; i++)
        most += windows_count(w, sample_records(&d->samples, groups[i]));
    *to = (struct row_list){.window = w->window, .each = w->label == LABEL_ROW};
    to->windows = mem_alloc(most * w->window + 1, sizeof *to->windows);
    if (w->carry)
        to->begins = mem_alloc(most + 1, sizeof *to->begins);
    to->index = mem_alloc(most * window_answers(w) + 1, sizeof *to->index);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t rows = sample_records(&d->samples, groups[i]);
        for (uint64_t k = 0; k < windows_count(w, rows); k++) {
            const struct window x = window_at(w, rows, k);
            add_window(d, sample_first(&d->samples, groups[i]), &x, to);
        }
    }
    to->windows = mem_grow(to->windows, to->window_count * w->window + 1, sizeof *to->windows);
    to->index = mem_grow(to->index, to->count + 1, sizeof *to->index);
}
