/* explain.h - permutation importance (Breiman, 2001): how much worse the model measures on rows in
 * which the cells of one column were shuffled. Each column is shuffled `repeats` times; the
 * interval is for the mean over them (Student's t). The raw cells move: indicators, dates and
 * target statistics follow. */
#ifndef DNN_ANSWER_EXPLAIN_H
#define DNN_ANSWER_EXPLAIN_H

#include "answer/explain/alike.h"
#include "answer/stream/stream.h"
#include "answer/explain/unit.h"
#include "measure/metric.h"

#define EXPLAIN_REPEATS 5
#define EXPLAIN_REPEATS_MOST 1000

struct explain_request {
    struct rows_request rows;
    const char *const *groups; /* "a,b": columns that are dealt together, as one entry */
    size_t group_count;
    int64_t repeats;
    uint64_t most_rows; /* the first ones; 0: all */
};
struct importance {
    const struct unit *unit;
    double importance; /* how much worse the metric gets, in its units; mean of the repeats */
    struct interval interval; /* 95 %; NaN: one repeat */
};
struct explain_result {
    const struct metric_type *metric; /* the task's default */
    double value;                     /* of the unchanged rows */
    uint64_t rows, unlabelled;
    struct importance *columns; /* from the most important down */
    uint32_t column_count;
    struct alikes alikes;       /* columns that share their importance */
    struct units units;
    struct serve serve;
};
/* Holds all rows in memory. The same numbers with any number of threads. False: e. */
bool explain_run(const struct explain_request *q, struct explain_result *r, struct err *e);
void explain_write(const struct explain_request *q, const struct explain_result *r,
                   struct json_out *out);       /* dnn.explain/1 */
void explain_release(struct explain_result *r); /* after success and after failure */

#endif
