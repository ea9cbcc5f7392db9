/* record_hash.c - a 64-bit hash of a record: multiplications of 64 by 64 bits, folded. */
#include "table/dataset/record_hash.h"

#include <string.h>

static inline uint64_t load64(const unsigned char *at)
{
    uint64_t v;
    memcpy(&v, at, sizeof v);
    return v;
}

__extension__ typedef unsigned __int128 wide;

static inline uint64_t fold(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Two independent chains, 16 bytes a step; record sizes are multiples of 4. */
uint64_t record_hash(const unsigned char *at, const struct rowfmt *format)
{
    static const uint64_t k[4] = {UINT64_C(0x9E3779B97F4A7C15), UINT64_C(0xD6E8FEB86659FD93),
                                  UINT64_C(0xA0761D6478BD642F), UINT64_C(0xE7037ED1A0B428DB)};
    size_t length = format->at_weight;
    uint64_t one = k[0] ^ length, two = k[1];
    unsigned char tail[16] = {0};
    for (; length >= 32; at += 32, length -= 32) {
        one = fold(load64(at) ^ one, load64(at + 8) ^ k[2]);
        two = fold(load64(at + 16) ^ two, load64(at + 24) ^ k[3]);
    }
    if (length >= 16) {
        one = fold(load64(at) ^ one, load64(at + 8) ^ k[2]);
        at += 16;
        length -= 16;
    }
    if (length)
        memcpy(tail, at, length);
    two = fold(load64(tail) ^ two, load64(tail + 8) ^ k[3]);
    return fold(one ^ k[1], two ^ k[2]);
}
