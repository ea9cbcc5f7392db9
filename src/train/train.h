/* train.h - the command `dnn train`: CSV in, model out. Checkpoints lie beside the output
 * (checkpoint.h), the lock is MODEL.lock (lock.h). */
#ifndef DNN_TRAIN_TRAIN_H
#define DNN_TRAIN_TRAIN_H

#include "choose/select.h"
#include "config/config.h"
#include "measure/gate.h"

struct train_request {
    struct config *config;
    const char *output; /* model path: -o or output.model */
    bool resume;
    bool restart; /* resume, but start afresh if config or data have changed */
    bool force;   /* replace a model even by one that is no better than a constant answer */
    char *const *require; /* gates, "auc>=0.85": on the test part, else the validation part */
    size_t require_count;
    const char *split_csv; /* path of the list of parts (split_csv.h); NULL: none */
    uint64_t limit;        /* the first records of data.train alone; 0: all */
    const char *profile; /* path of a trace (profile.h); NULL: none */
    const char *init_from; /* a model whose weights are the first ones (warm.h); NULL: none */
    int progress; /* enum progress_style of progress.h */
    bool check; /* of `dnn check`: nothing is trained, the first run is built to be timed */
    bool one; /* only run `only` of the ensemble is trained, and the output is its part */
    int64_t only;
};
/* A member of an ensemble. */
struct train_member {
    char *name;
    double weight;  /* in the model; 0: it is not in it */
    uint32_t folds; /* networks of it */
    struct metrics valid;
    double seconds; /* of its runs, one after another */
    double brings;  /* how much higher the loss, as `counts` has it, would be without it; NaN: not
                     * known */
};
struct train_job;
struct train_result {
    struct train_job *_Atomic job; /* at work; NULL: none. For train_stuck */
    bool _Atomic over; /* it ended well and gives the machine back: the result is whole */
    struct selection backend;
    uint64_t rows[3], rows_unlabelled;
    /* The answers to validation rows (in an ensemble: rows left out) and test rows that judged the
     * model, and the number of all, if the time limit left no time for all; 0 of 0: all did. */
    uint64_t judged[3], judged_of[3];
    struct decision decision; /* threshold 0: none was chosen; train_release frees it */
    int64_t epochs;      /* finished ones */
    int64_t best_epoch;  /* 0: none ended, or the metric never had a value, or the start was best */
    bool begun;          /* the first weights came from --init-from, and were measured */
    const char *metric;  /* that chose the epoch; NULL: none, or each member's own */
    const char *stopped; /* epochs, patience, time_limit, diverged */
    size_t said;         /* bytes of the message before the part about checkpoints */
    int exit;            /* 0, or the error's */
    bool says_kept;      /* the error's message names the checkpoint that is left */
    struct metrics valid, test, baseline;
    bool has_valid, has_test;
    struct gate *gates; /* [require_count], measured; train_release frees them */
    size_t gate_count;
    struct train_member *members; /* of an ensemble; train_release frees them */
    const char *counts; /* with members: the metric of the loss that chose their weights */
    uint32_t member_count, runs;
    double load_s, start_s, train_s, total_s;
    char sha256[65];
};
/* False: e says why. A run that breaks gives the model of its best epoch; DIVERGED (80): no epoch
 * was better than a constant answer. USELESS (82): the new model is no better than a constant
 * answer, and an old model exists; it stays. GATE_UNMET (82): the old model stays. */
bool train_run(const struct train_request *q, struct train_result *r, struct err *e);
/* `dnn merge`: the model of an ensemble from the parts of all its runs, as train_run makes it. No
 * data are read. False: 64 for a part that is missing or there twice, 76 for one of another config,
 * data or kind of processor. */
bool train_merge(const struct train_request *q, const char *const *parts, size_t count,
                 struct train_result *r, struct err *e);
void train_release(struct train_result *r); /* after success and after failure */
/* Called by another thread when the machine of the training that fills r never comes back: keeps
 * the last good state, and executes the program again with the CPU if it may. Returns if it may
 * not; e names the kept checkpoint. The training's own thread waits in the machine for ever. */
void train_stuck(struct train_result *r, struct err *e);
void train_write(const struct train_request *q, const struct train_result *r,
                 struct json_out *out); /* dnn.train/1 */
/* Member "members"; whole: with intervals and the time that each took, as no model keeps them. */
void train_write_members(const struct train_result *r, bool whole, struct json_out *out);
/* Member "judged", if the time limit left no time to answer all rows. */
void train_write_judged(const struct train_result *r, struct json_out *out);
/* Members "epochs", "best_epoch" (null without one) and "stopped". */
void train_write_end(const struct train_result *r, struct json_out *out);

#endif
