/* evaluate_gates.h - what an evaluation is asked to judge by: the gates of the request, and whether
 * and by which metric two models compare. Private to evaluate*.c. */
#ifndef DNN_ANSWER_EVALUATE_GATES_H
#define DNN_ANSWER_EVALUATE_GATES_H

#include "answer/evaluate/evaluate.h"

/* Reads --require and --better-than into r->gates; r->serve is open. E10. */
bool evaluate_gates(const struct evaluate_request *q, struct evaluate_result *r, struct err *e);
/* The task, labels and quantiles of both are the same. E14. */
bool evaluate_comparable(const struct serve *a, const struct serve *b,
                         const struct evaluate_request *q, struct err *e);
/* A comparison of intervals or sets: the other model has some too, of the same level. E14. */
bool evaluate_regions(const struct evaluate_request *q, const struct serve *other,
                      const struct evaluate_result *r, struct err *e);
/* Without --on: two models of classes that were trained by different losses are compared by the
 * default metric of the task, on calibrated probabilities. A note says so. */
void evaluate_common(const struct evaluate_request *q, const struct serve *other,
                     struct evaluate_result *r);
/* The metric that orders groups: the metric of the first gate on the worst group; without such a
 * gate the metric that the model was trained for, or the default of the task. */
const struct metric_type *evaluate_by_metric(const struct evaluate_result *r);

#endif
