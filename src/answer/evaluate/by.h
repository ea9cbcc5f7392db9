/* by.h - metrics by group: `evaluate --by COLUMN` has a group for each text of a column of the
 * data, --by COLUMN:BINS for each of BINS bins, of equally many rows, of its numbers or dates. The
 * model need not know the column. */
#ifndef DNN_ANSWER_BY_H
#define DNN_ANSWER_BY_H

#include "answer/evaluate/compare.h"
#include "answer/stream/stream.h"
#include "measure/gate.h"

#define BY_GROUPS 50 /* the largest ones; the others are one group, "other" */

struct by_group {
    /* the text, or "FROM to TO"; "(missing)"; "other". If a cell has such a word, the group is
     * called "((missing))" or "(other)". No two groups have one name. */
    char *name;
    uint64_t rows;
    struct metrics metrics; /* as an evaluation of these rows alone gives them, but for `loss` */
};
struct by {
    char *column;  /* as the file names it */
    uint32_t bins; /* 0: by text */
    /* For each row of an answers_kept: the number of its text, or (bins) its number or date, NaN
     * without one. */
    struct vocab *texts;
    uint32_t *text;
    double *value;
    uint64_t rows, room;
    bool found, dates; /* the column was looked for; it has dates */
    /* The result, the worst by `metric` first; groups without its value last. */
    const struct metric_type *metric;
    struct by_group *groups;
    uint32_t count;
    uint64_t pooled; /* groups in "other" */
    char *other;     /* what it is called */
};
/* option: COLUMN or COLUMN:BINS, BINS from 2 to BY_GROUPS. A column of the whole name comes before
 * one with bins. */
void by_open(struct by *b, const char *option);
/* Adds the rows of a group of the stream. E10: the present input has no such column. */
bool by_add(struct by *b, const struct stream *t, const struct stream_group *g, struct err *e);
/* like: a tally of the model's task, decision and intervals; k: the answers to these rows. E10:
 * bins of a column without numbers and dates. */
bool by_measure(struct by *b, const struct answers_kept *k, const struct tally *like,
                const struct metric_type *metric, struct err *e);
/* Names of the metrics that a table of groups shows: first the metric of the order, then the first
 * of the others. Returns their number, at most `most`; borrowed. */
uint32_t by_metrics(const struct by *b, const char **names, uint32_t most);
/* Groups that have no value of the metric of the order. */
uint32_t by_undefined(const struct by *b);
/* The worst value of the metric over all groups that have one. */
void by_judge(const struct by *b, size_t count, struct gate *g);
/* "groups": {COLUMN: [{"group", "rows", "metrics", "intervals"}]} */
void by_write(const struct by *b, size_t count, struct json_out *out);
void by_free(struct by *b);

#endif
