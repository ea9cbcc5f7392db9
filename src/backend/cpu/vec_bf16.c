/* vec_bf16.c - see bf16.h: packing and the two products. */
#include "backend/cpu/bf16.h"

#if defined(VEC_X86) && defined(__AVX512BF16__)
#include <immintrin.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static __mmask16 first_lanes(uint32_t n)
{
    return (__mmask16)(n >= LANES ? 0xffffu : (1u << n) - 1);
}

static uint32_t behind(uint32_t n, uint32_t at)
{
    return n > at ? n - at : 0;
}

void bf16_rows(uint16_t *to, const real *from, uint32_t rows, uint32_t k, uint32_t ld)
{
    const uint32_t depth = bf16_depth(k);
    for (uint32_t r = 0; r < rows; r++, from += ld, to += depth)
        for (uint32_t i = 0; i < depth; i += BF16_STEP) {
            uint32_t there = behind(k, i);
            __m512 low = _mm512_maskz_loadu_ps(first_lanes(there), from + i);
            __m512 high = _mm512_maskz_loadu_ps(first_lanes(behind(there, LANES)),
                                                from + i + LANES);
            _mm512_storeu_si512(to + i, (__m512i)_mm512_cvtne2ps_pbh(high, low));
        }
}

void bf16_pairs(uint16_t *to, const real *from, uint32_t k, uint32_t columns, uint32_t ld)
{
    const __m512i turn = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
            8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __mmask16 there = first_lanes(columns);
    for (uint32_t i = 0; i < bf16_depth(k); i += 2, to += 2 * BF16_TILE) {
        const real *row = from + (size_t)i * ld;
        __m512 low = _mm512_maskz_loadu_ps(i < k ? there : 0, row);
        __m512 high = _mm512_maskz_loadu_ps(i + 1 < k ? there : 0, row + ld);
        _mm512_storeu_si512(to, _mm512_permutexvar_epi16(turn,
                (__m512i)_mm512_cvtne2ps_pbh(high, low)));
    }
}

/* --- AVX-512 BF16 --- */

/* R rows by V panels. */
INLINE void dot_block(const struct bf16_product *p, uint32_t i, uint32_t j, const int R,
                      const int V)
{
    __m512 sum[8][2];
    __mmask16 there[2];
    const size_t panel = (size_t)p->depth * BF16_TILE;
    for (int v = 0; v < V; v++) {
        uint32_t column = j + (uint32_t)v * BF16_TILE;
        there[v] = first_lanes(p->n - column);
        for (int r = 0; r < R; r++)
            sum[r][v] = p->add ? _mm512_maskz_loadu_ps(there[v], p->c + (i + (size_t)r) * p->ldc +
                                                                     column)
                        : p->bias ? _mm512_maskz_loadu_ps(there[v], p->bias + column)
                                  : _mm512_setzero_ps();
    }
    for (uint32_t t = 0; t < p->taps; t++) {
        const uint16_t *a = p->a + (size_t)i * p->lda + (ptrdiff_t)t * p->a_next;
        const uint16_t *b = p->b + j / BF16_TILE * panel + (ptrdiff_t)t * p->b_next;
        for (uint32_t k = 0; k < p->depth; k += 2, b += 2 * BF16_TILE) {
            __m512bh w[2];
            for (int v = 0; v < V; v++)
                w[v] = (__m512bh)_mm512_loadu_si512(b + (size_t)v * panel);
            for (int r = 0; r < R; r++) {
                int32_t pair;
                memcpy(&pair, a + (size_t)r * p->lda + k, sizeof pair);
                __m512bh x = (__m512bh)_mm512_set1_epi32(pair);
                for (int v = 0; v < V; v++)
                    sum[r][v] = _mm512_dpbf16_ps(sum[r][v], x, w[v]);
            }
        }
    }
    for (int v = 0; v < V; v++)
        for (int r = 0; r < R; r++)
            _mm512_mask_storeu_ps(p->c + (i + (size_t)r) * p->ldc + j + v * BF16_TILE, there[v],
                                  sum[r][v]);
}

INLINE void dot_columns(const struct bf16_product *p, uint32_t j, const int V)
{
    uint32_t i = 0;
    for (; i + 8 <= p->m; i += 8)
        dot_block(p, i, j, 8, V);
    for (; i + 4 <= p->m; i += 4)
        dot_block(p, i, j, 4, V);
    for (; i < p->m; i++)
        dot_block(p, i, j, 1, V);
}

static void dot(const struct bf16_product *p)
{
    uint32_t j = 0;
    for (; j + BF16_TILE < p->n; j += 2 * BF16_TILE)
        dot_columns(p, j, 2);
    if (j < p->n)
        dot_columns(p, j, 1);
}
const struct bf16_code bf16_avx512 = {.name = "avx512_bf16", .product = dot};

/* --- AMX: tiles of 16 x 16 sums, 0 to 3; of a, 4 and 5; of b, 6 and 7 --- */

#ifdef __AMX_BF16__
enum { TILE = BF16_TILE };

/* A tile of c: in place, or in `room` if c ends inside the tile. */
struct tile {
    real *c;
    size_t ldc;
    uint32_t rows, columns;
    real room[TILE * TILE];
};

static void tile_at(struct tile *t, const struct bf16_product *p, uint32_t i, uint32_t j)
{
    t->rows = p->m - i < TILE ? p->m - i : TILE;
    t->columns = p->n - j < TILE ? p->n - j : TILE;
    t->c = p->c + (size_t)i * p->ldc + j;
    t->ldc = p->ldc;
}

static bool whole(const struct tile *t)
{
    return t->rows == TILE && t->columns == TILE;
}

/* The initial sums of a tile; *next: the bytes between its rows. */
static const real *start_of(struct tile *t, const struct bf16_product *p, uint32_t j, size_t *next)
{
    static const real zeros[TILE] = {0};
    *next = 0;
    if (!p->add && !p->bias)
        return zeros;
    if (!p->add && t->columns == TILE)
        return p->bias + j;
    if (!p->add) {
        memcpy(t->room, p->bias + j, t->columns * sizeof *t->room);
        return t->room;
    }
    *next = t->ldc * sizeof(real);
    if (whole(t))
        return t->c;
    *next = TILE * sizeof(real);
    for (size_t r = 0; r < t->rows; r++)
        memcpy(t->room + r * TILE, t->c + r * t->ldc, t->columns * sizeof *t->room);
    return t->room;
}

static void put_back(const struct tile *t)
{
    for (size_t r = 0; r < t->rows; r++)
        memcpy(t->c + r * t->ldc, t->room + r * TILE, t->columns * sizeof *t->room);
}

#define START(number, t, j)                                                                        \
    do {                                                                                           \
        size_t next;                                                                               \
        const real *from = start_of(&(t), p, j, &next);                                            \
        _tile_loadd(number, from, next);                                                           \
    } while (0)
#define FINISH(number, t)                                                                          \
    do {                                                                                           \
        if (whole(&(t))) {                                                                         \
            _tile_stored(number, (t).c, (t).ldc * sizeof(real));                                   \
        } else {                                                                                   \
            _tile_stored(number, (t).room, TILE * sizeof(real));                                   \
            put_back(&(t));                                                                        \
        }                                                                                          \
    } while (0)

/* Up to 2 x 2 tiles. */
INLINE void tile_block(const struct bf16_product *p, uint32_t i, uint32_t j, const bool two_rows,
                       const bool two_columns)
{
    struct tile c[4];
    const size_t panel = (size_t)p->depth * TILE, row = p->lda * sizeof *p->a;
    tile_at(&c[0], p, i, j);
    START(0, c[0], j);
    if (two_columns) {
        tile_at(&c[1], p, i, j + TILE);
        START(1, c[1], j + TILE);
    }
    if (two_rows) {
        tile_at(&c[2], p, i + TILE, j);
        START(2, c[2], j);
    }
    if (two_rows && two_columns) {
        tile_at(&c[3], p, i + TILE, j + TILE);
        START(3, c[3], j + TILE);
    }
    for (uint32_t t = 0; t < p->taps; t++) {
        const uint16_t *a = p->a + (size_t)i * p->lda + (ptrdiff_t)t * p->a_next;
        const uint16_t *b = p->b + j / TILE * panel + (ptrdiff_t)t * p->b_next;
        for (uint32_t k = 0; k < p->depth; k += BF16_STEP, a += BF16_STEP, b += BF16_STEP * TILE) {
            _tile_loadd(4, a, row);
            _tile_loadd(6, b, 4 * TILE);
            _tile_dpbf16ps(0, 4, 6);
            if (two_columns) {
                _tile_loadd(7, b + panel, 4 * TILE);
                _tile_dpbf16ps(1, 4, 7);
            }
            if (two_rows) {
                _tile_loadd(5, a + TILE * (size_t)p->lda, row);
                _tile_dpbf16ps(2, 5, 6);
            }
            if (two_rows && two_columns)
                _tile_dpbf16ps(3, 5, 7);
        }
    }
    FINISH(0, c[0]);
    if (two_columns)
        FINISH(1, c[1]);
    if (two_rows)
        FINISH(2, c[2]);
    if (two_rows && two_columns)
        FINISH(3, c[3]);
}

INLINE void tile_columns(const struct bf16_product *p, uint32_t j, const bool two_columns)
{
    uint32_t i = 0;
    for (; i + TILE < p->m; i += 2 * TILE)
        tile_block(p, i, j, true, two_columns);
    if (i < p->m)
        tile_block(p, i, j, false, two_columns);
}

static void tiles(const struct bf16_product *p)
{
    /* palette 1: eight tiles of 16 rows of 64 bytes */
    static const struct { uint8_t palette, start, none[14]; uint16_t bytes[16]; uint8_t rows[16]; }
    shape = {.palette = 1,
             .bytes = {64, 64, 64, 64, 64, 64, 64, 64},
             .rows = {16, 16, 16, 16, 16, 16, 16, 16}};
    _Static_assert(sizeof shape == 64, "as the processor reads it");
    uint32_t j = 0;
    _tile_loadconfig(&shape);
    for (; j + TILE < p->n; j += 2 * TILE)
        tile_columns(p, j, true);
    if (j < p->n)
        tile_columns(p, j, false);
    _tile_release(); /* the kernel need not save the tiles of a thread that holds none */
}
const struct bf16_code bf16_amx = {.name = "amx", .product = tiles};
#else
const struct bf16_code bf16_amx = {.name = "amx"};
#endif

#else
const struct bf16_code bf16_amx = {.name = "amx"}, bf16_avx512 = {.name = "avx512_bf16"};
void bf16_rows(uint16_t *to, const real *from, uint32_t rows, uint32_t k, uint32_t ld)
{
    (void)to;
    (void)from;
    (void)rows;
    (void)k;
    (void)ld;
}
void bf16_pairs(uint16_t *to, const real *from, uint32_t k, uint32_t columns, uint32_t ld)
{
    (void)to;
    (void)from;
    (void)k;
    (void)columns;
    (void)ld;
}
#endif
