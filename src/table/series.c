/* series.c - see series.h. */
#include "table/series.h"

#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "table/cell_error.h"
#include "table/record.h"

bool series_place(const struct schema *s, const struct binding *b, const struct csv_block *block,
                  const struct csv_cells *cells, size_t record, uint64_t *group, double *order,
                  struct err *e)
{
    const struct windows *w = &s->windows;
    const struct csv_cell *cell = cell_at(b, cells, record, w->group);
    *group = rng_hash(cell->text, cell->length, 0);
    if (!order)
        return true;
    cell = cell_at(b, cells, record, w->order);
    *order = column_time(s, w->order, cell->text, cell->length);
    const struct cell_where where = {s, b, block, cells, record, e};
    return !isnan(*order) || cell_report_placeless(&where, w->order, cell);
}

static int by_place(const void *one, const void *other, const void *context)
{
    const struct row_place *a = one, *b = other;
    (void)context;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

void row_places_sort(struct row_place *places, size_t count)
{
    sort_stable(places, count, sizeof *places, by_place, NULL);
}

enum odd_step odd_step(const struct windows *w, double step)
{
    if (!(step > 0))
        return STEP_EQUAL;
    return w->step > 0 && step > 1.5 * w->step ? STEP_GAP : ODD_STEPS;
}

void odd_step_place(struct text *to, const char *path, int64_t line, const char *group,
                    size_t length)
{
    text_clear(to);
    text_printf(to, "%s:%lld", text_quote_z(path), (long long)line);
    text_printf(to, ", group \"%s\"", text_quote(group, length));
}

void odd_steps_note(const struct odd_steps *o, const struct schema *s)
{
    if (s->windows.order == UINT32_MAX)
        return;
    const char *name = s->columns[s->windows.order].name;
    for (int kind = 0; kind < ODD_STEPS; kind++) {
        const char *place = o->first[kind].data ? o->first[kind].data : "unknown";
        unsigned long long count = o->count[kind];
        if (count && kind == STEP_EQUAL)
            log_note("\"%s\" is as in the row before in %llu row%s of the same group; the first "
                     "one: %s", text_quote_z(name), count, count == 1 ? "" : "s", place);
        else if (count)
            log_note("\"%s\" has %llu gap%s: steps of more than %.9g inside a group; the first one "
                     "ends at %s", text_quote_z(name), count, count == 1 ? "" : "s",
                     s->windows.step, place);
    }
}

void odd_steps_free(struct odd_steps *o)
{
    for (int kind = 0; kind < ODD_STEPS; kind++)
        text_free(&o->first[kind]);
}

static bool labelled(const struct dataset *d, uint64_t row)
{
    if (d->target)
        return !isnan(d->target[row]);
    return record_int(rows_at(&d->rows, row), d->rows.format.at_target) >= 0;
}

/* Adds a window: `length` records from `first` on, if one of its answers has a target, or its
 * state is carried on. */
static void add_window(const struct dataset *d, uint64_t first, uint32_t length, bool begins,
                       struct row_list *to)
{
    const uint64_t before = to->count;
    for (uint32_t t = to->each ? 0 : length - 1; t < length; t++)
        if (labelled(d, first + t))
            to->index[to->count++] = (uint32_t)(first + t);
    if (to->count == before && !to->begins)
        return;
    if (to->begins)
        to->begins[to->window_count] = begins;
    uint32_t *records = to->windows + to->window_count++ * to->window;
    for (uint32_t t = 0; t < to->window; t++)
        records[t] = t < length ? (uint32_t)(first + t) : SAMPLE_NONE;
}

void series_list(const struct dataset *d, const uint32_t *groups, uint64_t count,
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
    to->index = mem_alloc(most * (to->each ? w->window : 1) + 1, sizeof *to->index);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t first = sample_first(&d->samples, groups[i]);
        uint64_t rows = sample_records(&d->samples, groups[i]);
        for (uint64_t k = 0; k < windows_count(w, rows); k++)
            add_window(d, first + k * w->stride, window_length(w, rows, k), k == 0, to);
    }
    to->windows = mem_grow(to->windows, to->window_count * w->window + 1, sizeof *to->windows);
    to->index = mem_grow(to->index, to->count + 1, sizeof *to->index);
}
