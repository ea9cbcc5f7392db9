/* optim.cu - the end of a step over one arena: the sum of the gradient's shards and its norm, then
 * the optimiser. Tiles follow from n alone; partial sums are added in order, in double. Formulas
 * and their order are the CPU's (cpu_optim.c, vec_param.h). */
#include "device.cuh"
#include "kernels.h"

enum { TILE = 2048, LANES_OF_BLOCK = 256, SUMS_AT = 64 };

DEVICE bool is_finite(double x)
{
    return fabs(x) <= 1.7976931348623157e308;
}

/* The group of element i. */
DEVICE const struct group *group_of(const struct grads *from, uint64_t i)
{
    uint32_t low = 0, high = from->group_count - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (i < from->groups[middle].end)
            high = middle;
        else
            low = middle + 1;
    }
    return from->groups + low;
}

/* sums[i] = g of the shards in order; parts[tile] = the sum of their squares. */
KERNEL_BOUNDED(LANES_OF_BLOCK, norm2_tile)(float *sums, double *parts, struct grads from)
{
    SHARED(double, room, LANES_OF_BLOCK / WARP);
    uint64_t begin = (uint64_t)block_x() * TILE;
    double square = 0;
    for (uint64_t i = begin + thread_id(); i < begin + TILE && i < from.n; i += LANES_OF_BLOCK) {
        uint32_t shards = group_of(&from, i)->shards;
        const float *g = (const float *)from.g + i;
        float sum = g[0];
        for (uint32_t s = 1; s < shards && s < from.shards; s++)
            sum += g[s * from.shard_stride];
        sums[i] = sum;
        square += (double)sum * (double)sum;
    }
    square = block_sum(square, room);
    if (thread_id() == 0)
        parts[block_x()] = square;
}

KERNEL_BOUNDED(LANES_OF_BLOCK, norm2_end)(double *weight_to, struct step *now, const double *parts,
                                          uint64_t tiles, struct grads from, uint32_t halt)
{
    SHARED(double, room, LANES_OF_BLOCK / WARP);
    double square = 0, weight = 0;
    for (uint64_t i = thread_id(); i < tiles; i += LANES_OF_BLOCK)
        square += parts[i];
    square = block_sum(square, room);
    if (thread_id() != 0)
        return;
    for (uint32_t s = 0; s < from.shards; s++)
        weight += from.part_weight[s];
    *weight_to = weight;
    now->gnorm = weight > 0 ? sqrt(square) / weight : 0;
    now->bad = !is_finite(square) || !is_finite(weight) || (halt && now->bad_steps > 0);
}

/* Kingma and Ba (2015); decoupled decay: Loshchilov and Hutter (2019). */
KERNEL_BOUNDED(LANES_OF_BLOCK, adam)(struct op_adam a)
{
    if (a.now->bad)
        return;
    double weight = *(const double *)a.sums, whole = weight > 0 ? 1 / weight : 0;
    if (a.clip > 0 && a.now->gnorm > a.clip)
        whole *= a.clip / a.now->gnorm;
    double t = (double)a.now->applied + 1, lr = a.now->lr, wd = a.now->weight_decay;
    double bias1 = 1 - pow(a.beta1, t);
    float root = (float)(1 / sqrt(1 - pow(a.beta2, t))), scale = (float)whole;
    float b1 = (float)a.beta1, c1 = (float)(1 - a.beta1);
    float b2 = (float)a.beta2, c2 = (float)(1 - a.beta2), epsilon = (float)a.epsilon;
    const float *sums = (const float *)(const void *)((const char *)a.sums + SUMS_AT);
    for (uint64_t i = global_id(); i < a.from.n; i += global_count()) {
        const struct group *of = group_of(&a.from, i);
        double rate = lr * of->lr;
        float step = -(float)(rate / bias1);
        float shrink = a.decoupled ? -(float)(rate * wd * of->weight_decay) : 0.0f;
        float l2 = a.decoupled ? 0.0f : (float)(wd * of->weight_decay);
        float p = (float)a.p[i], g = fmaf(l2, p, sums[i] * scale);
        float m = fmaf(b1, (float)a.m1[i], c1 * g);
        float v = fmaf(b2, (float)a.m2[i], c2 * (g * g));
        p = fmaf(shrink, p, p);
        p = fmaf(step, m / fmaf(sqrtf(v), root, epsilon), p);
        a.m1[i] = m;
        a.m2[i] = v;
        a.p[i] = p;
    }
}

size_t cuda_norm2_kept(uint64_t n)
{
    return SUMS_AT + (size_t)n * sizeof(float);
}
size_t cuda_norm2_parts(uint64_t n)
{
    return (size_t)((n + TILE - 1) / TILE);
}

void cuda_norm2(struct machine *m, const struct op_norm2 *a, double *parts)
{
    unsigned tiles = (unsigned)cuda_norm2_parts(a->from.n);
    float *sums = (float *)(void *)((char *)a->sums + SUMS_AT);
    if (tiles)
        LAUNCH(norm2_tile, dim3(tiles), dim3(LANES_OF_BLOCK), 0, m, sums, parts, a->from);
    LAUNCH(norm2_end, dim3(1), dim3(LANES_OF_BLOCK), 0, m, (double *)a->sums, a->now, parts, tiles,
           a->from, a->halt);
}

void cuda_adam(struct machine *m, const struct op_adam *a)
{
    if (a->from.n)
        LAUNCH(adam, spread(m, a->from.n, LANES_OF_BLOCK), dim3(LANES_OF_BLOCK), 0, m, *a);
}
