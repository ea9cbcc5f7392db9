/* gather.cuh - one record to one row of the batch: numbers and indicators to x, categories to ids,
 * the target and the weight. Which record that is, is a permutation by counter (base/rng.h), so
 * that an epoch uploads no index. */
#ifndef DNN_KERNELS_GATHER_CUH
#define DNN_KERNELS_GATHER_CUH

#include "base/rng.h"
#include "device.cuh"
#include "kernels.h"

DEVICE const uint32_t *record_of(const struct rows *rows, uint64_t i)
{
    uint64_t chunk = i >> rows->shift, within = i & (((uint64_t)1 << rows->shift) - 1);
    return (const uint32_t *)(const void *)(rows->chunks[chunk] + within * rows->format.stride);
}

/* A record without a label weighs nothing. */
DEVICE void put_target(const struct op_gather *a, uint32_t row, const uint32_t *record)
{
    const struct source *from = a->from;
    float w = float_of_word(record[from->rows.format.at_weight / 4]), target = 0;
    uint32_t word = record[from->rows.format.at_target / 4];
    if (from->classes) {
        if (word >= from->classes) { /* -1 is one of them */
            w = 0;
        } else {
            target = (float)word;
            if (from->class_weight)
                w *= from->class_weight[word];
        }
    } else if ((word & 0x7fffffffu) > 0x7f800000u) {
        w = 0;
    } else {
        target = float_of_word(word);
    }
    a->target[row] = target;
    a->weight[row] = w;
}

/* A row of the batch by G lanes, this one being `lane`. */
template <int G> DEVICE void gather_row(const struct op_gather &a, uint32_t row, uint32_t lane)
{
    const struct source *from = a.from;
    const struct rowfmt *f = &from->rows.format;
    uint32_t numbers = f->numbers, categories = f->categories;
    uint32_t indicators = from->features ? from->features->indicator_count : 0;
    float *x = (float *)a.x.at + (size_t)row * a.ld;
    int32_t *ids = a.ids + (size_t)row * categories;
    uint64_t at = a.now->row0 + (uint64_t)a.micro * a.rows + row, count = from->count;
    if (at >= count || (a.whole && at - a.now->row0 >= a.whole)) { /* past the data or the step */
        for (uint32_t i = lane; i < numbers + indicators; i += G)
            x[i] = 0; /* which weighs nothing */
        for (uint32_t i = lane; i < categories; i += G)
            ids[i] = 0;
        if (lane == 0)
            a.target[row] = a.weight[row] = 0;
        return;
    }
    if (from->shuffle)
        at = rng_permute(a.now->seed, a.now->epoch, a.now->model, (uint32_t)count, (uint32_t)at);
    const uint32_t *record = record_of(&from->rows, from->index ? from->index[at] : at);
    for (uint32_t i = lane; i < numbers; i += G)
        x[i] = float_of_word(record[i]);
    for (uint32_t i = lane; i < indicators; i += G) {
        uint32_t bit = from->features->indicators[i];
        x[numbers + i] = (float)(record[f->at_missing / 4 + bit / 32] >> bit % 32 & 1);
    }
    for (uint32_t i = lane; i < categories; i += G)
        ids[i] = (int32_t)record[f->at_category / 4 + i];
    if (lane == 0)
        put_target(&a, row, record);
}

#endif
