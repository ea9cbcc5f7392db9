/* modelread.h - from the "model" object to a list of layers. */
#ifndef DNN_MODEL_MODELREAD_H
#define DNN_MODEL_MODELREAD_H

#include "model/model.h"

/* What the object comes to: the preset, "auto" as the one it stands for (NULL: the layers are
 * spelled out), its options and the hidden layers. Free it with modelread_release. */
struct modelread {
    const struct preset *preset;
    void *spec;
    struct layer **layers;
    uint32_t count;
};
bool modelread(const struct model_options *o, struct modelread *r, struct err *e);
void modelread_release(struct modelread *r);
/* The dense layer to `outputs`; NULL after an error. Freed as a list of one. */
struct layer **modelread_output(uint32_t outputs, struct err *e);

#endif
