/* reference_periodic.h - the references of periodic numbers (reference.h). */
#ifndef DNN_TESTS_REFERENCE_PERIODIC_H
#define DNN_TESTS_REFERENCE_PERIODIC_H

#include "reference.h"

static double ref_wave(const struct periodic *p, size_t w, double x)
{
    return 2 * 3.14159265358979323846 * (double)p->frequency[w] * x + (double)p->phase[w];
}

static void ref_periodic(const struct op_periodic *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t i = 0; i < a->columns; i++)
            for (uint32_t j = 0; j < PERIODIC_OUTPUTS; j++) {
                real *x = writes(a->x) + r * a->ld;
                double sum = (double)a->p.bias[i * PERIODIC_OUTPUTS + j];
                for (uint32_t k = 0; k < PERIODIC_WAVES; k++) {
                    size_t w = (size_t)i * PERIODIC_WAVES + k;
                    sum += cos(ref_wave(&a->p, w, (double)x[a->column[i].number])) *
                           (double)a->p.weight[w * PERIODIC_OUTPUTS + j];
                }
                x[a->column[i].at + j] = (real)sum;
            }
}

static void ref_more(real *to, bool add, double value)
{
    *to = (real)((add ? (double)*to : 0) + value);
}

static void ref_periodic_back(const struct op_periodic_back *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t i = 0; i < a->columns; i++) {
            const real *dy = reads(a->dx) + r * a->ld + a->column[i].at;
            double x = (double)reads(a->x)[r * a->ld + a->column[i].number];
            bool add = a->more || r > 0;
            for (uint32_t j = 0; j < PERIODIC_OUTPUTS; j++)
                ref_more(&a->d.bias[i * PERIODIC_OUTPUTS + j], add, (double)dy[j]);
            for (uint32_t k = 0; k < PERIODIC_WAVES; k++) {
                size_t w = (size_t)i * PERIODIC_WAVES + k;
                double z = ref_wave(&a->p, w, x), dz = 0;
                for (uint32_t j = 0; j < PERIODIC_OUTPUTS; j++) {
                    size_t at = w * PERIODIC_OUTPUTS + j;
                    dz -= (double)dy[j] * (double)a->p.weight[at] * sin(z);
                    ref_more(&a->d.weight[at], add, (double)dy[j] * cos(z));
                }
                ref_more(&a->d.phase[w], add, dz);
                ref_more(&a->d.frequency[w], add, dz * 2 * 3.14159265358979323846 * x);
            }
        }
}

#endif
