/* fuzz_checkpoint.c - any bytes as a checkpoint. A checkpoint that loads has as many numbers as it
 * declares. fuzz.sh continues with `train --resume` (tests/robust/checkpoint_mutants.sh). */
#include <stdlib.h>

#include "signed.h"
#include "train/run/checkpoint.h"

static double sum_of(const real *values, uint64_t count)
{
    double sum = 0;
    for (uint64_t i = 0; values && i < count; i++)
        sum += (double)values[i];
    return sum;
}

static void load(const void *bytes, size_t size)
{
    struct err e = {0};
    struct checkpoint *c = checkpoint_load_bytes(bytes, size, "fuzz", &e);
    if (!c) {
        if (err_exit(&e) != EXIT_FORMAT)
            abort();
        return;
    }
    if (!c->params || !c->param_count || c->param_count > size || c->buffer_count > size)
        abort();
    volatile double sum = sum_of(c->params, c->param_count) + sum_of(c->m1, c->param_count) +
                          sum_of(c->m2, c->param_count) + sum_of(c->best_params, c->param_count) +
                          sum_of(c->buffers, c->buffer_count) +
                          sum_of(c->best_buffers, c->buffer_count);
    for (int64_t i = 0; i < c->epochs; i++)
        sum += c->rows[i].loss;
    checkpoint_free(c);
}
