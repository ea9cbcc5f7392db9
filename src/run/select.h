/* select.h - which machine serves a job, and why. On a machine with no GPU: auto is the CPU,
 * dnn_gpu warns and is the CPU, or fails with 69 when fallback is "none". dnn_cpu opens no GPU
 * library, and neither does auto for small work. */
#ifndef DNN_RUN_SELECT_H
#define DNN_RUN_SELECT_H

#include "backend/backend.h"
#include "run/config.h"

struct selection {
    const char *requested; /* "auto", "dnn_gpu", "dnn_cpu" */
    const char *used;      /* "dnn_cpu" */
    const char *machine;   /* its name in backend.h: "cpu" */
    char reason[256];
    char device[96]; /* "cpu" */
    char driver[32]; /* "" */
    unsigned threads;
    char blas_core[32];    /* "none": no BLAS serves */
    const char *precision; /* "fp32" */
    /* Estimates of the whole job, of a training as if early stopping never came; negative: not
     * made. */
    double cpu_s, gpu_s;
};
/* Logs the contract's lines. The estimates are made by whoever has seen the data (check, train),
 * and blas_core becomes the plan's, once there is one: what serves, not what was found. */
bool select_backend(const struct backend_options *b, enum job job, const struct setting *settings,
                    size_t count, struct selection *s, struct err *e);
void select_write(const struct selection *s, const char *key, struct json_out *out); /* BACKEND */

#endif
