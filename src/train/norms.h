/* norms.h - the gradient norms of a training, and when they say that it explodes: each of
 * NORMS_ROW steps in a row has more than NORMS_FACTOR times the running median. The median is that
 * of the last NORMS_WINDOW steps, taken anew every NORMS_EVERY steps, and not there before the
 * first time. So the verdict follows from the norms and their order alone. Asked only where
 * train.clip_norm is 0: clipping is the other answer to such a gradient. */
#ifndef DNN_TRAIN_NORMS_H
#define DNN_TRAIN_NORMS_H

#include <stdbool.h>
#include <stdint.h>

enum { NORMS_WINDOW = 1000, NORMS_EVERY = 100, NORMS_ROW = 10, NORMS_FACTOR = 10 };

struct norms {
    double window[NORMS_WINDOW]; /* norm of step s at s % NORMS_WINDOW */
    int64_t seen, above;         /* steps; those in a row that were too large */
    double median;               /* 0: none yet */
};
bool norms_add(struct norms *n, double norm); /* true: it explodes */

/* As numbers, for a checkpoint: at most NORMS_MOST. False when they are not what norms_pack makes.
 */
enum { NORMS_MOST = 3 + NORMS_WINDOW };
uint64_t norms_pack(const struct norms *n, double values[NORMS_MOST]);
bool norms_unpack(struct norms *n, const double *values, uint64_t count);

#endif
