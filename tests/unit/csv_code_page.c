/* csv_code_page.c - the counts behind the likely encoding of a text: the same in pieces of any
 * size. What they tell; the commands that convert a file. */
#include "csv/code_page.h"

#include <string.h>

#include "base/rng.h"
#include "tap.h"

enum { LENGTH = 5000 };

/* ASCII in runs of many lengths, letters beyond it between them. */
static void fill(char *text, uint64_t seed)
{
    static const char plain[] = "abcXYZ ,;\n019";
    for (uint64_t i = 0; i < LENGTH; i++) {
        const uint64_t r = rng_bits(seed, i, 0, 0, RNG_SPLIT);
        const bool high = rng_bits(seed, i / 37, 1, 0, RNG_SPLIT) % 3 == 0 && r % 4 == 0;
        text[i] = high ? (char)(0x80 + (r >> 8) % 128) : plain[(r >> 8) % (sizeof plain - 1)];
    }
}

static void test_pieces(void)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 1000};
    char text[LENGTH];
    bool same = true;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct code_page whole = {0};
        fill(text, seed);
        code_page_count(&whole, text, LENGTH);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            struct code_page p = {0};
            for (size_t at = 0; at < LENGTH; at += sizes[s])
                code_page_count(&p, text + at, LENGTH - at < sizes[s] ? LENGTH - at : sizes[s]);
            same = same && memcmp(&p, &whole, sizeof p) == 0;
        }
        same = same && whole.high > 100 && whole.mixed > 10 && whole.pure > 10;
    }
    ok(same, "the same counts in pieces of any size");
}

static const char *likely(const char *text)
{
    struct code_page p = {0};
    const char *other;
    for (int i = 0; i < 30; i++)
        code_page_count(&p, text, strlen(text));
    return code_page_likely(&p, &other);
}

static void test_likely(void)
{
    const char *russian = likely("id,\xcc\xee\xf1\xea\xe2\xe0,\xd1\xe0\xed\xea\xf2\n"),
               *western = likely("id,caf\xe9,Stra\xdf" "e,se\xf1or\n"), *plain = likely("a,b,c\n");
    ok(russian && strcmp(russian, "CP1251") == 0, "Russian in cp1251");
    ok(!western, "French, German and Spanish in cp1252 are read");
    ok(!plain, "ASCII tells nothing");
}

static bool is_remedy(const char *path, const char *other, const char *expected)
{
    struct text out = {0};
    code_page_remedy("CP1251", other, path, &out);
    const bool same = strcmp(out.data, expected) == 0;
    text_free(&out);
    return same;
}

static void test_remedy(void)
{
    ok(is_remedy("a.csv", NULL, "iconv -f CP1251 -t UTF-8 a.csv > a.utf8.csv") &&
           is_remedy("a.csv.gz", NULL, "zcat a.csv.gz | iconv -f CP1251 -t UTF-8 > a.utf8.csv") &&
           is_remedy("-", NULL, "put it in front: | iconv -f CP1251 -t UTF-8") &&
           is_remedy("-", "KOI8-R", "put it in front: | iconv -f CP1251 -t UTF-8 (or -f KOI8-R, if "
                                    "its letters are the right ones)"),
       "the commands that convert a file, a packed one, and what comes through a pipe");
}

int main(void)
{
    test_pieces();
    test_likely();
    test_remedy();
    return done();
}
