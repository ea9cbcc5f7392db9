/* attribute.h - attributions: what each column adds to an answer, against the training
 * mean. Integrated gradients (Sundararajan, Taly and Yan, 2017), taken in finite steps: on a path
 * from the mean to the row all columns move together, one small step after the other, and a column
 * gets the changes of the answer at its own steps. So the attributions of a row add up to its
 * answer minus the base, the answer at the mean.
 *
 * A number goes from its training mean to its value in equal steps. A category or text cannot go
 * part of the way: it is another one on some of ATTRIBUTE_PATHS paths, at a time that differs from
 * path to path. Categories begin as the training rows have them, each as often as its share; a text
 * begins empty. The attribution is the mean over the paths.
 *
 * Of wide sequences a channel moves with all its steps, and has one attribution; missing cells stay
 * missing, so that the mean is as long as the row. Of sequences of records a column moves in all
 * rows of its file at once: its attribution to an answer is that of all steps which the answer
 * reads. These rows are all held in memory. */
#ifndef DNN_ANSWER_ATTRIBUTE_H
#define DNN_ANSWER_ATTRIBUTE_H

#include "answer/stream/stream.h"
#include "answer/explain/unit.h"

struct attribute_request {
    struct rows_request rows;
    const char *output; /* CSV: ids, a column for each input, "base" and "answer" */
};
struct attribute_result {
    uint64_t rows;
    double base;               /* mean over the rows; with several labels each has its own */
    double largest_difference; /* |sum of a row's attributions - (answer - base)| */
    struct units units;        /* in the order of the schema */
    double *mean;              /* [units]: mean of |attribution| over the rows */
    struct serve serve;
};
bool attribute_run(const struct attribute_request *q, struct attribute_result *r, struct err *e);
void attribute_write(const struct attribute_request *q, const struct attribute_result *r,
                     struct json_out *out);         /* dnn.explain/1 */
/* Writes the explained value: "the probability of ...", or "the value of ...". */
void attribute_explains(const struct attribute_result *r, struct text *out);
void attribute_release(struct attribute_result *r); /* after success and after failure */

#endif
