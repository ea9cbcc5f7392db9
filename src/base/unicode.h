/* unicode.h - classes of Unicode characters, and their mapping: letters without case, accents
 * composed. The tables are utf8proc's. Bytes that are no UTF-8 stay as they are. */
#ifndef DNN_BASE_UNICODE_H
#define DNN_BASE_UNICODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text.h"

enum unicode_class {
    UNICODE_SIGN,   /* signs, pictures, and what the tables do not know; of ASCII: UNICODE_POINT */
    UNICODE_LETTER, /* letters and numbers (categories L, N); a byte that is no UTF-8 */
    UNICODE_MARK,   /* M: belongs to the character before it */
    UNICODE_BLANK,  /* Z, Cc, and the blank of no width (U+200B) */
    UNICODE_POINT,  /* punctuation and modifiers (P, Sk) */
    UNICODE_NOTHING /* Cf and variation selectors: joiners, soft hyphens, a byte-order mark */
};
int unicode_class(uint32_t point);
/* The length of the character at the beginning of a text, 1 to 4; *point: which it is, UINT32_MAX
 * for a byte that is no UTF-8. length > 0. */
size_t unicode_read(const char *text, size_t length, uint32_t *point);

enum unicode_map {
    UNICODE_CASE = 1,  /* full case folding: A is a, ß is ss */
    UNICODE_PLAIN = 2, /* Latin and Greek letters lose their accents */
    UNICODE_CLEAN = 4  /* characters of UNICODE_NOTHING are left out */
};
/* Adds a text to `out`, mapped, and composed (NFC). how: sum of enum unicode_map. */
void unicode_map(struct text *out, const char *text, size_t length, unsigned how);

/* Returns the UTF-8 text without case, with its accents composed (NFC), a blank for each run of
 * blanks of any kind, none around it, and no characters without a width; the caller frees it with
 * mem_free. plain: Latin and Greek letters also lose their accents. */
char *text_fold(const char *text, bool plain);
/* True if two texts are equal, or are once both are composed. */
bool unicode_same(const char *one, size_t length, const char *other, size_t other_length);

const char *unicode_library(void); /* the version of utf8proc */

#endif
