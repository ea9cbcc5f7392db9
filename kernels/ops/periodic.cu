/* periodic.cu - periodic numbers (op_periodic): a lane has a number of a row on the way forward, a
 * warp one number of many rows. On the way back a block has some waves of a number: four lanes take
 * a row, and their sums are added in a fixed order. */
#include "form.cuh"

enum { PERIODIC_LANES = 256, BACK_LANES = 512, WAVES_OF_BLOCK = 4 };
static_assert((int)PERIODIC_OUTPUTS <= (int)WAVES_OF_BLOCK, "a lane has a bias");

DEVICE float wave_at(const struct periodic *p, size_t k, float x, float later)
{
    float turns = p->frequency[k] * x + p->phase[k] * 0.15915494309189534f - later;
    return cosf(6.283185307179586f * (turns - rintf(turns)));
}

KERNEL_BOUNDED(PERIODIC_LANES, periodic_forward)(struct op_periodic a)
{
    size_t at = global_id();
    if (at >= (size_t)a.rows * a.columns)
        return;
    uint32_t i = (uint32_t)(at / a.rows);
    float *x = (float *)a.x.at + at % a.rows * a.ld;
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

/* Adds the sums of a wave by all rows of the block to one place; all lanes must call. */
DEVICE void put_wave(float *to, float sum, bool more, float *room)
{
    for (int bits = WAVES_OF_BLOCK; bits < WARP; bits *= 2)
        sum += shuffle_xor(FULL_WARP, sum, bits);
    if (lane_id() < WAVES_OF_BLOCK)
        room[warp_id() * WAVES_OF_BLOCK + lane_id()] = sum;
    sync_block();
    if (thread_id() < WAVES_OF_BLOCK && to) {
        sum = more ? *to : 0;
        for (int w = 0; w < BACK_LANES / WARP; w++)
            sum += room[w * WAVES_OF_BLOCK + thread_id()];
        *to = sum;
    }
    sync_block();
}

KERNEL_BOUNDED(BACK_LANES, periodic_backward)(struct op_periodic_back a)
{
    SHARED(float, room, BACK_LANES / WARP * WAVES_OF_BLOCK);
    uint32_t i = block_x(), lane = thread_id() % WAVES_OF_BLOCK;
    struct periodic_column c = a.column[i];
    const float *x = (const float *)a.x.at, *dx = (const float *)a.dx.at;
    size_t w = (size_t)i * PERIODIC_WAVES + block_y() * WAVES_OF_BLOCK + lane;
    bool biased = block_y() == 0 && lane < PERIODIC_OUTPUTS;
    float frequency = 0, phase = 0, bias = 0, weight[PERIODIC_OUTPUTS] = {};
    for (size_t row = thread_id() / WAVES_OF_BLOCK; row < a.rows;
         row += BACK_LANES / WAVES_OF_BLOCK) {
        const float *dy = dx + row * a.ld + c.at;
        float v = x[row * a.ld + c.number], dh = 0, h = wave_at(&a.p, w, v, 0);
        for (int o = 0; o < PERIODIC_OUTPUTS; o++) {
            dh = fmaf(dy[o], a.p.weight[w * PERIODIC_OUTPUTS + o], dh);
            weight[o] = fmaf(dy[o], h, weight[o]);
        }
        dh *= wave_at(&a.p, w, v, 0.25f);
        phase -= dh;
        frequency -= dh * 6.2831853071795865f * v;
        bias += biased ? dy[lane] : 0;
    }
    put_wave((float *)a.d.frequency + w, frequency, a.more, room);
    put_wave((float *)a.d.phase + w, phase, a.more, room);
    for (int o = 0; o < PERIODIC_OUTPUTS; o++)
        put_wave((float *)a.d.weight + w * PERIODIC_OUTPUTS + o, weight[o], a.more, room);
    put_wave(biased ? (float *)a.d.bias + (size_t)i * PERIODIC_OUTPUTS + lane : nullptr, bias,
             a.more, room);
}

void cuda_periodic(struct machine *m, const struct op_periodic *a)
{
    LAUNCH_EACH(periodic_forward, (size_t)a->rows * a->columns, PERIODIC_LANES, m, *a);
}

void cuda_periodic_back(struct machine *m, const struct op_periodic_back *a)
{
    if (a->columns)
        LAUNCH(periodic_backward, dim3(a->columns, PERIODIC_WAVES / WAVES_OF_BLOCK),
               dim3(BACK_LANES), 0, m, *a);
}
