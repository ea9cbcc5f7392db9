/* code_page.c - see code_page.h. Frequent letters of languages, and the ranges of the characters in
 * daily use: level 1 of GB 2312, JIS X 0208 and Big5, the Hangul of KS X 1001. */
#include "csv/code_page.h"

#include <stdbool.h>
#include <string.h>

#include "base/process/shell.h"

enum { ENOUGH = 1 << 20 }; /* bytes from 0x80 on; more tell nothing new */

/* Two bytes a character. Ranges: pairs of first and last byte. CP932 has kana of one byte, too. */
enum { KANA = 4 };
static const struct {
    const char *name;
    unsigned char lead[4], trail[4], usual[4], usual_trail;
} wide[CODE_PAGES_WIDE] = {
    /* the narrower of two that fit stands first */
    {"EUC-KR", {0xA1, 0xFE}, {0xA1, 0xFE}, {0xA1, 0xA3, 0xB0, 0xC8}, 0xA1},
    {"GB18030", {0x81, 0xFE}, {0x40, 0x7E, 0x80, 0xFE}, {0xA1, 0xA3, 0xB0, 0xD7}, 0xA1},
    {"EUC-JP", {0xA1, 0xFE}, {0xA1, 0xFE}, {0xA1, 0xA5, 0xB0, 0xCF}, 0xA1},
    {"BIG5", {0x81, 0xFE}, {0x40, 0x7E, 0xA1, 0xFE}, {0xA1, 0xA1, 0xA4, 0xC6}, 0x40},
    [KANA] = {"CP932", {0x81, 0x9F, 0xE0, 0xFC}, {0x40, 0x7E, 0x80, 0xFC},
              {0x81, 0x83, 0x88, 0x97}, 0x40},
};

/* The most frequent letters of scripts other than the Latin one, both cases. */
static const struct letters {
    const char *name, *bytes;
} scripts[] = {
    {"CP1251", "\xEE\xE5\xE0\xE8\xED\xF2\xF1\xF0\xE2\xEB\xEA\xEC"
               "\xCE\xC5\xC0\xC8\xCD\xD2\xD1\xD0\xC2\xCB\xCA\xCC"},
    {"KOI8-R", "\xCF\xC5\xC1\xC9\xCE\xD4\xD3\xD2\xD7\xCC\xCB\xCD"
               "\xEF\xE5\xE1\xE9\xEE\xF4\xF3\xF2\xF7\xEC\xEB\xED"},
    {"CP866", "\xAE\xA5\xA0\xA8\xAD\xE2\xE1\xE0\xA2\xAB\xAA\xAC"
              "\x8E\x85\x80\x88\x8D\x92\x91\x90\x82\x8B\x8A\x8C"},
    {"ISO-8859-5", "\xDE\xD5\xD0\xD8\xDD\xE2\xE1\xE0\xD2\xDB\xDA\xDC"
                   "\xBE\xB5\xB0\xB8\xBD\xC2\xC1\xC0\xB2\xBB\xBA\xBC"},
    {"CP1253", "\xE1\xEF\xE9\xE5\xF4\xF3\xED\xE7\xF1\xF5\xF2\xEA\xDC\xDF"
               "\xC1\xCF\xC9\xC5\xD4\xD3\xCD\xC7\xD1"},
    {"CP1255", "\xE9\xE5\xE4\xEC\xE0\xF8\xFA\xF9\xEE\xE1\xF0\xED"},
    {"CP1256", "\xC7\xE1\xED\xE3\xE4\xD1\xCA\xE6\xC8\xC9\xCF\xDA"},
    {"CP874", "\xD2\xC3\xB9\xCD\xA1\xE0\xA7\xE8\xE9\xD1\xC2\xC1\xC5\xC7\xD5\xD4"},
};

/* The letters of Latin alphabets beyond ASCII. The first WESTERN are cp1252's: most of Western
 * Europe, Portuguese, French, Italian, Finnish and Estonian. A text in one of the other four has
 * its first letter. */
enum { WESTERN = 5 };
static const struct letters alphabets[] = {
    {"CP1252", "\xDF\xE4\xF6\xFC\xC4\xD6\xDC\xE0\xE2\xE6\xE7\xE8\xE9\xEA\xEB\xEE\xEF\xF4\xF9"
               "\xC0\xC2\xC6\xC7\xC8\xC9\xCA\xCB\xCE\xCF\xD4\x9C\x8C\xE1\xED\xF1\xF3\xFA\xC1\xCD"
               "\xD1\xD3\xDA\xE3\xC3\xE5\xF8\xC5\xD8\x92\xB7"},
    {"CP1252", "\xE7\xE1\xE2\xE3\xE0\xE9\xEA\xED\xF3\xF4\xF5\xFA\xFC\xC1\xC2\xC3\xC7\xC9\xCA\xCD"
               "\xD3\xD4\xD5\xDA\x92"},
    {"CP1252", "\xE9\xE0\xE2\xE7\xE8\xEA\xEB\xEE\xEF\xF4\xF9\xFB\xFC\x9C\xC0\xC7\xC8\xC9\xCA\x92"},
    {"CP1252", "\xE0\xE8\xE9\xEC\xF2\xF9\xC0\xC8\xC9\x92"},
    {"CP1252", "\xE4\xF5\xF6\xFC\xE5\x9A\x9E\xC4\xD5\xD6\xDC\xC5\x8A\x8E"},
    /* Polish, Czech and Slovak, Croatian and Slovene */
    {"CP1250", "\xB9\xE6\xEA\xB3\xF1\xF3\x9C\x9F\xBF\xA5\xC6\xCA\xA3\xD1\xD3\x8C\x8F\xAF"},
    {"CP1250", "\xE0\xE1\xE4\xE5\xE8\xEF\xE9\xEC\xED\xF2\xF3\xF4\xF8\x9A\x9D\xFA\xF9\xFD\x9E\xBE"
               "\xC1\xC8\xCF\xC9\xCC\xCD\xD2\xD3\xD8\x8A\x8D\xDA\xD9\xDD\x8E\xBC"},
    {"CP1250", "\xE6\xE8\xF0\x9A\x9E\xC6\xC8\xD0\x8A\x8E"},
    /* the same three */
    {"ISO-8859-2", "\xB1\xE6\xEA\xB3\xF1\xF3\xB6\xBC\xBF\xA1\xC6\xCA\xA3\xD1\xD3\xA6\xAC\xAF"},
    {"ISO-8859-2", "\xE0\xE1\xE4\xE5\xE8\xEF\xE9\xEC\xED\xF2\xF3\xF4\xF8\xB9\xBB\xFA\xF9\xFD\xBE"
                   "\xB5\xC1\xC8\xCF\xC9\xCC\xCD\xD2\xD3\xD8\xA9\xAB\xDA\xD9\xDD\xAE\xA5"},
    {"ISO-8859-2", "\xE6\xE8\xF0\xB9\xBE\xC6\xC8\xD0\xA9\xAE"},
    /* Hungarian, Romanian, Turkish, Icelandic, Lithuanian and Latvian */
    {"CP1250", "\xE1\xE9\xED\xF3\xF6\xF5\xFA\xFC\xFB\xC1\xC9\xCD\xD3\xD6\xD5\xDA\xDC\xDB"},
    {"CP1250", "\xE3\xE2\xEE\xBA\xFE\xC3\xCE\xAA\xDE"},
    {"CP1254", "\xE7\xF0\xFD\xF6\xFE\xFC\xDD\xDE\xD0\xC7\xD6\xDC\xE2\xEE\xFB"},
    {"CP1252", "\xE1\xE9\xED\xF3\xFA\xFD\xF0\xFE\xE6\xF6\xC1\xC9\xCD\xD3\xDA\xDD\xD0\xDE\xC6\xD6"},
    {"CP1257", "\xE0\xE2\xE1\xE6\xE7\xE8\xEB\xEC\xED\xEE\xEF\xF0\xF2\xF8\xFB\xFE"
               "\xC0\xC2\xC1\xC6\xC7\xC8\xCB\xCC\xCD\xCE\xCF\xD0\xD2\xD8\xDB\xDE"},
    /* Western Europe of DOS and of the Mac */
    {"CP850", "\x82\x81\x84\x94\xE1\x8A\x85\x87\x88\xA4\xA2\xA1\xA0\xA3\xC6\x86\x9B\x91\x83\x93\x8C"
              "\x89\x8B\x96\x95\x97\x8E\x99\x9A\x90\x8F\x9D\x92\x80\xA5"},
    {"MACINTOSH", "\x8E\x9F\x8A\x9A\xA7\x8F\x88\x8D\x90\x96\x97\x92\x87\x9C\x8C\xBF\xBE\x89\x99\x94"
                  "\x91\x95\x9E\x80\x85\x86\x83\x84\x8B\xCC\x81\xAF\xAE\xA8\xD8\x9B\xCF\xD5"},
};
#define ROWS(table) (sizeof(table) / sizeof *(table))

static bool within(const unsigned char *ranges, unsigned char b)
{
    return (b >= ranges[0] && b <= ranges[1]) || (ranges[2] && b >= ranges[2] && b <= ranges[3]);
}

static bool is_letter(unsigned char b)
{
    return b >= 0x80 || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z');
}

static void count_wide(struct code_page *p, unsigned char b)
{
    for (size_t i = 0; i < CODE_PAGES_WIDE; i++) {
        const unsigned char lead = p->wide[i].lead;
        p->wide[i].lead = 0;
        if (lead) {
            const bool right = within(wide[i].trail, b);
            p->wide[i].pairs++;
            p->wide[i].wrong += !right;
            p->wide[i].usual += right && within(wide[i].usual, lead) && b >= wide[i].usual_trail;
        } else if (b >= 0x80 && within(wide[i].lead, b)) {
            p->wide[i].lead = b;
        } else if (b >= 0x80) { /* a kana of one byte, if the page has some, else a wrong byte */
            const bool kana = i == KANA && b >= 0xA1;
            p->wide[i].pairs++;
            p->wide[i].wrong += !kana;
            p->wide[i].usual += kana && p->before >= 0xA1 && p->before <= 0xDF;
        }
    }
}

static void end_word(struct code_page *p)
{
    if (p->word > p->ascii) {
        p->mixed += p->ascii > 0;
        p->pure += !p->ascii && (p->word > 1 || p->one >= 0xC0);
    }
    p->word = p->ascii = p->one = 0;
}

/* Passes over the ASCII bytes at the beginning, which are most of a file. They change the current
 * word alone. Returns their number. No byte waits, and no pair is open. */
static size_t pass_ascii(struct code_page *p, const char *bytes, size_t length)
{
    size_t end = 0, word = 0;
    for (uint64_t eight; end + sizeof eight <= length; end += sizeof eight) {
        memcpy(&eight, bytes + end, sizeof eight);
        if (eight & UINT64_C(0x8080808080808080))
            break;
    }
    while (end < length && (unsigned char)bytes[end] < 0x80)
        end++;
    while (word < end && is_letter((unsigned char)bytes[end - 1 - word]))
        word++;
    if (word < end)
        end_word(p);
    p->word += word;
    p->ascii += word;
    p->before = end ? (unsigned char)bytes[end - 1] : p->before;
    return end;
}

void code_page_count(struct code_page *p, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length && p->high < ENOUGH; i++) {
        if (!p->waiting)
            i += pass_ascii(p, bytes + i, length - i);
        if (i == length)
            break;
        const unsigned char b = (unsigned char)bytes[i];
        if (p->waiting) {
            const bool left = is_letter(p->before), right = is_letter(b);
            uint64_t *counts = left && right ? p->inside : p->edge;
            counts[p->waiting - 0x80] += left || right || p->waiting >= 0xC0;
            p->before = p->waiting;
            p->waiting = 0;
        }
        count_wide(p, b);
        if (is_letter(b)) {
            p->word++;
            p->ascii += b < 0x80;
        } else {
            end_word(p);
        }
        if (b >= 0x80) {
            p->high++;
            p->waiting = b;
            p->one = p->one ? p->one : b;
        } else {
            p->before = b;
        }
    }
}

/* The two best of some rows. */
struct best {
    const char *first, *second;
    double one, two;
};

static void offer(struct best *b, const char *name, double score)
{
    if (b->first && strcmp(b->first, name) == 0) {
        b->one = score > b->one ? score : b->one;
    } else if (!b->first || score > b->one) {
        b->second = b->first;
        b->two = b->one;
        b->first = name;
        b->one = score;
    } else if (!b->second || score > b->two) {
        b->second = name;
        b->two = score;
    }
}

static const char *take(const struct best *b, double near, const char **other)
{
    const bool both = b->second && b->two >= b->one - near && strcmp(b->second, "CP1252") != 0;
    *other = both ? b->second : NULL;
    return b->first;
}

static bool has(const struct letters *of, size_t byte)
{
    return strchr(of->bytes, (int)(byte + 0x80)) != NULL;
}

/* The share of the bytes that are none of the alphabet's letters. At the edge of a word a sign of
 * the Windows pages may stand: a quote, a unit. */
static double misses(const struct code_page *p, const struct letters *of)
{
    const bool windows = strncmp(of->name, "CP125", 5) == 0;
    uint64_t missed = 0, all = 0;
    for (size_t i = 0; i < 128; i++) {
        const bool sign = windows && i < 0x40;
        all += p->inside[i] + p->edge[i];
        missed += has(of, i) ? 0 : p->inside[i] + (sign ? 0 : p->edge[i]);
    }
    return all ? (double)missed / (double)all : 0.0;
}

static const char *likely_wide(const struct code_page *p, const char **other)
{
    enum { FEW = 50 }; /* with more characters, the narrower of two is the one */
    struct best best = {0};
    for (size_t i = 0; i < CODE_PAGES_WIDE; i++) {
        const uint64_t pairs = p->wide[i].pairs;
        if (pairs && p->wide[i].wrong * 50 <= pairs && p->wide[i].usual * 10 >= pairs * 7)
            offer(&best, wide[i].name, (double)p->wide[i].usual / (double)pairs);
        if (pairs >= FEW && best.first == wide[i].name && best.one > 0.99)
            break;
    }
    return take(&best, 0.02, other);
}

static const char *likely_script(const struct code_page *p, double least, const char **other)
{
    struct best best = {0};
    for (size_t k = 0; k < ROWS(scripts); k++) {
        uint64_t found = 0, all = 0;
        for (size_t i = 0; i < 128; i++) {
            const uint64_t here = p->inside[i] + p->edge[i];
            all += here;
            found += has(&scripts[k], i) ? here : 0;
        }
        if (all && (double)found >= least * (double)all)
            offer(&best, scripts[k].name, (double)found / (double)all);
    }
    return take(&best, 0.05, other);
}

const char *code_page_likely(const struct code_page *p, const char **other)
{
    const double much = p->high < 40 ? 0.0 : 0.05;
    double western = 1;
    struct best best = {0};
    *other = NULL;
    for (size_t k = 0; k < WESTERN; k++) {
        const size_t first = (unsigned char)alphabets[k].bytes[0] - 0x80u;
        const double missed = k && !p->inside[first] && !p->edge[first] ? 1.0
                                                                        : misses(p, &alphabets[k]);
        western = missed < western ? missed : western;
    }
    if (!p->high || western == 0.0)
        return NULL;
    for (size_t k = WESTERN; k < ROWS(alphabets); k++)
        offer(&best, alphabets[k].name, -misses(p, &alphabets[k]));
    const bool all = p->mixed && -best.one < 0.01;
    const char *name = NULL;
    if (!all && p->pure > p->mixed)
        name = likely_script(p, 0.7, other);
    if (!name && !all)
        name = likely_wide(p, other);
    if (!name && !all && p->pure > p->mixed)
        name = likely_script(p, 0.33, other);
    if (name || strcmp(best.first, "CP1252") == 0)
        return name;
    return -best.one < western - much ? take(&best, 0.03, other) : NULL;
}

void code_page_remedy(const char *name, const char *other, const char *path, struct text *out)
{
    text_put(out, shell_remedy(path, ".utf8.csv", "iconv -f %s -t UTF-8 FILE", name));
    if (other)
        text_printf(out, " (or -f %s, if its letters are the right ones)", other);
}
