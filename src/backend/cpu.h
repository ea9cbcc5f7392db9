/* cpu.h - inside the CPU machine: what an operation's code gets, beside its arguments. Private to
 * src/backend. */
#ifndef DNN_BACKEND_CPU_H
#define DNN_BACKEND_CPU_H

#include "backend/backend.h"
#include "backend/cpu_blas.h"
#include "backend/vec.h"

/* ROW ops get rows [row0, row0 + rows) of one shard; `first` is set for the first strip of the
 * shard in this routine. ALL ops get a tile number below cpu_NAME_tiles(arguments). ONE ops get an
 * empty slice. */
struct slice {
    uint32_t row0, rows, shard, tile;
    bool first;
    unsigned thread;
    void *scratch;       /* CPU_SCRATCH bytes of this thread */
    struct machine *m;
};
#define CPU_SCRATCH ((size_t)1 << 20)
enum { CPU_STRIP = 64, CPU_VERSION = 2 };

#define ROW(name, text) void cpu_##name(const struct op_##name *a, const struct slice *s);
#define ALL(name, text)                                                                            \
    void cpu_##name(const struct op_##name *a, const struct slice *s);                             \
    unsigned cpu_##name##_tiles(const struct op_##name *a);
#define ONE(name, text) ROW(name, text)
#include "backend/ops.def"
#undef ROW
#undef ALL
#undef ONE
/* What norm2 does once all its tiles are done: the sum of the partial sums. */
void cpu_norm2_end(const struct op_norm2 *a, const struct slice *s);

/* An activation is a real here. */
static inline real *act_real(struct act *a)
{
    return (real *)(void *)a;
}
static inline const real *act_read(const struct act *a)
{
    return (const real *)(const void *)a;
}

struct machine {
    struct machine_options options;
    const struct vec *vec;
    const struct blas *blas;   /* NULL: our own products serve */
    struct plan plan;          /* obeyed; batch 0: none yet */
    char *scratch;             /* CPU_SCRATCH bytes a thread */
    unsigned scratch_threads;
    struct routine *taking;    /* being recorded, NULL otherwise */
    struct routine *plain;     /* holds the one operation that runs at once */
    struct err failure;
};

/* --- rows, shards, strips: from the number of rows alone --- */

/* Shard s of `shards` holds rows [cpu_shard_begin(rows, shards, s), ..(s + 1)): multiples of 8 but
 * for the end. */
static inline uint32_t cpu_shard_begin(uint32_t rows, uint32_t shards, uint32_t s)
{
    uint64_t units = ((uint64_t)rows + 7) / 8, begin = units * s / shards * 8;
    return begin < rows ? (uint32_t)begin : rows;
}
/* Rows of a strip of a shard of `rows` rows: near CPU_STRIP, without a short last one. */
static inline uint32_t cpu_strip_rows(uint32_t rows, uint32_t strip)
{
    uint32_t count = (rows + strip / 2) / strip;
    uint32_t each = (rows + (count ? count : 1) - 1) / (count ? count : 1);
    return (each + 7) / 8 * 8;
}
/* How many of a micro-batch's rows are data: the others stand past the end of the source. */
static inline uint32_t cpu_valid_rows(const struct step *now, uint64_t count, uint32_t rows,
                                      uint32_t micro)
{
    uint64_t begin = now->row0 + (uint64_t)micro * rows;
    uint64_t left = begin < count ? count - begin : 0;
    return left < rows ? (uint32_t)left : rows;
}

#endif
