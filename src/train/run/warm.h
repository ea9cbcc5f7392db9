/* warm.h - train --init-from: the weights of a model as the first weights of a training, e.g.
 * every night. The encoder is fitted to the new rows; weights are brought to it:
 *   - rows of categories and tokens (one-hot, embeddings) by the text of the value; a new value
 *     starts as in any training
 *   - if the first layer is dense, its weights of plain numbers for their new centre and scale;
 *     for a regression the output layer's for the target's: the function stays
 *   - piecewise-linear numbers by bin; if a column has another number of bins, they start anew
 * The start counts as an epoch before the first: the result is never worse on the validation rows.
 * All else must be equal: task, labels, input columns with their encodings, layers. Private to
 * src/train. */
#ifndef DNN_TRAIN_WARM_H
#define DNN_TRAIN_WARM_H

#include "model/file/modelfile.h"

struct ensemble;
struct run;

/* A model, and which of its networks each member began. */
struct warm {
    struct modelfile *file;
    const char *path;      /* borrowed */
    uint32_t *first;       /* [members]: its first network; WARM_NONE: the model holds none of it */
    char digest[65];       /* of the file */
};
#define WARM_NONE UINT32_MAX
/* One of its networks, for a run. */
struct warm_from {
    const struct warm *of; /* NULL: none */
    uint32_t network;
};

/* Reads the model. NULL: E15. Caller: warm_free. */
struct warm *warm_open(const char *path, struct err *e);
void warm_free(struct warm *w);
/* Finds the networks of these members. False: INIT_OTHER (76), it has other
 * members or folds. */
bool warm_match(struct warm *w, const struct ensemble *n, struct err *e);
/* Mixes the model into the hash of a training's data: a checkpoint belongs to both. */
void warm_mark(const struct warm *w, char data[65]);
/* The network that a run of the ensemble begins with. */
struct warm_from warm_of_run(const struct warm *w, const struct ensemble *n, uint32_t run);
/* Writes the model's weights over the run's, which have their first values, in host memory. *anew:
 * rows of values that keep those. False: INIT_OTHER, with the reason. */
bool warm_fill(const struct warm_from *from, const struct run *r, real *params, real *buffers,
               uint32_t *anew, struct err *e);

#endif
