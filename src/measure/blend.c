/* blend.c - see blend.h. */
#include "measure/blend.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "measure/tally.h"

#define PROBABILITY_LEAST 1e-15

static double row_loss(const struct blend *b, uint64_t i, double answer)
{
    if (!b->target)
        return -log(answer > PROBABILITY_LEAST ? answer : PROBABILITY_LEAST);
    double d = answer - b->target[i];
    return d * d;
}

/* Loss of the answers (sum + more) * scale; more NULL: none. */
static double loss_with(const struct blend *b, const double *sum, const double *more, double scale)
{
    double loss = 0, weight = 0;
    for (uint64_t i = 0; i < b->rows; i++) {
        double w = b->weight ? (double)b->weight[i] : 1;
        if (!(w > 0))
            continue;
        loss += w * row_loss(b, i, (sum[i] + (more ? more[i] : 0)) * scale);
        weight += w;
    }
    return weight > 0 ? loss / weight : (double)NAN;
}

/* Mean of the members' answers to row i. */
static double answer_of(const struct blend *b, const double *weights, uint64_t i)
{
    double sum = 0, all = 0;
    for (uint32_t m = 0; m < b->members; m++) {
        all += weights[m];
        sum += weights[m] > 0 ? weights[m] * b->answer[m][i] : 0;
    }
    return sum / all;
}

double blend_gain(const struct blend *b, const double *from, const double *with, double *error)
{
    struct tally_mean mean = {0};
    double weight = 0;
    for (uint64_t i = 0; i < b->rows; i++) {
        double w = b->weight ? (double)b->weight[i] : 1;
        if (!(w > 0))
            continue;
        double d = row_loss(b, i, answer_of(b, from, i));
        tally_mean_add(&mean, w, with ? d - row_loss(b, i, answer_of(b, with, i)) : d);
        weight += w;
    }
    *error = tally_mean_error(&mean, weight);
    return tally_mean_value(&mean, weight);
}

double blend_loss(const struct blend *b, const double *weights)
{
    double *sum = mem_zero(b->rows + 1, sizeof *sum), all = 0;
    for (uint32_t m = 0; m < b->members; m++) {
        all += weights[m];
        for (uint64_t i = 0; i < b->rows; i++)
            sum[i] += weights[m] * b->answer[m][i];
    }
    double loss = loss_with(b, sum, NULL, 1 / all);
    mem_free(sum);
    return loss;
}

/* Shares of the counts; small ones are dropped. */
static void share_out(const uint32_t *counts, uint32_t members, uint32_t rounds, double *weights)
{
    uint32_t left = 0;
    for (uint32_t m = 0; m < members; m++)
        left += (double)counts[m] / rounds >= BLEND_LEAST ? counts[m] : 0;
    for (uint32_t m = 0; m < members; m++)
        weights[m] = (double)counts[m] / rounds >= BLEND_LEAST ? (double)counts[m] / left : 0;
}

void blend_greedy(const struct blend *b, uint32_t rounds, double *weights)
{
    double *sum = mem_zero(b->rows + 1, sizeof *sum), best = INFINITY;
    uint32_t *counts = mem_zero(b->members, sizeof *counts),
             *kept = mem_zero(b->members, sizeof *kept), kept_rounds = 1;
    kept[0] = 1; /* where no loss is a number */
    for (uint32_t k = 1; k <= rounds; k++) {
        uint32_t choice = 0;
        double least = INFINITY;
        for (uint32_t m = 0; m < b->members; m++) {
            double loss = loss_with(b, sum, b->answer[m], 1.0 / k);
            if (loss < least) {
                least = loss;
                choice = m;
            }
        }
        counts[choice]++;
        for (uint64_t i = 0; i < b->rows; i++)
            sum[i] += b->answer[choice][i];
        if (least < best) {
            best = least;
            kept_rounds = k;
            memcpy(kept, counts, b->members * sizeof *kept);
        }
    }
    share_out(kept, b->members, kept_rounds, weights);
    mem_free(sum);
    mem_free(counts);
    mem_free(kept);
}
