/* ops_ple.h - the arguments of the operations of piecewise-linear numbers. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_PLE_H
#define DNN_BACKEND_OPS_PLE_H

/* Piecewise-linear encoding of x (Gorishniy et al., "On embeddings for numerical features", 2022):
 * `count` bins between ascending edges b, and a component a bin: clamp((x - b[j]) / (b[j + 1] -
 * b[j]), 0, 1). Components before the bin of x are 1, components after it 0: the bin and its
 * component, `share`, determine all. */
struct ple_column {
    uint32_t number, missing;  /* columns of x; missing: not 0 if all components are 0 */
    /* first of its components among the components of all columns, and their number; rows of w */
    uint32_t first, count;
    uint32_t edges;            /* place of its first edge among all edges */
    uint32_t alone;            /* 1: x[number] becomes 0, the components stand for it */
};
#define PLE_NONE UINT32_MAX
struct op_ple {
    DIMS(columns);
    int32_t *bins;             /* [columns][rows], as shares */
    real *shares;              /* from 0 to 1 */
    struct act x;              /* [rows][ld] */
    const struct ple_column *column;
    const float *edges;
    uint32_t ld, pad;
};
/* x[at + first + k] = component k of a column. */
struct op_ple_wide {
    DIMS(columns);
    struct act x;              /* [rows][ld] */
    const int32_t *bins;       /* [columns][rows] */
    const real *shares;
    const struct ple_column *column;
    uint32_t ld, at;
};
/* y[r] += the sum over the columns, in order, of c[bin] + share w[bin], with c[j] = w[0] + .. +
 * w[j - 1] of the column's rows of w. */
struct op_ple_dense {
    DIMS(out);
    struct act y;              /* [rows][ldy] */
    const int32_t *bins;       /* [columns][rows] */
    const real *shares;
    const real *w;             /* [components][out] */
    const struct ple_column *column;
    uint32_t columns, ldy;
};
struct op_ple_dense_back {
    DIMS(out);
    real *dw;                  /* [components][out]; not sharded: written whole unless more */
    struct act dy;             /* [rows][lddy] */
    const int32_t *bins;
    const real *shares;
    const struct ple_column *column;
    uint32_t columns, lddy, more, pad;
};

#endif
