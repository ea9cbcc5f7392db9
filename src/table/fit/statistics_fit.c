/* statistics_fit.c - fits target statistics on the rows of an encoder. Sums are taken in the order
 * of the rows, one table a thread, and so do not depend on threads. */
#include "table/fit/statistics_fit.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/process/thread.h"

enum {
    SCORED_MOST = 65536,   /* rows on which pairs are scored */
};
#define ALONE 0.9          /* share of the columns' scores that is no merit of their pair */
#define FOLD_SEED UINT64_C(0x746172676574)

/* --- rows: targets, weights, folds --- */

static double target_of(const struct statistics_fit *f, uint32_t i, uint32_t k)
{
    if (!f->classes)
        return f->value[i];
    return f->outputs == 1 ? f->label[i] == 1 : f->label[i] == (int32_t)k;
}

static void read_targets(struct statistics_fit *f)
{
    const struct encoder *c = f->fit->encoder;
    const struct rows *rows = &f->fit->data->rows;
    double sum = 0;
    f->weight = mem_alloc((size_t)f->count + 1, sizeof *f->weight);
    if (f->classes)
        f->label = mem_alloc((size_t)f->count + 1, sizeof *f->label);
    else
        f->value = mem_alloc((size_t)f->count + 1, sizeof *f->value);
    for (uint32_t i = 0; i < f->count; i++) {
        const uint32_t row = f->fit->weighed.single[i];
        const unsigned char *record = rows_at(rows, row);
        bool known;
        if (f->classes) {
            int32_t id = record_int(record, rows->format.at_target);
            f->label[i] = id < 0 ? -1 : c->class_of[id];
            known = f->label[i] >= 0;
        } else {
            double y = f->fit->data->target[row];
            known = y == y;
            f->value[i] = known ? coding_encode(&c->coding, y) : 0;
        }
        f->weight[i] = known ? weighed_weight(&f->fit->weighed, i) : 0;
        sum += f->weight[i];
    }
    for (uint32_t i = 0; i < f->count && sum > 0 && !f->fit->weighed.weight; i++)
        f->weight[i] /= sum / f->count; /* rows without a target are made up for */
}

static void fit_means(struct statistics_fit *f)
{
    double total = 0, square[STATISTICS_CLASSES_MOST] = {0};
    for (uint32_t i = 0; i < f->count; i++) {
        total += f->weight[i];
        for (uint32_t k = 0; k < f->outputs; k++) {
            double y = target_of(f, i, k);
            f->mean[k] += f->weight[i] * y;
            square[k] += f->weight[i] * y * y;
        }
    }
    for (uint32_t k = 0; k < f->outputs; k++) {
        f->mean[k] = total > 0 ? f->mean[k] / total : 0;
        f->spread[k] = fmax(total > 0 ? square[k] / total - f->mean[k] * f->mean[k] : 0, 0);
        if (f->classes)
            f->mean[k] = fmin(fmax(f->mean[k], 1e-9), 1 - 1e-9);
    }
}

/* A fold follows from the row's number in the data, or from its group. */
static void fit_folds(struct statistics_fit *f)
{
    const uint64_t *key = f->fit->data->key;
    f->fold = mem_alloc((size_t)f->count + 1, sizeof *f->fold);
    for (uint32_t i = 0; i < f->count; i++) {
        uint64_t from = f->fit->weighed.single[i];
        from = key ? key[from] : from;
        f->fold[i] = (uint8_t)(rng_hash(&from, sizeof from, FOLD_SEED) %
                               (uint64_t)f->options->folds);
    }
}

static int by_time(const void *one, const void *other, const void *context)
{
    const struct statistics_fit *f = context;
    double a = f->fit->data->time[f->fit->weighed.single[*(const uint32_t *)one]];
    double b = f->fit->data->time[f->fit->weighed.single[*(const uint32_t *)other]];
    return a < b ? -1 : a > b;
}

static void fit_order(struct statistics_fit *f)
{
    if (!f->fit->data->time)
        return;
    f->order = mem_alloc((size_t)f->count + 1, sizeof *f->order);
    for (uint32_t i = 0; i < f->count; i++)
        f->order[i] = i;
    sort_stable(f->order, f->count, sizeof *f->order, by_time, f);
}

/* --- sums of a group's rows, for each fold --- */

struct sums {
    double *rows;        /* [groups * folds]: weight */
    double *target;      /* [groups * folds][outputs] */
    double *all;         /* [groups][1 + outputs]: over the folds */
};

static void sums_free(struct sums *s)
{
    mem_free(s->rows);
    mem_free(s->target);
    mem_free(s->all);
}

static struct sums sums_make(const struct statistics_fit *f, const struct group *g, uint32_t most)
{
    const uint32_t folds = (uint32_t)f->options->folds, outputs = f->outputs;
    size_t cells = (size_t)g->count * folds;
    struct sums s = {.rows = mem_zero(cells + 1, sizeof *s.rows),
                     .target = mem_zero(cells * outputs + 1, sizeof *s.target),
                     .all = mem_zero((size_t)g->count * (1 + outputs) + 1, sizeof *s.all)};
    for (uint32_t i = 0; i < most; i++) {
        uint32_t row = group_row(f, most, i);
        if (g->of[i] == STATISTICS_ABSENT)
            continue;
        size_t cell = (size_t)g->of[i] * folds + f->fold[row];
        s.rows[cell] += f->weight[row];
        if (!outputs)
            continue;
        if (!f->classes)
            s.target[cell] += f->weight[row] * f->value[row];
        else if (outputs == 1)
            s.target[cell] += f->label[row] == 1 ? f->weight[row] : 0;
        else if (f->label[row] >= 0)
            s.target[cell * outputs + (uint32_t)f->label[row]] += f->weight[row];
    }
    for (size_t cell = 0; cell < cells; cell++) {
        double *all = s.all + cell / folds * (1 + outputs);
        all[0] += s.rows[cell];
        for (uint32_t k = 0; k < outputs; k++)
            all[1 + k] += s.target[cell * outputs + k];
    }
    return s;
}

/* The smoothed mean of `rows` rows with this sum. */
static double smoothed(const struct statistics_fit *f, uint32_t k, double rows, double sum)
{
    rows = rows > 0 ? rows : 0;
    return (sum + f->options->prior * f->mean[k]) / (rows + f->options->prior);
}

/* The number of a record: log-odds minus the mean's, or the difference from the mean. */
static float value_of(const struct statistics_fit *f, uint32_t k, double rows, double sum)
{
    if (!(rows > 1e-9))
        return 0;
    if (!f->classes)
        return (float)(smoothed(f, k, rows, sum) - f->mean[k]);
    double prior = f->options->prior, mean = f->mean[k], rest = rows - sum;
    double yes = (sum > 0 ? sum : 0) + prior * mean;
    double no = (rest > 0 ? rest : 0) + prior * (1 - mean);
    return (float)(log(yes / no) - log(mean / (1 - mean)));
}

/* --- the score of a key --- */

/* |correlation| of the smoothed means out of fold with the target; of several classes the root of
 * the mean square, by their spread. */
static double tells(const struct statistics_fit *f, uint32_t a, uint32_t b, uint32_t most)
{
    const uint32_t folds = (uint32_t)f->options->folds, outputs = f->outputs;
    struct group g = group_make(f, a, b, most, false);
    struct sums s = sums_make(f, &g, most);
    double square = 0, spread = 0;
    for (uint32_t k = 0; k < outputs; k++) {
        double n = 0, sv = 0, svv = 0, sy = 0, svy = 0;
        for (size_t cell = 0; cell < (size_t)g.count * folds; cell++) {
            const double *all = s.all + cell / folds * (1 + outputs);
            double rows = s.rows[cell], sum = s.target[cell * outputs + k];
            if (!(rows > 0))
                continue;
            double v = smoothed(f, k, all[0] - rows, all[1 + k] - sum) - f->mean[k];
            n += rows;
            sv += rows * v;
            svv += rows * v * v;
            sy += sum;
            svy += sum * v;
        }
        double both = n > 0 ? svy / n - sv / n * (sy / n) : 0;
        double width = n > 0 ? (svv / n - sv / n * (sv / n)) * f->spread[k] : 0;
        double r = width > 1e-18 ? both / sqrt(width) : 0;
        square += f->spread[k] * r * r;
        spread += f->spread[k];
    }
    sums_free(&s);
    group_free(&g);
    return spread > 0 ? sqrt(square / spread) : 0;
}

struct scored {
    uint32_t a, b;
    double score;
};
struct score_task {
    const struct statistics_fit *f;
    struct scored *list;
    uint32_t most;
};

static void score_tile(void *context, unsigned tile, unsigned hand)
{
    struct score_task *t = context;
    struct scored *one = &t->list[tile];
    (void)hand;
    one->score = tells(t->f, one->a, one->b, t->most) - one->score;
}

static int by_score(const void *one, const void *other, const void *context)
{
    double a = ((const struct scored *)one)->score, b = ((const struct scored *)other)->score;
    (void)context;
    return a > b ? -1 : a < b;
}

/* Scores the list, best first. score holds the amount to subtract. */
static void score(const struct statistics_fit *f, struct scored *list, uint32_t count)
{
    struct score_task t = {
        .f = f, .list = list, .most = f->count < SCORED_MOST ? f->count : SCORED_MOST};
    threads_run_few(count, score_tile, &t);
    sort_stable(list, count, sizeof *list, by_score, NULL);
}

/* Chooses the pairs of keys that tell most: pairs that tell more than both columns alone. */
static struct scored *choose_pairs(const struct statistics_fit *f, uint32_t *count)
{
    const uint32_t keys = f->made->key_count;
    uint32_t most = keys < STATISTICS_PAIRED_MOST ? keys : STATISTICS_PAIRED_MOST, pairs = 0;
    struct scored *alone = mem_alloc((size_t)keys + 1, sizeof *alone);
    struct scored *list = mem_alloc((size_t)most * most + 1, sizeof *list);
    *count = 0;
    if (f->outputs && f->options->pairs && keys > 1) {
        for (uint32_t i = 0; i < keys; i++)
            alone[i] = (struct scored){.a = i, .b = STATISTICS_ABSENT};
        score(f, alone, keys);
        for (uint32_t i = 0; i < most; i++)
            for (uint32_t j = 0; j < i; j++) {
                uint32_t a = alone[i].a, b = alone[j].a;
                list[pairs++] = (struct scored){.a = a < b ? a : b, .b = a < b ? b : a,
                                                .score = ALONE * hypot(alone[i].score,
                                                                       alone[j].score)};
            }
        score(f, list, pairs);
        *count = pairs < f->options->pairs ? pairs : (uint32_t)f->options->pairs;
    }
    mem_free(alone);
    return list;
}

/* --- tables --- */

static void held_by_fold(const struct statistics_fit *f, const struct statistic_table *t,
                         const struct group *g, const struct sums *s)
{
    const uint32_t folds = (uint32_t)f->options->folds, outputs = f->outputs;
    const uint32_t width = statistic_width(t);
    size_t cells = (size_t)g->count * folds;
    float *of_cell = mem_alloc(cells + 1, sizeof *of_cell);
    for (uint32_t k = 0; k < width; k++) {
        float *held = f->held + (size_t)(t->first + k) * f->count;
        for (size_t cell = 0; cell < cells; cell++) {
            const double *all = s->all + cell / folds * (1 + outputs);
            double rows = all[0] - s->rows[cell];
            of_cell[cell] = k < t->means
                                ? value_of(f, k, rows,
                                           all[1 + k] - s->target[cell * outputs + k])
                                : (float)log1p(rows > 0 ? rows : 0);
        }
        for (uint32_t i = 0; i < f->count; i++)
            held[i] = g->of[i] == STATISTICS_ABSENT
                          ? 0
                          : of_cell[(size_t)g->of[i] * folds + f->fold[i]];
    }
    mem_free(of_cell);
}

/* Statistics of earlier rows alone; rows of one time do not see each other. */
static void held_by_time(const struct statistics_fit *f, const struct statistic_table *t,
                         const struct group *g)
{
    const uint32_t outputs = f->outputs;
    double *past = mem_zero((size_t)g->count * (1 + outputs) + 1, sizeof *past);
    for (uint32_t from = 0, end; from < f->count; from = end) {
        for (end = from; end < f->count && !by_time(&f->order[from], &f->order[end], f); end++) {
            uint32_t i = f->order[end];
            float *held = f->held + (size_t)t->first * f->count + i;
            bool rare = g->of[i] == STATISTICS_ABSENT;
            const double *of = past + (rare ? 0 : (size_t)g->of[i] * (1 + outputs));
            for (uint32_t k = 0; k < t->means; k++)
                held[(size_t)k * f->count] = rare ? 0 : value_of(f, k, of[0], of[1 + k]);
            if (t->counted)
                held[(size_t)t->means * f->count] = rare ? 0 : (float)log1p(of[0]);
        }
        for (uint32_t at = from; at < end; at++) {
            uint32_t i = f->order[at];
            if (g->of[i] == STATISTICS_ABSENT || !(f->weight[i] > 0))
                continue;
            double *of = past + (size_t)g->of[i] * (1 + outputs);
            of[0] += f->weight[i];
            for (uint32_t k = 0; k < outputs; k++)
                of[1 + k] += f->weight[i] * target_of(f, i, k);
        }
    }
    mem_free(past);
}

static void table_tile(void *context, unsigned tile, unsigned hand)
{
    const struct statistics_fit *f = context;
    struct statistic_table *t = &f->made->tables[tile];
    const uint32_t width = statistic_width(t), outputs = f->outputs;
    struct group g = group_make(f, t->keys[0], t->keys[1], f->count, true);
    struct sums s = sums_make(f, &g, f->count);
    (void)hand;
    t->count = g.count;
    t->codes = g.codes;
    t->values = mem_alloc((size_t)g.count * width + 1, sizeof *t->values);
    for (uint32_t i = 0; i < g.count; i++) {
        const double *all = s.all + (size_t)i * (1 + outputs);
        for (uint32_t k = 0; k < t->means; k++)
            t->values[i * width + k] = value_of(f, k, all[0], all[1 + k]);
        if (t->counted)
            t->values[i * width + t->means] = (float)log1p(all[0]);
    }
    if (f->order)
        held_by_time(f, t, &g);
    else
        held_by_fold(f, t, &g, &s);
    sums_free(&s);
    mem_free(g.of);
}

/* Plans the tables: the keys alone, then pairs. A table without a number is left out. */
static void plan_tables(struct statistics_fit *f)
{
    const struct schema *s = f->fit->encoder->schema;
    uint32_t pairs, keys = f->made->key_count, count = 0;
    struct scored *pair = choose_pairs(f, &pairs);
    struct statistic_table *tables = mem_zero((size_t)keys + pairs + 1, sizeof *tables);
    for (uint32_t i = 0; i < keys + pairs; i++) {
        struct statistic_table t = {.means = f->outputs};
        const struct column *c = i < keys ? &s->columns[f->made->keys[i].column] : NULL;
        t.keys[0] = c ? i : pair[i - keys].a;
        t.keys[1] = c ? STATISTICS_ABSENT : pair[i - keys].b;
        if (c && c->type == COLUMN_CATEGORICAL && c->encode >= ENCODE_TARGET) {
            t.means = c->encode == ENCODE_COUNT ? 0 : f->outputs;
            t.counted = !t.means;
        }
        if (c && f->options->counts && f->made->keys[i].count >= STATISTICS_COUNTED_LEAST)
            t.counted = true;
        if (statistic_width(&t))
            tables[count++] = t;
    }
    mem_free(pair);
    mem_free(f->made->tables);
    f->made->tables = tables;
    f->made->table_count = count;
}

/* Standardises a number by the statistics out of fold. */
static void scale_tile(void *context, unsigned tile, unsigned hand)
{
    const struct statistics_fit *f = context;
    const float *v = f->held + (size_t)tile * f->count;
    struct number_slot *n = &f->fit->encoder->numbers[f->made->first + tile];
    const struct weighed *w = &f->fit->weighed;
    double sum = 0, square = 0, rows = 0;
    (void)hand;
    n->low = n->high = f->count ? v[0] : 0;
    for (uint32_t i = 0; i < f->count; i++) {
        rows += weighed_weight(w, i);
        sum += weighed_weight(w, i) * (double)v[i];
        n->low = v[i] < n->low ? v[i] : n->low;
        n->high = v[i] > n->high ? v[i] : n->high;
    }
    n->center = sum / rows;
    for (uint32_t i = 0; i < f->count; i++) {
        double d = (double)v[i] - n->center;
        square += weighed_weight(w, i) * (d * d);
    }
    double deviation = sqrt(square / rows);
    n->factor = n->low < n->high && deviation > 1e-6 ? 1 / deviation : 0;
}

static void release(struct statistics_fit *f, uint32_t keys)
{
    for (uint32_t i = 0; i < keys; i++)
        mem_free(f->ids[i]);
    mem_free(f->ids);
    mem_free(f->fold);
    mem_free(f->weight);
    mem_free(f->value);
    mem_free(f->label);
    mem_free(f->order);
}

void fit_statistics(struct fit *fit)
{
    const struct schema *s = fit->encoder->schema;
    struct statistics_fit f = {
        .fit = fit, .options = &s->wanted, .count = (uint32_t)fit->weighed.single_count,
        .classes = s->task != TASK_REGRESSION, .outputs = 1};
    bool any = false;
    for (size_t i = 0; i < s->column_count; i++)
        any |= statistics_is_key(s, &s->columns[i]);
    if (!any)
        return;
    if (s->labels && vocab_count(s->labels) > 2)
        f.outputs = vocab_count(s->labels) > STATISTICS_CLASSES_MOST ? 0 : vocab_count(s->labels);
    read_targets(&f);
    fit_means(&f);
    fit_folds(&f);
    fit_order(&f);
    statistics_keys(&f);
    plan_tables(&f);
    const uint32_t keys = f.made->key_count;
    if (!f.made->table_count) {
        statistics_free(f.made);
        release(&f, keys);
        return;
    }
    statistics_layout(f.made);
    f.held = mem_alloc((size_t)f.made->numbers * f.count + 1, sizeof *f.held);
    threads_run_few(f.made->table_count, table_tile, &f);
    encoder_add_statistics(fit->encoder, f.made);
    threads_run_few(f.made->numbers, scale_tile, &f);
    fit->encoder->held = f.held;
    fit->encoder->held_count = fit->weighed.single_count;
    fit->encoder->held_rows =
        mem_copy(fit->weighed.single, fit->encoder->held_count * sizeof *fit->rows);
    release(&f, keys);
}
