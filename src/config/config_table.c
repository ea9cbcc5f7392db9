/* config_table.c - the tables of the run floor, and the one that joins those of all rooms. The
 * order of rows is the order of `check --resolved`, of help and of configs/default.json. */
#include "config/config_table.h"

#include <math.h>

static const char *const fallback_names[] = {"cpu", "none", NULL};
static const char *const precision_names[] = {"auto", "fp32", "tf32", "bf16", "fp16", NULL};
const char *const backend_job_names[JOBS] = {
#define JOB(id, name, variable, what) #name,
#include "config/jobs.def"
#undef JOB
};

#define AT(field) offsetof(struct train_options, field)

static const struct option train_options_table[] = {
    {.key = "epochs",
     .type = OPT_INT,
     .offset = AT(epochs),
     .standard = "200",
     .low = 1,
     .high = 1000000,
     .help = "The most passes over the training rows. Early stopping usually ends the training "
             "before."},
    {.key = "batch_size",
     .type = OPT_INT,
     .offset = AT(batch_size),
     .standard = "256",
     .low = 1,
     .high = TRAIN_BATCH_MOST,
     .help = "Rows of one step. More rows make a step steadier and an epoch shorter in steps. "
             "Where there are fewer training rows, a step has all of them."},
    {.key = "grad_accumulation",
     .type = OPT_INT,
     .offset = AT(grad_accumulation),
     .standard = "1",
     .low = 1,
     .high = 1024,
     .help = "Batches whose gradients are added up before the weights change: the same as a batch "
             "so many times as "
             "large, in less memory. As many as the training rows fill, at most."},
    {.key = "optimizer",
     .type = OPT_TABLE,
     .offset = AT(optimizer),
     .table = optim_options_table,
     .help = "How weights follow gradients."},
    {.key = "schedule",
     .type = OPT_TABLE,
     .offset = AT(schedule),
     .table = schedule_options_table,
     .help = "How the learning rate changes from step to step."},
    {.key = "loss",
     .type = OPT_TABLE,
     .offset = AT(loss),
     .table = loss_options_table,
     .help = "What training makes small."},
    {.key = "early_stopping.metric",
     .type = OPT_STRING,
     .offset = AT(early.metric),
     .standard = "\"auto\"",
     .help = "The metric of the validation rows that decides which epoch is best. auto: logloss "
             "for classes, rmse for regression, and the loss itself where train.loss is another "
             "one, or class_weights or label_smoothing are set; else any metric of the task."},
    {.key = "early_stopping.patience",
     .type = OPT_INT,
     .offset = AT(early.patience),
     .standard = "16",
     .low = 0,
     .high = 1000000,
     .help = "Epochs without a better metric after which training ends. 0: all epochs run, and the "
             "best weights are "
             "kept all the same."},
    {.key = "early_stopping.min_delta",
     .type = OPT_NUMBER,
     .offset = AT(early.min_delta),
     .standard = "0.0",
     .low = 0,
     .high = INFINITY,
     .help = "How much better the metric must be to count as better."},
    {.key = "clip_norm",
     .type = OPT_NUMBER,
     .offset = AT(clip_norm),
     .standard = "0.0",
     .low = 0,
     .high = INFINITY,
     .help = "The largest norm of a step's gradient; a longer one is shortened to it. 0: none is."},
    {.key = "seed",
     .type = OPT_SEED,
     .offset = AT(seed),
     .standard = "0",
     .help = "Everything random follows from it: split, first weights, order of rows, dropout. "
             "Above 2^53 it is "
             "written as a string of digits."},
    {.key = "time_limit_s",
     .type = OPT_NUMBER,
     .offset = AT(time_limit_s),
     .standard = "0",
     .low = 0,
     .high = INFINITY,
     .help = "Seconds after which the best weights so far are written. 0: no limit. It counts over "
             "resumes."},
    {.key = "checkpoint.every_s",
     .type = OPT_NUMBER,
     .offset = AT(checkpoint.every_s),
     .standard = "300",
     .low = 0,
     .high = INFINITY,
     .help = "Seconds between checkpoints; 0: one after every epoch."},
    {.key = "checkpoint.keep",
     .type = OPT_INT,
     .offset = AT(checkpoint.keep),
     .standard = "2",
     .low = 1,
     .high = 1000,
     .help = "How many checkpoints are kept while training runs."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct backend_options, field)

const struct option backend_options_table[] = {
    {.key = "name",
     .type = OPT_STRING,
     .offset = AT(name),
     .standard = "\"auto\"",
     .words = backend_names,
     .help =
         "Where computing happens: dnn_cpu, dnn_gpu or auto, which takes the faster one that is "
         "there. fallback says what becomes of dnn_gpu that is not. dnn is the old word for "
         "dnn_cpu."},
#define JOB(id, name, variable, what)                                                              \
    {.key = #name,                                                                                 \
     .type = OPT_STRING,                                                                           \
     .flags = OPT_NULLABLE,                                                                        \
     .offset = AT(name),                                                                           \
     .standard = "null",                                                                           \
     .words = backend_names,                                                                       \
     .help = "The backend of " what ", where it is not to be that of name."},
#include "config/jobs.def"
#undef JOB
    {.key = "device",
     .type = OPT_STRING,
     .offset = AT(device),
     .standard = "\"auto\"",
     .help = "Which GPU: auto, a number, cuda:N, a UUID or a MIG UUID."},
    {.key = "fallback",
     .type = OPT_WORD,
     .offset = AT(fallback),
     .standard = "\"cpu\"",
     .words = fallback_names,
     .help = "What happens when the GPU asked for cannot serve: cpu goes on there with a warning, "
             "none ends with an "
             "error."},
    {.key = "precision",
     .type = OPT_STRING,
     .offset = AT(precision),
     .standard = "\"auto\"",
     .words = precision_names,
     .help = "What a GPU rounds the inputs of a training's large products to; weights, sums and "
             "answers are fp32. auto is bf16 on cards of compute capability 9.0 and later, tf32 "
             "from 8.0 on, else fp32. fp16 scales the gradients as it goes and skips a step whose "
             "gradients run over. Small layers, and the CPU, compute in fp32."},
    {.key = "deterministic",
     .type = OPT_BOOL,
     .offset = AT(deterministic),
     .standard = "true",
     .help = "On a GPU: the same bytes from the same seed, config and data, or (false) what "
             "timings choose (autotune). The CPU always gives the same bytes."},
    {.key = "autotune",
     .type = OPT_BOOL,
     .offset = AT(autotune),
     .standard = "true",
     .help = "On a GPU, with \"deterministic\": false: timings on this run's shapes choose between "
             "the program's kernels and NVIDIA's libraries (cuBLASLt, cuDNN), where those are."},
    {.key = "memory_limit_gb",
     .type = OPT_NUMBER,
     .flags = OPT_NULLABLE | OPT_OPEN_LOW,
     .offset = AT(memory_limit_gb),
     .standard = "null",
     .low = 0,
     .high = 1000000,
     .help = "The most GiB of GPU memory to use; null: what memory_fraction says. "
             "The smaller of the two counts."},
    {.key = "memory_fraction",
     .type = OPT_NUMBER,
     .flags = OPT_OPEN_LOW,
     .offset = AT(memory_fraction),
     .standard = MEMORY_FRACTION,
     .low = 0,
     .high = 1,
     .help = "The most of a GPU's memory to use, as a share of all of it."},
    {.key = "predict_batch_size",
     .type = OPT_INT,
     .offset = AT(predict_batch_size),
     .standard = "0",
     .low = 0,
     .high = PREDICT_BATCH_MOST,
     .help = "Rows that are predicted at once; 0: chosen. The answers do not depend on it."},
    {.key = "threads",
     .type = OPT_INT,
     .offset = AT(threads),
     .standard = "0",
     .low = 0,
     .high = THREADS_MOST,
     .help =
         "Threads of the CPU; 0: as many as this process may use. Results do not depend on it."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct output_options, field)

static const struct option output_options_table[] = {
    {.key = "model",
     .type = OPT_STRING,
     .flags = OPT_NULLABLE | OPT_PATH,
     .offset = AT(model),
     .standard = "null",
     .help = "The model file that training writes; -o names another. Relative paths start at the "
             "config's folder."},
    {.key = "metrics",
     .type = OPT_STRING,
     .flags = OPT_NULLABLE | OPT_PATH,
     .offset = AT(metrics),
     .standard = "null",
     .help = "A file for one line of JSON an epoch: losses, metrics, rate, speed. null: none."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct config, field)

const struct option config_table[] = {
    {.key = "task",
     .type = OPT_WORD,
     .flags = OPT_REQUIRED,
     .offset = AT(task),
     .words = task_names,
     .help = "What is predicted: binary (one of two labels), multiclass (one of several), "
             "regression (a number)."},
    {.key = "data",
     .type = OPT_TABLE,
     .flags = OPT_REQUIRED,
     .offset = AT(data),
     .table = data_options_table,
     .help =
         "The files, their form, the columns, and how rows are set apart for validation and test."},
    {.key = "model",
     .type = OPT_CUSTOM,
     .offset = AT(model.model),
     .standard = "{\"preset\":\"auto\"}",
     .schema = "{\"$ref\":\"#/$defs/model\"}",
     .help = "The network: a preset with its own options beside it, or \"layers\" spelled out. A "
             "preset resolves to "
             "layers, which `dnn check --resolved` shows."},
    {.key = "train",
     .type = OPT_TABLE,
     .offset = AT(train),
     .table = train_options_table,
     .help = "How the network is trained."},
    {.key = "backend",
     .type = OPT_TABLE,
     .offset = AT(backend),
     .table = backend_options_table,
     .help = "Where the work is done, and with how much of the machine."},
    {.key = "output",
     .type = OPT_TABLE,
     .offset = AT(output),
     .table = output_options_table,
     .help = "The files that training writes."},
    {.key = NULL}};
