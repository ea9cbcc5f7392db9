/* reference_blend.h - the references of blend (reference.h). */
#ifndef DNN_TESTS_REFERENCE_BLEND_H
#define DNN_TESTS_REFERENCE_BLEND_H

#include "reference.h"

static void ref_blend(const struct op_blend *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t i = 0; i < a->width; i++) {
            double x = (double)reads(a->x)[r * a->ldx + i], w = (double)a->w[i];
            double f = ref_act(x, a->act, a->slope);
            writes(a->y)[r * a->ldy + i] = (real)(a->act == ACT_NONE ? w * x : x + w * (f - x));
        }
}

static void ref_blend_back(const struct op_blend_back *a)
{
    for (size_t i = 0; i < a->width; i++) {
        double sum = a->more ? (double)a->dw[i] : 0, w = (double)a->w[i];
        for (size_t r = 0; r < a->rows; r++) {
            double x = (double)reads(a->x)[r * a->ldx + i];
            double dy = (double)reads(a->dy)[r * a->lddy + i];
            bool plain = a->act == ACT_NONE;
            sum += dy * (plain ? x : ref_act(x, a->act, a->slope) - x);
            double d = dy * (plain ? w : 1 + w * (ref_slope(x, a->act, a->slope) - 1));
            real *dx = a->dx.at ? &writes(a->dx)[r * a->lddx + i] : NULL;
            if (dx)
                *dx = (real)((a->add_dx ? (double)*dx : 0) + d);
        }
        for (uint32_t s = 1; s < a->shards && !a->more; s++)
            a->dw[s * a->shard_stride + i] = 0;
        a->dw[i] = (real)sum;
    }
}

#endif
