/* reference_series.h - the references of sequences (reference.h). */
#ifndef DNN_TESTS_REFERENCE_SERIES_H
#define DNN_TESTS_REFERENCE_SERIES_H

#include <stdlib.h>

#include "reference.h"

static void ref_series(const struct op_series *a)
{
    const size_t each = (size_t)a->steps * a->channels, missing = (size_t)a->x_steps * a->channels;
    for (size_t r = 0; r < a->rows; r++) {
        const real *x = reads(a->x) + r * a->ldx;
        a->length[r] = 0;
        for (size_t t = 0; t < a->steps; t++)
            for (size_t c = 0; c < a->channels; c++) {
                writes(a->y)[r * each + t * a->channels + c] = x[c * a->x_steps + t];
                if (x[missing + c * a->x_steps + t] <= 0)
                    a->length[r] = (int32_t)t + 1;
            }
    }
}

static void ref_tokens(const struct op_tokens *a)
{
    for (size_t r = 0; r < a->rows; r++) {
        a->length[r] = 0;
        for (size_t t = 0; t < a->steps; t++) {
            a->tokens[r * a->steps + t] = a->ids[r * a->ids_ld + a->at + t];
            if (a->tokens[r * a->steps + t] != 0)
                a->length[r] = (int32_t)t + 1;
        }
    }
}

static double ref_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Number j of the state that a row begins with. */
static double ref_state(const struct recur_state *state, size_t row, size_t j)
{
    return state->from && !state->begins[row] ? (double)state->from[row * state->ld + j] : 0;
}
static void ref_pass_on(real *to, size_t n, size_t j, const double *h, const double *c)
{
    if (to)
        to[j] = (real)h[j];
    if (to && c)
        to[n + j] = (real)c[j];
}

/* A row of a recurrent layer, its state in double. */
static void ref_recur_row(const struct op_recur *a, size_t row, double *h, double *c, double *sums)
{
    const size_t n = a->units, columns = RECUR_COLUMNS(a->kind) * n;
    const bool lstm = a->kind == RECUR_LSTM;
    real *to = a->state.to ? a->state.to + row * a->state.ld : NULL;
    for (size_t j = 0; j < n; j++) {
        h[j] = ref_state(&a->state, row, j);
        c[j] = lstm ? ref_state(&a->state, row, n + j) : 0;
        ref_pass_on(to, n, j, h, lstm ? c : NULL);
    }
    for (size_t i = 0; i < a->steps; i++) {
        size_t t = a->reverse ? a->steps - 1 - i : i, at = row * a->steps + t;
        real *gates = a->gates + at * RECUR_GATES * n;
        bool padding = t >= (size_t)a->length[row];
        for (size_t j = 0; j < n; j++)
            a->before[at * n + j] = (real)h[j];
        for (size_t k = 0; k < RECUR_GATES * n; k++)
            sums[k] = a->kind == RECUR_GRU && k >= 3 * n ? 0 : (double)gates[k];
        for (size_t k = 0; k < columns; k++) {
            double *sum = &sums[RECUR_GATES * n - columns + k];
            for (size_t j = 0; j < n; j++)
                *sum += h[j] * (double)a->u[j * columns + k];
            *sum += a->b ? (double)a->b[k] : 0;
        }
        for (size_t j = 0; j < n; j++) {
            double *v = sums + j;
            if (a->kind == RECUR_LSTM) {
                v[0] = ref_sigmoid(v[0]);
                v[n] = ref_sigmoid(v[n]);
                v[2 * n] = tanh(v[2 * n]);
                v[3 * n] = ref_sigmoid(v[3 * n]);
                c[j] = padding ? 0 : v[n] * c[j] + v[0] * v[2 * n];
                h[j] = padding ? 0 : v[3 * n] * tanh(c[j]);
                a->cells[at * n + j] = (real)c[j];
            } else {
                v[n] = ref_sigmoid(v[n]);
                v[2 * n] = ref_sigmoid(v[2 * n]);
                v[0] = tanh(v[0] + v[n] * v[3 * n]);
                h[j] = padding ? 0 : (1 - v[2 * n]) * v[0] + v[2 * n] * h[j];
            }
            for (size_t g = 0; g < RECUR_GATES; g++)
                gates[g * n + j] = padding ? 0 : (real)v[g * n];
            writes(a->y)[at * a->ldy + a->at + j] = (real)h[j];
            if (!padding)
                ref_pass_on(to, n, j, h, lstm ? c : NULL);
        }
    }
}

static void ref_recur(const struct op_recur *a)
{
    double *room = (double *)malloc(6 * sizeof *room * a->units);
    for (size_t r = 0; r < a->rows; r++)
        ref_recur_row(a, r, room, room + a->units, room + 2 * (size_t)a->units);
    free(room);
}

/* The gradients of the gates of one unit, from those of h and c; returns those of c' and h'. */
static void ref_cell_back(const struct op_recur_back *a, size_t at, size_t j, double old_c,
                          double *dh, double *dc)
{
    const size_t n = a->units;
    real *gates = a->gates + at * RECUR_GATES * n + j;
    double v[4], d[4];
    for (size_t g = 0; g < RECUR_GATES; g++)
        v[g] = (double)gates[g * n];
    if (a->kind == RECUR_LSTM) { /* i, f, g, o */
        double t = tanh((double)a->cells[at * n + j]);
        *dc += *dh * v[3] * (1 - t * t);
        d[0] = *dc * v[2] * v[0] * (1 - v[0]);
        d[1] = *dc * old_c * v[1] * (1 - v[1]);
        d[2] = *dc * v[0] * (1 - v[2] * v[2]);
        d[3] = *dh * t * v[3] * (1 - v[3]);
        *dc *= v[1];
        *dh = 0;
    } else { /* n, r, z, q */
        d[0] = *dh * (1 - v[2]) * (1 - v[0] * v[0]);
        d[1] = d[0] * v[3] * v[1] * (1 - v[1]);
        d[2] = *dh * ((double)a->before[at * n + j] - v[0]) * v[2] * (1 - v[2]);
        d[3] = d[0] * v[1];
        *dh *= v[2];
    }
    for (size_t g = 0; g < RECUR_GATES; g++)
        gates[g * n] = (real)d[g];
}

static void ref_recur_back(const struct op_recur_back *a)
{
    const size_t n = a->units, columns = RECUR_COLUMNS(a->kind) * n;
    double *dh = (double *)malloc(2 * n * sizeof *dh), *dc = dh + n;
    for (size_t row = 0; row < a->rows; row++) {
        for (size_t j = 0; j < 2 * n; j++)
            dh[j] = 0;
        for (size_t i = a->steps; i-- > 0;) {
            size_t t = a->reverse ? a->steps - 1 - i : i, at = row * a->steps + t;
            real *gates = a->gates + at * RECUR_GATES * n;
            bool padding = t >= (size_t)a->length[row];
            for (size_t k = 0; padding && k < RECUR_GATES * n; k++)
                gates[k] = 0;
            for (size_t j = 0; !padding && j < n; j++) {
                size_t before = a->reverse ? at + 1 : at - 1;
                double old = !a->cells ? 0
                             : i       ? (double)a->cells[before * n + j]
                                       : ref_state(&a->state, row, n + j);
                dh[j] += (double)reads(a->dy)[at * a->lddy + a->at + j];
                ref_cell_back(a, at, j, old, &dh[j], &dc[j]);
            }
            for (size_t j = 0; !padding && j < n; j++)
                for (size_t k = 0; k < columns; k++)
                    dh[j] += (double)a->u[j * columns + k] *
                             (double)gates[RECUR_GATES * n - columns + k];
        }
    }
    free(dh);
}

/* The share of step t in a column's answer. */
static double ref_pool_share(const real *x, size_t ld, size_t t, size_t length, uint32_t kind)
{
    if (t >= length)
        return 0;
    if (kind == POOL_MEAN)
        return 1 / (double)length;
    if (kind == POOL_LAST)
        return t + 1 == length;
    if (kind == POOL_FIRST)
        return t == 0;
    for (size_t i = 0; i < length; i++)
        if (x[i * ld] > x[t * ld] || (i < t && x[i * ld] >= x[t * ld]))
            return 0;
    return 1;
}

static void ref_pool(const struct op_pool *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t j = 0; j < a->width; j++) {
            const real *x = reads(a->x) + r * a->steps * a->ldx + j;
            double sum = 0;
            for (size_t t = 0; t < a->steps; t++)
                sum += (double)x[t * a->ldx] *
                       ref_pool_share(x, a->ldx, t, (size_t)a->length[r], a->kind);
            writes(a->y)[r * a->ldy + j] = (real)sum;
        }
}

static void ref_pool_back(const struct op_pool_back *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t j = 0; j < a->width; j++) {
            const real *x = reads(a->x) + r * a->steps * a->ldx + j;
            double dy = (double)reads(a->dy)[r * a->lddy + j];
            for (size_t t = 0; t < a->steps; t++) {
                real *dx = writes(a->dx) + (r * a->steps + t) * a->lddx + j;
                double d = dy * ref_pool_share(x, a->ldx, t, (size_t)a->length[r], a->kind);
                *dx = (real)(d + (a->add_dx ? (double)*dx : 0));
            }
        }
}

#endif
