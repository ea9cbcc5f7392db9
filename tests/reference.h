/* reference.h - a plain reference of every operation in double, to compare machines with. Each
 * function has the arguments of its operation; activations are real. */
#ifndef DNN_TESTS_REFERENCE_H
#define DNN_TESTS_REFERENCE_H

#include <math.h>
#include <string.h>

#include "backend/order.h"

static const real *reads(struct act a) { return (const real *)a.at; }
static real *writes(struct act a) { return (real *)a.at; }

static uint64_t valid_rows(const struct step *now, uint64_t count, uint32_t rows, uint32_t micro)
{
    uint64_t begin = now->row0 + (uint64_t)micro * rows;
    return begin >= count ? 0 : count - begin < rows ? count - begin : rows;
}

static double ref_act(double x, uint32_t kind, double slope)
{
    switch (kind) {
    case ACT_RELU: return x > 0 ? x : 0;
    case ACT_LEAKY_RELU: return x > 0 ? x : slope * x;
    case ACT_GELU: return 0.5 * x * (1 + erf(x / sqrt(2)));
    case ACT_SILU: return x / (1 + exp(-x));
    case ACT_ELU: return x > 0 ? x : slope * (exp(x) - 1);
    case ACT_SELU: return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (exp(x) - 1));
    case ACT_TANH: return tanh(x);
    case ACT_SIGMOID: return 1 / (1 + exp(-x));
    case ACT_MISH: return x * tanh(log1p(exp(x)));
    default: return x;
    }
}

/* By x, with a formula of its own: a central difference would not reach the gate. */
static double ref_slope(double x, uint32_t kind, double slope)
{
    double s = 1 / (1 + exp(-x)), t = tanh(log1p(exp(x)));
    switch (kind) {
    case ACT_RELU: return x > 0;
    case ACT_LEAKY_RELU: return x > 0 ? 1 : slope;
    case ACT_GELU: return 0.5 * (1 + erf(x / sqrt(2))) + x * exp(-x * x / 2) / sqrt(2 * M_PI);
    case ACT_SILU: return s + x * s * (1 - s);
    case ACT_ELU: return x > 0 ? 1 : slope * exp(x);
    case ACT_SELU: return 1.0507009873554805 * (x > 0 ? 1 : 1.6732632423543772 * exp(x));
    case ACT_TANH: return 1 - tanh(x) * tanh(x);
    case ACT_SIGMOID: return s * (1 - s);
    case ACT_MISH: return t + x * (1 - t * t) * s;
    default: return 1;
    }
}

/* By y, where y alone is kept. */
static double ref_slope_y(double y, uint32_t kind, double slope)
{
    switch (kind) {
    case ACT_RELU: return y > 0;
    case ACT_LEAKY_RELU: return y < 0 ? slope : 1;
    case ACT_ELU: return y > 0 ? 1 : y + slope;
    case ACT_SELU: return y > 0 ? 1.0507009873554805 : y + 1.0507009873554805 * 1.6732632423543772;
    case ACT_TANH: return 1 - y * y;
    case ACT_SIGMOID: return y * (1 - y);
    default: return 1;
    }
}

static void ref_record(const struct op_gather *a, size_t r, const unsigned char *record)
{
    const struct source *f = a->from;
    const struct rowfmt *format = &f->rows.format;
    uint32_t indicators = f->features ? f->features->indicator_count : 0;
    real *x = writes(a->x) + r * a->ld;
    memset(x, 0, (format->numbers + indicators) * sizeof *x);
    if (format->categories)
        memset(a->ids + r * format->categories, 0, 4 * format->categories);
    for (uint32_t k = 0; record && k < format->numbers; k++) {
        float value;
        memcpy(&value, record + 4 * k, 4);
        x[k] = (real)value;
    }
    for (uint32_t k = 0; record && k < indicators; k++) {
        uint32_t bit = f->features->indicators[k];
        x[format->numbers + k] = (real)(record[format->at_missing + bit / 8] >> bit % 8 & 1);
    }
    for (uint32_t k = 0; record && k < format->categories; k++)
        memcpy(&a->ids[r * format->categories + k], record + format->at_category + 4 * k, 4);
}

/* record NULL: none */
static void ref_target(const struct op_gather *a, size_t r, const unsigned char *record)
{
    const struct source *f = a->from;
    const struct rowfmt *format = &f->rows.format;
    int32_t label;
    float value, weight;
    a->target[r] = a->weight[r] = 0;
    if (!record)
        return;
    memcpy(&label, record + format->at_target, 4);
    memcpy(&value, record + format->at_target, 4);
    memcpy(&weight, record + format->at_weight, 4);
    if (f->classes ? label < 0 : isnan(value))
        return;
    a->target[r] = f->classes ? (real)label : (real)value;
    a->weight[r] = (real)(weight * (f->classes && f->class_weight ? f->class_weight[label] : 1));
}

static void ref_gather_view(const struct op_gather *a, size_t r, uint32_t view)
{
    const struct source *f = a->from;
    uint64_t at = a->now->row0 + (uint64_t)a->micro * a->rows + r;
    const unsigned char *record = NULL;
    if (at < f->count && !(a->whole && at - a->now->row0 >= a->whole)) {
        if (f->shuffle)
            at = rng_permute(a->now->seed, a->now->epoch, rng_order(a->now->model, view),
                             (uint32_t)f->count, (uint32_t)at);
        record = rows_at(&f->rows, f->index ? f->index[at] : at);
    }
    ref_record(a, r * a->steps + view, record);
    ref_target(a, r * a->steps + view, record);
}

static void ref_gather(const struct op_gather *a)
{
    const struct source *f = a->from;
    uint32_t steps = a->steps > 1 ? a->steps : 1;
    for (size_t i = 0; a->views && i < (size_t)a->rows * steps; i++)
        ref_gather_view(a, i / steps, (uint32_t)(i % steps));
    for (size_t r = 0; r < a->rows && !a->views; r++) {
        uint64_t at = a->now->row0 + (uint64_t)a->micro * a->rows + r;
        bool there = at < f->count && !(a->whole && at - a->now->row0 >= a->whole);
        const unsigned char *last = NULL;
        int32_t length = 0;
        if (there && f->shuffle)
            at = order_place(f, a->now, 0, (uint32_t)at);
        for (uint32_t t = 0; t < steps; t++) {
            uint64_t i = f->index && there ? f->index[at * (steps > 1 ? f->steps : 1) + t] : at;
            const unsigned char *record = there && i != SOURCE_NONE ? rows_at(&f->rows, i) : NULL;
            ref_record(a, r * steps + t, record);
            if (a->each)
                ref_target(a, r * steps + t, record);
            last = record ? record : last;
            length += record != NULL;
        }
        if (!a->each)
            ref_target(a, r, last);
        if (steps > 1)
            a->length[r] = length;
    }
}

static void ref_onehot(const struct op_onehot *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t k = 0; k < a->column_count; k++)
            for (uint32_t i = 0; i < a->columns[k].count; i++)
                writes(a->x)[r * a->ld + a->columns[k].at + i] =
                    a->ids[r * a->ids_ld + a->columns[k].id] == (int32_t)i ? 1 : 0;
}

static void ref_embed(const struct op_embed *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t k = 0; k < a->column_count; k++) {
            const struct embed_column *c = &a->columns[k];
            for (uint32_t i = 0; i < c->dim; i++)
                writes(a->x)[r * a->ld + c->at + i] =
                    a->params[c->table + (size_t)a->ids[r * a->ids_ld + c->id] * c->dim + i];
        }
}

static void ref_embed_back(const struct op_embed_back *a)
{
    for (uint32_t k = 0; k < a->column_count; k++) {
        const struct embed_column *c = &a->columns[k];
        for (uint32_t id = 0; id < c->count; id++)
            for (uint32_t i = 0; i < c->dim; i++) {
                real *to = &a->grads[c->table + (size_t)id * c->dim + i];
                double sum = a->more ? (double)*to : 0;
                for (size_t r = 0; r < a->rows; r++)
                    if (a->ids[r * a->ids_ld + c->id] == (int32_t)id)
                        sum += (double)reads(a->dx)[r * a->ld + c->at + i];
                *to = (real)sum;
            }
    }
}

/* Whether the one-hot input of row r that stands at row i of w is 1. */
static bool ref_has_id(const struct onehot_inputs *onehot, size_t r, size_t i)
{
    for (uint32_t k = 0; k < onehot->column_count; k++) {
        const struct onehot_column *c = &onehot->columns[k];
        if (i >= c->at && i < c->at + c->count)
            return onehot->ids[r * onehot->ids_ld + c->id] == (int32_t)(i - c->at);
    }
    return false;
}

static void ref_dense(const struct op_dense *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t j = 0; j < a->out; j++) {
            double sum = a->b ? (double)a->b[j] : 0;
            for (size_t k = 0; k < a->in; k++)
                sum += (double)reads(a->x)[r * a->ldx + k] * (double)a->w[k * a->out + j];
            for (size_t k = a->in; k < a->in + a->onehot.width; k++)
                sum += ref_has_id(&a->onehot, r, k) ? (double)a->w[k * a->out + j] : 0;
            if (a->z.at)
                writes(a->z)[r * a->ldz + j] = (real)sum;
            writes(a->y)[r * a->ldy + j] = (real)ref_act(sum, a->act, a->slope);
        }
}

static void ref_dense_back(const struct op_dense_back *a)
{
    bool z = ACT_NEEDS_Z(a->act);
    for (size_t r = 0; r < a->rows; r++)
        for (size_t j = 0; j < a->out; j++) {
            real *d = &writes(a->dy)[r * a->lddy + j];
            *d = (real)((double)*d * (z ? ref_slope((double)reads(a->z)[r * a->ldz + j], a->act,
                                                    a->slope)
                                      : ref_slope_y((double)reads(a->y)[r * a->ldy + j], a->act,
                                                    a->slope)));
        }
    uint32_t shards = a->rows / 64 < 1 ? 1 : a->rows / 64 > 16 ? 16 : a->rows / 64;
    size_t rows_of_w = a->in + a->onehot.width;
    for (size_t i = 0; i < rows_of_w * a->out + a->out; i++)
        for (uint32_t s = 1; s < shards && !a->more; s++)
            a->dw[s * a->shard_stride + i] = 0; /* all of it goes to shard 0: only the sum counts */
    for (size_t j = 0; j < a->out; j++) {
        double bias = a->more ? (double)a->db[j] : 0;
        for (size_t r = 0; r < a->rows; r++)
            bias += (double)reads(a->dy)[r * a->lddy + j];
        a->db[j] = (real)bias;
        for (size_t i = 0; i < rows_of_w; i++) {
            double sum = a->more ? (double)a->dw[i * a->out + j] : 0;
            for (size_t r = 0; r < a->rows; r++)
                sum += (double)reads(a->dy)[r * a->lddy + j] *
                    (i < a->in ? (double)reads(a->x)[r * a->ldx + i]
                               : ref_has_id(&a->onehot, r, i));
            a->dw[i * a->out + j] = (real)sum;
        }
    }
    for (size_t r = 0; r < a->rows && a->dx.at; r++)
        for (size_t i = 0; i < a->in; i++) {
            real *dx = &writes(a->dx)[r * a->lddx + i];
            double sum = a->add_dx ? (double)*dx : 0;
            for (size_t j = 0; j < a->out; j++)
                sum += (double)reads(a->dy)[r * a->lddy + j] * (double)a->w[i * a->out + j];
            *dx = (real)sum;
        }
}

static void ref_act_op(const struct op_act *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t i = 0; i < a->width; i++)
            writes(a->y)[r * a->ldy + i] = (real)ref_act((double)reads(a->x)[r * a->ldx + i],
                                                         a->act, a->slope);
}

static void ref_act_back(const struct op_act_back *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t i = 0; i < a->width; i++) {
            real *dx = &writes(a->dx)[r * a->lddx + i];
            double d = (double)reads(a->dy)[r * a->lddy + i]
                * ref_slope((double)reads(a->x)[r * a->ldx + i], a->act, a->slope);
            *dx = (real)((a->add_dx ? (double)*dx : 0) + d);
        }
}

static void ref_add(const struct op_add *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t i = 0; i < a->width; i++)
            writes(a->y)[r * a->ldy + i] =
                (real)((double)reads(a->a)[r * a->lda + i] +
                       (a->b.at ? (double)reads(a->b)[r * a->ldb + i] : 0));
}

static void ref_bnorm_stats(const struct op_bnorm_stats *a)
{
    size_t n = valid_rows(a->now, a->from->count, a->rows, a->micro);
    for (size_t j = 0; j < a->width; j++) {
        const real *from = a->micro ? a->moved : a->running;
        double mean = (double)from[j], variance = (double)from[a->width + j];
        double m = 0, v = 0;
        for (size_t r = 0; r < n; r++)
            m += (double)reads(a->x)[r * a->ld + j] / (double)n;
        for (size_t r = 0; r < n; r++)
            v += pow((double)reads(a->x)[r * a->ld + j] - m, 2) / (double)n;
        if (n < 2) {
            m = mean;
            v = variance;
        } else {
            mean = (1 - a->momentum) * mean + a->momentum * m;
            variance = (1 - a->momentum) * variance + a->momentum * v * (double)n / ((double)n - 1);
        }
        a->moved[j] = (real)mean;
        a->moved[a->width + j] = (real)variance;
        a->mean[j] = (real)m;
        a->inv[j] = (real)(1 / sqrt(v + a->epsilon));
    }
}

static void ref_bnorm(const struct op_bnorm *a)
{
    for (size_t r = 0; r < a->rows; r++)
        for (size_t j = 0; j < a->width; j++) {
            double mean = (double)(a->mean ? a->mean[j] : a->running[j]);
            double inv = a->mean ? (double)a->inv[j] : 1 / sqrt((double)a->running[a->width + j]
                                                                + a->epsilon);
            double x = (double)reads(a->x)[r * a->ldx + j];
            writes(a->y)[r * a->ldy + j] = (real)((x - mean) * inv * (double)a->gamma[j]
                                                  + (double)a->beta[j]);
        }
}

static void ref_bnorm_sums(const struct op_bnorm_sums *a)
{
    size_t n = valid_rows(a->now, a->from->count, a->rows, a->micro);
    for (size_t j = 0; j < a->width; j++) {
        double sum = 0, product = 0;
        for (size_t r = 0; r < n; r++) {
            double d = (double)reads(a->dy)[r * a->lddy + j];
            sum += d;
            product += d * ((double)reads(a->x)[r * a->ldx + j] - (double)a->mean[j])
                * (double)a->inv[j];
        }
        a->sums[j] = (real)sum;
        a->sums[a->width + j] = (real)product;
        a->dgamma[j] = (real)(product + (a->more ? (double)a->dgamma[j] : 0));
        a->dbeta[j] = (real)(sum + (a->more ? (double)a->dbeta[j] : 0));
    }
}

static void ref_bnorm_back(const struct op_bnorm_back *a)
{
    size_t n = valid_rows(a->now, a->from->count, a->rows, a->micro);
    for (size_t r = 0; r < a->rows; r++)
        for (size_t j = 0; j < a->width; j++) {
            real *dx = &writes(a->dx)[r * a->lddx + j];
            double inv = (double)a->inv[j],
                hat = ((double)reads(a->x)[r * a->ldx + j] - (double)a->mean[j]) * inv;
            double d = (double)reads(a->dy)[r * a->lddy + j];
            if (n > 1)
                d -= ((double)a->sums[j] + hat * (double)a->sums[a->width + j]) / (double)n;
            d = r < n ? d * (double)a->gamma[j] * inv : 0;
            *dx = (real)((a->add_dx ? (double)*dx : 0) + d);
        }
}

static void ref_lnorm(const struct op_lnorm *a)
{
    for (size_t r = 0; r < a->rows; r++) {
        const real *x = reads(a->x) + r * a->ldx;
        double m = 0, v = 0;
        for (size_t j = 0; j < a->width; j++)
            m += (double)x[j] / a->width;
        for (size_t j = 0; j < a->width; j++)
            v += ((double)x[j] - m) * ((double)x[j] - m) / a->width;
        double inv = 1 / sqrt(v + a->epsilon);
        for (size_t j = 0; j < a->width; j++)
            writes(a->y)[r * a->ldy + j] = (real)(((double)x[j] - m) * inv * (double)a->gamma[j]
                                                  + (double)a->beta[j]);
        if (a->mean) {
            a->mean[r] = (real)m;
            a->inv[r] = (real)inv;
        }
    }
}

static void ref_lnorm_back(const struct op_lnorm_back *a)
{
    uint32_t shards = a->rows / 64 < 1 ? 1 : a->rows / 64 > 16 ? 16 : a->rows / 64;
    for (size_t j = 0; j < a->width; j++) {
        double dgamma = a->more ? (double)a->dgamma[j] : 0, dbeta = a->more ? (double)a->dbeta[j]
            : 0;
        for (size_t r = 0; r < a->rows; r++) {
            double hat = ((double)reads(a->x)[r * a->ldx + j] - (double)a->mean[r])
                * (double)a->inv[r];
            dgamma += (double)reads(a->dy)[r * a->lddy + j] * hat;
            dbeta += (double)reads(a->dy)[r * a->lddy + j];
        }
        for (uint32_t s = 1; s < shards && !a->more; s++)
            a->dgamma[s * a->shard_stride + j] = a->dbeta[s * a->shard_stride + j] = 0;
        a->dgamma[j] = (real)dgamma;
        a->dbeta[j] = (real)dbeta;
    }
    for (size_t r = 0; r < a->rows; r++) {
        const real *x = reads(a->x) + r * a->ldx, *dy = reads(a->dy) + r * a->lddy;
        double mean = (double)a->mean[r], inv = (double)a->inv[r], mg = 0, mgh = 0;
        for (size_t j = 0; j < a->width; j++) {
            double g = (double)dy[j] * (double)a->gamma[j];
            mg += g / a->width;
            mgh += g * ((double)x[j] - mean) * inv / a->width;
        }
        for (size_t j = 0; j < a->width; j++) {
            real *dx = &writes(a->dx)[r * a->lddx + j];
            double d = inv * ((double)dy[j] * (double)a->gamma[j] - mg - ((double)x[j] - mean)
                              * inv * mgh);
            *dx = (real)((a->add_dx ? (double)*dx : 0) + d);
        }
    }
}

static void ref_parts(double *part_loss, double *part_weight, uint32_t rows, bool more, double loss,
                      double weight)
{
    uint32_t shards = rows / 64 < 1 ? 1 : rows / 64 > 16 ? 16 : rows / 64;
    for (uint32_t s = 0; s < shards && !more; s++)
        part_loss[s] = part_weight[s] = 0;
    part_loss[0] += loss;
    part_weight[0] += weight;
}

static void ref_loss_class(const struct op_loss_class *a)
{
    double loss = 0, weight_sum = 0;
    for (size_t r = 0; r < a->rows; r++) {
        const real *z = reads(a->logits) + r * a->ld;
        uint32_t t = (uint32_t)a->target[r];
        double most = -INFINITY, sum = 0, rest = 0, w = (double)a->weight[r];
        for (uint32_t k = 0; k < a->classes; k++)
            most = fmax(most, (double)z[k]);
        for (uint32_t k = 0; k < a->classes; k++) {
            sum += exp((double)z[k] - most);
            rest += k == t ? 0 : exp((double)z[k] - most);
        }
        double logp = (double)z[t] - most - log(sum), p = exp(logp), q = rest / sum, slope = -1;
        if (a->kind == CLASS_FOCAL) {
            loss += -w * pow(q, a->gamma) * logp;
            slope = q > 0 ? -pow(q, a->gamma) + a->gamma * p * pow(q, a->gamma - 1) * logp : 0;
        }
        for (uint32_t k = 0; k < a->classes; k++) {
            double target = (k == t ? 1 - a->smoothing : 0) + a->smoothing / a->classes;
            if (a->kind == CLASS_FOCAL)
                target = k == t;
            else
                loss -= w * target * ((double)z[k] - most - log(sum));
            if (a->dlogits.at)
                writes(a->dlogits)[r * a->ldd + k] = (real)(-slope * w
                                                            * (exp((double)z[k] - most) / sum
                                                               - target));
        }
        weight_sum += w;
    }
    ref_parts(a->part_loss, a->part_weight, a->rows, a->more, loss, weight_sum);
}

static void ref_loss_value(const struct op_loss_value *a)
{
    double loss = 0, weight_sum = 0;
    for (size_t r = 0; r < a->rows; r++) {
        double d = (double)reads(a->y)[r * a->ld] - (double)a->target[r], w = (double)a->weight[r],
            l = d * d, slope = 2 * d;
        if (a->kind == VALUE_MAE) {
            l = fabs(d);
            slope = (d > 0) - (d < 0);
        } else if (a->kind == VALUE_HUBER) {
            l = fabs(d) <= a->delta ? 0.5 * d * d : a->delta * (fabs(d) - a->delta / 2);
            slope = fmax(-a->delta, fmin(a->delta, d));
        } else if (a->kind == VALUE_QUANTILE) {
            l = fmax(a->q * -d, (1 - a->q) * d);
            slope = d < 0 ? -a->q : d > 0 ? 1 - a->q : 0;
        }
        loss += w * l;
        weight_sum += w;
        if (a->dy.at)
            writes(a->dy)[r * a->ldd] = (real)(w * slope);
    }
    ref_parts(a->part_loss, a->part_weight, a->rows, a->more, loss, weight_sum);
}

#endif
