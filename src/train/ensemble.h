/* ensemble.h - the runs of a training: each member of the config times each fold, numbered from 0,
 * member by member, over one table; of a single network one. On a CPU they train side by side, one
 * a thread; on a GPU one after another: the same bytes. Private to src/train and src/check. */
#ifndef DNN_TRAIN_ENSEMBLE_H
#define DNN_TRAIN_ENSEMBLE_H

#include "train/keeper.h"
#include "train/part.h"
#include "train/parallel.h"
#include "train/train.h"

struct train_job;
struct run;

struct ensemble {
    struct config **configs; /* [members], borrowed */
    char **names;            /* [members] */
    uint32_t members, folds, runs;
    bool plain; /* the config has no ensemble: one run, with the seed of the config */
    bool alone; /* and it is the job's run: with the config and the encoded rows of the job */
    bool apart; /* the time limit counts for each run on its own */
    bool whole_test; /* each test row is answered, whatever the time */
    struct encoder **encoders; /* [runs]; members with equal options share them; alone: NULL */
    struct run_part **parts; /* [runs]; NULL: not finished */
    struct keeper *keepers;  /* [runs]; NULL: runs at work write no checkpoints (cv, tune) */
    double *work;            /* [runs]: operations, to estimate their time; 0: not known */
    uint32_t beside;         /* runs at a time */
    /* while runs train, under the lock of the job's struct parallel_jobs */
    bool cut;         /* the time limit left out or cut short a run */
    struct err broke; /* of the first run that broke before an epoch had ended */
    uint32_t scored; /* finished runs of a search, which keeps no parts */
    uint32_t asked;  /* how often a signal asked for checkpoints */
};

/* The members of c, which must outlive the ensemble. NULL: E13. Caller: ensemble_free. */
struct ensemble *ensemble_new(const struct config *c, struct err *e);
/* Makes the ensemble of these configs [members], which must outlive it, and their names
 * (copied). */
struct ensemble *ensemble_of(struct config **configs, const char *const *names, uint32_t members,
                             uint32_t folds);
/* The list of the job's one run, by its config, which it borrows. */
struct ensemble *ensemble_alone(struct config *c);
void ensemble_free(struct ensemble *n);
/* Fits the encoders of all runs, once the table is read. */
bool ensemble_encode(struct train_job *j, struct err *e);
/* The encoder of a run. */
struct encoder *ensemble_encoder(const struct train_job *j, uint32_t run);

/* Trains the runs that are not finished, or one of them (job_only). With --resume finished runs are
 * read from their files, and unfinished runs continue from their checkpoints. False: e says why. */
bool ensemble_train(struct train_job *j, struct err *e);
/* Finished runs, of all and of a member; whole: without those that the time limit cut short. */
uint32_t ensemble_done(const struct ensemble *n, bool whole);
uint32_t ensemble_done_of(const struct ensemble *n, uint32_t member, bool whole);
/* The network of a config for one row of an encoder. NULL: e says why it cannot be. model_free. */
struct model *ensemble_plan(const struct config *c, const struct encoder *as, struct err *e);
/* Operations of a run's epochs, and parameters of its network. Negative: e says why that cannot
 * be. */
double ensemble_work(const struct train_job *j, uint32_t run, uint64_t *params, struct err *e);
/* Seconds that a run is expected to take: the mean of the finished runs of its member, else by its
 * work at the pace of all; 0: not known. */
double ensemble_seconds(const struct ensemble *n, uint32_t run);
/* Passes over an answer that the mean of all members takes, in run_pass_seconds. */
double ensemble_passes(const struct ensemble *n);
/* The number of `count` runs that train at a time: on a CPU one a thread, on a GPU one. */
uint32_t ensemble_beside(const struct train_job *j, uint32_t count);

/* --- ensemble_run.c --- */

/* Trains one run on a machine of its own: its part (part_free), or NULL: e says why; of a signal
 * e->id is ERR_NONE. */
struct run_part *ensemble_run(struct train_job *j, uint32_t run, struct machine *m, struct err *e);
/* The weights of a run that has ended: ended_unmap. */
struct ended { struct network_state best, last; };
/* The part of a run whose epochs have ended, by its best weights, which it borrows and which answer
 * from here on. It has the answers to the rows of `held`. first: the encoded rows of the sample.
 * NULL: e says why; of a signal e->id is ERR_NONE. */
struct run_part *part_of_run(const struct train_job *j, struct run *r, const struct rows *first,
                             const bool held[PARTS], struct ended *s, struct err *e);
void ended_unmap(const struct run *r, struct ended *s);

#endif
