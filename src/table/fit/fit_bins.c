/* fit_bins.c - fits the edges of piecewise-linear numbers: quantiles of the training values, or
 * the cuts of a tree on the target. Edges are found among the values as they are read, and stored
 * as the network gets them: scaled. */
#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/process/thread.h"
#include "table/encoder/cell.h"
#include "table/fit/fit.h"
#include "table/fit/tree.h"

/* least rows of a leaf: LEAF_ROWS, or a 500th of the rows */
enum { LEAF_ROWS = 20, LEAF_SHARE = 500 };

/* The present values of a number, ascending, with the target of each for a tree. */
struct pairs {
    float *v;
    int32_t *y;
    uint32_t count;
};

struct bins_task {
    const struct fit *fit;
    uint32_t *columns; /* numbers of the schema with bins */
    uint32_t count;
};

/* The target of a row as a tree takes it; false: the row has none. */
static bool target_of(const struct fit *f, uint32_t row, int32_t *y)
{
    const struct encoder *c = f->encoder;
    if (!c->class_of) {
        double value = f->data->target[row];
        *y = tree_value(coding_encode(&c->coding, value));
        return value == value;
    }
    int32_t id = record_int(rows_at(&f->data->rows, row), f->data->rows.format.at_target);
    *y = id < 0 ? -1 : c->class_of[id];
    return *y >= 0;
}

static struct pairs gather(const struct fit *f, uint32_t slot, bool targets)
{
    struct pairs p = {.v = mem_alloc(f->count + 1, sizeof *p.v),
                      .y = targets ? mem_alloc(f->count + 1, sizeof *p.y) : NULL};
    for (uint64_t i = 0; i < f->count; i++) {
        float v = record_number(rows_at(&f->data->rows, f->rows[i]), slot);
        if (v != v || (targets && !target_of(f, f->rows[i], &p.y[p.count])))
            continue;
        p.v[p.count++] = v;
    }
    return p;
}

static void sort_pairs(struct pairs *p)
{
    uint32_t *order = mem_alloc((size_t)p->count + 1, sizeof *order);
    int32_t *y = mem_alloc((size_t)p->count + 1, sizeof *y);
    sort_order_floats(order, p->v, p->count);
    for (uint32_t i = 0; i < p->count; i++)
        y[i] = p->y[order[i]];
    mem_free(p->y);
    p->y = y;
    mem_free(order);
    sort_floats(p->v, p->count);
}

/* bins + 1 values at equal shares of the rows, interpolated between neighbours. */
static uint32_t quantile_edges(const struct pairs *p, uint32_t bins, float *edges)
{
    for (uint32_t k = 0; k <= bins; k++) {
        double rank = (double)k * (double)(p->count - 1) / (double)bins;
        uint32_t i = (uint32_t)rank, next = i + 1 < p->count ? i + 1 : i;
        double part = rank - (double)i;
        edges[k] = (float)((double)p->v[i] * (1 - part) + (double)p->v[next] * part);
    }
    return bins + 1;
}

/* The range of the values, cut by the tree. */
static uint32_t tree_edges(const struct fit *f, const struct pairs *p, uint32_t bins, float *edges)
{
    const struct schema *s = f->encoder->schema;
    uint32_t share = p->count / LEAF_SHARE;
    uint32_t rows = (uint32_t)fmax(1, round(LEAF_ROWS * f->weighed.unit));
    struct tree t = {.v = p->v,
                     .y = p->y,
                     .count = p->count,
                     .classes = s->labels ? vocab_count(s->labels) : 0,
                     .leaves = bins,
                     .least = share > rows ? share : rows};
    uint32_t cuts = tree_cuts(&t, edges + 1);
    edges[0] = p->v[0];
    edges[cuts + 1] = p->v[p->count - 1];
    return cuts + 2;
}

/* Without the equal ones. */
static uint32_t distinct(float *edges, uint32_t count)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (!kept || edges[i] > edges[kept - 1])
            edges[kept++] = edges[i];
    return kept;
}

/* One bin is the number itself, on another scale: it stays plain. */
static void fit_column(const struct fit *f, const struct column *c)
{
    struct number_slot *n = &f->encoder->numbers[c->number];
    bool tree = c->edges == EDGES_TREE;
    uint32_t bins = (uint32_t)c->bins, count = 0;
    struct pairs p = gather(f, c->number, tree);
    float *edges = mem_alloc((size_t)bins + 2, sizeof *edges);
    if (tree)
        sort_pairs(&p);
    else
        sort_floats(p.v, p.count);
    if (p.count > 1)
        count = tree ? tree_edges(f, &p, bins, edges) : quantile_edges(&p, bins, edges);
    number_apply(n, edges, count);
    count = distinct(edges, count);
    if (count > 2) {
        n->edges = mem_copy(edges, count * sizeof *edges);
        n->edge_count = count;
        n->alone = !(c->encodes & (1u << NUMBER_PLAIN | 1u << NUMBER_PERIODIC));
    }
    mem_free(edges);
    mem_free(p.v);
    mem_free(p.y);
}

static void fit_tile(void *context, unsigned tile, unsigned hand)
{
    const struct bins_task *t = context;
    (void)hand;
    fit_column(t->fit, &t->fit->encoder->schema->columns[t->columns[tile]]);
}

void fit_bins(struct fit *f)
{
    const struct schema *s = f->encoder->schema;
    struct bins_task t = {.fit = f, .columns = mem_alloc(s->column_count, sizeof *t.columns)};
    for (uint32_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->type != COLUMN_NUMERIC)
            continue;
        f->encoder->numbers[c->number].periodic = c->encodes >> NUMBER_PERIODIC & 1u;
        if (c->encodes & 1u << NUMBER_PLE)
            t.columns[t.count++] = i;
    }
    threads_run_few(t.count, fit_tile, &t);
    mem_free(t.columns);
}
