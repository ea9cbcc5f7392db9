/* mlp.cuh - a stack of small dense layers, fused: the operations of the stack, and the arguments of
 * its kernel. A layer is a dense one with the layer_norm, activation and dropout that may follow
 * it. batch_norm is not fused: its statistics need the whole batch, and a block has few rows. */
#ifndef DNN_KERNELS_MLP_CUH
#define DNN_KERNELS_MLP_CUH

#include "kernels.h"
#include "ops/loss.cuh"

/* Layers, widths of inputs and outputs, rows: at most. */
enum { MLP_LAYERS = 6, MLP_WIDTH = 256, MLP_ROWS = 4096 };
/* TILE: rows of a block, or half of them if all blocks then have a multiprocessor each. NARROW:
 * lanes if no layer is wider, else LANES. DEPTH: k at a time, or half of it if memory is short.
 * SKEW: floats between two rows of k. */
enum { MLP_TILE = 8, MLP_NARROW = 128, MLP_LANES = 256, MLP_DEPTH = 16, MLP_SKEW = 4 };

/* at_: offsets in shared memory, of rows that start at multiples of four numbers. NULL: not wanted.
 */
struct mlp_layer {
    const float *w, *b;
    float *y, *dz;             /* rows without gaps; y: what the next layer reads */
    const float *by;           /* what the dense layer's derivative is taken at: not written */
    uint32_t in, out, act;
    float slope;
    uint32_t at_y, at_by;      /* y; what the derivative is taken at, then dz */
    uint32_t at_w, w_step;     /* the weights that stay: [in][w_step] */
    /* gamma NULL: no norm. x w + b, that normed, its gradient */
    const float *gamma, *beta;
    float *sum, *normed, *dnormed, *mean, *inv;
    uint32_t at_sum, at_stats; /* of a row: mean, inv */
    uint32_t wide, wide_back;  /* four numbers at once, there and back */
    float epsilon;
    /* scale 0: no dropout. The first element is number `first` of four with that counter; at_kept:
     * bits, a byte for four elements */
    float scale;
    uint32_t threshold, position, first, at_kept;
    uint64_t counter;
};
struct mlp {
    struct mlp_layer layer[MLP_LAYERS];
    uint32_t count, rows, shards, classes; /* classes 0: values */
    uint32_t tile;             /* rows of a block */
    uint32_t answers;          /* there is neither loss nor way back */
    /* stays: all weights are loaded at the start; else they pass in pieces of `depth` k, in two
     * halves of this size */
    uint32_t at_x, stays, depth, half;
    uint32_t lanes;
    const float *x;
    const struct step *now;    /* of dropout */
    struct schedule schedule;
    /* the source of x, ids and targets; rows 0: they are in memory already */
    struct op_gather gather;
    float *dx;                 /* of the first layer, or NULL */
    uint32_t add_dx;
    struct onehot_inputs onehot;     /* of the first layer */
    struct op_loss_class of_classes;
    struct class_levels levels;
    struct op_loss_value of_values;
    uint32_t *counter;
    double *parts;             /* loss and weight of every row, then of eight rows */
    size_t bytes;
};

/* Left to other kernels, last layer first: dw and db of dense layers, gradients of norms. */
struct mlp_rest {
    const struct op_dense_back *dense[MLP_LAYERS];
    const struct op_lnorm_back *norm[MLP_LAYERS];
    uint32_t norms;
};

/* The operations at the front of a list that the kernel does: maybe gather, layers, the loss, and
 * their way back; or layers of answers alone. most: bytes that a block may have; alone: blocks that
 * need not share them, one a multiprocessor. Returns how many operations, 0: none. */
uint32_t mlp_match(struct mlp *f, struct mlp_rest *rest, const struct kernel_op *ops,
                   uint32_t count, size_t most, unsigned alone, void *scratch);
void mlp_start(struct machine *m, const struct mlp *f);
size_t mlp_scratch(uint32_t rows);

#endif
