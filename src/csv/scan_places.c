/* scan_places.c - positions of the bits of masks in plain C, and the choice for the processor. */
#include "csv/scan.h"

#include "csv/processor.h"

size_t scan_places_plain(const uint64_t *masks, size_t blocks, uint32_t base, uint32_t *out)
{
    size_t n = 0;
    for (size_t i = 0; i < blocks; i++, base += 64)
        for (uint64_t m = masks[i]; m; m &= m - 1)
            out[n++] = base + (uint32_t)__builtin_ctzll(m);
    return n;
}

scan_places_fn *scan_places_choose(void)
{
#if defined(__x86_64__)
    if (processor_may("avx512") && scan_places_has_avx512())
        return scan_places_avx512;
#endif
    return scan_places_plain;
}
