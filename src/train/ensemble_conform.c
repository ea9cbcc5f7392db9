/* ensemble_conform.c - intervals and sets of the mean of an ensemble, by the rows left out. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "train/ensemble_mix.h"

/* struct conformal's spread of `count` rows; of test rows the mean over the folds. room [2 *
 * count]. */
static void spread_of(const struct mixing *x, bool test, uint32_t f, uint64_t from, uint64_t count,
                      double *spread, double *room)
{
    const uint32_t first = test ? 0 : f, last = test ? x->folds : f + 1;
    double *mean = room, *own = room + count, *sum = mem_alloc(count + 1, sizeof *sum);
    memset(spread, 0, count * sizeof *spread);
    for (uint32_t k = first; k < last; k++) {
        memset(mean, 0, count * sizeof *mean);
        memset(sum, 0, count * sizeof *sum);
        for (uint32_t i = 0; i < 2 * x->count; i++) { /* the mean of the members, then around it */
            const uint32_t member = i % x->count;
            const double weight = x->weights[member];
            const struct run_part *p = mixing_part(x, member, k);
            if (!(weight > 0))
                continue;
            mixing_own(p, test ? &p->test : &p->left, from, count, own);
            for (uint64_t r = 0; r < count; r++) {
                double off = own[r] - mean[r];
                if (i < x->count)
                    mean[r] += weight * own[r];
                else
                    sum[r] += weight * off * off;
            }
        }
        for (uint64_t r = 0; r < count; r++)
            spread[r] += sqrt(sum[r]) / (last - first);
    }
    mem_free(sum);
}

/* The target's coding by the model's first encoder: the one of the first member that is stored. */
static const struct target_coding *coding_of(const struct mixing *x)
{
    uint32_t i = 0;
    while (i + 1 < x->count && !(x->weights[i] > 0))
        i++;
    return &mixing_part(x, i, 0)->schema->coding;
}

static bool several(const struct mixing *x)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->count; i++)
        count += x->weights[i] > 0;
    return count > 1;
}

void mixing_interval(const struct mixing *x, bool test, uint32_t f, uint64_t from, uint64_t count,
                     const double *value, double *low, double *high, double *room)
{
    double *spread = mem_zero(count + 1, sizeof *spread);
    if (x->conformal.rule == CONFORMAL_SPREAD)
        spread_of(x, test, f, from, count, spread, room);
    for (uint64_t i = 0; i < count; i++) {
        double ends[2];
        conformal_interval(&x->conformal, &x->calibration, coding_of(x), value[i], spread[i], ends);
        low[i] = ends[0];
        high[i] = ends[1];
    }
    mem_free(spread);
}

/* The groups of the rows left out, in one list; NULL: they have none. mem_free. */
static uint64_t *groups_of(const struct mixing *x)
{
    uint64_t *group = x->grouped ? mem_alloc(x->rows + 1, sizeof *group) : NULL, at = 0;
    for (uint32_t f = 0; group && f < x->folds; f++) {
        const struct part_rows *r = &mixing_part(x, 0, f)->left;
        if (r->count)
            memcpy(group + at, r->group, r->count * sizeof *group);
        at += r->count;
    }
    return group;
}

/* The spread of the networks on the rows left out, fold by fold: [rows]. mem_free. */
static double *spreads_of(const struct mixing *x)
{
    double *spread = mem_alloc(x->rows + 1, sizeof *spread), *to = spread;
    double *room = mem_alloc(2 * SCORE_TALLIED, sizeof *room);
    for (uint32_t f = 0; f < x->folds; f++) {
        const uint64_t rows = mixing_part(x, 0, f)->left.count;
        for (uint64_t from = 0; from < rows; from += SCORE_TALLIED) {
            const uint64_t count = rows - from < SCORE_TALLIED ? rows - from : SCORE_TALLIED;
            spread_of(x, false, f, from, count, to, room);
            to += count;
        }
    }
    mem_free(room);
    return spread;
}

void mixing_conform(struct mixing *x, bool quiet)
{
    if (!(config_region(x->j->config) > 0))
        return;
    const bool values = !x->classes;
    double *answers = mixing_answers(x), *spread = values && several(x) ? spreads_of(x) : NULL;
    uint64_t *group = groups_of(x);
    job_conform(x->j, &(struct conform_rows){.count = x->rows,
                                             .classes = x->classes,
                                             .probability = answers,
                                             .decision = &x->decision,
                                             .label = x->label,
                                             .value = answers,
                                             .target = x->target,
                                             .spread = spread,
                                             .weight = x->weight,
                                             .group = group,
                                             .limits = &x->calibration,
                                             .coding = values ? coding_of(x) : NULL,
                                             .folds = x->folds}, quiet, &x->conformal);
    mem_free(group);
    mem_free(spread);
    mem_free(answers);
}
