/* cell_run.c - runs of numbers in plain C, and the choice for the processor. */
#include "table/encoder/cell_run.h"

#include "csv/form/number_short.h"
#include "csv/processor.h"

uint64_t cell_run_plain(const struct cell_run *r)
{
    uint64_t bad = 0;
    for (size_t i = 0; i < r->count; i++) {
        const struct csv_cell *cell = r->cells + r->cell_of[i];
        double value;
        if (!number_short(cell->text, cell->length, r->decimal, &value)) {
            bad |= UINT64_C(1) << i;
            continue;
        }
        float v = (float)(value - r->offsets[i]);
        memcpy(r->out + 4 * i, &v, sizeof v);
    }
    return bad;
}

cell_run_fn *cell_run_choose(void)
{
#if defined(__x86_64__)
    if (processor_may("avx512") && cell_run_has_avx512())
        return cell_run_avx512;
#endif
    return cell_run_plain;
}
