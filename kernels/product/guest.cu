/* guest.cu - what cuBLASLt leaves of a product to us. */
#include "product/guest.cuh"

#include "product/gemm.cuh"

KERNEL_BOUNDED(SHEET_LANES, guest_end)(struct sheet s, ARGUMENT(struct gemm) g)
{
    uint32_t col = sheet_unit(s);
    if (col >= g.n)
        return;
    for (EACH_ROW_OF(s, row)) {
        float sum[1];
        run_load(sum, g.c, (size_t)row * g.c_row + col);
        gemm_put(&g, g.c, row, col, sum);
    }
}

void guest_finish(struct machine *m, const struct gemm *g)
{
    struct sheet s = sheet_of(g->m, g->n);
    LAUNCH(guest_end, sheet_grid(m, &s), dim3(SHEET_LANES), 0, m, s, *g);
}
