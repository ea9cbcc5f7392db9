/* job.h - the command `dnn train`: a list of runs (ensemble.h), of a single network a list of one,
 * and all that belongs to the command around them: output, lock, metrics file, data, machine,
 * progress, messages. `dnn check` opens one without outputs. Private to src/train and src/check.
 *
 *     job_open         tests the outputs, takes the lock
 *     job_load         threads, data, the list of runs, machine
 *     ensemble_train   their checkpoints, networks, epochs
 *     job_save         metrics, golden rows, model file
 *     job_close        frees everything, in any state */
#ifndef DNN_TRAIN_JOB_H
#define DNN_TRAIN_JOB_H

#include "base/file/lock.h"
#include "measure/conform.h"
#include "base/process/progress.h"
#include "model/file/modelfile.h"
#include "table/table.h"
#include "train/ensemble.h"
#include "train/train.h"

struct train_job {
    const struct train_request *request;
    enum job job; /* whose backend is chosen */
    struct config *config;
    char *output; /* with links resolved; lock and checkpoints lie beside it. NULL: a check */
    bool resume;
    double began;  /* clock_now() */
    double before; /* seconds of the program that was executed again as this one */
    struct selection backend;

    struct lock lock;
    struct journal journal;
    struct warm *warm;      /* of --init-from; NULL: none */
    struct journal *shared; /* of a fold of cv: the journal of all folds; NULL: its own */
    uint32_t fold;          /* the number of that fold */

    struct machine *machine;
    double opening_s;      /* time to open it, without the part that reading the data hid */
    uint32_t folds; /* that the table is read with (table_load) */
    struct table *table;
    char *config_text; /* resolved, portable */
    struct ensemble *ensemble; /* the runs */
    struct run run; /* of a list of one: that one; else the first one, which only `check` builds */
    struct parallel_jobs *jobs; /* while runs train; NULL: none does */
    struct view *view; /* the run's view, for `dnn check` of several; NULL: the table's */
    struct progress *progress; /* of a list of one */
    double started; /* clock_now() of the first step */
    bool says_kept; /* the error's message names the checkpoint that is left */
    size_t said;    /* bytes of that message before this; of a machine's failure */
};

bool job_open(struct train_job *j, const struct train_request *q, struct err *e);
/* Needs j->config alone; reads the data once. */
bool job_load(struct train_job *j, struct err *e);
/* The parts of job_load, for other jobs over the same kind of data: threads and data, with the
 * notes about them; the inputs of the run; the machine, if auto decides by the work of `runs`
 * runs. */
bool job_start(struct train_job *j, struct err *e);
bool job_open_run(struct train_job *j, struct err *e);
/* Sets config, seed and rows of a run (0: a single one), with its encoded rows: before run_open. */
void job_set_run(const struct train_job *j, uint32_t run, const struct rows *encoded,
                 struct run *r);
bool job_decide_machine(struct train_job *j, uint32_t runs, struct err *e);
/* The table, and the machine unless the data decide which (job_open_machine then). */
bool job_read(struct train_job *j, struct err *e);
bool job_open_machine(struct train_job *j, struct err *e);
/* Says what target_transform "auto" chose for the first `runs` runs of these jobs [count], in one
 * line. Nothing was chosen: it says nothing. */
void transforms_say(const struct train_job *jobs, uint32_t count, uint32_t runs);
/* Makes plan and network of a run that is open, and sets its weights: new ones, or those of the
 * checkpoint that was found. False without an error: a signal asked to stop. */
bool job_build(struct train_job *j, uint32_t run, struct run *r, struct err *e);
/* Builds a run that is open, and trains it, with checkpoints and lines of metrics. False: e says
 * why; of a signal e->id is ERR_NONE. */
bool job_train(struct train_job *j, uint32_t run, struct run *r, struct err *e);
/* The end of the training: what the best weights are worth, and the model; of `train --run` the
 * part. The files of the runs are deleted then. Of several runs it uses the parts, the config and
 * the output alone. */
bool job_save(struct train_job *j, struct train_result *r, struct err *e);
void job_close(struct train_job *j);

/* A path for a message, escaped and cut. */
const char *job_quoted(const char *path, char room[512]);

/* --- job_keep.c: the files of the runs beside the output --- */

/* The run whose checkpoints lie beside the output itself: a single one, or that of `train --run`;
 * -1: several train. */
int64_t job_only(const struct train_job *j);
/* The part belongs to this config and data. False: CHECKPOINT_OTHER. */
bool job_part_fits(const struct train_job *j, const struct run_part *p, const char *data,
                   const char *path, struct err *e);
/* Once: with --resume reads all finished runs, and the checkpoints of unfinished ones; without it
 * notes that some exist. Then runs at work write checkpoints. */
bool job_find(struct train_job *j, struct err *e);
/* Adds the checkpoint that is left to the help of e. False. */
bool job_tell_kept(struct train_job *j, struct err *e);
void job_clear(const struct train_job *j); /* removes the files of the runs: the model is written */

/* After a signal: writes a checkpoint of a single run if a step was made, and fills e (STOPPED or
 * INTERRUPTED). A check writes nothing. False. */
bool job_stopped(struct train_job *j, struct err *e);
/* If the machine failed or did not answer: keeps the last good state, e says so, and the program is
 * executed again with the CPU if the config allows and no signal asked to end. False. */
bool job_failed(struct train_job *j, struct err *e);
/* No epoch was better than a constant answer: removes the checkpoints of this job. e says what
 * broke, why nothing is written, and what to change. False. */
bool job_useless(struct train_job *j, const char *broke, const char *why, struct err *e);
/* Advice on a run that broke. */
void job_advice(const struct train_job *j, char *text, size_t room);

/* --- job_judge.c --- */

/* The rows that choose calibration and threshold, in words. */
const char *job_chooses(const struct train_job *j);
/* Says which threshold the config's rule chose. */
void job_cut(const struct train_job *j, const struct threshold_point *p, bool reached);

/* Sets r->judged from the answers of its two parts, and notes it if they are fewer than all
 * (`of`). */
void job_count_judged(struct train_result *r, const uint64_t count[PARTS],
                      const uint64_t of[PARTS]);

/* The trained loss of the model and of a constant answer (class shares or mean of the training
 * rows), on the same rows. */
struct against {
    enum part part;
    double loss, constant;
};
bool against_better(const struct against *a); /* than the constant, beyond rounding; not NaN */
/* Warns of a model of less than an epoch that replaces another one, with the figures of both. */
void job_tell_replaced(const struct train_job *j, const struct train_result *r);
/* False: a useless model would replace another one (USELESS), or a gate is not met on the test
 * rows, else the validation rows. Warns if these two speak of two models. */
bool job_accept(const struct train_job *j, struct train_result *r, bool useless,
                const struct against *a, struct err *e);
/* Warns of a model that is no better than a constant answer, or whose epochs ended too soon. */
void job_judge(const struct train_job *j, const struct train_result *r, const struct against *a);

/* --- ensemble_conform.c: the keys `intervals` and `sets` --- */

int job_region(const struct config *c); /* enum answer_region */
/* True: enough rows to measure such an interval or set by. False: E13. Call it after the data were
 * read. */
bool job_conform_rows(const struct train_job *j, struct err *e);

#endif
