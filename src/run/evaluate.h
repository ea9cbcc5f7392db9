/* evaluate.h - metrics on labelled data, with intervals, gates and a comparison; 8 bytes a row beyond predict's memory. */
#ifndef DNN_RUN_EVALUATE_H
#define DNN_RUN_EVALUATE_H

#include "run/predict.h"

struct gate { char *text; const struct metric_type *metric; int compare; double bound, value; bool pass; };
struct evaluate_request {
    const char *model;
    char *const *inputs;
    size_t input_count;
    char *const *require;      /* "auc>=0.85" */
    size_t require_count;
    const char *better_than;   /* another model */
    const char *on;            /* its metric; NULL: metric_default */
    double by;                 /* least advantage */
    struct overrides overrides;
};
struct evaluate_result {
    struct selection backend;
    uint64_t rows;
    struct metrics metrics;
    struct gate *gates;
    size_t gate_count;
    bool passed;               /* every gate */
    struct json_out details;   /* confusion, per_label, calibration members, made while scores were at hand */
};
bool evaluate_run(const struct evaluate_request *q, struct evaluate_result *r, struct err *e);
void evaluate_write(const struct evaluate_request *q, const struct evaluate_result *r, struct json_out *out); /* dnn.evaluate/1 */
void evaluate_release(struct evaluate_result *r);

struct verify_result { uint64_t rows; double largest_difference; bool pass, bits; };
bool verify_run(const char *model, const struct overrides *o, struct verify_result *r, struct err *e);

#endif
