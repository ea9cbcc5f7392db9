/* effects.h - how a column acts: partial dependence (Friedman, 2001). Every row of a sample gets
 * one value in the column, its other cells stay, and the answers are averaged. The rows' single
 * answers (individual conditional expectation; Goldstein et al., 2015) give the band: their 10 and
 * 90 % quantiles. The raw cells change: indicators, dates and target statistics follow.
 *
 * Values come from the rows themselves (effect_grid.h). "Other", of the rarer categories: each row
 * gets the cell of one of their rows, in turn. A word of a text is measured by leaving it out: the
 * answers to the rows that have it, minus those without it.
 *
 * The rows are a sample of at most EFFECTS_ROWS, fewer of very many columns, drawn in the order of
 * the rows (a reservoir; Vitter, 1985), the same for the same rows; rows of weight 0 are left out,
 * others count by their weight. In wide sequences a channel has one value in all its steps, but for
 * missing ones. In sequences of records a column has one value in all rows of a window, and the
 * first rows are taken. */
#ifndef DNN_ANSWER_EFFECTS_H
#define DNN_ANSWER_EFFECTS_H

#include "answer/stream/stream.h"
#include "answer/explain/effect_grid.h"
#include "answer/explain/unit.h"

enum {
    EFFECTS_ROWS = 500,
    EFFECTS_ROWS_LEAST = 100,   /* of more than EFFECTS_COLUMNS columns */
    EFFECTS_COLUMNS = 200,
    EFFECTS_SERIES_ROWS = 4000, /* of sequences of records */
    EFFECTS_WORDS_TRIED = 100,  /* the most frequent ones */
    EFFECTS_WORDS = 20,         /* that push most */
    EFFECTS_POINTS = 32         /* more than a column has */
};

struct effects_request {
    struct rows_request rows;
    const char *const *only; /* units by name; NULL: all */
    size_t only_count;
    bool quick; /* of sequences a fifth of the rows */
};
extern const char *const effect_kind_names[];
struct effect_point {
    enum effect_kind kind;
    char *value;  /* as the file has it; "" of EFFECT_OTHER and EFFECT_MISSING */
    double at;    /* of a number; of a date seconds since 1970; else NaN */
    uint32_t rows; /* of the sample, that are near the value, or have it or the word */
    double share;  /* of them, by weight */
    /* [classes of the result]: the answer; of a word its change */
    double *mean, *low, *high;
};
struct effect {
    const struct unit *unit;
    int type; /* enum column_type */
    struct effect_point *points; /* by value; categories and words from the strongest down */
    uint32_t count;
    /* By how much the mean answer moves: the standard deviation of its points over the rows, of
     * words the square root of the mean of the squares of all words' changes */
    double size;
    uint32_t moved; /* the class that moves most */
};
struct effects_result {
    uint64_t rows, lines; /* read, and answers of the sample */
    uint32_t first, classes; /* answers are of the classes first .. first + classes - 1; of a
                              * regression 0 and 1 */
    double *mean;            /* [classes]: mean answer to the unchanged rows */
    struct effect *effects;  /* the largest first */
    uint32_t count, left_out; /* left out: texts of sequences of records */
    struct units units;
    struct serve serve;
};
/* The same numbers with any number of threads. False: e. */
bool effects_run(const struct effects_request *q, struct effects_result *r, struct err *e);
/* "the probability of ...", of several classes "the probability of each label", or "the value of
 * ...", "the 0.9 quantile of ...". */
void effects_of(const struct effects_result *r, struct text *out);
/* The label of a class; "" of a regression. */
const char *effects_class(const struct effects_result *r, uint32_t i);
/* A line each point; of several classes each point and class, with a last column `class`. */
#define EFFECTS_CSV_BEGIN "column,kind,value,rows,mean,low,high"
void effects_csv(const struct effects_result *r, struct text *out);
void effects_write(const struct effects_result *r, const char *file, struct json_out *out);
void effects_release(struct effects_result *r); /* after success and after failure */

#endif
