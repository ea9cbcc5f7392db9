/* cpu_blas.h - OpenBLAS, opened at run time: never linked, never required, only for training.
 *
 * Our own products reach nearly the processor's peak at the sizes of tabular networks, and were
 * faster than OpenBLAS 0.3.21 at all of them (64 to 1,024 rows, widths 14 to 2,048; AVX-512). So
 * backend.blas "auto" is OpenBLAS only on processors without our vector code. */
#ifndef DNN_BACKEND_CPU_BLAS_H
#define DNN_BACKEND_CPU_BLAS_H

#include <stdbool.h>

#include "backend/cpu/vec.h"
#include "base/process/guest.h"

struct blas {
#define NEED GUEST_MEMBER
#include "backend/cpu/cblas.def"
    char version[32];   /* "OpenBLAS 0.3.21" */
    char core[32];
};
/* The library loaded by blas_prepare; NULL: none serves. */
const struct blas *blas_guest(void);
/* Why not; "" when it serves. */
const char *blas_reason(void);

/* c[m][n] (= or +=) a b, either one transposed: a is [m][k] (or [k][m]), b is [k][n] (or
 * [n][k]). */
struct blas_product {
    real *c;
    const real *a, *b;
    uint32_t m, n, k, lda, ldb, ldc;
    bool a_across, b_across, add;
};
void blas_product(const struct blas *blas, const struct blas_product *p);

#endif
