/* sha256.h - FIPS 180-4. Uses the processor's SHA instructions where it has them. */
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
void sha256_hex(struct sha256 *s, char hex[65]); /* ends s; lower case, NUL-terminated */
void sha256_use_plain(void); /* from now on without those instructions: for tests */

#endif
