/* guest_stub.c - a stand-in for cuBLASLt on the emulated GPU: the same symbols, the real product,
 * computed by the host in the order of the stream. guest.sh builds it:
 *   -DVERSION=N  its version
 *   -DLACKING    without one of its functions
 *   -DFAIL_AT=N  the Nth computation is refused
 *   -DCREATE=N   creating a handle gives that status
 *   -DHANGS      its first computation does not come back
 *   -DSOON       what is to be of 16 bits is rounded in the middle of its sum as well
 *   -DTELLS      the types of every product are told on standard error: "product 14 14 0"
 * Types are those of src/backend/cublaslt.def, where each function is described. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern int cudaLaunchHostFunc(void *stream, void (*call)(void *), void *data);

#ifdef LACKING
#define cublasLtMatmul not_to_be_found
#endif
#ifndef FAIL_AT
#define FAIL_AT 0
#endif
#ifndef CREATE
#define CREATE 0
#endif

/* Whether this computation is the one that fails. */
static int refused(void)
{
    static int calls;
#ifdef HANGS
    for (;;)
        pause();
#endif
    return FAIL_AT && ++calls == FAIL_AT;
}
enum { NOT_SUPPORTED = 15, FAILED = 14 };
enum { FLOAT = 0, HALF = 2, BFLOAT = 14, COMPUTE_32 = 68 };
struct layout { uint64_t rows, columns; int64_t ld, stride; int32_t count, type; };
struct product { int32_t compute, across_a, across_b; uint32_t end; const float *bias; };
struct wish { uint32_t reductions; };
struct way { uint64_t words[8]; size_t workspace; int status; float waves; int reserved[4]; };
struct work {
    struct product p;
    struct layout la, lb, lc;
    const void *a, *b;
    void *c;
    float alpha, beta;
};

/* --- numbers of 16 bits: half a float; a sign, 5 bits of exponent, 10 of mantissa --- */

static double number(int type, const void *at, uint64_t i)
{
    uint16_t half;
    uint32_t bits;
    float value;
    if (type == FLOAT)
        return (double)((const float *)at)[i];
    half = ((const uint16_t *)at)[i];
    if (type == BFLOAT) {
        bits = (uint32_t)half << 16;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    int exponent = half >> 10 & 31, mantissa = half & 1023;
    double size = exponent == 31 ? (mantissa ? NAN : INFINITY)
                  : exponent     ? ldexp(1024 + mantissa, exponent - 25)
                                 : ldexp(mantissa, -24);
    return half >> 15 ? -size : size;
}
/* Rounded to nearest, ties to even: what rint does. */
static void put(int type, void *at, uint64_t i, double x)
{
    if (type == FLOAT) {
        ((float *)at)[i] = (float)x;
        return;
    }
    int most = type == HALF ? 15 : 127, digits = type == HALF ? 10 : 7, exponent = 0, sign = x < 0;
    double size = fabs(x);
    frexp(size, &exponent);
    if (size == 0 || exponent < 2 - most) /* it is not normal */
        exponent = 2 - most;
    long mantissa = size < 1e300 ? lrint(ldexp(size, digits + 1 - exponent)) : 2L << digits;
    long bits = ((long)(exponent - 2 + most) << digits) + mantissa; /* a carry goes up by itself */
    if (!(size <= 1e300))
        bits = ((2L * most + 1) << digits) + (size != size);
    else if (bits > (2L * most + 1) << digits)
        bits = (2L * most + 1) << digits;
    ((uint16_t *)at)[i] = (uint16_t)(bits | (long)sign << 15);
}


size_t cublasLtGetVersion(void)
{
    return VERSION;
}
int cublasLtCreate(void **handle)
{
    *handle = calloc(1, 8);
    return CREATE;
}
int cublasLtDestroy(void *handle)
{
    free(handle);
    return 0;
}
int cublasLtMatmulDescCreate(void **to, int compute, int scale)
{
    struct product *p = calloc(1, sizeof *p);
    p->compute = compute;
    p->end = 1;
    *to = p;
    return scale != 0;
}
int cublasLtMatmulDescDestroy(void *p)
{
    free(p);
    return 0;
}
int cublasLtMatmulDescSetAttribute(void *at, int which, const void *value, size_t bytes)
{
    struct product *p = at;
    switch (which) {
    case 3: memcpy(&p->across_a, value, bytes); return bytes != 4;
    case 4: memcpy(&p->across_b, value, bytes); return bytes != 4;
    case 7: memcpy(&p->end, value, bytes); return bytes != 4;
    case 8: memcpy(&p->bias, value, bytes); return bytes != 8;
    default: return 7;
    }
}
int cublasLtMatrixLayoutCreate(void **to, int type, uint64_t rows, uint64_t columns, int64_t ld)
{
    struct layout l = {rows, columns, ld, 0, 1, type};
    *to = calloc(1, sizeof l);
    memcpy(*to, &l, sizeof l);
    return (type != FLOAT && type != HALF && type != BFLOAT) || ld < (int64_t)rows ? 7 : 0;
}
int cublasLtMatrixLayoutDestroy(void *l)
{
    free(l);
    return 0;
}
int cublasLtMatrixLayoutSetAttribute(void *at, int which, const void *value, size_t bytes)
{
    struct layout *l = at;
    switch (which) {
    case 5: memcpy(&l->count, value, bytes); return bytes != 4;
    case 6: memcpy(&l->stride, value, bytes); return bytes != 8;
    default: return 7;
    }
}
int cublasLtMatmulPreferenceCreate(void **wish)
{
    struct wish w = {~0u};
    *wish = calloc(1, sizeof w);
    memcpy(*wish, &w, sizeof w);
    return 0;
}
int cublasLtMatmulPreferenceDestroy(void *wish)
{
    free(wish);
    return 0;
}
int cublasLtMatmulPreferenceSetAttribute(void *at, int which, const void *value, size_t bytes)
{
    struct wish *w = at;
    if (which == 3)
        memcpy(&w->reductions, value, bytes);
    return 0;
}

/* A product it does not do: shapes that do not fit, and one that may be split; factors of two
 * types, 16 bits with other sums than of 32, a bias that is not of the type of C. */
static int fits(const struct work *w)
{
    int type = w->la.type, bias = w->p.end & 4;
    if (type != w->lb.type || (w->lc.type != type && w->lc.type != FLOAT) ||
        (type != FLOAT && w->p.compute != COMPUTE_32) || (w->lc.type != FLOAT && bias))
        return 0;
    uint64_t m = w->p.across_a ? w->la.columns : w->la.rows;
    uint64_t k = w->p.across_a ? w->la.rows : w->la.columns;
    uint64_t k_too = w->p.across_b ? w->lb.columns : w->lb.rows;
    uint64_t n = w->p.across_b ? w->lb.rows : w->lb.columns;
    return m == w->lc.rows && n == w->lc.columns && k == k_too && w->la.count == w->lc.count &&
           w->lb.count == w->lc.count;
}
static struct work work_of(void *p, void *la, void *lb, void *lc)
{
    struct work w = {.p = *(struct product *)p, .la = *(struct layout *)la,
                     .lb = *(struct layout *)lb, .lc = *(struct layout *)lc};
    return w;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *p, void *la, void *lb, void *lc, void *ld,
                                   void *at, int most, struct way *ways, int *found)
{
    struct work w = work_of(p, la, lb, lc);
    const struct wish *wish = at;
    *found = 0;
    if (!handle || ld != lc || most != 1 || wish->reductions != 0 || !fits(&w))
        return 7;
    memset(ways, 0, sizeof *ways);
    ways->words[0] = 42;
    ways->workspace = 4096;
    *found = 1;
    return 0;
}

static void compute(void *data)
{
    const struct work *w = data;
    uint64_t k_count = w->p.across_a ? w->la.rows : w->la.columns;
    for (int32_t z = 0; z < w->lc.count; z++)
        for (uint64_t j = 0; j < w->lc.columns; j++)
            for (uint64_t i = 0; i < w->lc.rows; i++) {
                uint64_t a = (uint64_t)(z * w->la.stride), b = (uint64_t)(z * w->lb.stride);
                uint64_t lda = (uint64_t)w->la.ld, ldb = (uint64_t)w->lb.ld;
                uint64_t c = (uint64_t)(z * w->lc.stride) + j * (uint64_t)w->lc.ld + i;
                double sum = 0;
                for (uint64_t k = k_count; k-- > 0;) { /* not in our order */
                    sum += number(w->la.type, w->a,
                                  a + (w->p.across_a ? i * lda + k : k * lda + i)) *
                           number(w->lb.type, w->b,
                                  b + (w->p.across_b ? k * ldb + j : j * ldb + k));
#ifdef SOON
                    if (k == k_count / 2) {
                        put(w->lc.type, w->c, c, sum);
                        sum = number(w->lc.type, w->c, c);
                    }
#endif
                }
                sum = w->alpha * sum + (w->beta != 0 ? w->beta * number(w->lc.type, w->c, c) : 0);
                sum += w->p.end & 4 ? (double)w->p.bias[i] : 0;
                put(w->lc.type, w->c, c, w->p.end & 2 && sum < 0 ? 0 : sum);
            }
}

int cublasLtMatmul(void *handle, void *p, const void *alpha, const void *a, void *la, const void *b,
                   void *lb, const void *beta, const void *c, void *lc, void *d, void *ld,
                   const uint64_t *how, void *workspace, size_t bytes, void *stream)
{
    if (refused())
        return FAILED;
#ifdef TELLS
    fprintf(stderr, "product %d %d %d\n", ((struct layout *)la)->type, ((struct layout *)lb)->type,
            ((struct layout *)lc)->type);
#endif
    if (!handle || c != d || lc != ld || how[0] != 42 || !workspace || bytes < 4096)
        return 7;
    struct work *w = calloc(1, sizeof *w), filled = work_of(p, la, lb, lc);
    filled.a = a;
    filled.b = b;
    filled.c = d;
    filled.alpha = *(const float *)alpha;
    filled.beta = *(const float *)beta;
    memcpy(w, &filled, sizeof filled);
    return cudaLaunchHostFunc(stream, compute, w) ? FAILED : 0;
}
