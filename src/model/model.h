/* model.h - the network as a plan: features -> layers -> outputs. It owns no machine memory; network.h does. */
#ifndef DNN_MODEL_MODEL_H
#define DNN_MODEL_MODEL_H

#include "base/rowfmt.h"
#include "model/layer.h"

/* The "model" object of the config as it stands there: {"preset": ...} with the preset's own options, or {"layers": [...]}. */
struct model_options {
    const struct json_doc *doc;
    const struct json *model;          /* NULL: {"preset": "auto"} */
};
/* Checks the object without data: keys, words, ranges. Used by config_load. */
bool model_check(const struct model_options *o, struct err *e);
/* {"preset": "mlp", ..., "layers": [...]}: the preset resolved to its layers (check --resolved, model file). */
bool model_resolved(const struct model_options *o, const struct features *f, struct text *json, struct err *e);
/* Preset names with their summaries and option tables, for help and schema; NULL-terminated. */
struct preset {
    const char *name, *summary;
    const struct option *options;
    size_t spec_size;
    /* Appends the layers' JSON list text for these features; the last dense to features.outputs included. */
    bool (*layers)(const void *spec, const struct features *f, struct json_out *out, struct err *e);
};
extern const struct preset presets[];
extern size_t preset_count(void);

struct model {
    struct features features;          /* copied */
    struct layer **layers;
    uint32_t layer_count;
    uint32_t width;                    /* of x: numbers + indicators + one-hot + embeddings */
    struct onehot_column *onehot;
    struct embed_column *embed;
    uint32_t onehot_count, embed_count;
    uint64_t embed_params;             /* embedding tables stand first in the parameter arena */
    uint64_t params, buffers;
    struct group *groups;
    uint32_t group_count;
    uint32_t outputs;                  /* features.outputs */
    bool has_bnorm;
    /* of one plan (rows, training) */
    uint32_t rows, shards;
    bool training;
    uint64_t acts, reals, x, dx, logits; /* sizes and offsets in elements */
};
/* Plans for micro-batches of `rows` and this many gradient shards. The same options and features always give the same
 * parameter offsets, whatever rows, shards and training are. */
struct model *model_plan(const struct model_options *o, const struct features *f, uint32_t rows, uint32_t shards,
                         bool training, struct err *e);
void model_free(struct model *m);
/* Host arrays of m->params and m->buffers reals. */
void model_init(const struct model *m, uint64_t seed, uint32_t model_number, real *params, real *buffers);
/* features, layers: gather and the encoders fill x, then the list. Returns the logits. */
struct act *model_forward(const struct model *m, struct pass *p, const struct source *from, real *target);
void model_backward(const struct model *m, struct pass *p, struct act *dlogits);
uint64_t model_flops(const struct model *m);  /* multiply-adds x 2 of one row, forward */
void model_describe(const struct model *m, struct json_out *out); /* layers with shapes and parameters, for inspect and check */

#endif
