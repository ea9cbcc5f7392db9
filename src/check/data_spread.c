/* data_spread.c - see data_sample.h: how the values of a column are spread. */
#include <math.h>
#include <time.h>

#include "base/mem.h"
#include "base/sort.h"
#include "check/data_sample.h"
#include "csv/form/date.h"
#include "table/schema/words.h"

#define CENTRAL_LOW 0.01
enum { WORDS_MOST = 100 /* of a text */, WORD_ROWS_LEAST = 5, WORD_BYTES_MOST = 60 };

/* --- the target of rows --- */

void look_sum_add(struct look_sum *s, const struct looking *x, uint32_t row)
{
    const double t = x->target[row];
    if (isnan(t))
        return;
    s->known++;
    if (!x->to->labels[0])
        s->sum[0] += t;
    else if (t >= 0)
        s->sum[(int)t]++;
}

void look_sum_mean(const struct look_sum *s, double *target)
{
    for (int i = 0; i < LOOK_LABELS; i++)
        target[i] = s->known > 0 ? s->sum[i] / s->known : (double)NAN;
}

static void set_missing(const struct looking *x, struct look_column *c, struct look_sum *s,
                        uint64_t rows)
{
    c->missing.share = x->rows ? (double)rows / (double)x->rows : 0;
    look_sum_mean(s, c->missing.target);
}

/* --- dates in periods of the calendar --- */

#define DAY 86400.0
enum { DAYS_MOST = 60 };

/* months 0: a day */
static const struct {
    int months;
    const char *name;
} periods[] = {{0, "day"}, {1, "month"}, {3, "quarter"}, {12, "year"}, {120, "decade"},
               {1200, "century"}};

/* Months from the beginning of year 0. */
static long month_of(double date)
{
    const time_t at = (time_t)date;
    struct tm tm;
    return gmtime_r(&at, &tm) ? (tm.tm_year + 1900L) * 12 + tm.tm_mon : 1970 * 12;
}

/* Month 0 of year 1 to the end of year 9999: what is beyond is cut. */
static double date_of_month(long month)
{
    double seconds = 0;
    month = month < 12 ? 12 : month > 9999 * 12 + 11 ? 9999 * 12 + 11 : month;
    date_of_day((int)(month / 12), (int)(month % 12) + 1, 1, &seconds);
    return seconds;
}

/* sorted: [n] > 0 dates. Sets edge, bars, period, central. */
static void set_periods(struct look_column *c, const double *sorted, uint64_t n)
{
    const double low = sorted[(uint64_t)(0.01 * (double)(n - 1))],
                 high = sorted[(uint64_t)(0.99 * (double)(n - 1) + 0.5)];
    /* A date far from all others would leave one bar. */
    c->central = sorted[n - 1] - sorted[0] > 2 * (high - low) + 31 * DAY;
    const double from = c->central ? low : sorted[0], to = c->central ? high : sorted[n - 1];
    size_t kind = 0;
    long first = month_of(from), last = month_of(to);
    if (to - from >= DAYS_MOST * DAY - DAY)
        for (kind = 1; kind + 1 < sizeof periods / sizeof *periods &&
                       last / periods[kind].months - first / periods[kind].months >= LOOK_PERIODS;)
            kind++;
    c->period = periods[kind].name;
    const long months = periods[kind].months;
    c->bars = 0;
    for (;;) {
        const double edge = months ? date_of_month((first / months + c->bars) * months)
                                   : (floor(from / DAY) + c->bars) * DAY;
        c->edge[c->bars] = edge;
        if (c->bars && (edge > to || c->bars == LOOK_PERIODS))
            return;
        c->bars++;
    }
}

/* --- numbers --- */

static void count_bars(struct look_column *c, const double *sorted, uint64_t n)
{
    const double from = sorted[(uint64_t)(CENTRAL_LOW * (double)(n - 1))],
                 to = sorted[(uint64_t)((1 - CENTRAL_LOW) * (double)(n - 1) + 0.5)];
    if (c->about->type == COLUMN_DATETIME) {
        set_periods(c, sorted, n);
    } else {
        c->bars = LOOK_BARS;
        c->central = true;
        for (int i = 0; i <= LOOK_BARS; i++)
            c->edge[i] = from + (to - from) * i / LOOK_BARS;
        c->edge[LOOK_BARS] = to;
    }
    uint32_t at = 0;
    for (uint64_t i = 0; i < n; i++) {
        if (sorted[i] < c->edge[0] || sorted[i] > c->edge[c->bars])
            continue;
        while (at + 1 < c->bars && sorted[i] >= c->edge[at + 1])
            at++;
        c->bar[at]++;
    }
}

static void set_figures(struct look_column *c, const double *sorted, uint64_t n)
{
    double sum = 0, squares = 0, zeros = 0;
    for (uint64_t i = 0; i < n; i++) {
        sum += sorted[i];
        zeros += !(sorted[i] < 0 || sorted[i] > 0);
    }
    c->mean = n ? sum / (double)n : (double)NAN;
    for (uint64_t i = 0; i < n; i++)
        squares += (sorted[i] - c->mean) * (sorted[i] - c->mean);
    c->deviation = n > 1 ? sqrt(squares / (double)(n - 1)) : (double)NAN;
    c->median = n ? sorted[n / 2] : (double)NAN;
    c->quartile[0] = n ? sorted[n / 4] : (double)NAN;
    c->quartile[1] = n ? sorted[(n - 1) - n / 4] : (double)NAN;
    c->zeros = n ? zeros / (double)n : (double)NAN;
}

/* Bands of equally many rows, each of at least one in 50. order: rows by rising value. */
static void set_bands(const struct looking *x, const double *v, const uint32_t *order, uint64_t n,
                      struct look_column *c)
{
    for (uint64_t from = 0; from < n && c->count < LOOK_VALUES;) {
        struct look_sum sum = {0};
        uint64_t to = from + (n - from) / (LOOK_VALUES - c->count);
        to = to > from + n / 50 ? to : from + n / 50 + 1;
        to = n > to + n / 50 ? to : n;
        while (to < n && v[order[to]] <= v[order[to - 1]]) /* equal values stay together */
            to++;
        for (uint64_t i = from; i < to; i++)
            look_sum_add(&sum, x, order[i]);
        struct look_value *value = &c->values[c->count++];
        *value = (struct look_value){.low = v[order[from]], .high = v[order[to - 1]],
                                     .share = (double)(to - from) / (double)x->rows};
        look_sum_mean(&sum, value->target);
        from = to;
    }
}

void look_spread_numbers(const struct looking *x, size_t k)
{
    struct look_column *c = &x->to->columns[k];
    const double *v = x->raw[k].number;
    double *sorted = mem_alloc(x->rows + 1, sizeof *sorted);
    float *keys = mem_alloc(x->rows + 1, sizeof *keys);
    uint32_t *row = mem_alloc(x->rows + 1, sizeof *row);
    uint32_t *order = mem_alloc(x->rows + 1, sizeof *order);
    struct look_sum none = {0};
    uint64_t n = 0;
    for (uint64_t i = 0; i < x->rows; i++) {
        if (isnan(v[i])) {
            look_sum_add(&none, x, (uint32_t)i);
            continue;
        }
        sorted[n] = v[i];
        row[n++] = (uint32_t)i;
    }
    set_missing(x, c, &none, x->rows - n);
    sort_doubles(sorted, n);
    set_figures(c, sorted, n);
    if (n)
        count_bars(c, sorted, n);
    for (uint64_t i = 0; i < n; i++)
        keys[i] = (float)(v[row[i]] - c->mean);
    sort_order_floats(order, keys, n);
    for (uint64_t i = 0; i < n; i++)
        order[i] = row[order[i]];
    set_bands(x, v, order, n, c);
    mem_free(sorted);
    mem_free(keys);
    mem_free(row);
    mem_free(order);
}

/* --- categories and words --- */

void look_words_add(struct looking *x, size_t k, const char *text, size_t length)
{
    struct look_words *w = x->raw[k].words;
    struct word_place p = {0};
    const uint32_t row = (uint32_t)x->rows - 1;
    for (int i = 0; i < WORDS_MOST && words_next(&p, text, length, false); i++) {
        w->folded.length = 0;
        words_fold(&w->folded, text, &p);
        if (w->folded.length > WORD_BYTES_MOST)
            continue;
        const uint32_t code =
            vocab_count(x->raw[k].texts) < LOOK_DISTINCT
                ? vocab_add(x->raw[k].texts, w->folded.data, w->folded.length)
                : vocab_find(x->raw[k].texts, w->folded.data, w->folded.length);
        if (code == UINT32_MAX || w->last[code] == row + 1)
            continue;
        w->last[code] = row + 1;
        if (w->count == w->room) {
            w->room = w->room ? 2 * w->room : 1024;
            w->row = mem_grow(w->row, w->room, sizeof *w->row);
            w->code = mem_grow(w->code, w->room, sizeof *w->code);
        }
        w->row[w->count] = row;
        w->code[w->count++] = code;
    }
}

/* The distance of the target in a word's rows from the target in all rows, in units of chance. */
static double apart_from_all(const struct data_look *l, const struct look_sum *s, double rows)
{
    double most = 0;
    if (!l->targets)
        return rows;
    for (uint32_t i = 0; i < l->targets && s->known >= WORD_ROWS_LEAST; i++) {
        const double all = l->target_mean[i],
                     unit = l->labels[0] ? sqrt(fmax(all * (1 - all), 1e-9)) : 1;
        most = fmax(most, fabs(s->sum[i] / s->known - all) / unit * sqrt(s->known));
    }
    return most;
}

void look_spread_codes(const struct looking *x, size_t k)
{
    struct look_column *c = &x->to->columns[k];
    const struct look_words *w = x->raw[k].words;
    const uint32_t values = vocab_count(x->raw[k].texts);
    const size_t count = w ? w->count : x->rows;
    double *rows = mem_zero((size_t)values + 1, sizeof *rows);
    double *weight = mem_zero((size_t)values + 1, sizeof *weight);
    struct look_sum *sums = mem_zero((size_t)values + 1, sizeof *sums), none = {0};
    double others = 0;
    uint64_t missing = 0;
    for (size_t i = 0; i < count; i++) {
        const uint32_t row = w ? w->row[i] : (uint32_t)i, at = w ? w->code[i] : x->raw[k].code[i];
        if (at == LOOK_NO_CODE)
            continue;
        rows[at]++;
        look_sum_add(&sums[at], x, row);
    }
    for (uint32_t row = 0; row < x->rows; row++)
        if (w ? w->empty[row] : x->raw[k].code[row] == LOOK_NO_CODE) {
            missing++;
            look_sum_add(&none, x, row);
        }
    set_missing(x, c, &none, missing);
    for (uint32_t i = 0; i < values; i++) {
        weight[i] = w ? apart_from_all(x->to, &sums[i], rows[i]) : rows[i];
        others += rows[i];
    }
    while (c->count < LOOK_VALUES && values) {
        uint32_t most = 0;
        for (uint32_t i = 1; i < values; i++)
            most = weight[i] > weight[most] ? i : most;
        if (!(weight[most] > 0))
            break;
        struct look_value *value = &c->values[c->count++];
        *value = (struct look_value){.text = mem_string(vocab_text(x->raw[k].texts, most, NULL)),
                                     .share = rows[most] / (double)x->rows};
        look_sum_mean(&sums[most], value->target);
        others -= rows[most];
        weight[most] = 0;
    }
    c->others = x->rows && !w ? others / (double)x->rows : 0;
    mem_free(rows);
    mem_free(weight);
    mem_free(sums);
}
