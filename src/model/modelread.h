/* modelread.h - from the "model" object to a list of layers. */
#ifndef DNN_MODEL_MODELREAD_H
#define DNN_MODEL_MODELREAD_H

#include "model/layer.h"
#include "model/preset.h"

/* The "model" object of the config: {"preset": ...} with the preset's own options, or {"layers":
 * [...]}. The layers are the hidden part: the layer to the task's outputs always follows them:
 * "output" says which, dense by default. Preset and layers together, as model_resolved writes them,
 * are accepted when the layers are those of the preset. */
struct model_options {
    const struct json_doc *doc;
    const struct json *model; /* NULL: {"preset": "mlp"}, of sequences gru */
    bool sequences; /* the rows are: what "auto" means */
    bool each;      /* each step has an answer: a preset leaves out layers that make one step of
                     * many */
    bool stored; /* from a model file: "layers" are all layers, the output layer included */
};
/* Checks the object without data: keys, words, ranges. Used by config_load. */
bool model_check(const struct model_options *o, struct err *e);
/* {"preset": "mlp", ..., "layers": [...]}: the preset resolved to its layers (check --resolved,
 * model file). Can be read back, and then gives the same model. */
bool model_resolved(const struct model_options *o, struct text *json, struct err *e);
/* The members of the schema of "model" (no braces); nested layers refer to layer_schema's
 * "#/$defs/layer". */
void model_schema(struct json_out *out);

/* The meaning of the object: the preset, "auto" as the one it stands for (NULL: the layers are
 * spelled out), its options and the hidden layers. Free it with modelread_release. */
struct modelread {
    const struct preset *preset;
    void *spec;
    struct layer **layers;
    uint32_t count;
    struct text output; /* the output layer without "units", as JSON; empty: dense, init small */
};
bool modelread(const struct model_options *o, struct modelread *r, struct err *e);
/* True: preset linear with solver path; r->spec is a struct linear_spec, modelread_release. */
bool model_path(const struct model_options *o, struct modelread *r);
/* True: preset rocket whose output layer is solved for (run_ridge.h in train), if there are not too
 * many rows. */
bool model_ridge(const struct model_options *o);
void modelread_release(struct modelread *r);
/* The output layer, with `outputs` units; behind views the view_dense of so many. NULL after an
 * error. Freed as a list of one. */
struct layer **modelread_output(const struct modelread *r, uint32_t outputs, struct err *e);

#endif
