/* backend_settings.h - the section "backend" of a config, and the origin of its values: a job takes
 * them from the command line, the environment, and the config or the model's own. */
#ifndef DNN_CONFIG_BACKEND_SETTINGS_H
#define DNN_CONFIG_BACKEND_SETTINGS_H

#include <stdbool.h>

#include "base/json/json.h"
#include "base/json/opt.h"
#include "config/overrides.h"

#define PREDICT_BATCH_MOST 1048576 /* rows of predict_batch_size */
#define THREADS_MOST 1024
#define MEMORY_FRACTION "0.9" /* of a GPU's memory, by default */

enum backend_word { BACKEND_AUTO, BACKEND_GPU, BACKEND_CPU };
/* The words of a config and of MODEL_BACKEND, in the order of the enum, and "dnn", the old word for
 * "dnn_cpu"; NULL after the last. --backend also takes short forms; "cuda:N" is not in the list. */
extern const char *const backend_names[], *const backend_option_words[];
#define BACKEND_OPTION_HELP \
    "auto, dnn_gpu, dnn_cpu; cpu, cuda and cuda:N are short forms; mps, rocm: as GPU_BACKEND."
/* The backend name for a word; NULL: unknown. option: the short forms of --backend count too. */
const char *backend_word(const char *text, bool option);
/* The listed form of a word of GPU_BACKEND (auto, cuda, rocm, mps, cpu); NULL: unknown. */
const char *backend_kind(const char *text);
enum job {
#define JOB(id, name, variable, what) JOB_##id,
#include "config/jobs.def"
#undef JOB
    JOBS
};
struct backend_options {
    /* "auto", "dnn_gpu", "dnn_cpu"; once loaded, a job's own is what decides */
    char *name;
#define JOB(id, name, variable, what) char *name;
#include "config/jobs.def"
#undef JOB
    char *device;
    int fallback;    /* 0 cpu, 1 none */
    int blas;        /* enum blas_choice */
    char *precision; /* auto, fp32, tf32, bf16, fp16; CPUs have fp32, some bf16; a note says so */
    struct opt_strings guests; /* auto, none or all; or names; see backend_guests */
    bool deterministic, autotune;
    double memory_limit_gb, memory_fraction; /* limit 0: null */
    int64_t predict_batch_size, threads;
    /* no keys: the kind of GPU that may serve (cuda, rocm, mps; NULL: any) and whose word that is:
     * "GPU_BACKEND" or "--backend"; static strings */
    const char *kind, *kind_from;
};

/* The libraries of NVIDIA that may serve a training: machine_options.guests. */
unsigned backend_guests(const struct backend_options *b);

/* The origin of a value: "default", "config", "model", "--set", "--backend", "MODEL_BACKEND", ...
 * Every key, in the order of the tables. */
struct setting {
    char *key, *value /* JSON text */, *from;
};
void settings_free(struct setting *settings, size_t count);

/* For predict, evaluate, verify: the backend section alone, from a model's resolved config,
 * environment and command line. */
bool backend_settings(const struct json_doc *model_config, enum job job, const struct overrides *o,
                      struct backend_options *b, struct setting **settings, size_t *count,
                      struct err *e);
void backend_release(struct backend_options *b);

/* The word that decides for a job, and its origin: the job's own switch, MODEL_BACKEND, ALL_GPU,
 * GPU_BACKEND=cpu, config. */
enum backend_word config_backend(const struct backend_options *b, enum job job,
                                 const struct setting *settings, size_t count, const char **from);

#endif
