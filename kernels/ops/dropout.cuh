/* dropout.cuh - the elements that dropout keeps, and their scale. The random bits come from
 * base/rng.h: the bits of an element follow from its place in the batch of the whole step. A lane
 * draws four neighbours with one counter, and every machine keeps the same elements. */
#ifndef DNN_KERNELS_DROPOUT_CUH
#define DNN_KERNELS_DROPOUT_CUH

#include "backend/dropout.h"
#include "backend/step.h"
#include "device.cuh"
#include "kernels.h"

/* Random bits of elements 4 * counter to 4 * counter + 3 of the layer at this position. */
DEVICE struct rng4 dropout_bits(const struct step *now, uint32_t layer, uint64_t counter)
{
    return rng_philox(now->seed, (uint32_t)counter,
                      (layer | now->model << 16) ^ (uint32_t)(counter >> 32) << 24,
                      (uint32_t)now->tried, RNG_DROPOUT);
}

/* before: 0, or what it is added to. */
DEVICE float dropout_value(float before, float x, bool keep, float scale)
{
    return before + (keep ? x * scale : 0.0f);
}

#endif
