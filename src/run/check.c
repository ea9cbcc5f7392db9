/* check.c - `dnn check`: everything but the training. The data are read as the training reads them
 * and the network is made, so what is said about rows and memory is measured; the time comes from a
 * few steps whose result is thrown away. */
#include <string.h>

#include "base/clock.h"
#include "base/hostmem.h"
#include "base/log.h"
#include "base/mem.h"
#include "run/check.h"
#include "run/output.h"
#include "run/stop.h"
#include "run/training.h"

#define WRITING ((uint64_t)512 << 10) /* buffers and texts of the model's file */
static const double TRIAL = 0.2; /* seconds of steps that are tried */

static void count_columns(const struct schema *s, struct check_result *r)
{
    for (uint32_t i = 0; i < s->column_count; i++)
        if (s->columns[i].type >= 0 && s->columns[i].type < 10)
            r->columns_by_type[s->columns[i].type]++;
}

/* What scoring a part keeps: labels or targets of the baseline, 8 bytes a row for areas under
 * curves, and a block of answers. */
static uint64_t score_bytes(const struct training *t)
{
    uint64_t valid = t->table->count[PART_VALID], test = t->table->count[PART_TEST];
    uint64_t most = valid > test ? valid : test, block = most < 8192 ? most : 8192;
    return most * 16 + block * t->features->outputs * 8;
}

/* Bytes of weights, state and gradients that live beside the table while it trains, and what a
 * checkpoint copies. */
static bool account(struct training *t, uint64_t before, struct check_result *r, struct err *e)
{
    struct network_options o = training_network(t);
    struct network_bytes need;
    if (!network_need(&o, t->machine, &need, e))
        return false;
    const struct model *m = network_model(t->network);
    uint64_t state = (m->params + m->buffers) * sizeof(real);
    /* the state after the best epoch, and the one that a checkpoint is made of */
    uint64_t copies = 2 * (1 + optim_states(o.optim)) * state;
    r->parameters = m->trained;
    r->encoded_bytes = t->table->bytes;
    r->weights_bytes = need.weights + need.gradients + need.state + copies;
    r->activations_bytes = need.activations + need.scratch;
    uint64_t training =
        before + r->weights_bytes + r->activations_bytes + score_bytes(t) + WRITING;
    if (select_is_gpu(&t->backend)) { /* it holds the rows as well, and their order */
        const uint64_t *rows = t->table->count;
        uint64_t other = rows[PART_VALID] > rows[PART_TEST] ? rows[PART_VALID] : rows[PART_TEST];
        r->device.weights = need.weights;
        r->device.state = need.gradients + need.state;
        r->device.activations = need.activations + need.scratch;
        r->device.data = t->table->rows.count * t->table->rows.format.stride +
                         (rows[PART_TRAIN] + other) * sizeof(uint32_t);
        r->device.all = need.total + r->device.data;
        training = before + copies + score_bytes(t) + WRITING;
    }
    uint64_t peak = hostmem_peak();
    r->host_bytes = peak > training ? peak : training;
    uint64_t named = r->device.all ? copies : 0;
    if (!r->device.all)
        named = r->encoded_bytes + r->weights_bytes + r->activations_bytes;
    r->other_bytes = r->host_bytes > named ? r->host_bytes - named : 0;
    return true;
}

/* The largest power of two of rows whose network fits in what the machine has left, and on a GPU in
 * what this training would give back: its network to another one, all it holds to a prediction. */
static uint64_t largest_batch(const struct training *t, const struct check_result *r, bool training)
{
    uint64_t room = machine_bytes_free(t->machine), largest = 0;
    if (room && r->device.all)
        room += training ? r->device.all - r->device.data : r->device.all;
    uint32_t most = training ? TRAIN_BATCH_MOST : 1u << 20;
    for (uint32_t rows = 1; rows <= most; rows *= 2) {
        struct network_options o = training_network(t);
        struct network_bytes need;
        struct err e = {0};
        o.rows = rows;
        o.training = training;
        if (!network_need(&o, t->machine, &need, &e) || (room && need.total > room))
            break;
        largest = rows;
    }
    return largest;
}

/* Seconds of a whole training, from steps and answers that are timed here. */
static bool estimate(struct training *t, double load_s, struct check_result *r, struct err *e)
{
    const struct train_options *o = &t->config->train;
    struct hyper still[1] = {{.lr = 0, .weight_decay = 0}};
    double step_s = 0, row_s = 0;
    int64_t steps = 0;
    if (!network_epoch(t->network, 0, still, 1, e))
        return false;
    for (uint32_t stretch = 1; step_s < TRIAL && steps < t->steps; stretch *= 2) {
        int64_t left = t->steps - steps;
        uint32_t now = left < (int64_t)stretch ? (uint32_t)left : stretch;
        double began = clock_now();
        if (!step_train(t->stepper, now, e))
            return false;
        if (stop_wanted())
            return training_stopped(t, e);
        step_s += clock_now() - began;
        steps += now;
    }
    uint64_t valid = t->table->count[PART_VALID], sample = valid < 4096 ? valid : 4096;
    if (sample) {
        struct source from = t->source;
        real *logits = mem_alloc(sample * t->features->outputs, sizeof *logits);
        from.index = t->table->index[PART_VALID];
        from.count = valid;
        double began = clock_now();
        bool good = step_answer(t->stepper, &from, 0, sample, logits, e);
        row_s = (clock_now() - began) / (double)sample;
        mem_free(logits);
        if (!good)
            return false;
    }
    double epoch = step_s / (double)steps * (double)t->steps + row_s * (double)valid;
    double all = epoch * (double)o->epochs;
    if (o->time_limit_s > 0 && all > o->time_limit_s)
        all = o->time_limit_s;
    r->seconds = load_s + all + row_s * (double)(valid + t->table->count[PART_TEST]);
    select_took(&t->backend, r->seconds);
    return true;
}

static void take_warnings(const struct table *table, struct text *out)
{
    for (size_t i = 0; i < table->warning_count; i++)
        text_printf(out, "%s\n", table->warnings[i].text);
}

/* What would stop the training before its first row. What is made is taken away again. */
static bool outputs_may_be(const struct config *c, struct err *e)
{
    struct journal lines;
    if ((c->output.model && !output_check(c, c->output.model, e)) ||
        !journal_open(&lines, c->output.metrics, e))
        return false;
    journal_close(&lines);
    return true;
}

static bool all(struct training *t, struct check_result *r, struct err *e)
{
    double began = clock_now();
    if (!outputs_may_be(t->config, e) || !training_load(t, e))
        return false;
    double load_s = clock_now() - began;
    uint64_t before = hostmem_now();
    if (!training_build(t, e))
        return false;
    for (int p = 0; p < PARTS; p++)
        r->rows[p] = t->table->count[p];
    count_columns(t->schema, r);
    take_warnings(t->table, &r->warnings);
    config_resolved(t->config, t->features, false, &r->resolved);
    if (!account(t, before, r, e) || !estimate(t, load_s, r, e))
        return false;
    r->largest_batch_train = largest_batch(t, r, true);
    r->largest_batch_predict = largest_batch(t, r, false);
    r->backend = t->backend;
    return true;
}

bool check_run(struct config *config, struct check_result *r, struct err *e)
{
    struct training t = {.config = config, .began = clock_now(), .journal = {.fd = -1}};
    memset(r, 0, sizeof *r);
    bool good = all(&t, r, e);
    training_close(&t);
    if (!good)
        check_free(r);
    return good;
}

static void write_warnings(const struct text *lines, struct json_out *out)
{
    json_open(out, "warnings", '[');
    for (size_t at = 0; at < lines->length;) {
        size_t length = strcspn(lines->data + at, "\n");
        json_put_string_n(out, NULL, lines->data + at, length);
        at += length + 1;
    }
    json_close(out, ']');
}

void check_write(const struct config *c, const struct check_result *r, struct json_out *out)
{
    static const char *const parts[] = {"train", "valid", "test"};
    static const char *const types[] = {"numeric", "categorical", "datetime", "id",    "weight",
                                        "group",   "ignore",      "target",   "split", NULL};
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.check/1");
    json_open(out, "rows", '{');
    for (int p = 0; p < 3; p++)
        json_put_int(out, parts[p], (int64_t)r->rows[p]);
    json_close(out, '}');
    json_open(out, "columns", '{');
    for (int i = 0; types[i]; i++)
        json_put_int(out, types[i], (int64_t)r->columns_by_type[i]);
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
    json_put_number(out, "seconds", r->seconds);
    write_warnings(&r->warnings, out);
    json_close(out, '}');
}

void check_free(struct check_result *r)
{
    text_free(&r->warnings);
    text_free(&r->resolved);
}
