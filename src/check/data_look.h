/* data_look.h - a file of data for people: how the values of its columns are spread, and against a
 * target what it is where a column has a value. Types and the dialect are what `init` guesses;
 * spreads are of a sample of the rows, at equal distances in the file. */
#ifndef DNN_CHECK_DATA_LOOK_H
#define DNN_CHECK_DATA_LOOK_H

#include "table/infer.h"

enum {
    LOOK_ROWS = 20000,      /* of the sample, at most; fewer of many columns */
    LOOK_BARS = 24,         /* of a histogram */
    LOOK_VALUES = 10,       /* the most frequent values, or bands of equally many rows */
    LOOK_DISTINCT = 1 << 16 /* values of a column that are told apart */
};

/* A value, or a band of numbers. */
struct look_value {
    char *text;       /* NULL: a band from low to high */
    double low, high; /* of dates seconds since 1970 */
    double share;     /* of the rows of the sample */
    double target;    /* mean over its rows that have a target; NaN: none */
};
struct look_column {
    const struct infer_column *about;
    bool numbers, categories; /* numbers: dates as well; neither: it has no spread */
    double mean, median;      /* of numbers */
    double from, to;          /* the histogram: the middle 98 % of the numbers */
    double bar[LOOK_BARS];    /* rows of the sample */
    struct look_value values[LOOK_VALUES]; /* bands rising; categories from the most frequent */
    uint32_t count;
    double others;            /* share of the rows with another value */
};
struct data_look {
    struct infer *found;
    struct look_column *columns; /* [found->count] */
    uint64_t rows;               /* of the sample */
    size_t target;               /* its column; SIZE_MAX: none */
    /* What `target` of a value means: the share of rows with the label, or (NULL) the mean. Of more
     * than two labels there is none. */
    const char *label;
    bool against;                /* values have a target */
    double target_mean;          /* of all rows of the sample */
};
/* q: as of infer_file, which may name a target. False: e (ERR_NONE: q->stop returned true). */
bool data_look_run(struct data_look *l, const struct infer_request *q, struct err *e);
void data_look_free(struct data_look *l); /* after success and after failure */

#endif
