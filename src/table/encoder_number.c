/* encoder_number.c - fits the numbers of an encoder. It copies the values of a column and computes
 * only the statistics that its scale and imputation need: the range always, medians and knots by
 * selection, the others from sorted values. The results are exact, and do not depend on the order
 * of rows or on threads. */
#include "table/encoder_fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/thread.h"
#include "csv/date.h"
#include "table/quantile.h"

/* The values of a column without missing ones. */
struct values {
    float *v;
    uint32_t count;
    bool sorted;       /* v is ascending */
    double low, high;
    double mean, deviation; /* set by values_spread */
};

/* Returns the value at a rank, interpolated between the values of its pair: the one at the rank
 * rounded down, and the next. */
static double between(const float pair[2], double rank)
{
    double part = rank - floor(rank);
    return (double)pair[0] * (1 - part) + (double)pair[1] * part;
}

static double at_rank(const struct values *s, double rank)
{
    uint32_t i = (uint32_t)rank;
    float pair[2];
    if (i + 1 >= s->count)
        return s->high;
    if (s->sorted)
        return between(s->v + i, rank);
    select_floats(s->v, s->count, &i, 1, &pair);
    return between(pair, rank);
}

static double at_share(const struct values *s, double share)
{
    return at_rank(s, share * (double)(s->count - 1));
}

/* Mean and deviation of sorted values. Two passes in double: the second sums small deviations, not
 * large values. */
static void values_spread(struct values *s)
{
    double sum = 0, second = 0;
    for (uint32_t i = 0; i < s->count; i++)
        sum += (double)s->v[i] - s->low;
    s->mean = s->low + sum / (double)s->count;
    for (uint32_t i = 0; i < s->count; i++) {
        double d = (double)s->v[i] - s->mean;
        second += d * d;
    }
    if (s->low < s->high)
        s->deviation = sqrt(second / (double)s->count);
    else
        s->mean = s->low; /* exact, without rounding of the sum */
}

/* Returns the first place from `from` on with a value above `value`. */
static uint32_t first_above(const struct values *s, uint32_t from, float value)
{
    uint32_t end = s->count;
    while (from < end) {
        uint32_t middle = from + (end - from) / 2;
        if (s->v[middle] > value)
            end = middle;
        else
            from = middle + 1;
    }
    return from;
}

/* Counts distinct values, up to `most`. */
static uint32_t count_distinct(const struct values *s, uint32_t most)
{
    uint32_t distinct = 0;
    for (uint32_t i = 0; i < s->count && distinct < most; distinct++)
        i = first_above(s, i, s->v[i]);
    return distinct;
}

/* Counts the rows of the most frequent value. Exact above a quarter of the rows; otherwise a number
 * up to a quarter. */
static uint32_t count_often(const struct values *s)
{
    uint32_t step = s->count < 8 ? 1 : s->count / 8, often = 0, begin = 0;
    for (uint32_t i = 0; i < s->count; i += step) {
        uint32_t end = first_above(s, i, s->v[i]);
        uint32_t first = begin;
        for (uint32_t stop = i; first < stop;) {
            uint32_t middle = first + (stop - first) / 2;
            if (s->v[middle] < s->v[i])
                first = middle + 1;
            else
                stop = middle;
        }
        often = end - first > often ? end - first : often;
        begin = first;
    }
    return often;
}

/* The rule of scale "auto".
 * Many values: quantile. With a long tail nearly all rows would share a narrow band, and a few far
 * rows would dominate the gradient; ranks avoid both (Gorishniy et al., 2021, use them for every
 * column). In large tables they are as good or better without a tail, too. In small tables a column
 * without a tail keeps its distances: a few knots would bend a straight relation.
 * One value in more than a quarter of the rows: ranks would compress the others, and the distance
 * from that value matters (capital-gain of adult, counts of otto).
 * Two values: 0 and 1, as for one-hot; standardised, the rare one would be ten deviations away
 * (soil types of covertype). Also 0..1 if less than a tenth of the rows, and less than RARE_ROWS,
 * differ from the others: too few to estimate a deviation. */
#define KNOTS_MOST 1000
#define FEW_VALUES 50
#define RARE_ROWS 10
#define SMALL_ROWS 3000
#define TAIL_DEVIATIONS 4
static int scale_choose(struct values *s)
{
    uint32_t distinct = count_distinct(s, FEW_VALUES + 1), often = count_often(s);
    uint64_t others = s->count - often;
    if (distinct == 2 || (others < RARE_ROWS && 10 * others < s->count))
        return SCALE_MINMAX;
    if (distinct <= FEW_VALUES || 4 * (uint64_t)often > s->count)
        return SCALE_STANDARD;
    if (s->count >= SMALL_ROWS)
        return SCALE_QUANTILE;
    values_spread(s);
    bool tail = fmax(s->high - s->mean, s->mean - s->low) > TAIL_DEVIATIONS * s->deviation;
    return tail ? SCALE_QUANTILE : SCALE_STANDARD;
}

/* One knot for 30 rows, 10 to 1000 knots (the rule of RTDL's preprocessing; more knots copy
 * noise). */
static uint32_t knots_of(uint32_t count)
{
    uint32_t knots = count / 30;
    return knots < 10 ? 10 : knots > KNOTS_MOST ? KNOTS_MOST : knots;
}

static double knot_rank(uint32_t knot, uint32_t knots, uint32_t count)
{
    return (double)knot * (double)(count - 1) / (double)(knots - 1);
}

/* Limits of the scaled values: the middle of the outermost of `count` equal shares. Its end would
 * be far from the other values. If many rows share the outermost value (a cap), the middle of their
 * ranks. Values beyond the knots get the same limits. */
static void limit_quantiles(struct number_slot *n, uint32_t count)
{
    float ends[2] = {n->quantiles[0], n->quantiles[n->quantile_count - 1]};
    struct quantile_room room;
    quantile_choose()(n, ends, 2, &room);
    double share = 0.5 / (double)count;
    n->least = fmax(quantile_normal(share), (double)ends[0]);
    n->most = fmin(quantile_normal(1 - share), (double)ends[1]);
}

static void fit_quantiles(struct number_slot *n, const struct values *s)
{
    n->quantile_count = knots_of(s->count);
    n->quantiles = mem_alloc(n->quantile_count, sizeof *n->quantiles);
    for (uint32_t i = 0; i < n->quantile_count; i++)
        n->quantiles[i] = (float)at_rank(s, knot_rank(i, n->quantile_count, s->count));
    limit_quantiles(n, s->count);
}

/* True if the values at the knots prove that "auto" means quantile: more than FEW_VALUES distinct
 * ones, and none in a quarter of the rows, which would hold almost a quarter of the knots. */
static bool is_spread(float (*pairs)[2], const uint32_t *at, uint32_t knots)
{
    uint32_t distinct = 1, run = 1;
    for (uint32_t i = 1; i + 1 < knots; i++) {
        bool equal = !(pairs[at[i]][0] > pairs[at[i - 1]][0]);
        run = equal ? run + 1 : 1;
        distinct += !equal;
        if (5 * run >= knots)
            return false;
    }
    return distinct > FEW_VALUES;
}

/* Fits scale quantile and the median without sorting all values: the knots alone show in most
 * columns that "auto" means quantile. False: sorted values must decide; nothing is changed. */
static bool fit_selected(struct number_slot *n, int scale, int impute, const struct values *s)
{
    const uint32_t knots = knots_of(s->count), middle = (s->count - 1) / 2;
    if ((scale != SCALE_AUTO && scale != SCALE_QUANTILE) || impute == IMPUTE_MEAN ||
        s->count < SMALL_ROWS || !(s->low < s->high))
        return false;
    uint32_t ranks[KNOTS_MOST + 1], at[KNOTS_MOST], count = 0, median = UINT32_MAX;
    float pairs[KNOTS_MOST + 1][2];
    for (uint32_t i = 0; i + 1 < knots; i++) {
        uint32_t rank = (uint32_t)knot_rank(i, knots, s->count);
        if (median == UINT32_MAX && rank >= middle)
            ranks[median = count++] = middle;
        at[i] = count;
        ranks[count++] = rank;
    }
    select_floats(s->v, s->count, ranks, count, pairs);
    if (scale == SCALE_AUTO && !is_spread(pairs, at, knots))
        return false;
    n->scale = SCALE_QUANTILE;
    n->quantile_count = knots;
    n->quantiles = mem_alloc(knots, sizeof *n->quantiles);
    for (uint32_t i = 0; i + 1 < knots; i++)
        n->quantiles[i] = (float)between(pairs[at[i]], knot_rank(i, knots, s->count));
    n->quantiles[knots - 1] = (float)s->high;
    limit_quantiles(n, s->count);
    n->center = 0;
    n->factor = 1;
    n->impute = impute == IMPUTE_ZERO
                    ? (float)-n->offset
                    : (float)between(pairs[median], 0.5 * (double)(s->count - 1));
    return true;
}

/* Returns 1 / width; 0 for a constant, so that another value in a later row does not dominate. A
 * width within the rounding of values of this size is a constant too. */
static double factor_of(double width, double size)
{
    return width > 4 * DBL_EPSILON * size && isfinite(1 / width) ? 1 / width : 0;
}

/* Limits the scaled values of "auto" and of datetimes: at most one training range (or the imputed
 * value) beyond the training range. A nearly constant column has a tiny spread, and a later value
 * divided by it would dominate. A scale named in the config has no such limit. */
static void fit_limits(struct number_slot *n, const struct values *s)
{
    if (n->scale == SCALE_QUANTILE)
        return; /* set by fit_quantiles */
    double low = (s->low - n->center) * n->factor, high = (s->high - n->center) * n->factor;
    double filled = n->indicator ? ((double)n->impute - n->center) * n->factor : low;
    n->least = fmax(fmin(low - (high - low), filled), -SCHEMA_SCALED_MOST);
    n->most = fmin(fmax(high + (high - low), filled), SCHEMA_SCALED_MOST);
}

static void fit_scale(struct number_slot *n, int scale, struct values *s)
{
    double size = fabs(n->offset) + fmax(fabs(s->low), fabs(s->high));
    n->scale = scale == SCALE_AUTO ? scale_choose(s) : scale;
    if (n->scale == SCALE_QUANTILE && !(s->low < s->high))
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
        values_spread(s);
        n->center = s->mean;
        n->factor = factor_of(s->deviation, size);
        return;
    case SCALE_ROBUST:
        n->center = at_share(s, 0.5);
        double width = at_share(s, 0.75) - at_share(s, 0.25);
        n->factor = factor_of(width > 0 ? width : (s->high - s->low) / 2, size);
        return;
    case SCALE_MINMAX:
        n->center = s->low;
        n->factor = factor_of(s->high - s->low, size);
        return;
    case SCALE_QUANTILE:
        fit_quantiles(n, s);
        return;
    }
}

static void fit_impute(struct number_slot *n, int impute, struct values *s)
{
    switch ((enum column_impute)impute) {
    case IMPUTE_MEDIAN:
    case IMPUTE_ERROR: /* not used: such a row is an error */
        n->impute = (float)at_share(s, 0.5);
        return;
    case IMPUTE_MEAN:
        values_spread(s);
        n->impute = (float)s->mean;
        return;
    case IMPUTE_ZERO:
        n->impute = (float)-n->offset;
        return;
    }
}

/* --- the columns --- */

struct number_task {
    const struct fit *fit;
    const uint32_t *column_of; /* by number slot: its column */
    uint32_t first, count;     /* slots of this round */
    float *copies;             /* [slots of a round][rows]; NaN = missing */
    uint32_t **rooms;          /* by hand: scratch of a sort, made when one is needed */
    uint32_t *present;         /* by number slot, all rounds */
    uint8_t *constant;
};

enum { GATHER_ROWS = 16384, AHEAD = 16 };

static void gather_tile(void *context, unsigned tile, unsigned thread)
{
    (void)thread;
    struct number_task *t = context;
    const uint32_t *rows = t->fit->rows;
    uint64_t all = t->fit->count, end = all, from = (uint64_t)tile * GATHER_ROWS;
    end = end - from < GATHER_ROWS ? end : from + GATHER_ROWS;
    for (uint64_t i = from; i < end; i++) {
        const unsigned char *record = rows_at(&t->fit->data->rows, rows[i]);
        uint64_t ahead = i + AHEAD < end ? i + AHEAD : i;
        __builtin_prefetch(rows_at(&t->fit->data->rows, rows[ahead]) + 4 * (size_t)t->first);
        for (uint32_t k = 0; k < t->count; k++)
            t->copies[k * all + i] = record_number(record, t->first + k);
    }
}

/* -0 is below 0, as in sort_floats. */
static void sign_zeros(const float *v, uint64_t rows, float *low, float *high)
{
    bool minus = false, plus = false;
    for (uint64_t i = 0; i < rows; i++) {
        minus |= v[i] == 0 && signbit(v[i]);
        plus |= v[i] == 0 && !signbit(v[i]);
    }
    *low = *low == 0 ? (minus ? -0.0f : 0.0f) : *low;
    *high = *high == 0 ? (plus ? 0.0f : -0.0f) : *high;
}

#define LANES 4
typedef float floats __attribute__((vector_size(4 * LANES)));
typedef int32_t ints __attribute__((vector_size(4 * LANES)));

/* Selects a where mask is set, else b. */
static inline floats choose(ints mask, floats a, floats b)
{
    return (floats)((mask & (ints)a) | (~mask & (ints)b));
}

/* Removes missing values; returns the number left. */
static uint32_t values_range(float *v, uint64_t rows, float *low, float *high)
{
    floats least = {INFINITY, INFINITY, INFINITY, INFINITY}, most = -least, x;
    ints lacking = {0};
    uint64_t whole = rows / LANES * LANES;
    uint32_t count = 0;
    for (uint64_t i = 0; i < whole; i += LANES) {
        memcpy(&x, v + i, sizeof x);
        least = choose(x < least, x, least);
        most = choose(x > most, x, most);
        lacking += x != x; /* -1 for NaN */
    }
    for (uint64_t i = whole; i < rows; i++) {
        least[0] = v[i] < least[0] ? v[i] : least[0];
        most[0] = v[i] > most[0] ? v[i] : most[0];
        lacking[0] -= v[i] != v[i];
    }
    for (int k = 1; k < LANES; k++) {
        least[0] = least[k] < least[0] ? least[k] : least[0];
        most[0] = most[k] > most[0] ? most[k] : most[0];
        lacking[0] |= lacking[k];
    }
    *low = least[0];
    *high = most[0];
    if (*low == 0 || *high == 0)
        sign_zeros(v, rows, low, high);
    if (!lacking[0])
        return (uint32_t)rows;
    for (uint64_t i = 0; i < rows; i++)
        if (v[i] == v[i])
            v[count++] = v[i];
    return count;
}

/* Sine and cosine of a datetime are not scaled; a missing one is 0: no direction. */
static void fit_cyclic(struct number_slot *n)
{
    n->scale = SCALE_NONE;
    n->center = -n->offset;
    n->factor = 1;
    n->impute = 0;
    n->indicator = false;
}

/* Statistics of a column beyond its range and median. */
static bool needs_order(int scale, int impute)
{
    return impute == IMPUTE_MEAN || scale == SCALE_AUTO || scale == SCALE_STANDARD ||
           scale == SCALE_QUANTILE;
}

static void fit_tile(void *context, unsigned tile, unsigned hand)
{
    struct number_task *t = context;
    uint32_t slot = t->first + tile;
    struct schema *schema = t->fit->encoder->schema;
    struct number_slot *n = &schema->numbers[slot];
    const struct column *c = &schema->columns[t->column_of[slot]];
    struct values s = {.v = t->copies + tile * t->fit->count};
    t->present[slot] = s.count = values_range(s.v, t->fit->count, &n->low, &n->high);
    if (!s.count)
        return;
    s.low = (double)n->low;
    s.high = (double)n->high;
    n->indicator = s.count < t->fit->count;
    t->constant[slot] = !(s.low < s.high);
    if (slot > c->number) {
        fit_cyclic(n);
        return;
    }
    int scale = c->type == COLUMN_NUMERIC ? c->scale : SCALE_AUTO;
    if (fit_selected(n, scale, c->impute, &s))
        return;
    s.sorted = needs_order(scale, c->impute);
    if (s.sorted && !t->rooms[hand])
        t->rooms[hand] = mem_alloc(t->fit->count, sizeof **t->rooms);
    if (s.sorted)
        sort_floats_room(s.v, s.count, t->rooms[hand]);
    fit_impute(n, c->impute, &s);
    fit_scale(n, scale, &s);
    if (scale == SCALE_AUTO)
        fit_limits(n, &s);
    t->constant[slot] |= !(n->factor > 0);
}

/* Columns copied at once: the copies and the scratch of sorting stay small compared with the
 * table. */
static uint32_t columns_a_round(const struct fit *f, uint32_t numbers)
{
    const struct rows *rows = &f->data->rows;
    uint64_t table = rows->count * rows->format.stride, column = 4 * f->count + 1;
    uint64_t most = (table / 16 + ((uint64_t)8 << 20)) / column;
    return most < 1 ? 1 : most > numbers ? numbers : (uint32_t)most;
}

static bool report(const struct number_task *t, struct err *e)
{
    struct schema *s = t->fit->encoder->schema;
    for (size_t i = 0; i < s->column_count; i++) {
        struct column *c = &s->columns[i];
        if (c->number == UINT32_MAX)
            continue;
        uint32_t present = t->present[c->number];
        c->missing = t->fit->count - present;
        if (!present) {
            err_set(e, ERR_COLUMN_EMPTY,
                    "column \"%s\" has no value in any of the %llu training rows",
                    text_quote_z(c->name), (unsigned long long)t->fit->count);
            err_subject(e, c->name);
            return err_help(e, "give it the type \"ignore\" in data.columns");
        }
        c->constant = t->constant[c->number] && !c->missing;
    }
    return true;
}

bool fit_numbers(struct fit *f, struct err *e)
{
    const struct schema *s = f->encoder->schema;
    uint32_t numbers = s->number_count, most = columns_a_round(f, numbers);
    uint64_t rows = f->count;
    if (!numbers)
        return true;
    struct number_task task = {.fit = f};
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
    task.rooms = mem_zero(threads_hands(), sizeof *task.rooms);
    task.copies = mem_alloc(most * rows + 1, sizeof *task.copies);
    for (task.first = 0; task.first < numbers; task.first += most) {
        task.count = numbers - task.first < most ? numbers - task.first : most;
        threads_run((unsigned)((rows + GATHER_ROWS - 1) / GATHER_ROWS), gather_tile, &task);
        threads_run_few(task.count, fit_tile, &task);
    }
    bool good = report(&task, e);
    for (unsigned hand = 0; hand < threads_hands(); hand++)
        mem_free(task.rooms[hand]);
    mem_free(task.rooms);
    mem_free(task.copies);
    mem_free(task.present);
    mem_free(task.constant);
    mem_free(column_of);
    return good;
}
