/* bloom.h - a Bloom filter: a set of 64-bit keys in few bits. It knows every key that was added,
 * and takes a few others for known: one in a hundred at 9.6 bits a key.
 *
 * B. H. Bloom, Space/time trade-offs in hash coding with allowable errors, CACM 13 (1970). Two
 * hashes serve for all: Kirsch and Mitzenmacher, Less hashing, same performance (2008). */
#ifndef DNN_BASE_BLOOM_H
#define DNN_BASE_BLOOM_H

#include <stdbool.h>
#include <stdint.h>

#define BLOOM_BITS 9.6 /* a key */
#define BLOOM_BYTES ((uint64_t)256 << 10) /* at most */

struct bloom {
    uint8_t *bits;
    uint64_t bytes; /* 0: no filter */
};

/* An empty filter with room for `keys` keys, in 1 to BLOOM_BYTES bytes. Caller: bloom_free. */
struct bloom bloom_make(double keys);
/* A filter from `bytes` stored bytes, at least 1, which are copied. */
struct bloom bloom_copy(const void *bits, uint64_t bytes);
void bloom_free(struct bloom *b);
void bloom_add(struct bloom *b, uint64_t key);
bool bloom_has(const struct bloom *b, uint64_t key);
/* The expected share of unknown keys that pass as known. */
double bloom_errors(const struct bloom *b);

#endif
