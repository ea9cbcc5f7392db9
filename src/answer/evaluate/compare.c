/* compare.c - see compare.h. A draw gives each row a weight: how often it was drawn, by Poisson's
 * distribution of mean 1, which needs no total. */
#include "answer/evaluate/compare.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "table/schema/vocab.h"

#define DRAWS_MOST 200u
#define DRAWS_LEAST 40u
#define DRAWN_MOST ((uint64_t)20 << 20) /* rows in all draws, but for DRAWS_LEAST */
#define BLOCK 256u                      /* rows that go into a tally at a time */
#define Z 1.959963984540054

void answers_keep(struct answers_kept *k, const struct scores *s)
{
    const uint32_t width = answers_width(k);
    if (k->rows + s->rows > k->room) {
        k->room = (k->rows + s->rows) * 2;
        k->score = mem_grow(k->score, k->room * width, sizeof *k->score);
        k->label = mem_grow(k->label, k->room, sizeof *k->label);
        k->target = mem_grow(k->target, k->room, sizeof *k->target);
        k->weight = mem_grow(k->weight, k->room, sizeof *k->weight);
        if (s->group || k->group)
            k->group = mem_grow(k->group, k->room, sizeof *k->group);
        k->low = mem_grow(k->low, k->room, sizeof *k->low);
        k->high = mem_grow(k->high, k->room, sizeof *k->high);
    }
    for (uint64_t i = 0; i < s->rows; i++) {
        const uint64_t at = k->rows++;
        const bool good = !s->bad || !s->bad[i];
        k->label[at] = good && k->classes ? s->label[i] : -1;
        k->target[at] = good && !k->classes ? s->target[i] : (double)NAN;
        k->weight[at] = good ? s->weight[i] : 0;
        if (k->group)
            k->group[at] = good ? s->group[i] : 0;
        k->low[at] = good && s->low ? s->low[i] : 0;
        k->high[at] = good && s->high ? s->high[i] : 0;
        memset(k->score + at * width, 0, width * sizeof *k->score);
        if (good)
            memcpy(k->score + at * width,
                   !k->classes         ? s->value + i * width
                   : k->raw && s->raw ? s->raw + i * width
                                       : s->probability + i * width,
                   width * sizeof *k->score);
    }
}

struct scores answers_scores(const struct answers_kept *k, uint64_t from, uint64_t rows)
{
    const double *score = k->score + from * answers_width(k);
    return (struct scores){.task = k->task,
                           .rows = rows,
                           .classes = k->classes,
                           .probability = score,
                           .value = score,
                           .label = k->label + from,
                           .target = k->target + from,
                           .low = k->low + from,
                           .high = k->high + from,
                           .group = k->group ? k->group + from : NULL,
                           .weight = k->weight + from};
}

void answers_free(struct answers_kept *k)
{
    mem_free(k->score);
    mem_free(k->label);
    mem_free(k->target);
    mem_free(k->weight);
    mem_free(k->group);
    mem_free(k->low);
    mem_free(k->high);
    *k = (struct answers_kept){0};
}

struct drawing {
    const struct answers_kept *a, *b;
    const struct metric_type *metric;
    double *advantage; /* [draws] */
};

/* The number of draws of a row, or of a group with this key: Poisson's distribution of mean 1. */
static float times_drawn(uint32_t draw, uint64_t row)
{
    double u = ((double)rng_bits(COMPARE_SEED, row, 0, draw, RNG_SAMPLE) + 0.5) * 0x1p-32;
    double p = 0.36787944117144233, sum = p;
    int times = 0;
    while (u > sum && times < 12) {
        p /= ++times;
        sum += p;
    }
    return (float)times;
}

/* The metric of k's answers; draw 0: on the rows without resampling. */
static double value_of(const struct drawing *d, const struct answers_kept *k, uint32_t draw)
{
    struct tally *t = tally_new(k->task, k->classes, d->metric->needs);
    float weight[BLOCK];
    bool bad[BLOCK];
    t->decision = k->decision;
    t->conformal = k->conformal;
    tally_judge_by(t, &d->a->criterion);
    for (uint64_t from = 0; from < k->rows; from += BLOCK) {
        const uint64_t rows = k->rows - from < BLOCK ? k->rows - from : BLOCK;
        for (uint64_t i = 0; i < rows; i++) {
            const bool both = answers_counts(d->a, from + i) && answers_counts(d->b, from + i);
            weight[i] = both ? d->a->weight[from + i] : 0;
            if (draw && both)
                weight[i] *= times_drawn(draw, d->a->group ? d->a->group[from + i] : from + i);
            bad[i] = !(weight[i] > 0);
        }
        struct scores s = answers_scores(k, from, rows);
        s.group = NULL;
        s.weight = weight;
        s.bad = bad;
        tally_add(t, &s);
    }
    double value = t->weight > 0 ? d->metric->value(t) : (double)NAN;
    tally_free(t);
    return value;
}

static double advantage_of(const struct metric_type *metric, double own, double other)
{
    return metric->higher ? own - other : other - own;
}

static void draw_tile(void *context, unsigned tile, unsigned hand)
{
    struct drawing *d = context;
    (void)hand;
    d->advantage[tile] = stop_wanted() ? (double)NAN
                                       : advantage_of(d->metric, value_of(d, d->a, tile + 1),
                                                      value_of(d, d->b, tile + 1));
}

/* Kish's effective number of groups, of rows that both answer; infinite without groups. */
static double groups_of(const struct drawing *d)
{
    const struct answers_kept *k = d->a;
    struct vocab *keys = vocab_new();
    double *sum = mem_zero(k->rows + 1, sizeof *sum), all = 0, squares = 0;
    for (uint64_t i = 0; k->group && i < k->rows; i++)
        if (answers_counts(d->a, i) && answers_counts(d->b, i))
            sum[vocab_add(keys, (const char *)&k->group[i], sizeof *k->group)] +=
                (double)k->weight[i];
    for (uint32_t g = 0; g < vocab_count(keys); g++) {
        all += sum[g];
        squares += sum[g] * sum[g];
    }
    vocab_free(keys);
    mem_free(sum);
    return k->group ? (squares > 0 ? all * all / squares : 0) : (double)INFINITY;
}

/* value +- 1.96 standard deviations of the draws; with few groups Student's quantile (compare
 * measure/interval.h), and the deviation as a sample's. */
static struct interval spread(const double *advantage, uint32_t draws, double value, double groups)
{
    struct interval none = {(double)NAN, (double)NAN};
    double mean = 0, square = 0;
    uint32_t defined = 0;
    for (uint32_t i = 0; i < draws; i++) {
        if (isnan(advantage[i]))
            continue;
        double before = advantage[i] - mean;
        mean += before / ++defined;
        square += before * (advantage[i] - mean);
    }
    if (2 * defined < draws || isnan(value))
        return none;
    double error = sqrt(square / (defined - 1)), quantile = Z;
    if (!(groups >= 2 - 1e-9))
        return none;
    if (groups < 1e9) {
        error *= sqrt(groups / (groups - 1));
        quantile = group_quantile(groups - 1);
    }
    return (struct interval){value - quantile * error, value + quantile * error};
}

bool compare_answers(const struct answers_kept *a, const struct answers_kept *b,
                     const struct metric_type *metric, struct comparison *c, struct err *e)
{
    struct drawing d = {.a = a, .b = b, .metric = metric};
    *c = (struct comparison){.own = (double)NAN};
    if (a->rows != b->rows)
        return err_set(e, ERR_FILE_CHANGED,
                       "the models were given %llu and %llu rows: the data changed meanwhile",
                       (unsigned long long)a->rows, (unsigned long long)b->rows);
    uint64_t draws = DRAWN_MOST / (a->rows ? a->rows : 1);
    draws = draws < DRAWS_LEAST ? DRAWS_LEAST : draws > DRAWS_MOST ? DRAWS_MOST : draws;
    c->own = value_of(&d, a, 0);
    c->other = value_of(&d, b, 0);
    c->advantage = advantage_of(metric, c->own, c->other);
    d.advantage = mem_zero(draws, sizeof *d.advantage);
    threads_run_few((unsigned)draws, draw_tile, &d);
    c->interval = spread(d.advantage, (uint32_t)draws, c->advantage, groups_of(&d));
    mem_free(d.advantage);
    return !stop_wanted() || (stop_error("the end of the comparison", e), false);
}
