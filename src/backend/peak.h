/* peak.h - the highest rate of a machine, measured now with loops that do nothing else: the limit
 * for measured work. On the CPU with its vector code, on all threads of the pool or on one; on a
 * device with kernels. */
#ifndef DNN_BACKEND_PEAK_H
#define DNN_BACKEND_PEAK_H

#include "backend/backend.h"

enum peak_kind {
    PEAK_FMA,     /* fp32 multiply-adds, two operations each */
    PEAK_FMA_ONE, /* the same on one CPU core; not for devices */
    PEAK_TF32,    /* tensor cores, by mma; the CPU has none */
    PEAK_BF16,
    PEAK_FP16,
    PEAK_COPY,    /* bytes read and written */
    PEAK_KINDS
};
extern const char *const peak_names[PEAK_KINDS]; /* "fma", "fma_one", .. */

/* Operations or bytes a second: the best of several rounds in about `seconds`. bytes: touched by a
 * copy, both places together; else 0. Returns 0 if the machine lacks it, has no room, or has
 * failed. */
double peak_measure(struct machine *m, enum peak_kind kind, size_t bytes, double seconds);

#endif
