/* text.cu - texts as hashed terms. A lane has one column of the output and adds in the order of the
 * terms, or of the rows: no two write to one place. */
#include "form.cuh"

enum { TEXT_LANES = 256, TEXT_WARPS = TEXT_LANES / WARP, TEXT_BUCKETS = 16,
       TEXT_AT_ONCE = 8 };

DEVICE float term_value(const struct text_column &c, const float *weights, int32_t term)
{
    float count = (float)TERM_COUNT(term);
    return c.weighted ? count * weights[c.first + TERM_BUCKET(term)] : count;
}

/* A lane has a text of a row. */
KERNEL_BOUNDED(TEXT_LANES, text_scales)(struct op_text a)
{
    size_t at = global_id();
    if (at >= (size_t)a.rows * a.columns)
        return;
    struct text_column c = a.column[at / a.rows];
    const int32_t *terms = a.ids + at % a.rows * a.ids_ld + c.slot;
    float sum = 0;
    bool none = !c.slots || !terms[0];
    for (uint32_t k = 0; k < c.slots && terms[k]; k++) {
        float v = term_value(c, a.weights, terms[k]);
        sum = fmaf(v, v, sum);
    }
    a.scales[at] = c.weighted && sum > 0 ? 1 / sqrtf(sum) : 1;
    ((float *)a.x.at)[at % a.rows * a.ld + c.at] = none ? 1 : 0;
}

/* A warp has 32 columns of a row of y. */
KERNEL_BOUNDED(TEXT_LANES, text_forward)(struct op_text_dense a)
{
    uint32_t col = block_x() * WARP + lane_id(), row = block_y() * TEXT_WARPS + warp_id();
    if (col >= a.out || row >= a.rows)
        return;
    size_t to = (size_t)row * a.ldy + a.at + col;
    float sum = a.set ? 0 : form_get(a.y, to);
    for (uint32_t i = 0; i < a.columns; i++) {
        struct text_column c = a.column[i];
        const int32_t *terms = a.ids + (size_t)row * a.ids_ld + c.slot;
        float scale = (float)a.scales[(size_t)i * a.rows + row];
        for (uint32_t k = 0; k < c.slots && terms[k]; k++) {
            const float *w = (const float *)a.w +
                             (size_t)(c.first + TERM_BUCKET(terms[k])) * a.out + col;
            sum = fmaf(term_value(c, a.weights, terms[k]) * scale, *w, sum);
        }
    }
    form_put(a.y, to, sum);
}

/* A warp has 32 columns of the rows of dw for some buckets, in shared memory. Its lanes read 32
 * terms of a text together, and of some texts at once; it adds them in order. */
KERNEL_BOUNDED(TEXT_LANES, text_backward)(struct op_text_dense_back a)
{
    SHARED(float, rooms, TEXT_WARPS * TEXT_BUCKETS * WARP);
    uint32_t col = block_x() * WARP + lane_id();
    uint32_t begin = (block_y() * TEXT_WARPS + warp_id()) * TEXT_BUCKETS;
    if (begin >= a.buckets)
        return;
    uint32_t count = a.buckets - begin < TEXT_BUCKETS ? a.buckets - begin
                                                             : (uint32_t)TEXT_BUCKETS;
    float *dw = (float *)a.dw + (size_t)begin * a.out + col;
    float *room = rooms + warp_id() * TEXT_BUCKETS * WARP + lane_id();
    bool inside = col < a.out;
    for (uint32_t b = 0; b < count; b++)
        room[b * WARP] = a.more && inside ? dw[(size_t)b * a.out] : 0;
    for (uint32_t i = 0; i < a.columns; i++) {
        struct text_column c = a.column[i];
        uint32_t lines = (c.slots + WARP - 1) / WARP; /* of a text */
        for (uint32_t first = 0; first < a.rows * lines; first += TEXT_AT_ONCE) {
            int32_t term[TEXT_AT_ONCE];
            UNROLL
            for (uint32_t j = 0; j < TEXT_AT_ONCE; j++) {
                uint32_t row = (first + j) / lines, slot = (first + j) % lines * WARP + lane_id();
                term[j] = row < a.rows && slot < c.slots
                              ? a.ids[(size_t)row * a.ids_ld + c.slot + slot]
                              : 0;
            }
            UNROLL
            for (uint32_t j = 0; j < TEXT_AT_ONCE; j++) {
                uint32_t at = c.first + TERM_BUCKET(term[j]) - begin;
                unsigned left = ballot(FULL_WARP, term[j] && at < count);
                for (; left; left &= left - 1) {
                    int32_t one = shuffle(FULL_WARP, term[j], (int)lowest_bit(left));
                    uint32_t row = (first + j) / lines;
                    float v = term_value(c, a.weights, one) *
                              (float)a.scales[(size_t)i * a.rows + row];
                    float *to = room + (c.first + TERM_BUCKET(one) - begin) * WARP;
                    if (inside)
                        *to = fmaf(v, form_get(a.dy, (size_t)row * a.lddy + a.at + col), *to);
                }
            }
        }
    }
    for (uint32_t b = 0; b < count && inside; b++)
        dw[(size_t)b * a.out] = room[b * WARP];
}

void cuda_text(struct machine *m, const struct op_text *a)
{
    LAUNCH_EACH(text_scales, (size_t)a->rows * a->columns, TEXT_LANES, m, *a);
}

void cuda_text_dense(struct machine *m, const struct op_text_dense *a)
{
    if (a->rows && a->columns)
        LAUNCH(text_forward, dim3(parts(a->out, WARP), parts(a->rows, TEXT_WARPS)),
               dim3(TEXT_LANES), 0, m, *a);
}

void cuda_text_dense_back(struct machine *m, const struct op_text_dense_back *a)
{
    if (a->buckets)
        LAUNCH(text_backward,
               dim3(parts(a->out, WARP), parts(a->buckets, TEXT_WARPS * TEXT_BUCKETS)),
               dim3(TEXT_LANES), 0, m, *a);
}
