/* modelfile_load.c - reads a model from an untrusted file: plans its layers like those of a config,
 * and checks every tensor against that plan. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/file/modelfile_parts.h"

#define FORMAT_FIRST 3

bool modelfile_refuse(const struct model_loading *l, enum err_id id, const char *what)
{
    return err_at(l->e, id, tensor_file_path(l->file), 0, 0, "%s", what);
}

/* --- metadata --- */

static bool check_kind(const struct model_loading *l)
{
    const char *kind = tensor_file_meta(l->file, "kind"),
               *format = tensor_file_meta(l->file, "format");
    int64_t number;
    if (kind && strcmp(kind, "checkpoint") == 0) {
        modelfile_refuse(l, ERR_MODEL_FOREIGN, "is a checkpoint, not a model");
        return err_help(l->e, "`dnn train --resume` goes on from it and writes the model");
    }
    if (kind && strcmp(kind, "part") == 0) {
        modelfile_refuse(l, ERR_MODEL_FOREIGN, "is a part of a model, one run of an ensemble");
        return err_help(l->e, "`dnn merge CONFIG PART... -o MODEL` makes the model of all parts");
    }
    if (!kind || strcmp(kind, "model") != 0)
        return modelfile_refuse(l, ERR_MODEL_FOREIGN,
                                "is not a dnn model: its metadata lack the kind \"model\"");
    if (!format || !text_to_int(format, &number) || number < 1)
        return modelfile_refuse(l, ERR_MODEL_HEADER, "the metadata lack the format's number");
    if (number > MODELFILE_FORMAT)
        return err_at(l->e, ERR_MODEL_NEWER, tensor_file_path(l->file), 0, 0,
                      "the model has format %lld, this build reads formats up to %d",
                      (long long)number, MODELFILE_FORMAT);
    if (number < FORMAT_FIRST) {
        err_at(l->e, ERR_MODEL_OLDER, tensor_file_path(l->file), 0, 0,
               "the model has format %lld, this build reads formats from %d on",
               (long long)number, FORMAT_FIRST);
        return err_help(l->e, "train it anew, or use the version of dnn that wrote it");
    }
    l->f->format = (int)number;
    return true;
}

/* The text in the metadata under key, or in a tensor of that name; mem_free. NULL: neither. */
static char *long_text(const struct model_loading *l, const char *key)
{
    const char *text = tensor_file_meta(l->file, key);
    const struct tensor *t = tensor_find(l->file, key);
    if (text)
        return mem_string(text);
    return t && t->type == DTYPE_U8 ? mem_string_n(t->data, (size_t)t->count) : NULL;
}

static struct json_doc *object_of(const char *text, const char *name)
{
    struct err inner = {0};
    struct json_doc *doc = text ? json_parse_own(text, strlen(text), name, &inner) : NULL;
    if (doc && json_kind(json_root(doc)) == JSON_OBJECT)
        return doc;
    json_free(doc);
    return NULL;
}

/* Loads the record for people: none if it cannot be read. */
static void load_records(const struct model_loading *l)
{
    struct modelfile *f = l->f;
    const char *metrics = tensor_file_meta(l->file, "metrics");
    f->config_text = long_text(l, IN_CONFIG);
    f->config = object_of(f->config_text, "config");
    if (!f->config) {
        mem_free(f->config_text);
        f->config_text = mem_string("{}");
    }
    struct json_doc *doc = object_of(metrics, "metrics");
    f->metrics_text = mem_string(doc ? metrics : "{}");
    json_free(doc);
    doc = object_of(tensor_file_meta(l->file, "plan"), "plan");
    if (!doc || !plan_read(json_root(doc), &f->plan))
        f->plan = (struct plan){0};
    json_free(doc);
}

/* --- layers --- */

/* The errors of a config have other ids, and places in a text that nobody sees. A layer, an option
 * or a word that is not known was made by a later version. */
static bool bad_layers(const struct model_loading *l, const struct err *inner)
{
    bool unknown = inner->id == ERR_CONFIG_WORD || inner->id == ERR_CONFIG_KEY;
    return err_at(l->e, unknown ? ERR_MODEL_NEWER : ERR_MODEL_CONFIG, tensor_file_path(l->file), 0,
                  0, unknown ? "made by a newer version of dnn: %s" : "the layers: %s",
                  inner->what);
}

static uint32_t number_of(const struct model_loading *l)
{
    return (uint32_t)(l->member - l->f->members);
}

/* A tensor of the member. NULL and an error: no tensor of that name and type. */
static const struct tensor *need(const struct model_loading *l, const char *name, enum dtype type)
{
    struct text full = {0};
    text_printf(&full, IN_MEMBER "%s", number_of(l), name);
    const struct tensor *t = tensor_need(l->file, full.data, type, UINT64_MAX, l->e);
    text_free(&full);
    return t;
}

/* A tensor holds the list of layers. */
static bool load_layers(const struct model_loading *l)
{
    struct err inner = {0};
    const struct tensor *t = need(l, "layers", DTYPE_U8);
    if (!t)
        return false;
    struct json_doc *doc = json_parse_own(t->data, (size_t)t->count, "layers", &inner);
    l->member->architecture = doc ? architecture_stored(doc, json_root(doc), &inner) : NULL;
    json_free(doc);
    return l->member->architecture || bad_layers(l, &inner);
}

/* --- weights --- */

bool modelfile_copy(const struct model_loading *l, const struct tensor *t, uint64_t first,
                    uint64_t count, real *to)
{
    const float *from = (const float *)t->data + first;
    uint64_t finite = 0, i = 0;
    for (uint64_t k = 0; k < count; k++) {
        finite += fabsf(from[k]) <= FLT_MAX;
        to[k] = (real)from[k];
    }
    if (finite == count)
        return true;
    while (isfinite(from[i]))
        i++;
    return err_at(l->e, ERR_MODEL_NONFINITE, tensor_file_path(l->file), 0, 0,
                  "tensor \"%s\": number %llu is not finite", t->name,
                  (unsigned long long)(first + i));
}

static bool other_shape(const struct model_loading *l, const struct tensor *t)
{
    return err_at(l->e, ERR_MODEL_WEIGHTS, tensor_file_path(l->file), 0, 0,
                  "tensor \"%s\" has another shape than the layers and the columns need", t->name);
}

/* The tensor of a parameter; NULL and an error if its shape is another one. */
static const struct tensor *find_param(const struct model_loading *l, const struct param *p)
{
    const struct tensor *t = need(l, p->name, DTYPE_F32);
    if (t && (t->rank != p->shape.rank ||
              memcmp(t->dims, p->shape.dims, t->rank * sizeof *t->dims) != 0)) {
        other_shape(l, t);
        return NULL;
    }
    return t;
}

/* Finds all parameters before memory is taken. */
static bool find_params(const struct model_loading *l, const struct model *m,
                        const struct tensor **tensors)
{
    uint64_t embedded = 0;
    for (uint32_t i = 0; i < m->list.count; i++) {
        const struct param *p = &m->list.items[i];
        if (param_is_embedding(p))
            embedded += p->count;
        else if (!(tensors[i] = find_param(l, p)))
            return false;
    }
    if (!embedded)
        return true;
    const struct tensor *t = need(l, "embeddings", DTYPE_F32);
    if (t && (t->rank != 1 || t->count != embedded))
        return other_shape(l, t);
    for (uint32_t i = 0; t && i < m->list.count; i++)
        if (param_is_embedding(&m->list.items[i]))
            tensors[i] = t;
    return t != NULL;
}

static bool load_params(const struct model_loading *l, const struct model *m)
{
    struct member *member = l->member;
    const struct tensor **tensors = mem_zero((size_t)m->list.count + 1, sizeof(void *));
    bool good = find_params(l, m, tensors);
    uint64_t embedded = 0;
    if (good) {
        member->params = mem_zero(m->params + 1, sizeof(real));
        member->buffers = mem_zero(m->buffers + 1, sizeof(real));
    }
    for (uint32_t i = 0; good && i < m->list.count; i++) {
        const struct param *p = &m->list.items[i];
        uint64_t first = param_is_embedding(p) ? embedded : 0;
        good = modelfile_copy(l, tensors[i], first, p->count,
                              (p->buffer ? member->buffers : member->params) + p->at);
        embedded += param_is_embedding(p) ? p->count : 0;
    }
    mem_free(tensors);
    return good;
}

static bool load_weights(const struct model_loading *l, const struct features *features)
{
    struct member *member = l->member;
    struct err inner = {0};
    struct model *m = model_plan(member->architecture, features, 1, 1, false, &inner);
    if (!m)
        return bad_layers(l, &inner);
    member->param_count = m->params;
    member->buffer_count = m->buffers;
    member->flops = m->flops;
    bool good = load_params(l, m);
    if (good && model_unsound(m, member->buffers) != UINT64_MAX)
        good = modelfile_refuse(l, ERR_MODEL_WEIGHTS, "a running variance is negative");
    model_free(m);
    return good;
}

/* --- members --- */

static bool bad_ensemble(const struct model_loading *l)
{
    return modelfile_refuse(l, ERR_MODEL_WEIGHTS,
                            "\"" IN_WEIGHTS "\" are not the weights of a mean");
}

/* Makes the members, without layers. Weights are at least 0, and one is above 0. */
static bool load_ensemble(const struct model_loading *l)
{
    const struct tensor *weights = tensor_find(l->file, IN_WEIGHTS);
    struct modelfile *f = l->f;
    if (weights && (weights->type != DTYPE_F64 || weights->rank != 1 || !weights->count ||
                    weights->count > MODELFILE_MEMBERS))
        return bad_ensemble(l);
    f->member_count = weights ? (uint32_t)weights->count : 1;
    f->members = mem_zero(f->member_count, sizeof *f->members);
    double sum = 0;
    for (uint32_t i = 0; i < f->member_count; i++) {
        double weight = weights ? ((const double *)weights->data)[i] : 1;
        if (!(weight >= 0 && weight <= 1e9))
            return bad_ensemble(l);
        sum += f->members[i].weight = weight;
    }
    return sum > 0 || bad_ensemble(l);
}

/* The labels and the columns are the same by all encoders. Target statistics may differ. */
static bool same_rows(const struct schema *a, const struct schema *b)
{
    return a->number_count == b->number_count && a->category_count == b->category_count &&
           memcmp(a->offsets, b->offsets, a->number_count * sizeof *a->offsets) == 0;
}

static bool load_encoder(const struct model_loading *l)
{
    struct encoder *first = encoder_load(l->file, 0, l->e);
    if (!first)
        return false;
    l->f->encoders = mem_zero(1, sizeof *l->f->encoders);
    l->f->encoders[l->f->encoder_count++] = first;
    l->f->schema = first->schema;
    return true;
}

/* Reads the encoders beyond 0: members name them without gaps. */
static bool load_encoders(const struct model_loading *l)
{
    struct modelfile *f = l->f;
    const struct tensor *t = tensor_find(l->file, IN_ENCODERS);
    const int64_t *numbers = t ? t->data : NULL;
    int64_t most = 0;
    if (t && (t->type != DTYPE_I64 || t->count != f->member_count))
        return modelfile_refuse(l, ERR_MODEL_WEIGHTS,
                                "\"" IN_ENCODERS "\" does not name an encoder for each member");
    for (uint32_t i = 0; t && i < f->member_count; i++) {
        if (numbers[i] < 0 || numbers[i] >= f->member_count)
            return modelfile_refuse(l, ERR_MODEL_WEIGHTS,
                                    "\"" IN_ENCODERS "\" names an encoder that cannot be");
        most = numbers[i] > most ? numbers[i] : most;
        f->members[i].encoder = (uint32_t)numbers[i];
    }
    f->encoders = mem_grow(f->encoders, (size_t)most + 1, sizeof *f->encoders);
    while (f->encoder_count <= most) {
        struct encoder *c = encoder_load(l->file, f->encoder_count, l->e);
        if (!c)
            return false;
        f->encoders[f->encoder_count++] = c;
        if (!same_rows(f->schema, c->schema))
            return modelfile_refuse(l, ERR_MODEL_SCHEMA, "its encoders are of different columns");
    }
    return true;
}

static bool load_history(struct model_loading *l, uint32_t number)
{
    struct text name = {0};
    text_printf(&name, IN_MEMBER "history", number);
    const struct tensor *t = tensor_find(l->file, name.data);
    text_free(&name);
    if (!t)
        return true;
    bool good = t->type == DTYPE_F64 && t->rank == 2 && t->dims[1] == HISTORY_COLUMNS &&
                t->dims[0] <= UINT32_MAX;
    const double *values = t->data;
    for (uint64_t i = 0; good && i < t->count; i += HISTORY_COLUMNS)
        good = isfinite(values[i + HISTORY_EPOCH]);
    if (!good)
        return modelfile_refuse(l, ERR_MODEL_TENSOR, "the history of its epochs is none");
    l->member->history = mem_copy(values, (size_t)t->count * sizeof(double));
    l->member->epochs = (uint32_t)t->dims[0];
    return true;
}

static bool load_members(struct model_loading *l, uint32_t *outputs)
{
    struct modelfile *f = l->f;
    bool good = load_ensemble(l) && load_encoders(l);
    *outputs = f->schema->task == TASK_REGRESSION ? schema_values(f->schema)
                                                  : vocab_count(f->schema->labels);
    for (uint32_t i = 0; good && i < f->member_count; i++) {
        struct features *features = encoder_features(modelfile_encoder(f, i));
        l->member = &f->members[i];
        good = load_layers(l) && load_weights(l, features) && load_history(l, i);
        features_free(features);
    }
    return good;
}

/* [rows][outputs], of several members [members][rows][outputs]. */
static bool golden_shape(const struct model_loading *l, const struct tensor *logits,
                         uint32_t outputs)
{
    uint32_t rank = l->f->member_count > 1 ? 3 : 2;
    return logits->type == DTYPE_F32 && logits->rank == rank &&
           logits->dims[rank - 1] == outputs && logits->dims[rank - 2] &&
           logits->dims[rank - 2] <= UINT32_MAX &&
           (rank == 2 || logits->dims[0] == l->f->member_count);
}

static bool load_golden(const struct model_loading *l, uint32_t outputs)
{
    struct golden *g = &l->f->golden;
    const struct tensor *logits = tensor_find(l->file, IN_GOLDEN_LOGITS);
    const struct tensor *offsets = tensor_find(l->file, IN_GOLDEN_OFFSETS);
    const struct tensor *text = tensor_find(l->file, IN_GOLDEN_TEXT);
    if (!logits && !offsets && !text)
        return true;
    if (!logits || !offsets || !text || !golden_shape(l, logits, outputs) ||
        offsets->type != DTYPE_I64 || text->type != DTYPE_U8 || offsets->count < 2)
        return modelfile_refuse(l, ERR_MODEL_GOLDEN,
                                "the golden rows are incomplete or of another shape than the "
                                "model");
    uint64_t rows = logits->dims[logits->rank - 2], cells = (offsets->count - 1) / rows;
    if (cells * rows != offsets->count - 1 || cells < 1 || cells > l->f->schema->column_count)
        return modelfile_refuse(l, ERR_MODEL_GOLDEN,
                                "the golden rows do not have a cell for every column");
    const int64_t *at = offsets->data;
    bool rising = at[0] == 0;
    for (uint64_t i = 0; i + 1 < offsets->count && rising; i++)
        rising = at[i] <= at[i + 1];
    if (!rising || (uint64_t)at[offsets->count - 1] != text->count)
        return modelfile_refuse(l, ERR_MODEL_GOLDEN,
                                "the cells of the golden rows do not follow one another");
    g->count = (uint32_t)rows;
    g->cells = (uint32_t)cells;
    g->text = mem_string_n(text->data, text->count);
    g->offsets = mem_copy(offsets->data, offsets->count * sizeof *g->offsets);
    g->logits = mem_alloc(logits->count, sizeof *g->logits);
    return modelfile_copy(l, logits, 0, logits->count, g->logits);
}

/* --- the file --- */

static struct modelfile *load(struct tensor_file *file, struct err *e)
{
    if (!file)
        return NULL;
    struct model_loading l = {file, mem_zero(1, sizeof(struct modelfile)), NULL, e};
    uint32_t outputs;
    bool good = check_kind(&l);
    if (good) {
        load_records(&l);
        good = load_encoder(&l) && load_members(&l, &outputs) &&
               modelfile_load_answer(&l, outputs) && modelfile_load_conformal(&l) &&
               load_golden(&l, outputs) && fingerprint_load(file, &l.f->known, e);
    }
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
