/* vec_dropout.h - dropout over 16 lanes. Included by vec_table.h.
 *
 * The random bits are rng_bits (base/rng.h): Philox4x32-10, eight counters side by side in words of
 * 64 bits. Only the lower half of a word counts, since w_mul reads lower halves: a round is two
 * products, two shifts and two exclusive ors. DRAWS such octets are in flight at a time: a round
 * waits for the products of the one before. */
#ifndef DNN_BACKEND_VEC_DROPOUT_H
#define DNN_BACKEND_VEC_DROPOUT_H

#include "base/rng.h"

enum { OCTET = 32, BITS = DRAWS * OCTET }; /* elements */

/* The bits of elements 4 * counter .. 4 * counter + BITS - 1. */
INLINE void draw(uint32_t *bits, uint64_t counter, const struct keep *keep)
{
    w8 c0[DRAWS], c1[DRAWS], c2[DRAWS], c3[DRAWS];
    uint32_t k0 = (uint32_t)keep->seed, k1 = (uint32_t)(keep->seed >> 32);
    const w8 m0 = w_set(0xD2511F53u), m1 = w_set(0xCD9E8D57u), zero = w_set(0);
    for (int d = 0; d < DRAWS; d++) {
        c0[d] = w_counters(counter + (uint64_t)d * OCTET / 4);
        c1[d] = w_xor(w_left24(w_high(c0[d])), w_set(keep->stream), zero);
        c2[d] = w_set(keep->step);
        c3[d] = w_set(RNG_DROPOUT);
    }
    for (int round = 0; round < 10; round++) {
        w8 key0 = w_set(k0), key1 = w_set(k1);
        for (int d = 0; d < DRAWS; d++) {
            w8 p0 = w_mul(m0, c0[d]), p1 = w_mul(m1, c2[d]);
            c0[d] = w_xor(w_high(p1), c1[d], key0);
            c2[d] = w_xor(w_high(p0), c3[d], key1);
            c1[d] = p1;
            c3[d] = p0;
        }
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int d = 0; d < DRAWS; d++)
        w_put(bits + d * OCTET, c0[d], c1[d], c2[d], c3[d]);
}

INLINE void keep_put(real *y, const real *x, m16 kept, real scale, bool add, size_t size)
{
    v16 v = v_pick(kept, v_mul(GET(x, size), v_set(scale)), v_set(0));
    store_run(y, add ? v_add(GET(y, size), v) : v, size);
}

static void dropout_known(real *y, const real *x, size_t n, const struct keep *keep, bool add)
{
    RUN(i, n, size)
        keep_put(y + i, x + i, m_of(keep->kept[i / LANES]), keep->scale, add, size);
}

static void dropout(real *y, const real *x, size_t n, uint64_t element, const struct keep *keep,
                    bool add)
{
    uint32_t bits[BITS + LANES] = {0}; /* a last vector reads past the end */
    size_t skip = (size_t)(element & 3);
    uint64_t counter = element >> 2;
    if (keep->known) {
        dropout_known(y, x, n, keep, add);
        return;
    }
    for (size_t at = 0, count; at < n; at += count) {
        count = n - at < BITS - skip ? n - at : BITS - skip;
        draw(bits, counter, keep);
        RUN(i, count, size) {
            m16 kept = v_at_least(bits + skip + i, keep->threshold);
            if (keep->kept)
                keep->kept[(at + i) / LANES] = m_bits(kept);
            keep_put(y + at + i, x + at + i, kept, keep->scale, add, size);
        }
        counter += BITS / 4;
        skip = 0;
    }
}

#endif
