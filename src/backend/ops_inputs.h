/* ops_inputs.h - the arguments of the operations of the first layers: periodic and piecewise-linear
 * numbers, texts, and views. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_INPUTS_H
#define DNN_BACKEND_OPS_INPUTS_H

/* --- periodic numbers --- */

/* The periodic embedding of RealMLP (PBLD; Holzmueller et al., "Better by default", 2024) of a
 * number x: h[k] = cos(2 pi frequency[k] x + phase[k]), and for each of its outputs j
 * bias[j] + sum over k of h[k] weight[k][j]. */
enum { PERIODIC_WAVES = 16, PERIODIC_OUTPUTS = 3 };
struct periodic_column {
    uint32_t number, at;       /* columns of x: the number, the first output */
};
/* Parameters or gradients, number by number. */
struct periodic {
    real *frequency, *phase;   /* [columns][PERIODIC_WAVES] */
    real *weight;              /* [columns][PERIODIC_WAVES][PERIODIC_OUTPUTS] */
    real *bias;                /* [columns][PERIODIC_OUTPUTS] */
};
struct op_periodic {
    DIMS(columns);
    struct act x;              /* [rows][ld] */
    struct periodic p;         /* read */
    const struct periodic_column *column;
    uint32_t ld, pad;
};
struct op_periodic_back {
    DIMS(columns);
    struct periodic d;         /* not sharded: written whole unless more */
    struct act dx, x;          /* [rows][ld] */
    struct periodic p;
    const struct periodic_column *column;
    uint32_t ld, more;
};

/* --- piecewise-linear numbers --- */

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

/* --- texts --- */

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

/* --- views: k networks share weights, and each sees the rows scaled by weights of its own (TabM:
 * Gorishniy et al., 2025, after Wen et al., "BatchEnsemble", 2020). A row of all views is
 * [views][width], without gaps --- */

/* y[r][j] = x[r][j] * w[j] + b[j], number by number. */
struct op_view_scale {
    DIMS(width);
    struct act y;              /* [rows][views][width] */
    struct act x;              /* the same; shared: [rows][width], one row for all views */
    const real *w, *b;         /* [views][width]; b NULL: none */
    uint32_t views, shared;
};
struct op_view_scale_back {
    DIMS(width);
    struct act dx;             /* the shape of x, or none; shared: the sum over the views */
    real *dw, *db;             /* not sharded: written whole unless more; db NULL: none */
    struct act dy, x;
    const real *w;
    uint32_t views, shared, add_dx, more;
};
/* y = the log of the mean over the views of softmax(x[r][j]); of values the mean. */
struct op_view_mean {
    DIMS(outputs);
    struct act y;              /* [rows][outputs] */
    struct act x;              /* [rows][views][outputs] */
    uint32_t views, values;
};

#endif
