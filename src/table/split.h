/* split.h - which samples train, validate and test: a pure function of the split's seed and the
 * data, whatever the threads. In a table sample i is row i. */
#ifndef DNN_TABLE_SPLIT_H
#define DNN_TABLE_SPLIT_H

#include "table/dataset.h"

struct split {
    uint8_t *part;            /* enum part of each sample */
    uint32_t *index[PARTS];   /* the samples of a part, ascending */
    uint64_t count[PARTS];
};

/* Splits d by o. Remarks go to `remarks`: parts that are too short, groups that nothing reads.
 * False with E12 or E13: a part that was wanted has no rows. */
bool split_make(struct split *s, const struct dataset *d, const struct split_options *o,
                struct remarks *remarks, struct err *e);
void split_free(struct split *s);

/* What a method reads of the samples. */
struct split_input {
    uint64_t rows;            /* how many samples there are */
    const uint8_t *fixed;     /* part + 1 of rows from their own file, 0: to be split */
    const int32_t *label;     /* stratified */
    const uint64_t *key;      /* group, hash: rng_hash of the text */
    const double *time;       /* time */
    const uint8_t *said;      /* column: enum part, read from the cell */
};
/* A part that has less than this share of the rows it was to have is short of them. */
#define SPLIT_SHORT 0.5
/* part[rows]: enum part. want: the rows that each part was to have by its fraction, of those to be
 * split; method column wants none. */
bool split_rows(const struct split_options *o, const struct split_input *in, uint8_t *part,
                uint32_t want[PARTS], struct err *e);
/* shared[part]: rows of files of their own whose group training rows have too. Keys of 0: not
 * known. */
void split_shared(const struct split_input *in, const uint8_t *part, uint64_t shared[PARTS]);

#endif
