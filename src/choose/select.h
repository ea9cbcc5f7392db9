/* select.h - chooses the machine of a job and records the reason. dnn_cpu opens no GPU library.
 * dnn_gpu opens the GPU; without one it warns and uses the CPU, or fails with 69 if fallback is
 * "none". auto compares two estimates (cost.h) and opens no GPU library for small work. With
 * "deterministic": true the choice depends on tables, shapes and the card's model alone; with false
 * a short probe of both machines refines the estimates. */
#ifndef DNN_CHOOSE_SELECT_H
#define DNN_CHOOSE_SELECT_H

#include "base/anew.h"
#include "choose/cost.h"
#include "config/config.h"

struct selection {
    const char *requested; /* "auto", "dnn_gpu", "dnn_cpu", "rocm", "mps" */
    const char *from;      /* who asked: "--backend", a variable, a key, "default" */
    const char *device_from; /* the same of backend.device */
    const char *used;      /* "dnn_cpu", "dnn_gpu" */
    /* its name in backend.h: "cpu", "cuda"; NULL: not decided before select_decide */
    const char *machine;
    bool fell_back;        /* the GPU failed, in this process or the one that became it */
    char reason[256];
    char device[96]; /* "cpu" */
    char driver[32]; /* "" */
    unsigned threads;
    char blas_core[32];    /* "none": no BLAS serves */
    bool deterministic;    /* auto measures nothing */
    bool trains;           /* answers are in fp32 on every machine */
    /* of the training's products: what was asked for, "auto", empty where none is trained; what
     * they are computed in, "fp32", "bf16" */
    char precision_wish[8];
    char precision[8];
    /* Estimates of the whole job, of a training as if early stopping never came; negative: not
     * made. */
    double cpu_s, gpu_s;
    struct select_work work; /* what they were made of */
    bool estimated;          /* auto: the GPU, unless it is slower than thought (select_stays) */
};
/* Logs the contract's lines. The estimates are made by whoever has seen the data (check, train).
 * A training's blas_core becomes the plan's, once there is one: what serves, not what was found. */
bool select_backend(const struct backend_options *b, enum job job, const struct setting *settings,
                    size_t count, struct selection *s, struct err *e);
/* Of GPU_BACKEND rocm or mps: why it cannot serve here, as far as can be seen without opening
 * anything. */
const char *select_other_kind(const char *kind);
bool select_is_gpu(const struct selection *s);    /* the machine that is open */
bool select_wants_gpu(const struct selection *s); /* the one to be opened; false: not decided */
/* auto has made both estimates, and they decided: they stay as they are. */
bool select_compared(const struct selection *s);
/* What the job will take, as measured by its beginning: the estimate of its machine where none
 * was made. */
void select_took(struct selection *s, double seconds);
/* Decides between CPU and GPU by estimate, unless the machine is decided. A CPU that needs less
 * than COST_SMALL seconds is chosen without opening the GPU. */
void select_decide(struct selection *s, const struct select_work *work);
/* Decides for the CPU if the machine is not decided: input from a pipe, whose size is not known. */
void select_piped(struct selection *s);
/* Estimates again with the model of the GPU that was opened (opened_s: how long that took). False:
 * the CPU is faster. */
bool select_stays(struct selection *s, struct machine *m, double opened_s);
/* Where it is not decided: what a checkpoint was computed on. */
void select_by_plan(struct selection *s, const struct plan *plan);
/* Opens the machine; a GPU that cannot be had is the CPU with a warning (a note where auto chose
 * it), or the error when there is no fallback. */
struct machine *select_open(struct selection *s, const struct backend_options *b, bool blas,
                            struct err *e);
/* Whether the CPU is to take over after this failure of the machine. */
bool select_falls_back(const struct selection *s, const struct backend_options *b,
                       const struct err *e);
/* A GPU has failed in this process: the CPU serves, with a line that says why, where it may; not a
 * second loud warning. False: none has, or there is no fallback. */
bool select_lost(struct selection *s, const struct backend_options *b);
/* The CPU takes over in this process: the one loud warning, with what `then` says comes next. */
void select_fall_back(struct selection *s, const struct err *e, const char *then);
/* The same by executing the program anew, with nothing of the GPU left; `resume`: the training goes
 * on from its newest checkpoint. What was spent and warned of is handed over, and the config as it
 * was read. Returns when that is impossible, and when a signal has asked to end (stop_wanted). */
void select_restart(struct selection *s, const struct config *c, const struct err *e, bool resume,
                    const char *then, struct anew_spent spent);
/* Whether this process is one that was executed anew: then s tells why. */
bool select_fell_back(struct selection *s);
/* What a training on a GPU rounds its large products to, and why; or, where it has none (rounds:
 * network_rounds), that it does not. Nothing in fp32. */
void select_say_products(const struct machine *m, bool rounds);
/* "dnn_gpu: model loaded on GPU 0 (NVIDIA H200, 1.2 of 139.8 GiB used)"; nothing on the CPU. */
void select_say_loaded(const struct selection *s, const struct machine *m);
void select_write(const struct selection *s, const char *key, struct json_out *out); /* BACKEND */

#endif
