/* reference_f1.h - loss_f1 in double. */
#ifndef DNN_TESTS_REFERENCE_F1_H
#define DNN_TESTS_REFERENCE_F1_H

#include "reference.h"

static void ref_loss_f1(const struct op_loss_f1 *a)
{
    double right[F1_CLASSES] = {0}, all[F1_CLASSES] = {0}, weight = 0, loss = 0;
    double *p = (double *)calloc((size_t)a->rows * a->classes + 1, sizeof *p);
    const double share = 1.0 / __builtin_popcountll(a->chosen);
    for (size_t r = 0; r < a->rows; r++) {
        const real *z = reads(a->logits) + r * a->ld;
        double sum = 0, w = (double)a->weight[r];
        for (uint32_t c = 0; c < a->classes; c++)
            sum += p[r * a->classes + c] = exp((double)z[c]);
        for (uint32_t c = 0; c < a->classes; c++) {
            p[r * a->classes + c] /= sum;
            right[c] += c == (uint32_t)a->target[r] ? w * p[r * a->classes + c] : 0;
            all[c] += w * p[r * a->classes + c] + (c == (uint32_t)a->target[r] ? w : 0);
        }
        weight += w;
    }
    for (uint32_t c = 0; c < a->classes; c++)
        loss += a->chosen >> c & 1 ? share * weight * (1 - (2 * right[c] + 1) / (all[c] + 1)) : 0;
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t j = 0; j < a->classes; j++) {
            double d = 0; /* dloss/dp_c dp_c/dz_j */
            for (uint32_t c = 0; c < a->classes; c++) {
                double t = c == (uint32_t)a->target[r], n = all[c] + 1;
                double by_p = -(2 * t * n - (2 * right[c] + 1)) / (n * n);
                if (a->chosen >> c & 1)
                    d += share * weight * (double)a->weight[r] * by_p * p[r * a->classes + c]
                        * ((c == j) - p[r * a->classes + j]);
            }
            writes(a->dlogits)[r * a->ldd + j] = (real)d;
        }
    ref_parts(a->part_loss, a->part_weight, a->rows, a->more, loss, weight);
    free(p);
}

#endif
