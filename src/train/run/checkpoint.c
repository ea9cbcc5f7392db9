/* checkpoint.c - see checkpoint.h. */
#include "train/run/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/file/tensorfile.h"
#include "base/text.h"
#include "model/file/modelfile.h"

#define REAL_TYPE (sizeof(real) == sizeof(double) ? DTYPE_F64 : DTYPE_F32)
enum { COUNTERS = 9, SUMS = 5, HISTORY_WIDTH = 3 };

/* --- struct step in two tensors --- */

static void step_pack(const struct step *s, int64_t counters[COUNTERS], double sums[SUMS])
{
    const int64_t c[COUNTERS] = {(int64_t)s->seed, s->tried, s->applied, s->epoch,    s->model,
                                 (int64_t)s->row0, s->bad,   s->good,    s->bad_steps};
    const double d[SUMS] = {s->gnorm, s->weight, s->loss, s->epoch_weight, s->epoch_loss};
    memcpy(counters, c, sizeof c);
    memcpy(sums, d, sizeof d);
}

static bool step_unpack(const int64_t c[COUNTERS], const double d[SUMS], struct step *s)
{
    for (int i = 1; i < COUNTERS; i++)
        if (c[i] < 0)
            return false;
    if (c[3] > UINT32_MAX || c[4] > UINT32_MAX || c[2] > c[1])
        return false;
    for (int i = 0; i < SUMS; i++)
        if (!isfinite(d[i]))
            return false;
    *s = (struct step){.seed = (uint64_t)c[0],
                       .tried = c[1],
                       .applied = c[2],
                       .epoch = (uint32_t)c[3],
                       .model = (uint32_t)c[4],
                       .row0 = (uint64_t)c[5],
                       .bad = c[6],
                       .good = c[7],
                       .bad_steps = c[8],
                       .gnorm = d[0],
                       .weight = d[1],
                       .loss = d[2],
                       .epoch_weight = d[3],
                       .epoch_loss = d[4]};
    return true;
}

/* --- writing --- */

static void add_reals(struct tensor_writer *w, const char *name, const real *values, uint64_t count)
{
    if (values && count)
        tensor_add(w, name, REAL_TYPE, 1, &count, values);
}

static void add_number(struct tensor_writer *w, const char *key, uint64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    tensor_meta(w, key, text);
}

bool checkpoint_save(const struct checkpoint *c, const char *path, struct err *e)
{
    int64_t counters[COUNTERS];
    double sums[SUMS];
    step_pack(&c->now, counters, sums);
    double *history =
        mem_alloc(c->epochs > 0 ? (size_t)c->epochs * HISTORY_WIDTH : 1, sizeof *history);
    for (int64_t i = 0; i < c->epochs; i++) {
        history[HISTORY_WIDTH * i] = c->rows[i].loss;
        history[HISTORY_WIDTH * i + 1] = c->rows[i].metric;
        history[HISTORY_WIDTH * i + 2] = c->rows[i].learning_rate;
    }
    struct json_out plan = {0};
    json_open(&plan, NULL, '{');
    plan_write(&c->plan, &plan);
    json_close(&plan, '}');

    struct tensor_writer *w = tensor_writer_new();
    tensor_meta(w, "kind", "checkpoint");
    add_number(w, "format", CHECKPOINT_FORMAT);
    tensor_meta(w, "plan", plan.text.data);
    tensor_meta(w, "data", c->data);
    add_number(w, "journal", c->journal);
    if (c->best_params)
        add_number(w, "best.journal", c->best_journal);
    add_reals(w, "params", c->params, c->param_count);
    add_reals(w, "buffers", c->buffers, c->buffer_count);
    add_reals(w, "m1", c->m1, c->param_count);
    add_reals(w, "m2", c->m2, c->param_count);
    add_reals(w, "best.params", c->best_params, c->param_count);
    add_reals(w, "best.buffers", c->best_params ? c->best_buffers : NULL, c->buffer_count);
    uint64_t count = COUNTERS, sum_count = SUMS, one = 1, length = strlen(c->config);
    tensor_add(w, "counters", DTYPE_I64, 1, &count, counters);
    tensor_add(w, "sums", DTYPE_F64, 1, &sum_count, sums);
    tensor_add(w, "times", DTYPE_F64, 1, &one, &c->seconds);
    tensor_add(w, "config", DTYPE_U8, 1, &length, c->config);
    const double scale[2] = {c->now.scale, (double)c->now.skipped};
    uint64_t scale_count = 2;
    if (c->now.scale > 0)
        tensor_add(w, "scale", DTYPE_F64, 1, &scale_count, scale);
    uint64_t shape[2] = {(uint64_t)c->epochs, HISTORY_WIDTH};
    if (c->epochs)
        tensor_add(w, "history", DTYPE_F64, 2, shape, history);
    bool good = tensor_write(w, path, NULL, e);
    tensor_writer_free(w);
    text_free(&plan.text);
    mem_free(history);
    return good;
}

/* --- reading: every value is checked, though the hash fits --- */

static bool broken(const struct tensor_file *f, struct err *e, const char *what)
{
    return err_at(e, ERR_MODEL_TENSOR, tensor_file_path(f), 0, 0,
                  "the checkpoint is not usable: %s", what);
}

/* A copy of an optional tensor of reals, which has `count` of them. */
static bool read_reals(const struct tensor_file *f, const char *name, uint64_t count, real **out,
                       struct err *e)
{
    bool moment = name[0] == 'm'; /* a second moment may overflow: its weight no longer changes */
    bool second = strcmp(name, "m2") == 0; /* a step takes its root */
    if (!tensor_find(f, name))
        return true;
    const struct tensor *t = tensor_need(f, name, REAL_TYPE, count, e);
    if (!t)
        return false;
    if (!count)
        return broken(f, e, "it has a tensor without numbers");
    const real *values = t->data;
    for (uint64_t i = 0; i < t->count; i++)
        if (isnan(values[i]) || (!moment && isinf(values[i])) || (second && values[i] < 0))
            return broken(f, e, "a weight or a moment is not a number that a training has");
    *out = mem_copy(values, (size_t)t->count * sizeof *values);
    return true;
}

static bool read_meta(const struct tensor_file *f, struct checkpoint *c, struct err *e)
{
    const char *kind = tensor_file_meta(f, "kind"), *format = tensor_file_meta(f, "format"),
               *plan = tensor_file_meta(f, "plan"), *data = tensor_file_meta(f, "data"),
               *journal = tensor_file_meta(f, "journal"),
               *best_journal = tensor_file_meta(f, "best.journal");
    int64_t number = 0;
    if (!kind || strcmp(kind, "checkpoint") != 0)
        return err_at(e, ERR_MODEL_FOREIGN, tensor_file_path(f), 0, 0,
                      "is not a checkpoint of dnn");
    if (!format || !text_to_int(format, &number) || number < 1)
        return broken(f, e, "its format has no number");
    if (number > CHECKPOINT_FORMAT)
        return err_at(e, ERR_MODEL_NEWER, tensor_file_path(f), 0, 0,
                      "has format %lld; this build reads 1 to %d", (long long)number,
                      CHECKPOINT_FORMAT);
    if (!data || strlen(data) != 64 || !journal || !text_to_int(journal, &number) || number < 0 ||
        !plan)
        return broken(f, e, "its metadata are incomplete");
    memcpy(c->data, data, sizeof c->data);
    c->journal = (uint64_t)number;
    if (best_journal && (!text_to_int(best_journal, &number) || number < 0))
        return broken(f, e, "its metadata contradict each other");
    c->best_journal = (uint64_t)number;
    struct err inner = {0};
    struct json_doc *doc = json_parse(plan, strlen(plan), tensor_file_path(f), &inner);
    bool good = doc && plan_read(json_root(doc), &c->plan);
    json_free(doc);
    return good || broken(f, e, "its plan cannot be read");
}

static bool read_scale(const struct tensor_file *f, struct checkpoint *c, struct err *e)
{
    const struct tensor *t = tensor_find(f, "scale");
    if (!t)
        return true;
    t = tensor_need(f, "scale", DTYPE_F64, 2, e);
    if (!t)
        return false;
    const double *values = t->data;
    int power;
    if (!(values[0] >= SCALE_LEAST && values[0] <= SCALE_MOST) || frexp(values[0], &power) > 0.5 ||
        !(values[1] >= 0 && values[1] <= (double)c->now.tried))
        return broken(f, e, "its scale of gradients is none");
    c->now.scale = values[0];
    c->now.skipped = (int64_t)values[1];
    return true;
}

static bool read_state(const struct tensor_file *f, struct checkpoint *c, struct err *e)
{
    const struct tensor *counters = tensor_need(f, "counters", DTYPE_I64, COUNTERS, e),
                        *sums = tensor_need(f, "sums", DTYPE_F64, SUMS, e),
                        *times = tensor_need(f, "times", DTYPE_F64, 1, e),
                        *config = tensor_need(f, "config", DTYPE_U8, UINT64_MAX, e);
    if (!counters || !sums || !times || !config)
        return false;
    if (!step_unpack(counters->data, sums->data, &c->now))
        return broken(f, e, "its counters contradict each other");
    if (!read_scale(f, c, e))
        return false;
    c->seconds = *(const double *)times->data;
    if (!(c->seconds >= 0))
        return broken(f, e, "its time is not a number");
    c->config = mem_string_n(config->data, (size_t)config->count);
    if (strlen(c->config) != config->count)
        return broken(f, e, "its config holds a zero byte");
    const struct tensor *history = tensor_find(f, "history");
    if (!history)
        return true;
    if (!tensor_need(f, "history", DTYPE_F64, UINT64_MAX, e))
        return false;
    if (history->rank != 2 || history->dims[1] != HISTORY_WIDTH || !history->dims[0])
        return broken(f, e, "its history has another shape");
    const double *values = history->data;
    c->epochs = (int64_t)history->dims[0];
    c->rows = mem_alloc((size_t)c->epochs, sizeof *c->rows);
    for (int64_t i = 0; i < c->epochs; i++, values += HISTORY_WIDTH)
        c->rows[i] = (struct history_row){values[0], values[1], values[2]};
    return true;
}

static bool read_weights(const struct tensor_file *f, struct checkpoint *c, struct err *e)
{
    const struct tensor *params = tensor_find(f, "params"), *buffers = tensor_find(f, "buffers");
    c->param_count = params ? params->count : 0;
    c->buffer_count = buffers ? buffers->count : 0;
    if (!read_reals(f, "params", c->param_count, &c->params, e) ||
        !read_reals(f, "m1", c->param_count, &c->m1, e) ||
        !read_reals(f, "m2", c->param_count, &c->m2, e) ||
        !read_reals(f, "best.params", c->param_count, &c->best_params, e) ||
        !read_reals(f, "buffers", c->buffer_count, &c->buffers, e) ||
        !read_reals(f, "best.buffers", c->buffer_count, &c->best_buffers, e))
        return false;
    if (!c->params)
        return broken(f, e, "it has no weights");
    if (c->buffers && c->best_params && !c->best_buffers)
        return broken(f, e, "its best weights have no buffers");
    return true;
}

static struct checkpoint *load(struct tensor_file *f, struct err *e)
{
    if (!f)
        return NULL;
    struct checkpoint *c = mem_zero(1, sizeof *c);
    bool good = read_meta(f, c, e) && read_state(f, c, e) && read_weights(f, c, e);
    tensor_close(f);
    if (good)
        return c;
    checkpoint_free(c);
    return NULL;
}

struct checkpoint *checkpoint_load(const char *path, struct err *e)
{
    return load(tensor_open(path, e), e);
}

struct checkpoint *checkpoint_load_bytes(const void *bytes, size_t length, const char *name,
                                         struct err *e)
{
    return load(tensor_open_bytes(bytes, length, name, e), e);
}

void checkpoint_free(struct checkpoint *c)
{
    if (!c)
        return;
    mem_free(c->params);
    mem_free(c->buffers);
    mem_free(c->m1);
    mem_free(c->m2);
    mem_free(c->best_params);
    mem_free(c->best_buffers);
    mem_free(c->rows);
    mem_free(c->config);
    mem_free(c);
}
