/* step.cuh - the end of a step: counters, sums, running statistics of
 * batch_norm. */
#ifndef DNN_KERNELS_STEP_CUH
#define DNN_KERNELS_STEP_CUH

#include "backend/step.h"
#include "device.cuh"
#include "kernels.h"

/* The inputs of the end of a step: only the last block writes them, so a kernel may read them when
 * it begins. */
struct step_inputs {
    struct step now;
    double loss, weight;
};

/* By one lane. */
DEVICE void step_end_read(struct step_inputs *e, const struct op_advance &a)
{
    double loss = 0, weight = 0;
    e->now = *a.now;
    ROLLED
    for (uint32_t i = 0; i < a.shards; i++) {
        loss += a.part_loss[i];
        weight += a.part_weight[i];
    }
    e->loss = loss;
    e->weight = weight;
}

/* One block ends the step. */
DEVICE void end_of_step(const struct op_advance &a, struct step_inputs *e)
{
    bool bad = e->now.bad != 0;
    for (uint64_t i = thread_id(); i < a.buffer_count && !bad; i += block_size())
        a.buffers[i] = a.moved[i];
    if (thread_id() != 0)
        return;
    step_end(&e->now, e->loss, e->weight, a.consumed);
    *a.now = e->now;
}

#endif
