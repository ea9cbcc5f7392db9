/* reference_blend.h - the references of blend and dropout (reference.h). */
#ifndef DNN_TESTS_REFERENCE_BLEND_H
#define DNN_TESTS_REFERENCE_BLEND_H

#include "backend/step.h"
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

static void ref_dropout(const struct op_dropout *a)
{
    double p = 1 - 1 / a->scale;
    double left = 1 - (double)step_dropout_decay(&a->schedule, a->now->tried) / 0x1p32;
    for (size_t r = 0; r < a->rows; r++)
        for (size_t i = 0; i < a->width; i++) {
            uint64_t row = (uint64_t)a->micro * a->rows + r, element = row * a->width + i;
            uint32_t bits = rng_bits(a->now->seed, element, a->layer | a->now->model << 16,
                                     (uint32_t)a->now->tried, RNG_DROPOUT);
            real *y = &writes(a->y)[r * a->ldy + i];
            bool kept = bits >= (uint32_t)ceil(a->threshold * left);
            if (a->kept) {
                uint16_t *word = &((uint16_t *)a->kept)[r * (a->width / 16) + i / 16];
                if (a->kept_known)
                    kept = *word >> i % 16 & 1;
                else
                    *word = (uint16_t)((i % 16 ? *word : 0) | kept << i % 16);
            }
            double v = kept ? (double)reads(a->x)[r * a->ldx + i] / (1 - left * p) : 0;
            *y = (real)(a->add ? (double)*y + v : v);
        }
}

#endif
