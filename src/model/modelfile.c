/* modelfile.c - writing a model. */
#include "model/modelfile.h"
#include "model/modelfile_tensors.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

#define META_MOST                                                                                  \
    ((size_t)256 << 10) /* a longer config is a tensor: the header holds at most 1 MiB */

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
           read_count(object, "version", &p->version);
}

/* The tensors are float32 whatever real is, and finite, or modelfile_load would refuse them;
 * mem_free. NULL when there are none, or where they lie as they are to be written. */
static float *add_reals(struct tensor_writer *w, const char *name, const real *from, unsigned rank,
                        const uint64_t *dims)
{
    uint64_t count = rank > 1 ? dims[0] * dims[1] : dims[0];
    if (!count)
        return NULL;
    for (uint64_t i = 0; i < count; i++)
        assert(isfinite(from[i]));
    if (sizeof(real) == sizeof(float)) {
        tensor_add(w, name, DTYPE_F32, rank, dims, from);
        return NULL;
    }
    float *values = mem_alloc(count, sizeof *values);
    for (uint64_t i = 0; i < count; i++)
        values[i] = (float)from[i];
    tensor_add(w, name, DTYPE_F32, rank, dims, values);
    return values;
}

/* In the metadata, or a tensor when it is long. */
static void add_text(struct tensor_writer *w, const char *name, const char *text)
{
    const uint64_t length = strlen(text);
    if (length <= META_MOST)
        tensor_meta(w, name, text);
    else
        tensor_add(w, name, DTYPE_U8, 1, &length, text);
}

static void add_meta(const struct modelfile *f, struct tensor_writer *w)
{
    struct json_out plan = {0};
    struct text format = {0};
    text_printf(&format, "%d", MODELFILE_FORMAT);
    tensor_meta(w, "kind", "model");
    tensor_meta(w, "format", format.data);
    add_text(w, IN_CONFIG, f->config_text);
    if (f->layout_text)
        add_text(w, IN_LAYOUT, f->layout_text);
    json_open(&plan, NULL, '{');
    plan_write(&f->plan, &plan);
    json_close(&plan, '}');
    tensor_meta(w, "plan", plan.text.data);
    tensor_meta(w, "metrics", f->metrics_text ? f->metrics_text : "{}");
    text_free(&plan.text);
    text_free(&format);
}

static uint32_t outputs_of(const struct schema *s)
{
    return s->labels ? vocab_count(s->labels) : 1;
}

bool modelfile_save(const struct modelfile *f, const char *path, char digest[65], struct err *e)
{
    struct tensor_writer *w = tensor_writer_new();
    const struct golden *g = &f->golden;
    const uint64_t offsets = (uint64_t)g->count * g->cells + 1,
                   text = g->count ? g->offsets[offsets - 1] : 0;
    const uint64_t logits[2] = {g->count, outputs_of(f->schema)};
    add_meta(f, w);
    struct schema_saved *kept = schema_save(f->schema, w);
    float *floats[3] = {
        add_reals(w, IN_PARAMS, f->params, 1, &f->param_count),
        add_reals(w, IN_BUFFERS, f->buffers, 1, &f->buffer_count),
        add_reals(w, IN_GOLDEN_LOGITS, g->logits, 2, logits),
    };
    if (g->count) {
        tensor_add(w, IN_GOLDEN_OFFSETS, DTYPE_I64, 1, &offsets, g->offsets);
        tensor_add(w, IN_GOLDEN_TEXT, DTYPE_U8, 1, &text, text ? g->text : "");
    }
    bool good = tensor_write(w, path, digest, e);
    for (int i = 0; i < 3; i++)
        mem_free(floats[i]);
    schema_saved_free(kept);
    tensor_writer_free(w);
    return good;
}

void modelfile_free(struct modelfile *f)
{
    if (!f)
        return;
    schema_free(f->schema);
    json_free(f->config);
    mem_free(f->config_text);
    mem_free(f->metrics_text);
    mem_free(f->params);
    mem_free(f->buffers);
    mem_free(f->golden.text);
    mem_free(f->golden.offsets);
    mem_free(f->golden.logits);
    mem_free(f);
}

struct model_options modelfile_model(const struct modelfile *f)
{
    return (struct model_options){.doc = f->config,
                                  .model = json_get(json_root(f->config), "model"),
                                  .stored = true};
}
