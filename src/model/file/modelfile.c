/* modelfile.c - writing a model. */
#include "model/file/modelfile.h"
#include "model/file/modelfile_parts.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "model/loss.h"

/* A longer config is a tensor: the header of the file holds at most 1 MiB. */
#define META_MOST ((size_t)64 << 10)

void plan_write(const struct plan *p, struct json_out *out)
{
    json_put_string(out, "backend", p->backend);
    json_put_string(out, "core", p->core);
    json_put_string(out, "blas", p->blas);
    json_put_string(out, "blas_core", p->blas_core);
    json_put_string(out, "precision", p->precision);
    if (p->guests[0])
        json_put_string(out, "guests", p->guests);
    json_put_int(out, "batch", p->batch);
    json_put_int(out, "micro", p->micro);
    json_put_int(out, "shards", p->shards);
    if (p->tracks)
        json_put_int(out, "tracks", p->tracks);
    json_put_int(out, "version", p->version);
}

static bool read_word(const struct json *object, const char *key, char *to, size_t room)
{
    const struct json *v = json_get(object, key);
    if (!v || json_kind(v) != JSON_STRING || strlen(json_string(v)) >= room)
        return false;
    memset(to, 0, room);
    memcpy(to, json_string(v), strlen(json_string(v)));
    return true;
}

static bool read_count(const struct json *object, const char *key, uint32_t *to)
{
    const struct json *v = json_get(object, key);
    int64_t value;
    if (!v || json_kind(v) != JSON_NUMBER || !json_integer(v, &value) || value < 0 ||
        value > UINT32_MAX)
        return false;
    *to = (uint32_t)value;
    return true;
}

/* Plans of earlier files do not tell which OpenBLAS it was. */
static bool read_blas(const struct json *object, struct plan *p)
{
    memcpy(p->blas, "none", sizeof "none");
    return !json_get(object, "blas") || read_word(object, "blas", p->blas, sizeof p->blas);
}

bool plan_read(const struct json *object, struct plan *p)
{
    *p = (struct plan){0};
    return json_kind(object) == JSON_OBJECT &&
           read_word(object, "backend", p->backend, sizeof p->backend) &&
           read_word(object, "core", p->core, sizeof p->core) &&
           read_blas(object, p) &&
           read_word(object, "blas_core", p->blas_core, sizeof p->blas_core) &&
           read_word(object, "precision", p->precision, sizeof p->precision) &&
           (!json_get(object, "guests") ||
            read_word(object, "guests", p->guests, sizeof p->guests)) &&
           read_count(object, "batch", &p->batch) && read_count(object, "micro", &p->micro) &&
           read_count(object, "shards", &p->shards) &&
           (!json_get(object, "tracks") || read_count(object, "tracks", &p->tracks)) &&
           read_count(object, "version", &p->version);
}

/* --- parameters --- */

/* float32 copies if real is another type, and the stacked embeddings. */
struct copies {
    float **items;
    uint32_t count;
};

static const float *as_floats(struct copies *c, const real *from, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        assert(isfinite(from[i])); /* modelfile_load would refuse it */
    if (sizeof(real) == sizeof(float))
        return (const void *)from;
    float *to = mem_alloc(count ? count : 1, sizeof *to);
    for (uint64_t i = 0; i < count; i++)
        to[i] = (float)from[i];
    c->items = mem_grow(c->items, (size_t)c->count + 1, sizeof *c->items);
    return c->items[c->count++] = to;
}

static void add_embeddings(const struct member *member, uint32_t number, const struct model *m,
                           struct tensor_writer *w, struct copies *c)
{
    struct text name = {0};
    uint64_t count = 0, at = 0;
    for (uint32_t i = 0; i < m->list.count; i++)
        count += param_is_embedding(&m->list.items[i]) ? m->list.items[i].count : 0;
    if (!count)
        return;
    float *all = mem_alloc(count, sizeof *all);
    for (uint32_t i = 0; i < m->list.count; i++) {
        const struct param *p = &m->list.items[i];
        for (uint64_t k = 0; param_is_embedding(p) && k < p->count; k++)
            all[at++] = (float)member->params[p->at + k];
    }
    c->items = mem_grow(c->items, (size_t)c->count + 1, sizeof *c->items);
    c->items[c->count++] = all;
    text_printf(&name, IN_MEMBER "embeddings", number);
    tensor_add(w, name.data, DTYPE_F32, 1, &count, all);
    text_free(&name);
}

/* member NULL: names and shapes alone, to see whether they fit. */
static void add_params(const struct member *member, uint32_t number, const struct model *m,
                       struct tensor_writer *w, struct copies *c)
{
    struct text name = {0};
    for (uint32_t i = 0; i < m->list.count; i++) {
        const struct param *p = &m->list.items[i];
        if (param_is_embedding(p))
            continue;
        const real *from =
            !member ? NULL : (p->buffer ? member->buffers : member->params) + p->at;
        text_clear(&name);
        text_printf(&name, IN_MEMBER "%s", number, p->name);
        tensor_add(w, name.data, DTYPE_F32, p->shape.rank, p->shape.dims,
                   from ? (const void *)as_floats(c, from, p->count) : "");
    }
    text_free(&name);
    if (member)
        add_embeddings(member, number, m, w, c);
}

static void copies_free(struct copies *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        mem_free(c->items[i]);
    mem_free(c->items);
}

/* --- layers and metadata --- */

static void add_text(struct tensor_writer *w, const char *name, const char *text, bool in_meta)
{
    const uint64_t length = strlen(text);
    if (in_meta && length <= META_MOST)
        tensor_meta(w, name, text);
    else
        tensor_add(w, name, DTYPE_U8, 1, &length, text);
}

static void add_meta(const struct modelfile *f, struct tensor_writer *w)
{
    struct json_out plan = {0};
    tensor_meta(w, "kind", "model");
    tensor_meta(w, "format", TEXT_DIGITS(MODELFILE_FORMAT));
    if (f->config_text)
        add_text(w, IN_CONFIG, f->config_text, true);
    json_open(&plan, NULL, '{');
    plan_write(&f->plan, &plan);
    json_close(&plan, '}');
    tensor_meta(w, "plan", plan.text.data);
    tensor_meta(w, "metrics", f->metrics_text ? f->metrics_text : "{}");
    text_free(&plan.text);
}

static void add_golden(const struct modelfile *f, uint32_t outputs, struct tensor_writer *w,
                       struct copies *c)
{
    const struct golden *g = &f->golden;
    if (!g->count)
        return;
    const uint64_t offsets = (uint64_t)g->count * g->cells + 1, text = g->offsets[offsets - 1];
    const uint64_t logits[3] = {f->member_count, g->count, outputs};
    bool one = f->member_count == 1;
    tensor_add(w, IN_GOLDEN_LOGITS, DTYPE_F32, one ? 2 : 3, logits + one,
               as_floats(c, g->logits, logits[0] * logits[1] * logits[2]));
    tensor_add(w, IN_GOLDEN_OFFSETS, DTYPE_I64, 1, &offsets, g->offsets);
    tensor_add(w, IN_GOLDEN_TEXT, DTYPE_U8, 1, &text, text ? g->text : "");
}

static void add_member(const struct modelfile *f, uint32_t number, const struct model *m,
                       struct json_out *layers, struct tensor_writer *w, struct copies *c)
{
    struct text name = {0};
    layer_list_write(m->layers, m->layer_count, NULL, false, layers);
    text_printf(&name, IN_MEMBER "layers", number);
    add_text(w, name.data, layers->text.data, false);
    add_params(&f->members[number], number, m, w, c);
    const uint64_t shape[2] = {f->members[number].epochs, HISTORY_COLUMNS};
    text_clear(&name);
    text_printf(&name, IN_MEMBER "history", number);
    if (shape[0])
        tensor_add(w, name.data, DTYPE_F64, 2, shape, f->members[number].history);
    text_free(&name);
}

/* One member alone needs no weight. */
static double *add_weights(const struct modelfile *f, struct tensor_writer *w)
{
    const uint64_t count = f->member_count;
    if (count == 1)
        return NULL;
    double *weights = mem_alloc(count, sizeof *weights);
    for (uint64_t i = 0; i < count; i++)
        weights[i] = f->members[i].weight;
    tensor_add(w, IN_WEIGHTS, DTYPE_F64, 1, &count, weights);
    return weights;
}

/* The encoder of each member; nothing is written if there is one for all. */
static int64_t *add_encoders(const struct modelfile *f, struct tensor_writer *w)
{
    const uint64_t count = f->member_count;
    if (f->encoder_count == 1)
        return NULL;
    int64_t *numbers = mem_alloc(count, sizeof *numbers);
    for (uint64_t i = 0; i < count; i++)
        numbers[i] = f->members[i].encoder;
    tensor_add(w, IN_ENCODERS, DTYPE_I64, 1, &count, numbers);
    return numbers;
}

static void add_calibration(const struct calibration *c, double range[2], struct tensor_writer *w)
{
    static const uint64_t one = 1, two = 2;
    const uint64_t classes = c->classes;
    range[0] = c->low;
    range[1] = c->high;
    if (c->limited)
        tensor_add(w, IN_RANGE, DTYPE_F64, 1, &two, range);
    if (!(c->scale > 0))
        return;
    tensor_add(w, IN_SCALE, DTYPE_F64, 1, &one, &c->scale);
    tensor_add(w, IN_SHIFT, DTYPE_F64, 1, &classes, c->shift);
}

bool modelfile_prepare(const struct modelfile *f, const struct model *const *plans,
                       const char *path, struct outfile *o, char digest[65], struct err *e)
{
    struct tensor_writer *w = tensor_writer_new();
    struct json_out *layers = mem_zero(f->member_count, sizeof *layers);
    struct copies copies = {0};
    add_meta(f, w);
    struct encoder_saved **kept = mem_zero(f->encoder_count, sizeof *kept);
    for (uint32_t i = 0; i < f->encoder_count; i++)
        kept[i] = encoder_save(f->encoders[i], i, w);
    for (uint32_t i = 0; i < f->member_count; i++)
        add_member(f, i, plans[i], &layers[i], w, &copies);
    double *weights = add_weights(f, w);
    int64_t *numbers = add_encoders(f, w);
    static const uint64_t one = 1;
    const uint64_t classes = f->decision.classes;
    if (f->decision.threshold > 0)
        tensor_add(w, IN_THRESHOLD, DTYPE_F64, 1, &one, &f->decision.threshold);
    if (f->decision.offset)
        tensor_add(w, IN_DECISION, DTYPE_F64, 1, &classes, f->decision.offset);
    double range[2], conformal[CONFORMAL_NUMBERS];
    add_calibration(&f->calibration, range, w);
    modelfile_add_conformal(&f->conformal, conformal, w);
    const uint64_t outputs = plans[0]->outputs;
    if (f->class_weight)
        tensor_add(w, IN_CLASS_WEIGHT, DTYPE_F32, 1, &outputs, f->class_weight);
    add_golden(f, plans[0]->outputs, w, &copies);
    if (f->known)
        fingerprint_save(f->known, w);
    bool good = tensor_prepare(w, path, o, digest, e);
    copies_free(&copies);
    for (uint32_t i = 0; i < f->encoder_count; i++)
        encoder_saved_free(kept[i]);
    mem_free(kept);
    mem_free(numbers);
    mem_free(weights);
    for (uint32_t i = 0; i < f->member_count; i++)
        text_free(&layers[i].text);
    mem_free(layers);
    tensor_writer_free(w);
    return good;
}

bool modelfile_save(const struct modelfile *f, const struct model *const *plans, const char *path,
                    char digest[65], struct err *e)
{
    struct outfile o;
    return modelfile_prepare(f, plans, path, &o, digest, e) && outfile_commit(&o, e);
}

/* Bytes of the header beside the parameters: metadata twice, for their quotes, and tensors of the
 * schema. */
#define OTHERS_MOST (2 * META_MOST + ((size_t)64 << 10))

bool modelfile_holds(const struct model *m, struct err *e)
{
    struct tensor_writer *w = tensor_writer_new();
    add_params(NULL, 0, m, w, NULL);
    bool fits = tensor_fits(w, OTHERS_MOST);
    tensor_writer_free(w);
    if (fits)
        return true;
    err_set(e, ERR_CONFIG_SIZE, "the model has more parameters with a name than a model file "
                                "holds");
    err_key(e, "model");
    return err_help(e, "make the layers fewer");
}

void modelfile_free(struct modelfile *f)
{
    if (!f)
        return;
    for (uint32_t i = 0; i < f->encoder_count; i++)
        encoder_free(f->encoders[i]);
    mem_free(f->encoders);
    json_free(f->config);
    mem_free(f->config_text);
    mem_free(f->metrics_text);
    calibration_free(&f->calibration);
    decision_free(&f->decision);
    mem_free(f->class_weight);
    for (uint32_t i = 0; i < f->member_count; i++) {
        architecture_free(f->members[i].architecture);
        mem_free(f->members[i].params);
        mem_free(f->members[i].buffers);
        mem_free(f->members[i].history);
    }
    mem_free(f->members);
    mem_free(f->golden.text);
    mem_free(f->golden.offsets);
    mem_free(f->golden.logits);
    fingerprint_free(f->known);
    mem_free(f);
}

const struct encoder *modelfile_encoder(const struct modelfile *f, uint32_t member)
{
    return f->encoders[f->members[member].encoder];
}

double modelfile_quantile(const struct modelfile *f)
{
    const struct loss_options loss = modelfile_loss(f);
    return loss_quantile(&loss);
}

/* The labels of a schema as texts, for loss_choose_labels. */
static void choose_labels(const struct vocab *all, struct loss_options *o, struct err *e)
{
    const uint32_t count = vocab_count(all);
    char **labels = mem_zero(count + 1, sizeof *labels);
    for (uint32_t c = 0; c < count; c++) {
        size_t length;
        const char *label = vocab_text(all, c, &length);
        labels[c] = mem_string_n(label, length);
    }
    loss_choose_labels(o, (const char *const *)labels, count, e);
    for (uint32_t c = 0; c < count; c++)
        mem_free(labels[c]);
    mem_free(labels);
}

struct loss_options modelfile_loss(const struct modelfile *f)
{
    const bool classes = f->schema->task != TASK_REGRESSION;
    const struct json *record = f->config ? json_path(json_root(f->config), "train.loss") : NULL;
    struct loss_options o = {0};
    struct err ignored = {0};
    if (!opt_read(loss_options_table, f->config, record, "train.loss", &o, &ignored) ||
        !loss_read(&o, f->config, classes, &ignored)) {
        loss_release(&o);
        o = (struct loss_options){.kind = classes ? LOSS_CROSS_ENTROPY : LOSS_MSE};
    }
    o.q_count = f->schema->quantile_count; /* the answers say more than the config's record */
    if (o.q_count) {
        o.kind = LOSS_QUANTILE;
        memcpy(o.q, f->schema->quantiles, o.q_count * sizeof *o.q);
    }
    if (o.kind == LOSS_SOFT_F1)
        choose_labels(f->schema->labels, &o, &ignored);
    loss_release(&o);
    return o;
}
