/* terms.c - the number of buckets for the terms of a text column: its number of different terms, up
 * to the next power of two. Terms are counted in a bitmap by their hashes. Source: Whang et al., "A
 * linear-time probabilistic counting algorithm for database applications", 1990. */
#include <math.h>

#include "base/mem.h"
#include "base/rowfmt.h"
#include "infer/survey.h"

enum { BITS = 1 << 17, TEXTS_MOST = 50000, BUCKETS_USUAL = 2000, BUCKETS_MOST = 1 << 16 };

void infer_terms_add(struct infer_terms *t, const char *text, size_t length)
{
    static const struct text_options words = {
        .buckets = BITS, .words = {1, 2}, .rule = WORDS_UNICODE};
    if (t->texts == TEXTS_MOST)
        return;
    t->texts++;
    if (!t->seen)
        t->seen = mem_zero(BITS / 64, sizeof *t->seen);
    terms_make(&t->terms, &words, text, length, TERM_SLOTS_MOST);
    for (uint32_t i = 0; i < t->terms.count; i++) {
        uint32_t bucket = TERM_BUCKET(t->terms.items[i]);
        t->seen[bucket / 64] |= UINT64_C(1) << bucket % 64;
    }
}

uint32_t infer_terms_buckets(const struct infer_terms *t)
{
    uint32_t unseen = BITS, buckets = 1;
    for (uint32_t i = 0; t->seen && i < BITS / 64; i++)
        unseen -= (uint32_t)__builtin_popcountll(t->seen[i]);
    double terms = unseen ? BITS * log((double)BITS / unseen) : BITS;
    if (terms <= BUCKETS_USUAL)
        return 0;
    while (buckets < terms && buckets < BUCKETS_MOST)
        buckets *= 2;
    return buckets;
}

void infer_terms_free(struct infer_terms *t)
{
    terms_free(&t->terms);
    mem_free(t->seen);
}
