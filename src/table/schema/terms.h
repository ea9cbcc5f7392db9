/* terms.h - the hashed terms of a text: a bucket and a signed count each (base/rowfmt.h).
 *
 * A text is cut into folded words (words.h). They are joined to " word word ... ", with no blank
 * between neighbours that are both syllables or signs and have nothing between them. Terms are runs
 * of words, without the blanks around them, and runs of the characters (UTF-8). Older models have
 * WORDS_BYTES: words are runs of ASCII letters, digits and bytes above 127, in lower case of ASCII,
 * and a blank stands between any two. The hash of a term h = rng_hash(bytes, 0), of a run of
 * characters rng_hash(bytes, 1), gives the bucket (h >> 1) % buckets and the sign, minus if h is
 * odd. Terms of one bucket are added. Source: Weinberger et al., "Feature hashing for large scale
 * multitask learning", 2009. */
#ifndef DNN_TABLE_TERMS_H
#define DNN_TABLE_TERMS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"

enum { TERM_RUN_MOST = 8, TERM_SLOTS_MOST = 1024 };
/* The inputs made of a text: terms by weight or by count, or tokens (tokens.h). */
enum text_weight { TEXT_TFIDF, TEXT_COUNT, TEXT_TOKENS };
/* The rule that cuts a text into words. */
enum word_rule { WORDS_BYTES, WORDS_UNICODE };
extern const char *const word_rule_names[]; /* as a model's head has them */
struct text_options {
    uint32_t buckets;            /* tokens: the most of the vocabulary */
    uint32_t words[2], chars[2]; /* shortest and longest run; 0: none of this kind */
    int weight;                  /* enum text_weight */
    int rule;                    /* enum word_rule */
};
/* Buffers for the terms of one text after another; cleared to begin with. */
struct terms {
    int32_t *items; /* [count], in the order in which their buckets came; of tokens: slots */
    uint32_t count;
    uint32_t item_room, table_room;
    uint32_t *table; /* open addressing by bucket: index + 1 */
    struct text words; /* joined */
    size_t *starts;    /* of words, characters or tokens, in `words` */
    size_t start_room;
};
/* Replaces the terms by the terms of a text, at most `most` buckets: later ones are left out. */
void terms_make(struct terms *t, const struct text_options *o, const char *text, size_t length,
                uint32_t most);
/* Sets starts[at]. */
void terms_start(struct terms *t, size_t at, size_t start);
void terms_free(struct terms *t);

#endif
