/* score_counts.c - what a constant answer comes from: sums over the training rows. */
#include <string.h>

#include "train/score.h"

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

double score_mean(const struct score_job *j)
{
    return mean_of(j, &(struct target_coding){.scale = 1});
}

double score_mean_learnt(const struct score_job *j)
{
    return mean_of(j, &j->schema->coding);
}
