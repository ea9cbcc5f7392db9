/* cpu_sparse.h - products of a strip that pass over zeros. Private to src/backend. Each has the
 * terms of its dense namesake in vec.h, as long as the other factor is finite, in an order that
 * follows from the zeros of a (vec_sparse.h): in blocks of SPARSE_BLOCK terms, and so the sums
 * differ from the namesake's by rounding. scratch: the CPU_SCRATCH bytes of the thread. */
#ifndef DNN_BACKEND_CPU_SPARSE_H
#define DNN_BACKEND_CPU_SPARSE_H

#include "backend/cpu/cpu.h"

/* Terms in a block; blocks follow in order. */
enum { SPARSE_BLOCK = 64 };
/* Columns of a that cpu_sparse_outer takes. */
enum { SPARSE_MOST = 1 << 16 };
/* Below these numbers of terms and columns nothing is skipped; NARROW products have their own code.
 */
enum { SPARSE_LEAST = 2 * LANES };
_Static_assert((int)SPARSE_LEAST > (int)NARROW, "a narrow product passes over nothing");

/* True: enough values of a, [rows][lda], are 0 for products `width` columns wide. A sample of rows
 * is counted. */
bool cpu_is_sparse(const struct vec *vec, const real *a, uint32_t rows, uint32_t columns,
                   uint32_t lda, uint32_t width);
/* c = act(start + a b), b [k][n], k > 0; next, width and ldb of p are not used. */
void cpu_sparse_product(const struct vec *vec, const struct product *p, uint32_t n, void *scratch);
/* c (= or +=) a' b, b [rows][ldb], n columns of it. At most SPARSE_MOST columns of a. */
void cpu_sparse_outer(const struct vec *vec, const struct outer *o, uint32_t n, uint32_t ldb,
                      void *scratch);
/* dx (= or +=) dz w', dz [rows][lddz], out > 0; at most 1024 columns of it, the end of one
 * chain. */
void cpu_sparse_across(const struct vec *vec, const struct across *x, uint32_t lddz, void *scratch);

#endif
