/* config_table.c - the tables of the run floor, and the table that joins all rooms' tables. The
 * order of rows is the order of `check --resolved`, of help and of configs/default.json. */
#include "config/config_table.h"

#include <math.h>

#include "backend/backend.h"
#include "table/coding.h"

static const char *const fallback_names[] = {"cpu", "none", NULL};
static const char *const tie_names[] = {"first", "last", NULL};
static const char *const sampling_names[] = {"none", "over", "under", NULL};
static const char *const guest_names[] = {"auto", "none", "all", "cublaslt", "cudnn", NULL};
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
     .help = "The largest number of passes over the training rows. Early stopping usually ends "
             "the training earlier."},
    {.key = "batch_size",
     .type = OPT_INT,
     .offset = AT(batch_size),
     .standard = "256",
     .low = 1,
     .high = TRAIN_BATCH_MOST,
     .help = "Rows of one step. More rows make steadier and fewer steps. With fewer training "
             "rows a step has all of them."},
    {.key = "grad_accumulation",
     .type = OPT_INT,
     .offset = AT(grad_accumulation),
     .standard = "1",
     .low = 1,
     .high = 1024,
     .help = "The number of batches whose gradients are added before the weights change: the "
             "same as a larger batch, in less memory. At most as many as the training rows fill."},
    {.key = "optimizer",
     .type = OPT_TABLE,
     .offset = AT(optimizer),
     .table = optim_options_table,
     .help = "The optimiser."},
    {.key = "schedule",
     .type = OPT_TABLE,
     .offset = AT(schedule),
     .table = schedule_options_table,
     .help = "The schedule of the learning rate."},
    {.key = "loss",
     .type = OPT_TABLE,
     .offset = AT(loss),
     .table = loss_options_table,
     .help = "The loss that training minimises."},
    {.key = "sampling",
     .type = OPT_WORD,
     .offset = AT(sampling),
     .standard = "\"none\"",
     .words = sampling_names,
     .help = "The training rows of each class. over: those of smaller classes stand many times, "
             "so that all classes have as many as the largest. under: as many as the smallest; "
             "chance leaves the others out. Both shift the probabilities to the smaller "
             "classes; `calibrate` \"prior\" undoes that, and auto does where the validation "
             "rows show it. Of tables, not of sequences."},
    {.key = "by_length",
     .type = OPT_BOOL,
     .offset = AT(by_length),
     .standard = "false",
     .help = "Of sequences: a batch has sequences of like length, so that less of it is padding, "
             "which saves time. Its rows are less of a mixture: the loss ends elsewhere."},
    {.key = "early_stopping.metric",
     .type = OPT_STRING,
     .offset = AT(early.metric),
     .standard = "\"auto\"",
     .help = "The metric on the validation rows that chooses the best epoch. auto: logloss for "
             "classes, rmse for regression; the loss itself where train.loss names another one, "
             "or class_weights, label_smoothing or sampling are set. Or the name of a metric of "
             "the task; loss is the loss itself. tune compares its trials by the same metric."},
    {.key = "early_stopping.patience",
     .type = OPT_INT,
     .offset = AT(early.patience),
     .standard = "16",
     .low = 0,
     .high = 1000000,
     .help = "Training ends after this many epochs without a better metric. 0: all epochs run; "
             "the best weights are still kept."},
    {.key = "early_stopping.min_steps",
     .type = OPT_INT,
     .offset = AT(early.min_steps),
     .standard = "0",
     .low = 0,
     .high = 1000000000,
     .help = "Patience lasts at least for this many steps: an epoch of a few rows has few steps. "
             "The presets lstm, gru, transformer and tcn set 128."},
    {.key = "early_stopping.min_delta",
     .type = OPT_NUMBER,
     .offset = AT(early.min_delta),
     .standard = "0.0",
     .low = 0,
     .high = INFINITY,
     .help = "The smallest gain of the metric that counts as better."},
    {.key = "early_stopping.ties",
     .type = OPT_WORD,
     .offset = AT(early.ties),
     .standard = "\"first\"",
     .words = tie_names,
     .help = "Of epochs with the same metric, the one that is kept: first or last. last counts a "
             "tie as better, and so patience starts again."},
    {.key = "clip_norm",
     .type = OPT_NUMBER,
     .offset = AT(clip_norm),
     .standard = "0.0",
     .low = 0,
     .high = INFINITY,
     .help = "The largest norm of a step's gradient; a longer one is shortened to it. 0: no "
             "limit."},
    {.key = "seed",
     .type = OPT_SEED,
     .offset = AT(seed),
     .standard = "0",
     .help = "The seed of everything random but the split: initial weights, order of rows, "
             "dropout. Above 2^53 it is written as a string of digits."},
    {.key = "time_limit_s",
     .type = OPT_NUMBER,
     .offset = AT(time_limit_s),
     .standard = "0",
     .low = 0,
     .high = INFINITY,
     .help = "Training ends after this many seconds and writes the best weights so far. 0: no "
             "limit. Resumed runs count too."},
    {.key = "checkpoint.every_s",
     .type = OPT_NUMBER,
     .offset = AT(checkpoint.every_s),
     .standard = "300",
     .low = 0,
     .high = INFINITY,
     .help = "Seconds between checkpoints. 0: one after every epoch."},
    {.key = "checkpoint.keep",
     .type = OPT_INT,
     .offset = AT(checkpoint.keep),
     .standard = "2",
     .low = 1,
     .high = 1000,
     .help = "The number of checkpoints kept while training runs."},
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
         "The machine that computes: dnn_cpu, dnn_gpu, or auto, the faster of those that are "
         "there. fallback decides what happens without a GPU. dnn is the old word for dnn_cpu."},
#define JOB(id, name, variable, what)                                                              \
    {.key = #name,                                                                                 \
     .type = OPT_STRING,                                                                           \
     .flags = OPT_NULLABLE,                                                                        \
     .offset = AT(name),                                                                           \
     .standard = "null",                                                                           \
     .words = backend_names,                                                                       \
     .help = "The backend of " what "; null: as name."},
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
     .help = "What happens when the requested GPU cannot serve. cpu: a warning, and the CPU "
             "computes. none: an error."},
    {.key = "precision",
     .type = OPT_STRING,
     .offset = AT(precision),
     .standard = "\"auto\"",
     .words = precision_names,
     .help = "The format of the inputs of large products in a training. Weights, sums "
             "and answers are fp32. auto is bf16 on compute capability 9.0 and later, tf32 from "
             "8.0 on, else fp32. fp16 scales the loss dynamically and skips a step whose "
             "gradients overflow. Small layers compute in fp32. A CPU does too, but for bf16 where "
             "it has AMX or AVX-512 BF16: see dnn help bf16."},
    {.key = "guests",
     .type = OPT_STRINGS,
     .offset = AT(guests),
     .standard = "\"auto\"",
     .words = guest_names,
     .help = "Which libraries of NVIDIA may compute in a training on a GPU: auto, none, all, or a "
             "list of cublaslt (products) and cudnn (lstm and gru). auto takes one where a table "
             "of measurements says that it is faster: today cuBLASLt, for large products on "
             "compute capability 9.0. What is named serves all that it can. The model and its "
             "checkpoints keep which one served. Answers are always computed by dnn."},
    {.key = "deterministic",
     .type = OPT_BOOL,
     .offset = AT(deterministic),
     .standard = "true",
     .help = "On a GPU, true: the same seed, config and data give the same bytes. false: "
             "auto may measure which backend is faster. The CPU always gives the same bytes."},
    {.key = "autotune",
     .type = OPT_BOOL,
     .offset = AT(autotune),
     .standard = "true",
     .help = "Accepted and without effect: a table by shape and architecture chooses the "
             "kernel of every operation. train and tune say so where it is false."},
    {.key = "memory_limit_gb",
     .type = OPT_NUMBER,
     .flags = OPT_NULLABLE | OPT_OPEN_LOW,
     .offset = AT(memory_limit_gb),
     .standard = "null",
     .low = 0,
     .high = 1000000,
     .help = "The limit of GPU memory in GiB; null: none. The smaller of this and "
             "memory_fraction counts."},
    {.key = "memory_fraction",
     .type = OPT_NUMBER,
     .flags = OPT_OPEN_LOW,
     .offset = AT(memory_fraction),
     .standard = MEMORY_FRACTION,
     .low = 0,
     .high = 1,
     .help = "The limit of GPU memory as a share of all of it."},
    {.key = "predict_batch_size",
     .type = OPT_INT,
     .offset = AT(predict_batch_size),
     .standard = "0",
     .low = 0,
     .high = PREDICT_BATCH_MOST,
     .help = "The number of rows predicted at once. 0: dnn chooses. The answers do not depend "
             "on it."},
    {.key = "threads",
     .type = OPT_INT,
     .offset = AT(threads),
     .standard = "0",
     .low = 0,
     .high = THREADS_MOST,
     .help =
         "The number of CPU threads. 0: as many as this process may use. Results do not depend "
         "on it."},
    {.key = "blas",
     .type = OPT_WORD,
     .offset = AT(blas),
     .standard = "\"auto\"",
     .words = blas_choices,
     .help = "Which products train on a CPU: own, openblas (the library, where it is installed), "
             "or auto: the faster one by a table. Today that is own where the processor has AVX2, "
             "else openblas; `dnn bench` measures both. The model says which one trained it. "
             "Answers are always computed by own."},
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
     .help = "A file that gets one line of JSON for each epoch: loss, metrics, learning rate, "
             "speed; in ensembles and cv with the number of the run. null: none. tune writes "
             "none."},
    {.key = "fingerprint",
     .type = OPT_BOOL,
     .offset = AT(fingerprint),
     .standard = "true",
     .help = "true: the model knows whether a labelled row is one that it was trained on, so that "
             "evaluate, explain and report can warn. It holds no row, but a filter of 9.6 bits a "
             "row and at most 256 KiB; who has a row can ask for it. Another one of its rare "
             "categories tells them from new ones. false: it has neither."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct ensemble_options, field)

static const char *const calibrate_names[] = {"auto", "none", "affine", "prior", NULL};
static const char *const ensemble_select_names[] = {"greedy", "mean", NULL};

static const struct option ensemble_options_table[] = {
    {.key = "folds",
     .type = OPT_INT,
     .offset = AT(folds),
     .standard = "0",
     .low = 0,
     .high = ENSEMBLE_FOLDS,
     .help = "0: one run on the training rows of the split. n: training and validation rows are "
             "joined and cut into n parts as data.split.method says; each member is trained n "
             "times with one part left out. Validation figures are out-of-fold ones then. With "
             "method time the later half is cut into n blocks, and run i trains on all rows "
             "before block i."},
    {.key = "members",
     .type = OPT_CUSTOM,
     .offset = AT(members),
     .standard = "[]",
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
               "\"name\":{\"type\":\"string\"},\"encoders\":{\"type\":\"object\"},"
               "\"model\":{\"type\":\"object\"},\"train\":{\"type\":\"object\"}},"
               "\"additionalProperties\":false}}",
     .help = "The networks: a list of objects with \"name\", \"encoders\", \"model\" and "
             "\"train\", each laid over the config (objects merge, lists and scalars replace). "
             "Empty: the config itself. A run is a member and a fold, numbered from 0, member by "
             "member."},
    {.key = "select",
     .type = OPT_WORD,
     .offset = AT(select),
     .standard = "\"greedy\"",
     .words = ensemble_select_names,
     .help = "The weights of the members: greedy (members are added one at a time, with "
             "replacement, each the one with the lowest out-of-fold loss; weights below 0.03 are "
             "dropped; a linear member that nothing beats by more than a standard error is taken "
             "alone) or mean (equal weights)."},
    {.key = "rounds",
     .type = OPT_INT,
     .offset = AT(rounds),
     .standard = "30",
     .low = 1,
     .high = 1000,
     .help = "The rounds of the greedy selection."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct tune_options, field)

static const struct option tune_options_table[] = {
    {.key = "space",
     .type = OPT_CUSTOM,
     .flags = OPT_NULLABLE,
     .offset = AT(space),
     .standard = "null",
     .schema = "{\"type\":[\"object\",\"null\"],\"additionalProperties\":{\"anyOf\":["
               "{\"type\":\"array\",\"minItems\":1},"
               "{\"type\":\"object\",\"properties\":{\"low\":{\"type\":\"number\"},"
               "\"high\":{\"type\":\"number\"},\"log\":{\"type\":\"boolean\"}},"
               "\"required\":[\"low\",\"high\"],\"additionalProperties\":false}]}}",
     .help = "The keys that `dnn tune` varies, below model, train and encoders, each with a list "
             "of values, or with {\"low\", \"high\"}, a range; \"log\": true draws from it in "
             "equal ratios. null: those of the preset (`dnn help tuning`)."},
    {.key = NULL}};

#undef AT
#define AT(field) offsetof(struct config, field)

const struct option config_table[] = {
    {.key = "task",
     .type = OPT_WORD,
     .flags = OPT_REQUIRED,
     .offset = AT(task),
     .words = task_names,
     .help = "What the model predicts: binary (one of two labels), multiclass (one of several), "
             "regression (a number), tagging (one of several for each row of a sequence)."},
    {.key = "data",
     .type = OPT_TABLE,
     .flags = OPT_REQUIRED,
     .offset = AT(data),
     .table = data_options_table,
     .help =
         "The files, their format, the columns, and the split into training, validation and "
         "test rows."},
    {.key = "encoders",
     .type = OPT_TABLE,
     .offset = AT(data.encoders),
     .table = encoder_options_table,
     .help = "How columns become inputs of the network: defaults for all columns of a type. A "
             "column's own entry in data.columns wins."},
    {.key = "model",
     .type = OPT_CUSTOM,
     .offset = AT(model.model),
     .standard = "{\"preset\":\"mlp\"}",
     .schema = "{\"$ref\":\"#/$defs/model\"}",
     .help = "The network: a preset with its options beside it, or a list of \"layers\". `dnn "
             "check --resolved` shows the layers of a preset."},
    {.key = "train",
     .type = OPT_TABLE,
     .offset = AT(train),
     .table = train_options_table,
     .help = "The training."},
    {.key = "ensemble",
     .type = OPT_TABLE,
     .offset = AT(ensemble),
     .table = ensemble_options_table,
     .help = "Several networks in one model: members, folds and their weights."},
    {.key = "calibrate",
     .type = OPT_WORD,
     .offset = AT(calibrate),
     .standard = "\"auto\"",
     .words = calibrate_names,
     .help = "How answers are corrected once the network is trained. affine: probabilities become "
             "softmax(scale ln p + shift), with the scale and the shift of each class that have "
             "the least log-loss on the validation rows (of an ensemble: out of fold), and a prior "
             "as heavy as one row. auto: the same where it gains more than a standard error, else "
             "nothing; values are kept inside the range of the target where that gains as much. "
             "Where train.loss.class_weights, train.sampling, or the loss focal or soft_f1 ask for "
             "other labels than the likeliest, auto keeps the label of the answers before: as a "
             "threshold, or as an offset of each label. "
             "prior: shifts that undo train.loss.class_weights and train.sampling. none: nothing."},
    {.key = "threshold",
     .type = OPT_CUSTOM,
     .flags = OPT_NULLABLE,
     .offset = AT(threshold),
     .standard = "null",
     .schema = THRESHOLD_SCHEMA,
     .help = "binary: the least probability that is answered as positive. null: 0.5. A number "
             "between 0 and 1: it itself. Else the rule by which it is chosen on the validation "
             "rows (of an ensemble: out of fold): "
             "{\"maximize\": \"f1\"}, {\"recall_at_precision\": 0.9} (the most recall with at "
             "least this precision), {\"precision_at_recall\": 0.8}, or {\"costs\": {\"fp\": 1, "
             "\"fn\": 5}} (the least costs of false positives and negatives). The model holds it; "
             "--threshold overrides it."},
    {.key = "intervals",
     .type = OPT_NUMBER,
     .flags = OPT_NULLABLE | OPT_OPEN_LOW | OPT_OPEN_HIGH,
     .offset = AT(interval_level),
     .standard = "null",
     .low = 0,
     .high = 1,
     .help = "regression: the share of rows that shall lie inside an interval around the answer, "
             "such as 0.9; null: none. predict writes its ends into the columns low and high, "
             "evaluate measures coverage and width. `dnn help conformal` says how they are found "
             "and what they promise."},
    {.key = "sets",
     .type = OPT_NUMBER,
     .flags = OPT_NULLABLE | OPT_OPEN_LOW | OPT_OPEN_HIGH,
     .offset = AT(set_level),
     .standard = "null",
     .low = 0,
     .high = 1,
     .help = "classes: the share of rows whose label shall be in a set of labels, such as 0.9; "
             "null: none. predict writes the set into the column set, evaluate measures coverage "
             "and set_size. `dnn help conformal` says how it is found."},
    {.key = "target_transform",
     .type = OPT_WORD,
     .offset = AT(data.target_transform),
     .standard = "\"none\"",
     .words = target_transform_names,
     .help = "regression: the function of the target that the network learns; answers, metrics "
             "and gates stay in the units of the file. log: the natural logarithm, for amounts "
             "above 0 whose errors grow with them. cbrt: the cube root, for numbers of both "
             "signs. quantile: the rank among the training rows, as a normal quantile; answers "
             "stay inside the range of those rows. none: the target itself. All are standardised. "
             "With another function than none and loss mse, answers are nearer to the median than "
             "to the mean. auto: the one with which a quick additive model, fitted on training "
             "rows, has the smallest rmse on validation rows, in the units of the file; none "
             "unless another one is 1 % better. The model holds the chosen one. Each fold chooses "
             "its own."},
    {.key = "tune",
     .type = OPT_TABLE,
     .offset = AT(tune),
     .table = tune_options_table,
     .help = "What `dnn tune` searches."},
    {.key = "backend",
     .type = OPT_TABLE,
     .offset = AT(backend),
     .table = backend_options_table,
     .help = "The machine that computes, and its limits."},
    {.key = "output",
     .type = OPT_TABLE,
     .offset = AT(output),
     .table = output_options_table,
     .help = "The files that training writes."},
    {.key = NULL}};
