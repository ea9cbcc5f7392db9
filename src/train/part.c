/* part.c - see part.h. */
#include "train/part.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "table/sequence/windows.h"
#include "train/run/checkpoint.h"

enum { COUNTERS = 6 };
static const struct saved_kind kind = {
    "part", PART_FORMAT, "is not a part of an ensemble, as `dnn train --run` writes it"};

/* --- writing --- */

/* Names of the tensors of rows, by their owner. */
struct row_names {
    const char *label, *target, *weight, *logits, *group, *judged;
};
static const struct row_names left_names = {"left.label", "left.target", "left.weight",
                                            "left.logits", "left.group", "left.judged"},
                              test_names = {"test.label", "test.target", "test.weight",
                                            "test.logits", "test.group", "test.judged"};

/* The tensor of places: the number of all rows, then the place of each. NULL: all rows were
 * answered. mem_free. */
static uint64_t *places(const struct part_rows *r)
{
    uint64_t *all = r->at ? mem_alloc(r->count + 1, sizeof *all) : NULL;
    if (all) {
        all[0] = r->of;
        memcpy(all + 1, r->at, r->count * sizeof *all);
    }
    return all;
}

static void add_rows(struct tensor_writer *w, const struct row_names *n, const struct part_rows *r,
                     uint32_t outputs)
{
    saved_add(w, n->label, DTYPE_I32, r->count, r->label);
    saved_add(w, n->target, DTYPE_F64, r->count, r->target);
    saved_add(w, n->weight, DTYPE_F32, r->count, r->weight);
    saved_add(w, n->logits, REAL_TYPE, r->count * outputs, r->logits);
    saved_add(w, n->group, DTYPE_I64, r->count, r->group);
}

bool part_save(const struct run_part *p, const char *path, struct err *e)
{
    const int64_t counters[COUNTERS] = {p->run,           p->member, p->fold,
                                        (int64_t)p->rows, p->epochs, p->best_epoch};
    const uint64_t cells = (uint64_t)p->sample.rows * p->sample.cells;
    struct tensor_writer *w = saved_new(&kind, &p->plan, p->data);
    tensor_meta(w, "stopped", p->stopped);
    struct encoder_saved *kept = encoder_save(p->encoder, 0, w);
    uint64_t *left = places(&p->left), *test = places(&p->test);
    saved_add(w, left_names.judged, DTYPE_I64, p->left.count + 1, left);
    saved_add(w, test_names.judged, DTYPE_I64, p->test.count + 1, test);
    saved_add(w, "params", REAL_TYPE, p->param_count, p->params);
    saved_add(w, "buffers", REAL_TYPE, p->buffer_count, p->buffers);
    add_rows(w, &left_names, &p->left, p->outputs);
    add_rows(w, &test_names, &p->test, p->outputs);
    if (p->sample.rows) {
        saved_add(w, "sample.offsets", DTYPE_I64, cells + 1, p->sample.offsets);
        saved_add(w, "sample.text", DTYPE_U8, p->sample.offsets[cells], p->sample.text);
        saved_add(w, "sample.logits", REAL_TYPE, (uint64_t)p->sample.rows * p->outputs,
            p->sample_logits);
    }
    saved_add(w, "constant", DTYPE_F64, p->outputs, p->constant);
    saved_add(w, "counters", DTYPE_I64, COUNTERS, counters);
    const double times[] = {p->seconds, p->used};
    saved_add(w, "times", DTYPE_F64, 2, times);
    saved_add(w, "history", DTYPE_F64, (uint64_t)p->history_rows * HISTORY_COLUMNS, p->history);
    saved_add(w, "config", DTYPE_U8, strlen(p->config), p->config);
    if (p->known)
        fingerprint_save(p->known, w);
    bool good = tensor_write(w, path, NULL, e);
    tensor_writer_free(w);
    mem_free(left);
    mem_free(test);
    encoder_saved_free(kept);
    return good;
}

/* --- reading --- */

/* Copies a tensor of `count` elements; count 0 needs none. */
static bool copy(const struct tensor_file *f, const char *name, enum dtype type, uint64_t count,
                 void *to, struct err *e)
{
    void *block = NULL;
    if (count) {
        const struct tensor *t = tensor_need(f, name, type, count, e);
        if (!t)
            return false;
        block = mem_copy(t->data, (size_t)count * dtype_bytes(type));
    }
    memcpy(to, &block, sizeof block);
    return true;
}

/* As copy, for finite numbers. */
static bool copy_reals(const struct tensor_file *f, const char *name, uint64_t count, real **to,
                       struct err *e)
{
    if (!copy(f, name, REAL_TYPE, count, to, e))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!isfinite((*to)[i]))
            return saved_broken(f, e, "a number in it is not finite");
    return true;
}

static uint64_t count_of(const struct tensor_file *f, const char *name)
{
    const struct tensor *t = tensor_find(f, name);
    return t ? t->count : 0;
}

/* Places rise, and lie below the number of all rows. */
static bool read_places(const struct tensor_file *f, const struct row_names *n,
                        struct part_rows *r, struct err *e)
{
    if (!tensor_find(f, n->judged))
        return true;
    if (!copy(f, n->judged, DTYPE_I64, r->count + 1, &r->at, e))
        return false;
    r->of = r->at[0];
    memmove(r->at, r->at + 1, r->count * sizeof *r->at);
    bool rising = r->count <= r->of;
    for (uint64_t i = 0; i < r->count; i++)
        rising &= r->at[i] < r->of && (!i || r->at[i - 1] < r->at[i]);
    return rising || saved_broken(f, e, "the places of its rows do not follow one another");
}

static bool read_rows(const struct tensor_file *f, const struct row_names *n, bool classes,
                      uint32_t outputs, struct part_rows *r, struct err *e)
{
    uint64_t count = r->count = count_of(f, n->weight);
    if (!copy(f, n->weight, DTYPE_F32, count, &r->weight, e) ||
        !copy(f, n->label, DTYPE_I32, classes ? count : 0, &r->label, e) ||
        !copy(f, n->target, DTYPE_F64, classes ? 0 : count, &r->target, e) ||
        !copy(f, n->logits, REAL_TYPE, count * outputs, &r->logits, e) ||
        (tensor_find(f, n->group) && !copy(f, n->group, DTYPE_I64, count, &r->group, e)) ||
        !read_places(f, n, r, e))
        return false;
    for (uint64_t i = 0; i < count; i++)
        if (!(r->weight[i] >= 0 && r->weight[i] <= 3e38f) ||
            (classes && (r->label[i] < -1 || r->label[i] >= (int32_t)outputs)))
            return saved_broken(f, e, "a row has a weight or a label that cannot be");
    return true;
}

static bool read_sample(const struct tensor_file *f, struct run_part *p, struct err *e)
{
    struct table_sample *s = &p->sample;
    const uint64_t offsets = count_of(f, "sample.offsets"), text = count_of(f, "sample.text");
    const uint64_t rows = count_of(f, "sample.logits") / p->outputs;
    if (!rows)
        return true;
    if (rows > TABLE_SAMPLE_ROWS || offsets < 2 || (offsets - 1) % rows ||
        (offsets - 1) / rows > p->encoder->schema->column_count)
        return saved_broken(f, e, "its sample has another shape");
    s->rows = (uint32_t)rows;
    s->cells = (uint32_t)((offsets - 1) / rows);
    if (!copy_reals(f, "sample.logits", rows * p->outputs, &p->sample_logits, e) ||
        !copy(f, "sample.offsets", DTYPE_I64, offsets, &s->offsets, e) ||
        !copy(f, "sample.text", DTYPE_U8, text, &s->text, e))
        return false;
    bool rising = s->offsets[0] == 0 && s->offsets[offsets - 1] == text;
    for (uint64_t i = 0; i + 1 < offsets; i++)
        rising &= s->offsets[i] <= s->offsets[i + 1];
    return rising || saved_broken(f, e, "the cells of its sample do not follow one another");
}

static bool read_meta(const struct tensor_file *f, struct run_part *p, struct err *e)
{
    const char *stopped = tensor_file_meta(f, "stopped");
    if (!saved_open(f, &kind, &p->plan, p->data, e))
        return false;
    if (!stopped || strlen(stopped) >= sizeof p->stopped)
        return saved_broken(f, e, "its metadata are incomplete");
    memcpy(p->stopped, stopped, strlen(stopped) + 1);
    return true;
}

static bool read_counters(const struct tensor_file *f, struct run_part *p, struct err *e)
{
    const struct tensor *counters = tensor_need(f, "counters", DTYPE_I64, COUNTERS, e),
                        *times = tensor_need(f, "times", DTYPE_F64, 2, e),
                        *config = tensor_need(f, "config", DTYPE_U8, UINT64_MAX, e);
    if (!counters || !times || !config)
        return false;
    const int64_t *c = counters->data;
    for (int i = 0; i < COUNTERS; i++)
        if (c[i] < 0 || (i < 3 && c[i] >= MODELFILE_MEMBERS))
            return saved_broken(f, e, "its counters cannot be");
    p->run = (uint32_t)c[0];
    p->member = (uint32_t)c[1];
    p->fold = (uint32_t)c[2];
    p->rows = (uint64_t)c[3];
    p->epochs = c[4];
    p->best_epoch = c[5];
    p->seconds = ((const double *)times->data)[0];
    p->used = ((const double *)times->data)[1];
    p->config = mem_string_n(config->data, (size_t)config->count);
    return (p->seconds >= 0 && p->used >= 0) || saved_broken(f, e, "its time is not a number");
}

static bool read_all(const struct tensor_file *f, struct run_part *p, struct fingerprint **known,
                     struct err *e)
{
    if (!read_meta(f, p, e) || !read_counters(f, p, e) || !(p->encoder = encoder_load(f, 0, e)))
        return false;
    const struct schema *s = p->encoder->schema;
    const bool classes = s->labels != NULL;
    p->owns = true;
    p->outputs = classes ? vocab_count(s->labels) : schema_values(s);
    p->param_count = count_of(f, "params");
    p->buffer_count = count_of(f, "buffers");
    p->history_rows = (uint32_t)(count_of(f, "history") / HISTORY_COLUMNS);
    return copy_reals(f, "params", p->param_count, &p->params, e) &&
           copy_reals(f, "buffers", p->buffer_count, &p->buffers, e) &&
           copy(f, "constant", DTYPE_F64, p->outputs, &p->constant, e) &&
           copy(f, "history", DTYPE_F64, (uint64_t)p->history_rows * HISTORY_COLUMNS,
                &p->history, e) &&
           read_rows(f, &left_names, classes, p->outputs, &p->left, e) &&
           read_rows(f, &test_names, classes, p->outputs, &p->test, e) && read_sample(f, p, e) &&
           fingerprint_load(f, known, e);
}

struct run_part *part_load(const char *path, struct err *e)
{
    struct tensor_file *f = tensor_open(path, e);
    if (!f)
        return NULL;
    struct run_part *p = mem_zero(1, sizeof *p);
    struct fingerprint *known = NULL;
    bool good = read_all(f, p, &known, e);
    p->known = known;
    tensor_close(f);
    if (good)
        return p;
    part_free(p);
    return NULL;
}

bool part_whole(const struct run_part *p)
{
    return strcmp(p->stopped, "time_limit") != 0;
}

void part_rows_free(struct part_rows *r)
{
    mem_free(r->label);
    mem_free(r->target);
    mem_free(r->weight);
    mem_free(r->group);
    mem_free(r->logits);
    mem_free(r->at);
    *r = (struct part_rows){0};
}

uint64_t part_rows_all(const struct part_rows *r)
{
    return r->at ? r->of : r->count;
}

/* Row i goes to a place before it, but for its logits. */
static void move_truth(struct part_rows *r, uint64_t to, uint64_t i)
{
    r->weight[to] = r->weight[i];
    if (r->label)
        r->label[to] = r->label[i];
    if (r->target)
        r->target[to] = r->target[i];
    if (r->group)
        r->group[to] = r->group[i];
}

bool part_rows_keep(struct part_rows *r, const struct part_rows *as, uint32_t outputs,
                    struct err *e)
{
    uint64_t kept = 0;
    if (!as->at || (r->at && r->count == as->count))
        return true;
    uint64_t *at = mem_copy(as->at, (as->count + 1) * sizeof *at);
    for (uint64_t i = 0; i < r->count && kept < as->count; i++) {
        if ((r->at ? r->at[i] : i) != at[kept])
            continue;
        move_truth(r, kept, i);
        memmove(r->logits + kept * outputs, r->logits + i * outputs, outputs * sizeof *r->logits);
        kept++;
    }
    mem_free(r->at);
    r->at = at;
    r->of = as->of;
    r->count = kept;
    return kept == as->count ||
           err_set(e, ERR_CHECKPOINT_OTHER, "the parts of two runs hold other rows: train both "
                                            "runs again");
}

void part_rows_join(struct part_rows *r, const uint32_t *line, uint64_t lines, uint32_t outputs)
{
    struct window_mean mean = {0};
    window_mean_begin(&mean, 1, lines, outputs);
    window_mean_add(&mean, line, r->logits, r->count, 0, r->count);
    window_mean_put(&mean, r->logits, lines, 0);
    window_mean_free(&mean);
    for (uint64_t i = 0; i < r->count; i++)
        move_truth(r, line[i], i);
    r->count = lines;
}

void part_free(struct run_part *p)
{
    if (!p)
        return;
    if (p->owns) {
        encoder_free(p->encoder);
        fingerprint_free((struct fingerprint *)(uintptr_t)p->known);
    }
    if (!p->borrows) {
        mem_free(p->params);
        mem_free(p->buffers);
    }
    part_rows_free(&p->left);
    part_rows_free(&p->test);
    mem_free(p->sample.text);
    mem_free(p->sample.offsets);
    mem_free(p->sample_logits);
    mem_free(p->constant);
    mem_free(p->history);
    mem_free(p->config);
    mem_free(p);
}
