/* reference_view.h - the references of the operations of views (reference.h). */
#ifndef DNN_TESTS_REFERENCE_VIEW_H
#define DNN_TESTS_REFERENCE_VIEW_H

#include "reference.h"

/* Where view j of row r reads its x. */
static size_t ref_view(uint32_t views, uint32_t width, uint32_t shared, size_t r, size_t j)
{
    return shared ? r * width : (r * views + j) * width;
}

static void ref_view_scale(const struct op_view_scale *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t j = 0; j < a->views; j++)
            for (size_t i = 0; i < a->width; i++) {
                size_t of = j * a->width + i;
                size_t from = ref_view(a->views, a->width, a->shared, r, j) + i;
                writes(a->y)[(r * a->views + j) * a->width + i] =
                    (real)((double)reads(a->x)[from] * (double)a->w[of] +
                           (a->b ? (double)a->b[of] : 0));
            }
}

static void ref_view_scale_back(const struct op_view_scale_back *a)
{
    for (size_t j = 0; j < a->views; j++)
        for (size_t i = 0; i < a->width; i++) {
            size_t of = j * a->width + i;
            double w = a->more ? (double)a->dw[of] : 0;
            double b = a->more && a->db ? (double)a->db[of] : 0;
            for (size_t r = 0; r < a->rows; r++) {
                double dy = (double)reads(a->dy)[(r * a->views + j) * a->width + i];
                w += dy * (double)reads(a->x)[ref_view(a->views, a->width, a->shared, r, j) + i];
                b += dy;
            }
            a->dw[of] = (real)w;
            if (a->db)
                a->db[of] = (real)b;
        }
    for (size_t r = 0; r < a->rows && a->dx.at; r++)
        for (size_t j = 0; j < (a->shared ? 1 : a->views); j++)
            for (size_t i = 0; i < a->width; i++) {
                real *to = &writes(a->dx)[ref_view(a->views, a->width, a->shared, r, j) + i];
                double sum = a->add_dx ? (double)*to : 0;
                for (size_t k = a->shared ? 0 : j; k < (a->shared ? a->views : j + 1); k++)
                    sum += (double)reads(a->dy)[(r * a->views + k) * a->width + i] *
                           (double)a->w[k * a->width + i];
                *to = (real)sum;
            }
}

static void ref_view_mean(const struct op_view_mean *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t k = 0; k < a->outputs; k++) {
            double mean = 0;
            for (size_t j = 0; j < a->views; j++) {
                const real *x = reads(a->x) + (r * a->views + j) * a->outputs;
                double sum = 0;
                for (size_t i = 0; i < a->outputs; i++)
                    sum += exp((double)x[i] - (double)x[k]);
                mean += (a->values ? (double)x[k] : 1 / sum) / a->views;
            }
            writes(a->y)[r * a->outputs + k] = (real)(a->values ? mean : log(mean));
        }
}

#endif
