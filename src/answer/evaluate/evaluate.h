/* evaluate.h - metrics on labelled data, with intervals, gates and a comparison. Memory beyond
 * predict's: tally.h. */
#ifndef DNN_ANSWER_EVALUATE_H
#define DNN_ANSWER_EVALUATE_H

#include "answer/evaluate/by.h"
#include "answer/evaluate/compare.h"
#include "answer/evaluate/hard_rows.h"
#include "answer/stream/predict.h"
#include "measure/gate.h"
#include "measure/interval.h"
#include "measure/lift.h"

struct evaluate_request {
    struct rows_request rows; /* bad rows: stop or skip */
    char *const *require; /* "auc>=0.85" */
    size_t require_count;
    const char *better_than; /* another model */
    const char *on;          /* its metric; NULL: metric_default */
    double by;               /* least advantage; 0: any; negative: it may be worse by so much */
    const double *threshold; /* NULL: the model's */
    struct answers_kept *keep; /* gets the answers to all rows; NULL, or with better_than: none */
    struct hard_rows *hard;    /* gets the rows that are answered worst; NULL */
    char *const *groups;     /* --by: COLUMN or COLUMN:BINS */
    size_t group_count;
};
struct evaluate_result {
    uint64_t rows, unlabelled, bad; /* measured; without a target; that cannot be read */
    uint64_t weightless;            /* of weight 0, and left out */
    struct metrics metrics;
    struct gate *gates; /* of --require in order, then of --better-than (value: the advantage) */
    size_t gate_count;
    bool passed;         /* every gate */
    struct by *by;       /* [by_count], as asked for in groups */
    size_t by_count;
    struct threshold_table table;   /* binary: the results of thresholds around the model's */
    struct lift lift[LIFT_CUTS];    /* binary */
    double fp, fn;                  /* costs by the model's config; 0: it has none */
    double known;                   /* share of rows that the model was trained on; NaN: it has no
                                     * fingerprint of them, or --part chose the rows and
                                     * no start was trained on held-out ones */
    struct drift *drift;
    struct tally *tally; /* counts for the details; the ranks are gone */
    struct serve serve;  /* the model: labels */
};
bool evaluate_run(const struct evaluate_request *q, struct evaluate_result *r, struct err *e);
void evaluate_write(const struct evaluate_result *r, struct json_out *out); /* dnn.evaluate/1 */
/* The cost of a threshold by the model's config; NaN: it has no costs. */
double evaluate_cost(const struct evaluate_result *r, const struct threshold_row *t);
void evaluate_release(struct evaluate_result *r); /* after success and after failure */

#endif
