/* deal_avx2.c - eight rows at a time. */
#include "table/split/deal.h"

#if defined(__x86_64__)
#include "table/split/deal_loop.h"

void deal_avx2(struct deal *d, uint64_t seed, uint32_t epoch, uint32_t count, uint32_t *place)
{
    deal_loop(d, seed, epoch, count, place);
}
#endif
