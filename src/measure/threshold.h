/* threshold.h - where to cut: the probability from which on a row of a binary task is answered
 * positive. The config's key `threshold` is that probability, or says by which rule it is chosen on
 * rows that the networks were not trained on. */
#ifndef DNN_MEASURE_THRESHOLD_H
#define DNN_MEASURE_THRESHOLD_H

#include "base/json/json.h"
#include "measure/rank.h"
#include "model/decision.h"

#define THRESHOLD_ROWS 9  /* of a table around one */
#define THRESHOLD_MOST 16 /* of any */
#define THRESHOLD_SCHEMA                                                                           \
    "{\"oneOf\":[{\"type\":\"null\"},"                                                             \
    "{\"type\":\"number\",\"exclusiveMinimum\":0,\"exclusiveMaximum\":1},"                         \
    "{\"type\":\"object\",\"properties\":{\"maximize\":{\"const\":\"f1\"}},"                       \
    "\"required\":[\"maximize\"],\"additionalProperties\":false},"                                 \
    "{\"type\":\"object\",\"properties\":{\"recall_at_precision\":{\"type\":\"number\","           \
    "\"exclusiveMinimum\":0,\"maximum\":1}},"                                                      \
    "\"required\":[\"recall_at_precision\"],\"additionalProperties\":false},"                      \
    "{\"type\":\"object\",\"properties\":{\"precision_at_recall\":{\"type\":\"number\","           \
    "\"exclusiveMinimum\":0,\"maximum\":1}},"                                                      \
    "\"required\":[\"precision_at_recall\"],\"additionalProperties\":false},"                      \
    "{\"type\":\"object\",\"properties\":{\"costs\":{\"type\":\"object\",\"properties\":{"         \
    "\"fp\":{\"type\":\"number\",\"exclusiveMinimum\":0},"                                         \
    "\"fn\":{\"type\":\"number\",\"exclusiveMinimum\":0}},\"required\":[\"fp\",\"fn\"],"           \
    "\"additionalProperties\":false}},\"required\":[\"costs\"],"                                   \
    "\"additionalProperties\":false}]}"

enum threshold_kind {
    THRESHOLD_NONE,                /* one half */
    THRESHOLD_FIXED,               /* `at` itself: nothing is chosen */
    THRESHOLD_F1,                  /* the greatest F1 */
    THRESHOLD_RECALL_AT_PRECISION, /* the greatest recall with a precision of at least `at` */
    THRESHOLD_PRECISION_AT_RECALL, /* the greatest precision with a recall of at least `at` */
    THRESHOLD_COSTS                /* the least fp * false positives + fn * false negatives */
};
struct threshold_rule {
    int kind; /* enum threshold_kind */
    double at, fp, fn;
};
bool threshold_is_chosen(const struct threshold_rule *r); /* by labelled rows */
/* v: null, NULL, a number between 0 and 1, or an object with the one key of a rule. False: E13 at
 * its place in doc. */
bool threshold_read(const struct json_doc *doc, const struct json *v, struct threshold_rule *r,
                    struct err *e);

/* A way to cut. Rows with a probability of at least `threshold` are flagged. */
struct threshold_point {
    double threshold, precision, recall; /* NaN: no row is flagged; no row is positive */
};
/* The best point of the rows, scored by answer_odds, by a rule that chooses; ties: the point with
 * the fewest rows flagged. It is above 0 and lies in the middle between two neighbouring scores.
 * False: no point reaches `at`, and p is the nearest to it; or there is no positive row, and p is
 * one half. Sorts the rows. */
bool threshold_choose(struct rank *scores, const struct threshold_rule *r,
                      struct threshold_point *p);
/* The precision (recall) that such a rule reaches; NaN: no point reaches `at`. kind:
 * THRESHOLD_PRECISION_AT_RECALL or THRESHOLD_RECALL_AT_PRECISION. */
double threshold_best_at(struct rank *scores, enum threshold_kind kind, double at);

/* The results of thresholds around one: exact counts of rows. */
struct threshold_table {
    double at[THRESHOLD_MOST];               /* ascending; [count] */
    /* Weights of negative and positive rows, by the number of thresholds at or below them. */
    double between[THRESHOLD_MOST + 1][2];
    uint32_t count;
};
struct threshold_row {
    double threshold, precision, recall, f1, flagged; /* flagged: share of the rows */
    double false_positives, false_negatives;
};
/* `center` and others a step of 0.5 of the log odds apart, rounded to three digits. */
void threshold_table_begin(struct threshold_table *t, double center);
/* Round steps from 0.01 to 0.95, and `own` among them. */
void threshold_table_round(struct threshold_table *t, double own);
void threshold_table_add(struct threshold_table *t, double probability, bool positive,
                         double weight);
struct threshold_row threshold_table_row(const struct threshold_table *t, uint32_t i);

#endif
