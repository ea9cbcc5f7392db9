/* reference_ple.h - the references of piecewise-linear numbers (reference.h). */
#ifndef DNN_TESTS_REFERENCE_PLE_H
#define DNN_TESTS_REFERENCE_PLE_H

#include "reference.h"

/* Piecewise-linear numbers: bins and shares are what the machine computes in its own precision. */
static void ref_ple(const struct op_ple *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t i = 0; i < a->columns; i++) {
            const struct ple_column *c = &a->column[i];
            const float *edges = a->edges + c->edges;
            real *x = writes(a->x) + r * a->ld, v = x[c->number];
            bool none = c->missing != PLE_NONE && x[c->missing] > 0;
            uint32_t bin = 0;
            while (bin + 1 < c->count && (real)edges[bin + 1] <= v)
                bin++;
            real share = (v - (real)edges[bin]) / ((real)edges[bin + 1] - (real)edges[bin]);
            a->bins[i * (size_t)a->rows + r] = none ? 0 : (int32_t)bin;
            a->shares[i * (size_t)a->rows + r] = none || !(share > 0) ? 0 : share < 1 ? share : 1;
            if (c->alone)
                x[c->number] = 0;
        }
}

/* The component k of column i in row r. */
static double ref_component(const int32_t *bins, const real *shares, size_t at, uint32_t k)
{
    return (int32_t)k < bins[at] ? 1 : (int32_t)k == bins[at] ? (double)shares[at] : 0;
}

static void ref_ple_wide(const struct op_ple_wide *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t i = 0; i < a->columns; i++)
            for (uint32_t k = 0; k < a->column[i].count; k++)
                writes(a->x)[r * a->ld + a->at + a->column[i].first + k] =
                    (real)ref_component(a->bins, a->shares, i * (size_t)a->rows + r, k);
}

static void ref_ple_dense(const struct op_ple_dense *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t o = 0; o < a->out; o++) {
            double sum = (double)reads(a->y)[r * a->ldy + o];
            for (uint32_t i = 0; i < a->columns; i++)
                for (uint32_t k = 0; k < a->column[i].count; k++)
                    sum += ref_component(a->bins, a->shares, i * (size_t)a->rows + r, k) *
                           (double)a->w[(size_t)(a->column[i].first + k) * a->out + o];
            writes(a->y)[r * a->ldy + o] = (real)sum;
        }
}

static void ref_ple_dense_back(const struct op_ple_dense_back *a)
{
    for (uint32_t i = 0; i < a->columns; i++)
        for (uint32_t k = 0; k < a->column[i].count; k++)
            for (uint32_t o = 0; o < a->out; o++) {
                real *to = &a->dw[(size_t)(a->column[i].first + k) * a->out + o];
                double sum = a->more ? (double)*to : 0;
                for (size_t r = 0; r < a->rows; r++)
                    sum += ref_component(a->bins, a->shares, i * (size_t)a->rows + r, k) *
                           (double)reads(a->dy)[r * a->lddy + o];
                *to = (real)sum;
            }
}

#endif
