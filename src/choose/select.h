/* select.h - chooses the machine of a job and records the reason. dnn_cpu opens no GPU library.
 * dnn_gpu opens the GPU; without one it warns and uses the CPU, or fails with 69 if fallback is
 * "none". auto compares two estimates (cost.h) and opens no GPU library for small work. With
 * "deterministic": true the choice depends on tables, shapes and the card's model alone; with false
 * a short probe of both machines refines the estimates. */
#ifndef DNN_CHOOSE_SELECT_H
#define DNN_CHOOSE_SELECT_H

#include "base/process/reexec.h"
#include "choose/cost.h"
#include "config/config.h"

struct selection {
    const char *requested; /* "auto", "dnn_gpu", "dnn_cpu", "rocm", "mps" */
    const char *from;      /* the place that set it: "--backend", a variable, a key, "default" */
    const char *device_from; /* the place that set backend.device, likewise */
    const char *used;      /* "dnn_cpu", "dnn_gpu" */
    /* its name in backend.h: "cpu", "cuda"; NULL: not decided before select_decide */
    const char *machine;
    bool fell_back;        /* the GPU failed, in this process or the one before its restart */
    char reason[256];
    char device[96]; /* "cpu" */
    char driver[32]; /* "" */
    unsigned threads;
    char blas_core[32];    /* "none": no BLAS is used */
    bool deterministic;    /* auto measures nothing */
    bool trains;           /* answers are in fp32 on every machine */
    /* of the training's products: the precision asked for ("auto"; empty: no training), and the one
     * in use ("fp32", "bf16") */
    char precision_wish[8];
    char precision[8];
    /* Estimates of the whole job, a training without early stopping; negative: not made. */
    double cpu_s, gpu_s;
    struct select_work work; /* the size that the estimates are for */
    bool estimated;          /* auto: the GPU, unless it is slower than thought (select_stays) */
};
/* Reads the request and logs it. auto stays open until select_decide, which needs the data.
 * blas_core is the one found; a training sets it from its plan later. */
bool select_backend(const struct backend_options *b, enum job job, const struct setting *settings,
                    size_t count, struct selection *s, struct err *e);
/* The reason why the GPU_BACKEND rocm or mps cannot serve here, found without opening anything. */
const char *select_other_kind(const char *kind);
bool select_is_gpu(const struct selection *s);    /* the open machine */
bool select_wants_gpu(const struct selection *s); /* the machine to be opened; false: not decided */
/* auto has made both estimates, and they decided: they stay as they are. */
bool select_compared(const struct selection *s);
/* Sets the estimate of the machine in use, if none was made, to seconds measured at the job's
 * start. */
void select_took(struct selection *s, double seconds);
/* Decides between CPU and GPU by estimate, unless the machine is decided. A CPU that needs less
 * than COST_SMALL seconds is chosen without opening the GPU. */
void select_decide(struct selection *s, const struct select_work *work);
/* Decides for the CPU if the machine is not decided: input from a pipe, whose size is not known. */
void select_piped(struct selection *s);
/* Estimates again with the model of the GPU that was opened (opened_s: how long that took). False:
 * the CPU is faster. */
bool select_stays(struct selection *s, struct machine *m, double opened_s);
/* Decides for the machine of a checkpoint's plan, if not decided. */
void select_by_plan(struct selection *s, const struct plan *plan);
/* Opens the machine; without a GPU the CPU with a warning (a note if auto chose the GPU), or the
 * error if fallback is "none". */
struct machine *select_open(struct selection *s, const struct backend_options *b, bool blas,
                            struct err *e);
/* True: the CPU takes over after this failure of the machine. */
bool select_may_use_cpu(const struct selection *s, const struct backend_options *b,
                        const struct err *e);
/* True: a GPU has failed in this process, and the CPU is chosen; a line says why, without a second
 * warning. False: none has failed, or fallback is "none". */
bool select_lost(struct selection *s, const struct backend_options *b);
/* The CPU takes over in this process. Logs the one warning. then: the words for the next step. */
void select_use_cpu(struct selection *s, const struct err *e, const char *then);
/* As above by executing the program again (reexec.h). resume: the training continues from its
 * newest checkpoint. The new program gets the seconds spent, the warnings and the config's text.
 * Returns if that is impossible, or a signal has asked to end (stop_wanted). */
void select_restart(struct selection *s, const struct config *c, const struct err *e, bool resume,
                    const char *then, struct reexec_spent spent);
/* True: this program was executed again; sets the reason of s. */
bool select_was_restarted(struct selection *s);
/* Logs the precision of large products and the reason, or the code that computes them. rounds
 * false: the network has no large products (network_rounds). No line for fp32. */
void select_say_products(const struct machine *m, bool rounds);
/* Logs "dnn_gpu: model loaded on GPU 0 (NVIDIA H200, 1.2 of 139.8 GiB used)"; no line for a CPU. */
void select_say_loaded(const struct selection *s, const struct machine *m);
void select_write(const struct selection *s, const char *key, struct json_out *out); /* BACKEND */

#endif
