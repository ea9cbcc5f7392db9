/* step.h - the arithmetic of struct step: its rates, and the counters at its end. Host and kernels
 * share the code. */
#ifndef DNN_BACKEND_STEP_H
#define DNN_BACKEND_STEP_H

#include "backend/ops.h"
#include "base/rng.h"

/* The rates of a step; s must have a table. */
RNG_FN struct hyper step_rates(const struct schedule *s, int64_t tried)
{
    return s->table[(uint32_t)tried % s->count];
}

/* The dropout decay of a step; without a table: 0. */
RNG_FN uint64_t step_dropout_decay(const struct schedule *s, int64_t tried)
{
    return s->table ? s->table[(uint32_t)tried % s->count].dropout_decay : 0;
}

/* Ends a step with these sums and `consumed` rows, as op_advance says. */
RNG_FN void step_end(struct step *now, double loss, double weight, uint64_t consumed)
{
    now->loss = loss;
    now->weight = weight;
    now->tried++;
    now->row0 += consumed;
    if (!now->bad) {
        now->epoch_loss += loss;
        now->epoch_weight += weight;
        now->applied++;
        now->good++;
        if (now->good % SCALE_STEPS == 0 && now->scale < SCALE_MOST)
            now->scale *= 2; /* 0 stays 0 */
        return;
    }
    now->good = 0;
    if (now->scale > SCALE_LEAST) {
        now->scale /= 2;
        now->skipped++;
        now->gnorm = now->loss = 0; /* norm and loss of a step that overflowed are not recorded */
    } else {
        now->bad_steps++;
    }
}

#endif
