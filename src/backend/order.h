/* order.h - the order of an epoch: a pure function of seed, epoch and rows, for the host and for
 * kernels. */
#ifndef DNN_BACKEND_ORDER_H
#define DNN_BACKEND_ORDER_H

#include "backend/ops.h"
#include "base/rng.h"

/* The first step of a run: runs differ by a step at most. The remaining rows, less than a step,
 * follow the last run and belong to it. */
RNG_FN uint32_t order_run_begin(const struct by_length *o, uint32_t steps, uint32_t run)
{
    return (uint32_t)((uint64_t)steps * run / o->runs);
}

/* The run of a step, in the order of lengths. */
RNG_FN uint32_t order_run(const struct by_length *o, uint32_t steps, uint32_t step)
{
    uint32_t run = (uint32_t)((((uint64_t)step + 1) * o->runs - 1) / steps);
    return run < o->runs ? run : o->runs - 1;
}

/* The training step `step` of an epoch reads this step of the order of lengths. Rows that do not
 * fill a step come last. */
RNG_FN uint32_t order_step(const struct source *from, const struct step *now, uint32_t step)
{
    uint32_t steps = (uint32_t)from->count / from->by_length.batch;
    if (step >= steps)
        return step;
    return rng_permute(now->seed, now->epoch, rng_order(now->model, 1), steps, step);
}

/* The place in the index of position i of the epoch, from->shuffle set; i < from->count < 2^32.
 * view: 0, or the number of an order of its own (rng_order). */
RNG_FN uint32_t order_place(const struct source *from, const struct step *now, uint32_t view,
                            uint32_t i)
{
    const struct by_length *o = &from->by_length;
    uint32_t count = (uint32_t)from->count;
    if (!o->runs)
        return rng_permute(now->seed, now->epoch, rng_order(now->model, view), count, i);
    uint32_t steps = count / o->batch, step = order_step(from, now, i / o->batch);
    uint32_t run = order_run(o, steps, step), begin = order_run_begin(o, steps, run) * o->batch;
    uint32_t end = run + 1 < o->runs ? order_run_begin(o, steps, run + 1) * o->batch : count;
    return begin + rng_permute(now->seed, now->epoch, rng_order(now->model, 2 + run), end - begin,
                               step * o->batch + i % o->batch - begin);
}

#endif
