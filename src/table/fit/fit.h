/* fit.h - the steps of encoder_fit. Private to fit*.c and statistics_fit.h. */
#ifndef DNN_TABLE_FIT_H
#define DNN_TABLE_FIT_H

#include "base/process/progress.h"
#include "table/fit/encoder_fit.h"
#include "table/schema/record.h"
#include "table/fit/weighed.h"

struct fit {
    const struct dataset *data;
    struct weighed weighed;     /* the rows to fit on, and how much they count */
    const uint32_t *rows;       /* = weighed.rows: each row repeated by its weight */
    uint64_t count;             /* = weighed.count */
    struct weighed judges;      /* validation rows */
    struct encoder *encoder;    /* filled */
    struct progress_amount *progress;
};
enum { FIT_STEPS = 6 };
/* The step that is at work, from 0, and the part of it that is done. */
static inline void fit_tell(const struct fit *f, int step, double part)
{
    progress_amount(f->progress, 100 * (step + part) / FIT_STEPS, 0);
}
enum { NAMED_MOST = 4 };        /* columns named in one warning */

/* fit_scan.c: range and median of slots, in one pass over the rows and without copies. */
struct number_scan {
    bool wanted, done; /* done: the members below are set; else the median was not found */
    uint32_t count;    /* values that are not missing */
    float low, high;   /* -0 is below 0 */
    double median;
};
void numbers_scan(const struct fit *f, struct number_scan *scans, uint32_t slots);
/* Fits every number_slot but its offset. False, E12: a column without values. */
bool fit_numbers(struct fit *f, struct err *e);
/* As above, for the numbers of sequences. False, E12: a channel without values. */
bool fit_series(struct fit *f, struct err *e);
/* Builds the vocabularies of the rows' values, and slot_of. */
bool fit_categories(struct fit *f, struct err *e);
/* Fits a text from all texts and the ids at `at` of the records. */
void fit_text(const struct fit *f, size_t column, const struct vocab *all, uint32_t at);
/* Fits the edges of piecewise-linear numbers; call it after numbers and labels or target. */
void fit_bins(struct fit *f);
/* Fits the target statistics, their numbers and encoder.held; call it after numbers and labels or
 * target. */
void fit_statistics(struct fit *f);
/* Fits column_fit.spread; call it after numbers and categories. */
void fit_spread(const struct fit *f);
/* Chooses the function of a regression target: by f->rows and f->judges, evenly spread samples of
 * them; without judges every fourth row judges. "none" unless another one is 1 % better; log only
 * if all these targets are above 0. Call it after numbers and categories; rows are raw. */
void target_choose(const struct fit *f, struct target_choice *choice);
/* Orders the labels, the positive one last, and builds class_of. */
bool fit_labels(struct fit *f, struct err *e);

#endif
