/* statistics_fit.h - shared by the files that fit target statistics: keys and targets of the
 * training rows, and groups of rows with equal keys. Private to statistics_*.c. */
#ifndef DNN_TABLE_STATISTICS_FIT_H
#define DNN_TABLE_STATISTICS_FIT_H

#include "table/fit/fit.h"
#include "table/encoder/statistics.h"

/* The training rows by their place in the list. */
struct statistics_fit {
    const struct fit *fit;
    const struct statistics_options *options;
    struct statistics *made;
    uint32_t count;
    uint32_t outputs;    /* means of an entry: 1 (binary, regression), classes, or 0: too many */
    bool classes;        /* the target is a class; of two the second one counts */
    uint32_t **ids;      /* [keys][count] */
    uint8_t *fold;       /* [count] */
    double *weight;      /* [count]: mean 1; 0 without a target */
    double *value;       /* [count]: regression: standardised target */
    int32_t *label;      /* [count]: class; else NULL */
    double mean[STATISTICS_CLASSES_MOST]; /* of each output */
    double spread[STATISTICS_CLASSES_MOST]; /* its variance */
    uint32_t *order;     /* split by time: places, ascending by time; else NULL */
    float *held;         /* [made->numbers][count]: statistics out of fold */
};

/* --- statistics_keys.c --- */

/* True for columns that are keys, if they have values enough. */
bool statistics_is_key(const struct schema *s, const struct column *c);
/* Finds the keys of f->made, and the ids of the rows. */
void statistics_keys(struct statistics_fit *f);

/* --- statistics_group.c --- */

/* Rows with the same code. */
struct group {
    uint32_t *of;        /* [count]: group of each row; ABSENT: too rare */
    uint32_t count;
    uint64_t *codes;     /* [count] */
};
/* Groups every row, or `most` rows evenly spread. One key: b ABSENT. ordered: codes ascend, and of
 * more than STATISTICS_ENTRIES_MOST those with the most rows stay. */
struct group group_make(const struct statistics_fit *f, uint32_t a, uint32_t b, uint32_t most,
                        bool ordered);
void group_free(struct group *g);
/* Returns the row at place i of `most` rows evenly spread. */
static inline uint32_t group_row(const struct statistics_fit *f, uint32_t most, uint32_t i)
{
    return most == f->count ? i : (uint32_t)((uint64_t)i * f->count / most);
}

#endif
