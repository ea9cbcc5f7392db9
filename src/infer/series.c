/* series.c - finds sequences in long format: a column of groups whose rows stand together, and a
 * column of order that rises in each group by equal steps and begins anew in the next. Names alone
 * or cells alone prove nothing: a table sorted by two columns has the same cells. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "csv/form/date.h"
#include "csv/form/number.h"
#include "infer/survey.h"
#include "table/schema/vocab.h"

enum { MOST_COLUMNS = 4, LEAST_GROUPS = 8, LEAST_ROWS = 4, STEPS_KEPT = 4096 };

/* A column that may be the groups. */
struct grouping {
    size_t column;
    uint64_t now, label; /* hashes: of the group's last cell, of its last label */
    struct vocab *met;
    uint64_t rows, longest;
    bool begins, apart;          /* the row begins a group; one came again */
    bool labelled, tail, varies; /* the group has a label, its last row too; a group has several */
};

/* An order within a grouping. */
struct ordering {
    uint64_t steps, falls, equal, borders, restarts;
    double *kept; /* [STEPS_KEPT] the first steps */
};

struct search {
    const struct infer *infer;
    struct grouping groups[MOST_COLUMNS];
    size_t orders[MOST_COLUMNS], group_count, order_count;
    double before[MOST_COLUMNS]; /* by order: the row before */
    struct ordering pairs[MOST_COLUMNS][MOST_COLUMNS]; /* group, order */
    bool any; /* a row was read */
};

/* --- the columns that may be it --- */

static void find_columns(struct search *s, const bool *given)
{
    const struct infer *f = s->infer;
    for (size_t i = 0; i < f->count; i++) {
        const struct infer_column *c = &f->columns[i];
        if (i == f->target || given[i] || c->missing || c->form || c->distinct < LEAST_ROWS)
            continue;
        bool rare = !c->distinct_capped && c->distinct * LEAST_ROWS <= f->rows;
        bool ordered = c->type == COLUMN_NUMERIC || c->type == COLUMN_DATETIME;
        if (ordered && s->order_count < MOST_COLUMNS && column_names_order(c->name))
            s->orders[s->order_count++] = i;
        else if (rare && c->distinct >= LEAST_GROUPS && s->group_count < MOST_COLUMNS &&
                 c->type != COLUMN_DATETIME && column_names_group(c->name))
            s->groups[s->group_count++].column = i;
    }
}

/* --- a row --- */

static uint64_t cell_hash(const struct csv_cell *c)
{
    return rng_hash(c->text, c->length, 0);
}

static double place_of(const struct infer *f, const struct csv_cell *c)
{
    double v;
    if (number_parse(c->text, c->length, f->decimal, &v) == NUMBER_OK ||
        date_parse(c->text, c->length, &v))
        return v;
    return (double)NAN;
}

static void end_group(struct grouping *g)
{
    g->longest = g->rows > g->longest ? g->rows : g->longest;
    g->varies |= g->labelled && !g->tail;
    g->rows = 0;
    g->labelled = false;
}

static void look_at_group(struct search *s, struct grouping *g, const struct csv_cell *cells)
{
    const struct csv_cell *target = &cells[s->infer->target];
    uint64_t key = cell_hash(&cells[g->column]), label = cell_hash(target);
    g->begins = !s->any || key != g->now;
    if (g->begins) {
        end_group(g);
        uint32_t known = vocab_count(g->met);
        g->apart |= vocab_add(g->met, (const char *)&key, sizeof key) < known;
        g->now = key;
    }
    g->rows++;
    g->tail = !infer_is_missing(s->infer, s->infer->target, target->text, target->length);
    if (!g->tail)
        return;
    g->varies |= g->labelled && label != g->label;
    g->labelled = true;
    g->label = label;
}

static void look_at_order(struct search *s, const struct grouping *g, struct ordering *p,
                          double before, double place)
{
    if (!s->any)
        return;
    if (g->begins) {
        p->borders++;
        p->restarts += place <= before;
        return;
    }
    if (p->steps < STEPS_KEPT)
        p->kept[p->steps] = place - before;
    p->steps++;
    p->falls += !(place >= before); /* or none of them is a place */
    p->equal += place == before;
}

static void look_at_row(struct search *s, const struct csv_cell *cells)
{
    double place[MOST_COLUMNS];
    for (size_t k = 0; k < s->order_count; k++)
        place[k] = place_of(s->infer, &cells[s->orders[k]]);
    for (size_t i = 0; i < s->group_count; i++) {
        struct grouping *g = &s->groups[i];
        if (g->apart)
            continue;
        look_at_group(s, g, cells);
        for (size_t k = 0; k < s->order_count; k++)
            look_at_order(s, g, &s->pairs[i][k], s->before[k], place[k]);
    }
    memcpy(s->before, place, s->order_count * sizeof *place);
    s->any = true;
}

static bool read_rows(struct search *s, const struct infer_request *r, struct err *e)
{
    struct csv *c = infer_open(r, &s->infer->dialect, e);
    struct csv_cells cells = {0};
    struct csv_block b;
    bool good = c != NULL;
    while (good && csv_next(c, &b, e)) {
        good = !(r->stop && r->stop()) &&
               csv_cells_parse(&s->infer->dialect, &b, s->infer->count, &cells, e);
        for (size_t i = 0; good && i < cells.record_count; i++)
            if (cells.records[i].cells == s->infer->count)
                look_at_row(s, cells.cells + cells.records[i].first_cell);
        csv_release(c, &b);
    }
    csv_cells_free(&cells);
    csv_close(c);
    return good && e->id == ERR_NONE;
}

/* --- proofs --- */

/* The distance of most rows: three of four steps are within a seventh of it, as months are; 0:
 * there is none. */
static double usual_step(const struct ordering *p)
{
    size_t count = p->steps < STEPS_KEPT ? (size_t)p->steps : STEPS_KEPT, alike = 0;
    double *steps = mem_copy(p->kept, (count + 1) * sizeof *steps);
    sort_doubles(steps, count);
    double middle = count ? steps[count / 2] : 0;
    for (size_t i = 0; i < count; i++)
        alike += fabs(steps[i] - middle) <= middle / 7;
    mem_free(steps);
    return 4 * alike >= 3 * count ? middle : 0;
}

/* Few steps stand still, and most groups begin anew. */
static bool begins_anew(const struct ordering *p)
{
    return p->equal * 100 <= p->steps && p->restarts * 4 >= p->borders * 3;
}

static bool proves(const struct search *s, const struct grouping *g, const struct ordering *p)
{
    const uint64_t groups = vocab_count(g->met);
    return !g->apart && groups >= LEAST_GROUPS && s->infer->rows >= LEAST_ROWS * groups &&
           !p->falls && begins_anew(p) && usual_step(p) > 0;
}

/* Why names that fit prove nothing; NULL: a table sorted by two columns needs no word. */
static const char *speaks_against(const struct grouping *g, const struct ordering *p)
{
    if (g->apart)
        return "the rows of a group stand apart";
    if (p->falls)
        return "the order falls within a group";
    return begins_anew(p) && usual_step(p) <= 0 ? "the steps of the order are unequal" : NULL;
}

static void doubt(const struct search *s, size_t group, size_t order, struct infer_series *found)
{
    const struct grouping *g = &s->groups[group];
    const struct ordering *p = &s->pairs[group][order];
    const char *against = speaks_against(g, p);
    if (against && !found->against)
        *found = (struct infer_series){.group = g->column,
                                       .order = s->orders[order],
                                       .against = against,
                                       .unordered = g->apart || p->falls};
}

static void conclude(const struct search *s, struct infer_series *found)
{
    for (size_t i = 0; i < s->group_count; i++)
        for (size_t k = 0; k < s->order_count && !found->groups; k++)
            if (proves(s, &s->groups[i], &s->pairs[i][k]))
                *found = (struct infer_series){.group = s->groups[i].column,
                                               .order = s->orders[k],
                                               .groups = vocab_count(s->groups[i].met),
                                               .longest = s->groups[i].longest,
                                               .varies = s->groups[i].varies};
    for (size_t i = 0; i < s->group_count; i++)
        for (size_t k = 0; k < s->order_count && !found->groups; k++)
            doubt(s, i, k, found);
}

bool infer_series(const struct infer_request *r, const bool *given, struct infer *i, struct err *e)
{
    struct search s = {.infer = i};
    find_columns(&s, given);
    if (!s.group_count || !s.order_count)
        return true;
    for (size_t k = 0; k < s.group_count; k++) {
        s.groups[k].met = vocab_new();
        for (size_t o = 0; o < s.order_count; o++)
            s.pairs[k][o].kept = mem_alloc(STEPS_KEPT + 1, sizeof *s.pairs[k][o].kept);
    }
    bool good = read_rows(&s, r, e);
    for (size_t k = 0; k < s.group_count; k++)
        end_group(&s.groups[k]);
    if (good)
        conclude(&s, &i->series);
    for (size_t k = 0; k < s.group_count; k++) {
        vocab_free(s.groups[k].met);
        for (size_t o = 0; o < s.order_count; o++)
            mem_free(s.pairs[k][o].kept);
    }
    return good;
}
