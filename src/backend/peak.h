/* peak.h - what a machine can do at most, by loops that do nothing else, timed here and now: the
 * limit that measured work is held against. On the CPU with its vector code, on every thread of
 * the pool or on one; on a device as kernels. */
#ifndef DNN_BACKEND_PEAK_H
#define DNN_BACKEND_PEAK_H

#include "backend/backend.h"

enum peak_kind {
    PEAK_FMA,     /* fp32 multiply-adds, two operations each */
    PEAK_FMA_ONE, /* the same of one CPU core; a device has no such thing */
    PEAK_TF32,    /* tensor cores, by mma; the CPU has none */
    PEAK_BF16,
    PEAK_FP16,
    PEAK_COPY,    /* bytes read and written */
    PEAK_KINDS
};
extern const char *const peak_names[PEAK_KINDS]; /* "fma", "fma_one", .. */

/* A second's worth: the best of some rounds, about `seconds` in all. bytes: what a copy touches, in
 * both places together; else 0. 0: the machine has no such thing, no room, or has failed. */
double peak_measure(struct machine *m, enum peak_kind kind, size_t bytes, double seconds);

#endif
