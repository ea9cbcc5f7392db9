/* signed.h - the entry point of a fuzzer whose input is a model or checkpoint file: `load` gets the
 * bytes as they are, and again with a correct SHA-256, so that the fuzzer passes the digest check.
 * The including file defines load(). */
#ifndef DNN_TESTS_FUZZ_SIGNED_H
#define DNN_TESTS_FUZZ_SIGNED_H

#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/file/sha256.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
static void load(const void *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { DIGEST_AT = 35, DIGEST = 64 };
    load(data, size);
    if (size < DIGEST_AT + DIGEST)
        return 0;
    uint8_t *copy = mem_copy(data, size);
    memset(copy + DIGEST_AT, '0', DIGEST);
    struct sha256 s;
    char hex[DIGEST + 1];
    sha256_init(&s);
    sha256_add(&s, copy, size);
    sha256_hex(&s, hex);
    memcpy(copy + DIGEST_AT, hex, DIGEST);
    load(copy, size);
    mem_free(copy);
    return 0;
}

#endif
