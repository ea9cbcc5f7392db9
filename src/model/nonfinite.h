/* nonfinite.h - where a step that is not finite went wrong first. A bad step changes nothing, nor
 * does any that follows it in its epoch (op_norm2's halt), so the machine still holds the weights
 * that it met: the step is gone through once more, operation by operation, and looked at after each
 * half. A training that goes well never comes here. */
#ifndef DNN_MODEL_NONFINITE_H
#define DNN_MODEL_NONFINITE_H

#include "model/network.h"

/* Writes "the output of layer 3 of 5 (dense)" into text, or "a weight of layer ..", "the loss",
 * "the gradient of layer ..", "a gradient" when the step is finite this time. Layers are counted
 * from 1 in the resolved config, those inside others behind the one that holds them; the last one
 * gives the outputs. The network's counters stay as they were; its gradients and activations do
 * not. */
void network_nonfinite(struct network *n, char *text, size_t room);
/* "a weight of layer 3 of 5 (dense)", of the parameter at this offset. */
void model_name_weight(const struct model *m, uint64_t at, char *text, size_t room);

#endif
