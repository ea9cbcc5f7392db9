/* decision.h - the answered label, by the probabilities of all labels. Two labels have a threshold.
 * More have an offset each: if classes were trained with weights, the best decision under these
 * weights is not the likeliest label by calibrated probabilities. */
#ifndef DNN_MODEL_DECISION_H
#define DNN_MODEL_DECISION_H

#include "base/json/json.h"
#include "model/calibration.h"

#define DECISION_HALF 0.5 /* the threshold if nothing else was chosen */

struct decision {
    double threshold; /* of two classes: the second is answered from this probability on; 0 beside
                       * offsets */
    double *offset;   /* [classes] of more: added to ln p; NULL: all 0 */
    uint32_t classes; /* of offset */
};

/* The decision in use; borrows the offsets. */
static inline struct decision decision_in_use(const struct decision *chosen)
{
    struct decision d = *chosen;
    d.threshold = d.threshold > 0 ? d.threshold : DECISION_HALF;
    return d;
}
void decision_free(struct decision *d);
struct decision decision_copy(const struct decision *d); /* decision_free */
/* Writes "threshold" and "decision", the offsets, if they were chosen. */
void decision_write(const struct decision *d, struct json_out *out);
/* The number of the answered label. Two classes: the second if its probability is at least the
 * threshold. More: the greatest ln p + offset, the first of equal ones. */
uint32_t decision_label(const struct decision *d, const double *probability, uint32_t classes);
/* For answers calibrated by c: the decision that gives each row the label that was the likeliest
 * before calibration. With ln p the answer before, calibrated logits are z = scale ln p + shift, up
 * to a constant of the row, and scale is above 0: the greatest ln p is the greatest z - shift. For
 * two classes z[1] - z[0] >= shift[1] - shift[0] is the threshold 1 / (1 + exp(shift[0] -
 * shift[1])). False: c has no shifts, and the likeliest label is the same before and after; *d
 * stays. */
bool decision_before(const struct calibration *c, struct decision *d);

#endif
