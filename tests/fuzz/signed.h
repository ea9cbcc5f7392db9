/* signed.h - a model file with the SHA-256 that it asks for, so that a fuzzer comes past it. */
#ifndef DNN_TESTS_FUZZ_SIGNED_H
#define DNN_TESTS_FUZZ_SIGNED_H

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"

/* A copy of at least 99 bytes, with its own digest where a file of that format has it; the caller
 * frees it with mem_free. */
static inline uint8_t *signed_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = mem_copy(data, size);
    memset(copy + 35, '0', 64);
    struct sha256 s;
    char hex[65];
    sha256_init(&s);
    sha256_add(&s, copy, size);
    sha256_hex(&s, hex);
    memcpy(copy + 35, hex, 64);
    return copy;
}

#endif
