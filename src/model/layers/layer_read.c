/* layer_read.c - the list of layer types, and layers read from JSON. */
#include "model/layer.h"

#include <string.h>

#include "base/mem.h"

const struct layer_type *const layer_types[] = {
#define LAYER(name) &layer_##name,
#include "model/layers/layers.def"
    NULL,
};

const struct layer_type *layer_find(const char *name)
{
    for (const struct layer_type *const *t = layer_types; *t; t++)
        if (strcmp((*t)->name, name) == 0)
            return *t;
    return NULL;
}

static bool unknown_type(const struct json_doc *doc, const struct json *v, const char *path,
                         struct err *e)
{
    const char *names[sizeof layer_types / sizeof *layer_types];
    size_t count = 0;
    for (; layer_types[count]; count++)
        names[count] = layer_types[count]->name;
    json_fail(doc, v, e, ERR_CONFIG_WORD, "`%s.type`: unknown layer \"%s\"", path,
              text_quote_z(json_string(v)));
    err_words(e, names, count);
    const char *near = text_nearest(json_string(v), names, count);
    return near ? err_help(e, "did you mean `%s`?", near) : false;
}

static const struct layer_type *type_of(const struct json_doc *doc, const struct json *at,
                                        const char *path, struct err *e)
{
    if (json_kind(at) != JSON_OBJECT) {
        json_fail(doc, at, e, ERR_CONFIG_TYPE, "`%s`: expected an object", path);
        err_help(e, "a layer is written {\"type\": \"dense\", \"units\": 128}");
        return NULL;
    }
    const struct json *type = json_get(at, "type");
    if (!type || json_kind(type) != JSON_STRING) {
        json_fail(doc, type ? type : at, e, type ? ERR_CONFIG_TYPE : ERR_CONFIG_MISSING_KEY,
                  type ? "`%s.type`: expected a string" : "`%s.type` is missing", path);
        err_help(e, "a layer is written {\"type\": \"dense\", \"units\": 128}");
        return NULL;
    }
    const struct layer_type *found = layer_find(json_string(type));
    if (!found)
        unknown_type(doc, type, path, e);
    return found;
}

static struct layer *layer_read(const struct json_doc *doc, const struct json *at, const char *path,
                                struct err *e)
{
    const struct layer_type *type = type_of(doc, at, path, e);
    if (!type)
        return NULL;
    struct layer *l = layer_new(type);
    if (!opt_read(type->options, doc, at, path, l->spec, e)) {
        mem_free(l->spec); /* opt_read has released its members */
        mem_free(l);
        return NULL;
    }
    if (type->nests) {
        struct text inside = {0};
        text_printf(&inside, "%s.layers", path);
        l->children = layer_list_read(doc, json_get(at, "layers"), inside.data, &l->child_count, e);
        text_free(&inside);
    }
    if ((type->nests && !l->children) || (type->check && !type->check(l, doc, at, path, e))) {
        layer_free(l);
        return NULL;
    }
    return l;
}

struct layer **layer_list_read(const struct json_doc *doc, const struct json *list,
                               const char *path, uint32_t *count, struct err *e)
{
    *count = 0;
    if (json_kind(list) != JSON_LIST) {
        json_fail(doc, list, e, ERR_CONFIG_TYPE, "`%s`: expected a list of layers", path);
        return NULL;
    }
    if (json_count(list) > LAYER_MOST) {
        json_fail(doc, list, e, ERR_CONFIG_RANGE, "`%s`: %zu layers; at most %d are allowed", path,
                  json_count(list), LAYER_MOST);
        return NULL;
    }
    struct layer **layers = mem_zero(json_count(list) + 1, sizeof(struct layer *));
    struct text place = {0};
    bool good = true;
    for (const struct json *at = json_at(list, 0); at && good; at = json_next(at)) {
        text_clear(&place);
        text_printf(&place, "%s.%u", path, *count);
        layers[*count] = layer_read(doc, at, place.data, e);
        good = layers[*count] != NULL;
        *count += good;
    }
    text_free(&place);
    if (good)
        return layers;
    layer_list_free(layers, *count);
    *count = 0;
    return NULL;
}

void layer_schema(struct json_out *out)
{
    json_open(out, "layer", '{');
    json_open(out, "oneOf", '[');
    for (const struct layer_type *const *t = layer_types; *t; t++) {
        json_open(out, NULL, '{');
        json_put_string(out, "description", (*t)->summary);
        opt_schema((*t)->options, out);
        json_close(out, '}');
    }
    json_close(out, ']');
    json_close(out, '}');
}
