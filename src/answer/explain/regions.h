/* regions.h - intervals and sets of kept answers, band by band: what a report shows of them. */
#ifndef DNN_ANSWER_REGIONS_H
#define DNN_ANSWER_REGIONS_H

#include "answer/evaluate/compare.h"

enum { REGION_BANDS = 10, REGION_SIZES = 12 };
/* Rows, and by weight: the share that is inside, the mean width or number of labels. */
struct region_band {
    double from, to; /* the answers; of labels 0 */
    uint64_t rows;
    double weight, coverage, size;
};
struct regions {
    struct region_band *band; /* [count]: tenths of the rows by the answer, or a label each */
    uint32_t count;
    double share[REGION_SIZES]; /* by weight, of sets with 1, 2, .. labels; the last one: or more */
};
/* k->conformal is not NULL. Caller: regions_free. */
void regions_of(const struct answers_kept *k, struct regions *r);
void regions_free(struct regions *r);

#endif
