/* mlp_loss.cuh - the loss of mlp_step.cu: a lane of a block has a row, and the last block adds
 * them. */
#ifndef DNN_KERNELS_MLP_LOSS_CUH
#define DNN_KERNELS_MLP_LOSS_CUH

#include "ops/loss.cuh"
#include "ops/mlp.cuh"

/* Number of the rows from `row` on that are in the batch. */
DEVICE uint32_t rows_left(const struct mlp &f, uint32_t row)
{
    return row < f.rows ? f.rows - row : 0;
}

/* A row of the block, held by one lane. The sum of a cross entropy waits until the block has gone
 * back: its gradient does not need the loss. */
struct loss_row {
    uint32_t row;
    float target, weight;
    double loss;
    struct class_sums sums;
};

DEVICE bool loss_waits(const struct mlp &f)
{
    return f.classes && f.of_classes.kind == CLASS_CROSS_ENTROPY;
}
DEVICE void loss_read(const struct mlp &f, struct loss_row *of)
{
    if (of->row >= f.rows)
        return;
    of->target = (float)(f.classes ? f.of_classes.target : f.of_values.target)[of->row];
    of->weight = (float)(f.classes ? f.of_classes.weight : f.of_values.weight)[of->row];
}
DEVICE void loss_gradient(const struct mlp &f, struct loss_row *of, const float *logits, float *d)
{
    const struct mlp_layer &l = f.layer[f.count - 1];
    double slope = -1;
    if (of->row >= f.rows || (f.classes && of->weight == 0)) {
        for (uint32_t k = 0; k < l.out; k++)
            d[k] = 0;
    } else if (f.classes) {
        of->sums = class_sums_of<1>(f.of_classes, logits, of->target);
        if (!loss_waits(f))
            of->loss = (double)of->weight * class_focal(f.of_classes, of->sums, &slope);
        class_gradient<1>(f.of_classes, of->sums, f.levels, logits, d, of->target,
                          (float)(-slope * (double)of->weight));
    } else {
        of->loss = value_row(f.of_values, logits[0], d, of->target, of->weight);
    }
    for (uint32_t k = 0; k < l.out && of->row < f.rows; k++)
        l.dz[(size_t)of->row * l.out + k] = d[k];
}
DEVICE void loss_put(const struct mlp &f, const struct loss_row &of)
{
    double loss = of.loss;
    if (of.row >= f.rows)
        return;
    if (loss_waits(f) && of.weight != 0)
        loss = (double)of.weight * class_cross_entropy(f.of_classes, of.sums);
    f.parts[2 * of.row] = loss;
    f.parts[2 * of.row + 1] = (double)of.weight;
}

/* The last block to finish adds the losses of all rows: groups of eight rows, then the groups of a
 * shard. Shards begin at multiples of eight. parts: loss and weight of the rows, then of the
 * groups. */
DEVICE void shard_loss(const struct mlp &f)
{
    uint32_t eights = (f.rows + 7) / 8, which = thread_id() % 2, shard = thread_id() / 2;
    double *sums = f.parts + 2 * (size_t)f.rows, sum = 0;
    for (uint32_t e = thread_id(); e < 2 * eights; e += block_size()) { /* `which` of it stays */
        const double *part = f.parts + 16 * (size_t)(e / 2) + which;
        uint32_t left = rows_left(f, 8 * (e / 2));
        double all = 0;
        UNROLL
        for (uint32_t i = 0; i < 8; i++)
            all += i < left ? part[2 * i] : 0;
        sums[e] = all;
    }
    sync_block();
    if (shard >= f.shards)
        return;
    uint32_t end = (part_begin(f.rows, f.shards, shard + 1) + 7) / 8;
    for (uint32_t i = part_begin(f.rows, f.shards, shard) / 8; i < end; i++)
        sum += sums[2 * i + which];
    bool more = f.classes ? f.of_classes.more : f.of_values.more;
    double *loss = f.classes ? f.of_classes.part_loss : f.of_values.part_loss;
    double *weight = f.classes ? f.of_classes.part_weight : f.of_values.part_weight;
    double *to = (which ? weight : loss) + shard;
    *to = (more ? *to : 0) + sum;
}

#endif
