/* loss.cu - losses: the gradient of the weighted sum, and the sum in double, one part a shard. One
 * block a shard; lanes take its rows in turn, and their sums are added in a fixed tree. */
#include "loss.cuh"

DEVICE void put_parts(double *part_loss, double *part_weight, bool more, double loss,
                      double weight, double *room)
{
    loss = block_sum(loss, room);
    weight = block_sum(weight, room);
    if (thread_id() != 0)
        return;
    part_loss[block_x()] = (more ? part_loss[block_x()] : 0) + loss;
    part_weight[block_x()] = (more ? part_weight[block_x()] : 0) + weight;
}

template <int G> KERNEL_BOUNDED(1024, loss_class)(struct op_loss_class a)
{
    SHARED(double, room, 1024 / WARP);
    uint32_t end = part_begin(a.rows, grid_x(), block_x() + 1);
    double loss = 0, weights = 0;
    for (uint32_t row = part_begin(a.rows, grid_x(), block_x()) + thread_id() / G; row < end;
         row += block_size() / G) {
        float weight = (float)a.weight[row];
        float *d = a.dlogits.at ? (float *)a.dlogits.at + (size_t)row * a.ldd : nullptr;
        double l = class_row<G>(a, (const float *)a.logits.at + (size_t)row * a.ld, d,
                                (float)a.target[row], weight);
        if (G == 1 || lane_id() == 0) {
            loss += l;
            weights += (double)weight;
        }
    }
    put_parts(a.part_loss, a.part_weight, a.more != 0, loss, weights, room);
}

KERNEL_BOUNDED(1024, loss_value)(struct op_loss_value a)
{
    SHARED(double, room, 1024 / WARP);
    uint32_t end = part_begin(a.rows, grid_x(), block_x() + 1);
    double loss = 0, weights = 0;
    for (uint32_t row = part_begin(a.rows, grid_x(), block_x()) + thread_id(); row < end;
         row += block_size()) {
        float weight = (float)a.weight[row];
        float *d = a.dy.at ? (float *)a.dy.at + (size_t)row * a.ldd : nullptr;
        loss += value_row(a, ((const float *)a.y.at)[(size_t)row * a.ld], d, (float)a.target[row],
                          weight);
        weights += (double)weight;
    }
    put_parts(a.part_loss, a.part_weight, a.more != 0, loss, weights, room);
}

void cuda_loss_class(struct machine *m, const struct op_loss_class *a, unsigned shards)
{
    uint32_t rows = (a->rows + shards - 1) / shards;
    if (a->classes > MANY_CLASSES)
        LAUNCH(loss_class<WARP>, dim3(shards), dim3(lanes_for(rows * WARP)), 0, m, *a);
    else
        LAUNCH(loss_class<1>, dim3(shards), dim3(lanes_for(rows)), 0, m, *a);
}

void cuda_loss_value(struct machine *m, const struct op_loss_value *a, unsigned shards)
{
    uint32_t rows = (a->rows + shards - 1) / shards;
    LAUNCH(loss_value, dim3(shards), dim3(lanes_for(rows)), 0, m, *a);
}
