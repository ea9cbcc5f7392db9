/* split.h - which rows validate and test: a pure function of seed and data. */
#ifndef DNN_TABLE_SPLIT_H
#define DNN_TABLE_SPLIT_H

#include "table/options.h"
#include "table/table.h"

/* The fields a method needs beyond the record, collected while reading. */
struct split_input {
    uint64_t rows;
    const uint8_t *fixed;     /* part + 1 of rows from their own file, 0: to be split */
    const int32_t *label;     /* stratified */
    const uint64_t *key;      /* group, hash: rng_hash of the text */
    const double *time;       /* time */
    const uint8_t *said;      /* column: enum part, read from the cell */
};
/* A part with less than this of the rows it was to have is short of them. */
#define SPLIT_SHORT 0.5
/* part[rows]: enum part (table.h). want: the rows that each part was to have by its fraction, of
 * those to be split; method column has none to go by. */
bool split_rows(const struct split_options *o, uint64_t seed, const struct split_input *in,
                uint8_t *part, uint32_t want[PARTS], struct err *e);
/* shared[part]: rows of files of their own whose group training rows have too. Keys of 0: not
 * known. */
void split_shared(const struct split_input *in, const uint8_t *part, uint64_t shared[PARTS]);

#endif
