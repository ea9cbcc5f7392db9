/* cpu.h - inside the CPU machine: what an operation's code gets, beside its arguments. Private to src/backend. */
#ifndef DNN_BACKEND_CPU_H
#define DNN_BACKEND_CPU_H

#include "backend/backend.h"

/* ROW ops get rows [row0, row0 + rows) of one shard; `first` is set for the first strip of the shard in this routine.
 * ALL ops get a tile number below cpu_NAME_tiles(arguments). ONE ops get an empty slice. */
struct slice {
    uint32_t row0, rows, shard, tile;
    bool first;
    unsigned thread;
    void *scratch;       /* CPU_SCRATCH bytes of this thread */
    struct machine *m;
};
#define CPU_SCRATCH ((size_t)1 << 20)

#define ROW(name, text) void cpu_##name(const struct op_##name *a, const struct slice *s);
#define ALL(name, text)                                                                                   \
    void cpu_##name(const struct op_##name *a, const struct slice *s);                                    \
    unsigned cpu_##name##_tiles(const struct op_##name *a);
#define ONE(name, text) ROW(name, text)
#include "backend/ops.def"
#undef ROW
#undef ALL
#undef ONE

#endif
