/* modelfile_old.c - models of format 2. Their config had to be valid, and held the hidden layers;
 * all parameters are one tensor, "weights.params", and all buffers another, "weights.buffers": each
 * range begins at a multiple of 16, with zeros between, first the embedding tables, then layer by
 * layer. That is the arena of model_plan. */
#include <string.h>

#include "base/mem.h"
#include "model/modelfile_parts.h"

#define OLD_PARAMS "weights.params"
#define OLD_BUFFERS "weights.buffers"

bool modelfile_old_layers(const struct model_loading *l)
{
    const struct json *config = l->f->config ? json_root(l->f->config) : NULL;
    const struct json *list = config ? json_path(config, "model.layers") : NULL;
    struct text text = {0}, output = {0};
    if (!list || json_kind(list) != JSON_LIST)
        return modelfile_refuse(l, ERR_MODEL_CONFIG, "the config inside has no layers");
    const struct schema *s = l->f->schema;
    json_write(&text, list, 0);
    text_printf(&output, "{\"type\":\"dense\",\"units\":%u}",
                s->labels ? vocab_count(s->labels) : 1);
    bool good = modelfile_layers(l, text.data, text.length, output.data);
    text_free(&output);
    text_free(&text);
    return good;
}

static bool load_flat(const struct model_loading *l, const char *name, uint64_t count, real **to)
{
    if (!count)
        return true;
    const struct tensor *t = tensor_need(l->file, name, DTYPE_F32, UINT64_MAX, l->e);
    if (!t)
        return false;
    if (t->count != count)
        return err_at(l->e, ERR_MODEL_WEIGHTS, tensor_file_path(l->file), 0, 0,
                      "tensor \"%s\" has %llu numbers, the layers and the columns need %llu", name,
                      (unsigned long long)t->count, (unsigned long long)count);
    *to = mem_alloc(count, sizeof **to);
    return modelfile_copy(l, t, 0, count, *to);
}

bool modelfile_old_weights(const struct model_loading *l, const struct model *m)
{
    if (!load_flat(l, OLD_PARAMS, m->params, &l->member->params) ||
        !load_flat(l, OLD_BUFFERS, m->buffers, &l->member->buffers))
        return false;
    uint64_t wrong = model_gap(m, l->member->params);
    return wrong == UINT64_MAX ||
           err_at(l->e, ERR_MODEL_WEIGHTS, tensor_file_path(l->file), 0, 0,
                  "tensor \"" OLD_PARAMS "\": number %llu belongs to no parameter of this network "
                  "and is not 0", (unsigned long long)wrong);
}
