/* blend.c - see blend.h. */
#include "measure/blend.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

uint32_t blend_width(const struct criterion *c)
{
    return !c->classes ? criterion_values(c) : criterion_of_rows(c) ? 1 : c->classes;
}

static double weight_of(const struct blend *b, uint64_t i)
{
    return criterion_weight(b->criterion, b->label ? b->label[i] : 0,
                            b->weight ? (double)b->weight[i] : 1);
}

static double row_loss(const struct blend *b, uint64_t i, const double *answer)
{
    return criterion_row(b->criterion, answer, b->target ? b->target[i] : 0);
}

/* The loss of answers [rows][classes], for a loss that is no mean over rows; their sums. */
static double sums_of(const struct blend *b, const double *answers, struct criterion_sum *s)
{
    *s = (struct criterion_sum){0};
    for (uint64_t i = 0; i < b->rows; i++)
        criterion_add(b->criterion, s, answers + i * b->width, b->label[i], 0,
                      b->weight ? (double)b->weight[i] : 1);
    return criterion_mean(b->criterion, s);
}

/* Loss of the answers (sum + more) * scale; more NULL: none. room [rows * width]. */
static double loss_with(const struct blend *b, const double *sum, const double *more, double scale,
                        double *room)
{
    struct mean mean = {0};
    struct criterion_sum s;
    for (uint64_t i = 0; i < b->rows * b->width; i++)
        room[i] = (sum[i] + (more ? more[i] : 0)) * scale;
    if (!criterion_of_rows(b->criterion))
        return sums_of(b, room, &s);
    for (uint64_t i = 0; i < b->rows; i++) {
        double w = weight_of(b, i);
        if (w > 0)
            mean_add(&mean, w, row_loss(b, i, room + i * b->width));
    }
    return mean_value(&mean);
}

/* Mean of the members' answers: number i of all rows' numbers. */
static double answer_of(const struct blend *b, const double *weights, uint64_t i)
{
    double sum = 0, all = 0;
    for (uint32_t m = 0; m < b->members; m++) {
        all += weights[m];
        sum += weights[m] > 0 ? weights[m] * b->answer[m][i] : 0;
    }
    return sum / all;
}

/* Losses of the rows [rows] by the given weights; their weighted mean is the loss. */
static void row_losses(const struct blend *b, const double *weights, double *losses)
{
    const uint64_t numbers = b->rows * b->width;
    const bool of_rows = criterion_of_rows(b->criterion);
    double *answers = mem_alloc(numbers + 1, sizeof *answers);
    struct criterion_sum s;
    for (uint64_t i = 0; i < numbers; i++)
        answers[i] = answer_of(b, weights, i);
    if (!of_rows)
        sums_of(b, answers, &s);
    for (uint64_t i = 0; i < b->rows; i++) {
        const double *own = answers + i * b->width;
        losses[i] = !of_rows ? criterion_f1_row(b->criterion, &s, own, b->label[i])
                    : weight_of(b, i) > 0 ? row_loss(b, i, own) : 0;
    }
    mem_free(answers);
}

double blend_gain(const struct blend *b, const double *from, const double *with, double *error)
{
    struct mean mean = {0};
    double *losses = mem_alloc(b->rows + 1, sizeof *losses);
    double *others = mem_zero(b->rows + 1, sizeof *others);
    row_losses(b, from, losses);
    if (with)
        row_losses(b, with, others);
    for (uint64_t i = 0; i < b->rows; i++) {
        double w = weight_of(b, i);
        if (w > 0)
            mean_add(&mean, w, losses[i] - others[i]);
    }
    mem_free(losses);
    mem_free(others);
    *error = mean_error(&mean);
    return mean_value(&mean);
}

double blend_loss(const struct blend *b, const double *weights)
{
    const uint64_t numbers = b->rows * b->width;
    double *sum = mem_zero(numbers + 1, sizeof *sum), all = 0;
    double *room = mem_alloc(numbers + 1, sizeof *room);
    for (uint32_t m = 0; m < b->members; m++) {
        all += weights[m];
        for (uint64_t i = 0; i < numbers; i++)
            sum[i] += weights[m] * b->answer[m][i];
    }
    double loss = loss_with(b, sum, NULL, 1 / all, room);
    mem_free(sum);
    mem_free(room);
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
    const uint64_t numbers = b->rows * b->width;
    double *sum = mem_zero(numbers + 1, sizeof *sum), best = INFINITY;
    double *room = mem_alloc(numbers + 1, sizeof *room);
    uint32_t *counts = mem_zero(b->members, sizeof *counts),
             *kept = mem_zero(b->members, sizeof *kept), kept_rounds = 1;
    kept[0] = 1; /* used if no loss is a number */
    for (uint32_t k = 1; k <= rounds; k++) {
        uint32_t choice = 0;
        double least = INFINITY;
        for (uint32_t m = 0; m < b->members; m++) {
            double loss = loss_with(b, sum, b->answer[m], 1.0 / k, room);
            if (loss < least) {
                least = loss;
                choice = m;
            }
        }
        counts[choice]++;
        for (uint64_t i = 0; i < numbers; i++)
            sum[i] += b->answer[choice][i];
        if (least < best) {
            best = least;
            kept_rounds = k;
            memcpy(kept, counts, b->members * sizeof *kept);
        }
    }
    share_out(kept, b->members, kept_rounds, weights);
    mem_free(sum);
    mem_free(room);
    mem_free(counts);
    mem_free(kept);
}
