/* csv_number.c - the grammar of numbers as a table, their range, and equality with strtod on
 * random and hostile decimals. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "csv/form/number.h"
#include "tap.h"

#define BAD NUMBER_BAD, 0
#define RANGE NUMBER_RANGE, 0

static const struct {
    const char *text;
    char decimal;
    enum number_result result;
    double value;
} forms[] = {
    {"0", '.', NUMBER_OK, 0},
    {"-0", '.', NUMBER_OK, -0.0},
    {"7", '.', NUMBER_OK, 7},
    {"-7", '.', NUMBER_OK, -7},
    {"007", '.', NUMBER_OK, 7},
    {"12", '.', NUMBER_OK, 12},
    {"123", '.', NUMBER_OK, 123},
    {"1.5", '.', NUMBER_OK, 1.5},
    {"-1.5", '.', NUMBER_OK, -1.5},
    {"0.1", '.', NUMBER_OK, 0.1},
    {"00.10", '.', NUMBER_OK, 0.1},
    {"1e3", '.', NUMBER_OK, 1000},
    {"1E3", '.', NUMBER_OK, 1000},
    {"1e+3", '.', NUMBER_OK, 1000},
    {"1e-3", '.', NUMBER_OK, 0.001},
    {"1.25e2", '.', NUMBER_OK, 125},
    {"1e0003", '.', NUMBER_OK, 1000},
    {"9007199254740993", '.', NUMBER_OK, 9007199254740992.0},
    {"16777217", '.', NUMBER_OK, 16777217},
    {"123456789012345678901234567890", '.', NUMBER_OK, 123456789012345678901234567890.0},
    {"0.30000000000000004", '.', NUMBER_OK, 0.30000000000000004},
    {"8.692932128906250000e-01", '.', NUMBER_OK, 0.869293212890625},
    {"1e-46", '.', NUMBER_OK, 1e-46},
    {"1e-400", '.', NUMBER_OK, 0},
    {"0e999999999999999999999", '.', NUMBER_OK, 0},
    {"3.4028235e38", '.', NUMBER_OK, 3.4028235e38},
    {"3.4028235677973362e38", '.', NUMBER_OK, 3.4028235677973362e38},
    {"12,5", ',', NUMBER_OK, 12.5},
    {"-0,25", ',', NUMBER_OK, -0.25},
    {"3.4028235677973366e38", '.', RANGE},
    {"1e39", '.', RANGE},
    {"-1e39", '.', RANGE},
    {"1e400", '.', RANGE},
    {"1e999999999999999999999", '.', RANGE},
    {"", '.', BAD},
    {"-", '.', BAD},
    {"--1", '.', BAD},
    {"+1", '.', NUMBER_OK, 1},
    {".", '.', BAD},
    {".5", '.', NUMBER_OK, 0.5},
    {"-.5", '.', NUMBER_OK, -0.5},
    {"5.", '.', NUMBER_OK, 5},
    {"1.e3", '.', NUMBER_OK, 1000},
    {"+-1", '.', BAD},
    {".e3", '.', BAD},
    {"1e", '.', BAD},
    {"1e+", '.', BAD},
    {"1e-", '.', BAD},
    {"e5", '.', BAD},
    {"1.5.2", '.', BAD},
    {"1..5", '.', BAD},
    {"1-2", '.', BAD},
    {"1e5.0", '.', BAD},
    {" 1", '.', BAD},
    {"1 ", '.', BAD},
    {"\t1", '.', BAD},
    {"1 000", '.', BAD},
    {"1_000", '.', BAD},
    {"1,000", '.', BAD},
    {"1.234,5", '.', BAD},
    {"1.234,5", ',', BAD},
    {"1,234.5", '.', BAD},
    {"12,5", '.', BAD},
    {"12.5", ',', BAD},
    {"nan", '.', BAD},
    {"NaN", '.', BAD},
    {"inf", '.', BAD},
    {"-inf", '.', BAD},
    {"Infinity", '.', BAD},
    {"0x1p3", '.', BAD},
    {"0x10", '.', BAD},
    {"1.5f", '.', BAD},
    {"1d5", '.', BAD},
    {"12345678/", '.', BAD},
    {"12345678:", '.', BAD},
    {"1234567\xB1", '.', BAD},
    {"\xEF\xBC\x91\xEF\xBC\x92", '.', BAD}, /* full-width digits */
    {"\xE2\x88\x92"
     "5",
     '.', BAD}, /* U+2212 minus */
    {"1%", '.', BAD},
    {"$1", '.', BAD},
    {"12345678901234567890123456789x", '.', BAD},
};

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

static void test_forms(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        double v = 0;
        size_t length = strlen(forms[i].text);
        char *copy = malloc(length ? length : 1); /* a sanitizer sees a read beyond it */
        memcpy(copy, forms[i].text, length);
        enum number_result r = number_parse(copy, length, forms[i].decimal, &v);
        free(copy);
        ok(r == forms[i].result && (r != NUMBER_OK || same_bits(v, forms[i].value)),
           "form %zu: \"%s\" gives %d, %.17g", i, length < 60 ? forms[i].text : "...", (int)r, v);
    }
    double v = 0;
    is_int(number_parse("1\0002", 3, '.', &v), NUMBER_BAD, "a NUL ends nothing");
}

/* Compares one text with strtod; false and a line when they differ. */
static bool agrees(const char *text)
{
    double mine = 0, theirs = strtod(text, NULL);
    enum number_result r = number_parse(text, strlen(text), '.', &mine);
    bool beyond = fabs(theirs) >= 0x1.ffffffp127;
    if (beyond ? r == NUMBER_RANGE : r == NUMBER_OK && same_bits(mine, theirs))
        return true;
    printf("# %s: %d %.17g, strtod gives %.17g\n", text, (int)r, mine, theirs);
    return false;
}

static uint32_t draw(uint64_t *state, uint32_t below)
{
    struct rng4 r = rng_philox(7, (uint32_t)*state, (uint32_t)(*state >> 32), 0, RNG_TEST);
    ++*state;
    return r.v[0] % below;
}

/* A random text of the grammar: many shapes, each digit count from 1 to 40, exponents near the ends
 * of the table. */
static void random_text(uint64_t *state, char *out)
{
    char *at = out;
    if (draw(state, 2))
        *at++ = '-';
    uint32_t whole = 1 + draw(state, draw(state, 4) ? 6 : 25);
    uint32_t places = draw(state, draw(state, 4) ? 8 : 25);
    for (uint32_t i = 0; i < whole; i++)
        *at++ = (char)('0' + draw(state, 10));
    if (places) {
        *at++ = '.';
        uint32_t zeros = draw(state, 5) ? 0 : draw(state, 30);
        for (uint32_t i = 0; i < zeros; i++)
            *at++ = '0';
        for (uint32_t i = 0; i < places; i++)
            *at++ = (char)('0' + draw(state, 10));
    }
    *at = '\0';
    int span = draw(state, 4) ? 40 : 700;
    if (draw(state, 3) == 0)
        snprintf(at, 16, "e%d", (int)draw(state, (uint32_t)span) - span / 2);
}

/* Decimals next to half way between two doubles: where rounding is decided by the last digit. */
static void hard_text(uint64_t *state, char *out)
{
    uint64_t bits = (uint64_t)draw(state, UINT32_MAX) << 32 | draw(state, UINT32_MAX);
    bits = (bits & 0x800FFFFFFFFFFFFFu) | (uint64_t)(1023 - 140 + draw(state, 260)) << 52;
    double v;
    memcpy(&v, &bits, sizeof v);
    double next = nextafter(v, INFINITY);
    static const int digits[] = {15, 16, 17, 18, 19, 20, 25, 60};
    long double between = ((long double)v + next) / 2; /* 64 bits: exact */
    snprintf(out, 128, "%.*Le", digits[draw(state, 8)], draw(state, 3) ? between : (long double)v);
}

static void test_against_library(void)
{
    const char *full = getenv("DNN_TEST_LONG");
    int rounds = full ? 5000000 : 300000;
    uint64_t state = 0;
    char text[256];
    bool same = true;
    for (int i = 0; i < rounds && same; i++) {
        random_text(&state, text);
        same = agrees(text);
    }
    ok(same, "%d random decimals are those of strtod", rounds);
    for (int i = 0; i < rounds && same; i++) {
        hard_text(&state, text);
        same = agrees(text);
    }
    ok(same, "%d decimals beside half way are those of strtod", rounds);
    for (int i = 0; i < rounds && same; i++) {
        snprintf(text, sizeof text, "%.*f", (int)draw(&state, 12),
                 (double)((int64_t)draw(&state, UINT32_MAX) - INT32_MAX) / 1e5);
        same = agrees(text);
    }
    ok(same, "%d short decimals are those of strtod", rounds);
    for (int i = 0; i < rounds && same; i++) {
        float f;
        uint32_t bits = draw(&state, UINT32_MAX);
        memcpy(&f, &bits, sizeof f);
        if (!isfinite(f))
            continue;
        snprintf(text, sizeof text, "%.*g", (int)(6 + draw(&state, 12)), (double)f);
        same = agrees(text);
    }
    ok(same, "%d floats printed and read are those of strtod", rounds);
}

/* Any change of one byte of a number gives what strtod with the whole grammar gives, or is refused.
 * */
static void test_one_byte_changes(void)
{
    static const char *const seeds[] = {"123456789012.5", "-0.5", "1e10", "12345678",
                                        "1234567890123456"};
    bool right = true;
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++)
        for (size_t at = 0; seeds[s][at]; at++)
            for (int c = 1; c < 256; c++) {
                char text[32];
                snprintf(text, sizeof text, "%s", seeds[s]);
                text[at] = (char)c;
                const char *p = text + (*text == '-' || *text == '+');
                size_t digits = strspn(p, "0123456789");
                p += digits;
                if (*p == '.') {
                    digits += strspn(p + 1, "0123456789");
                    p += 1 + strspn(p + 1, "0123456789");
                }
                bool grammar = digits > 0;
                if (*p == 'e' || *p == 'E') {
                    p += 1 + (p[1] == '-' || p[1] == '+');
                    grammar &= strspn(p, "0123456789") > 0;
                    p += strspn(p, "0123456789");
                }
                grammar &= *p == '\0';
                double v;
                enum number_result r = number_parse(text, strlen(text), '.', &v);
                if (!grammar && r != NUMBER_BAD) {
                    printf("# taken: %s\n", text);
                    right = false;
                }
                if (grammar && !agrees(text))
                    right = false;
            }
    ok(right, "every change of one byte is judged by the grammar");
}

int main(void)
{
    test_forms();
    test_against_library();
    test_one_byte_changes();
    return done();
}
