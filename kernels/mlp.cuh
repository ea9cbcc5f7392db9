/* mlp.cuh - a stack of small dense layers with its loss, fused: which operations those are, and
 * what the kernel is told of them. */
#ifndef DNN_KERNELS_MLP_CUH
#define DNN_KERNELS_MLP_CUH

#include "kernels.h"

/* Layers, widths of inputs and outputs, rows, and bytes of a block's memory: at most. */
enum { MLP_LAYERS = 6, MLP_WIDTH = 128, MLP_ROWS = 4096, MLP_BYTES = 48 << 10 };
/* Rows of a block, lanes; k at a time. */
enum { MLP_TILE = 8, MLP_LANES = 128, MLP_DEPTH = 16 };

struct mlp_layer {
    const float *w, *b;        /* b NULL: none */
    float *y, *z, *dz;         /* rows without gaps; z NULL: not kept; dz NULL: not wanted */
    uint32_t in, out, act;
    uint32_t at_y, at_by;      /* in the block's memory: y, and what its derivative is taken at */
    float slope;
};
struct mlp {
    struct mlp_layer layer[MLP_LAYERS];
    uint32_t count, rows, shards, classes; /* classes 0: values */
    uint32_t at_x, at_dz, ld_dz;           /* in the block's memory: two dz of the widest layer */
    const float *x;
    struct op_gather gather;   /* of x and what stands beside it; rows 0: that is there already */
    float *dx;                 /* of the first layer, or NULL */
    uint32_t add_dx;
    struct hot_inputs hot;     /* of the first layer */
    struct op_loss_class of_classes;
    struct op_loss_value of_values;
    uint32_t *counter;
    double *parts;             /* loss and weight of every block */
    size_t bytes;
};

/* The operations at the front of a list that the kernel does: maybe gather, dense layers, the loss,
 * and their way back. Returns how many, 0: none; dw and db are left, in `back` (those operations,
 * layer by layer from the last). */
uint32_t mlp_match(struct mlp *f, const struct op_dense_back **back, const struct kernel_op *ops,
                   uint32_t count, void *scratch);
void mlp_start(struct machine *m, const struct mlp *f);
size_t mlp_scratch(uint32_t rows);

#endif
