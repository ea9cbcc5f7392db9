/* modelfile.h - the model file (.dnn), format 3: a safetensors file (tensorfile.h says how its
 * bytes lie) that holds all that answers need. No paths, no time, host, thread count or measured
 * speed: the same training gives the same bytes.
 *
 * Metadata (texts)
 *   kind      "model"
 *   format    "3"
 *   plan      JSON: backend, kind of processor, precision that trained it
 *   metrics   JSON: metrics of the validation and test rows
 *   config    JSON: the training's resolved config, a record for people. A tensor U8 of that name
 *             if it is long.
 * Tensors
 *   schema, schema.*, encoders.E.*   the columns and their statistics: encoder_saved.h
 *   members.I.layers                 U8: JSON, the layers of member I as a config has them, the
 *                                    output layer last. Options that answers do not need are left
 *                                    out.
 *   members.I.layers.N.NAME          F32: a parameter of layer N of the list (from 0), with its
 *                                    true shape. dense, ntk_dense: weight [in][out],
 *                                    bias [out]. batch_norm:
 *                                    scale, shift, running_mean, running_var [in]. layer_norm:
 *                                    scale, shift [in]. residual: weight [in][out] if its layers
 *                                    change the width; theirs are members.I.layers.N.layers.M.NAME.
 *   members.I.embeddings             F32 [numbers]: the tables [2 + values][dim] of all embedded
 *                                    columns back to back, in the order of the columns. Absent
 *                                    without any.
 *   members.I.history                F64 [epochs][4]: epoch, training loss, validation metric (NaN:
 *                                    none), learning rate; of many epochs every n-th. For people:
 *                                    absent if no epoch ended, and in earlier files.
 *   ensemble.weights                 F64 [members]: the weight of each member in the mean of the
 *                                    answers. Absent: one member, 0.
 *   ensemble.encoders                I64 [members]: the encoder E of each member's inputs. Absent:
 *                                    0 for all.
 *   threshold                        F64 [1]: of two labels the second is answered if its
 *                                    probability is at least this. Absent: 0.5.
 *   decision                         F64 [classes]: of more labels the answered one has the
 *                                    greatest ln p + decision, p calibrated. Absent: all 0.
 *   calibration.scale                F64 [1]: probabilities are softmax(scale ln p + shift), p the
 *                                    mean of the members. Absent, as its shift: they stay as they
 *                                    are.
 *   calibration.shift                F64 [classes]
 *   calibration.range                F64 [2]: values below the first become it, as those above the
 *                                    second do. Absent: none.
 *   intervals                        F64 [5]: rule, level, reach, floor, folds (conformal.h): the
 *                                    interval around a value. Absent: none.
 *   sets                             F64 [2]: level, reach: the set of labels. Absent: none.
 *   fingerprint.filter               U8: a filter that knows the training rows; .numbers, .twins
 *                                    and .pooled belong to it (table/split/fingerprint.h). No
 *                                    answer needs it; absent, as they are, in earlier files.
 *   loss.class_weight                F32 [classes]: weights of classes in the loss that counts,
 *                                    with those of sampling, for the metric "loss"; absent:
 *                                    all 1
 *   golden.text                      U8: cells of some training rows, back to back; all three are
 *                                    absent without rows
 *   golden.offsets                   I64 [rows * cells + 1]
 *   golden.logits                    F32 [rows][outputs]: the logits of the network; of several
 *                                    members [members][rows][outputs]
 *
 * From a record to an answer
 *   1. Each cell becomes numbers or a category: 0 missing, 1 unknown, 2.. the values in order.
 *   2. x: all numbers; 1 or 0 "was missing" for each number with an indicator; the row of its table
 * for each embedded column; then 2 + values columns of 0 and a 1 for each one-hot column. Each
 *      group in the order of the schema.
 *   3. The layers, one after the other. dense: x weight + bias. batch_norm: (x - running_mean) /
 *      sqrt(running_var + epsilon) * scale + shift. layer_norm: the same with mean and variance of
 *      the row. residual: x (or x weight) + the output of its layers. dropout: x.
 *   4. Classification: softmax. Regression: y * encoders.E.target[1] + encoders.E.target[0].
 *   5. Of several members: the mean of their probabilities or values. In double: the weights are
 *      divided by their sum, and the products are added in the order of the members.
 *   6. calibration.*.
 *
 * Reading is lenient: unknown metadata and tensors are ignored, and the config is not looked at.
 * What answers need and this build does not know (a layer, an option of it, a code of a column) is
 * MODEL_NEWER. Formats from 3 on are read for ever; no release wrote an earlier one. */
#ifndef DNN_MODEL_MODELFILE_H
#define DNN_MODEL_MODELFILE_H

#include "model/conformal.h"
#include "model/decision.h"
#include "model/loss.h"
#include "model/network/model.h"
#include "table/split/fingerprint.h"
#include "table/encoder/encoder.h"

#define MODELFILE_FORMAT 3
#define MODELFILE_MEMBERS 65536 /* at most */
enum { HISTORY_EPOCH, HISTORY_LOSS, HISTORY_METRIC, HISTORY_RATE, HISTORY_COLUMNS };

struct golden {
    uint32_t count;    /* rows */
    uint32_t cells;    /* of the needed columns, schema order without target */
    char *text;        /* raw cells, back to back */
    uint64_t *offsets; /* [count * cells + 1] */
    real *logits;      /* [members][count][outputs] */
};
/* One network of a model. */
struct member {
    struct architecture *architecture; /* of a loaded file; else NULL */
    real *params, *buffers;  /* the arenas of model_plan */
    uint64_t param_count, buffer_count;
    uint64_t flops; /* operations of a record's answer, for a loaded file */
    double weight; /* in the mean of the answers; not of one member alone */
    uint32_t encoder; /* of its inputs: in modelfile.encoders */
    double *history;  /* [epochs][HISTORY_COLUMNS]; NULL: not known */
    uint32_t epochs;
};
struct modelfile {
    int format;              /* of a loaded file */
    struct schema *schema;   /* of the first encoder */
    struct encoder **encoders; /* [encoder_count] */
    uint32_t encoder_count;
    struct member *members;
    uint32_t member_count;
    struct json_doc *config; /* the config of a loaded file; NULL: it holds none that can be read */
    char *config_text, *metrics_text; /* JSON objects */
    struct plan plan;                 /* of the machine that trained it; backend "": not known */
    struct decision decision;         /* threshold 0: none was chosen, one half serves */
    struct calibration calibration;
    struct conformal conformal;
    float *class_weight; /* [classes] of the loss that counts; NULL: all 1; owned */
    struct golden golden;
    struct fingerprint *known; /* of the training rows; NULL: none. Of a loaded file its own, else
                                * borrowed */
};
/* Writes aside, syncs, renames. plans: for each member, the plan that its params and buffers
 * follow. digest may be NULL. */
bool modelfile_save(const struct modelfile *f, const struct model *const *plans, const char *path,
                    char digest[65], struct err *e);
/* As above up to the rename, as tensor_prepare. */
bool modelfile_prepare(const struct modelfile *f, const struct model *const *plans,
                       const char *path, struct outfile *o, char digest[65], struct err *e);
/* True: a model file has room for the names of its parameters; else E13, before a training of hours
 * ends with a model that cannot be written. */
bool modelfile_holds(const struct model *m, struct err *e);
/* Everything checked: shapes against the plan of its layers, ranges, finite numbers. E15, exit 76;
 * never a crash, and no memory that the file's own size does not justify. */
struct modelfile *modelfile_load(const char *path, struct err *e);
struct modelfile *modelfile_load_bytes(const void *bytes, size_t length, const char *name,
                                       struct err *e);
void modelfile_free(struct modelfile *f);
/* The encoder of a member's inputs. */
const struct encoder *modelfile_encoder(const struct modelfile *f, uint32_t member);
/* The q of a model of loss quantile, by the config that it holds as a record; else 0. */
double modelfile_quantile(const struct modelfile *f);
/* The loss that it was trained with, by that record; the task's own if the record cannot be
 * read. */
struct loss_options modelfile_loss(const struct modelfile *f);
/* struct plan as JSON members and back (checkpoints use it too). */
void plan_write(const struct plan *p, struct json_out *out);
bool plan_read(const struct json *object, struct plan *p);

#endif
