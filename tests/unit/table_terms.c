/* table_terms.c - hashed terms of texts: words, runs, characters, signs, limits. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/rowfmt.h"
#include "table/schema/terms.h"
#include "tap.h"

static const struct text_options pairs = {
    .buckets = 1 << 20, .words = {1, 2}, .rule = WORDS_UNICODE};

static int32_t term(const char *bytes, uint64_t kind, uint32_t buckets)
{
    uint64_t h = rng_hash(bytes, strlen(bytes), kind);
    return term_make((uint32_t)((h >> 1) % buckets), h & 1 ? -1 : 1);
}

static void is_terms(struct terms *t, const struct text_options *o, const char *text,
                     const char *const *want, uint64_t kind, const char *name)
{
    uint32_t n = 0;
    bool same = true;
    terms_make(t, o, text, strlen(text), TERM_SLOTS_MOST);
    for (; want[n]; n++)
        same = same && n < t->count && t->items[n] == term(want[n], kind, o->buckets);
    ok(same && n == t->count, "%s: %u terms", name, t->count);
}

static void words(struct terms *t)
{
    const char *const three[] = {"one", "one two", "two", "two 3", "3", NULL};
    is_terms(t, &pairs, "One, two--3!", three, 0, "words and pairs");
    is_terms(t, &pairs, "  one\ttwo\n3", three, 0, "the same between other signs");
    const struct text_options old = {.buckets = 1 << 20, .words = {1, 2}};
    is_terms(t, &old, "«ÖL» öl\xc2\xa0so",
             (const char *const[]){"«Öl»", "«Öl» öl\xc2\xa0so", "öl\xc2\xa0so", NULL}, 0,
             "older models: bytes above 127 are letters, and case is that of ASCII");
    is_terms(t, &pairs, "«ÖL» BIÓ\xc2\xa0so",
             (const char *const[]){"öl", "öl bió", "bió", "bió so", "so", NULL}, 0,
             "punctuation and blanks beyond ASCII, case folded");
    is_terms(t, &pairs, "l’été – O\xcc\x88l",
             (const char *const[]){"l", "l été", "été", "été öl", "öl", NULL}, 0,
             "quotes and dashes separate, accents are composed");
    is_terms(t, &pairs, "我喜欢。X机",
             (const char *const[]){"我", "我喜", "喜", "喜欢", "欢", "欢 x", "x", "x 机",
             "机", NULL}, 0,
             "scripts without blanks: characters and pairs of them");
    is_terms(t, &pairs, "ok👍☺", (const char *const[]){"ok", "ok 👍", "👍", "👍☺",
             "☺", NULL}, 0,
             "pictures");
    is_terms(t, &pairs, " .,;!? ", (const char *const[]){NULL}, 0, "no word");
    is_terms(t, &pairs, "", (const char *const[]){NULL}, 0, "an empty text");
    const struct text_options threes = {.buckets = 1 << 20, .words = {3, 3}};
    is_terms(t, &threes, "a b", (const char *const[]){NULL}, 0, "too short for a run");
    is_terms(t, &threes, "a b c d", (const char *const[]){"a b c", "b c d", NULL}, 0, "runs of 3");
}

static void characters(struct terms *t)
{
    const struct text_options o = {
        .buckets = 1 << 20, .chars = {2, 3}, .rule = WORDS_UNICODE};
    is_terms(t, &o, "a\xc3\xa9",
             (const char *const[]){" a", " a\xc3\xa9", "a\xc3\xa9", "a\xc3\xa9 ", "\xc3\xa9 ",
                                   NULL},
             1, "runs of UTF-8 characters");
    is_terms(t, &o, "机A", (const char *const[]){" 机", " 机 ", "机 ", "机 a", " a", " a ",
             "a ", NULL}, 1,
             "of scripts without blanks");
}

static void counts(struct terms *t)
{
    const struct text_options single = {.buckets = 1 << 20, .words = {1, 1}};
    const struct text_options one = {.buckets = 1, .words = {1, 1}};
    int32_t sign = TERM_COUNT(term("x", 0, 1 << 20));
    terms_make(t, &single, "x y x x", 7, TERM_SLOTS_MOST);
    is_int(t->count, 2, "a term that comes again is one item");
    is_int(TERM_COUNT(t->items[0]), 3 * sign, "its count");
    terms_make(t, &one, "x y", 3, TERM_SLOTS_MOST);
    is_int(t->count, 1, "one bucket for all");
    is_int(TERM_COUNT(t->items[0]), sign + TERM_COUNT(term("y", 0, 1)), "its signed sum");
    is_int(TERM_BUCKET(t->items[0]), 0, "its number");
    char *long_text = mem_alloc(8000, 1);
    size_t n = 0;
    for (int i = 0; i < 600; i++)
        n += (size_t)snprintf(long_text + n, 8000 - n, "x ");
    terms_make(t, &single, long_text, n, TERM_SLOTS_MOST);
    is_int(TERM_COUNT(t->items[0]), TERM_COUNT_MOST * sign, "a count has a limit");
    for (n = 0; n < 7000;)
        n += (size_t)snprintf(long_text + n, 8000 - n, "w%zu ", n);
    terms_make(t, &single, long_text, n, 100);
    is_int(t->count, 100, "at most so many buckets");
    terms_make(t, &single, long_text, n, TERM_SLOTS_MOST);
    bool first = t->items[0] == term("w0", 0, 1 << 20) && t->items[1] == term("w3", 0, 1 << 20);
    ok(first && t->count > 900, "in the order of the text, %u of them", t->count);
    terms_make(t, &single, "x", 1, TERM_SLOTS_MOST);
    ok(t->count == 1 && t->items[0] == term("x", 0, 1 << 20), "the next text starts anew");
    mem_free(long_text);
}

int main(void)
{
    struct terms t = {0};
    words(&t);
    characters(&t);
    counts(&t);
    terms_free(&t);
    return done();
}
