/* cpu_loss.c - losses: the weighted sum in double, one part a shard, and its gradient. */
#include <math.h>
#include <string.h>

#include "backend/cpu/cpu.h"

static void put_parts(double *part_loss, double *part_weight, const struct slice *s, bool more,
                      double loss, double weight)
{
    if (s->first && !more)
        part_loss[s->shard] = part_weight[s->shard] = 0;
    part_loss[s->shard] += loss;
    part_weight[s->shard] += weight;
}

void cpu_loss_class(const struct op_loss_class *a, const struct slice *s)
{
    /* else the exponentials are computed twice */
    bool fits = a->classes <= CPU_SCRATCH / sizeof(real) / LANES;
    struct softmax x = {
        .dlogits = a->dlogits.at ? act_real(a->dlogits) + (size_t)s->row0 * a->ldd : NULL,
        .logits = act_read(a->logits) + (size_t)s->row0 * a->ld,
        .target = a->target + s->row0,
        .weight = a->weight + s->row0,
        .room = fits ? s->scratch : NULL,
        .rows = s->rows,
        .classes = a->classes,
        .ld = a->ld,
        .ldd = a->ldd,
        .kind = a->kind,
        .smoothing = a->smoothing,
        .gamma = a->gamma,
    };
    s->m->vec->softmax(&x);
    put_parts(a->part_loss, a->part_weight, s, a->more != 0, x.loss, x.weight_sum);
}

static double f1_value(double right, double all)
{
    return (2 * right + 1) / (all + 1);
}

unsigned cpu_loss_f1_tiles(const struct op_loss_f1 *a)
{
    (void)a;
    return 1;
}

/* The softmax of each row, stored in place of its gradient; 0 if the row weighs nothing. */
static void f1_probabilities(const struct op_loss_f1 *a, const struct slice *s)
{
    enum { ROWS = 64 };
    real none[ROWS], one[ROWS];
    for (int i = 0; i < ROWS; i++) {
        none[i] = -1;
        one[i] = 1;
    }
    for (size_t row = 0; row < a->rows; row += ROWS) {
        struct softmax x = {.dlogits = act_real(a->dlogits) + row * a->ldd,
                            .logits = act_read(a->logits) + row * a->ld,
                            .target = none,
                            .weight = one,
                            .room = s->scratch,
                            .rows = a->rows - row < ROWS ? (uint32_t)(a->rows - row) : ROWS,
                            .classes = a->classes,
                            .ld = a->ld,
                            .ldd = a->ldd,
                            .kind = CLASS_CROSS_ENTROPY};
        s->m->vec->softmax(&x);
    }
    for (size_t row = 0; row < a->rows; row++)
        if (!(a->weight[row] > 0))
            memset(act_real(a->dlogits) + row * a->ldd, 0, a->classes * sizeof(real));
}

void cpu_loss_f1(const struct op_loss_f1 *a, const struct slice *s)
{
    double right[F1_CLASSES] = {0}, all[F1_CLASSES] = {0}, weight = 0, loss = 0;
    const double count = __builtin_popcountll(a->chosen);
    f1_probabilities(a, s);
    for (size_t row = 0; row < a->rows; row++) {
        const real *p = act_read(a->dlogits) + row * a->ldd;
        const double w = (double)a->weight[row];
        weight += w;
        for (uint32_t c = 0; c < a->classes; c++) {
            double t = a->target[row] == (real)c;
            right[c] += t * w * (double)p[c];
            all[c] += w * (t + (double)p[c]);
        }
    }
    for (uint32_t c = 0; c < a->classes; c++)
        if (a->chosen >> c & 1)
            loss += weight * (1 - f1_value(right[c], all[c])) / count;
    /* with g = dloss/dp: dlogits_c = p_c (g_c - sum_k g_k p_k) */
    for (size_t row = 0; row < a->rows; row++) {
        real *p = act_real(a->dlogits) + row * a->ldd;
        double g[F1_CLASSES], mean = 0;
        for (uint32_t c = 0; c < a->classes; c++) {
            double t = a->target[row] == (real)c, f = f1_value(right[c], all[c]);
            g[c] = a->chosen >> c & 1
                       ? (f - 2 * t) / (all[c] + 1) * weight * (double)a->weight[row] / count : 0;
            mean += g[c] * (double)p[c];
        }
        for (uint32_t c = 0; c < a->classes; c++)
            p[c] = (real)((double)p[c] * (g[c] - mean));
    }
    for (uint32_t i = 0; i < a->shards && !a->more; i++)
        a->part_loss[i] = a->part_weight[i] = 0;
    a->part_loss[0] += loss;
    a->part_weight[0] += weight;
}

/* Loss and derivative for d = y - t. */
static double value_loss(const struct op_loss_value *a, double d, double *slope)
{
    switch (a->kind) {
    case VALUE_MAE:
        *slope = d > 0 ? 1 : d < 0 ? -1 : d * 0; /* NaN stays NaN */
        return fabs(d);
    case VALUE_HUBER:
        if (fabs(d) > a->delta) {
            *slope = d > 0 ? a->delta : -a->delta;
            return a->delta * (fabs(d) - a->delta / 2);
        }
        *slope = d;
        return d * d / 2;
    case VALUE_QUANTILE: /* t above y costs q, below 1 - q */
        *slope = d < 0 ? -a->q : d > 0 ? 1 - a->q : d * 0;
        return d < 0 ? -a->q * d : (1 - a->q) * d;
    default:
        *slope = 2 * d;
        return d * d;
    }
}

void cpu_loss_value(const struct op_loss_value *a, const struct slice *s)
{
    double loss = 0, weight_sum = 0;
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        double slope = 0, weight = (double)a->weight[row];
        if (weight != 0) {
            double d = (double)act_read(a->y)[row * a->ld] - (double)a->target[row];
            loss += weight * value_loss(a, d, &slope);
            weight_sum += weight;
        }
        if (a->dy.at)
            act_real(a->dy)[row * a->ldd] = (real)(weight * slope);
    }
    put_parts(a->part_loss, a->part_weight, s, a->more != 0, loss, weight_sum);
}

/* --- what becomes of answers --- */

/* of row `row`, times its weight */
static double class_measure(const struct op_score *a, const struct cpu *m, size_t row)
{
    const struct answers *to = a->to;
    struct softmax x = {.logits = act_read(a->logits) + row * a->ld,
                        .target = a->target + row,
                        .weight = a->weight + row,
                        .rows = 1,
                        .classes = a->outputs,
                        .ld = a->ld,
                        .kind = to->kind,
                        .smoothing = to->smoothing,
                        .gamma = to->gamma};
    m->vec->softmax(&x);
    double most = to->most * (double)a->weight[row];
    return x.loss > most ? most : x.loss;
}

static double value_measure(const struct op_score *a, size_t row)
{
    const struct answers *to = a->to;
    struct op_loss_value of = {.kind = to->kind, .delta = to->delta, .q = to->q};
    double slope, d = (double)act_read(a->logits)[row * a->ld] - (double)a->target[row];
    double loss = value_loss(&of, d, &slope);
    return (double)a->weight[row] * (loss > to->most ? to->most : loss);
}

static double right_measure(const struct op_score *a, size_t row)
{
    const real *logits = act_read(a->logits) + row * a->ld;
    uint32_t best = a->outputs == 2 && logits[1] >= logits[0];
    for (uint32_t k = 1; k < a->outputs && a->outputs != 2; k++)
        if (logits[k] > logits[best])
            best = k;
    return best == (uint32_t)a->target[row] ? (double)a->weight[row] : 0;
}

void cpu_score(const struct op_score *a, const struct slice *s)
{
    struct answers *to = a->to;
    uint64_t at = a->now->row0;
    for (size_t row = 0; row < a->rows; row++, at++) {
        if (at < to->first || at >= to->end)
            continue;
        const real *logits = act_read(a->logits) + row * a->ld;
        for (uint32_t k = 0; k < a->outputs && to->kept; k++)
            a->kept[(at - to->first) * a->outputs + k] = logits[k];
        if (to->measure == MEASURE_NONE || !(a->weight[row] > 0))
            continue;
        to->sum += to->measure == MEASURE_CLASS   ? class_measure(a, s->m, row)
                   : to->measure == MEASURE_VALUE ? value_measure(a, row)
                                                  : right_measure(a, row);
        to->weight += (double)a->weight[row];
    }
    a->now->row0 += a->rows;
}
