/* scan_masks.c - the masks in plain C and SSE2, the choice for the processor, windows of a text,
 * and the two simple passes over all bytes. */
#include "csv/scan.h"

#include <string.h>

#include "csv/processor.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

void scan_masks_plain(const unsigned char *bytes, size_t blocks, char delimiter,
                      struct scan_masks *out)
{
    for (size_t i = 0; i < blocks; i++, bytes += 64) {
        struct scan_masks m = {0};
        for (unsigned k = 0; k < 64; k++) {
            unsigned char c = bytes[k];
            m.quote |= (uint64_t)(c == '"') << k;
            m.delimiter |= (uint64_t)(c == (unsigned char)delimiter) << k;
            m.feed |= (uint64_t)(c == '\n') << k;
            m.cr |= (uint64_t)(c == '\r') << k;
            m.blank |= (uint64_t)(c == ' ' || c == '\t') << k;
        }
        m.blank &= ~m.delimiter;
        out[i] = m;
    }
}

#if defined(__x86_64__)
static inline uint64_t equal64(const __m128i v[4], char c)
{
    __m128i wanted = _mm_set1_epi8(c);
    uint64_t mask = 0;
    for (int i = 3; i >= 0; i--)
        mask = mask << 16 | (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(v[i], wanted));
    return mask;
}

void scan_masks_sse2(const unsigned char *bytes, size_t blocks, char delimiter,
                     struct scan_masks *out)
{
    for (size_t i = 0; i < blocks; i++, bytes += 64) {
        __m128i v[4];
        memcpy(v, bytes, sizeof v);
        out[i].quote = equal64(v, '"');
        out[i].delimiter = equal64(v, delimiter);
        out[i].feed = equal64(v, '\n');
        out[i].cr = equal64(v, '\r');
        out[i].blank = (equal64(v, ' ') | equal64(v, '\t')) & ~out[i].delimiter;
    }
}

static scan_masks_fn *choose(void)
{
    if (processor_may("avx512") && __builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512bw"))
        return scan_masks_avx512;
    if (processor_may("avx2") && __builtin_cpu_supports("avx2"))
        return scan_masks_avx2;
    return processor_may("sse2") ? scan_masks_sse2 : scan_masks_plain;
}
#else
static scan_masks_fn *choose(void)
{
    return scan_masks_plain;
}
#endif

/* True if a cell begins at the quote: blanks may stand before it. */
static bool begins_cell(const struct csv_dialect *d, const char *bytes, size_t at)
{
    while (at && (bytes[at - 1] == ' ' || bytes[at - 1] == '\t') && bytes[at - 1] != d->delimiter)
        at--;
    return at == 0 || bytes[at - 1] == d->delimiter || bytes[at - 1] == '\n' ||
           bytes[at - 1] == '\r';
}

/* Drops the quotes that open no cell, close none and are no pair in one. */
static void drop_characters(const struct csv_dialect *d, const char *bytes, size_t size,
                            size_t base, struct scan_open *l, struct scan_masks *m)
{
    for (uint64_t quotes = m->quote; quotes; quotes &= quotes - 1) {
        size_t at = base + (size_t)__builtin_ctzll(quotes);
        if (at < l->after)
            continue;
        if (!l->inside && !begins_cell(d, bytes, at))
            m->quote &= ~(quotes & -quotes);
        else if (l->inside && at + 1 < size && bytes[at + 1] == '"')
            l->after = at + 2;
        else
            l->inside = !l->inside;
    }
}

/* Drops the quotes inside quotes that follow an odd number of backslashes. */
static void drop_escaped(const char *bytes, size_t base, struct scan_open *l, struct scan_masks *m)
{
    for (uint64_t quotes = m->quote; quotes; quotes &= quotes - 1) {
        size_t at = base + (size_t)__builtin_ctzll(quotes), first = at;
        while (first && bytes[first - 1] == '\\')
            first--;
        if (l->inside && (at - first) % 2)
            m->quote &= ~(quotes & -quotes);
        else
            l->inside = !l->inside;
    }
}

size_t scan_window(const struct csv_dialect *d, const char *bytes, size_t size, size_t at,
                   struct scan_open *open, struct scan_masks out[SCAN_WINDOW])
{
    const unsigned char *from = (const unsigned char *)bytes + at;
    scan_masks_fn *masks = choose();
    size_t blocks = (size - at) / 64;
    if (blocks >= SCAN_WINDOW) {
        blocks = SCAN_WINDOW;
        masks(from, blocks, d->delimiter, out);
    } else {
        masks(from, blocks, d->delimiter, out);
        size_t rest = (size - at) % 64;
        if (rest) {
            unsigned char tail[64] = {0};
            memcpy(tail, from + 64 * blocks, rest);
            masks(tail, 1, d->delimiter, out + blocks);
            blocks++;
        }
    }
    if (csv_unquoted(d))
        for (size_t i = 0; i < blocks; i++)
            out[i].quote = 0;
    else if (d->quote == QUOTE_LENIENT)
        for (size_t i = 0; i < blocks; i++)
            drop_characters(d, bytes, size, at + 64 * i, open, out + i);
    else if (d->quote == QUOTE_BACKSLASH)
        for (size_t i = 0; i < blocks; i++)
            drop_escaped(bytes, at + 64 * i, open, out + i);
    return blocks;
}

/* True if one of these 64 bytes is NUL or not ASCII. */
static inline bool foreign64(const char *bytes)
{
#if defined(__x86_64__)
    __m128i v[4];
    memcpy(v, bytes, sizeof v);
    __m128i any = _mm_or_si128(_mm_or_si128(v[0], v[1]), _mm_or_si128(v[2], v[3]));
    __m128i least = _mm_min_epu8(_mm_min_epu8(v[0], v[1]), _mm_min_epu8(v[2], v[3]));
    return _mm_movemask_epi8(_mm_or_si128(any, _mm_cmpeq_epi8(least, _mm_setzero_si128()))) != 0;
#else
    const uint64_t ones = 0x0101010101010101u, highs = 0x8080808080808080u;
    uint64_t w[8], found = 0;
    memcpy(w, bytes, sizeof w);
    for (size_t i = 0; i < 8; i++)
        found |= w[i] | (w[i] - ones); /* the borrow sets the high bit of the lowest NUL */
    return (found & highs) != 0;
#endif
}

size_t scan_ascii(const char *bytes, size_t size)
{
    size_t at = 0;
    while (size - at >= 64 && !foreign64(bytes + at))
        at += 64;
    return at;
}

int64_t scan_lines(const char *bytes, size_t size, char end)
{
    int64_t lines = 0;
    size_t at = 0;
    while (size - at >= 64) { /* each byte counts up to 255 matches */
        uint8_t sums[64] = {0};
        size_t rows = (size - at) / 64;
        rows = rows < 255 ? rows : 255;
        for (size_t r = 0; r < rows; r++, at += 64)
            for (size_t i = 0; i < 64; i++)
                sums[i] = (uint8_t)(sums[i] + (bytes[at + i] == end));
        for (size_t i = 0; i < 64; i++)
            lines += sums[i];
    }
    for (; at < size; at++)
        lines += bytes[at] == end;
    return lines;
}
