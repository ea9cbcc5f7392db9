/* fit_number.c - fits the numbers of an encoder. It copies the values of a column and computes
 * only the statistics that its scale and imputation need: the range always, medians and knots by
 * selection, the others from sorted values. The results are exact, and do not depend on the order
 * of rows or on threads. */
#include "table/fit/fit.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "csv/form/date.h"
#include "table/encoder/cell.h"
#include "table/encoder/columns.h"
#include "table/fit/fit_values.h"
#include "table/encoder/quantile.h"

/* The offset of the values that are scaled. */
static double offset_of(const struct number_slot *n)
{
    return n->transform ? 0 : n->offset;
}

/* The rule of scale "auto".
 * Many values: quantile. With a long tail nearly all rows would share a narrow band, and a few far
 * rows would dominate the gradient; ranks avoid both (Gorishniy et al., 2021, use them for every
 * column). In large tables they are as good or better without a tail, too. In small tables a column
 * without a tail keeps its distances: a few knots would bend a straight relation.
 * One value in more than a quarter of the rows: ranks would compress the others, and the distance
 * from that value matters (capital-gain of adult, counts of otto).
 * A value far out that many rows have (-999) does not count: the others keep their distances.
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
    uint32_t distinct = values_distinct(s, FEW_VALUES + 1), often = values_often(s);
    uint64_t others = s->count - often;
    if (distinct == 2 || ((double)others < RARE_ROWS * s->unit && 10 * others < s->count))
        return SCALE_MINMAX;
    if (distinct <= FEW_VALUES || 4 * (uint64_t)often > s->count)
        return SCALE_STANDARD;
    if ((double)s->count >= SMALL_ROWS * s->unit)
        return SCALE_QUANTILE;
    values_spread(s);
    bool tail = fmax(s->high - s->mean, s->mean - s->low) > TAIL_DEVIATIONS * s->deviation;
    return tail ? SCALE_QUANTILE : SCALE_STANDARD;
}

/* One knot for 30 rows, 10 to 1000 knots (the rule of RTDL's preprocessing; more knots copy
 * noise). */
static uint32_t knots_of(const struct values *s)
{
    uint32_t knots = (uint32_t)fmin((double)s->count / (30 * s->unit), KNOTS_MOST);
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
    n->quantile_count = knots_of(s);
    n->quantiles = mem_alloc(n->quantile_count, sizeof *n->quantiles);
    for (uint32_t i = 0; i < n->quantile_count; i++)
        n->quantiles[i] = (float)values_at_rank(s, knot_rank(i, n->quantile_count, s->count));
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
    const uint32_t knots = knots_of(s), middle = (s->count - 1) / 2;
    if ((scale != SCALE_AUTO && scale != SCALE_QUANTILE) || impute == IMPUTE_MEAN ||
        (double)s->count < SMALL_ROWS * s->unit || !(s->low < s->high))
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
        n->quantiles[i] = (float)values_between(pairs[at[i]], knot_rank(i, knots, s->count));
    n->quantiles[knots - 1] = (float)s->high;
    limit_quantiles(n, s->count);
    n->center = 0;
    n->factor = 1;
    n->impute = impute == IMPUTE_ZERO
                    ? (float)-offset_of(n)
                    : (float)values_between(pairs[median], 0.5 * (double)(s->count - 1));
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
    double size = fabs(offset_of(n)) + fmax(fabs(s->low), fabs(s->high));
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
        n->center = -offset_of(n);
        return;
    case SCALE_STANDARD:
        values_spread(s);
        n->center = s->mean;
        n->factor = factor_of(s->deviation, size);
        return;
    case SCALE_ROBUST:
    case SCALE_CLIP:
        n->center = values_at_share(s, 0.5);
        double width = values_at_share(s, 0.75) - values_at_share(s, 0.25);
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
    case IMPUTE_ERROR: /* not used: a missing value is an error */
        n->impute = (float)(s->has_median ? s->median : values_at_share(s, 0.5));
        return;
    case IMPUTE_MEAN:
        values_spread(s);
        n->impute = (float)s->mean;
        return;
    case IMPUTE_ZERO:
        n->impute = (float)-offset_of(n);
        return;
    }
}

static void transform_values(struct number_slot *n, int transform, struct values *s)
{
    n->transform = transform;
    if (!transform)
        return;
    for (uint32_t i = 0; i < s->count; i++)
        s->v[i] = number_transform(n, s->v[i]);
    s->low = (double)number_transform(n, n->low);
    s->high = (double)number_transform(n, n->high);
}

/* --- the columns --- */

struct number_task {
    const struct fit *fit;
    const uint32_t *column_of; /* by number slot: its column */
    uint32_t *slots;           /* numbers that need copies */
    uint32_t slot_count;
    uint32_t first, count;     /* of `slots`, in this round */
    float *copies;             /* [slots of a round][rows]; NaN = missing */
    struct number_scan *scans; /* by number slot */
    uint32_t *present;         /* by number slot, all rounds */
    uint8_t *constant;
};

enum { GATHER_ROWS = 16384, LINE_ROWS = 16 /* a line of the cache, of each column */ };

/* Neighbouring slots from `from` on, in this round. */
static uint32_t neighbours(const struct number_task *t, uint32_t from)
{
    const uint32_t *slots = t->slots + t->first;
    uint32_t n = 1;
    while (from + n < t->count && slots[from + n] == slots[from] + n)
        n++;
    return n;
}

static void gather_tile(void *context, unsigned tile, unsigned thread)
{
    (void)thread;
    struct number_task *t = context;
    const uint32_t *rows = t->fit->rows, *slots = t->slots + t->first;
    uint64_t all = t->fit->count, end = all, from = (uint64_t)tile * GATHER_ROWS;
    end = end - from < GATHER_ROWS ? end : from + GATHER_ROWS;
    const size_t first = 4 * (size_t)slots[0], last = 4 * (size_t)slots[t->count - 1];
    for (uint64_t i = from; i < end; i += LINE_ROWS) {
        const unsigned char *records[LINE_ROWS];
        uint32_t here = end - i < LINE_ROWS ? (uint32_t)(end - i) : LINE_ROWS;
        for (uint32_t r = 0; r < here; r++) {
            records[r] = rows_at(&t->fit->data->rows, rows[i + r]);
            uint64_t ahead = i + r + LINE_ROWS < end ? i + r + LINE_ROWS : i;
            const unsigned char *next = rows_at(&t->fit->data->rows, rows[ahead]);
            __builtin_prefetch(next + first);
            __builtin_prefetch(next + last);
        }
        for (uint32_t k = 0, n; k < t->count; k += n) {
            n = neighbours(t, k);
            columns_read(records, here, 4 * (size_t)slots[k], n, t->copies + k * all + i, all);
        }
    }
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

static int scale_of(const struct column *c)
{
    return c->type == COLUMN_NUMERIC ? c->scale : SCALE_AUTO;
}

/* Fits a slot whose range and number of values are known. */
static void fit_slot(struct number_task *t, uint32_t slot, struct values *s)
{
    struct number_slot *n = &t->fit->encoder->numbers[slot];
    const struct column *c = &t->fit->encoder->schema->columns[t->column_of[slot]];
    t->present[slot] = s->count;
    if (!s->count)
        return;
    s->low = (double)n->low;
    s->high = (double)n->high;
    n->indicator = s->count < t->fit->count;
    t->constant[slot] = !(s->low < s->high);
    if (slot > c->number) {
        fit_cyclic(n);
        return;
    }
    int scale = scale_of(c);
    transform_values(n, c->transform, s);
    if (fit_selected(n, scale, c->impute, s))
        return;
    s->sorted = needs_order(scale, c->impute);
    if (s->sorted)
        sort_floats(s->v, s->count);
    fit_impute(n, c->impute, s);
    if (s->sorted && scale == SCALE_AUTO)
        values_leave_far(s);
    fit_scale(n, scale, s);
    if (scale == SCALE_AUTO)
        fit_limits(n, s);
    t->constant[slot] |= !(n->factor > 0);
}

static void copies_tile(void *context, unsigned tile, unsigned hand)
{
    struct number_task *t = context;
    uint32_t slot = t->slots[t->first + tile];
    struct number_slot *n = &t->fit->encoder->numbers[slot];
    struct values s = {.v = t->copies + tile * t->fit->count, .unit = t->fit->weighed.unit};
    s.count = values_range(s.v, t->fit->count, &n->low, &n->high);
    (void)hand;
    fit_slot(t, slot, &s);
}

/* Scans the slots that need only range and median; lists the others. */
static void scan_slots(struct number_task *t, uint32_t numbers)
{
    const struct schema *s = t->fit->encoder->schema;
    for (uint32_t slot = 0; slot < numbers; slot++) {
        const struct column *c = &s->columns[t->column_of[slot]];
        t->scans[slot].wanted =
            slot > c->number || ((scale_of(c) == SCALE_NONE || scale_of(c) == SCALE_MINMAX) &&
                                 c->impute != IMPUTE_MEAN && !c->transform);
    }
    numbers_scan(t->fit, t->scans, numbers);
    for (uint32_t slot = 0; slot < numbers; slot++) {
        struct number_scan *scan = &t->scans[slot];
        struct values v = {.count = scan->count,
                           .unit = t->fit->weighed.unit,
                           .has_median = true,
                           .median = scan->median};
        if (!scan->done) {
            t->slots[t->slot_count++] = slot;
            continue;
        }
        t->fit->encoder->numbers[slot].low = scan->low;
        t->fit->encoder->numbers[slot].high = scan->high;
        fit_slot(t, slot, &v);
    }
}

/* Columns copied at once: the copies and the scratch of sorting stay small compared with the
 * table. */
static uint32_t columns_a_round(const struct fit *f, uint32_t numbers)
{
    const struct rows *rows = &f->data->rows;
    uint64_t table = rows->count * rows->format.stride, column = 4 * f->count + 1;
    uint64_t other = (f->data->label ? 12 : 8) * rows->count; /* hashes and labels */
    uint64_t room = table / 16 + ((uint64_t)8 << 20);
    uint64_t most = (room > other ? room - other : 0) / column;
    uint32_t hands = threads_hands(); /* each thread gets the same number of columns in a round */
    most = most > hands ? most / hands * hands : most;
    return most < 1 ? 1 : most > numbers ? numbers : (uint32_t)most;
}

static bool report(const struct number_task *t, struct err *e)
{
    const struct schema *s = t->fit->encoder->schema;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        struct column_fit *fit = &t->fit->encoder->columns[i];
        if (c->number == UINT32_MAX)
            continue;
        uint32_t present = t->present[c->number];
        fit->missing = t->fit->count - present;
        if (!present) {
            err_set(e, ERR_COLUMN_EMPTY,
                    "column \"%s\" has no value in any of the %llu training rows",
                    text_quote_z(c->name), (unsigned long long)t->fit->count);
            return err_help(e, "give it the type \"ignore\" in data.columns");
        }
        fit->constant = t->constant[c->number] && !fit->missing;
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
    if (s->steps)
        return fit_series(f, e);
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
    task.slots = mem_alloc(numbers, sizeof *task.slots);
    task.scans = mem_zero(numbers, sizeof *task.scans);
    scan_slots(&task, numbers);
    most = most < task.slot_count ? most : task.slot_count;
    task.copies = mem_alloc(most * rows + 1, sizeof *task.copies);
    for (; task.first < task.slot_count; task.first += most) {
        task.count = task.slot_count - task.first < most ? task.slot_count - task.first : most;
        threads_run((unsigned)((rows + GATHER_ROWS - 1) / GATHER_ROWS), gather_tile, &task);
        threads_run_few(task.count, copies_tile, &task);
        fit_tell(f, 1, (double)(task.first + task.count) / task.slot_count);
    }
    bool good = report(&task, e);
    mem_free(task.copies);
    mem_free(task.scans);
    mem_free(task.slots);
    mem_free(task.present);
    mem_free(task.constant);
    mem_free(column_of);
    return good;
}
