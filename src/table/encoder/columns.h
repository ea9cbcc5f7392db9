/* columns.h - numbers of records to columns and back, four by four if the processor has vectors.
 * Private to src/table. */
#ifndef DNN_TABLE_COLUMNS_H
#define DNN_TABLE_COLUMNS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>

static inline __m128 columns_four(const void *at)
{
    return _mm_loadu_ps(at);
}

static inline size_t columns_read4(const unsigned char *const *records, size_t rows, size_t at,
                                   float *to, size_t apart)
{
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        __m128 a = columns_four(records[i] + at), b = columns_four(records[i + 1] + at);
        __m128 c = columns_four(records[i + 2] + at), d = columns_four(records[i + 3] + at);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(to + i, a);
        _mm_storeu_ps(to + apart + i, b);
        _mm_storeu_ps(to + 2 * apart + i, c);
        _mm_storeu_ps(to + 3 * apart + i, d);
    }
    return i;
}

static inline size_t columns_write4(unsigned char *const *records, size_t rows, size_t at,
                                    const float *from, size_t apart)
{
    size_t i = 0;
    for (; i + 4 <= rows; i += 4) {
        __m128 a = columns_four(from + i), b = columns_four(from + apart + i);
        __m128 c = columns_four(from + 2 * apart + i), d = columns_four(from + 3 * apart + i);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps((void *)(records[i] + at), a);
        _mm_storeu_ps((void *)(records[i + 1] + at), b);
        _mm_storeu_ps((void *)(records[i + 2] + at), c);
        _mm_storeu_ps((void *)(records[i + 3] + at), d);
    }
    return i;
}
#else
static inline size_t columns_read4(const unsigned char *const *records, size_t rows, size_t at,
                                   float *to, size_t apart)
{
    (void)records, (void)rows, (void)at, (void)to, (void)apart;
    return 0;
}

static inline size_t columns_write4(unsigned char *const *records, size_t rows, size_t at,
                                    const float *from, size_t apart)
{
    (void)records, (void)rows, (void)at, (void)from, (void)apart;
    return 0;
}
#endif

/* Copies `columns` neighbouring floats, `at` bytes into each record: column k to to + k * apart. */
static inline void columns_read(const unsigned char *const *records, size_t rows, size_t at,
                                uint32_t columns, float *to, size_t apart)
{
    for (uint32_t k = 0; k < columns; k += 4) {
        uint32_t here = columns - k < 4 ? columns - k : 4;
        size_t i = here < 4 ? 0 : columns_read4(records, rows, at + 4 * k, to + k * apart, apart);
        for (; i < rows; i++)
            for (uint32_t j = k; j < k + here; j++)
                memcpy(to + j * apart + i, records[i] + at + 4 * j, sizeof *to);
    }
}

/* The way back. */
static inline void columns_write(unsigned char *const *records, size_t rows, size_t at,
                                 uint32_t columns, const float *from, size_t apart)
{
    for (uint32_t k = 0; k < columns; k += 4) {
        uint32_t here = columns - k < 4 ? columns - k : 4;
        size_t i =
            here < 4 ? 0 : columns_write4(records, rows, at + 4 * k, from + k * apart, apart);
        for (; i < rows; i++)
            for (uint32_t j = k; j < k + here; j++)
                memcpy(records[i] + at + 4 * j, from + j * apart + i, sizeof *from);
    }
}

#endif
