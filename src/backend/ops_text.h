/* ops_text.h - the arguments of the operations of texts. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_TEXT_H
#define DNN_BACKEND_OPS_TEXT_H

/* A text is a list of terms (base/rowfmt.h) among the ids of a row: words, or runs of words or
 * characters, hashed to buckets (Weinberger et al., "Feature hashing for large scale multitask
 * learning", 2009). The value of a term is its count, times the weight of its bucket if texts are
 * weighted, times the text's scale. */
struct text_column {
    uint32_t slot, slots;  /* its terms among a row's ids; the first 0 ends them */
    uint32_t first, count; /* its buckets: rows of w, and of weights */
    uint32_t weighted;     /* 1: by weight, to a length of 1; 0: counts, the scale is 1 */
    uint32_t at;           /* the column of x that is 1 for a text without terms, else 0 */
};
struct op_text {
    DIMS(columns);
    real *scales;              /* [columns][rows] */
    struct act x;              /* [rows][ld] */
    const int32_t *ids;        /* [rows][ids_ld] */
    const struct text_column *column;
    const float *weights;      /* [buckets of all columns] */
    uint32_t ld, ids_ld;
};
/* y[r][at + o] += the sum over the columns and their terms, in order, of value w[bucket][o]. */
struct op_text_dense {
    DIMS(out);
    struct act y;              /* [rows][ldy] */
    const int32_t *ids;
    const real *scales;
    const real *w;             /* [buckets of all columns][out] */
    const struct text_column *column;
    const float *weights;
    uint32_t columns, ldy, ids_ld, at;
    uint32_t set, pad;         /* 1: y is written, not added to */
};
struct op_text_dense_back {
    DIMS(out);
    real *dw;                  /* [buckets][out]; not sharded: written whole unless more */
    struct act dy;             /* [rows][lddy], from column `at` on */
    const int32_t *ids;
    const real *scales;
    const struct text_column *column;
    const float *weights;
    uint32_t columns, lddy, ids_ld, at;
    uint32_t buckets, more;    /* buckets of all columns */
};

#endif
