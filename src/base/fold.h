/* fold.h - words that differ in case or accents alone become equal. */
#ifndef DNN_BASE_FOLD_H
#define DNN_BASE_FOLD_H

#include <stdbool.h>

/* Returns the UTF-8 text in small letters (Latin, Greek, Cyrillic), without blanks around it; the
 * caller frees it with mem_free. plain: Latin and Greek letters also lose their accents. Bytes that
 * are not UTF-8 and other scripts stay as they are. */
char *text_fold(const char *text, bool plain);

#endif
