/* sha256.h - SHA-256 (FIPS 180-4), with the SHA instructions of the processor if it has them. */
#ifndef DNN_BASE_SHA256_H
#define DNN_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t length;
    uint8_t block[64];
};
void sha256_init(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t length);
void sha256_hex(struct sha256 *s, char hex[65]); /* ends s; lower-case hex, NUL-terminated */
void sha256_use_plain(void); /* for tests: stop using the instructions */

#endif
