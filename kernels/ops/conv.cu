/* conv.cu - convolution over the steps of sequences, and random features of it. A lane has one
 * number of what is written; its sums run over taps and columns, or over rows and steps, in their
 * order. */
#include "form.cuh"
#include "sheet.cuh"

enum { CONV_LANES = 128, AHEAD = 4 /* steps on their way */ };

KERNEL_BOUNDED(CONV_LANES, conv_forward)(struct op_conv a)
{
    size_t at = global_id(), line = (size_t)a.c.steps * a.c.out;
    if (at >= a.rows * line)
        return;
    size_t row = at / line, t = at % line / a.c.out, o = at % a.c.out;
    int64_t length = a.length[row], begin = (int64_t)(t * a.c.stride);
    float sum = begin < length ? (float)a.b[o] : 0.0f;
    for (uint32_t k = 0; k < a.c.kernel && begin < length; k++) {
        int64_t from = begin + (int64_t)k * a.c.dilation - a.c.before;
        if (from < 0 || from >= length)
            continue;
        size_t x = (row * a.steps + (size_t)from) * a.in;
        const float *w = (const float *)a.w + (size_t)k * a.in * a.c.out + o;
        for (uint32_t i = 0; i < a.in; i++)
            sum = fmaf(form_get(a.x, x + i), w[(size_t)i * a.c.out], sum);
    }
    form_put(a.y, at, sum);
}

KERNEL_BOUNDED(CONV_LANES, conv_inputs)(struct op_conv_back a)
{
    size_t at = global_id(), line = (size_t)a.steps * a.in;
    if (at >= a.rows * line)
        return;
    size_t row = at / line, i = at % a.in;
    int64_t t = (int64_t)(at % line / a.in), length = a.length[row];
    float dx = a.add_dx ? form_get(a.dx, at) : 0.0f;
    for (uint32_t k = 0; k < a.c.kernel && t < length; k++) {
        int64_t to = t + a.c.before - (int64_t)k * a.c.dilation;
        if (to < 0 || to % a.c.stride || to >= length)
            continue;
        size_t dy = (row * a.c.steps + (size_t)(to / a.c.stride)) * a.c.out;
        const float *w = (const float *)a.w + ((size_t)k * a.in + i) * a.c.out;
        for (uint32_t o = 0; o < a.c.out; o++)
            dx = fmaf(form_get(a.dy, dy + o), w[o], dx);
    }
    form_put(a.dx, at, dx);
}

/* A lane has a weight or a bias of a shard. */
KERNEL_BOUNDED(CONV_LANES, conv_weights)(struct op_conv_back a)
{
    size_t lane = global_id(), all = (size_t)a.c.kernel * a.in * a.c.out, each = all + a.c.out;
    if (lane >= each * a.shards)
        return;
    uint32_t shard = (uint32_t)(lane / each);
    size_t at = lane % each, o = at % a.c.out, i = at / a.c.out % a.in;
    bool bias = at >= all;
    float *to = (bias ? (float *)a.db + o : (float *)a.dw + at) + shard * a.shard_stride;
    float sum = a.more ? *to : 0.0f;
    int64_t shift = (int64_t)(at / a.c.out / a.in) * a.c.dilation - a.c.before;
    uint32_t end = part_begin(a.rows, a.shards, shard + 1);
    for (size_t row = part_begin(a.rows, a.shards, shard); row < end; row++) {
        int64_t length = a.length[row];
        for (int64_t first = 0; first * a.c.stride < length; first += AHEAD) {
            uint32_t dz[AHEAD], x[AHEAD];
            UNROLL
            for (int k = 0; k < AHEAD; k++) {
                int64_t begin = (first + k) * a.c.stride, from = begin + shift;
                size_t t = (size_t)(begin < length ? first + k : first);
                dz[k] = form_bits(a.dy, (row * a.c.steps + t) * a.c.out + o);
                t = from >= 0 && from < length ? (size_t)from : 0;
                x[k] = form_bits(a.x, (row * a.steps + t) * a.in + i);
            }
            UNROLL
            for (int k = 0; k < AHEAD; k++) {
                int64_t begin = (first + k) * a.c.stride, from = begin + shift;
                float d = form_number(a.dy.form, dz[k]);
                if (begin < length && bias)
                    sum += d;
                else if (begin < length && from >= 0 && from < length)
                    sum = fmaf(d, form_number(a.x.form, x[k]), sum);
            }
        }
    }
    *to = sum;
}

void cuda_conv(struct machine *m, const struct op_conv *a)
{
    LAUNCH_EACH(conv_forward, (size_t)a->rows * a->c.steps * a->c.out, CONV_LANES, m, *a);
}

void cuda_conv_back(struct machine *m, const struct op_conv_back *a)
{
    size_t weights = ((size_t)a->c.kernel * a->in + 1) * a->c.out * a->shards;
    size_t inputs = (size_t)a->rows * a->steps * a->in;
    if (!a->rows)
        return;
    LAUNCH_EACH(conv_weights, weights, CONV_LANES, m, *a);
    if (a->dx.at && inputs)
        LAUNCH_EACH(conv_inputs, inputs, CONV_LANES, m, *a);
}

/* A lane has a feature of a row. Sums are the CPU's, in its order. */
KERNEL_BOUNDED(CONV_LANES, rocket_features)(struct op_rocket a)
{
    size_t lane = (size_t)block_x() * CONV_LANES + thread_id(); /* a constant spills less */
    size_t features = ROCKET_FEATURES(&a.of);
    if (lane >= a.rows * features)
        return;
    size_t row = lane / features, f = lane % features, g = f / a.of.each;
    uint32_t length = (uint32_t)a.length[row], dilation = a.of.dilation[g / ROCKET_KERNELS];
    const uint8_t *three = a.of.three + g % ROCKET_KERNELS * 4;
    const float *channels = (const float *)a.of.channels + g * ROCKET_CHANNELS;
    int64_t reach = rocket_padded(g % ROCKET_KERNELS, dilation, length)
                        ? 0
                        : (int64_t)dilation * (ROCKET_TAPS / 2);
    uint32_t above = 0, all = 0;
    for (int64_t t = reach; t < (int64_t)length - reach; t++, all++) {
        float sum = 0, part[3] = {0, 0, 0};
        for (int j = 0; j < ROCKET_TAPS; j++) {
            int64_t at = t + (int64_t)(j - ROCKET_TAPS / 2) * dilation;
            float x = 0;
            for (int c = 0; c < ROCKET_CHANNELS && channels[c] >= 0 && at >= 0 && at < length; c++)
                x += form_get(a.x, (row * a.steps + (size_t)at) * a.width + (size_t)channels[c]);
            sum = j ? sum + x : x;
            for (int i = 0; i < 3; i++)
                if (three[i] == j)
                    part[i] = x;
        }
        float taps = part[0] + part[1] + part[2];
        above += taps + taps + taps - sum > (float)a.of.bias[f];
    }
    form_put(a.y, lane, all ? (float)above / (float)all : 0.0f);
}

void cuda_rocket(struct machine *m, const struct op_rocket *a)
{
    LAUNCH_EACH(rocket_features, (size_t)a->rows * ROCKET_FEATURES(&a->of), CONV_LANES, m, *a);
}
