/* vec.h - the arithmetic of the CPU machine's operations, once for each instruction set. One
 * source, the headers of vec_table.h, is compiled three times over 16 lanes: as plain C, AVX2 (two
 * registers) and AVX-512 (one). The order of operations is the source's, so all three give the same
 * bits. Every product is a chain of fused multiply-adds in the order of k, one chain for each
 * output: the bits of a row depend on that row alone, not on its place, its neighbours or the
 * blocking. In the gradient build (real is double) only plain C exists. */
#ifndef DNN_BACKEND_VEC_H
#define DNN_BACKEND_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "backend/ops.h"
#include "base/real.h"

/* A panel is up to PANEL columns of a matrix: [k][ld], ld >= the panel's width. */
enum { LANES = 16, PANEL = 32, NARROW = 4 };
/* Rows of k that a product packs: a panel of them fits the first-level cache. */
enum { PRODUCT_DEPTH = 256 };

/* gemm, nn: c[r][j] = act(start + sum over k of a[r][k] b[k][j]) for one panel; start is c (add),
 * the bias, or 0. next: the panel after b, or NULL: it is prefetched, as another core may have
 * written it. */
struct product {
    real *c;
    const real *a, *b, *bias, *next;
    uint32_t rows, k, width; /* width: columns of the panel, at most PANEL */
    uint32_t lda, ldb, ldc;
    bool add;
    uint32_t act; /* ACT_NONE or ACT_RELU */
};
/* gemm, nt, skinny: c[r][j] = start + sum over k of a[r][k] bt[j][k] for at most NARROW columns j;
 * start as above; bt is [width][k]. */
struct narrow {
    real *c;
    const real *a, *bt, *bias;
    uint32_t rows, k, width, lda, ldc;
    bool add;
};
/* dz = dy act'(by), of relu or none: its copy, [rows up to a multiple of 16][PANEL], or NULL if
 * neither it nor `turned` is wanted; sums[j] (= or +=) the sum of column j; turned = the transpose,
 * [rows / 16][room][16], room >= the columns of dz; put: dz also replaces dy. One panel. */
struct deltas {
    real *dy, *copy;
    real *sums, *turned; /* NULL: not wanted */
    const real *by;
    uint32_t rows, width, ld, ldby, kind, room; /* kind: ACT_NONE or ACT_RELU */
    bool add, put;
};
/* gemm, tn: c[i][j] (= or +=) sum over r of a[r][i] b[r][j] for i < m and one panel of j. b is
 * [rows][PANEL]. */
struct outer {
    real *c;
    const real *a, *b;
    const real *packed; /* a, as outer_pack wrote it; NULL: a serves */
    uint32_t rows, m, width, lda, ldc;
    bool add;
};
/* gemm, nt: dx[r][i] (= or +=) sum over j of dz[r][j] w[i][j]; dz as deltas turned it. For
 * narrow_across, at most NARROW columns j, dz is [rows][PANEL] and w is [out][ldw]. */
struct across {
    real *dx;
    const real *w, *dz;
    uint32_t rows, in, out, ldw, lddx, room;
    bool add;
};
/* c[r][j] = act(start + sum over those k < 64 set in bits[r] of a[r][k] b[k][j]), j < width; start
 * as in product; a[r][k] is at r a_row + k a_next. */
struct sparse {
    real *c;
    const real *a, *b, *bias;
    const uint64_t *bits;
    uint32_t rows, width, a_row, a_next, ldb, ldc;
    bool add;
    uint32_t act;
};
/* one-hot inputs, as an embedding bag of the rows of w:
 * forward: z[r] = bias (NULL: 0) + the row at + id of w for every column; back: those rows of w +=
 * z[r], row by row. */
struct onehot_rows {
    real *z, *w;
    const real *bias;
    const struct onehot_inputs *onehot;
    uint32_t row0, rows, out, ldz; /* row0: first row of the ids */
};
/* op_ple_dense, of one or two of its columns and at most PANEL columns of its output; y is a copy
 * of them, [rows][PANEL]: y[r] += c[bin] + share w[bin]. Two columns, one after the other, halve
 * what y costs. room of each: [count][2 PANEL]. next: the w of the next numbers, next_count rows of
 * it (0: none). */
struct ple_number {
    const real *w;
    real *room;
    const int32_t *bins; /* [rows] */
    const real *shares;
    uint32_t count, pad; /* components */
};
enum { PLE_PAIR = 2 };
struct ple_panel {
    real *y;
    struct ple_number of[PLE_PAIR];
    const real *next;
    uint32_t numbers, rows, width, ldw, next_count;
};
/* op_ple_dense_back, of one of its columns and at most PANEL columns of its output; y is a copy of
 * their dy, [rows][PANEL]: w (= or +=) the sums of y[r] times the components. The rows of bin j are
 * row[first[j]] to row[first[j + 1] - 1], in ascending order, and share[] goes with row[]. */
struct ple_back {
    real *w;
    const real *y, *share;
    const uint16_t *row, *first;
    uint32_t count, width, ldw;
    bool add;
};
/* One step of one row of op_recur: gates, before, h and b as there; c_before NULL: 0. */
struct cell {
    real *gates, *h, *c;
    const real *before, *c_before, *b;
    uint32_t units;
};
/* The same for op_recur_back: dh and dc hold the gradients of h and c from later steps, without dy,
 * and get the gradients for the step before, without the product with u. */
struct cell_back {
    real *gates, *dh, *dc;
    const real *dy, *before, *c_before, *c;
    uint32_t units;
};
struct shuffle { uint64_t seed; uint32_t epoch, model, n; };
struct softmax {
    real *dlogits;           /* NULL: only the sums */
    const real *logits, *target, *weight;
    real *room;              /* classes * LANES, or NULL */
    uint32_t rows, classes, ld, ldd, kind;
    double smoothing, gamma;
    double loss, weight_sum; /* answers */
};
/* dropout. kept: the mask, one bit a value, or NULL; known: it is read, else written. With a mask,
 * n and the first element are multiples of 16. */
struct keep {
    uint64_t seed;
    uint16_t *kept;
    uint32_t stream, step, threshold;
    real scale;
    bool known;
};

/* One run of parameters with the same factors. g is the summed gradient; scale divides and clips
 * it. */
struct update {
    real *p, *m1, *m2;
    const real *g;
    size_t n;
    real scale, lr, decay;   /* decay: lr * weight_decay when decoupled, else weight_decay */
    double beta1, beta2; /* double, so that 1 - beta is the one of the config */
    real epsilon;
    real step, root;         /* adam: lr / (1 - beta1^t), 1 / sqrt(1 - beta2^t) */
    bool flag;               /* decoupled, or nesterov */
};

struct vec {
    const char *name;
    void (*product)(const struct product *p);
    void (*narrow)(const struct narrow *p);
    void (*outer)(const struct outer *p);
    /* a of struct outer for many panels; to: [m rounded up to a multiple of 8][rows] */
    void (*outer_pack)(real *to, const real *a, uint32_t rows, uint32_t m, uint32_t lda);
    void (*narrow_outer)(const struct outer *p); /* for at most NARROW columns */
    void (*across)(const struct across *p);
    void (*narrow_across)(const struct across *p);
    void (*sparse)(const struct sparse *p);
    /* bits[r]: the nonzero values of row r, n <= 64 */
    void (*nonzero)(uint64_t *bits, const real *a, uint32_t rows, uint32_t n, uint32_t lda);
    /* to[j][i] = from[i][j], for i < rows, j < columns */
    void (*turn)(real *to, const real *from, uint32_t rows, uint32_t columns, uint32_t ld_from,
                 uint32_t ld_to);
    void (*onehot)(const struct onehot_rows *h);
    void (*onehot_back)(const struct onehot_rows *h);
    void (*ple)(const struct ple_panel *p);
    void (*ple_back)(const struct ple_back *b);
    void (*lstm)(const struct cell *c);
    void (*lstm_back)(const struct cell_back *c);
    void (*gru)(const struct cell *c);
    void (*gru_back)(const struct cell_back *c);
    /* s = softmax(scale s), n > 0; d = scale p (d - d p), the way back through it */
    void (*softmax_row)(real *s, size_t n, real scale);
    void (*softmax_row_back)(real *d, const real *p, size_t n, real scale);
    /* y[t] = 3 times the sum of the taps `three` of s, less the sum of all taps: tap j at t + j
     * dilation; and how many of y are above the bias */
    void (*rocket_taps)(real *y, const real *s, size_t n, size_t dilation, const uint8_t *three);
    uint32_t (*rocket_above)(const real *y, size_t n, real bias);
    void (*deltas)(const struct deltas *d);
    void (*act)(real *y, const real *x, size_t n, uint32_t kind, real slope);
    /* dx (= or +=) dy * act'; `by` is z for gelu, silu, mish, else y or z as from_x says */
    void (*act_back)(real *dx, const real *dy, const real *by, size_t n, uint32_t kind, real slope,
                     bool from_x, bool add);
    /* y = x + w (act(x) - x), or w x without an activation; dx may be NULL, dw is added to */
    void (*blend)(real *y, const real *x, const real *w, size_t n, uint32_t kind, real slope);
    void (*blend_back)(real *dx, real *dw, const real *dy, const real *x, const real *w, size_t n,
                       uint32_t kind, real slope, bool add);
    void (*add)(real *y, const real *a, const real *b, size_t n);
    void (*dropout)(real *y, const real *x, size_t n, uint64_t element, const struct keep *keep,
                    bool add);
    void (*permute)(uint32_t *out, uint32_t first, uint32_t count, const struct shuffle *s);
    void (*softmax)(struct softmax *s);
    /* norms: y = (x - mean) * inv * gamma + beta with one mean a column / one a row */
    void (*norm_columns)(real *y, const real *x, const real *mean, const real *inv,
                         const real *gamma, const real *beta, size_t n);
    void (*row_moments)(const real *x, size_t n, real epsilon, real *mean, real *inv);
    void (*norm_row)(real *y, const real *x, real mean, real inv, const real *gamma,
                     const real *beta, size_t n);
    void (*norm_row_back)(real *dx, real *dgamma, real *dbeta, const real *dy, const real *x,
                          real mean, real inv, const real *gamma, size_t n, bool add);
    /* parameters */
    /* returns the sum of squares; to: not written with 1 shard */
    double (*sum_shards)(real *to, const real *g, uint64_t stride, uint32_t shards, size_t n);
    void (*adam)(const struct update *u);
    void (*rmsprop)(const struct update *u);
    void (*sgd)(const struct update *u);
};

extern const struct vec vec_c;
#if defined(__x86_64__) && !defined(DNN_DOUBLE)
#define VEC_X86 1
extern const struct vec vec_avx2, vec_avx512;
#endif

/* The best code for this processor. NULL: a test asked for code that it cannot run. */
const struct vec *vec_choose(void);
/* By name; NULL when unknown or not for this processor. */
const struct vec *vec_find(const char *name);

#endif
