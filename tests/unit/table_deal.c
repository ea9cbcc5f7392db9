/* table_deal.c - places in permutations are those of rng_permute, on every processor. */
#include "base/rng.h"
#include "table/split/deal.h"
#include "tap.h"

static void compare(deal_fn *deal, const char *name, uint32_t count)
{
    static const uint32_t rows[] = {1, 2, 3, 7, 64, 65, 1000, 200000, 262145, 4000000000u};
    enum { CLASSES = sizeof rows / sizeof *rows };
    static struct deal d;
    uint32_t place[DEAL_ROWS + 1], wrong = 0;
    place[count] = 77;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = i * 7 % CLASSES;
        d.class[i] = c;
        d.rows[i] = rows[c];
        d.half[i] = rng_half(rows[c]);
        d.x[i] = i * 31 % rows[c];
    }
    deal(&d, UINT64_C(0x123456789abcdef0), 5, count, place);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t c = i * 7 % CLASSES;
        wrong += place[i] !=
                 rng_permute(UINT64_C(0x123456789abcdef0), 5, c, rows[c], i * 31 % rows[c]);
    }
    ok(wrong == 0 && place[count] == 77, "%s, %u rows: %u wrong", name, count, wrong);
}

int main(void)
{
    static const uint32_t counts[] = {0, 1, 7, 8, 9, 100, DEAL_ROWS};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        compare(deal_plain, "plain", counts[i]);
#if defined(__x86_64__)
        if (__builtin_cpu_supports("avx2"))
            compare(deal_avx2, "avx2", counts[i]);
#endif
    }
    return done();
}
