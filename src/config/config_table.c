/* config_table.c - the tables of the run floor, and the table that joins all rooms' tables. The
 * order of rows is the order of `check --resolved`, of help and of configs/default.json. */
#include "config/config_table.h"

#include <math.h>

#include "backend/backend.h"
#include "table/encoder/coding.h"

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

#define ROW(member, type, standard) OPT_ROW(struct train_options, member, type, standard)

static const struct option train_options_table[] = {
    {ROW(epochs, OPT_INT, "200"), .low = 1, .high = 1000000,
     .help = "The largest number of passes over the training rows. Early stopping usually ends "
             "the training earlier."},
    {ROW(batch_size, OPT_INT, "256"), .low = 1, .high = TRAIN_BATCH_MOST,
     .help = "Rows of one step. More rows make steadier and fewer steps. With fewer training rows "
             "a step has all of them."},
    {ROW(grad_accumulation, OPT_INT, "1"), .low = 1, .high = 1024,
     .help = "The number of batches whose gradients are added before the weights change: the same "
             "as a larger batch, in less memory. At most as many as the training rows fill."},
    {ROW(optimizer, OPT_TABLE, NULL), .table = optim_options_table,
     .help = "The optimiser."},
    {ROW(schedule, OPT_TABLE, NULL), .table = schedule_options_table,
     .help = "The schedule of the learning rate."},
    {ROW(loss, OPT_TABLE, NULL), .table = loss_options_table,
     .help = "The loss that training minimises."},
    {ROW(sampling, OPT_WORD, "\"none\""), .words = sampling_names,
     .help = "The training rows of each class. over: those of smaller classes stand many times, "
             "so that all classes have as many as the largest. under: as many as the smallest; "
             "chance leaves the others out. Both shift the probabilities to the smaller classes; "
             "`calibrate` \"prior\" undoes that, and auto does where the validation rows show it. "
             "Of tables, not of sequences."},
    {ROW(by_length, OPT_BOOL, "false"),
     .help = "Of sequences: a batch has sequences of like length, so that less of it is padding, "
             "which saves time. Its rows are less of a mixture: the loss ends elsewhere."},
    {ROW(early_stopping.metric, OPT_STRING, "\"auto\""),
     .help = "The metric on the validation rows that chooses the best epoch. auto: logloss for "
             "classes, rmse for regression; the loss itself where train.loss names another one, "
             "or class_weights, label_smoothing or sampling are set. Or the name of a metric of "
             "the task; loss is the loss itself. tune compares its trials by the same metric."},
    {ROW(early_stopping.patience, OPT_INT, "16"), .low = 0, .high = 1000000,
     .help = "Training ends after this many epochs without a better metric. 0: all epochs run; "
             "the best weights are still kept."},
    {ROW(early_stopping.min_steps, OPT_INT, "0"), .low = 0, .high = 1000000000,
     .help = "Patience lasts at least for this many steps: an epoch of a few rows has few steps. "
             "The presets lstm, gru, transformer and tcn set 128."},
    {ROW(early_stopping.min_delta, OPT_NUMBER, "0.0"), .low = 0, .high = INFINITY,
     .help = "The smallest gain of the metric that counts as better."},
    {ROW(early_stopping.ties, OPT_WORD, "\"first\""), .words = tie_names,
     .help = "Of epochs with the same metric, the one that is kept: first or last. last counts a "
             "tie as better, and so patience starts again."},
    {ROW(clip_norm, OPT_NUMBER, "0.0"), .low = 0, .high = INFINITY,
     .help = "The largest norm of a step's gradient; a longer one is shortened to it. 0: no "
             "limit."},
    {ROW(seed, OPT_SEED, "0"),
     .help = "The seed of everything random but the split: initial weights, order of rows, "
             "dropout. Above 2^53 it is written as a string of digits."},
    {ROW(time_limit_s, OPT_NUMBER, "0"), .low = 0, .high = INFINITY,
     .help = "Training ends after this many seconds and writes the best weights so far. 0: no "
             "limit. Resumed runs count too."},
    {ROW(checkpoint.every_s, OPT_NUMBER, "300"), .low = 0, .high = INFINITY,
     .help = "Seconds between checkpoints. 0: one after every epoch."},
    {ROW(checkpoint.keep, OPT_INT, "2"), .low = 1, .high = 1000,
     .help = "The number of checkpoints kept while training runs."},
    {.key = NULL}};

#undef ROW
#define ROW(member, type, standard) OPT_ROW(struct backend_options, member, type, standard)

const struct option backend_options_table[] = {
    {ROW(name, OPT_STRING, "\"auto\""), .words = backend_names,
     .help = "The machine that computes: dnn_cpu, dnn_gpu, or auto, the faster of those that are "
             "there. fallback decides what happens without a GPU. dnn is the old word for "
             "dnn_cpu."},
#define JOB(id, name, variable, what)                                                              \
    {ROW(name, OPT_STRING, "null"), .flags = OPT_NULLABLE, .words = backend_names,                 \
     .help = "The backend of " what "; null: as name."},
#include "config/jobs.def"
#undef JOB
    {ROW(device, OPT_STRING, "\"auto\""),
     .help = "Which GPU: auto, a number, cuda:N, a UUID or a MIG UUID."},
    {ROW(fallback, OPT_WORD, "\"cpu\""), .words = fallback_names,
     .help = "What happens when the requested GPU cannot serve. cpu: a warning, and the CPU "
             "computes. none: an error."},
    {ROW(precision, OPT_STRING, "\"auto\""), .words = precision_names,
     .help = "The format of the inputs of large products in a training. Weights, sums and answers "
             "are fp32. auto is bf16 on compute capability 9.0 and later, tf32 from 8.0 on, else "
             "fp32. fp16 scales the loss dynamically and skips a step whose gradients overflow. "
             "Small layers compute in fp32. A CPU does too, but for bf16 where it has AMX or "
             "AVX-512 BF16: see dnn help bf16."},
    {ROW(guests, OPT_STRINGS, "\"auto\""), .words = guest_names,
     .help = "Which libraries of NVIDIA may compute in a training on a GPU: auto, none, all, or a "
             "list of cublaslt (products) and cudnn (lstm and gru). auto takes one where a table "
             "of measurements says that it is faster: today cuBLASLt, for large products on "
             "compute capability 9.0. What is named serves all that it can. The model and its "
             "checkpoints keep which one served. Answers are always computed by dnn."},
    {ROW(deterministic, OPT_BOOL, "true"),
     .help = "On a GPU, true: the same seed, config and data give the same bytes. false: auto may "
             "measure which backend is faster. The CPU always gives the same bytes."},
    {ROW(autotune, OPT_BOOL, "true"),
     .help = "Accepted and without effect: a table by shape and architecture chooses the kernel "
             "of every operation. train and tune say so where it is false."},
    {ROW(memory_limit_gb, OPT_NUMBER, "null"), .flags = OPT_NULLABLE | OPT_OPEN_LOW, .low = 0,
     .high = 1000000,
     .help = "The limit of GPU memory in GiB; null: none. The smaller of this and memory_fraction "
             "counts."},
    {ROW(memory_fraction, OPT_NUMBER, MEMORY_FRACTION), .flags = OPT_OPEN_LOW, .low = 0, .high = 1,
     .help = "The limit of GPU memory as a share of all of it."},
    {ROW(predict_batch_size, OPT_INT, "0"), .low = 0, .high = PREDICT_BATCH_MOST,
     .help = "The number of rows predicted at once. 0: dnn chooses. The answers do not depend on "
             "it."},
    {ROW(threads, OPT_INT, "0"), .low = 0, .high = THREADS_MOST,
     .help = "The number of CPU threads. 0: as many as this process may use. Results do not "
             "depend on it."},
    {ROW(blas, OPT_WORD, "\"auto\""), .words = blas_choices,
     .help = "Which products train on a CPU: own, openblas (the library, where it is installed), "
             "or auto: the faster one by a table. Today that is own where the processor has AVX2, "
             "else openblas; `dnn bench` measures both. The model says which one trained it. "
             "Answers are always computed by own."},
    {.key = NULL}};

#undef ROW
#define ROW(member, type, standard) OPT_ROW(struct output_options, member, type, standard)

static const struct option output_options_table[] = {
    {ROW(model, OPT_STRING, "null"), .flags = OPT_NULLABLE | OPT_PATH,
     .help = "The model file that training writes; -o names another. Relative paths start at the "
             "config's folder."},
    {ROW(metrics, OPT_STRING, "null"), .flags = OPT_NULLABLE | OPT_PATH,
     .help = "A file that gets one line of JSON for each epoch: loss, metrics, learning rate, "
             "speed; in ensembles and cv with the number of the run. null: none. tune writes "
             "none."},
    {ROW(fingerprint, OPT_BOOL, "true"),
     .help = "true: the model knows whether a labelled row is one that it was trained on, so that "
             "evaluate, explain and report can warn. It holds no row, but a filter of 9.6 bits a "
             "row and at most 256 KiB; who has a row can ask for it. Another one of its rare "
             "categories tells them from new ones. false: it has neither."},
    {.key = NULL}};

#undef ROW
#define ROW(member, type, standard) OPT_ROW(struct ensemble_options, member, type, standard)

static const char *const calibrate_names[] = {"auto", "none", "affine", "prior", NULL};
static const char *const ensemble_select_names[] = {"greedy", "mean", NULL};

static const struct option ensemble_options_table[] = {
    {ROW(folds, OPT_INT, "0"), .low = 0, .high = ENSEMBLE_FOLDS,
     .help = "0: one run on the training rows of the split. n: training and validation rows are "
             "joined and cut into n parts as data.split.method says; each member is trained n "
             "times with one part left out. Validation figures are out-of-fold ones then. With "
             "method time the later half is cut into n blocks, and run i trains on all rows "
             "before block i."},
    {ROW(members, OPT_CUSTOM, "[]"),
     .schema = "{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
               "\"name\":{\"type\":\"string\"},\"encoders\":{\"type\":\"object\"},"
               "\"model\":{\"type\":\"object\"},\"train\":{\"type\":\"object\"}},"
               "\"additionalProperties\":false}}",
     .help = "The networks: a list of objects with \"name\", \"encoders\", \"model\" and "
             "\"train\", each laid over the config (objects merge, lists and scalars replace). "
             "Empty: the config itself. A run is a member and a fold, numbered from 0, member by "
             "member."},
    {ROW(select, OPT_WORD, "\"greedy\""), .words = ensemble_select_names,
     .help = "The weights of the members: greedy (members are added one at a time, with "
             "replacement, each the one with the lowest out-of-fold loss; weights below 0.03 are "
             "dropped; a linear member that nothing beats by more than a standard error is taken "
             "alone) or mean (equal weights)."},
    {ROW(rounds, OPT_INT, "30"), .low = 1, .high = 1000,
     .help = "The rounds of the greedy selection."},
    {.key = NULL}};

#undef ROW
#define ROW(member, type, standard) OPT_ROW(struct tune_options, member, type, standard)

static const struct option tune_options_table[] = {
    {ROW(space, OPT_CUSTOM, "null"), .flags = OPT_NULLABLE,
     .schema = "{\"type\":[\"object\",\"null\"],\"additionalProperties\":{\"anyOf\":["
               "{\"type\":\"array\",\"minItems\":1},"
               "{\"type\":\"object\",\"properties\":{\"low\":{\"type\":\"number\"},"
               "\"high\":{\"type\":\"number\"},\"log\":{\"type\":\"boolean\"}},"
               "\"required\":[\"low\",\"high\"],\"additionalProperties\":false}]}}",
     .help = "The keys that `dnn tune` varies, below model, train and encoders, each with a list "
             "of values, or with {\"low\", \"high\"}, a range; \"log\": true draws from it in "
             "equal ratios. null: those of the preset (`dnn help tuning`)."},
    {.key = NULL}};

#undef ROW
#define ROW(member, type, standard) OPT_ROW(struct config, member, type, standard)

const struct option config_table[] = {
    {ROW(task, OPT_WORD, NULL), .flags = OPT_REQUIRED, .words = task_names,
     .help = "What the model predicts: binary (one of two labels), multiclass (one of several), "
             "regression (a number), tagging (one of several for each row of a sequence)."},
    {ROW(data, OPT_TABLE, NULL), .flags = OPT_REQUIRED, .table = data_options_table,
     .help = "The files, their format, the columns, and the split into training, validation and "
             "test rows."},
    {OPT_ROW_AS("encoders", struct config, data.encoders, OPT_TABLE, NULL),
     .table = encoder_options_table,
     .help = "How columns become inputs of the network: defaults for all columns of a type. A "
             "column's own entry in data.columns wins."},
    {OPT_ROW_AS("model", struct config, model.model, OPT_CUSTOM, "{\"preset\":\"mlp\"}"),
     .schema = "{\"$ref\":\"#/$defs/model\"}",
     .help = "The network: a preset with its options beside it, or a list of \"layers\". `dnn "
             "check --resolved` shows the layers of a preset."},
    {ROW(train, OPT_TABLE, NULL), .table = train_options_table,
     .help = "The training."},
    {ROW(ensemble, OPT_TABLE, NULL), .table = ensemble_options_table,
     .help = "Several networks in one model: members, folds and their weights."},
    {ROW(calibrate, OPT_WORD, "\"auto\""), .words = calibrate_names,
     .help = "How answers are corrected once the network is trained. affine: probabilities become "
             "softmax(scale ln p + shift), with the scale and the shift of each class that have "
             "the least log-loss on the validation rows (of an ensemble: out of fold), and a "
             "prior as heavy as one row. auto: the same where it gains more than a standard "
             "error, else nothing; values are kept inside the range of the target where that "
             "gains as much. Where train.loss.class_weights, train.sampling, or the loss focal or "
             "soft_f1 ask for other labels than the likeliest, auto keeps the label of the "
             "answers before: as a threshold, or as an offset of each label. prior: shifts that "
             "undo train.loss.class_weights and train.sampling. none: nothing."},
    {ROW(threshold, OPT_CUSTOM, "null"), .flags = OPT_NULLABLE,
     .schema = THRESHOLD_SCHEMA,
     .help = "binary: the least probability that is answered as positive. null: 0.5. A number "
             "between 0 and 1: it itself. Else the rule by which it is chosen on the validation "
             "rows (of an ensemble: out of fold): {\"maximize\": \"f1\"}, "
             "{\"recall_at_precision\": 0.9} (the most recall with at least this precision), "
             "{\"precision_at_recall\": 0.8}, or {\"costs\": {\"fp\": 1, \"fn\": 5}} (the least "
             "costs of false positives and negatives). The model holds it; --threshold overrides "
             "it."},
    {OPT_ROW_AS("intervals", struct config, interval_level, OPT_NUMBER, "null"),
     .flags = OPT_NULLABLE | OPT_OPEN_LOW | OPT_OPEN_HIGH, .low = 0, .high = 1,
     .help = "regression: the share of rows that shall lie inside an interval around the answer, "
             "such as 0.9; null: none. predict writes its ends into the columns low and high, "
             "evaluate measures coverage and width. `dnn help conformal` says how they are found "
             "and what they promise."},
    {OPT_ROW_AS("sets", struct config, set_level, OPT_NUMBER, "null"),
     .flags = OPT_NULLABLE | OPT_OPEN_LOW | OPT_OPEN_HIGH, .low = 0, .high = 1,
     .help = "classes: the share of rows whose label shall be in a set of labels, such as 0.9; "
             "null: none. predict writes the set into the column set, evaluate measures coverage "
             "and set_size. `dnn help conformal` says how it is found."},
    {OPT_ROW_AS("target_transform", struct config, data.target_transform, OPT_WORD, "\"none\""),
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
    {ROW(tune, OPT_TABLE, NULL), .table = tune_options_table,
     .help = "What `dnn tune` searches."},
    {ROW(backend, OPT_TABLE, NULL), .table = backend_options_table,
     .help = "The machine that computes, and its limits."},
    {ROW(output, OPT_TABLE, NULL), .table = output_options_table,
     .help = "The files that training writes."},
    {.key = NULL}};

const struct config_column config_columns[CONFIG_COLUMNS] = {
    {"numeric", column_numeric_table},
    {"categorical", column_categorical_table},
    {"text", column_text_table},
    {"datetime", column_datetime_table}};
