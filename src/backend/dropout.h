/* dropout.h - p at a step, if a schedule decays it. It takes whole numbers and one division of
 * floats, so that every machine keeps the same elements and scales them alike; host and kernels
 * share the code. */
#ifndef DNN_BACKEND_DROPOUT_H
#define DNN_BACKEND_DROPOUT_H

#include "base/rng.h"

/* p times 2^32. threshold: op_dropout's; decay: struct hyper's. */
RNG_FN uint32_t dropout_threshold(uint32_t threshold, uint64_t decay)
{
    return threshold - (uint32_t)(threshold * decay >> 32);
}

/* 1 / (1 - p). threshold: this step's; scale: op_dropout's, for the whole p. */
RNG_FN float dropout_scale(double scale, uint32_t threshold, uint64_t decay)
{
    return decay ? 0x1p32f / (0x1p32f - (float)threshold) : (float)scale;
}

#endif
