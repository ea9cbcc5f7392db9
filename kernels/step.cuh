/* step.cuh - the end of a step: counters, sums, next learning rate, running statistics of
 * batch_norm. */
#ifndef DNN_KERNELS_STEP_CUH
#define DNN_KERNELS_STEP_CUH

#include "device.cuh"
#include "kernels.h"

/* The inputs of the end of a step: only the last block writes them, so a kernel may read them when
 * it begins. */
struct step_end {
    struct step now;
    double loss, weight;
    int64_t at;        /* the step in the table, or out of it */
    struct hyper next; /* the table's values for the next step */
};
DEVICE bool in_table(const struct op_advance &a, int64_t at)
{
    return at >= 0 && at < (int64_t)a.table_count;
}

/* By one lane. */
DEVICE void step_end_read(struct step_end *e, const struct op_advance &a)
{
    double loss = 0, weight = 0;
    e->now = *a.now;
    e->at = a.first ? e->now.tried - *a.first : -2;
    if (a.table && in_table(a, e->at + 1))
        e->next = a.table[e->at + 1];
    ROLLED
    for (uint32_t i = 0; i < a.shards; i++) {
        loss += a.part_loss[i];
        weight += a.part_weight[i];
    }
    e->loss = loss;
    e->weight = weight;
}

/* One block ends the step. */
DEVICE void end_of_step(const struct op_advance &a, const struct step_end &e)
{
    struct step *now = a.now;
    bool bad = e.now.bad != 0;
    for (uint64_t i = thread_id(); i < a.buffer_count && !bad; i += block_size())
        a.buffers[i] = a.moved[i];
    if (thread_id() != 0)
        return;
    now->loss = e.loss;
    now->weight = e.weight;
    now->tried = e.now.tried + 1;
    now->row0 = e.now.row0 + a.consumed;
    if (bad && e.now.scale > SCALE_LEAST) {
        now->scale = e.now.scale / 2;
        now->skipped = e.now.skipped + 1;
        now->good = 0;
        now->gnorm = now->loss = 0; /* what ran over is kept nowhere */
    } else if (bad) {
        now->bad_steps = e.now.bad_steps + 1;
        now->good = 0;
    } else {
        now->epoch_loss = e.now.epoch_loss + e.loss;
        now->epoch_weight = e.now.epoch_weight + e.weight;
        now->applied = e.now.applied + 1;
        now->good = e.now.good + 1;
        if ((e.now.good + 1) % SCALE_STEPS == 0 && e.now.scale < SCALE_MOST)
            now->scale = e.now.scale * 2; /* 0 stays 0 */
    }
    if (a.table && in_table(a, e.at + 1)) {
        now->lr = e.next.lr;
        now->weight_decay = e.next.weight_decay;
        now->dropout_decay = e.next.dropout_decay;
    }
}

#endif
