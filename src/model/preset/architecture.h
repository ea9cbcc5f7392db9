/* architecture.h - what a network is made of: its layers, and how its weights are found. Read once
 * from the "model" object of a config, or from a model file; it never changes after. model_plan
 * makes a network's layers from it. */
#ifndef DNN_MODEL_ARCHITECTURE_H
#define DNN_MODEL_ARCHITECTURE_H

#include "model/layer.h"
#include "model/preset/preset.h"

/* The place of the object, and the parts of the config that its meaning depends on. */
struct model_options {
    const struct json_doc *doc;
    /* {"preset": ...} with the preset's own options, or {"layers": [...]}, the hidden layers.
     * Preset and layers together, as architecture_write writes them, are accepted if the layers are
     * the preset's. NULL: {"preset": "mlp"}, for sequences gru. */
    const struct json *model;
    bool sequences; /* the rows are: what "auto" means */
    bool each;      /* each step has an answer: a preset leaves out layers that make one step of
                     * many */
};

/* The way to find the weights: gradient steps; the path of penalties of preset linear,
 * and ridge regression of preset rocket, if there are not too many rows (run_path.h). */
enum solution { SOLVED_BY_STEPS, SOLVED_BY_PATH, SOLVED_BY_RIDGE };

struct architecture {
    /* for "auto" the preset that it stands for; NULL: layers spelled out */
    const struct preset *preset;
    void *spec;                  /* the options of the preset */
    struct layer **layers;       /* [count], never planned: the hidden ones; of a file all */
    uint32_t count;
    struct layer *output; /* the output layer, of one unit; NULL: it is among the layers */
    struct text output_text; /* as JSON, without "units"; empty: dense, init small */
    enum solution solution;
    char *file; /* file of the object, for messages; line 0: none */
    int64_t line, column;
};
/* NULL: a key, a word or a value is wrong (E13). Nothing of o is kept. Caller:
 * architecture_free. */
struct architecture *architecture_read(const struct model_options *o, struct err *e);
/* From the list in a model file: all layers, the output layer included. */
struct architecture *architecture_stored(const struct json_doc *doc, const struct json *list,
                                         struct err *e);
/* As architecture_read, from the text of the object, or NULL; `name` stands for a file in
 * messages. */
struct architecture *architecture_parse(const char *text, const char *name, struct err *e);
void architecture_free(struct architecture *a);
/* New layers to plan, the output layer with `outputs` units the last. Caller: layer_list_free. */
struct layer **architecture_layers(const struct architecture *a, uint32_t outputs,
                                   uint32_t *count);
/* The options of preset linear if it is solved by path, else NULL. */
const struct linear_spec *architecture_path(const struct architecture *a);
/* {"preset": "mlp", ..., "layers": [...]}: the preset resolved to its layers (check --resolved,
 * model file). Can be read back, and then gives the same model. Not of a model file's. */
void architecture_write(const struct architecture *a, struct text *json);
/* The members of the schema of "model" (no braces); nested layers refer to layer_schema's
 * "#/$defs/layer". */
void architecture_schema(struct json_out *out);

#endif
