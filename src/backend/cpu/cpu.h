/* cpu.h - the CPU machine's struct and the interface of its operations. Private to src/backend. */
#ifndef DNN_BACKEND_CPU_H
#define DNN_BACKEND_CPU_H

#include "backend/cpu/bf16.h"
#include "backend/cpu/cpu_blas.h"
#include "backend/machine.h"
#include "backend/cpu/vec.h"

/* ROW ops get rows [row0, row0 + rows) of one shard; `first` is set for the first strip of the
 * shard in this routine. ALL ops get a tile number below cpu_NAME_tiles(arguments). ONE ops get an
 * empty slice. */
struct slice {
    uint32_t row0, rows, shard, tile;
    bool first;
    unsigned thread;
    void *scratch;       /* CPU_SCRATCH bytes of this thread */
    void *shared;        /* the operation's scratch (NEED), common to all threads */
    const struct cpu *m;
};
#define CPU_SCRATCH ((size_t)1 << 20)
/* Rows of a strip. Another number changes bits: raise the version with it. CPU_STRIP_WIDE changes
 * no bits: it is for layers without a loss, but with many weights, which are read for each
 * strip. */
enum { CPU_STRIP = 64, CPU_STRIP_WIDE = 512 / sizeof(real), CPU_VERSION = 4 };

#define ROW(name, text) void cpu_##name(const struct op_##name *a, const struct slice *s);
#define ALL(name, text)                                                                            \
    void cpu_##name(const struct op_##name *a, const struct slice *s);                             \
    unsigned cpu_##name##_tiles(const struct op_##name *a);
#define NEED(name) void cpu_##name##_need(const struct op_##name *a, struct need *n);
#include "backend/ops.def"
/* Adds the partial sums, after all tiles are done. */
void cpu_norm2_end(const struct op_norm2 *a, const struct slice *s);

/* An activation is a real here. */
static inline real *act_real(struct act a)
{
    return a.at;
}
static inline const real *act_read(struct act a)
{
    return a.at;
}

/* c = act(start + a b) for b [k][n], rows p.ldb apart: each block of k continues the chain of sums
 * in c; the first starts from c if p.add. */
void cpu_product(const struct vec *vec, struct product p, uint32_t n, const real *b);

struct cpu {
    struct machine head;
    const struct vec *vec;
    const struct bf16_code *bf16; /* serves the products of a training; NULL: they are in fp32 */
    const struct blas *blas;   /* NULL: our own products serve */
    const struct blas *guest;  /* the library of this machine; a plan may turn it off */
    /* one block of CPU_SCRATCH bytes a thread: too small for huge pages, so that only touched pages
     * take memory */
    void **scratch;
    unsigned scratch_threads;
    void *shared;              /* the largest scratch of an operation so far */
    uint64_t shared_bytes;
    bool (*stop)(void);         /* NULL: never */
    _Atomic bool broken_off;    /* it said so */
    struct cpu_routine *recorded; /* the routine being recorded, or NULL */
    struct cpu_routine *plain;  /* the operation that is run at once */
};

/* --- products in bf16: cpu_bf16.c --- */

/* Numbers of k in a block, and bytes of scratch of a product. */
enum { CPU_BF16_DEPTH = 512 };
#define CPU_BF16_SCRATCH ((size_t)640 << 10)
/* The code of the products of a layer with weights [in][out]; NULL: they are in fp32, small ones
 * always. */
static inline const struct bf16_code *cpu_bf16(const struct cpu *m, uint32_t in, uint32_t out)
{
    return in >= BF16_TILE && out >= BF16_TILE ? m->bf16 : NULL;
}
/* The inputs of struct bf16_product: from a [m][k] or, across, [k][m]; from b [k][n] or [n][k].
 * Across: k is at most CPU_BF16_DEPTH. */
void cpu_bf16_rows(uint16_t *to, const real *a, uint32_t m, uint32_t k, uint32_t ld, bool across);
void cpu_bf16_columns(uint16_t *to, const real *b, uint32_t k, uint32_t n, uint32_t ld,
                      bool across);
/* Bytes of columns. */
size_t cpu_bf16_bytes(uint32_t k, uint32_t n);
/* Packs b for many products, into the scratch of a thread; NULL: it has no room. */
const uint16_t *cpu_bf16_keep(const struct blas_product *p, void *scratch);
/* As blas_product; the sums begin at the bias if there is one. kept: b, packed; NULL:
 * CPU_BF16_SCRATCH bytes of scratch suffice. */
void cpu_bf16_product(const struct bf16_code *code, const struct blas_product *p, const real *bias,
                      const uint16_t *kept, void *scratch);

/* --- routines: cpu_routine.c --- */

struct cpu_routine *cpu_routine_new(struct cpu *m);
void cpu_routine_free(struct cpu_routine *r); /* NULL does nothing */
void cpu_issue(struct machine *m, enum op_id op, const void *arguments);
void cpu_record(struct machine *m);
void cpu_track(struct machine *m, uint32_t track);
struct routine *cpu_stop(struct machine *m);
void cpu_play(struct machine *m, struct routine *r, uint32_t times);
void cpu_drop(struct machine *m, struct routine *r);
bool cpu_path(const struct routine *r, struct machine_path *path);
void cpu_need(const struct machine *m, enum op_id op, const void *arguments, struct need *n);
/* Allocates scratch for the present number of threads, and `shared` bytes of common scratch. */
void cpu_reserve(struct cpu *m, uint64_t shared);

/* --- rows, shards, strips: from the number of rows alone --- */

/* Shard s of `shards` holds rows [cpu_shard_begin(rows, shards, s), ..(s + 1)); all but the last
 * bound are multiples of 8. */
static inline uint32_t cpu_shard_begin(uint32_t rows, uint32_t shards, uint32_t s)
{
    uint64_t units = ((uint64_t)rows + 7) / 8, begin = units * s / shards * 8;
    return begin < rows ? (uint32_t)begin : rows;
}
/* Rows of a strip of a shard of `rows` rows: near `most`, without a short last one. */
static inline uint32_t cpu_strip_rows(uint32_t rows, uint32_t most)
{
    uint32_t count = (rows + most / 2) / most;
    uint32_t each = (rows + (count ? count : 1) - 1) / (count ? count : 1);
    return (each + 7) / 8 * 8;
}
/* The number of valid rows of a micro-batch; others lie past the end of the source. */
static inline uint32_t cpu_valid_rows(const struct step *now, uint64_t count, uint32_t rows,
                                      uint32_t micro)
{
    uint64_t begin = now->row0 + (uint64_t)micro * rows;
    uint64_t left = begin < count ? count - begin : 0;
    return left < rows ? (uint32_t)left : rows;
}

#endif
