/* words.h - cuts a text into words, by the classes of its Unicode characters (base/unicode.h).
 *
 * A word is a run of letters, numbers and marks. A character of a script that puts no blanks
 * between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese) is one word, with the marks after
 * it; so is a sign beyond ASCII, such as a picture. Punctuation and blanks separate. Joiners, soft
 * hyphens and variation selectors are no part of a word and separate nothing. A folded word has no
 * case and is composed (NFC), so that a word is the same in capitals, and with its accents
 * apart. */
#ifndef DNN_TABLE_WORDS_H
#define DNN_TABLE_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text.h"

enum word_kind {
    WORD_NONE,
    WORD_LETTERS,  /* a run of letters and numbers */
    WORD_SYLLABLE, /* a character of a script without blanks */
    WORD_SIGN,
    WORD_POINT /* a character of punctuation */
};
/* A word of a text: bytes from .. to. */
struct word_place {
    enum word_kind kind;
    size_t from, to;
    bool ascii; /* all of its bytes are ASCII */
};
/* Finds the next word from w->to on; begin with {0}. points: punctuation is a word too. False: no
 * more. */
bool words_next(struct word_place *w, const char *text, size_t length, bool points);
/* The number of words of WORD_SYLLABLE in a text. */
size_t words_syllables(const char *text, size_t length);
/* Adds the folded word. */
void words_fold(struct text *out, const char *text, const struct word_place *w);

#endif
