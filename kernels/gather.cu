/* gather.cu - records to the batch: numbers and indicators to x, categories to ids, the target and
 * the weight. Which record stands where is a permutation by counter (base/rng.h), so that an epoch
 * uploads no index. A warp plays one row: its lanes take the words of the record. */
#include "base/rng.h"
#include "device.cuh"
#include "kernels.h"

enum { ROWS_OF_BLOCK = 8 };

/* What a kernel needs of op_gather and its source, by value. */
struct gather {
    float *x, *target, *weight;
    int32_t *ids;
    const struct step *now;
    unsigned char *const *chunks;
    const uint32_t *index, *indicators;
    const float *class_weight;
    uint64_t count;
    uint32_t rows, ld, micro, shift, shuffle, classes, indicator_count;
    uint32_t numbers, categories, at_missing, at_category, at_target, at_weight, stride;
};

DEVICE const uint32_t *record_of(const struct gather *g, uint64_t i)
{
    uint64_t within = g->shift < 63 ? i & (((uint64_t)1 << g->shift) - 1) : i;
    uint64_t chunk = g->shift < 63 ? i >> g->shift : 0;
    return (const uint32_t *)(const void *)(g->chunks[chunk] + within * g->stride);
}
DEVICE float word_float(uint32_t u)
{
    union { uint32_t u; float f; } bits;
    bits.u = u;
    return bits.f;
}

/* A record without a label weighs nothing. */
DEVICE void put_target(const struct gather *g, uint32_t row, const uint32_t *record)
{
    float w = word_float(record[g->at_weight / 4]), target = 0;
    uint32_t word = record[g->at_target / 4];
    if (g->classes) {
        if (word >= g->classes) { /* -1 is one of them */
            w = 0;
        } else {
            target = (float)word;
            if (g->class_weight)
                w *= g->class_weight[word];
        }
    } else if ((word & 0x7fffffffu) > 0x7f800000u) {
        w = 0;
    } else {
        target = word_float(word);
    }
    g->target[row] = target;
    g->weight[row] = w;
}

KERNEL_BOUNDED(ROWS_OF_BLOCK *WARP, gather_rows)(struct gather g)
{
    uint32_t row = block_x() * ROWS_OF_BLOCK + warp_id(), lane = lane_id();
    if (row >= g.rows)
        return;
    float *x = g.x + (size_t)row * g.ld;
    int32_t *ids = g.ids + (size_t)row * g.categories;
    uint64_t at = g.now->row0 + (uint64_t)g.micro * g.rows + row;
    if (at >= g.count) { /* past the data: zeros that weigh nothing */
        for (uint32_t i = lane; i < g.numbers + g.indicator_count; i += WARP)
            x[i] = 0;
        for (uint32_t i = lane; i < g.categories; i += WARP)
            ids[i] = 0;
        if (lane == 0)
            g.target[row] = g.weight[row] = 0;
        return;
    }
    if (g.shuffle)
        at = rng_permute(g.now->seed, g.now->epoch, g.now->model, (uint32_t)g.count, (uint32_t)at);
    const uint32_t *record = record_of(&g, g.index ? g.index[at] : at);
    for (uint32_t i = lane; i < g.numbers; i += WARP)
        x[i] = word_float(record[i]);
    for (uint32_t i = lane; i < g.indicator_count; i += WARP) {
        uint32_t bit = g.indicators[i];
        x[g.numbers + i] = (float)(record[g.at_missing / 4 + bit / 32] >> bit % 32 & 1);
    }
    for (uint32_t i = lane; i < g.categories; i += WARP)
        ids[i] = (int32_t)record[g.at_category / 4 + i];
    if (lane == 0)
        put_target(&g, row, record);
}

void cuda_gather(struct machine *m, const struct op_gather *a)
{
    const struct source *from = a->from;
    const struct rowfmt *f = &from->rows.format;
    struct gather g = {};
    g.x = (float *)a->x;
    g.target = (float *)a->target;
    g.weight = (float *)a->weight;
    g.ids = a->ids;
    g.now = a->now;
    g.chunks = from->rows.chunks;
    g.shift = from->rows.shift;
    g.index = from->index;
    g.class_weight = from->class_weight;
    g.count = from->count;
    g.rows = a->rows;
    g.ld = a->ld;
    g.micro = a->micro;
    g.shuffle = from->shuffle;
    g.classes = from->classes;
    if (from->features) {
        g.indicators = from->features->indicators;
        g.indicator_count = from->features->indicator_count;
    }
    g.numbers = f->numbers;
    g.categories = f->categories;
    g.at_missing = f->at_missing;
    g.at_category = f->at_category;
    g.at_target = f->at_target;
    g.at_weight = f->at_weight;
    g.stride = f->stride;
    if (a->rows)
        LAUNCH(gather_rows, dim3((a->rows + ROWS_OF_BLOCK - 1) / ROWS_OF_BLOCK),
               dim3(ROWS_OF_BLOCK * WARP), 0, m, g);
}
