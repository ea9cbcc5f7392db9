/* nonfinite.h - finds the layer where a number first was not finite. A bad step changes no weights,
 * nor does a later step of its epoch (op_norm2's halt). So the step can be computed once more,
 * operation by operation, and every output looked through. */
#ifndef DNN_MODEL_NONFINITE_H
#define DNN_MODEL_NONFINITE_H

#include "model/network/network.h"

/* Writes "the output of layer 3 of 5 (dense)" into text, or "a weight of layer ..", "the loss",
 * "the gradient of layer ..", or "a gradient" when the step is finite this time. Layers are counted
 * from 1 in the resolved config; a nested one counts after the layer that holds it; the last one is
 * the output layer. Overwrites gradients and activations; the counters stay. */
void network_nonfinite(struct network *n, char *text, size_t room);
/* "a weight of layer 3 of 5 (dense)", for the parameter at this offset. */
void model_name_weight(const struct model *m, uint64_t at, char *text, size_t room);

#endif
