/* modelfile_load.c - reading a model that anyone may have written: what the config says is planned
 * as if a user had written it, and every tensor must then be exactly what that plan needs. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/modelfile.h"
#include "model/modelfile_tensors.h"

struct loading {
    const struct tensor_file *file;
    struct modelfile *f;
    struct err *e;
};

static bool refuse(const struct loading *l, enum err_id id, const char *what)
{
    return err_at(l->e, id, tensor_file_path(l->file), 0, 0, "%s", what);
}

/* --- metadata --- */

static bool check_kind(const struct loading *l)
{
    const char *kind = tensor_file_meta(l->file, "kind"),
               *format = tensor_file_meta(l->file, "format");
    int64_t number;
    if (kind && strcmp(kind, "checkpoint") == 0) {
        refuse(l, ERR_MODEL_FOREIGN, "is a checkpoint, not a model");
        return err_help(l->e, "`dnn train --resume` goes on from it and writes the model");
    }
    if (!kind || strcmp(kind, "model") != 0)
        return refuse(l, ERR_MODEL_FOREIGN,
                      "is not a dnn model: its metadata lack the kind \"model\"");
    if (!format || !text_to_int(format, &number) || number < 1)
        return refuse(l, ERR_MODEL_HEADER, "the metadata lack the format's number");
    if (number > MODELFILE_FORMAT)
        return err_at(l->e, ERR_MODEL_NEWER, tensor_file_path(l->file), 0, 0,
                      "the model has format %lld, this build reads %d", (long long)number,
                      MODELFILE_FORMAT);
    if (number < MODELFILE_FORMAT) {
        err_at(l->e, ERR_MODEL_OLDER, tensor_file_path(l->file), 0, 0,
               "the model has format %lld, this build reads %d: its inputs stand in another order",
               (long long)number, MODELFILE_FORMAT);
        return err_help(l->e, "train it anew, or use the version of dnn that wrote it");
    }
    return true;
}

/* What stands in the metadata under key, or in a tensor of that name; mem_free. */
static char *long_text(const struct loading *l, const char *key)
{
    const char *text = tensor_file_meta(l->file, key);
    const struct tensor *t = tensor_find(l->file, key);
    if (text && t) {
        err_at(l->e, ERR_MODEL_TENSOR, tensor_file_path(l->file), 0, 0,
               "tensor \"%s\": the metadata have it already", key);
        return NULL;
    }
    if (text)
        return mem_string(text);
    t = tensor_need(l->file, key, DTYPE_U8, UINT64_MAX, l->e);
    if (!t)
        return NULL;
    if (t->count && memchr(t->data, '\0', t->count)) {
        refuse(l, ERR_MODEL_CONFIG, "the config inside has a NUL byte");
        return NULL;
    }
    return mem_string_n(t->data, t->count);
}

/* The errors of a config have other ids and places in a text that nobody sees: only what they say
 * is passed on. */
static bool bad_config(const struct loading *l, const struct err *inner)
{
    return err_at(l->e, ERR_MODEL_CONFIG, tensor_file_path(l->file), 0, 0, "the config inside: %s",
                  inner->what);
}

static bool load_config(const struct loading *l)
{
    struct modelfile *f = l->f;
    struct err inner = {0};
    const char *metrics = tensor_file_meta(l->file, "metrics"),
               *plan = tensor_file_meta(l->file, "plan");
    f->config_text = long_text(l, IN_CONFIG);
    if (!f->config_text)
        return false;
    f->config = json_parse_own(f->config_text, strlen(f->config_text), "config", &inner);
    if (!f->config)
        return bad_config(l, &inner);
    if (json_kind(json_root(f->config)) != JSON_OBJECT)
        return refuse(l, ERR_MODEL_CONFIG, "the config inside is not an object");
    const struct json *task = json_get(json_root(f->config), "task");
    if (!task || strcmp(json_string(task), task_names[f->schema->task]) != 0)
        return refuse(l, ERR_MODEL_CONFIG, "the config inside has another task than the schema");
    if (!metrics || !json_valid(metrics, strlen(metrics), "metrics", &inner))
        return refuse(l, ERR_MODEL_CONFIG, "the metrics inside are missing or not JSON");
    f->metrics_text = mem_string(metrics);
    struct json_doc *doc = plan ? json_parse(plan, strlen(plan), "plan", &inner) : NULL;
    bool good = doc && plan_read(json_root(doc), &f->plan);
    json_free(doc);
    return good || refuse(l, ERR_MODEL_CONFIG, "the plan inside is missing or not as it must be");
}

/* --- tensors --- */

static bool belongs(const char *name)
{
    static const char *const names[] = {MODELFILE_TENSORS};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return schema_tensor(name);
}

static bool check_names(const struct loading *l)
{
    for (size_t i = 0; i < tensor_file_count(l->file); i++) {
        const char *name = tensor_file_at(l->file, i)->name;
        if (!belongs(name))
            return err_at(l->e, ERR_MODEL_TENSOR, tensor_file_path(l->file), 0, 0,
                          "tensor \"%s\" does not belong in a model", text_quote_z(name));
    }
    return true;
}

/* Exactly `count` finite numbers, or no tensor when count is 0. */
static bool load_reals(const struct loading *l, const char *name, uint64_t count, real **to)
{
    if (!count)
        return !tensor_find(l->file, name) ||
               err_at(l->e, ERR_MODEL_TENSOR, tensor_file_path(l->file), 0, 0,
                      "tensor \"%s\" has no use", name);
    const struct tensor *t = tensor_need(l->file, name, DTYPE_F32, UINT64_MAX, l->e);
    if (!t)
        return false;
    if (t->count != count)
        return err_at(l->e, ERR_MODEL_WEIGHTS, tensor_file_path(l->file), 0, 0,
                      "tensor \"%s\" has %llu numbers, the config and the columns need %llu", name,
                      (unsigned long long)t->count, (unsigned long long)count);
    const float *from = t->data;
    *to = mem_alloc(count, sizeof **to);
    for (uint64_t i = 0; i < count; i++) {
        if (!isfinite(from[i]))
            return err_at(l->e, ERR_MODEL_NONFINITE, tensor_file_path(l->file), 0, 0,
                          "tensor \"%s\": number %llu is not finite", name, (unsigned long long)i);
        (*to)[i] = (real)from[i];
    }
    return true;
}

static bool load_weights(const struct loading *l, uint32_t *outputs)
{
    struct modelfile *f = l->f;
    struct err inner = {0};
    struct model_options o = modelfile_model(f);
    if (!o.model)
        return refuse(l, ERR_MODEL_CONFIG, "the config inside lacks \"model\"");
    struct features *features = schema_features(f->schema);
    struct model *m = model_plan(&o, features, 1, 1, false, &inner);
    features_free(features);
    if (!m)
        return bad_config(l, &inner);
    *outputs = m->outputs;
    f->param_count = m->params;
    f->buffer_count = m->buffers;
    bool good = load_reals(l, IN_PARAMS, m->params, &f->params) &&
                load_reals(l, IN_BUFFERS, m->buffers, &f->buffers);
    uint64_t wrong = good ? model_gap(m, f->params) : UINT64_MAX;
    if (wrong != UINT64_MAX)
        good = err_at(l->e, ERR_MODEL_WEIGHTS, tensor_file_path(l->file), 0, 0,
                      "tensor \"" IN_PARAMS "\": number %llu belongs to no parameter of this "
                      "network and is not 0", (unsigned long long)wrong);
    wrong = good ? model_unsound(m, f->buffers) : UINT64_MAX;
    if (wrong != UINT64_MAX)
        good = err_at(l->e, ERR_MODEL_WEIGHTS, tensor_file_path(l->file), 0, 0,
                      "tensor \"weights.buffers\": number %llu is a negative variance",
                      (unsigned long long)wrong);
    model_free(m);
    return good;
}

/* --- golden rows --- */

static bool load_golden(const struct loading *l, uint32_t outputs)
{
    struct golden *g = &l->f->golden;
    const struct tensor *logits = tensor_find(l->file, IN_GOLDEN_LOGITS);
    const struct tensor *offsets = tensor_find(l->file, IN_GOLDEN_OFFSETS);
    const struct tensor *text = tensor_find(l->file, IN_GOLDEN_TEXT);
    if (!logits && !offsets && !text)
        return true;
    if (!logits || !offsets || !text || logits->type != DTYPE_F32 || offsets->type != DTYPE_I64 ||
        text->type != DTYPE_U8 || logits->rank != 2 || logits->dims[1] != outputs ||
        !logits->dims[0] || logits->dims[0] > UINT32_MAX || offsets->count < 2)
        return refuse(l, ERR_MODEL_GOLDEN,
                      "the golden rows are incomplete or of another shape than the model");
    uint64_t rows = logits->dims[0], cells = (offsets->count - 1) / rows;
    if (cells * rows != offsets->count - 1 || cells < 1 || cells > l->f->schema->column_count)
        return refuse(l, ERR_MODEL_GOLDEN, "the golden rows do not have a cell for every column");
    const int64_t *at = offsets->data;
    bool rising = at[0] == 0;
    for (uint64_t i = 0; i + 1 < offsets->count && rising; i++)
        rising = at[i] <= at[i + 1];
    if (!rising || (uint64_t)at[offsets->count - 1] != text->count)
        return refuse(l, ERR_MODEL_GOLDEN,
                      "the cells of the golden rows do not follow one another");
    g->count = (uint32_t)rows;
    g->cells = (uint32_t)cells;
    g->text = mem_string_n(text->data, text->count);
    g->offsets = mem_copy(offsets->data, offsets->count * sizeof *g->offsets);
    return load_reals(l, IN_GOLDEN_LOGITS, logits->count, &g->logits);
}

/* --- the file --- */

static struct modelfile *load(struct tensor_file *file, struct err *e)
{
    if (!file)
        return NULL;
    struct loading l = {file, mem_zero(1, sizeof(struct modelfile)), e};
    uint32_t outputs;
    bool good = check_kind(&l) && check_names(&l);
    if (good) {
        l.f->schema = schema_load(file, e);
        good = l.f->schema && load_config(&l) && load_weights(&l, &outputs) &&
               load_golden(&l, outputs);
    }
    memcpy(l.f->sha256, tensor_file_digest(file), sizeof l.f->sha256);
    tensor_close(file);
    if (good)
        return l.f;
    modelfile_free(l.f);
    return NULL;
}

struct modelfile *modelfile_load(const char *path, struct err *e)
{
    return load(tensor_open(path, e), e);
}

struct modelfile *modelfile_load_bytes(const void *bytes, size_t length, const char *name,
                                       struct err *e)
{
    return load(tensor_open_bytes(bytes, length, name, e), e);
}
