/* trend.c - see trend.h. */
#include "table/fit/trend.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "base/sort.h"
#include "base/text.h"
#include "table/schema/column_name.h"
#include "table/schema/record.h"

#define DAY 86400.0
enum { ROWS_LEAST = 20, ROWS_MOST = 20000, CLASSES_MOST = 256 }; /* a block; looked at */

static int by_time(const void *one, const void *other, const void *context)
{
    (void)context;
    const struct trend_row *a = one, *b = other;
    return a->time < b->time ? -1 : a->time > b->time;
}

static int by_value(const void *one, const void *other, const void *context)
{
    const struct trend_row *rows = context;
    const double a = rows[*(const uint32_t *)one].value, b = rows[*(const uint32_t *)other].value;
    return a < b ? -1 : a > b;
}

/* Sets the end of each block; returns the number of blocks. */
static uint32_t cut(const struct trend_row *rows, uint32_t count, uint32_t end[TREND_BLOCKS])
{
    uint32_t blocks = 0, at = 0;
    for (uint32_t k = 1; k <= TREND_BLOCKS && at < count; k++) {
        uint32_t to = (uint32_t)((uint64_t)count * k / TREND_BLOCKS);
        if (to < at + ROWS_LEAST)
            continue;
        while (to < count && !(rows[to].time > rows[to - 1].time))
            to++;
        if (count - to < ROWS_LEAST)
            to = count;
        end[blocks++] = at = to;
    }
    if (blocks && at < count)
        end[blocks - 1] = count;
    return blocks;
}

/* Sets z and share from a statistic that is chi-square of `freedom` degrees by chance. */
static void judge(struct trend *t, double statistic, double freedom, double rows)
{
    if (!(freedom > 0))
        return;
    const double v = 2 / (9 * freedom);
    t->z = (cbrt(statistic / freedom) - (1 - v)) / sqrt(v);
    t->share = fmax(0, (statistic - freedom) / rows);
}

static void take_block(struct trend *t, uint32_t k, double value)
{
    t->from = k ? t->from : value;
    t->low = k ? fmin(t->low, value) : value;
    t->high = k ? fmax(t->high, value) : value;
    t->to = value;
}

static void of_classes(struct trend *t, const struct trend_row *rows, const uint32_t *end,
                       uint32_t count, uint32_t classes)
{
    double *all = mem_zero(classes, sizeof *all), *here = mem_zero(classes, sizeof *here);
    double statistic = 0, present = 0;
    for (uint32_t i = 0; i < count; i++)
        all[(uint32_t)rows[i].value]++;
    for (uint32_t c = 0; c < classes; c++)
        present += all[c] > 0;
    for (uint32_t k = 0, at = 0; k < t->blocks; k++) {
        const double size = end[k] - at;
        for (uint32_t c = 0; c < classes; c++)
            here[c] = 0;
        for (; at < end[k]; at++)
            here[(uint32_t)rows[at].value]++;
        for (uint32_t c = 0; c < classes; c++) {
            const double chance = all[c] * size / count;
            statistic += chance > 0 ? (here[c] - chance) * (here[c] - chance) / chance : 0;
        }
        take_block(t, k, here[classes - 1] / size);
    }
    judge(t, statistic, (t->blocks - 1) * (present - 1), count);
    mem_free(all);
    mem_free(here);
}

/* Ranks from 1, of equal values their mean. Returns the correction for them: 1, if there are
 * none. */
static double rank_rows(const struct trend_row *rows, uint32_t count, double *rank)
{
    uint32_t *order = mem_alloc((size_t)count + 1, sizeof *order);
    double ties = 0;
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    sort_stable(order, count, sizeof *order, by_value, rows);
    for (uint32_t from = 0, to; from < count; from = to) {
        for (to = from + 1;
             to < count && !(rows[order[to]].value > rows[order[from]].value); to++)
            continue;
        const double equal = to - from;
        ties += equal * (equal * equal - 1);
        for (uint32_t i = from; i < to; i++)
            rank[order[i]] = (from + 1 + to) / 2.0;
    }
    mem_free(order);
    const double n = count;
    return 1 - ties / (n * (n * n - 1));
}

static void of_values(struct trend *t, const struct trend_row *rows, const uint32_t *end,
                      uint32_t count)
{
    const double n = count;
    double *rank = mem_alloc((size_t)count + 1, sizeof *rank), sum = 0;
    const double correction = rank_rows(rows, count, rank);
    for (uint32_t k = 0, at = 0; k < t->blocks; k++) {
        const double size = end[k] - at;
        double ranks = 0, values = 0;
        for (; at < end[k]; at++) {
            ranks += rank[at];
            values += rows[at].value;
        }
        sum += ranks * ranks / size;
        take_block(t, k, values / size);
    }
    if (correction > 0)
        judge(t, (12 / (n * (n + 1)) * sum - 3 * (n + 1)) / correction, t->blocks - 1, n);
    mem_free(rank);
}

struct trend trend_of(struct trend_row *rows, uint32_t count, uint32_t classes)
{
    struct trend t = {0};
    uint32_t end[TREND_BLOCKS];
    sort_stable(rows, count, sizeof *rows, by_time, NULL);
    t.blocks = cut(rows, count, end);
    if (t.blocks < 2)
        return t;
    if (classes)
        of_classes(&t, rows, end, count, classes);
    else
        of_values(&t, rows, end, count);
    return t;
}

/* --- the columns of a table --- */

/* True: rows of data.train are split by chance into validation or test rows. */
static bool by_chance(const struct data_options *o)
{
    const int method = o->split.method;
    return (method == SPLIT_RANDOM || method == SPLIT_STRATIFIED || method == SPLIT_HASH) &&
           ((o->split.valid > 0 && !o->valid.count) || (o->split.test > 0 && !o->test.count));
}

/* Rows of data.train, evenly spaced, with a date and a target. Returns how many. */
static uint32_t take_rows(const struct encoder *c, const struct dataset *d, size_t column,
                          struct trend_row *rows)
{
    const uint64_t all = d->rows_of[PART_TRAIN], most = all < ROWS_MOST ? all : ROWS_MOST;
    uint32_t count = 0;
    for (uint64_t i = 0; i < most; i++) {
        const uint64_t row = i * all / most;
        const unsigned char *record = rows_at(&d->rows, row);
        const int32_t id = d->schema->labels ? record_int(record, d->rows.format.at_target) : -1;
        const struct trend_row one = {
            (double)record_number(record, d->schema->columns[column].number),
            d->target ? d->target[row] : id < 0 ? (double)NAN : (double)c->class_of[id]};
        if (isfinite(one.time) && isfinite(one.value) && (d->target || one.value >= 0))
            rows[count++] = one;
    }
    return count;
}

void trend_check(const struct encoder *c, const struct dataset *d, const struct data_options *o,
                 struct remarks *remarks)
{
    const struct schema *s = d->schema;
    const uint32_t classes = c->schema->labels ? vocab_count(c->schema->labels) : 0;
    struct trend best = {0};
    const char *name = NULL;
    if (!by_chance(o) || s->windows.window || classes > CLASSES_MOST)
        return;
    struct trend_row *rows = mem_alloc(ROWS_MOST + 1, sizeof *rows);
    for (size_t i = 0; i < s->column_count; i++) {
        if (s->columns[i].type != COLUMN_DATETIME || column_names_birth(s->columns[i].name))
            continue;
        const uint32_t count = take_rows(c, d, i, rows);
        const struct trend t = trend_of(rows, count, classes);
        const double span = count ? rows[count - 1].time - rows[0].time : 0;
        if (span <= DAY) /* times of a day */
            continue;
        if (t.z >= TREND_Z && t.share >= TREND_SHARE && t.share > best.share) {
            best = t;
            name = s->columns[i].name;
        }
    }
    mem_free(rows);
    if (!name)
        return;
    char change[100] = "", share[50] = "mean";
    if (classes)
        snprintf(share, sizeof share, "share of \"%.20s\"",
                 text_quote_z(vocab_text(c->schema->labels, classes - 1, NULL)));
    const bool returns = fabs(best.to - best.from) < (best.high - best.low) / 4; /* a season */
    if (classes <= 2)
        snprintf(change, sizeof change, returns ? " (%s between %s and %s)"
                                                : " (%s %s first, %s last)", share,
                 text_figure(returns ? best.low : best.from, 3),
                 text_figure(returns ? best.high : best.to, 3));
    remark_add(remarks,
               "the target changes with \"%s\"%s, and rows are split by chance: later rows may "
               "have worse metrics; judge the model on the latest rows with --set "
               "data.split.method=time --set %s", text_quote_z(name), change,
               shell_word("data.split.column=%s", name));
}
