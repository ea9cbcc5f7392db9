/* reference_conv.h - the references of convolution (reference.h). */
#ifndef DNN_TESTS_REFERENCE_CONV_H
#define DNN_TESTS_REFERENCE_CONV_H

#include "reference.h"

/* The step of x that tap k of step t meets; -1: none. */
static int64_t ref_conv_at(const struct convolution *c, size_t t, size_t k, int32_t length)
{
    int64_t at = (int64_t)(t * c->stride + k * c->dilation) - c->before;
    return at < 0 || at >= length || (int64_t)(t * c->stride) >= length ? -1 : at;
}

static void ref_conv(const struct op_conv *a)
{
    const struct convolution *c = &a->c;
    for (size_t r = 0; r < a->rows; r++)
        for (size_t t = 0; t < c->steps; t++)
            for (size_t o = 0; o < c->out; o++) {
                bool there = (int64_t)(t * c->stride) < a->length[r];
                double sum = there ? (double)a->b[o] : 0;
                for (size_t k = 0; k < c->kernel; k++) {
                    int64_t at = ref_conv_at(c, t, k, a->length[r]);
                    for (size_t i = 0; i < a->in && at >= 0; i++)
                        sum += (double)reads(a->x)[(r * a->steps + (size_t)at) * a->in + i] *
                               (double)a->w[(k * a->in + i) * c->out + o];
                }
                writes(a->y)[(r * c->steps + t) * c->out + o] = (real)sum;
            }
}

static void ref_conv_back(const struct op_conv_back *a)
{
    const struct convolution *c = &a->c;
    const size_t weights = (size_t)c->kernel * a->in * c->out;
    for (uint32_t s = 0; s < a->shards && !a->more; s++)
        for (size_t i = 0; i < weights + c->out; i++)
            (i < weights ? a->dw + i : a->db + i - weights)[s * a->shard_stride] = 0;
    for (size_t i = 0; i < (size_t)a->rows * a->steps * a->in && a->dx.at && !a->add_dx; i++)
        writes(a->dx)[i] = 0;
    for (size_t r = 0; r < a->rows; r++)
        for (size_t t = 0; t < c->steps && (int64_t)(t * c->stride) < a->length[r]; t++)
            for (size_t o = 0; o < c->out; o++) {
                real dz = reads(a->dy)[(r * c->steps + t) * c->out + o];
                a->db[o] += dz;
                for (size_t k = 0; k < c->kernel; k++) {
                    int64_t at = ref_conv_at(c, t, k, a->length[r]);
                    for (size_t i = 0; i < a->in && at >= 0; i++) {
                        size_t x = (r * a->steps + (size_t)at) * a->in + i;
                        size_t w = (k * a->in + i) * c->out + o;
                        a->dw[w] += dz * reads(a->x)[x];
                        if (a->dx.at)
                            writes(a->dx)[x] += dz * a->w[w];
                    }
                }
            }
}

static double ref_rocket_answer(const struct op_rocket *a, size_t row, uint32_t g, int64_t t)
{
    const struct rocket *of = &a->of;
    const uint8_t *three = of->three + 4 * (size_t)(g % ROCKET_KERNELS);
    double sum = 0;
    for (int64_t j = 0; j < ROCKET_TAPS; j++) {
        int64_t at = t + (j - ROCKET_TAPS / 2) * of->dilation[g / ROCKET_KERNELS];
        bool two = j == three[0] || j == three[1] || j == three[2];
        for (int i = 0; i < ROCKET_CHANNELS && at >= 0 && at < a->length[row]; i++) {
            double c = (double)of->channels[(size_t)g * ROCKET_CHANNELS + (size_t)i];
            if (c < 0)
                break;
            sum += (two ? 2 : -1) *
                   (double)reads(a->x)[(row * a->steps + (size_t)at) * a->width + (size_t)c];
        }
    }
    return sum;
}

static void ref_rocket(const struct op_rocket *a)
{
    const struct rocket *of = &a->of;
    for (size_t r = 0; r < a->rows; r++)
        for (uint32_t f = 0; f < ROCKET_FEATURES(of); f++) {
            uint32_t g = f / of->each, d = of->dilation[g / ROCKET_KERNELS];
            uint32_t length = (uint32_t)a->length[r];
            int64_t reach = rocket_padded(g % ROCKET_KERNELS, d, length) ? 0 : 4 * (int64_t)d;
            double above = 0, all = 0;
            for (int64_t t = reach; t < (int64_t)length - reach; t++, all++)
                above += ref_rocket_answer(a, r, g, t) > (double)of->bias[f];
            writes(a->y)[r * ROCKET_FEATURES(of) + f] = (real)(all > 0 ? above / all : 0);
        }
}

#endif
