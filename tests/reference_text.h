/* reference_text.h - the references of texts as hashed terms (reference.h). */
#ifndef DNN_TESTS_REFERENCE_TEXT_H
#define DNN_TESTS_REFERENCE_TEXT_H

#include <math.h>

#include "reference.h"

/* The value of term k of a row, before the scale; *bucket: UINT32_MAX behind the last one. */
static double ref_term(const struct text_column *c, const float *weights, const int32_t *ids,
                       uint32_t k, uint32_t *bucket)
{
    for (uint32_t i = 0; i <= k; i++)
        if (i == c->slots || !ids[c->slot + i]) {
            *bucket = UINT32_MAX;
            return 0;
        }
    int32_t term = ids[c->slot + k];
    *bucket = c->first + TERM_BUCKET(term);
    return TERM_COUNT(term) * (c->weighted ? (double)weights[*bucket] : 1);
}

static void ref_text(const struct op_text *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t i = 0; i < a->columns; i++) {
            const struct text_column *c = &a->column[i];
            double sum = 0;
            uint32_t terms = 0, bucket;
            for (;; terms++) {
                double v = ref_term(c, a->weights, a->ids + r * a->ids_ld, terms, &bucket);
                if (bucket == UINT32_MAX)
                    break;
                sum += v * v;
            }
            a->scales[i * (size_t)a->rows + r] =
                (real)(c->weighted && sum > 0 ? 1 / sqrt(sum) : 1);
            writes(a->x)[r * a->ld + c->at] = terms == 0;
        }
}

static void ref_text_dense(const struct op_text_dense *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t o = 0; o < a->out; o++) {
            real *y = &writes(a->y)[r * a->ldy + a->at + o];
            double sum = a->set ? 0 : (double)*y;
            for (uint32_t i = 0; i < a->columns; i++)
                for (uint32_t k = 0, bucket; k <= a->column[i].slots; k++) {
                    double v = ref_term(&a->column[i], a->weights, a->ids + r * a->ids_ld, k,
                                        &bucket);
                    if (bucket == UINT32_MAX)
                        break;
                    sum += v * (double)a->scales[i * (size_t)a->rows + r] *
                           (double)a->w[(size_t)bucket * a->out + o];
                }
            *y = (real)sum;
        }
}

static void ref_text_dense_back(const struct op_text_dense_back *a)
{
    for (size_t i = 0; i < (size_t)a->buckets * a->out && !a->more; i++)
        a->dw[i] = 0;
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t i = 0; i < a->columns; i++)
            for (uint32_t k = 0, bucket; k <= a->column[i].slots; k++) {
                double v = ref_term(&a->column[i], a->weights, a->ids + r * a->ids_ld, k, &bucket);
                if (bucket == UINT32_MAX)
                    break;
                for (uint32_t o = 0; o < a->out; o++)
                    a->dw[(size_t)bucket * a->out + o] +=
                        (real)(v * (double)a->scales[i * (size_t)a->rows + r] *
                               (double)reads(a->dy)[r * a->lddy + a->at + o]);
            }
}

#endif
