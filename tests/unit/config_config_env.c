/* The environment and a model's own backend section: what decides, and whose word it was. */
#include "tap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "config/config.h"
#include "config_case.h"

/* --- environment --- */

static const char *const variables[] = {
    "MODEL_BACKEND", "ALL_GPU",       "DNN_TRAIN_GPU",       "DNN_PREDICT_GPU", "DNN_EVALUATE_GPU",
    "GPU_BACKEND",   "GPU_DEVICE_ID", "GPU_MEMORY_LIMIT_GB", "GPU_BATCH_SIZE"};

static void clear_environment(void)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        unsetenv(variables[i]);
}

struct choice {
    const char *environment, *more, *set;
    enum job job;
    enum backend_word word;
    const char *from;
};
static const struct choice choices[] = {
    {"", "", NULL, JOB_TRAIN, BACKEND_AUTO, "default"},
    {"", "\"backend\": {\"name\": \"dnn_gpu\"}", NULL, JOB_TRAIN, BACKEND_GPU, "config"},
    {"", "\"backend\": {\"name\": \"dnn_gpu\", \"train\": \"dnn\"}", NULL, JOB_TRAIN, BACKEND_CPU,
     "config"},
    {"", "\"backend\": {\"name\": \"dnn_gpu\", \"train\": \"dnn\"}", NULL, JOB_PREDICT, BACKEND_GPU,
     "config"},
    {"MODEL_BACKEND=dnn", "\"backend\": {\"train\": \"dnn_gpu\"}", NULL, JOB_TRAIN, BACKEND_CPU,
     "MODEL_BACKEND"},
    {"MODEL_BACKEND=dnn_gpu", "", NULL, JOB_EVALUATE, BACKEND_GPU, "MODEL_BACKEND"},
    {"MODEL_BACKEND=", "", NULL, JOB_TRAIN, BACKEND_AUTO, "default"},
    {"ALL_GPU=true", "", NULL, JOB_TRAIN, BACKEND_GPU, "ALL_GPU"},
    {"ALL_GPU=false", "", NULL, JOB_TRAIN, BACKEND_CPU, "ALL_GPU"},
    {"ALL_GPU=true MODEL_BACKEND=auto", "", NULL, JOB_TRAIN, BACKEND_AUTO, "MODEL_BACKEND"},
    {"DNN_TRAIN_GPU=true MODEL_BACKEND=dnn_cpu", "", NULL, JOB_TRAIN, BACKEND_GPU, "DNN_TRAIN_GPU"},
    {"DNN_TRAIN_GPU=true MODEL_BACKEND=dnn_cpu", "", NULL, JOB_PREDICT, BACKEND_CPU,
     "MODEL_BACKEND"},
    {"GPU_BACKEND=cpu", "\"backend\": {\"name\": \"dnn_gpu\"}", NULL, JOB_TRAIN, BACKEND_CPU,
     "GPU_BACKEND"},
    {"GPU_BACKEND=cpu ALL_GPU=true", "", NULL, JOB_TRAIN, BACKEND_GPU, "ALL_GPU"},
    {"GPU_BACKEND=cuda", "", NULL, JOB_TRAIN, BACKEND_AUTO, "default"},
    {"DNN_TRAIN_GPU=true", "", "backend.name=dnn_cpu", JOB_TRAIN, BACKEND_CPU, "--set"},
    {"", "\"backend\": {\"train\": \"dnn_gpu\"}", "backend.name=dnn_cpu", JOB_TRAIN, BACKEND_CPU,
     "--set"},
    {"MODEL_BACKEND=dnn_cpu", "", "backend.train=dnn_gpu", JOB_TRAIN, BACKEND_GPU, "--set"},
    {"MODEL_BACKEND=dnn_cpu", "", "backend.train=dnn_gpu", JOB_PREDICT, BACKEND_CPU,
     "MODEL_BACKEND"},
};

static void put_environment(const char *list)
{
    char copy[200], *at = copy;
    snprintf(copy, sizeof copy, "%s", list);
    clear_environment();
    while (*at) {
        char *equals = strchr(at, '='), *end = at + strcspn(at, " ");
        bool last = *end == '\0';
        *equals = *end = '\0';
        setenv(at, equals + 1, 1);
        at = last ? end : end + 1;
    }
}

static void environment(void)
{
    for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
        const struct choice *t = &choices[i];
        struct err e = {0};
        struct overrides o = NONE;
        o.sets = &t->set;
        o.set_count = t->set ? 1 : 0;
        put_environment(t->environment);
        struct config *c = make(t->more, &o, &e);
        const char *where = "";
        enum backend_word word =
            c ? config_backend(&c->backend, t->job, c->settings, c->setting_count, &where)
              : BACKEND_AUTO;
        if (!ok(c && word == t->word && strcmp(where, t->from) == 0, "backend %zu: %s %s", i,
                t->environment, t->more))
            printf("#   got %d from %s: %s\n", (int)word, where, e.what);
        config_free(c);
    }
    struct err e = {0};
    put_environment("GPU_DEVICE_ID=2 GPU_MEMORY_LIMIT_GB=1.5 GPU_BATCH_SIZE=64");
    struct config *c = make("", NULL, &e);
    ok(c && strcmp(c->backend.device, "2") == 0 && c->backend.memory_limit_gb == 1.5 &&
           c->backend.predict_batch_size == 64 && c->train.batch_size == 256,
       "device, memory and batch");
    is_string(c ? from(c, "backend.memory_limit_gb") : "", "GPU_MEMORY_LIMIT_GB",
              "and whose they are");
    config_free(c);
    const char *size = "backend.predict_batch_size=32";
    struct overrides over = NONE;
    over.sets = &size;
    over.set_count = 1;
    c = make("", &over, &e);
    ok(c && c->backend.predict_batch_size == 32, "the command line decides over the environment");
    is_string(c ? from(c, "backend.predict_batch_size") : "", "--set", "and it was its word");
    config_free(c);
    static const char *const bad[] = {"MODEL_BACKEND=gpu",      "MODEL_BACKEND=cuda",
                                      "ALL_GPU=maybe",          "DNN_TRAIN_GPU=2",
                                      "GPU_BACKEND=tpu",        "GPU_DEVICE_ID=first",
                                      "GPU_MEMORY_LIMIT_GB=-1", "GPU_MEMORY_LIMIT_GB=much",
                                      "GPU_BATCH_SIZE=0",       "GPU_BATCH_SIZE=1e3"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        err_clear(&e);
        put_environment(bad[i]);
        ok(!make("", NULL, &e) && e.id == ERR_ENVIRONMENT && err_exit(&e) == EXIT_USAGE, "%s: %s",
           bad[i], e.what);
    }
    clear_environment();
}

static void of_a_model(void)
{
    struct err e = {0};
    static const char stored[] =
        "{\"backend\": {\"name\": \"dnn_gpu\", \"predict\": \"dnn_cpu\", \"fallback\": \"none\"}}";
    struct json_doc *doc = json_parse(stored, strlen(stored), "model", &e);
    struct overrides o = NONE;
    o.batch_size = 99;
    struct backend_options b;
    struct setting *settings;
    size_t count;
    const char *where;
    if (ok(doc && backend_settings(doc, JOB_PREDICT, &o, &b, &settings, &count, &e),
           "the backend of a model")) {
        is_int(config_backend(&b, JOB_PREDICT, settings, count, &where), BACKEND_CPU,
               "its own word for predicting");
        is_string(where, "model", "from the model");
        ok(b.fallback == 1 && b.predict_batch_size == 99 && b.memory_limit_gb == 0,
           "the rest of it");
        backend_release(&b);
        settings_free(settings, count);
    }
    setenv("MODEL_BACKEND", "dnn_gpu", 1);
    if (ok(backend_settings(NULL, JOB_EVALUATE, NULL, &b, &settings, &count, &e), "and of none")) {
        is_int(config_backend(&b, JOB_EVALUATE, settings, count, &where), BACKEND_GPU,
               "the environment decides");
        backend_release(&b);
        settings_free(settings, count);
    }
    unsetenv("MODEL_BACKEND");
    json_free(doc);
}

static void one_card(void)
{
    static const struct {
        const char *backend, *device, *variable;
        bool one;
    } cases[] = {{NULL, NULL, NULL, false},     {NULL, NULL, "", false},
                 {NULL, NULL, "auto", false},   {NULL, NULL, "2", true},
                 {NULL, "auto", NULL, false},   {NULL, "auto", "2", false},
                 {NULL, "1", "auto", true},     {"cuda:1", NULL, "auto", true},
                 {"dnn_gpu", NULL, "", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct overrides o = NONE;
        o.backend = cases[i].backend;
        o.device = cases[i].device;
        if (cases[i].variable)
            setenv("GPU_DEVICE_ID", cases[i].variable, 1);
        ok(overrides_one_card(&o) == cases[i].one, "one card is asked for: case %zu", i);
        unsetenv("GPU_DEVICE_ID");
    }
}

int main(void)
{
    environment();
    one_card();
    of_a_model();
    is_int(mem_in_use(), 0, "nothing is left behind");
    return done();
}
