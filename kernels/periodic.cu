/* periodic.cu - periodic numbers (op_periodic): a lane has a number of a row on the way forward; on
 * the way back a block has a number, a lane one of its waves, which it adds up row by row. */
#include "form.cuh"

enum { PERIODIC_LANES = 256 };

DEVICE float wave_at(const struct periodic *p, size_t k, float x, float later)
{
    float turns = p->frequency[k] * x + p->phase[k] * 0.15915494309189534f - later;
    return cosf(6.283185307179586f * (turns - rintf(turns)));
}

KERNEL_BOUNDED(PERIODIC_LANES, periodic_forward)(struct op_periodic a)
{
    size_t at = (size_t)block_x() * PERIODIC_LANES + thread_id();
    if (at >= (size_t)a.rows * a.columns)
        return;
    uint32_t i = (uint32_t)(at % a.columns);
    float *x = (float *)a.x.at + at / a.columns * a.ld;
    float sum[PERIODIC_OUTPUTS], v = x[a.column[i].number];
    for (int j = 0; j < PERIODIC_OUTPUTS; j++)
        sum[j] = a.p.bias[(size_t)i * PERIODIC_OUTPUTS + j];
    for (int k = 0; k < PERIODIC_WAVES; k++) {
        size_t w = (size_t)i * PERIODIC_WAVES + k;
        float h = wave_at(&a.p, w, v, 0);
        for (int j = 0; j < PERIODIC_OUTPUTS; j++)
            sum[j] = fmaf(h, a.p.weight[w * PERIODIC_OUTPUTS + j], sum[j]);
    }
    for (int j = 0; j < PERIODIC_OUTPUTS; j++)
        x[a.column[i].at + j] = sum[j];
}

/* Lane k < PERIODIC_WAVES has wave k; the lanes behind them a bias each. */
KERNEL_BOUNDED(WARP, periodic_backward)(struct op_periodic_back a)
{
    uint32_t i = block_x(), k = thread_id(), j = k - PERIODIC_WAVES;
    struct periodic_column c = a.column[i];
    const float *x = (const float *)a.x.at, *dx = (const float *)a.dx.at;
    size_t w = (size_t)i * PERIODIC_WAVES + k, b = (size_t)i * PERIODIC_OUTPUTS + j;
    if (k >= PERIODIC_WAVES + PERIODIC_OUTPUTS)
        return;
    if (k >= PERIODIC_WAVES) {
        float sum = a.more ? a.d.bias[b] : 0;
        for (size_t row = 0; row < a.rows; row++)
            sum += dx[row * a.ld + c.at + j];
        a.d.bias[b] = sum;
        return;
    }
    float frequency = a.more ? a.d.frequency[w] : 0, phase = a.more ? a.d.phase[w] : 0;
    float weight[PERIODIC_OUTPUTS];
    for (int o = 0; o < PERIODIC_OUTPUTS; o++)
        weight[o] = a.more ? a.d.weight[w * PERIODIC_OUTPUTS + o] : 0;
    for (size_t row = 0; row < a.rows; row++) {
        const float *dy = dx + row * a.ld + c.at;
        float v = x[row * a.ld + c.number], dh = 0, h = wave_at(&a.p, w, v, 0);
        for (int o = 0; o < PERIODIC_OUTPUTS; o++) {
            dh = fmaf(dy[o], a.p.weight[w * PERIODIC_OUTPUTS + o], dh);
            weight[o] = fmaf(dy[o], h, weight[o]);
        }
        dh *= wave_at(&a.p, w, v, 0.25f);
        phase -= dh;
        frequency -= dh * 6.2831853071795865f * v;
    }
    a.d.frequency[w] = frequency;
    a.d.phase[w] = phase;
    for (int o = 0; o < PERIODIC_OUTPUTS; o++)
        a.d.weight[w * PERIODIC_OUTPUTS + o] = weight[o];
}

void cuda_periodic(struct machine *m, const struct op_periodic *a)
{
    size_t pairs = (size_t)a->rows * a->columns;
    if (pairs)
        LAUNCH(periodic_forward, dim3((unsigned)((pairs + PERIODIC_LANES - 1) / PERIODIC_LANES)),
               dim3(PERIODIC_LANES), 0, m, *a);
}

void cuda_periodic_back(struct machine *m, const struct op_periodic_back *a)
{
    if (a->columns)
        LAUNCH(periodic_backward, dim3(a->columns), dim3(WARP), 0, m, *a);
}
