/* ensemble_mix.h - the weighted mean of the runs of an ensemble, from their parts alone: the
 * members that count, their weights, the mean's answers and metrics. Private to src/train. */
#ifndef DNN_TRAIN_ENSEMBLE_MIX_H
#define DNN_TRAIN_ENSEMBLE_MIX_H

#include "measure/blend.h"
#include "train/ensemble.h"
#include "train/job.h"

/* The runs that count, and the truth of the rows that they left out. */
struct mixing {
    struct train_job *j;
    struct ensemble *n;
    uint32_t *members;      /* [count]: numbers of the members whose runs are all there */
    uint32_t count, folds;  /* folds of each */
    uint32_t outputs, classes;
    bool grouped;           /* rows have groups in all parts */
    double *weights;        /* [count], the sum is 1 */
    bool linear_alone;      /* nothing beats the linear member by more than a standard error */
    double **own;           /* [count][rows]: answers, once weights are chosen */
    struct blend blend;     /* of them */
    /* of the mean by `weights`; of a member alone, whose answers are not calibrated */
    struct decision decision, alone;
    bool decided;           /* the model keeps `decision` */
    struct criterion criterion; /* the criterion: the members', if all have the same */
    float *class_weight;        /* its weights of classes; NULL: all 1 */
    bool weights_differ;        /* the members were trained with other weights of classes */
    double range[2];            /* of the targets that limit values: of the rows left out */
    struct calibration calibration; /* of the mean by `weights` */
    struct conformal conformal;     /* the same */
    /* all rows left out, fold by fold */
    uint64_t rows;
    int32_t *label;
    double *target;
    float *weight;
};

/* Finds the members that count: those with a whole run for each fold. False: the parts do not hold
 * the same rows, CHECKPOINT_OTHER. mixing_free after success. so_far: runs are at work still; a
 * member is whole, and nothing is said of the others. */
bool mixing_open(struct mixing *x, struct train_job *j, bool so_far, struct err *e);
void mixing_free(struct mixing *x);
/* Sets x->criterion by the configs of x's members (mixing_open does): their loss; if they differ in
 * it, that of the config itself. False: E13. */
bool mixing_judge_by(struct mixing *x, struct err *e);
/* A mean of one: the run of n, by the answers in its part. Sets neither criterion nor
 * class_weight. */
void mixing_of_one(struct mixing *x, struct train_job *j, struct ensemble *n);
const struct run_part *mixing_part(const struct mixing *x, uint32_t i, uint32_t fold);
/* The first linear member; count: none. */
uint32_t mixing_linear(const struct mixing *x);
/* Chooses x->weights. a: the loss of the mean on the rows left out, and the loss of a constant
 * answer; NULL: not computed. */
void mixing_choose(struct mixing *x, struct against *a);
/* Then finds x->calibration by the same rows: config.calibrate; and the decision that belongs to
 * it (job_save). False: E13. */
bool mixing_calibrate(struct mixing *x, bool quiet, struct err *e);
/* Then, after mixing_cut, x->conformal: the keys `intervals` and `sets`. */
void mixing_conform(struct mixing *x, bool quiet);
/* The ends of the intervals around such answers, value [count]; room [2 * count]. Arguments as for
 * mixing_answer. */
void mixing_interval(const struct mixing *x, bool test, uint32_t f, uint64_t from, uint64_t count,
                     const double *value, double *low, double *high, double *room);
/* Then chooses x->decision by the answers to the rows left out. Returns the value of
 * threshold_choose. */
bool mixing_cut(struct mixing *x, const struct threshold_rule *rule, struct threshold_point *p);
/* The answers of one run: probabilities [count][outputs], or values, of rows from .. from + count
 * - 1 of r. */
void mixing_own(const struct run_part *p, const struct part_rows *r, uint64_t from,
                uint64_t count, double *out);
/* The mean of members by `weights` [count], for `count` rows from `from` on, of the rows that fold
 * f left out, or of the test rows (the mean of all folds): probabilities [rows][classes] or values.
 * It is calibrated if weights are x->weights; then room holds the probabilities before calibration.
 * room [rows][outputs]. */
void mixing_answer(const struct mixing *x, const double *weights, bool test, uint32_t f,
                   uint64_t from, uint64_t count, double *out, double *room);
/* The mean by x->weights for all rows left out, fold by fold: [rows][outputs]. mem_free. */
double *mixing_answers(const struct mixing *x);
/* Its metrics, with intervals, on the rows left out, or on the test rows. The gates of `judged` are
 * judged by them; NULL: none. */
void mixing_measure(const struct mixing *x, const double *weights, bool test,
                    struct train_result *judged, struct metrics *m);
/* The metrics of a constant answer: the mean of the runs' constants. */
void mixing_constant(const struct mixing *x, bool test, struct metrics *m);

/* Writes the model of the runs of x; if a foreign file has taken its name, beside it, and that is
 * an error. r: its decision and figures (job_write.c). */
bool job_write_model(const struct mixing *x, struct train_result *r, struct err *e);

/* --- ensemble_report.c --- */

/* Once weights are chosen: the model beside the linear member and beside the best other one. */
void mixing_report(const struct mixing *x);
/* How much higher the loss (of values its root) would be without member i of x; NaN: it has no
 * weight, or all of it. */
double mixing_brings(const struct mixing *x, uint32_t i);
/* Tells of a member that a run has finished: its loss, the loss of the mean so far, and the time
 * that is left. Called under the lock of the job's struct parallel_jobs. */
void ensemble_tell(struct train_job *j, uint32_t member);

#endif
