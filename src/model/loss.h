/* loss.h - train.loss: which loss, its options, class weights. The gradient is the machine's (op
 * loss_class, loss_value). */
#ifndef DNN_MODEL_LOSS_H
#define DNN_MODEL_LOSS_H

#include "base/json/opt.h"
#include "model/layer.h"
#include "table/schema/options.h"

enum loss_kind {
    LOSS_AUTO,
    LOSS_CROSS_ENTROPY,
    LOSS_FOCAL,
    LOSS_SOFT_F1,
    LOSS_MSE,
    LOSS_MAE,
    LOSS_HUBER,
    LOSS_QUANTILE
};
/* NONE: all are 1. BALANCED: every class counts the same. GIVEN: some labels have one. */
enum class_weighting { WEIGHTING_NONE, WEIGHTING_BALANCED, WEIGHTING_GIVEN };
struct loss_options {
    int kind; /* enum loss_kind; AUTO until loss_read */
    double label_smoothing, gamma, delta;
    struct {
        const struct json *q, *class_weights, *labels;
    } given;                     /* the values in the document; for loss_read alone */
    double q[QUANTILES_MOST];    /* rising */
    uint32_t q_count;            /* of a list its numbers, at least 2; else 0: q[0] */
    int weighting;               /* enum class_weighting */
    struct opt_strings weighted; /* labels with a weight */
    double *weights;             /* of each */
    struct opt_strings labels;   /* soft_f1: labels that count; none: all do */
    uint64_t chosen;             /* of them, a bit a class (loss_choose_labels); 0: all */
};
extern const struct option loss_options_table[]; /* keys below "train.loss" */
extern const char *const loss_names[];

/* After opt_read: AUTO becomes cross_entropy or mse, and the values that are no plain option are
 * read. E13: a loss or class weights that do not fit the task (both keys named), or the form of a
 * value. Caller: loss_release, also after an error. */
bool loss_read(struct loss_options *o, const struct json_doc *doc, bool classes, struct err *e);
void loss_release(struct loss_options *o);
/* Weights of the classes for gather: NULL when all are 1. labels in class order; counts: rows of
 * each class in training (weighted). "balanced": n / (k n_c). A weighted label that no row has is
 * E13 with the nearest; a label without a weight has 1. Caller mem_frees *weights. */
bool loss_class_weights(const struct loss_options *o, const char *const *labels,
                        const double *counts, uint32_t classes, float **weights, struct err *e);
static inline double loss_quantile(const struct loss_options *o) /* its q; 0: another loss */
{
    return o->kind == LOSS_QUANTILE ? o->q[0] : 0;
}
/* Numbers of a value's answer: the quantiles of a list, or 1. */
static inline uint32_t loss_values(const struct loss_options *o)
{
    return o->kind == LOSS_QUANTILE && o->q_count ? o->q_count : 1;
}
/* The quantile nearest to 0.5 among `count` rising ones, of two the lower one: figures for one
 * value are about this one. */
uint32_t loss_middle(const double *q, uint32_t count);
/* soft_f1: sets o->chosen. E13: a label that no row has, more classes than F1_CLASSES. */
bool loss_choose_labels(struct loss_options *o, const char *const *labels, uint32_t classes,
                        struct err *e);
/* True: the F1 of class c is optimised. */
static inline bool loss_chosen(const struct loss_options *o, uint32_t c)
{
    return !o->chosen || (o->chosen >> c & 1);
}
/* Issue the loss of a batch: the mean over the answers of each one's own. logits
 * [rows][answers][outputs], where each step of a sequence with an answer is a row; dlogits the same
 * shape or NULL; both are reals. With a list of quantiles each output is an answer with its own q:
 * the loss is the mean over them. */
void loss_issue(const struct loss_options *o, struct pass *p, struct act logits,
                struct act dlogits, const real *target, uint32_t outputs, uint32_t answers,
                double *part_loss, double *part_weight);

#endif
