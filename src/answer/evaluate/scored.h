/* scored.h - the answers to rows without labels: the spread of the scores, and the difference of
 * the cells from training. */
#ifndef DNN_ANSWER_SCORED_H
#define DNN_ANSWER_SCORED_H

#include "answer/evaluate/curves.h"
#include "answer/stream/predict.h"

enum { SCORED_QUANTILES = 5 };
extern const double scored_quantiles[SCORED_QUANTILES]; /* 0.1, 0.25, 0.5, 0.75, 0.9 */

struct scored {
    uint64_t rows, bad; /* answers; rows that cannot be read (none: the reading ends there) */
    /* [rows], ascending at the end. Two labels: the probability of the second; more: of the answer;
     * regression: the value, of several quantiles the middle one */
    double *value;
    uint64_t *answered; /* [classes]: rows with this answer */
    uint32_t classes;   /* 0: regression */
    double quantile[SCORED_QUANTILES];
    struct histogram spread; /* of classes from 0 to 1 */
    struct drift *drift;
    struct serve serve; /* the model */
};
/* False: e, as of a prediction. */
bool scored_run(const struct rows_request *q, struct scored *r, struct err *e);
void scored_release(struct scored *r); /* after success and after failure */

#endif
