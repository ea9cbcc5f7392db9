/* ops_source.h - the source of the rows of a batch, and their padding. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_SOURCE_H
#define DNN_BACKEND_OPS_SOURCE_H

/* Sequences in steps of like length. The index is sorted by length and cut into `runs` of whole
 * steps of `batch` rows. An epoch permutes the rows of each run, and then the steps (order.h). runs
 * 0: one permutation of all rows. longest: steps of each run, or a little more. */
enum { SOURCE_RUNS = 32 };
struct by_length { uint32_t batch, runs, longest[SOURCE_RUNS]; };

/* The source of rows: the encoded table, or a buffer of parsed rows. It lies in machine memory,
 * with everything it points to: chunks, their list, index, class_weight, features and indicators
 * (categories are not read). */
struct source {
    struct rows rows;
    const uint32_t *index;     /* rows.count is not used when set: position i is row index[i] */
    uint64_t count;            /* valid positions */
    /* Above 1: a position is a sequence of that many steps, [count][steps] of the index, which is
     * set; SOURCE_NONE from its end on. A batch of shorter ones may have fewer (op_gather). */
    uint32_t steps;
    /* 1: position i is index[order_place(.., i)]: a permutation of each epoch (order.h) */
    uint32_t shuffle;
    uint32_t classes;          /* 0: the target is a float */
    struct by_length by_length;
    uint32_t pad;
    const float *class_weight; /* [classes], NULL: 1 */
    const struct features *features;
    const uint32_t *begins;    /* [count]: 1: the first window of its sequence; NULL: each is */
};

/* An entry of source.index past the end of a sequence. */
#define SOURCE_NONE UINT32_MAX

/* Row i is step i % each of sequence i / each, padding from its length on. A machine may leave out
 * the products of such rows and put 0 for them. length NULL: there is no padding. */
struct padding {
    const int32_t *length;     /* [rows / each] */
    uint32_t each, pad;
};

#endif
