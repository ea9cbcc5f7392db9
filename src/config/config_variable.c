/* config_variable.c - the environment variables: reading one, and one row each, for `dnn help
 * environment`. */
#include <stdlib.h>
#include <string.h>

#include "config/config_table.h"
#include "config/variable.h"

const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

const struct config_variable config_variables[] = {
#define JOB(id, name, variable, what)                                                              \
    {variable, "true or false",                                                                    \
     "The backend of " what ": true is dnn_gpu, false is dnn_cpu. It wins over MODEL_BACKEND."},
#include "config/jobs.def"
#undef JOB
    {"MODEL_BACKEND", "dnn, dnn_cpu, dnn_gpu or auto",
     "The backend of every job, as backend.name; dnn is the old word for dnn_cpu. It wins over "
     "ALL_GPU."},
    {"ALL_GPU", "true or false",
     "The backend of every job: true is dnn_gpu, false is dnn_cpu. It wins over GPU_BACKEND."},
    {"GPU_BACKEND", "auto, cuda, rocm, mps or cpu",
     "The kind of GPU to use; cpu is dnn_cpu for every job. This build has no kernels for rocm "
     "and mps: the CPU computes with a warning, or exit 69 with \"fallback\": \"none\"."},
    {"GPU_DEVICE_ID", "auto, a number such as 0, cuda:0, a UUID GPU-... or MIG-...",
     "Which GPU, as backend.device."},
    {"GPU_MEMORY_LIMIT_GB", "a number of GiB, more than 0",
     "The limit of GPU memory, as backend.memory_limit_gb."},
    {"GPU_BATCH_SIZE", "a number of rows from 1 to " TEXT_DIGITS(PREDICT_BATCH_MOST),
     "The rows predicted at once, as backend.predict_batch_size; in a training on a GPU the "
     "largest micro-batch."},
    {"CUDA_VISIBLE_DEVICES", "as the driver reads it",
     "Which GPUs the driver shows; empty or -1: none."},
    {"LOG_LEVEL", "error, warning, info or debug",
     "How much is printed: error and warning as --verbosity 0, info as 2, debug as 3. An option on "
     "the command line wins."},
    {"DEBUG", "true or false, 1 or 0, yes or no, on or off", "true is LOG_LEVEL debug."},
    {"NO_COLOR", "anything", "dnn never colours its output."},
    {NULL, NULL, NULL}};

const struct config_variable *config_variable_find(const char *name)
{
    for (const struct config_variable *v = config_variables; v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}
