/* dropout.cu - y = x keep / (1 - p), one rule forward and backward. */
#include "ops/dropout.cuh"
#include "sheet.cuh"

/* Writes an element of the output. */
DEVICE void put_kept(const struct op_dropout *a, uint32_t row, uint32_t col, bool keep,
                     float scale)
{
    size_t to = (size_t)row * a->ldy + col;
    float before = a->add ? form_get(a->y, to) : 0.0f;
    float x = form_get(a->x, (size_t)row * a->ldx + col);
    form_put(a->y, to, dropout_value(before, x, keep, scale));
}

DEVICE struct rng4 draw(const struct op_dropout *a, uint64_t counter)
{
    return dropout_bits(a->now, a->layer, counter);
}

/* Any width: elements begin somewhere within a counter's four. */
KERNEL_BOUNDED(SHEET_LANES, dropout_any)(struct op_dropout a)
{
    uint64_t count = (uint64_t)a.rows * a.width, begin = (uint64_t)a.micro * count;
    uint64_t quads = (begin % 4 + count + 3) / 4;
    uint64_t decay = step_dropout_decay(&a.schedule, a.now->tried);
    uint32_t threshold = dropout_threshold(a.threshold, decay);
    float scale = dropout_scale(a.scale, threshold, decay);
    for (uint64_t q = global_id(); q < quads; q += global_count()) {
        struct rng4 bits = draw(&a, begin / 4 + q);
        for (unsigned i = 0; i < 4; i++) {
            uint64_t f = 4 * q + i - begin % 4; /* wraps around before the first */
            if (f < count)
                put_kept(&a, (uint32_t)(f / a.width), (uint32_t)(f % a.width),
                         bits.v[i] >= threshold, scale);
        }
    }
}

/* For widths that are multiples of 16 and rows at multiples of 16 bytes: four lanes write or read
 * one word of the mask. */
KERNEL_BOUNDED(SHEET_LANES, dropout_wide)(struct op_dropout a)
{
    uint64_t quads = (uint64_t)a.rows * a.width / 4, begin = quads * a.micro;
    uint64_t decay = step_dropout_decay(&a.schedule, a.now->tried);
    uint32_t threshold = dropout_threshold(a.threshold, decay);
    float scale = dropout_scale(a.scale, threshold, decay);
    for (uint64_t first = global_id() / WARP * WARP; first < quads; first += global_count()) {
        uint64_t q = first + lane_id();
        bool inside = q < quads;
        uint32_t keep = 0, place = lane_id() % 4 * 4;
        if (inside && a.kept && a.kept_known) {
            keep = (uint32_t)((const uint16_t *)a.kept)[q / 4] >> place;
        } else if (inside) {
            struct rng4 bits = draw(&a, begin + q);
            UNROLL
            for (int i = 0; i < 4; i++)
                keep |= (uint32_t)(bits.v[i] >= threshold) << i;
        }
        if (a.kept && !a.kept_known) {
            uint32_t word = keep << place;
            word |= shuffle_xor(FULL_WARP, word, 1);
            word |= shuffle_xor(FULL_WARP, word, 2);
            if (inside && place == 0)
                ((uint16_t *)a.kept)[q / 4] = (uint16_t)word;
        }
        if (!inside)
            continue;
        uint32_t row = (uint32_t)(q / (a.width / 4)), col = (uint32_t)(q % (a.width / 4)) * 4;
        float x[4], y[4] = {};
        size_t to = (size_t)row * a.ldy + col;
        run_load(x, a.x, (size_t)row * a.ldx + col);
        if (a.add)
            run_load(y, a.y, to);
        UNROLL
        for (int i = 0; i < 4; i++)
            y[i] = dropout_value(y[i], x[i], keep >> i & 1, scale);
        run_store(a.y, to, y);
    }
}

/* As above for rows anywhere: a word lies in one row. */
KERNEL_SHARING(SHEET_LANES, 4, dropout_words)(struct op_dropout a)
{
    uint64_t words = (uint64_t)a.rows * a.width / 16, begin = words * a.micro;
    uint64_t decay = step_dropout_decay(&a.schedule, a.now->tried);
    uint32_t threshold = dropout_threshold(a.threshold, decay);
    float scale = dropout_scale(a.scale, threshold, decay);
    for (uint64_t w = global_id(); w < words; w += global_count()) {
        uint32_t keep = a.kept_known ? ((const uint16_t *)a.kept)[w] : 0;
        for (unsigned k = 0; k < 4 && !a.kept_known; k++) {
            struct rng4 bits = draw(&a, (begin + w) * 4 + k);
            for (unsigned i = 0; i < 4; i++)
                keep |= (uint32_t)(bits.v[i] >= threshold) << (4 * k + i);
        }
        if (!a.kept_known)
            ((uint16_t *)a.kept)[w] = (uint16_t)keep;
        uint32_t row = (uint32_t)(w * 16 / a.width), col = (uint32_t)(w * 16 % a.width);
        for (unsigned i = 0; i < 16; i++)
            put_kept(&a, row, col + i, keep >> i & 1, scale);
    }
}

void cuda_dropout(struct machine *m, const struct op_dropout *a)
{
    uint64_t count = (uint64_t)a->rows * a->width;
    if (!count)
        return;
    dim3 lanes(SHEET_LANES), grid = spread(m, (count + 3) / 4 + 1, SHEET_LANES);
    if (a->width % 16 == 0 && is_wide(a->x, a->ldx) && is_wide(a->y, a->ldy))
        LAUNCH(dropout_wide, grid, lanes, 0, m, *a);
    else if (a->kept)
        LAUNCH(dropout_words, grid, lanes, 0, m, *a);
    else
        LAUNCH(dropout_any, grid, lanes, 0, m, *a);
}
