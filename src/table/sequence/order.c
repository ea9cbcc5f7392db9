/* order.c - see order.h. */
#include "table/sequence/order.h"

#include <math.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "table/encoder/cell_error.h"
#include "table/schema/vocab.h"

/* --- a row --- */

bool series_step_read(const struct schema *s, const struct binding *b,
                      const struct csv_block *block, const struct csv_cells *cells, size_t record,
                      struct series_step *to, struct err *e)
{
    const struct windows *w = &s->windows;
    const struct csv_cell *cell = cell_at(b, cells, record, w->group);
    *to = (struct series_step){.group = rng_hash(cell->text, cell->length, 0)};
    if (w->order == UINT32_MAX)
        return true;
    cell = cell_at(b, cells, record, w->order);
    to->order = column_time(s, w->order, cell->text, cell->length);
    const struct cell_where where = {s, NULL, b, block, cells, record, e};
    return !isnan(to->order) || cell_report_placeless(&where, w->order, cell);
}

bool series_step_follow(const struct schema *s, const struct binding *b,
                        const struct csv_block *block, const struct csv_cells *cells,
                        size_t record, const struct series_step *before, bool joined,
                        struct series_step *to)
{
    struct err ignored = {0};
    *to = *before;
    const bool good = cells->records[record].cells == b->cells &&
                      series_step_read(s, b, block, cells, record, to, &ignored);
    if (!good)
        to->order = joined && to->group == before->group ? before->order : (double)-INFINITY;
    return good;
}

/* --- all rows --- */

bool disorder_report(const struct schema *s, enum disorder why, struct err *e)
{
    const char *group = s->columns[s->windows.group].name;
    if (why == GROUP_APART)
        return err_set(e, ERR_SERIES_ORDER,
                       "the rows of a group (\"%s\") stand apart: other rows come before this one",
                       text_quote_z(group));
    return err_set(e, ERR_SERIES_ORDER,
                   "\"%s\" is less than in the row before, which is of the same group (\"%s\")",
                   text_quote_z(s->columns[s->windows.order].name), text_quote_z(group));
}

void row_places_begin(struct row_places *p, uint64_t rows)
{
    *p = (struct row_places){.at = mem_alloc(rows + 1, sizeof *p->at), .met = vocab_new()};
}

void row_places_part(struct row_places *p)
{
    p->groups += vocab_count(p->met);
    vocab_free(p->met);
    p->met = vocab_new();
}

void row_places_add(struct row_places *p, const struct series_step *step)
{
    const uint32_t known = vocab_count(p->met);
    const struct row_place *before = known ? &p->at[p->count - 1] : NULL;
    const bool same = before && step->group == p->group;
    const uint32_t id =
        same ? before->group
             : p->groups + vocab_add(p->met, (const char *)&step->group, sizeof step->group);
    const bool falls = same && step->order < before->order;
    if (p->why == IN_ORDER && (falls || (!same && id - p->groups < known))) {
        p->why = falls ? ORDER_FALLS : GROUP_APART;
        p->bad = p->count;
    }
    p->at[p->count] = (struct row_place){step->order, id, (uint32_t)p->count};
    p->count++;
    p->group = step->group;
}

static int by_place(const void *one, const void *other, const void *context)
{
    const struct row_place *a = one, *b = other;
    (void)context;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

bool row_places_sort(struct row_places *p)
{
    bool moved = false;
    sort_stable(p->at, p->count, sizeof *p->at, by_place, NULL);
    for (uint64_t i = 0; i < p->count && !moved; i++)
        moved = p->at[i].row != i;
    return moved;
}

uint64_t row_places_end(const struct row_places *p, uint64_t begin)
{
    uint64_t end = begin + 1;
    while (end < p->count && p->at[end].group == p->at[begin].group)
        end++;
    return end;
}

void row_places_free(struct row_places *p)
{
    mem_free(p->at);
    if (p->met)
        vocab_free(p->met);
    *p = (struct row_places){0};
}

void row_places_note(const struct row_places *p, const struct schema *s, const char *more)
{
    log_note("rows were put in order by \"%s\" and \"%s\": all %llu are held in memory for it%s",
             text_quote_z(s->columns[s->windows.group].name),
             text_quote_z(s->columns[s->windows.order].name), (unsigned long long)p->count, more);
}

/* --- what is unusual --- */

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
