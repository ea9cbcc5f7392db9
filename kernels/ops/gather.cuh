/* gather.cuh - one record to one row of the batch: numbers and indicators to x, categories to ids,
 * the target and the weight. Which record that is, is a permutation by counter (base/rng.h), so
 * that an epoch uploads no index. */
#ifndef DNN_KERNELS_GATHER_CUH
#define DNN_KERNELS_GATHER_CUH

#include "backend/order.h"
#include "device.cuh"
#include "kernels.h"

DEVICE const uint32_t *record_of(const struct rows *rows, uint64_t i)
{
    uint64_t chunk = i >> rows->shift, within = i & (((uint64_t)1 << rows->shift) - 1);
    return (const uint32_t *)(const void *)(rows->chunks[chunk] + within * rows->format.stride);
}

/* A record without a label weighs nothing. */
DEVICE void put_target(const struct op_gather *a, size_t row, const uint32_t *record)
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

/* beside: NULL, or a second destination of the row of x, with all its columns. */

/* No record at row `row` of x. */
template <int G>
DEVICE void clear_row(const struct op_gather &a, size_t row, uint32_t lane, float *beside)
{
    const struct rowfmt *f = &a.from->rows.format;
    uint32_t width = f->numbers + (a.from->features ? a.from->features->indicator_count : 0);
    float *x = (float *)a.x.at + row * a.ld;
    for (uint32_t i = lane; i < width; i += G)
        x[i] = 0;
    for (uint32_t i = lane; beside && i < a.ld; i += G)
        beside[i] = i < width ? 0 : x[i];
    for (uint32_t i = lane; i < f->categories; i += G)
        a.ids[row * f->categories + i] = 0;
}

template <int G>
DEVICE void copy_record(const struct op_gather &a, size_t row, uint32_t lane,
                        const uint32_t *record, float *beside)
{
    const struct source *from = a.from;
    const struct rowfmt *f = &from->rows.format;
    uint32_t indicators = from->features ? from->features->indicator_count : 0;
    float *x = (float *)a.x.at + row * a.ld;
    for (uint32_t i = lane; i < f->numbers; i += G) {
        float number = float_of_word(record[i]);
        x[i] = number;
        if (beside)
            beside[i] = number;
    }
    for (uint32_t i = lane; i < indicators; i += G) {
        uint32_t bit = from->features->indicators[i];
        float missing = (float)(record[f->at_missing / 4 + bit / 32] >> bit % 32 & 1);
        x[f->numbers + i] = missing;
        if (beside)
            beside[f->numbers + i] = missing;
    }
    for (uint32_t i = f->numbers + indicators + lane; beside && i < a.ld; i += G)
        beside[i] = x[i];
    for (uint32_t i = lane; i < f->categories; i += G)
        a.ids[row * f->categories + i] = (int32_t)record[f->at_category / 4 + i];
}

/* The position of a row of the batch, in the order of this view; false: it is past the data or the
 * step. table: rows are no sequences, and have no order of lengths. */
DEVICE bool position_of(const struct op_gather &a, uint32_t row, uint32_t view, bool table,
                        uint64_t *at)
{
    uint64_t count = a.from->count;
    *at = a.now->row0 + (uint64_t)a.micro * a.rows + row;
    if (*at >= count || (a.whole && *at - a.now->row0 >= a.whole))
        return false;
    if (a.from->shuffle && table)
        *at = rng_permute(a.now->seed, a.now->epoch, rng_order(a.now->model, view),
                          (uint32_t)count, (uint32_t)*at);
    else if (a.from->shuffle)
        *at = order_place(a.from, a.now, view, (uint32_t)*at);
    return true;
}

/* Gathers a row of the batch by G lanes, this one is `lane`; `to`: its destination, `view`:
 * the view whose order it has. */
template <int G>
DEVICE void gather_row(const struct op_gather &a, uint32_t row, uint32_t lane, size_t to,
                       uint32_t view, bool table, float *beside)
{
    uint64_t at;
    if (!position_of(a, row, view, table, &at)) {
        clear_row<G>(a, to, lane, beside); /* which weighs nothing */
        if (lane == 0)
            a.target[to] = a.weight[to] = 0;
        return;
    }
    const uint32_t *record = record_of(&a.from->rows, a.from->index ? a.from->index[at] : at);
    copy_record<G>(a, to, lane, record, beside);
    if (lane == 0)
        put_target(&a, to, record);
}

#endif
