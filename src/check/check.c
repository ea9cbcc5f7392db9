/* check.c - `dnn check`: everything but the training. The data are read as the training reads them
 * and the network is made, so rows and memory are measured; the time comes from a few steps, whose
 * result is dropped. */
#include <string.h>

#include "check/check.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/process/hostmem.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "base/process/warnings.h"
#include "check/check_parts.h"
#include "config/output.h"
#include "measure/tally.h"
#include "train/ensemble.h"
#include "train/run/run_path.h"

#define WRITING ((uint64_t)256 << 10) /* buffers and texts of the model's file */

static void count_columns(const struct schema *s, struct check_result *r)
{
    for (uint32_t i = 0; i < s->column_count; i++)
        r->columns_by_type[s->columns[i].type]++;
}

/* Bytes that scoring a part keeps: labels or targets of the baseline, the tally of the metrics, and
 * a block of answers. */
static uint64_t score_bytes(const struct train_job *j)
{
    const uint64_t *rows = j->table->split.record_count;
    uint64_t valid = rows[PART_VALID], test = rows[PART_TEST];
    uint64_t most = valid > test ? valid : test;
    uint64_t block = score_block(j->run.stepper, j->run.features->outputs);
    block = block < most ? block : most;
    if (step_room(j->run.stepper)) /* in host memory that transfers like as well */
        block = 3 * block / 2;
    uint64_t row = j->run.features->outputs * sizeof(real), tallied = 2 * SCORE_TALLIED;
    uint64_t score = most * 8 + (block + tallied) * row + tally_bytes(j->run.classes, most);
    const bool region = config_region(j->config) > 0;
    if (j->config->calibrate == CALIBRATE_NONE && !region)
        return score;
    /* of all validation rows: logits, answers, label or target, weight, twice; scores, sorted */
    uint64_t answers = valid * (j->run.features->outputs * (sizeof(real) + sizeof(double)) + 28);
    answers += region ? valid * 32 : 0;
    answers += j->run.groups ? valid * 16 : 0;
    return score > answers ? score : answers;
}

/* Bytes of the copies of the model's state beside the network: the best weights; on a GPU the full
 * state, and one copy for a checkpoint. */
static uint64_t copied_bytes(const struct train_job *j)
{
    const struct model *m = network_model(j->run.network);
    uint64_t one = (m->params + m->buffers) * sizeof(real);
    if (machine_in_place(j->machine))
        return one;
    return 2 * (1 + optim_states(&j->config->train.optimizer)) * one;
}

static uint64_t take(uint64_t *left, uint64_t wanted)
{
    uint64_t taken = wanted < *left ? wanted : *left;
    *left -= taken;
    return taken;
}

/* Chance decides which threads work, each with pages of its own, in the training as here. (Reading
 * the data takes the same memory with any number of threads: threads_run_few.) */
#define FEW_THREADS 2
#define RIDGE_RATE 1e10 /* operations of a thread in a second */
#define CHANCE 32 /* 1 / CHANCE of the memory held is left to chance */

static uint64_t chance(const struct train_job *j, uint64_t bytes)
{
    return j->backend.threads > FEW_THREADS ? bytes / CHANCE : 0;
}

/* Expected bytes of threads that have not computed yet: half of them, if a step has work for more
 * than one. */
static uint64_t expected(const struct train_job *j)
{
    struct machine_info info;
    machine_describe(j->machine, &info);
    return j->run.plan.shards > 1 ? info.to_come / 2 : 0;
}

/* The most that the training will hold, by kind. Steps were made and rows answered, so that their
 * memory is resident by now; `before` was resident before the network was made. Copies, scores and
 * the model's file come later. */
static bool account(struct train_job *j, uint64_t before, struct check_result *r, struct err *e)
{
    struct network_options o = run_network_options(&j->run);
    struct network_bytes need;
    if (!network_need(&o, j->machine, &need, e))
        return false;
    uint64_t now = hostmem_now(), peak = hostmem_peak(), copies = copied_bytes(j);
    uint64_t network = now > before ? now - before : 0, weights = copies;
    uint64_t training = now + copies + score_bytes(j) + WRITING + expected(j) +
                        run_path_bytes(&j->run);
    if (select_is_gpu(&j->backend)) { /* it holds the rows as well, and their order */
        const uint64_t *rows = j->table->split.record_count;
        uint64_t other = rows[PART_VALID] > rows[PART_TEST] ? rows[PART_VALID] : rows[PART_TEST];
        r->device.weights = need.weights;
        r->device.state = need.gradients + need.state;
        r->device.activations = need.activations + need.scratch;
        r->device.data = network_streams(j->run.network);
        if (!r->device.data)
            r->device.data = table_rows(j->table)->count * table_rows(j->table)->format.stride +
                             (rows[PART_TRAIN] + other) * sizeof(uint32_t);
        r->device.all = need.total + r->device.data;
        network = 0;
    } else {
        weights += take(&network, need.weights + need.gradients + need.state);
    }
    r->parameters = r->model_parameters = network_model(j->run.network)->trained;
    r->host_bytes = peak > training ? peak : training;
    r->host_bytes += chance(j, r->host_bytes);
    r->other_bytes = r->host_bytes;
    r->encoded_bytes = take(&r->other_bytes, table_bytes(j->table));
    r->weights_bytes = take(&r->other_bytes, weights);
    r->activations_bytes = take(&r->other_bytes, network);
    return true;
}

/* Seconds of a whole training, from steps and answers that are timed here. */
static bool estimate(struct train_job *j, double load_s, struct check_result *r, struct err *e)
{
    const struct train_options *o = &j->config->train;
    double step_s = 0, row_s = 0;
    if (!batch_size_time(&j->run, STEPS_TIMED, clock_now, &step_s, e))
        return false;
    const struct row_list *list = j->table->split.list;
    uint64_t valid = row_list_reads(&list[PART_VALID]), test = row_list_reads(&list[PART_TEST]);
    const enum part part = valid >= test ? PART_VALID : PART_TEST;
    const uint32_t numbers = j->run.features->outputs * features_answers(j->run.features);
    uint64_t rows = row_list_reads(&list[part]), block = score_block(j->run.stepper, numbers),
             most = j->run.batch < SCORE_ROWS ? SCORE_ROWS / 2 : SCORE_ROWS;
    if (!step_room(j->run.stepper) && most > block)
        most = block; /* no more memory than the training takes */
    uint64_t sample = rows < most ? rows : most;
    if (sample) {
        struct source from = j->run.source;
        real *logits = mem_alloc(sample * numbers, sizeof *logits);
        from.index = list[part].windows ? list[part].windows : list[part].index;
        from.begins = list[part].begins;
        from.count = rows;
        double began = clock_now();
        bool good = step_answer(j->run.stepper, &from, 0, sample, logits, e);
        row_s = (clock_now() - began) / (double)sample;
        mem_free(logits);
        if (!good)
            return false;
    }
    double epoch = step_s * (double)j->run.steps + row_s * (double)valid;
    double all = epoch * (double)o->epochs;
    r->work = run_is_ridge(&j->run)  ? CHECK_RIDGE
              : run_is_path(&j->run) ? CHECK_PATH
                                     : CHECK_EPOCHS;
    if (r->work == CHECK_RIDGE)
        all = row_s * (double)(list[PART_TRAIN].count + valid) +
              run_ridge_work(&j->run) / RIDGE_RATE / (double)threads_hands();
    if (o->time_limit_s > 0 && all > o->time_limit_s)
        all = o->time_limit_s;
    r->seconds = load_s + all + row_s * (double)(valid + test);
    select_took(&j->backend, r->seconds);
    return true;
}

/* Checks what would stop the training before its first row. A list of metrics that does not exist
 * yet is not made: a training may take the name meanwhile. */
static bool outputs_may_be(const struct config *c, struct err *e)
{
    struct journal lines;
    const char *metrics = c->output.metrics;
    if (c->output.model && !output_check(c, c->output.model, false, NULL, e))
        return false;
    if (!metrics || !file_exists(metrics))
        return !metrics || output_probe(metrics, e);
    if (!journal_open(&lines, metrics, e))
        return false;
    journal_close(&lines);
    return true;
}

static void describe_layers(const struct train_job *j, struct text *layers)
{
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    model_describe(network_model(j->run.network), &out);
    json_close(&out, '}');
    *layers = out.text;
}

static bool all(struct train_job *j, const struct check_request *q, struct check_result *r,
                struct err *e)
{
    const bool quick = q && q->quick;
    double began = clock_now();
    if ((!quick && !outputs_may_be(j->config, e)) || !job_load(j, e))
        return false;
    double load_s = clock_now() - began;
    uint64_t before = hostmem_now();
    struct largest_room room;
    bool gpu = select_is_gpu(&j->backend);
    if ((!quick && !largest_room(j, &room, e)) || !job_build(j, 0, &j->run, e))
        return e->id == ERR_NONE ? job_stopped(j, e) : false;
    if (gpu && !select_is_gpu(&j->backend) && !largest_room(j, &room, e)) /* the CPU took over */
        return false;
    for (int p = 0; p < PARTS; p++)
        r->rows[p] = j->table->split.record_count[p];
    count_columns(j->table->encoder->schema, r);
    if (quick) {
        bool good = estimate(j, load_s, r, e) &&
                    (j->ensemble->alone || check_runs(j, load_s, before, true, r, e));
        r->backend = j->backend;
        return good;
    }
    if (!config_resolved(j->config, j->run.features, false, &r->resolved, e))
        return false;
    if (!estimate(j, load_s, r, e) || !account(j, before, r, e) ||
        (!j->ensemble->alone && !check_runs(j, load_s, before, false, r, e)))
        return false;
    r->batch = j->run.batch;
    r->micro = j->run.micro;
    r->largest_batch_train = largest_train(j, &room);
    r->largest_batch_predict = largest_predict(j, &room);
    describe_layers(j, &r->layers);
    r->backend = j->backend;
    return !q || !q->most || batch_size_find(j, q, r, e);
}

bool check_run(struct config *config, const struct check_request *q, struct check_result *r,
               struct err *e)
{
    const struct train_request request = {.config = config,
                                          .check = true,
                                          .limit = q ? q->limit : 0,
                                          .progress = q && !q->quick ? q->progress : PROGRESS_NONE};
    struct train_job j = {.request = &request,
                          .config = config,
                          .began = clock_now(),
                          .journal = {.fd = -1}};
    memset(r, 0, sizeof *r);
    bool good = all(&j, q, r, e);
    job_close(&j);
    if (!good)
        check_free(r);
    return good;
}

static void write_tried(const struct check_result *r, struct json_out *out)
{
    json_open(out, "find_batch_size", '{');
    json_put_int(out, "best", r->best_batch);
    json_open(out, "tried", '[');
    for (uint32_t i = 0; i < r->tried_count; i++) {
        json_open(out, NULL, '{');
        json_put_int(out, "batch_size", r->tried[i].rows);
        json_put_number(out, "step_ms", 1000 * r->tried[i].step_s);
        json_put_number(out, "rows_per_s", r->tried[i].rows_per_s);
        json_put_int(out, "bytes", (int64_t)r->tried[i].bytes);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
}

static void write_runs(const struct check_result *r, struct json_out *out)
{
    json_open(out, "runs", '[');
    for (uint32_t i = 0; i < r->run_count; i++) {
        json_open(out, NULL, '{');
        json_put_int(out, "run", i);
        json_put_string(out, "member", r->runs[i].member);
        json_put_int(out, "fold", r->runs[i].fold);
        json_put_int(out, "parameters", (int64_t)r->runs[i].parameters);
        json_put_number(out, "seconds", r->runs[i].seconds);
        json_put_int(out, "host_bytes", (int64_t)r->runs[i].host_bytes);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void check_write(const struct config *c, const struct check_result *r, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.check/1");
    json_open(out, "rows", '{');
    for (int p = 0; p < PARTS; p++)
        json_put_int(out, part_words[p], (int64_t)r->rows[p]);
    json_close(out, '}');
    json_open(out, "columns", '{');
    for (int i = 0; i < COLUMN_TYPES; i++)
        json_put_int(out, column_role_names[i], (int64_t)r->columns_by_type[i]);
    json_close(out, '}');
    json_put_int(out, "parameters", (int64_t)r->parameters);
    json_open(out, "memory", '{');
    json_put_int(out, "host_bytes", (int64_t)r->host_bytes);
    json_put_int(out, "device_bytes", (int64_t)r->device.all);
    json_open(out, "by_kind", '{');
    json_put_int(out, "table", (int64_t)r->encoded_bytes);
    json_put_int(out, "weights", (int64_t)r->weights_bytes);
    json_put_int(out, "activations", (int64_t)r->activations_bytes);
    json_put_int(out, "other", (int64_t)r->other_bytes);
    json_close(out, '}');
    json_open(out, "device_by_kind", '{');
    json_put_int(out, "weights", (int64_t)r->device.weights);
    json_put_int(out, "state", (int64_t)r->device.state);
    json_put_int(out, "activations", (int64_t)r->device.activations);
    json_put_int(out, "data", (int64_t)r->device.data);
    json_close(out, '}');
    json_close(out, '}');
    json_open(out, "largest_batch", '{');
    json_put_int(out, "train", (int64_t)r->largest_batch_train);
    json_put_int(out, "predict", (int64_t)r->largest_batch_predict);
    json_close(out, '}');
    select_write(&r->backend, "backend", out);
    json_open(out, "settings", '{');
    for (size_t i = 0; i < c->setting_count; i++) {
        json_open(out, c->settings[i].key, '{');
        json_put_raw(out, "value", c->settings[i].value);
        json_put_string(out, "from", c->settings[i].from);
        json_close(out, '}');
    }
    json_close(out, '}');
    if (r->run_count) {
        write_runs(r, out);
        json_put_int(out, "model_parameters", (int64_t)r->model_parameters);
        json_put_number(out, "runs_seconds", r->runs_seconds);
    }
    json_put_raw(out, "network", r->layers.data);
    if (r->tried_count)
        write_tried(r, out);
    json_put_number(out, "seconds", r->seconds);
    warnings_write(out);
    json_close(out, '}');
}

void check_free(struct check_result *r)
{
    for (uint32_t i = 0; i < r->run_count; i++)
        mem_free(r->runs[i].member);
    mem_free(r->runs);
    mem_free(r->tried);
    text_free(&r->layers);
    text_free(&r->resolved);
    memset(r, 0, sizeof *r);
}
