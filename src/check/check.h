/* check.h - everything of a training but the epochs: says whether it would run, its memory (within
 * 25 %) and its time. */
#ifndef DNN_CHECK_CHECK_H
#define DNN_CHECK_CHECK_H

#include "choose/select.h"
#include "config/config.h"
#include "table/schema/schema.h"

struct train_job;
struct check_request {
    uint32_t least, most; /* --find-batch-size: rows to try; most 0: none */
    int progress; /* enum progress_style */
    uint64_t limit; /* the first rows of data.train alone; 0: all */
    bool quick; /* only seconds and the number of runs: few networks of an ensemble are timed */
};
/* A batch size that was tried: its steps were run, their result thrown away. */
struct check_batch {
    uint32_t rows;
    double step_s, rows_per_s;
    uint64_t bytes; /* of the network, in the machine's memory */
};
/* A run of an ensemble. */
struct check_run {
    char *member;
    uint32_t fold;
    uint64_t parameters;
    double seconds;
    uint64_t host_bytes; /* of its network and its best weights */
};
struct check_result {
    uint64_t rows[3], columns_by_type[COLUMN_TYPES], parameters; /* of run 0 */
    uint64_t fold_rows[2];      /* of run 0 of an ensemble: training rows, rows left out */
    uint64_t model_parameters;  /* of all networks */
    /* The peak of the host, and its parts: they add up to it. Weights: the network's, with
     * gradients, moments and the copy of the best epoch. Activations: all else that steps and
     * answers touch. */
    uint64_t host_bytes, encoded_bytes, weights_bytes, activations_bytes, other_bytes;
    /* The memory that a GPU will hold, within 10 %: state: the optimiser's, with the gradients;
     * data: the encoded rows. */
    struct {
        uint64_t all, weights, state, activations, data;
    } device;
    uint32_t batch, micro; /* rows of a step: as asked for, at most all training rows */
    uint64_t largest_batch_train, largest_batch_predict; /* check_parts.h */
    struct selection backend;
    double seconds;       /* of the training, estimated: all epochs or the time limit, the most */
    enum { CHECK_EPOCHS, CHECK_RIDGE, CHECK_PATH } work; /* how a network is trained: by steps,
                                                          * or solved for */
    struct check_batch *tried; /* by rows; check_free */
    uint32_t tried_count, best_batch;
    struct check_run *runs; /* of an ensemble; check_free */
    uint32_t run_count, folds, runs_beside; /* at a time, in `seconds` */
    double runs_seconds;             /* of all runs, one after another */
    struct text layers;   /* JSON object: model_describe of the network of a step */
    struct text resolved; /* config with every default */
};
/* q NULL: the plan alone. */
bool check_run(struct config *config, const struct check_request *q, struct check_result *r,
               struct err *e);
void check_write(const struct config *c, const struct check_result *r,
                 struct json_out *out); /* dnn.check/1 */
void check_free(struct check_result *r);

#endif
