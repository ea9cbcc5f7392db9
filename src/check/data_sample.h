/* data_sample.h - the sample of rows that a look at data is made from, and the parts of the look.
 * Private to data_*.c: the caller of data_look.h sees the result alone. */
#ifndef DNN_CHECK_DATA_SAMPLE_H
#define DNN_CHECK_DATA_SAMPLE_H

#include "base/text.h"
#include "check/data_look.h"
#include "table/schema/vocab.h"

#define LOOK_NO_CODE UINT32_MAX

/* The words of a column's texts: a pair for each word of a row, once a row. */
struct look_words {
    uint32_t *row, *code; /* [count] */
    size_t count, room;
    uint32_t *last;       /* [LOOK_DISTINCT]: 1 + the last row that has the word */
    bool *empty;          /* [rows]: the cell is missing */
    struct text folded;
};
/* For each column numbers, codes of its cells, or words. */
struct looking {
    struct data_look *to;
    uint64_t seen, rows, room;
    struct look_raw {
        double *number;          /* [rows]; NaN: missing or no number; NULL: not of numbers */
        uint32_t *code;          /* [rows]; LOOK_NO_CODE: missing; NULL: not of categories */
        struct look_words *words; /* NULL: not of texts */
        struct vocab *texts;     /* of the codes and words */
    } *raw;               /* [columns] */
    /* [rows]: 0 or 1 for the label, a place in `labels` (-1: none), or a number; NaN: none */
    double *target;
};

/* A sum of the target of rows. Begin with zeros. */
struct look_sum {
    double sum[LOOK_LABELS], known;
};
void look_sum_add(struct look_sum *s, const struct looking *x, uint32_t row);
/* target: [LOOK_LABELS]; NaN: no row had a target. */
void look_sum_mean(const struct look_sum *s, double *target);

/* Adds the words of a cell to x->texts[k] and x->words[k]. */
void look_words_add(struct looking *x, size_t k, const char *text, size_t length);
/* Each fills l->columns[k]. */
void look_spread_numbers(const struct looking *x, size_t k);
void look_spread_codes(const struct looking *x, size_t k); /* of categories or words */
/* Sets l->pairs, and of more than two labels `tells` of each column. */
void look_pairs_find(const struct looking *x);

#endif
