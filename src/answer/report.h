/* report.h - the content of `dnn report`: the model file, and with labelled rows the metrics and
 * the importance of the columns. */
#ifndef DNN_ANSWER_REPORT_H
#define DNN_ANSWER_REPORT_H

#include "answer/evaluate/compare.h"
#include "answer/explain/effects.h"
#include "answer/evaluate/evaluate.h"
#include "answer/explain/explain.h"
#include "answer/evaluate/scored.h"

/* Importance is measured on the first rows, with at most this many cells: more columns, fewer
 * rows. */
#define REPORT_CELLS_MOST ((uint64_t)1 << 19)
#define REPORT_REPEATS EXPLAIN_REPEATS
enum { REPORT_EFFECTS = 12 }; /* columns, the most important ones */
/* Without groups in the request, the report measures groups of the REPORT_GROUPS most important
 * columns. A column has at most REPORT_CATEGORIES categories, or its numbers are cut into
 * REPORT_BINS bins. */
enum { REPORT_GROUPS = 2, REPORT_CATEGORIES = 12, REPORT_BINS = 4 };

struct report_request {
    struct rows_request rows; /* no inputs: the model's file alone tells */
    bool held;        /* they are the test rows of the training; as with part "test" */
    char *const *groups; /* as of an evaluate_request; needs inputs */
    size_t group_count;
    char *const *require; /* gates, as of an evaluate_request; need inputs */
    size_t require_count;
    const char *note;     /* user text for the model card; NULL */
    const char *date;     /* of the page; NULL: it has none */
};
struct report {
    const struct modelfile *file;
    char sha256[65];              /* of the file, as sha256sum prints it */
    char (*data_sha256)[65];      /* [input_count]; NULL: for rows that can be read once */
    struct json_doc *stored;      /* the metrics of the training; NULL: none can be read */
    bool unlabelled;              /* rows without labels: `scored` is filled, `measured` is false */
    struct scored scored;
    const struct drift *drift;    /* of measured or scored rows; NULL: no rows */
    bool held;                    /* measured on the test part of the training */
    bool measured;                /* the members below are filled */
    struct evaluate_result value;
    struct answers_kept answers;
    struct hard_rows hard;
    bool explained;               /* not of rows that can be read once */
    struct explain_result columns;
    const struct by *by;          /* [by_count]: metrics by group; of value, or of grouped */
    size_t by_count;
    bool regrouped;               /* by groups that were not asked for */
    struct evaluate_result grouped;
    struct effects_result effects; /* of the most important columns, if explained */
    struct modelfile *own; /* without rows */
};
bool report_make(const struct report_request *q, struct report *r, struct err *e);
void report_release(struct report *r); /* after success and after failure */

#endif
