/* loss.cu - losses: the gradient of the weighted sum, and the sum in double, one part a shard. One
 * block a shard; lanes take its rows in turn, and their sums are added in a fixed tree. */
#include "ops/loss.cuh"

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

/* By the probability of class c, of a row that weighs 1. */
DEVICE double f1_slope(const double *f, const double *share, const struct op_loss_f1 &a,
                       uint32_t row, uint32_t c)
{
    return (f[c] - ((float)a.target[row] == (float)c ? 2 : 0)) * share[c];
}

/* One block: its lanes take the rows in turn, once for their probabilities, once for the sums of a
 * class, once for their gradients. */
KERNEL_BOUNDED(1024, loss_f1)(struct op_loss_f1 a)
{
    SHARED(double, room, 1024 / WARP);
    SHARED(double, f, F1_CLASSES);
    SHARED(double, share, F1_CLASSES);
    float *p = (float *)a.dlogits.at;
    const float *logits = (const float *)a.logits.at;
    double weight = 0, loss = 0;
    for (uint32_t row = thread_id(); row < a.rows; row += block_size()) {
        const float *z = logits + (size_t)row * a.ld;
        float *q = p + (size_t)row * a.ldd, most = -INFINITY, sum = 0;
        bool weighs = a.weight[row] > 0;
        for (uint32_t c = 0; c < a.classes; c++)
            most = fmaxf(most, z[c]);
        for (uint32_t c = 0; c < a.classes; c++)
            sum += expf(z[c] - most);
        for (uint32_t c = 0; c < a.classes; c++)
            q[c] = weighs ? expf(z[c] - most) / sum : 0;
        weight += (double)a.weight[row];
    }
    weight = block_sum(weight, room);
    double count = 0;
    for (uint32_t c = 0; c < a.classes; c++)
        count += (double)(a.chosen >> c & 1);
    for (uint32_t c = 0; c < a.classes; c++) {
        double right = 0, all = 0;
        for (uint32_t row = thread_id(); row < a.rows; row += block_size()) {
            double w = (double)a.weight[row], q = (double)p[(size_t)row * a.ldd + c];
            bool hit = (float)a.target[row] == (float)c;
            right += hit ? w * q : 0;
            all += w * (q + (hit ? 1 : 0));
        }
        right = block_sum(right, room);
        all = block_sum(all, room);
        if (thread_id() != 0)
            continue;
        bool counts = a.chosen >> c & 1;
        f[c] = (2 * right + 1) / (all + 1);
        share[c] = counts ? weight / count / (all + 1) : 0;
        loss += counts ? weight * (1 - f[c]) / count : 0;
    }
    sync_block();
    for (uint32_t row = thread_id(); row < a.rows; row += block_size()) {
        float *q = p + (size_t)row * a.ldd;
        double w = (double)a.weight[row], mean = 0;
        for (uint32_t c = 0; c < a.classes; c++)
            mean += f1_slope(f, share, a, row, c) * w * (double)q[c];
        for (uint32_t c = 0; c < a.classes; c++)
            q[c] = (float)((double)q[c] * (f1_slope(f, share, a, row, c) * w - mean));
    }
    for (uint32_t i = thread_id(); i < a.shards; i += block_size()) {
        a.part_loss[i] = (a.more ? a.part_loss[i] : 0) + (i == 0 ? loss : 0);
        a.part_weight[i] = (a.more ? a.part_weight[i] : 0) + (i == 0 ? weight : 0);
    }
}

void cuda_loss_class(struct machine *m, const struct op_loss_class *a)
{
    uint32_t rows = parts(a->rows, a->shards);
    if (a->classes > MANY_CLASSES)
        LAUNCH(loss_class<WARP>, dim3(a->shards), dim3(lanes_for(rows * WARP)), 0, m, *a);
    else
        LAUNCH(loss_class<1>, dim3(a->shards), dim3(lanes_for(rows)), 0, m, *a);
}

void cuda_loss_value(struct machine *m, const struct op_loss_value *a)
{
    LAUNCH(loss_value, dim3(a->shards), dim3(lanes_for(parts(a->rows, a->shards))), 0, m, *a);
}

void cuda_loss_f1(struct machine *m, const struct op_loss_f1 *a)
{
    LAUNCH(loss_f1, dim3(1), dim3(lanes_for(a->rows)), 0, m, *a);
}
