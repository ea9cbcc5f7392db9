/* reference_answer.h - references in double for scores of answers and copies of parameters. */
#ifndef DNN_TESTS_REFERENCE_ANSWER_H
#define DNN_TESTS_REFERENCE_ANSWER_H

#include <math.h>
#include <string.h>

#include "reference.h"

/* Of one row, by the references of the losses. */
static double ref_measure(const struct op_score *a, size_t row)
{
    const struct answers *to = a->to;
    const real *z = reads(a->logits) + row * a->ld;
    double loss[1] = {0}, weight[1] = {0};
    real one = 1;
    if (to->measure == MEASURE_RIGHT) {
        uint32_t label = (uint32_t)a->target[row], better = 0;
        for (uint32_t k = 0; k < a->outputs; k++) {
            bool wins = a->outputs == 2 ? k > label : k < label; /* of two equal ones */
            better += k != label && (z[k] > z[label] || (z[k] >= z[label] && wins));
        }
        return better == 0;
    }
    if (to->measure == MEASURE_CLASS) {
        struct op_loss_class of;
        memset(&of, 0, sizeof of);
        of.part_loss = loss;
        of.part_weight = weight;
        of.logits.at = (void *)(uintptr_t)z;
        of.target = a->target + row;
        of.weight = &one;
        of.rows = 1;
        of.classes = a->outputs;
        of.ld = a->ld;
        of.kind = to->kind;
        of.smoothing = to->smoothing;
        of.gamma = to->gamma;
        ref_loss_class(&of);
    } else {
        struct op_loss_value of;
        memset(&of, 0, sizeof of);
        of.part_loss = loss;
        of.part_weight = weight;
        of.y.at = (void *)(uintptr_t)z;
        of.target = a->target + row;
        of.weight = &one;
        of.rows = 1;
        of.ld = a->ld;
        of.kind = to->kind;
        of.delta = to->delta;
        of.q = to->q;
        ref_loss_value(&of);
    }
    return fmin(loss[0], to->most);
}

static void ref_score(const struct op_score *a)
{
    struct answers *to = a->to;
    for (size_t r = 0; r < a->rows; r++) {
        uint64_t at = a->now->row0 + r;
        if (at < to->first || at >= to->end)
            continue;
        for (uint32_t k = 0; k < a->outputs && to->kept; k++)
            a->kept[(at - to->first) * a->outputs + k] = reads(a->logits)[r * a->ld + k];
        if (to->measure != MEASURE_NONE && a->weight[r] > 0) {
            to->sum += (double)a->weight[r] * ref_measure(a, r);
            to->weight += (double)a->weight[r];
        }
    }
    a->now->row0 += a->rows;
}

static void ref_keep(const struct op_keep *a)
{
    for (uint32_t part = 0; part < KEEP_PARTS; part++) {
        a->bad[part] = 0;
        for (uint64_t i = KEEP_BEGIN(a->n, part); i < KEEP_BEGIN(a->n, part + 1); i++) {
            a->bad[part] |= !isfinite(a->from[i]);
            if (a->to)
                a->to[i] = a->from[i];
        }
    }
}

#endif
