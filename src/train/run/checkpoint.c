/* checkpoint.c - see checkpoint.h. */
#include "train/run/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

enum { COUNTERS = 9, SUMS = 5, HISTORY_WIDTH = 3 };
_Static_assert(sizeof(struct history_row) == HISTORY_WIDTH * sizeof(double), "a tensor's row");
static const struct saved_kind kind = {"checkpoint", CHECKPOINT_FORMAT,
                                       "is not a checkpoint of dnn"};

/* --- any file of a training --- */

struct tensor_writer *saved_new(const struct saved_kind *k, const struct plan *plan,
                                const char data[65])
{
    struct tensor_writer *w = tensor_writer_new();
    struct json_out text = {0};
    char format[16];
    snprintf(format, sizeof format, "%d", k->format);
    json_open(&text, NULL, '{');
    plan_write(plan, &text);
    json_close(&text, '}');
    tensor_meta(w, "kind", k->name);
    tensor_meta(w, "format", format);
    tensor_meta(w, "plan", text.text.data);
    tensor_meta(w, "data", data);
    text_free(&text.text);
    return w;
}

void saved_add(struct tensor_writer *w, const char *name, enum dtype type, uint64_t count,
               const void *values)
{
    if (values && count)
        tensor_add(w, name, type, 1, &count, values);
}

bool saved_broken(const struct tensor_file *f, struct err *e, const char *what)
{
    return err_at(e, ERR_MODEL_TENSOR, tensor_file_path(f), 0, 0, "the %s is not usable: %s",
                  tensor_file_meta(f, "kind"), what);
}

bool saved_open(const struct tensor_file *f, const struct saved_kind *k, struct plan *plan,
                char data[65], struct err *e)
{
    const char *is = tensor_file_meta(f, "kind"), *format = tensor_file_meta(f, "format"),
               *text = tensor_file_meta(f, "plan"), *hash = tensor_file_meta(f, "data");
    int64_t number = 0;
    if (!is || strcmp(is, k->name) != 0)
        return err_at(e, ERR_MODEL_FOREIGN, tensor_file_path(f), 0, 0, "%s", k->foreign);
    if (!format || !text_to_int(format, &number) || number < 1)
        return saved_broken(f, e, "its format has no number");
    if (number > k->format)
        return err_at(e, ERR_MODEL_NEWER, tensor_file_path(f), 0, 0,
                      "has format %lld; this build reads 1 to %d", (long long)number, k->format);
    if (!hash || strlen(hash) != 64 || !text)
        return saved_broken(f, e, "its metadata are incomplete");
    memcpy(data, hash, 65);
    struct err inner = {0};
    struct json_doc *doc = json_parse(text, strlen(text), tensor_file_path(f), &inner);
    bool good = doc && plan_read(json_root(doc), plan);
    json_free(doc);
    return good || saved_broken(f, e, "its plan cannot be read");
}

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
    struct tensor_writer *w = saved_new(&kind, &c->plan, c->data);
    add_number(w, "journal", c->journal);
    if (c->best_params)
        add_number(w, "best.journal", c->best_journal);
    saved_add(w, "params", REAL_TYPE, c->param_count, c->params);
    saved_add(w, "buffers", REAL_TYPE, c->buffer_count, c->buffers);
    saved_add(w, "m1", REAL_TYPE, c->param_count, c->m1);
    saved_add(w, "m2", REAL_TYPE, c->param_count, c->m2);
    saved_add(w, "best.params", REAL_TYPE, c->param_count, c->best_params);
    saved_add(w, "best.buffers", REAL_TYPE, c->buffer_count,
              c->best_params ? c->best_buffers : NULL);
    saved_add(w, "counters", DTYPE_I64, COUNTERS, counters);
    saved_add(w, "sums", DTYPE_F64, SUMS, sums);
    saved_add(w, "times", DTYPE_F64, 1, &c->seconds);
    saved_add(w, "config", DTYPE_U8, strlen(c->config), c->config);
    const double scale[2] = {c->now.scale, (double)c->now.skipped};
    if (c->now.scale > 0)
        saved_add(w, "scale", DTYPE_F64, 2, scale);
    uint64_t shape[2] = {(uint64_t)c->epochs, HISTORY_WIDTH};
    if (c->epochs)
        tensor_add(w, "history", DTYPE_F64, 2, shape, c->rows);
    bool good = tensor_write(w, path, NULL, e);
    tensor_writer_free(w);
    return good;
}

/* --- reading: every value is checked, though the hash fits --- */

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
        return saved_broken(f, e, "it has a tensor without numbers");
    const real *values = t->data;
    for (uint64_t i = 0; i < t->count; i++)
        if (isnan(values[i]) || (!moment && isinf(values[i])) || (second && values[i] < 0))
            return saved_broken(f, e, "a weight or a moment is not a number that a training has");
    *out = mem_copy(values, (size_t)t->count * sizeof *values);
    return true;
}

static bool read_meta(const struct tensor_file *f, struct checkpoint *c, struct err *e)
{
    const char *journal = tensor_file_meta(f, "journal"),
               *best_journal = tensor_file_meta(f, "best.journal");
    int64_t number = 0;
    if (!saved_open(f, &kind, &c->plan, c->data, e))
        return false;
    if (!journal || !text_to_int(journal, &number) || number < 0)
        return saved_broken(f, e, "its metadata are incomplete");
    c->journal = (uint64_t)number;
    if (best_journal && (!text_to_int(best_journal, &number) || number < 0))
        return saved_broken(f, e, "its metadata contradict each other");
    c->best_journal = (uint64_t)number;
    return true;
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
        return saved_broken(f, e, "its scale of gradients is none");
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
        return saved_broken(f, e, "its counters contradict each other");
    if (!read_scale(f, c, e))
        return false;
    c->seconds = *(const double *)times->data;
    if (!(c->seconds >= 0))
        return saved_broken(f, e, "its time is not a number");
    c->config = mem_string_n(config->data, (size_t)config->count);
    if (strlen(c->config) != config->count)
        return saved_broken(f, e, "its config holds a zero byte");
    const struct tensor *history = tensor_find(f, "history");
    if (!history)
        return true;
    if (!tensor_need(f, "history", DTYPE_F64, UINT64_MAX, e))
        return false;
    if (history->rank != 2 || history->dims[1] != HISTORY_WIDTH || !history->dims[0])
        return saved_broken(f, e, "its history has another shape");
    c->epochs = (int64_t)history->dims[0];
    c->rows = mem_copy(history->data, (size_t)c->epochs * sizeof *c->rows);
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
        return saved_broken(f, e, "it has no weights");
    if (c->buffers && c->best_params && !c->best_buffers)
        return saved_broken(f, e, "its best weights have no buffers");
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
