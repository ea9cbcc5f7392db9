/* measure_rank.c - ranks follow the logits: where probabilities are 1 in double, and mirrored for
 * the other label; lift against a sum over draws of the rows at the cut. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/lift.h"
#include "measure/probability.h"
#include "measure/tally.h"
#include "tap.h"

enum { ROWS = 400 };

static double uniform(uint64_t seed, uint32_t row, uint32_t kind)
{
    return ((double)rng_bits(seed, row, kind, 0, RNG_TEST) + 0.5) * 0x1p-32;
}

static real logits[2 * ROWS];
static double probability[2 * ROWS], mirrored[2 * ROWS];
static int32_t label[ROWS], other[ROWS];
static float weight[ROWS];

/* Logits whose difference has this scale, with ties; labels that follow it in part. */
static void make_rows(uint64_t seed, double scale)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        double z = i % 5 ? scale * (uniform(seed, i, 0) - 0.4) : scale * (i % 3);
        logits[2 * i] = (real)(uniform(seed, i, 1));
        logits[2 * i + 1] = (real)((double)logits[2 * i] + z);
        label[i] = uniform(seed, i, 2) < 0.3 + 0.4 * (z > 0);
        other[i] = 1 - label[i];
        weight[i] = (float)(1 + i % 4);
    }
    answer_probabilities(logits, ROWS, 2, probability);
    for (uint32_t i = 0; i < ROWS; i++) {
        mirrored[2 * i] = probability[2 * i + 1];
        mirrored[2 * i + 1] = probability[2 * i];
    }
}

static struct rank_areas areas_of(const double *p, const int32_t *of)
{
    struct tally *t = tally_new(TASK_BINARY, 2, TALLY_RANKS);
    tally_add(t, &(struct scores){.task = TASK_BINARY,
                                  .rows = ROWS,
                                  .classes = 2,
                                  .probability = p,
                                  .label = of,
                                  .weight = weight});
    struct rank_areas a = tally_areas(t, 1);
    tally_free(t);
    return a;
}

/* Over all pairs, by differences of logits. */
static double auc_of_pairs(void)
{
    double right = 0, all = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        for (uint32_t j = 0; j < ROWS; j++) {
            if (!label[i] || label[j])
                continue;
            double a = (double)logits[2 * i + 1] - (double)logits[2 * i],
                   b = (double)logits[2 * j + 1] - (double)logits[2 * j],
                   w = (double)weight[i] * (double)weight[j];
            right += a > b ? w : a < b ? 0 : w / 2;
            all += w;
        }
    return right / all;
}

static void check_logits(void)
{
    static const double scales[] = {1e-3, 1, 40, 200, 350};
    for (uint32_t k = 0; k < 5; k++) {
        make_rows(k + 1, scales[k]);
        struct rank_areas own = areas_of(probability, label), swapped = areas_of(mirrored, other);
        ok(fabs(own.auc - auc_of_pairs()) < 1e-14, "logits of size %g: auc is that of all pairs",
           scales[k]);
        ok(own.auc == swapped.auc, "and of the other label the same bits");
        is_near(own.auc_error, swapped.auc_error, 1e-15, "and its error");
    }
}

/* The mean of two networks, saturated at 1 in double, is still in order. */
static void check_mean(void)
{
    enum { MOST = 6 };
    real z[2][2 * MOST];
    double p[2 * MOST], weights[2] = {0.5, 0.5};
    for (int i = 0; i < MOST; i++)
        for (int k = 0; k < 2; k++) {
            z[k][2 * i] = 0;
            z[k][2 * i + 1] = (real)(50 + 10 * i + k);
        }
    struct answer_mean m = {.logits = z[0], .weights = weights, .rows = MOST, .members = 2};
    answer_mean_probabilities(&m, 0, MOST, 2, p);
    bool order = true;
    for (int i = 0; i + 1 < MOST; i++)
        order = order && p[2 * i + 1] >= 1 && p[2 * i + 3] >= 1 &&
                answer_class_odds(p + 2 * i, 2, 1) < answer_class_odds(p + 2 * i + 2, 2, 1) &&
                answer_class_odds(p + 2 * i, 2, 0) > answer_class_odds(p + 2 * i + 2, 2, 0);
    ok(order, "means that are 1 in double are in order");
    const double three[3] = {1e-30, 1, 2e-40};
    is_near(answer_class_odds(three, 3, 1) * 1e-30, 1, 1e-9, "of three classes too");
    is_near(answer_class_odds(three, 3, 2) * 2e-40, -1, 1e-9, "odds against");
    is_near(answer_of_odds(answer_odds(0.3, 0.7)), 0.3, 1e-16, "and back");
}

/* Lift by its definition: rows by score, those with the score at the cut in part. */
static void check_lift(void)
{
    struct rank r = {0};
    struct lift l[LIFT_CUTS];
    double all = 0, positive = 0;
    make_rows(7, 3);
    for (uint32_t i = 0; i < ROWS; i++) {
        double odds = floor(8 * uniform(7, i, 3));
        rank_add(&r, odds, label[i] == 1, weight[i], 0);
        all += (double)weight[i];
        positive += label[i] ? (double)weight[i] : 0;
    }
    lift_of(&r, l);
    for (int c = 0; c < LIFT_CUTS; c++) {
        double room = lift_cuts[c] * all, found = 0;
        for (double score = 7; score >= 0; score--) {
            double here = 0, hits = 0;
            for (uint32_t i = 0; i < ROWS; i++)
                if (floor(8 * uniform(7, i, 3)) == score) {
                    here += (double)weight[i];
                    hits += label[i] ? (double)weight[i] : 0;
                }
            double part = here > 0 ? fmin(room / here, 1) : 0;
            found += part * hits;
            room -= part * here;
        }
        ok(fabs(l[c].found - found / positive) < 1e-12, "found in the top %g", l[c].top);
        is_near(l[c].lift, found / positive / l[c].top, 1e-12, "its lift");
        is_near(l[c].precision, found / (l[c].top * all), 1e-12, "its precision");
    }
    rank_free(&r);
    rank_add(&r, 1, false, 1, 0);
    lift_of(&r, l);
    ok(isnan(l[0].lift) && isnan(l[0].precision), "no positive row: no lift");
    rank_free(&r);
}

/* The error of average precision: of each row as a group of its own, the pulls squared. */
static void test_precision_error(void)
{
    enum { COUNT = 300 };
    struct rank r = {0};
    double auc[COUNT] = {0}, pulls[COUNT] = {0}, squares = 0, sum = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const double score = floor(rng_uniform(5, i, 0, 0, RNG_TEST) * 40) / 40;
        rank_add(&r, score + (i % 7 == 0 ? 0.6 : 0), i % 7 == 0, 1 + (float)(i % 3), i);
    }
    const struct rank_areas areas = rank_finish(&r);
    rank_pulls(&r, &areas, auc, pulls);
    for (int i = 0; i < COUNT; i++) {
        squares += pulls[i] * pulls[i];
        sum += pulls[i];
    }
    is_near(sum, 0, 1e-12, "influences sum to 0");
    is_near(rank_precision_error(&r, &areas), sqrt(squares), 1e-12, "the error is their length");
    rank_free(&r);
}

int main(void)
{
    test_precision_error();
    check_logits();
    check_mean();
    check_lift();
    return done();
}
