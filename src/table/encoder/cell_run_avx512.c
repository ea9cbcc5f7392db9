/* cell_run_avx512.c - parses eight numbers at a time. A cell of at most 16 bytes is right-aligned
 * in a lane of 16 bytes; a masked load reads nothing before the cell. Cells 0, 2, 4, 6 are in one
 * register, cells 1, 3, 5, 7 in another; interleaving restores the order of the file. Masks have a
 * bit for each byte: a field of 16 bits for each cell. */
#include "table/encoder/cell_run.h"

#if defined(__x86_64__)
#include <immintrin.h>
#include <stddef.h>

#include "csv/form/number_short.h"

#define GROUP 8u
#define FIRSTS UINT64_C(0x0001000100010001)
#define LASTS UINT64_C(0x8000800080008000)

struct lanes {
    __m512i digits;         /* 0..9, padded with 0 in front */
    uint64_t points, minus; /* fields with at most one bit */
    uint64_t bad;           /* not 0: the cell of this field is not a number */
};

static inline uint64_t before(uint64_t m) /* moves each bit to the byte before, in the same cell */
{
    return m << 1 & ~FIRSTS;
}

static inline uint64_t behind(uint64_t m)
{
    return m >> 1 & ~LASTS;
}

/* Checks -?digits[.digits] in each field of `all`. */
static inline struct lanes read_lanes(__m512i bytes, uint64_t all, char decimal)
{
    struct lanes l;
    __m512i from_zero = _mm512_sub_epi8(bytes, _mm512_set1_epi8('0'));
    uint64_t digits = _mm512_mask_cmplt_epu8_mask(all, from_zero, _mm512_set1_epi8(10));
    l.points = _mm512_mask_cmpeq_epi8_mask(all, bytes, _mm512_set1_epi8(decimal));
    l.minus = _mm512_mask_cmpeq_epi8_mask(all, bytes, _mm512_set1_epi8('-')) & ~before(all);
    uint64_t but_one = l.points & ((l.points | LASTS) - FIRSTS); /* without the lowest bit of each
                                                                  * field */
    l.bad = all ^ (digits | l.points | l.minus);
    l.bad |= but_one | (l.points & ~(before(digits) & behind(digits))) | (LASTS & ~digits);
    l.digits = _mm512_maskz_mov_epi8(digits, from_zero);
    return l;
}

/* Interleaves the fields of both, 16 bits each, in the order of the cells. */
static inline __m128i weave(uint64_t even, uint64_t odd)
{
    return _mm_unpacklo_epi16(_mm_cvtsi64_si128((long long)even),
                              _mm_cvtsi64_si128((long long)odd));
}

/* Moves the digits before a point right, over it. Then combines digits in fours. */
static inline __m512i fours(const struct lanes *l)
{
    __m128i points = _mm_cvtsi64_si128((long long)l->points), none = _mm_setzero_si128();
    __m128i right = _mm_sub_epi16(none, _mm_add_epi16(points, points));
    right = _mm_or_si128(right, _mm_cmpeq_epi16(points, none));
    __mmask64 stays = (__mmask64)_mm_cvtsi128_si64(right);
    __m512i digits = _mm512_mask_mov_epi8(_mm512_bslli_epi128(l->digits, 1), stays, l->digits);
    __m512i pairs = _mm512_maddubs_epi16(digits, _mm512_set1_epi16(0x010A));
    return _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00010064));
}

/* The last 16 bytes of a cell; the bytes of `field` are read. */
static inline __m128i load_end(const struct csv_cell *cell, __mmask16 field)
{
    /* computed as an integer: the 16 bytes may begin before the text, and are masked there */
    uintptr_t from = (uintptr_t)cell->text + cell->length - 16;
    return _mm_maskz_loadu_epi8(field, (const void *)from);
}

/* Cells 0, 2, 4, 6. four: their structs, one in each lane. */
static inline struct lanes load_lanes(const struct csv_cell *cells, __m512i four, char decimal)
{
    const __m512i least = _mm512_broadcast_i32x4(
        _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
    __m512i length = _mm512_shuffle_epi8(four, _mm512_set1_epi8(offsetof(struct csv_cell, length)));
    uint64_t all = _mm512_cmpgt_epu8_mask(length, least);
    __m512i bytes = _mm512_castsi128_si512(load_end(cells, (__mmask16)all));
    bytes = _mm512_inserti32x4(bytes, load_end(cells + 2, (__mmask16)(all >> 16)), 1);
    bytes = _mm512_inserti32x4(bytes, load_end(cells + 4, (__mmask16)(all >> 32)), 2);
    bytes = _mm512_inserti32x4(bytes, load_end(cells + 6, (__mmask16)(all >> 48)), 3);
    return read_lanes(bytes, all, decimal);
}

_Static_assert(sizeof(struct csv_cell) == 16 && offsetof(struct csv_cell, length) == 8,
               "four cells are a register, and a length is the third of four words");
#define LENGTHS 0x4444 /* of the words of four cells */

/* Cells of more than 16 bytes. */
static __attribute__((noinline)) unsigned too_long(const struct csv_cell cells[GROUP])
{
    unsigned found = 0;
    for (unsigned i = 0; i < GROUP; i++)
        found |= (unsigned)(cells[i].length > 16) << i;
    return found;
}

/* Parses eight cells to floats. Returns the cells of `wanted` that were not parsed. */
static inline __attribute__((always_inline)) unsigned
read_group(const struct csv_cell cells[GROUP], __m512d offset, unsigned wanted, char decimal,
           unsigned char *out)
{
    const __m512i a = _mm512_loadu_si512(cells), b = _mm512_loadu_si512(cells + 4);
    const __m512i most = _mm512_set1_epi32(16);
    struct lanes even = load_lanes(cells, _mm512_shuffle_i64x2(a, b, 0x88), decimal);
    struct lanes odd = load_lanes(cells + 1, _mm512_shuffle_i64x2(a, b, 0xDD), decimal);
    __m512i eights = _mm512_madd_epi16(_mm512_packus_epi32(fours(&even), fours(&odd)),
                                       _mm512_set1_epi32(0x00012710));
    __m512i w = _mm512_add_epi64(_mm512_mul_epu32(eights, _mm512_set1_epi64(100000000)),
                                 _mm512_srli_epi64(eights, 32));
    /* bits above a point: its distance from the right is the number of decimals; without a point
     * the low four bits are 0 too */
    __m512i points = _mm512_cvtepu16_epi64(weave(even.points, odd.points));
    __m512d tens = _mm512_permutex2var_pd(_mm512_loadu_pd(number_tens), _mm512_lzcnt_epi64(points),
                                          _mm512_loadu_pd(number_tens + 8));
    __m512d v = _mm512_div_pd(_mm512_cvtepi64_pd(w), tens);
    __m128i minus = weave(even.minus, odd.minus);
    v = _mm512_mask_or_pd(v, _mm_test_epi16_mask(minus, minus), v, _mm512_set1_pd(-0.0));
    __m256 f = _mm512_cvtpd_ps(_mm512_sub_pd(v, offset));
    unsigned bad = _mm512_cmpgt_epu64_mask(w, _mm512_set1_epi64((long long)NUMBER_EXACT));
    if (even.bad | odd.bad) {
        __m128i wrong = weave(even.bad, odd.bad);
        bad |= _mm_test_epi16_mask(wrong, wrong);
    }
    if (_mm512_mask_cmpgt_epu32_mask(LENGTHS, a, most) |
        _mm512_mask_cmpgt_epu32_mask(LENGTHS, b, most))
        bad |= too_long(cells);
    bad &= wanted;
    _mm256_mask_storeu_ps(out, (__mmask8)(wanted & ~bad), f);
    return bad;
}

uint64_t cell_run_avx512(const struct cell_run *r)
{
    uint64_t bad = 0;
    const struct csv_cell *cells = r->cells + r->cell_of[0];
    bool straight = r->together && r->count >= GROUP;
    for (size_t i = 0; i < r->count; i += GROUP) {
        if (straight) { /* the last group moves back to be full, and parses some cells again */
            size_t at = i + GROUP > r->count ? r->count - GROUP : i;
            __m512d offset = _mm512_loadu_pd(r->offsets + at);
            unsigned char *out = r->out + 4 * at;
            bad |= (uint64_t)read_group(cells + at, offset, 0xFF, r->decimal, out) << at;
            continue;
        }
        /* the last cell fills the group: a masked load of unmapped memory is slow */
        size_t left = r->count - i < GROUP ? r->count - i : GROUP;
        struct csv_cell copy[GROUP];
        for (size_t k = 0; k < GROUP; k++)
            copy[k] = r->cells[r->cell_of[i + (k < left ? k : left - 1)]];
        const uint32_t wanted = (1u << left) - 1;
        __m512d offset = _mm512_maskz_loadu_pd((__mmask8)wanted, r->offsets + i);
        bad |= (uint64_t)read_group(copy, offset, wanted, r->decimal, r->out + 4 * i) << i;
    }
    return bad;
}
#endif
