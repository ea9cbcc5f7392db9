/* score_counts.c - what a constant answer comes from: sums over the training rows. */
#include <math.h>
#include <string.h>

#include "base/mem.h"

#include "train/run/score.h"

#define SHARE_LEAST 1e-15
enum { AHEAD = 16 }; /* rows fetched before they are read */

void score_class_counts(const struct score_job *j, double *counts)
{
    const struct rowfmt *f = &j->rows.format;
    const struct row_list *list = &j->list[PART_TRAIN];
    memset(counts, 0, score_classes(j) * sizeof *counts);
    for (uint64_t r = 0; r < list->count; r++) {
        const unsigned char *record = rows_at(&j->rows, list->index[r]);
        uint64_t ahead = r + AHEAD < list->count ? r + AHEAD : r;
        __builtin_prefetch(rows_at(&j->rows, list->index[ahead]) + f->at_target);
        int32_t label;
        float weight;
        memcpy(&label, record + f->at_target, sizeof label);
        memcpy(&weight, record + f->at_weight, sizeof weight);
        if (label >= 0)
            counts[label] += (double)weight;
    }
}

static double mean_of(const struct score_job *j, const struct target_coding *as)
{
    const struct rowfmt *f = &j->rows.format;
    double mean = 0, sum = 0;
    for (uint64_t r = 0; r < j->list[PART_TRAIN].count; r++) {
        uint32_t row = j->list[PART_TRAIN].index[r];
        float weight;
        memcpy(&weight, rows_at(&j->rows, row) + f->at_weight, sizeof weight);
        sum += (double)weight;
        if (sum > 0)
            mean += (coding_encode(as, j->target[row]) - mean) * ((double)weight / sum);
    }
    return mean;
}

/* The best constant for targets in their learnt coding: the quantile, median or mean, as the loss
 * asks. */
static void center_of(const struct score_job *j, double *center)
{
    const struct row_list *list = &j->list[PART_TRAIN];
    struct weighted *rows = mem_alloc(list->count + 1, sizeof *rows);
    for (uint64_t r = 0; r < list->count; r++) {
        const uint32_t row = list->index[r];
        float weight;
        memcpy(&weight, rows_at(&j->rows, row) + j->rows.format.at_weight, sizeof weight);
        rows[r] = (struct weighted){coding_encode(&j->encoder->coding, j->target[row]),
                                    (double)weight};
    }
    criterion_center(j->loss, rows, list->count, center);
    mem_free(rows);
}

void score_center_learnt(const struct score_job *j, double *center)
{
    if (j->loss->kind == LOSS_MSE)
        *center = mean_of(j, &j->encoder->coding);
    else
        center_of(j, center);
}

void score_center(const struct score_job *j, double *center)
{
    if (j->loss->kind == LOSS_MSE) {
        *center = mean_of(j, &(struct target_coding){.scale = 1});
        return;
    }
    center_of(j, center);
    for (uint32_t k = 0; k < loss_values(j->loss); k++)
        center[k] = coding_decode(&j->encoder->coding, center[k]);
}

double *score_constant_answer(const struct score_job *j)
{
    const uint32_t classes = score_classes(j);
    double *answer = mem_zero(j->features->outputs, sizeof *answer), sum = 0;
    if (!classes)
        score_center(j, answer);
    for (uint32_t c = 0; c < classes; c++)
        sum += j->class_counts[c];
    for (uint32_t c = 0; c < classes; c++)
        answer[c] = sum > 0 ? j->class_counts[c] / sum : 1.0 / classes;
    return answer;
}

struct criterion score_criterion(const struct score_job *j)
{
    return (struct criterion){.loss = *j->loss,
                              .classes = score_classes(j),
                              .class_weight = j->class_weight,
                              .coding = &j->encoder->coding};
}

void score_constant_logits(const struct score_job *j, real *logits)
{
    uint32_t classes = score_classes(j);
    double *share = mem_alloc(classes, sizeof *share);
    const struct criterion c = score_criterion(j);
    criterion_constant(&c, j->class_counts, share);
    for (uint32_t k = 0; k < classes; k++)
        logits[k] = (real)log(fmax(share[k], SHARE_LEAST));
    mem_free(share);
}
