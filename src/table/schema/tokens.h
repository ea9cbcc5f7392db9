/* tokens.h - a text as tokens, and the vocabulary of a column of them.
 *
 * Words and signs as in words.h, folded; each character of punctuation is a token too.
 *
 * Older models have WORDS_BYTES. There letters, digits and marks of all scripts make words, in
 * lower case (ASCII, Latin, Greek, Cyrillic). Blanks and controls separate. Any other character is
 * one token: punctuation, signs, pictures, and the characters of scripts that write no blanks
 * between words (Chinese, Japanese, Thai, Lao, Khmer, Burmese). A byte that is no UTF-8 counts as a
 * letter. */
#ifndef DNN_TABLE_TOKENS_H
#define DNN_TABLE_TOKENS_H

#include "table/schema/terms.h"
#include "table/schema/vocab.h"

/* Cuts a text by an enum word_rule: token i is bytes starts[i] .. starts[i + 1] of t->words.
 * Returns their number. */
size_t tokens_cut(struct terms *t, int rule, const char *text, size_t length);
/* Replaces t->items by the slots of a text's first tokens, at most `most`: 2 + the index in v, 1
 * for a token that v lacks. Returns how many tokens the text has. */
size_t tokens_make(struct terms *t, int rule, const struct vocab *v, const char *text,
                   size_t length, uint32_t most);

#endif
