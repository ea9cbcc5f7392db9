/* modelfile_parts.h - names in a model file, and functions that its readers share. Private to
 * modelfile.c, modelfile_answer.c, modelfile_conformal.c and modelfile_load.c. */
#ifndef DNN_MODEL_MODELFILE_PARTS_H
#define DNN_MODEL_MODELFILE_PARTS_H

#include "model/file/modelfile.h"

#define IN_CONFIG "config" /* in the metadata, or a tensor when it is long */
#define IN_MEMBER "members.%u." /* the number of the member */
#define IN_WEIGHTS "ensemble.weights"
#define IN_ENCODERS "ensemble.encoders"
#define IN_THRESHOLD "threshold"
#define IN_DECISION "decision"
#define IN_SCALE "calibration.scale"
#define IN_SHIFT "calibration.shift"
#define IN_RANGE "calibration.range"
#define IN_INTERVALS "intervals"
#define IN_SETS "sets"
#define IN_CLASS_WEIGHT "loss.class_weight"
#define IN_GOLDEN_LOGITS "golden.logits"
#define IN_GOLDEN_OFFSETS "golden.offsets"
#define IN_GOLDEN_TEXT "golden.text"

static inline bool param_is_embedding(const struct param *p)
{
    return !p->buffer && p->kind == PARAM_EMBEDDING;
}

struct model_loading {
    const struct tensor_file *file;
    struct modelfile *f;
    struct member *member; /* that is loaded */
    struct err *e;
};
bool modelfile_refuse(const struct model_loading *l, enum err_id id, const char *what); /* false */
/* Copies `count` numbers of an F32 tensor, which has at least first + count; false if one is not
 * finite. */
bool modelfile_copy(const struct model_loading *l, const struct tensor *t, uint64_t first,
                    uint64_t count, real *to);

/* modelfile_conformal.c: what is told beside an answer. Values live as long as w. */
enum { CONFORMAL_NUMBERS = 5 };
void modelfile_add_conformal(const struct conformal *c, double values[CONFORMAL_NUMBERS],
                             struct tensor_writer *w);
bool modelfile_load_conformal(const struct model_loading *l);

/* Threshold, decision, calibration, weights of classes. False: MODEL_WEIGHTS. */
bool modelfile_load_answer(const struct model_loading *l, uint32_t outputs);

#endif
