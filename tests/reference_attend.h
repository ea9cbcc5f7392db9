/* reference_attend.h - the references of attention (reference.h). */
#ifndef DNN_TESTS_REFERENCE_ATTEND_H
#define DNN_TESTS_REFERENCE_ATTEND_H

#include <stdlib.h>

#include "reference.h"

static void ref_position(const struct op_position *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t t = 0; t < a->steps; t++)
            for (size_t j = 0; j < a->width; j++) {
                real *y = &writes(a->y)[(r * a->steps + t) * a->width + j];
                int64_t from = (int64_t)t + a->shift;
                double sum = a->add ? (double)*y : 0;
                if (from >= 0 && from < a->x_steps)
                    sum += (double)reads(a->x)[(r * a->x_steps + (size_t)from) * a->width + j];
                *y = (real)(sum + (a->p && t < a->count ? (double)a->p[t * a->width + j] : 0));
            }
}

static void ref_position_back(const struct op_position_back *a)
{
    for (size_t t = 0; t < a->count; t++)
        for (size_t j = 0; j < a->width; j++) {
            double sum = a->more ? (double)a->dp[t * a->width + j] : 0;
            for (size_t r = 0; r < a->rows && t < a->steps; r++)
                sum += (double)reads(a->dy)[(r * a->steps + t) * a->width + j];
            a->dp[t * a->width + j] = (real)sum;
        }
}

static void ref_lengths(const struct op_lengths *a)
{
    for (size_t r = 0; r < a->rows; r++)
        a->to[r] = (int32_t)(((uint32_t)a->from[r] + a->more + a->divide - 1) / a->divide);
}

static void ref_rotary(const struct op_rotary *a)
{
    for (size_t at = 0; at < (size_t)a->rows * a->steps; at++)
        for (size_t k = 0; k < a->width; k++) {
            size_t j = k % (2 * (size_t)a->half);
            if (j >= a->half)
                continue;
            real *x = writes(a->x) + at * a->ld + k;
            const real *turn = a->turn + (at % a->steps * a->half + j) * 2;
            double c = (double)turn[0], s = a->back ? -(double)turn[1] : (double)turn[1];
            double one = (double)x[0], two = (double)x[a->half];
            x[0] = (real)(one * c - two * s);
            x[a->half] = (real)(two * c + one * s);
        }
}

/* The shares of query t of a head, [steps]; x: q of the row's first step. */
static void ref_shares(const real *x, uint32_t width, uint32_t each, size_t t, size_t seen,
                       double *share)
{
    const size_t ld = 3 * (size_t)width;
    double most = -INFINITY, sum = 0;
    for (size_t u = 0; u < seen; u++) {
        share[u] = 0;
        for (size_t j = 0; j < each; j++)
            share[u] += (double)x[t * ld + j] * (double)x[u * ld + width + j] / sqrt(each);
        most = fmax(most, share[u]);
    }
    for (size_t u = 0; u < seen; u++)
        sum += share[u] = exp(share[u] - most);
    for (size_t u = 0; u < seen; u++)
        share[u] /= sum;
}

static void ref_attention(const struct op_attention *a)
{
    const size_t each = a->width / a->heads, ld = 3 * (size_t)a->width;
    double *share = (double *)malloc(a->steps * sizeof *share);
    for (size_t row = 0; row < a->rows; row++)
        for (size_t t = 0; t < a->steps; t++)
            for (size_t h = 0; h < a->heads; h++) {
                const real *x = reads(a->x) + row * a->steps * ld + h * each;
                size_t length = (size_t)a->length[row], seen = a->causal ? t + 1 : length;
                ref_shares(x, a->width, (uint32_t)each, t, t < length ? seen : 0, share);
                for (size_t j = 0; j < each; j++) {
                    double sum = 0;
                    for (size_t u = 0; u < seen && t < length; u++)
                        sum += share[u] * (double)x[u * ld + 2 * (size_t)a->width + j];
                    writes(a->y)[(row * a->steps + t) * a->width + h * each + j] = (real)sum;
                }
            }
    free(share);
}

/* What query t of a head adds to the gradients of its row. */
static void ref_query_back(const struct op_attention_back *a, const real *x, const real *dy,
                           double *dx, size_t t, size_t seen, double *share)
{
    const size_t width = a->width, each = width / a->heads, ld = 3 * width;
    double *d = share + a->steps, mean = 0, root = sqrt((double)each);
    ref_shares(x, a->width, (uint32_t)each, t, seen, share);
    for (size_t u = 0; u < seen; u++) {
        d[u] = 0;
        for (size_t j = 0; j < each; j++)
            d[u] += (double)dy[t * width + j] * (double)x[u * ld + 2 * width + j];
        mean += d[u] * share[u];
    }
    for (size_t u = 0; u < seen; u++)
        for (size_t j = 0; j < each; j++) {
            double ds = share[u] * (d[u] - mean) / root;
            dx[t * ld + j] += ds * (double)x[u * ld + width + j];
            dx[u * ld + width + j] += ds * (double)x[t * ld + j];
            dx[u * ld + 2 * width + j] += share[u] * (double)dy[t * width + j];
        }
}

static void ref_attention_back(const struct op_attention_back *a)
{
    const size_t width = a->width, each = width / a->heads, line = a->steps * 3 * width;
    double *share = (double *)malloc(2 * a->steps * sizeof *share);
    double *dx = (double *)malloc(line * sizeof *dx);
    for (size_t row = 0; row < a->rows; row++) {
        for (size_t i = 0; i < line; i++)
            dx[i] = 0;
        for (size_t t = 0; t < (size_t)a->length[row]; t++)
            for (size_t h = 0; h < a->heads; h++)
                ref_query_back(a, reads(a->x) + row * line + h * each,
                               reads(a->dy) + row * a->steps * width + h * each, dx + h * each, t,
                               a->causal ? t + 1 : (size_t)a->length[row], share);
        for (size_t i = 0; i < line; i++)
            writes(a->dx)[row * line + i] = (real)dx[i];
    }
    free(share);
    free(dx);
}

static void ref_weigh(const struct op_weigh *a)
{
    for (size_t r = 0; r < a->rows; r++) {
        const real *score = reads(a->score) + r * a->steps;
        size_t length = (size_t)a->length[r];
        double most = -INFINITY, sum = 0;
        for (size_t t = 0; t < length; t++)
            most = fmax(most, (double)score[t]);
        for (size_t t = 0; t < length; t++)
            sum += exp((double)score[t] - most);
        for (size_t t = 0; t < a->steps; t++)
            a->share[r * a->steps + t] =
                t < length ? (real)(exp((double)score[t] - most) / sum) : 0;
        for (size_t j = 0; j < a->width; j++) {
            double y = 0;
            for (size_t t = 0; t < length; t++)
                y += exp((double)score[t] - most) / sum *
                     (double)reads(a->x)[(r * a->steps + t) * a->width + j];
            writes(a->y)[r * a->width + j] = (real)y;
        }
    }
}

static void ref_weigh_back(const struct op_weigh_back *a)
{
    for (size_t r = 0; r < a->rows; r++) {
        const real *dy = reads(a->dy) + r * a->width, *share = a->share + r * a->steps;
        double mean = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t t = 0; t < a->steps; t++) {
                size_t at = r * a->steps + t;
                double d = 0;
                for (size_t j = 0; j < a->width; j++)
                    d += (double)dy[j] * (double)reads(a->x)[at * a->width + j];
                bool there = t < (size_t)a->length[r];
                if (!pass)
                    mean += there ? d * (double)share[t] : 0;
                else
                    writes(a->dscore)[at] = there ? (real)((double)share[t] * (d - mean)) : 0;
            }
        for (size_t t = 0; t < a->steps && a->dx.at; t++)
            for (size_t j = 0; j < a->width; j++) {
                real *dx = &writes(a->dx)[(r * a->steps + t) * a->width + j];
                *dx = (real)((a->add_dx ? (double)*dx : 0) + (double)share[t] * (double)dy[j]);
            }
    }
}

#endif
