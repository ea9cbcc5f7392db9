/* config.h - one config: the user's JSON, the overrides, the environment and the defaults, joined
 * from the option tables of the rooms. Precedence: command line, environment, config, default;
 * where each value came from is kept. What is wrong in the file is E13 (78) with its place; what is
 * wrong in a --set or a variable is E10 (64). */
#ifndef DNN_RUN_CONFIG_H
#define DNN_RUN_CONFIG_H

#include "data/options.h"
#include "model/loss.h"
#include "model/model.h"
#include "model/optim.h"
#include "model/schedule.h"

#define TRAIN_BATCH_MOST 65536 /* rows of train.batch_size */
#define PREDICT_BATCH_MOST 1048576
#define THREADS_MOST 1024

struct early_options {
    char *metric; /* "auto": see metric.h */
    int64_t patience;
    double min_delta;
};
struct checkpoint_options {
    double every_s;
    int64_t keep;
};
struct train_options {
    int64_t epochs, batch_size, grad_accumulation;
    struct optim_options optimizer;
    struct schedule_options schedule;
    struct loss_options loss;
    struct early_options early;
    double clip_norm, time_limit_s;
    uint64_t seed;
    struct checkpoint_options checkpoint;
};
enum backend_word { BACKEND_AUTO, BACKEND_GPU, BACKEND_CPU }; /* auto, dnn_gpu, dnn_cpu */
enum job {
#define JOB(id, name, variable, what) JOB_##id,
#include "run/jobs.def"
#undef JOB
    JOBS
};
struct backend_options {
    /* "auto", "dnn_gpu", "dnn_cpu"; once loaded, a job's own is what decides */
    char *name;
#define JOB(id, name, variable, what) char *name;
#include "run/jobs.def"
#undef JOB
    char *device;
    int fallback;    /* 0 cpu, 1 none */
    char *precision; /* auto, fp32, tf32, bf16, fp16; the CPU computes in fp32 and says so */
    bool deterministic, autotune;
    double memory_limit_gb, memory_fraction; /* limit 0: null */
    int64_t predict_batch_size, threads;
};
struct output_options {
    char *model, *metrics;
};

/* Where a value came from: "default", "config", "model", "--set", "--backend", "MODEL_BACKEND", ...
 * Every key, in the order of the tables. */
struct setting {
    char *key, *value /* JSON text */, *from;
};
void settings_free(struct setting *settings, size_t count);

struct config {
    struct json_doc *doc; /* with the --set values put in; files as they are named there */
    char *path;           /* of the config; files below are joined to its folder */
    int task;             /* enum task */
    struct data_options data;
    struct model_options model;
    struct train_options train;
    struct backend_options backend;
    struct output_options output;
    struct setting *settings;
    size_t setting_count;
    char **sets; /* keys that a --set gave, in order */
    size_t set_count;
};

/* What the command line says. Strings NULL and numbers -1 when not given. */
struct overrides {
    const char *const *sets; /* "path.to.key=VALUE" in order */
    size_t set_count;
    const char *backend, *device, *output_model;
    int64_t threads, batch_size;
    double time_limit_s;
};
struct config *config_load(const char *path, const struct overrides *o, struct err *e);
struct config *config_parse(const char *text, size_t length, const char *name,
                            const struct overrides *o, struct err *e);
void config_free(struct config *c);
/* An error about a key that a --set gave names that --set instead of the file; where the value
 * alone is wrong it becomes E10 (64). Other errors stay as they are. Returns false. */
bool config_blame(const struct config *c, struct err *e);
/* An error of the data: the keys that it is about, and where their values came from. Returns
 * false. */
bool config_blame_data(const struct config *c, struct err *e);
/* One "path.to.key=VALUE" put into doc: VALUE is read as JSON if that gives the key's type, else as
 * a string. File names are relative to the config's folder, as in the config. E10. */
bool config_set(struct json_doc *doc, const char *set, struct err *e);
/* For predict, evaluate, verify: the backend section alone, from a model's resolved config,
 * environment and command line. */
bool backend_settings(const struct json_doc *model_config, enum job job, const struct overrides *o,
                      struct backend_options *b, struct setting **settings, size_t *count,
                      struct err *e);
void backend_release(struct backend_options *b);

/* The word that decides for a job, and where it stood: the job's own switch, MODEL_BACKEND,
 * ALL_GPU, GPU_BACKEND=cpu, config. */
enum backend_word config_backend(const struct backend_options *b, enum job job,
                                 const struct setting *settings, size_t count, const char **from);

/* Every key with its value. With f: the model as its layers, "auto" as what it became, and what the
 * command line changed; without: the document with every default. The backend section is the
 * config's own: variables and options of one run are not part of it. `portable`: one line, without
 * what a model file must not hold (files, output, checkpoints, time limit, threads, device,
 * memory). */
void config_resolved(const struct config *c, const struct features *f, bool portable,
                     struct text *json);
/* Whether the config inside the model file `path` is one that this build could have written: read
 * as strictly as a config file. E1530. */
bool config_stored(const char *text, const char *path, struct err *e);
void config_schema(struct text *json); /* JSON Schema draft 2020-12 */
/* "task", "data", ...: a key at the top of a config. */
bool config_top_key(const char *key);
/* false: no such key; out then names the nearest */
bool config_key_help(const char *key, struct text *out);
void config_keys(void (*each)(const char *key, const struct option *row, void *context),
                 void *context);

#endif
