/* preset.h - a preset is a name for a list of layers; its options stand beside the name. */
#ifndef DNN_MODEL_PRESET_H
#define DNN_MODEL_PRESET_H

#include "base/opt.h"
#include "base/rowfmt.h"

struct preset {
    const char *name, *summary;
    const struct option
        *options; /* first "preset", a word with this name alone; last "layers", see model.h */
    size_t spec_size;
    /* Appends the JSON list text of the hidden layers for these features (NULL: not known yet, for
     * a check of the options). The dense layer to features.outputs is not among them. */
    bool (*layers)(const void *spec, const struct features *f, struct json_out *out, struct err *e);
    /* What train.optimizer.learning_rate is where the config names none and the optimiser is not
     * sgd, whose steps are as long as the gradient; 0: as for every preset. */
    double learning_rate;
    const struct preset *(*becomes)(
        const struct features *f); /* auto: which preset it is for these features; else NULL */
};
extern const struct preset presets[];
size_t preset_count(void);
const struct preset *preset_find(const char *name); /* NULL when unknown */

#endif
