/* fold.h - words that differ in case, blanks or accents alone become equal. */
#ifndef DNN_BASE_FOLD_H
#define DNN_BASE_FOLD_H

#include <stdbool.h>

/* Returns the UTF-8 text without case, with its accents composed (NFC), a blank for each run of
 * blanks of any kind, none around it, and no characters without a width; the caller frees it with
 * mem_free. plain: Latin and Greek letters also lose their accents. */
char *text_fold(const char *text, bool plain);

#endif
