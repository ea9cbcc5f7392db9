/* effect_grid.c - see effect_grid.h. */
#include "answer/explain/effect_grid.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"

/* The cells of one value: cells[first .. end). */
struct run {
    uint32_t first, end;
    double weight;
};

static int by_value(const void *a, const void *b, const void *context)
{
    const struct grid_cell *x = a, *y = b;
    (void)context;
    if (x->missing != y->missing)
        return x->missing ? 1 : -1;
    return x->missing ? 0 : x->at < y->at ? -1 : x->at > y->at;
}

static int by_text(const void *a, const void *b, const void *context)
{
    const struct grid_cell *x = a, *y = b;
    (void)context;
    if (x->missing != y->missing)
        return x->missing ? 1 : -1;
    if (x->missing)
        return 0;
    int order = memcmp(x->text, y->text, x->length < y->length ? x->length : y->length);
    return order ? order : x->length < y->length ? -1 : x->length > y->length;
}

static int by_weight(const void *a, const void *b, const void *context)
{
    const struct run *x = a, *y = b;
    (void)context;
    return x->weight > y->weight ? -1 : x->weight < y->weight;
}

/* Sorts the cells and lists the runs of equal present ones. *present: number of present cells. */
static struct run *list_runs(struct grid_cell *cells, uint32_t count,
                             int (*compare)(const void *, const void *, const void *),
                             uint32_t *runs, uint32_t *present)
{
    struct run *list = mem_zero((size_t)count + 1, sizeof *list);
    *runs = *present = 0;
    sort_stable(cells, count, sizeof *cells, compare, NULL);
    for (uint32_t i = 0; i < count && !cells[i].missing; i++) {
        if (!i || compare(&cells[i - 1], &cells[i], NULL) != 0)
            list[(*runs)++].first = i;
        list[*runs - 1].end = i + 1;
        list[*runs - 1].weight += cells[i].weight;
        *present = i + 1;
    }
    return list;
}

/* A point of the cells first .. end, whose cell is `of`. */
static struct grid_point *add_point(struct grid *g, enum effect_kind kind,
                                    const struct grid_cell *cells, uint32_t first, uint32_t end,
                                    uint32_t of)
{
    struct grid_point *p = &g->points[g->count++];
    *p = (struct grid_point){.kind = kind, .at = cells[of].at, .row = cells[of].row,
                             .rows = end - first};
    for (uint32_t i = first; i < end; i++)
        p->weight += cells[i].weight;
    return p;
}

/* The run of a bin in which half of its weight is reached. */
static uint32_t median_run(const struct run *runs, uint32_t first, uint32_t end)
{
    double all = 0, below = 0;
    for (uint32_t i = first; i < end; i++)
        all += runs[i].weight;
    for (uint32_t i = first; i + 1 < end; i++) {
        below += runs[i].weight;
        if (2 * below >= all)
            return i;
    }
    return end - 1;
}

void grid_numbers(struct grid *g, struct grid_cell *cells, uint32_t count)
{
    uint32_t runs, present;
    struct run *list = list_runs(cells, count, by_value, &runs, &present);
    double all = 0, below = 0;
    *g = (struct grid){.points = mem_zero(GRID_NUMBERS_MOST + 1, sizeof *g->points)};
    for (uint32_t i = 0; i < runs; i++)
        all += list[i].weight;
    for (uint32_t first = 0, end, bin = 0; first < runs; first = end) {
        for (end = first; end < runs; end++) { /* the bin in which the middle of the run lies */
            double middle = (below + list[end].weight / 2) / all * GRID_NUMBERS_MOST;
            uint32_t of = runs <= GRID_NUMBERS_MOST ? end : (uint32_t)middle;
            if (of >= GRID_NUMBERS_MOST) /* a weight that is lost in the sum of all */
                of = GRID_NUMBERS_MOST - 1;
            if (end > first && of != bin)
                break;
            bin = of;
            below += list[end].weight;
        }
        add_point(g, EFFECT_VALUE, cells, list[first].first, list[end - 1].end,
                  list[median_run(list, first, end)].first);
    }
    if (present < count)
        add_point(g, EFFECT_MISSING, cells, present, count, present);
    mem_free(list);
}

void grid_texts(struct grid *g, struct grid_cell *cells, uint32_t count)
{
    uint32_t runs, present, shown;
    struct run *list = list_runs(cells, count, by_text, &runs, &present);
    sort_stable(list, runs, sizeof *list, by_weight, NULL);
    shown = runs <= GRID_TEXTS_MOST + 1 ? runs : GRID_TEXTS_MOST;
    *g = (struct grid){.points = mem_zero(GRID_TEXTS_MOST + 2, sizeof *g->points)};
    for (uint32_t i = 0; i < shown; i++)
        add_point(g, EFFECT_VALUE, cells, list[i].first, list[i].end, list[i].first);
    if (shown < runs) {
        struct grid_point *p = &g->points[g->count++];
        *p = (struct grid_point){.kind = EFFECT_OTHER, .at = (double)NAN,
                                 .row = cells[list[shown].first].row,
                                 .others = mem_alloc(present, sizeof *p->others)};
        for (uint32_t i = shown; i < runs; i++) {
            p->weight += list[i].weight;
            for (uint32_t k = list[i].first; k < list[i].end; k++)
                p->others[p->rows++] = cells[k].row;
        }
    }
    if (present < count)
        add_point(g, EFFECT_MISSING, cells, present, count, present);
    mem_free(list);
}

void grid_free(struct grid *g)
{
    for (uint32_t i = 0; i < g->count; i++)
        mem_free(g->points[i].others);
    mem_free(g->points);
    *g = (struct grid){0};
}
