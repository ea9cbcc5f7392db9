/* fit_target.c - target_transform "auto": which function of a regression target to learn. Each
 * is tried with an additive model on training rows: a line and one effect for each of some 32
 * ranges of a number, one effect for each value of a category, fitted one column after another,
 * with a penalty (Hastie and Tibshirani, Generalized Additive Models, 1990, chapter 4). The
 * smallest root mean squared error on the validation rows wins, in units of the target. */
#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/process/thread.h"
#include "table/fit/fit.h"

enum {
    FIT_MOST = 20000,
    JUDGE_MOST = 10000,
    FIT_LEAST = 40, /* fewer rows: none */
    JUDGE_LEAST = 10,
    COLUMNS_MOST = 512,
    CELLS_MOST = 6000000, /* bins in memory: rows times columns */
    RANGES = 32,
    SWEEPS = 12
};
#define LINE_MOST 5.0 /* deviations: farther numbers count as that */
#define PENALTY 10.0 /* rows without effect, in each bin */
#define GAIN 0.99    /* times the error of "none" */

/* Rows 0 .. fit - 1 are fitted on, the others judge. */
struct additive {
    const struct fit *of;
    uint32_t fit, rows, columns, most; /* columns: `most` of them at most */
    uint32_t *record; /* [rows]: number of the row in the dataset */
    double *target, *weight; /* [rows]; weight: mean 1 */
    uint32_t *bin;    /* [columns][rows] */
    uint32_t *bins;   /* [columns]: their number */
    float *line;      /* [columns][rows]: a number, standardised, 0: missing; of a category 0 */
    double error[TARGET_AUTO]; /* root mean squared; NaN: not tried */
    struct target_coding knots; /* of the rows fitted on */
    bool positive;
};

/* --- the rows --- */

static void add_rows(struct additive *a, const uint32_t *rows, uint64_t count, uint64_t most,
                     bool judge, bool fourths)
{
    const struct dataset *d = a->of->data;
    most = count < most ? count : most;
    for (uint64_t i = 0; i < most; i++) {
        uint32_t row = rows[i * count / most];
        if ((fourths && (i % 4 == 3) != judge) || isnan(d->target[row]))
            continue;
        a->record[a->rows] = row;
        a->target[a->rows] = d->target[row];
        a->weight[a->rows] = 1; /* the list repeats a row by its weight */
        a->positive = a->positive && d->target[row] > 0;
        a->rows++;
    }
    a->fit = judge ? a->fit : a->rows;
}

static bool is_used(const struct column *c)
{
    return c->type != COLUMN_TEXT && (c->number != UINT32_MAX || c->category != UINT32_MAX);
}

static void take_rows(struct additive *a)
{
    const struct fit *f = a->of;
    const struct schema *s = f->encoder->schema;
    uint32_t columns = 0;
    for (size_t i = 0; i < s->column_count; i++)
        columns += columns < COLUMNS_MOST && is_used(&s->columns[i]);
    a->bins = mem_alloc(columns + 1, sizeof *a->bins);
    a->most = columns;
    const uint64_t most = columns ? CELLS_MOST / columns : 0;
    const bool fourths = !f->judges.count;
    const uint64_t fit = most * 2 / 3 < FIT_MOST ? most * 2 / 3 : FIT_MOST;
    const uint64_t judge = fourths ? fit : most / 3 < JUDGE_MOST ? most / 3 : JUDGE_MOST;
    a->record = mem_alloc(fit + judge + 1, sizeof *a->record);
    a->target = mem_alloc(fit + judge + 1, sizeof *a->target);
    a->weight = mem_alloc(fit + judge + 1, sizeof *a->weight);
    a->positive = true;
    add_rows(a, f->rows, f->count, fit, false, fourths);
    add_rows(a, fourths ? f->rows : f->judges.rows, fourths ? f->count : f->judges.count, judge,
             true, fourths);
    double sum = 0;
    for (uint32_t i = 0; i < a->fit; i++)
        sum += a->weight[i];
    for (uint32_t i = 0; sum > 0 && i < a->rows; i++)
        a->weight[i] *= a->fit / sum;
    if (!(sum > 0))
        a->fit = 0;
}

/* --- the bins --- */

static void standardise(const struct additive *a, float *value)
{
    double mean = 0, squares = 0, n = 0;
    for (uint32_t i = 0; i < a->fit; i++)
        if (value[i] == value[i]) {
            double off = (double)value[i] - mean;
            mean += off / ++n;
            squares += off * ((double)value[i] - mean);
        }
    double scale = sqrt(squares / n);
    for (uint32_t i = 0; i < a->rows; i++) {
        double z = ((double)value[i] - mean) / scale;
        value[i] = isfinite(z) ? (float)fmin(fmax(z, -LINE_MOST), LINE_MOST) : 0;
    }
}

/* Ranges of equal rows; bin 0: missing. */
static void bin_number(struct additive *a, uint32_t slot, uint32_t *bin, uint32_t *bins,
                       float *value)
{
    const struct rows *rows = &a->of->data->rows;
    float *present = mem_alloc(a->fit, sizeof *present);
    float edge[RANGES];
    uint32_t n = 0, edges = 0;
    for (uint32_t i = 0; i < a->rows; i++) {
        value[i] = record_number(rows_at(rows, a->record[i]), slot);
        if (i < a->fit && value[i] == value[i])
            present[n++] = value[i];
    }
    sort_floats(present, n);
    for (uint32_t k = 1; n && k < RANGES; k++) {
        float next = present[(uint64_t)k * n / RANGES];
        if (next > (edges ? edge[edges - 1] : present[0]))
            edge[edges++] = next;
    }
    for (uint32_t i = 0; i < a->rows; i++) {
        bin[i] = value[i] == value[i];
        for (uint32_t k = 0; k < edges && value[i] >= edge[k]; k++)
            bin[i]++;
    }
    *bins = edges + 2;
    mem_free(present);
    standardise(a, value);
}

static void bin_columns(struct additive *a)
{
    const struct schema *s = a->of->encoder->schema;
    const struct rows *rows = &a->of->data->rows;
    a->bin = mem_alloc((size_t)a->most * a->rows + 1, sizeof *a->bin);
    a->line = mem_zero((size_t)a->most * a->rows + 1, sizeof *a->line);
    for (size_t i = 0; i < s->column_count && a->columns < a->most; i++) {
        const struct column *c = &s->columns[i];
        uint32_t *bin = a->bin + (size_t)a->columns * a->rows;
        if (!is_used(c) || a->of->encoder->columns[i].constant)
            continue;
        if (c->number != UINT32_MAX) {
            bin_number(a, c->number, bin, &a->bins[a->columns],
                       a->line + (size_t)a->columns * a->rows);
        } else {
            const int32_t *slot_of = a->of->encoder->slot_of[c->category];
            uint32_t at = rows->format.at_category + 4 * c->category;
            for (uint32_t k = 0; k < a->rows; k++)
                bin[k] = (uint32_t)slot_of[record_int(rows_at(rows, a->record[k]), at)];
            a->bins[a->columns] = vocab_count(a->of->encoder->columns[i].vocab) + 2;
        }
        a->columns++;
    }
}

/* --- one function of the target --- */

/* The coding of the rows fitted on; left [fit]: the targets to fit. False: it has no
 * spread. */
static bool code_target(const struct additive *a, struct target_coding *c, double *left)
{
    double mean = 0, sum = 0, squares = 0;
    for (uint32_t i = 0; i < a->fit; i++) {
        left[i] = coding_encode(c, a->target[i]);
        sum += a->weight[i];
        if (sum > 0)
            mean += (left[i] - mean) * (a->weight[i] / sum);
    }
    for (uint32_t i = 0; i < a->fit; i++)
        squares += a->weight[i] * (left[i] - mean) * (left[i] - mean);
    c->center = mean;
    c->scale = sqrt(squares / sum);
    for (uint32_t i = 0; i < a->fit; i++)
        left[i] = (left[i] - mean) / c->scale;
    return c->scale > 0 && isfinite(c->scale) && isfinite(1 / c->scale);
}

/* Fits one column: its line, then the effect of each bin, by penalised least squares. answer [rows
 * - fit]: answers to the rows that judge. */
static void fit_line(const struct additive *a, uint32_t column, double *left, double *answer)
{
    const float *x = a->line + (size_t)column * a->rows;
    double both = 0, squares = 0;
    for (uint32_t i = 0; i < a->fit; i++) {
        both += a->weight[i] * (double)x[i] * left[i];
        squares += a->weight[i] * (double)x[i] * (double)x[i];
    }
    double step = squares > 0 ? both / squares : 0;
    for (uint32_t i = 0; i < a->fit; i++)
        left[i] -= step * (double)x[i];
    for (uint32_t i = a->fit; i < a->rows; i++)
        answer[i - a->fit] += step * (double)x[i];
}

static void fit_bins_of(const struct additive *a, uint32_t column, double *effect, double *left,
                       double *answer)
{
    const uint32_t *bin = a->bin + (size_t)column * a->rows, bins = a->bins[column];
    double *sum = mem_zero(bins, sizeof *sum), *rows = mem_zero(bins, sizeof *rows);
    for (uint32_t i = 0; i < a->fit; i++) {
        sum[bin[i]] += a->weight[i] * left[i];
        rows[bin[i]] += a->weight[i];
    }
    for (uint32_t b = 0; b < bins; b++) {
        sum[b] = (sum[b] - PENALTY * effect[b]) / (rows[b] + PENALTY); /* the step */
        effect[b] += sum[b];
    }
    for (uint32_t i = 0; i < a->fit; i++)
        left[i] -= sum[bin[i]];
    for (uint32_t i = a->fit; i < a->rows; i++)
        answer[i - a->fit] += sum[bin[i]];
    mem_free(sum);
    mem_free(rows);
}

static void try_one(void *of, unsigned transform, unsigned hand)
{
    struct additive *a = of;
    (void)hand;
    struct target_coding c = a->knots;
    c.transform = (int)transform;
    c.scale = 1;
    a->error[transform] = (double)NAN;
    if (transform == TARGET_LOG && !a->positive)
        return;
    size_t effects = 0;
    for (uint32_t k = 0; k < a->columns; k++)
        effects += a->bins[k];
    double *effect = mem_zero(effects + 1, sizeof *effect);
    double *left = mem_alloc(a->fit, sizeof *left);
    double *answer = mem_zero(a->rows - a->fit, sizeof *answer), errors = 0, sum = 0;
    if (code_target(a, &c, left)) {
        for (uint32_t sweep = 0; sweep < SWEEPS; sweep++) {
            double *at = effect;
            for (uint32_t k = 0; k < a->columns; at += a->bins[k++]) {
                fit_line(a, k, left, answer);
                fit_bins_of(a, k, at, left, answer);
            }
        }
        for (uint32_t i = a->fit; i < a->rows; i++) {
            double off = coding_decode(&c, answer[i - a->fit]) - a->target[i];
            errors += a->weight[i] * off * off;
            sum += a->weight[i];
        }
        a->error[transform] = sqrt(errors / sum);
    }
    mem_free(effect);
    mem_free(left);
    mem_free(answer);
}

/* --- the choice --- */

void target_choose(const struct fit *f, struct target_choice *choice)
{
    struct additive a = {.of = f};
    *choice = (struct target_choice){.made = true, .transform = TARGET_NONE};
    take_rows(&a);
    if (a.fit >= FIT_LEAST && a.rows - a.fit >= JUDGE_LEAST) {
        double *sorted = mem_copy(a.target, a.fit * sizeof *sorted);
        sort_doubles(sorted, a.fit);
        coding_fit_knots(&a.knots, sorted, a.fit);
        mem_free(sorted);
        bin_columns(&a);
        threads_run_few(TARGET_AUTO, try_one, &a);
        const double none = a.error[TARGET_NONE];
        double least = GAIN * none;
        for (int t = TARGET_NONE; t < TARGET_AUTO; t++) {
            choice->error[t] = a.error[t];
            if (a.error[t] < least) {
                least = a.error[t];
                choice->transform = t;
            }
        }
        choice->judged = a.rows - a.fit;
    }
    mem_free(a.record);
    mem_free(a.target);
    mem_free(a.weight);
    mem_free(a.bin);
    mem_free(a.bins);
    mem_free(a.line);
    mem_free(a.knots.knots);
}
