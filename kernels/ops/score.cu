/* score.cu - answers of a batch: keeps their logits and sums their measure, by block in row order;
 * the last block adds the blocks. */
#include "ops/loss.cuh"

enum { LANES_OF_BLOCK = 256, ROWS_OF_BLOCK = 512 };

/* True: the answer is the label, by the classes of class_row; 1 lane. */
DEVICE bool is_right(const float *logits, uint32_t outputs, float target)
{
    uint32_t best = outputs == 2 && logits[1] >= logits[0];
    for (uint32_t k = 1; k < outputs && outputs != 2; k++)
        if (logits[k] > logits[best])
            best = k;
    return best == (uint32_t)target;
}

/* The measure of one row, times its weight. */
template <int G>
DEVICE double measure_row(const struct op_score &a, const struct answers *to, const float *logits,
                          float target, float weight)
{
    double loss;
    if (to->measure == MEASURE_RIGHT)
        return is_right(logits, a.outputs, target) ? (double)weight : 0;
    if (to->measure == MEASURE_CLASS) {
        struct op_loss_class of = {};
        of.classes = a.outputs;
        of.kind = to->kind;
        of.smoothing = to->smoothing;
        of.gamma = to->gamma;
        loss = class_row<G>(of, logits, nullptr, target, weight);
    } else {
        struct op_loss_value of = {};
        of.kind = to->kind;
        of.delta = to->delta;
        of.q = to->q;
        loss = value_row(of, logits[0], nullptr, target, weight);
    }
    return loss > to->most * (double)weight ? to->most * (double)weight : loss;
}

template <int G>
KERNEL_SHARING(LANES_OF_BLOCK, 4, score_rows)(struct op_score a, uint32_t *counter, double *parts)
{
    SHARED(double, room, LANES_OF_BLOCK / WARP);
    SHARED(uint32_t, said, 1);
    struct answers *to = a.to;
    uint64_t row0 = a.now->row0, first = to->first, last = to->end;
    uint32_t begin = block_x() * ROWS_OF_BLOCK, end = begin + ROWS_OF_BLOCK;
    uint32_t lane = G == 1 ? 0 : lane_id();
    double sum = 0, weights = 0;
    for (uint32_t row = begin + thread_id() / G; row < end && row < a.rows;
         row += LANES_OF_BLOCK / G) {
        const float *logits = (const float *)a.logits.at + (size_t)row * a.ld;
        uint64_t at = row0 + row;
        if (at < first || at >= last)
            continue;
        for (uint32_t k = lane; k < a.outputs && to->kept; k += G)
            a.kept[(at - first) * a.outputs + k] = logits[k];
        float weight = (float)a.weight[row];
        if (to->measure == MEASURE_NONE || !(weight > 0))
            continue;
        double measure = measure_row<G>(a, to, logits, (float)a.target[row], weight);
        if (lane == 0) {
            sum += measure;
            weights += (double)weight;
        }
    }
    sum = block_sum(sum, room);
    weights = block_sum(weights, room);
    if (thread_id() == 0) {
        parts[2 * block_x()] = sum;
        parts[2 * block_x() + 1] = weights;
    }
    if (!block_is_last(counter, grid_x(), said) || thread_id() != 0)
        return;
    for (unsigned i = 0; i < grid_x(); i++) {
        to->sum += parts[2 * i];
        to->weight += parts[2 * i + 1];
    }
    a.now->row0 = row0 + a.rows;
}

static uint32_t blocks_of(uint32_t rows)
{
    return rows ? (rows + ROWS_OF_BLOCK - 1) / ROWS_OF_BLOCK : 1;
}

size_t cuda_score_scratch(uint32_t rows)
{
    return SCRATCH_HEAD + 2 * sizeof(double) * blocks_of(rows);
}

void cuda_score(struct machine *m, const struct op_score *a, void *scratch)
{
    uint32_t *counter = (uint32_t *)scratch;
    double *parts = (double *)(void *)((char *)scratch + SCRATCH_HEAD);
    dim3 grid(blocks_of(a->rows)), lanes(LANES_OF_BLOCK);
    if (a->outputs > MANY_CLASSES)
        LAUNCH(score_rows<WARP>, grid, lanes, 0, m, *a, counter, parts);
    else
        LAUNCH(score_rows<1>, grid, lanes, 0, m, *a, counter, parts);
}
