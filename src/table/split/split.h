/* split.h - assigns samples to training, validation and test. The result depends on the split's
 * seed and the data, not on threads. In a table sample i is row i. Of
 * a sample of several records the first gives the key and the part's own file, the last one label,
 * time and said part. */
#ifndef DNN_TABLE_SPLIT_H
#define DNN_TABLE_SPLIT_H

#include "table/dataset/dataset.h"
#include "table/split/rare.h"

struct split {
    uint8_t *part;            /* enum part of each sample */
    uint32_t *index[PARTS];   /* the samples of a part, ascending */
    uint64_t count[PARTS];
    uint32_t *records[PARTS]; /* the records of these samples, ascending; of a table = index */
    uint64_t record_count[PARTS];
    struct row_list list[PARTS]; /* the reads of a run: records, or windows; of a table = index */
};

/* Splits d by o. Labels that no training sample would have stay in training (rare.h) and are listed
 * in *rare, unless a part would have no sample left, or a column gives the part; samples of a
 * part's own files stay in it. joined: validation samples will be trained on. Adds remarks: parts
 * that are too small, groups that are not used. False, E12 or E13: a requested part has no rows.
 * Caller: split_free. */
bool split_make(struct split *s, const struct dataset *d, const struct split_options *o,
                bool joined, struct rare *rare, struct remarks *remarks, struct err *e);
/* Lists records and reads of the parts, whose samples are listed. */
void split_list(struct split *s, const struct dataset *d);
/* Validation samples become training samples. */
void split_join(struct split *s, const struct dataset *d);
void split_free(struct split *s);

/* Inputs of the split methods. */
struct split_input {
    uint64_t rows;            /* number of samples */
    const uint8_t *fixed;     /* part + 1 of rows from a part's own file, 0: to be split */
    const int32_t *label;     /* stratified */
    const uint64_t *key;      /* group, hash: rng_hash of the text */
    const double *time;       /* time */
    const uint8_t *said;      /* column: enum part, from the cell */
};
/* A part with less than this share of its expected rows is too small. */
#define SPLIT_SHORT 0.5
/* Computes part[rows]: enum part. want: expected rows of each part by its fraction; 0 with method
 * column. */
bool split_rows(const struct split_options *o, const struct split_input *in, uint8_t *part,
                uint32_t want[PARTS], struct err *e);
/* Counts rows of a part's own files with the group of a training row. Keys of 0 are unknown. */
void split_shared(const struct split_input *in, const uint8_t *part, uint64_t shared[PARTS]);

#endif
