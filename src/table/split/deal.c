/* deal.c - deal.h in plain C, and the choice for the processor. */
#include "table/split/deal.h"

#include "csv/processor.h"
#include "table/split/deal_loop.h"

void deal_plain(struct deal *d, uint64_t seed, uint32_t epoch, uint32_t count, uint32_t *place)
{
    deal_loop(d, seed, epoch, count, place);
}

deal_fn *deal_choose(void)
{
#if defined(__x86_64__)
    if (processor_may("avx2") && __builtin_cpu_supports("avx2"))
        return deal_avx2;
#endif
    return deal_plain;
}
