/* stats.c - fitting a schema on training rows: the order of the pieces, the scale of a
 * regression target, warnings. */
#include "table/stats.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/sort.h"
#include "table/stats_parts.h"

void stats_warn(struct table *t, const char *format, ...)
{
    t->warnings = mem_grow(t->warnings, t->warning_count + 1, sizeof *t->warnings);
    struct warning *w = &t->warnings[t->warning_count++];
    va_list args;
    va_start(args, format);
    vsnprintf(w->text, sizeof w->text, format, args);
    va_end(args);
}

/* --- the target and the weights --- */

enum { FAR_SAMPLE = 65536, FAR_LEAST = 100 }; /* values that quantiles are taken of */
#define FAR_SPREADS 20                        /* from the quantiles, times their distance */
#define FAR_DEVIATIONS 8 /* what less than a hundredth of the values must reach to be as far */

/* The 1 % and 99 % quantile of the target, of evenly chosen training rows. */
static void target_quantiles(const struct table *t, uint64_t count, double *low, double *high)
{
    uint64_t most = count < FAR_SAMPLE ? count : FAR_SAMPLE;
    double *v = mem_alloc(most, sizeof *v);
    size_t n = 0;
    for (uint64_t i = 0; i < most; i++) {
        v[n] = t->target[t->index[PART_TRAIN][i * count / most]];
        n += v[n] == v[n];
    }
    sort_doubles(v, n);
    *low = n ? v[n / 100] : 0;
    *high = n ? v[n - 1 - n / 100] : 0;
    mem_free(v);
}

/* Marks for missing ("999999") and slips: they set the scale of the target, whatever the loss. */
static void warn_far(const struct schema *s, struct table *t, double farthest)
{
    const uint64_t count = t->count[PART_TRAIN];
    unsigned long long far = 0;
    double first = 0, low, high;
    if (farthest < FAR_DEVIATIONS || count < FAR_LEAST)
        return;
    target_quantiles(t, count, &low, &high);
    double room = FAR_SPREADS * (high - low);
    for (uint64_t i = 0; room > 0 && i < count; i++) {
        double y = t->target[t->index[PART_TRAIN][i]];
        if (y > high + room || y < low - room)
            first = far++ ? first : y;
    }
    if (far)
        stats_warn(t,
                   "target \"%s\": %llu of %llu training values %s far from all others, as %.10g "
                   "does, where nearly all are from %.4g to %.4g; they set its scale, whatever the "
                   "loss: leave such rows out%s",
                   text_quote_z(s->columns[s->target].name), far, (unsigned long long)count,
                   far == 1 ? "lies" : "lie", first, low, high,
                   low > 0 ? ", or where they are right, learn its logarithm" : "");
}

/* Welford, Technometrics 4, 1962: one pass in file order. */
static bool fit_target(struct schema *s, struct table *t, struct err *e)
{
    double mean = 0, sum = 0, low = INFINITY, high = -INFINITY;
    uint64_t count = 0;
    for (uint64_t i = 0; i < t->count[PART_TRAIN]; i++) {
        double y = t->target[t->index[PART_TRAIN][i]];
        if (y != y)
            continue;
        double d = y - mean;
        mean += d / (double)++count;
        sum += d * (y - mean);
        low = y < low ? y : low;
        high = y > high ? y : high;
    }
    if (!count)
        return err_set(e, ERR_COLUMN_EMPTY, "target \"%s\" has no value in any training row",
                       text_quote_z(s->columns[s->target].name));
    bool constant = !(low < high);
    double deviation = sqrt(sum / (double)count);
    s->target_center = constant ? low : mean;
    s->target_scale = constant || !(deviation > 0) || !isfinite(1 / deviation) ? 1 : deviation;
    s->columns[s->target].constant = constant;
    if (constant)
        stats_warn(t, "target \"%s\" has the same value in every training row: there is nothing "
                      "to learn, choose another target",
                   text_quote_z(s->columns[s->target].name));
    else if (!(deviation > 0) || !isfinite(1 / deviation))
        stats_warn(t, "the values of the target \"%s\" differ by less than can be scaled (%.3g): "
                      "give it in a smaller unit",
                   text_quote_z(s->columns[s->target].name), high - low);
    for (uint64_t row = 0; row < t->rows.count; row++) {
        float y = (float)((t->target[row] - s->target_center) / s->target_scale);
        memcpy(rows_at(&t->rows, row) + s->format.at_target, &y, sizeof y);
    }
    warn_far(s, t, fmax(high - s->target_center, s->target_center - low) / s->target_scale);
    return true;
}

static bool check_weights(const struct schema *s, const struct table *t, struct err *e)
{
    for (uint64_t i = 0; i < t->count[PART_TRAIN]; i++) {
        float w;
        memcpy(&w, rows_at(&t->rows, t->index[PART_TRAIN][i]) + s->format.at_weight, sizeof w);
        if (w > 0)
            return true;
    }
    return err_set(e, ERR_WEIGHT_SUM, "the weight of each of the %llu training rows is 0",
                   (unsigned long long)t->count[PART_TRAIN]);
}

static void warn_constant(const struct schema *s, struct table *t)
{
    struct text list = {0};
    size_t found = 0;
    for (size_t i = 0; i < s->column_count; i++)
        if (i != s->target && s->columns[i].constant && found++ < STATS_NAMED)
            text_printf(&list, "%s\"%s\"", found > 1 ? ", " : "", text_quote_z(s->columns[i].name));
    if (found > STATS_NAMED)
        text_printf(&list, " and %zu more", found - STATS_NAMED);
    if (found)
        stats_warn(t, "the same value in every training row, which tells nothing, in column%s %s",
                   found > 1 ? "s" : "", list.data);
    text_free(&list);
}

bool stats_fit(struct schema *s, struct table *t, struct err *e)
{
    assert(!s->fitted);
    if (!t->count[PART_TRAIN])
        return err_set(e, ERR_SPLIT_EMPTY, "there are no training rows");
    if (!s->file_columns)
        s->file_columns = (uint32_t)(s->column_count + t->extra_columns);
    if (!check_weights(s, t, e) || !stats_fit_categories(s, t, e) || !stats_fit_numbers(s, t, e) ||
        !(s->task == TASK_REGRESSION ? fit_target(s, t, e) : stats_fit_labels(s, t, e)))
        return false;
    warn_constant(s, t);
    s->fitted = true;
    return true;
}
