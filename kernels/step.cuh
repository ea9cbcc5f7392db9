/* step.cuh - the end of a step: counters, sums, next learning rate, running statistics of
 * batch_norm. */
#ifndef DNN_KERNELS_STEP_CUH
#define DNN_KERNELS_STEP_CUH

#include "device.cuh"
#include "kernels.h"

/* One block ends the step. */
DEVICE void end_of_step(const struct op_advance &a)
{
    struct step *now = a.now;
    bool bad = now->bad != 0;
    for (uint64_t i = thread_id(); i < a.buffer_count && !bad; i += block_size())
        a.buffers[i] = a.moved[i];
    if (thread_id() != 0)
        return;
    double loss = 0, weight = 0;
    for (uint32_t i = 0; i < a.shards; i++) {
        loss += a.part_loss[i];
        weight += a.part_weight[i];
    }
    now->loss = loss;
    now->weight = weight;
    int64_t at = a.first ? now->tried - *a.first : -1;
    if (a.norms && at >= 0 && at < (int64_t)a.table_count)
        a.norms[at] = now->gnorm;
    now->tried++;
    now->row0 += a.consumed;
    if (bad && now->scale > SCALE_LEAST) {
        now->scale /= 2;
        now->skipped++;
        now->good = 0;
        now->gnorm = now->loss = 0; /* what ran over is kept nowhere */
    } else if (bad) {
        now->bad_steps++;
        now->good = 0;
    } else {
        now->epoch_loss += loss;
        now->epoch_weight += weight;
        now->applied++;
        now->good++;
        if (now->good % SCALE_STEPS == 0 && now->scale < SCALE_MOST)
            now->scale *= 2; /* 0 stays 0 */
    }
    at++;
    if (a.table && a.first && at >= 0 && at < (int64_t)a.table_count) {
        now->lr = a.table[at].lr;
        now->weight_decay = a.table[at].weight_decay;
        now->fall = a.table[at].fall;
    }
}

#endif
