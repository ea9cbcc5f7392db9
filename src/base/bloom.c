/* bloom.c - see bloom.h. */
#include "base/bloom.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

#define PROBES 7

struct bloom bloom_make(double keys)
{
    const double bytes = fmin(keys * BLOOM_BITS / 8 + 1, (double)BLOOM_BYTES);
    struct bloom b = {.bytes = (uint64_t)bytes};
    b.bits = mem_zero(b.bytes, 1);
    return b;
}

struct bloom bloom_copy(const void *bits, uint64_t bytes)
{
    return (struct bloom){mem_copy(bits, (size_t)bytes), bytes};
}

void bloom_free(struct bloom *b)
{
    mem_free(b->bits);
    *b = (struct bloom){0};
}

struct probes {
    uint32_t at, step;
    uint64_t bits;
};

static struct probes probes_of(const struct bloom *b, uint64_t key)
{
    key *= UINT64_C(0x9E3779B97F4A7C15);
    key ^= key >> 32;
    key *= UINT64_C(0xD6E8FEB86659FD93);
    return (struct probes){(uint32_t)(key >> 32), (uint32_t)key | 1, b->bytes * 8};
}

static inline uint64_t next_bit(struct probes *p)
{
    uint64_t bit = p->at * p->bits >> 32;
    p->at += p->step;
    return bit;
}

void bloom_add(struct bloom *b, uint64_t key)
{
    struct probes p = probes_of(b, key);
    for (int i = 0; i < PROBES; i++) {
        uint64_t bit = next_bit(&p);
        b->bits[bit >> 3] |= (uint8_t)(1u << (bit & 7));
    }
}

bool bloom_has(const struct bloom *b, uint64_t key)
{
    struct probes p = probes_of(b, key);
    for (int i = 0; i < PROBES; i++) {
        uint64_t bit = next_bit(&p);
        if (!(b->bits[bit >> 3] >> (bit & 7) & 1))
            return false;
    }
    return true;
}

/* A key that was never added passes as known if other keys have set all its bits. */
double bloom_errors(const struct bloom *b)
{
    uint64_t set = 0, word;
    for (uint64_t i = 0; i < b->bytes; i += sizeof word) {
        word = 0;
        memcpy(&word, b->bits + i, b->bytes - i < sizeof word ? b->bytes - i : sizeof word);
        set += (uint64_t)__builtin_popcountll(word);
    }
    return pow((double)set / (double)(b->bytes * 8), PROBES);
}
