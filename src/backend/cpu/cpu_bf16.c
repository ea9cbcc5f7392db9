/* cpu_bf16.c - products in bf16: which code serves, and blocks of packed inputs. */
#include <assert.h>
#include <string.h>
#if defined(__linux__) && defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "backend/cpu/cpu.h"
#include "base/fault.h"

/* --- which code --- */

#if defined(__linux__) && defined(VEC_X86)
static bool has_avx512(void)
{
    unsigned a, b, c, d;
    return vec_find("avx512") && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 5 & 1;
}

/* Tiles belong to a process that has asked for them: the kernel then saves them too. */
static bool has_amx(void)
{
    enum { ASK_FOR_STATE = 0x1023, TILE_DATA = 18 };
    unsigned a, b, c, d;
    return has_avx512() && __get_cpuid_count(7, 0, &a, &b, &c, &d) && d >> 22 & 1 && d >> 24 & 1 &&
           syscall(SYS_arch_prctl, ASK_FOR_STATE, TILE_DATA) == 0;
}
#else
static bool has_avx512(void)
{
    return false;
}
static bool has_amx(void)
{
    return false;
}
#endif

const struct bf16_code *bf16_find(const char *name)
{
    if (bf16_amx.product && strcmp(name, bf16_amx.name) == 0 && has_amx())
        return &bf16_amx;
    if (bf16_avx512.product && strcmp(name, bf16_avx512.name) == 0 && has_avx512())
        return &bf16_avx512;
    return NULL;
}

const struct bf16_code *bf16_choose(void)
{
    const char *wanted = fault_setting("BF16");
    const struct bf16_code *best = wanted ? NULL : bf16_find(bf16_amx.name);
    return best ? best : bf16_find(wanted ? wanted : bf16_avx512.name);
}

/* --- packing --- */

static uint32_t tiled(uint32_t n)
{
    return (n + BF16_TILE - 1) / BF16_TILE * BF16_TILE;
}

static uint32_t part(uint32_t n, uint32_t at, uint32_t most)
{
    return n - at < most ? n - at : most;
}

/* Two numbers are a word: the rows of one form are the columns of the other. */
static void turn_words(uint16_t *to, const uint16_t *from, uint32_t rows, uint32_t columns)
{
    vec_find("avx512")->turn((real *)(void *)to, (const real *)(const void *)from, rows, columns,
                             columns, rows);
}

void cpu_bf16_rows(uint16_t *to, const real *a, uint32_t m, uint32_t k, uint32_t ld, bool across)
{
    enum { DEPTH = CPU_BF16_DEPTH };
    uint16_t room[BF16_TILE * DEPTH];
    uint32_t depth = bf16_depth(k);
    if (!across) {
        bf16_rows(to, a, m, k, ld);
        return;
    }
    assert(depth <= DEPTH);
    for (uint32_t i = 0; i < m; i += BF16_TILE) {
        bf16_pairs(room, a + i, k, part(m, i, BF16_TILE), ld);
        turn_words(to + (size_t)i * depth, room, depth / 2, BF16_TILE);
    }
}

void cpu_bf16_columns(uint16_t *to, const real *b, uint32_t k, uint32_t n, uint32_t ld, bool across)
{
    enum { DEPTH = CPU_BF16_DEPTH };
    uint16_t room[BF16_TILE * DEPTH];
    uint32_t depth = bf16_depth(k);
    assert(!across || depth <= DEPTH);
    for (uint32_t j = 0; j < n; j += BF16_TILE, to += (size_t)depth * BF16_TILE) {
        uint32_t columns = part(n, j, BF16_TILE);
        if (across) {
            bf16_rows(room, b + (size_t)j * ld, columns, k, ld);
            memset(room + (size_t)columns * depth, 0,
                   (size_t)(BF16_TILE - columns) * depth * sizeof *room);
            turn_words(to, room, BF16_TILE, depth / 2);
        } else {
            bf16_pairs(to, b + j, k, columns, ld);
        }
    }
}

/* --- blocks --- */

/* Block sizes for a and b; a block of each fits the second-level cache. */
enum { ROWS = 128, COLUMNS = 512 };
#define ROWS_NUMBERS ((size_t)ROWS * CPU_BF16_DEPTH)
_Static_assert((ROWS_NUMBERS + (size_t)COLUMNS * CPU_BF16_DEPTH) * sizeof(uint16_t) <=
                   CPU_BF16_SCRATCH, "both blocks");

size_t cpu_bf16_bytes(uint32_t k, uint32_t n)
{
    return (size_t)bf16_depth(k) * tiled(n) * sizeof(uint16_t);
}

const uint16_t *cpu_bf16_keep(const struct blas_product *p, void *scratch)
{
    uint16_t *kept = (uint16_t *)scratch + ROWS_NUMBERS;
    if (cpu_bf16_bytes(p->k, p->n) + ROWS_NUMBERS * sizeof *kept > CPU_SCRATCH)
        return NULL;
    for (uint32_t at = 0; at < p->k; at += CPU_BF16_DEPTH)
        cpu_bf16_columns(kept + (size_t)at * tiled(p->n),
                         p->b + (p->b_across ? at : (size_t)at * p->ldb),
                         part(p->k, at, CPU_BF16_DEPTH), p->n, p->ldb, p->b_across);
    return kept;
}

void cpu_bf16_product(const struct bf16_code *code, const struct blas_product *p, const real *bias,
                      const uint16_t *kept, void *scratch)
{
    uint16_t *a = scratch, *b = a + ROWS_NUMBERS;
    for (uint32_t at = 0; at < p->k; at += CPU_BF16_DEPTH)
        for (uint32_t j = 0; j < p->n; j += COLUMNS) {
            struct bf16_product now = {.bias = bias ? bias + j : NULL,
                                       .a = a, .b = b, .n = part(p->n, j, COLUMNS), .taps = 1,
                                       .ldc = p->ldc, .add = p->add || at > 0};
            uint32_t k = part(p->k, at, CPU_BF16_DEPTH);
            now.depth = now.lda = bf16_depth(k);
            if (kept)
                now.b = kept + (size_t)at * tiled(p->n) + (size_t)j * now.depth;
            else
                cpu_bf16_columns(b, p->b + (p->b_across ? (size_t)j * p->ldb + at
                                                        : (size_t)at * p->ldb + j),
                                 k, now.n, p->ldb, p->b_across);
            for (uint32_t i = 0; i < p->m; i += ROWS) {
                now.m = part(p->m, i, ROWS);
                now.c = p->c + (size_t)i * p->ldc + j;
                cpu_bf16_rows(a, p->a + (p->a_across ? (size_t)at * p->lda + i
                                                     : (size_t)i * p->lda + at),
                              now.m, k, p->lda, p->a_across);
                code->product(&now);
            }
        }
}
