/* help_gpu.c - `dnn help gpu`: what a GPU needs, how it is asked for, and the ways back to the CPU.
 */
#include <stdio.h>

#include "backend/backend.h"
#include "backend/toolkit.h"
#include "cli/cli.h"

static void toolkit_rows(struct text *out)
{
    text_printf(out, "%-12s %-31s %-14s %-14s %s\n", "toolkit", "driver, at least", "cuDNN (guest)",
                "capability", "up to");
    const struct toolkit *t;
    for (size_t i = 0; (t = toolkit_at(i)); i++) {
        char releases[64], capability[64];
        unsigned major = t->first / 10;
        if (t->last % 10 == 9 && t->last / 10 == major && t->first % 10 == 0)
            snprintf(releases, sizeof releases, "%u.x", major);
        else if (t->first == t->last)
            snprintf(releases, sizeof releases, "%u.%u", major, t->first % 10);
        else
            snprintf(releases, sizeof releases, "%u.%u to %u.%u", major, t->first % 10,
                     t->last / 10, t->last % 10);
        snprintf(capability, sizeof capability, "%u.%u to %u.%u", t->least / 10, t->least % 10,
                 t->most / 10, t->most % 10);
        text_printf(out, "%-12s %-31s %-14s %-14s %s\n", releases, t->driver, t->cudnn, capability,
                    t->newest);
    }
}

void help_gpu(struct text *out)
{
    text_printf(
        out,
        "This build has %s. `dnn gpucheck` says whether the GPU of this machine serves, and "
        "what is missing.\n\n",
        machine_known("cuda") ? "the GPU's kernels" : "no GPU kernels (made without nvcc)");
    toolkit_rows(out);
    text_put(out,
             "\nasked for   --backend dnn_gpu, auto or dnn_cpu; backend.train and backend.predict "
             "in the\n"
             "            config; DNN_TRAIN_GPU, DNN_PREDICT_GPU, MODEL_BACKEND, ALL_GPU\n"
             "which       --device 0, a UUID (GPU-..., MIG-...), auto: the freest that is not "
             "taken;\n"
             "            CUDA_VISIBLE_DEVICES\n"
             "how much    backend.memory_limit_gb, backend.memory_fraction, GPU_MEMORY_LIMIT_GB,\n"
             "            GPU_BATCH_SIZE; `dnn check` says what a job will take\n"
             "if it fails backend.fallback \"cpu\" (a warning, and the CPU goes on), \"none\" (an "
             "exit code)\n"
             "back to the CPU\n"
             "            CUDA_VISIBLE_DEVICES= dnn ...   this process sees no card\n"
             "            MODEL_BACKEND=dnn dnn ...       nothing of a GPU is opened\n"
             "            make NVCC=                      a build without kernels\n");
}
