/* cell_run.c - runs of numbers in plain C, and the choice of a processor's best. */
#include "data/cell_run.h"

#include <stdlib.h>

#include "data/number_short.h"

#define number_read number_short
#include "data/cell_run_loop.h"

size_t cell_run_plain(const struct cell_run *r, size_t column)
{
    return cell_run_loop(r, column);
}

static cell_run_fn *choose(void)
{
#if defined(__x86_64__)
    const char *said = getenv("DNN_CPU");
    bool named = said && *said && strcmp(said, "avx512") != 0;
    if (!named && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return cell_run_avx512;
#endif
    return cell_run_plain;
}

cell_run_fn *cell_run_choose(void)
{
    static cell_run_fn *_Atomic chosen;
    cell_run_fn *f = chosen;
    if (!f)
        chosen = f = choose();
    return f;
}
