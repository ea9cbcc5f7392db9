/* gemm.cuh - what the two products share: bringing a tile of an operand into registers, the range
 * of k of a part, and what happens to a finished element. */
#ifndef DNN_KERNELS_GEMM_CUH
#define DNN_KERNELS_GEMM_CUH

#include "device.cuh"
#include "epilogue.cuh"
#include "kernels.h"

/* Parts are multiples of 8 but for the last, as the CPU's shards (cpu.h). */
HOST_DEVICE uint32_t part_begin(uint32_t k, uint32_t parts, uint32_t z)
{
    uint64_t at = ((uint64_t)k + 7) / 8 * z / parts * 8;
    return at < k ? (uint32_t)at : k;
}

/* ROWS x DEPTH elements of an operand X(row, k) = x[row * row_step + k * k_step] in registers of
 * LANES lanes. Neighbouring lanes take neighbouring addresses: along k when K_FAST, else along
 * rows. Elements outside are 0: their products add nothing. */
template <int ROWS, int DEPTH, int LANES_, bool K_FAST> struct piece {
    enum { COUNT = (ROWS * DEPTH + LANES_ - 1) / LANES_ };
    float v[COUNT];
};
template <int ROWS, int DEPTH, int LANES_, bool K_FAST>
DEVICE void piece_place(int i, int *row, int *k)
{
    int e = (int)thread_id() + i * LANES_;
    *row = K_FAST ? e / DEPTH : e % ROWS;
    *k = K_FAST ? e % DEPTH : e / ROWS;
}
template <int ROWS, int DEPTH, int LANES_, bool K_FAST>
DEVICE void piece_read(struct piece<ROWS, DEPTH, LANES_, K_FAST> *p, const float *x, uint32_t row0,
                       uint32_t rows, uint32_t k0, uint32_t k_end, uint32_t row_step,
                       uint32_t k_step)
{
    UNROLL
    for (int i = 0; i < (int)piece<ROWS, DEPTH, LANES_, K_FAST>::COUNT; i++) {
        int row, k;
        piece_place<ROWS, DEPTH, LANES_, K_FAST>(i, &row, &k);
        bool in = row < ROWS && k < DEPTH && row0 + (uint32_t)row < rows &&
                  k0 + (uint32_t)k < k_end;
        p->v[i] = in ? x[(size_t)(row0 + (uint32_t)row) * row_step +
                         (size_t)(k0 + (uint32_t)k) * k_step]
                     : 0.0f;
    }
}

/* Finished sums leave by stripes: each lane puts some into shared memory, then the block writes
 * whole rows. Stripe row r is row row0 + r / group * step + r % group of C; columns are 1 << shift.
 * Called, so that its code stands once. */
struct stripe { uint32_t rows, shift, row0, col0, group, step; };
DEVICE_CALL void gemm_finish(const struct gemm *g, const float *sums, struct stripe s)
{
    float *c = g->c + block_z() * g->c_part;
    for (uint32_t e = thread_id(); e < s.rows << s.shift; e += block_size()) {
        uint32_t r = e >> s.shift, col = s.col0 + (e & ((1u << s.shift) - 1));
        uint32_t row = s.row0 + r / s.group * s.step + r % s.group;
        if (row >= g->m || col >= g->n)
            continue;
        float sum = sums[e];
        for (uint32_t h = 0; h < g->hot.column_count; h++) {
            struct onehot_column one = g->hot.columns[h];
            uint32_t id = (uint32_t)g->hot.ids[(size_t)row * g->hot.ids_ld + one.id];
            if (id < one.count)
                sum += g->hot_b[(size_t)(one.at + id) * g->b_row + col];
        }
        if (g->bias)
            sum += g->bias[col];
        if (g->z)
            g->z[(size_t)row * g->z_row + col] = sum;
        float *to = c + (size_t)row * g->c_row + col;
        sum = act_value(g->act, sum, g->slope);
        *to = g->add ? *to + sum : sum;
    }
}
DEVICE constexpr uint32_t log2_of(uint32_t n)
{
    return n <= 1 ? 0 : 1 + log2_of(n / 2);
}

#endif
