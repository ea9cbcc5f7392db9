/* tune.h - the command `dnn tune`: a search over configs. A trial is one training on the training
 * rows of the split with the values that the plan draws (space.h); its score is a metric on the
 * validation rows: train.early_stopping.metric, with auto log-loss or rmse.
 *
 * Successive halving (Jamieson and Talwalkar, AISTATS 2016) with a third kept: all trials of a
 * round are trained for a ninth of their epochs, the best third of them again for a third of the
 * epochs, and of those the best third for all. Each is a whole training with a schedule of its
 * own, so that any of them may be the best, and training the written config reproduces the best
 * trial's weights. Trials of one stage train side by side. */
#ifndef DNN_TRAIN_TUNE_H
#define DNN_TRAIN_TUNE_H

#include "choose/select.h"
#include "train/search/space.h"

#include "measure/metric.h"

#define TUNE_TRIALS 30    /* used if neither a number nor a time limit is given */
#define TUNE_ROUND 27     /* trials of a round under a time limit */
#define TUNE_MOST 10000   /* trials */

struct tune_request {
    struct config *config;
    const char *output; /* of the best config; NULL: none is written, and nothing can be resumed */
    const char *csv;    /* of all trials; NULL: none */
    int64_t trials;     /* 0: TUNE_TRIALS, or with a time limit as many as fit */
    int64_t only;       /* this one alone, for all of its epochs; -1: all */
    double limit_s;     /* 0: none; resumed searches count too */
    bool resume;
    bool force; /* replace a config at `output` */
    int progress; /* enum progress_style of progress.h */
};
/* A training of a trial. */
struct tune_result {
    uint32_t trial, stage; /* stage: 0 the first */
    int64_t epochs;        /* that it was given */
    int64_t trained, best_epoch;
    double score;          /* NaN: it broke */
    struct metrics valid;
    char stopped[16];      /* epochs, patience, time_limit, diverged */
    double seconds;
};
struct tune_answer {
    struct selection backend;
    struct space space;
    const struct metric_type *metric;
    struct tune_result *results; /* by stage and trial: trials of a round follow one another */
    size_t count;
    size_t best;         /* of `results` */
    /* How much better than trial 0 the best one is, by tune_gain_name, on the validation rows,
     * and the standard error of it, row by row. NaN: trial 0 is the best, or not all is known, as
     * after --resume. */
    double gain, gain_error;
    uint32_t trials;     /* that were begun */
    bool timed_out;
    double total_s;      /* with earlier runs */
};

/* The plan and each score are functions of config, data and seed; so is the best trial, unless a
 * time limit cuts the search. False: e says why. 75 or 130 after a signal: finished trials are kept
 * beside the output. tune_release in either case. */
bool tune_run(const struct tune_request *q, struct tune_answer *a, struct err *e);
void tune_release(struct tune_answer *a);
/* True: a search could begin: the space, and the configs of its first trials. False: E13, the
 * error of tune_run. */
bool tune_check(const struct config *c, struct err *e);
/* The name of the gain: the metric of the search; for rmse the mean squared error. */
const char *tune_gain_name(const struct config *c, const struct tune_answer *a);
/* The last training of a trial. NULL: none. */
const struct tune_result *tune_last(const struct tune_answer *a, uint32_t trial);
void tune_write(const struct tune_request *q, const struct tune_answer *a,
                struct json_out *out); /* dnn.tune/1 */

#endif
