/* data_look.h - a summary of a data file for people: how the values of its columns are spread, and
 * the mean of a target at each value. Types and the dialect are init's guesses; spreads are of a
 * sample of the rows, at equal distances in the file. */
#ifndef DNN_CHECK_DATA_LOOK_H
#define DNN_CHECK_DATA_LOOK_H

#include "infer/infer.h"

enum {
    LOOK_ROWS = 20000,       /* of the sample, at most; fewer of many columns */
    LOOK_BARS = 24,          /* of a histogram of numbers */
    LOOK_PERIODS = 60,       /* of one of dates, at most */
    LOOK_VALUES = 10,        /* the most frequent values, or bands of equally many rows */
    LOOK_LABELS = 6,         /* the most frequent labels that values are shown against */
    LOOK_PAIRS = 12,         /* the columns that say the same most */
    LOOK_DISTINCT = 1 << 16  /* values of a column, or words of its texts, that are told apart */
};

/* A value, a word, or a band of numbers. */
struct look_value {
    char *text;       /* NULL: a band from low to high */
    double low, high; /* of dates seconds since 1970 */
    double share;     /* of the rows of the sample */
    /* [targets], over its rows with a target; NaN: none */
    double target[LOOK_LABELS];
};
struct look_column {
    const struct infer_column *about;
    bool numbers;    /* dates as well */
    bool categories;
    bool words;      /* of texts. None of the three: it has no spread */
    /* How well it alone predicts the target, 0 to 1 (leak.h); with more than two labels its
     * association with the target (measure/association.h); NaN: not known. */
    double tells;
    double mean, deviation, median, quartile[2], zeros; /* of numbers; zeros: a share of them */
    /* The histogram: rows of the sample between edge[i] and edge[i + 1]. Of numbers the middle 98 %
     * in bars of one width; of dates a bar is a calendar's period. */
    double edge[LOOK_PERIODS + 1], bar[LOOK_PERIODS];
    uint32_t bars;
    const char *period; /* "day", "month", "quarter", "year", "decade"; NULL: numbers */
    bool central;    /* values beyond the first and the last edge are left out */
    /* Bands rise; categories begin with the most frequent; words with the word that tells most
     * about the target, or, without a target, with the most frequent. */
    struct look_value values[LOOK_VALUES];
    uint32_t count;
    double others;   /* share of the rows with another category */
    struct look_value missing; /* the rows without a value: share and target */
};
/* Two columns, of the sample, and how much they say the same (measure/association.h). */
struct look_pair {
    size_t a, b;
    double association;
};
struct data_look {
    struct infer *found;
    struct look_column *columns; /* [found->count] */
    uint64_t rows;               /* of the sample */
    size_t target;               /* its column; SIZE_MAX: none */
    /* The meaning of a value's `target`: with two labels the share of rows with `label`; with more
     * the share with each of `labels`; with numbers the mean. */
    const char *label, *labels[LOOK_LABELS];
    uint32_t targets;            /* 0: no target */
    double target_mean[LOOK_LABELS]; /* of all rows of the sample */
    struct look_pair pairs[LOOK_PAIRS]; /* from the strongest on */
    uint32_t pair_count;
};
/* q: as of infer_file, which may name a target. False: e (ERR_NONE: q->stop returned true). */
bool data_look_run(struct data_look *l, const struct infer_request *q, struct err *e);
void data_look_free(struct data_look *l); /* after success and after failure */

#endif
