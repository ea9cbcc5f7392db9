/* tally.h - the sums and counters that metrics are computed from. Rows are added in order; the same
 * rows in the same order give the same bits, however they are cut into blocks.
 *
 * Memory beyond the counters: binary 16 bytes a row (rank.h), regression none. Multiclass:
 * macro_auc is exact while rows times classes is at most TALLY_EXACT. Beyond that, scores are
 * counted in up to 65,536 bins a class, 32 MiB in all, finer towards 0 and 1. Rows in one bin
 * count as ties, so the area is off by at most half the share of pairs in one bin. */
#ifndef DNN_MEASURE_TALLY_H
#define DNN_MEASURE_TALLY_H

#include "measure/criterion.h"
#include "measure/probability.h"
#include "measure/rank.h"
#include "measure/threshold.h"
#include "table/schema/options.h"
#include "table/schema/vocab.h"

#define TALLY_BINS 15                   /* of calibration, equal in width */
#define TALLY_EXACT ((uint64_t)1 << 22) /* scores kept for macro_auc */
#define TALLY_CONFUSION 512             /* no confusion matrix for more classes */
#define TALLY_LOSS_MOST 34.538776394910684 /* of one row: a probability counts as at least 1e-15 */

enum tally_need {
    TALLY_LOSS = 1,
    TALLY_COUNTS = 2,
    TALLY_CONFUSED = 4,
    TALLY_CALIBRATION = 8,
    TALLY_BRIER = 16,
    TALLY_RANKS = 32,
    TALLY_VALUES = 64,
    TALLY_CRITERION = 128,
    TALLY_ALL = 255
};

/* Rows, and sums of weights, of probabilities and of hits. */
struct tally_bin {
    double rows, weight, predicted, observed;
};
/* A row of a multiclass tally whose scores are kept. */
struct tally_row {
    int32_t label;
    float weight;
    uint32_t group; /* 0: none */
};
/* Sums over errors e and targets, t = target - shift; each with the square of its weight. */
struct tally_moments {
    double shift, t[5], e2_t[3], e4;
};

/* The rows by group, if rows of a group are not independent: a small tally each, without ranks and
 * confusion. Beyond TALLY_GROUPS groups, further groups share these tallies, which stay independent
 * of each other. */
#define TALLY_GROUPS 1024u                   /* at most, and */
#define TALLY_GROUP_BYTES ((size_t)16 << 20) /* of all, but for the first 64 */
struct tally_groups {
    struct vocab *keys;
    struct tally **part; /* [count] */
    uint32_t count, most;
    uint64_t last_key;   /* the group before: rows of one often follow each other */
    uint32_t last;       /* UINT32_MAX: none */
};

struct tally {
    int task;
    uint32_t classes;
    unsigned needs;
    struct decision decision; /* borrowed offsets; tally_new sets DECISION_HALF */
    uint64_t rows;
    /* Sums over the rows, doubles alone, from `weight` to `covered`: tally_less takes them all. */
    double weight, weight2; /* sums of weights and of their squares */
    /* classes */
    struct mean loss, brier;
    double right;                     /* weight of rows answered with their label */
    struct tally_bin bins[TALLY_BINS];
    /* values */
    struct mean square, absolute, pinball;
    /* intervals and sets */
    double inside;          /* weight of rows whose target or label is inside */
    struct mean size;       /* width, number of labels */
    struct criterion_sum own; /* used if no metric of the task is the criterion */
    /* quantiles: weight of rows whose target is at or below each, and of those from the lowest (of
     * one from any value) to the highest */
    double below[QUANTILES_MOST], covered;
    /* values, more than sums */
    double target_mean, target_square; /* Welford */
    const struct conformal *conformal; /* borrowed; NULL: none; set before the first row */
    struct tally_moments moments;
    /* classes, more than sums */
    double *support, *answered, *hit; /* by class */
    double *confusion, *confusion2;   /* [label][answer]; NULL when not kept */
    struct tally_groups *groups;      /* of rows with a group; NULL: none came */
    struct rank rank; /* binary */
    struct rank_areas areas; /* of it, while `has_areas` */
    bool has_areas;
    struct tally_row *kept; /* multiclass, exact: [kept_rows] */
    double *kept_odds;      /* answer_odds [kept_rows][classes] */
    uint64_t kept_rows, kept_room;
    double *binned;        /* multiclass: [class][bin][2], weights of others' and of its rows */
    double *class_weight2; /* by class: sum of squared weights */
    uint32_t bin_count;
    struct criterion criterion; /* tally_judge_by; zeroed: the task's own */
    float *own_weight;          /* its class_weight */
};

/* Scores of labelled rows. Classes: probabilities [rows][classes], label [rows]. Regression: value
 * [rows][criterion_values of the tally] and target [rows] in the units of the target. weight NULL:
 * 1. raw: probabilities before calibration, by which the criterion judges; NULL: `probability`. */
struct scores {
    int task;
    uint64_t rows;
    const bool *bad; /* rows that do not count; NULL: none */
    uint32_t classes;
    const double *probability, *raw;
    const int32_t *label;
    const double *value, *target;
    const double *low, *high; /* ends of the intervals, for a tally with intervals */
    const float *weight;
    const uint64_t *group; /* a hash of what the row belongs to; NULL: rows are independent. In all
                            * calls for a tally, or in none. */
};

/* TALLY_CONFUSED is dropped beyond TALLY_CONFUSION classes. */
struct tally *tally_new(int task, uint32_t classes, unsigned needs);
/* Before the first row: the loss that counts. c's coding is borrowed, its
 * weights are copied. */
void tally_judge_by(struct tally *t, const struct criterion *c);
void tally_add(struct tally *t, const struct scores *s);
void tally_free(struct tally *t);
/* rest = all - part: the sums that metrics take their values from, but for ranks; the confusion
 * stays. A difference within rounding is 0. rest has the same task and classes. */
void tally_less(struct tally *rest, const struct tally *all, const struct tally *part);
/* The most memory that it takes beyond its counters while `rows` rows are added and the areas are
 * found; classes 0: regression. */
uint64_t tally_bytes(uint32_t classes, uint64_t rows);
/* Areas of one class against the others; binary: class 1. May reorder the kept rows. */
struct rank_areas tally_areas(struct tally *t, uint32_t class_number);
/* The areas, and how much the rows of each group pull them: rank_pulls, auc and precision
 * [groups->count], zeroed before. False: no areas, or areas from bins. */
bool tally_pulls(struct tally *t, uint32_t class_number, struct rank_areas *areas, double *auc,
                 double *precision);

#endif
