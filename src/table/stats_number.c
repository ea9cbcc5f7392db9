/* stats_number.c - the numbers of a schema: each column's training values are copied, sorted and
 * looked at once. Everything comes from the sorted copy, so it is exact, and the same whatever
 * the order of rows or the number of threads. */
#include "table/stats_parts.h"

#include <float.h>
#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "table/quantile.h"

/* What a sorted column shows. */
struct shape {
    uint32_t count, distinct;
    uint32_t often; /* rows that share the most frequent value */
    double mean, deviation;
    double low, lower, median, upper, high; /* quartiles: interpolated between neighbours */
};

static double at_rank(const float *sorted, uint32_t count, double rank)
{
    uint32_t i = (uint32_t)rank;
    if (i + 1 >= count)
        return (double)sorted[count - 1];
    double part = rank - (double)i;
    return (double)sorted[i] * (1 - part) + (double)sorted[i + 1] * part;
}

/* Two passes in double: the second sums the small deviations and not the large values. */
static struct shape shape_of(const float *sorted, uint32_t count)
{
    struct shape s = {.count = count, .distinct = 1};
    double last = (double)(count - 1), sum = 0, second = 0;
    uint32_t run = 0;
    s.low = (double)sorted[0];
    s.high = (double)sorted[count - 1];
    s.lower = at_rank(sorted, count, 0.25 * last);
    s.median = at_rank(sorted, count, 0.5 * last);
    s.upper = at_rank(sorted, count, 0.75 * last);
    for (uint32_t i = 0; i < count; i++)
        sum += (double)sorted[i] - s.low;
    s.mean = s.low + sum / (double)count;
    for (uint32_t i = 0; i < count; i++) {
        double d = (double)sorted[i] - s.mean;
        second += d * d;
        bool next = i > 0 && sorted[i] > sorted[i - 1];
        s.distinct += next;
        run = next ? 1 : run + 1;
        s.often = run > s.often ? run : s.often;
    }
    if (s.low < s.high)
        s.deviation = sqrt(second / (double)count);
    else
        s.mean = s.low; /* a sum may have rounded */
    return s;
}

/* The rule behind "auto". A number with many values goes by rank: with a long tail nearly all rows
 * would share one narrow band, and a gradient step be governed by a few far ones; ranks mend both
 * (Gorishniy et al., 2021, use them for every column), and in large tables they are as good on
 * columns without a tail, or better. In small ones such a column keeps its own distances: its few
 * knots would bend what is straight. Where one value holds more than a quarter of the rows, ranks
 * would press the others together, and the distance from that value is what counts (capital-gain
 * of the adult data, counts of otto). Few values leave nothing to spread. Of two values the rare
 * one would stand ten deviations away: 0 and 1, as for a one-hot slot, learn better (soil types of
 * covertype). So do 0..1 where less than a tenth of the rows, and less than RARE_ROWS, differ from
 * the others: they do not say what a deviation is. */
#define RARE_ROWS 10
#define SMALL_ROWS 3000
#define TAIL_DEVIATIONS 4
static int scale_choose(const struct shape *s)
{
    uint64_t others = s->count - s->often;
    if (s->distinct == 2 || (others < RARE_ROWS && 10 * others < s->count))
        return SCALE_MINMAX;
    bool tail = fmax(s->high - s->mean, s->mean - s->low) > TAIL_DEVIATIONS * s->deviation;
    bool ranks = s->distinct > 50 && 4 * (uint64_t)s->often <= s->count;
    return ranks && (tail || s->count >= SMALL_ROWS) ? SCALE_QUANTILE : SCALE_STANDARD;
}

/* One knot for 30 rows, 10 to 1000 of them (the rule of RTDL's preprocessing; more knots would
 * copy noise). */
static void fit_quantiles(struct number_slot *n, const float *sorted, uint32_t count)
{
    uint32_t knots = count / 30;
    knots = knots < 10 ? 10 : knots > 1000 ? 1000 : knots;
    n->quantile_count = knots;
    n->quantiles = mem_alloc(knots, sizeof *n->quantiles);
    for (uint32_t i = 0; i < knots; i++)
        n->quantiles[i] =
            (float)at_rank(sorted, count, (double)i * (double)(count - 1) / (double)(knots - 1));
    /* The outermost value stands at the middle of the last of `count` equal shares, not at the end
     * of the last one, which would be a leap from its neighbours; one that many rows share, a cap
     * perhaps, in the middle of their ranks, and what lies beyond it there too. */
    float ends[2] = {n->quantiles[0], n->quantiles[knots - 1]};
    struct quantile_room room;
    quantile_choose()(n, ends, 2, &room);
    double share = 0.5 / (double)count;
    n->least = fmax(stats_normal_quantile(share), (double)ends[0]);
    n->most = fmin(stats_normal_quantile(1 - share), (double)ends[1]);
}

/* 1 / width. A constant tells nothing: 0, so that another value in a later row does not drown all
 * else; and a width that the rounding of values of this size to double explains is none. */
static double factor_of(double width, double size)
{
    return width > 4 * DBL_EPSILON * size && isfinite(1 / width) ? 1 / width : 0;
}

/* Where "auto" chose the scale, and of a datetime, values end as far beyond the training range as
 * it is wide (or where a missing one is filled in): a column that was nearly constant in training
 * has a tiny spread, and a later value divided by it would drown all others. A scale that the
 * config names goes on in a straight line. */
static void fit_limits(struct number_slot *n, const struct shape *s)
{
    if (n->scale == SCALE_QUANTILE)
        return; /* fit_quantiles has set them */
    double low = (s->low - n->center) * n->factor, high = (s->high - n->center) * n->factor;
    double filled = n->indicator ? ((double)n->impute - n->center) * n->factor : low;
    n->least = fmax(fmin(low - (high - low), filled), -SCHEMA_SCALED_MOST);
    n->most = fmin(fmax(high + (high - low), filled), SCHEMA_SCALED_MOST);
}

static void fit_scale(struct number_slot *n, int scale, const struct shape *s, const float *sorted)
{
    double size = fabs(n->offset) + fmax(fabs(s->low), fabs(s->high));
    n->scale = scale == SCALE_AUTO ? scale_choose(s) : scale;
    if (n->scale == SCALE_QUANTILE && s->distinct == 1)
        n->scale = SCALE_STANDARD; /* a constant has no ranks */
    n->center = 0;
    n->factor = 1;
    n->least = -SCHEMA_SCALED_MOST;
    n->most = SCHEMA_SCALED_MOST;
    switch ((enum column_scale)n->scale) {
    case SCALE_AUTO:
    case SCALE_NONE:
        n->center = -n->offset;
        return;
    case SCALE_STANDARD:
        n->center = s->mean;
        n->factor = factor_of(s->deviation, size);
        return;
    case SCALE_ROBUST:
        n->center = s->median;
        n->factor =
            factor_of(s->upper > s->lower ? s->upper - s->lower : (s->high - s->low) / 2, size);
        return;
    case SCALE_MINMAX:
        n->center = s->low;
        n->factor = factor_of(s->high - s->low, size);
        return;
    case SCALE_QUANTILE:
        fit_quantiles(n, sorted, s->count);
        return;
    }
}

static void fit_impute(struct number_slot *n, int impute, const struct shape *s)
{
    switch ((enum column_impute)impute) {
    case IMPUTE_MEDIAN:
    case IMPUTE_ERROR: /* never used: such a row is refused */
        n->impute = (float)s->median;
        return;
    case IMPUTE_MEAN:
        n->impute = (float)s->mean;
        return;
    case IMPUTE_ZERO:
        n->impute = (float)-n->offset;
        return;
    }
}

/* --- the columns --- */

struct number_task {
    struct schema *schema;
    const struct table *table;
    const uint32_t *column_of; /* by number slot: its column */
    uint32_t first, count;     /* slots of this round */
    float **copies;            /* by slot of the round: training values, NaN = missing */
    uint32_t *present;         /* by number slot, all rounds */
    uint8_t *constant;
};

enum { GATHER_ROWS = 16384 };

static void gather_tile(void *context, unsigned tile, unsigned thread)
{
    (void)thread;
    struct number_task *t = context;
    const uint32_t *rows = t->table->index[PART_TRAIN];
    uint64_t end = t->table->count[PART_TRAIN], from = (uint64_t)tile * GATHER_ROWS;
    end = end - from < GATHER_ROWS ? end : from + GATHER_ROWS;
    for (uint64_t i = from; i < end; i++) {
        const unsigned char *record = rows_at(&t->table->rows, rows[i]);
        for (uint32_t k = 0; k < t->count; k++)
            t->copies[k][i] = stats_number_at(record, t->first + k);
    }
}

/* The sines and cosines of a datetime column lie in -1..1 as they are; missing, they are 0: no
 * direction. */
static void fit_cyclic(struct number_slot *n)
{
    n->scale = SCALE_NONE;
    n->center = -n->offset;
    n->factor = 1;
    n->impute = 0;
    n->indicator = false;
}

static void fit_tile(void *context, unsigned tile, unsigned hand)
{
    (void)hand;
    struct number_task *t = context;
    uint32_t slot = t->first + tile;
    uint64_t rows = t->table->count[PART_TRAIN];
    struct number_slot *n = &t->schema->numbers[slot];
    const struct column *c = &t->schema->columns[t->column_of[slot]];
    float *v = t->copies[tile];
    uint32_t count = 0;
    for (uint64_t i = 0; i < rows; i++)
        if (v[i] == v[i])
            v[count++] = v[i];
    t->present[slot] = count;
    if (!count)
        return;
    sort_floats(v, count);
    struct shape s = shape_of(v, count);
    n->low = v[0];
    n->high = v[count - 1];
    n->indicator = count < rows;
    t->constant[slot] = !(s.low < s.high);
    if (slot > c->number) {
        fit_cyclic(n);
        return;
    }
    fit_impute(n, c->impute, &s);
    int scale = c->type == COLUMN_NUMERIC ? c->scale : SCALE_AUTO;
    fit_scale(n, scale, &s, v);
    if (scale == SCALE_AUTO)
        fit_limits(n, &s);
    t->constant[slot] |= !(n->factor > 0);
}

/* Columns that are copied at the same time: the copies and what sorting them takes must stay
 * small beside the table. */
static uint32_t columns_a_round(const struct table *t, uint32_t numbers)
{
    uint64_t table = t->rows.count * t->rows.format.stride, column = 4 * t->count[PART_TRAIN] + 1;
    uint64_t most = (table / 16 + ((uint64_t)8 << 20)) / column;
    return most < 1 ? 1 : most > numbers ? numbers : (uint32_t)most;
}

static bool report(const struct number_task *t, struct table *table, struct err *e)
{
    struct schema *s = t->schema;
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        if (c->number == UINT32_MAX)
            continue;
        uint32_t present = t->present[c->number];
        c->missing = table->count[PART_TRAIN] - present;
        if (!present) {
            err_set(e, ERR_COLUMN_EMPTY,
                    "column \"%s\" has no value in any of the %llu training rows",
                    text_quote_z(c->name), (unsigned long long)table->count[PART_TRAIN]);
            err_subject(e, c->name);
            return err_help(e, "give it the type \"ignore\" in data.columns");
        }
        c->constant = t->constant[c->number] && !c->missing;
    }
    return true;
}

bool stats_fit_numbers(struct schema *s, struct table *t, struct err *e)
{
    uint32_t numbers = s->number_count, most = columns_a_round(t, numbers);
    uint64_t rows = t->count[PART_TRAIN];
    if (!numbers)
        return true;
    struct number_task task = {.schema = s, .table = t};
    uint32_t *column_of = mem_alloc(numbers, sizeof *column_of);
    for (uint32_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        uint32_t parts = c->type == COLUMN_DATETIME ? DATE_PARTS : 1;
        for (uint32_t k = 0; c->number != UINT32_MAX && k < parts; k++)
            column_of[c->number + k] = i;
    }
    task.column_of = column_of;
    task.present = mem_zero(numbers, sizeof *task.present);
    task.constant = mem_zero(numbers, sizeof *task.constant);
    task.copies = mem_alloc(most, sizeof *task.copies);
    for (uint32_t k = 0; k < most; k++)
        task.copies[k] = mem_alloc(rows ? rows : 1, sizeof **task.copies);
    for (task.first = 0; task.first < numbers; task.first += most) {
        task.count = numbers - task.first < most ? numbers - task.first : most;
        threads_run((unsigned)((rows + GATHER_ROWS - 1) / GATHER_ROWS), gather_tile, &task);
        threads_run_few(task.count, fit_tile, &task);
    }
    bool good = report(&task, t, e);
    for (uint32_t k = 0; k < most; k++)
        mem_free(task.copies[k]);
    mem_free(task.copies);
    mem_free(task.present);
    mem_free(task.constant);
    mem_free(column_of);
    return good;
}
