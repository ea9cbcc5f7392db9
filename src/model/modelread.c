/* modelread.c - reads "model": a preset with its options, or layers, or both as model_resolved
 * writes them. */
#include "model/modelread.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct explicit_spec {
    const struct json *layers, *output;
};
static const struct option explicit_options[] = {
    {.key = "layers",
     .type = OPT_CUSTOM,
     .flags = OPT_REQUIRED,
     .offset = offsetof(struct explicit_spec, layers),
     .schema = "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/layer\"}}",
     .help = "The hidden layers, in order. The layer to the task's outputs follows them by "
             "itself."},
    {.key = "output",
     .type = OPT_CUSTOM,
     .flags = OPT_NULLABLE,
     .offset = offsetof(struct explicit_spec, output),
     .standard = "null",
     .schema = "{\"type\":[\"object\",\"null\"]}",
     .help = "The layer to the task's outputs, dense or ntk_dense, without units. null: dense with "
             "init small."},
    {0},
};

static const struct preset *preset_of(const struct json_doc *doc, const struct json *word,
                                      struct err *e)
{
    if (json_kind(word) != JSON_STRING) {
        json_fail(doc, word, e, ERR_CONFIG_TYPE, "`model.preset`: expected a string");
        return NULL;
    }
    const struct preset *preset = preset_find(json_string(word));
    if (preset)
        return preset;
    const char **names = mem_alloc(preset_count(), sizeof *names);
    for (size_t i = 0; i < preset_count(); i++)
        names[i] = presets[i].name;
    json_fail(doc, word, e, ERR_CONFIG_WORD, "`model.preset`: unknown preset \"%s\"",
              text_quote_z(json_string(word)));
    err_words(e, names, preset_count());
    const char *near = text_nearest(json_string(word), names, preset_count());
    if (near)
        err_help(e, "did you mean `%s`?", near);
    mem_free(names);
    return NULL;
}

static struct layer **read_text(const char *text, size_t length, uint32_t *count, struct err *e)
{
    struct json_doc *doc = json_parse_own(text, length, "preset", e);
    struct layer **layers =
        doc ? layer_list_read(doc, json_root(doc), "model.layers", count, e) : NULL;
    json_free(doc);
    return layers;
}

struct layer **modelread_output(const struct modelread *r, uint32_t outputs, struct err *e)
{
    struct text text = {0};
    uint32_t count;
    const struct layer *last = r->count ? r->layers[r->count - 1] : NULL;
    uint32_t views = last && last->type->views ? last->type->views(last) : 0;
    if (views)
        text_printf(&text, "[{\"type\":\"view_dense\",\"units\":%u,\"views\":%u}]", outputs, views);
    else
        text_printf(&text, "[{\"units\":%u,%s]", outputs,
                    r->output.data ? r->output.data + 1
                                   : "\"type\":\"dense\",\"init\":\"small\"}");
    struct layer **layers = read_text(text.data, text.length, &count, e);
    text_free(&text);
    return layers;
}

/* r->preset's layers with r->spec. */
static struct layer **layers_of(const struct modelread *r, uint32_t *count, struct err *e)
{
    struct json_out out = {0};
    struct layer **layers = NULL;
    if (preset_layers(r->preset, r->spec, &out, e))
        layers = read_text(out.text.data, out.text.length, count, e);
    text_free(&out.text);
    return layers;
}

static bool output_of(struct modelread *r, struct err *e)
{
    struct json_out out = {0};
    bool good = !r->preset->output || preset_output(r->preset, r->spec, &out, e);
    if (good && out.text.length) /* without the brackets of the list */
        text_add(&r->output, out.text.data + 1, out.text.length - 2);
    text_free(&out.text);
    return good;
}

/* The output layer that the config spells out. */
static bool read_output(struct modelread *r, const struct model_options *o,
                        const struct json *output, struct err *e)
{
    static const char key[] = "model.output";
    if (!output || json_kind(output) == JSON_NULL)
        return true;
    if (json_kind(output) != JSON_OBJECT || !json_count(output))
        return json_fail(o->doc, output, e, ERR_CONFIG_TYPE, "`%s`: expected a layer", key);
    if (json_get(output, "units"))
        return json_fail(o->doc, json_get(output, "units"), e, ERR_CONFIG_CONFLICT,
                         "`%s.units`: the task says how many outputs there are", key);
    json_write(&r->output, output, 0);
    struct layer **layers = modelread_output(r, 1, e);
    bool answers = layers && layers[0]->type->answers;
    layer_list_free(layers, layers ? 1 : 0);
    if (answers)
        return true;
    if (layers)
        return json_fail(o->doc, output, e, ERR_CONFIG_CONFLICT,
                         "`%s`: the layer gives no answers; dense and ntk_dense do", key);
    json_place(o->doc, output, &e->line, &e->column); /* it was read apart from the document */
    snprintf(e->file, sizeof e->file, "%s", json_name(o->doc));
    return err_key(e, "%s", key);
}

static bool read_spec(struct modelread *r, const struct json_doc *doc, const struct json *at,
                      bool sequences, struct err *e)
{
    r->spec = mem_zero(1, r->preset->spec_size);
    if (opt_read(r->preset->options, doc, at, "model", r->spec, e)) {
        if (r->preset->settle)
            r->preset->settle(r->spec, doc);
        return true;
    }
    mem_free(r->spec); /* opt_read has released its members */
    r->spec = NULL;
    if (e && e->id == ERR_CONFIG_KEY && r->preset->same_as && !e->help[0])
        err_help(e, "preset \"%s\" chooses by itself; a preset that is named takes options: add "
                    "--set model.preset=%s", r->preset->name, sequences ? "gru" : "mlp");
    return false;
}

/* "auto" becomes a preset with its defaults. */
static bool follow(struct modelread *r, bool sequences, struct err *e)
{
    struct text text = {0};
    if (!r->preset->same_as)
        return true;
    const struct preset *chosen = preset_meant(r->preset, sequences);
    opt_release(r->preset->options, r->spec);
    mem_free(r->spec);
    r->spec = NULL;
    r->preset = chosen;
    text_printf(&text, "{\"preset\": \"%s\"}", chosen->name);
    struct json_doc *doc = json_parse_own(text.data, text.length, "preset", e);
    bool good = doc && read_spec(r, doc, json_root(doc), sequences, e);
    json_free(doc);
    text_free(&text);
    return good;
}

static bool same_layers(const struct modelread *a, struct layer *const *layers, uint32_t count)
{
    struct json_out one = {0}, two = {0};
    layer_list_write(a->layers, a->count, NULL, &one);
    layer_list_write(layers, count, NULL, &two);
    bool same = one.text.length == two.text.length &&
                memcmp(one.text.data, two.text.data, one.text.length) == 0;
    text_free(&one.text);
    text_free(&two.text);
    return same;
}

/* Layers beside a preset must be those that the preset gives. */
static bool read_beside(struct modelread *r, const struct model_options *o, const struct json *list,
                        struct err *e)
{
    uint32_t count;
    struct layer **layers = layer_list_read(o->doc, list, "model.layers", &count, e);
    if (!layers)
        return false;
    bool good = same_layers(r, layers, count);
    layer_list_free(layers, count);
    if (good)
        return true;
    const struct json *word = json_get(o->model, "preset");
    const char *name = word ? json_string(word) : "mlp";
    bool became = strcmp(name, r->preset->name) != 0;
    json_fail(o->doc, list, e, ERR_CONFIG_CONFLICT,
              "`model.layers` is not what `model.preset` \"%s\" gives%s%s%s", name,
              became ? ", which is \"" : " with its options", became ? r->preset->name : "",
              became ? "\" here" : "");
    err_other(e, "model.preset");
    return err_help(e, "leave out `model.layers` to follow the preset, or `model.preset` and its "
                       "options to follow "
                       "the layers");
}

/* Takes out the layers that make one step of many. False: nothing before them reads steps. */
static bool keep_steps(struct modelread *r, struct err *e)
{
    if (r->count && r->layers[0]->type->ends_steps) {
        err_set(e, ERR_CONFIG_CONFLICT, "preset %s makes one answer from all steps of a sequence, "
                "and each row has an answer here (data.sequence.label \"row\")", r->preset->name);
        err_key(e, "model.preset");
        return err_help(e, "take preset lstm, gru, tcn or transformer");
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->count; i++) {
        struct layer *l = r->layers[i];
        if (!l->type->ends_steps)
            r->layers[kept++] = l;
        else
            layer_free(l);
    }
    r->count = kept;
    return true;
}

static bool read_preset(struct modelread *r, const struct model_options *o, struct err *e)
{
    const struct json *word = o->model ? json_get(o->model, "preset") : NULL;
    const struct json *list = o->model ? json_get(o->model, "layers") : NULL;
    r->preset = word ? preset_of(o->doc, word, e) : preset_find("auto"); /* mlp */
    if (!r->preset)
        return false;
    if (word && !read_spec(r, o->doc, o->model, o->sequences, e))
        return false;
    if (!follow(r, o->sequences, e))
        return false;
    r->layers = layers_of(r, &r->count, e);
    if (r->layers && o->each && !keep_steps(r, e))
        return false;
    return r->layers && output_of(r, e) &&
           (!list || json_kind(list) == JSON_NULL || read_beside(r, o, list, e));
}

/* Anything but layers that are null: a model that says nothing is of the preset mlp. */
static bool says_more(const struct json *model)
{
    for (const struct json *v = json_at(model, 0); v; v = json_next(v))
        if (strcmp(json_key(v), "layers") != 0 || json_kind(v) != JSON_NULL)
            return true;
    return false;
}

/* Of a model file: all layers, the output layer last; nothing but the layers counts. */
static bool read_stored(struct modelread *r, const struct model_options *o, struct err *e)
{
    const struct json *list = json_get(o->model, "layers");
    if (!list)
        return err_set(e, ERR_MODEL_CONFIG, "the layers are missing");
    r->layers = layer_list_read(o->doc, list, "layers", &r->count, e);
    if (r->layers && (!r->count || !r->layers[r->count - 1]->type->answers)) {
        modelread_release(r);
        return err_set(e, ERR_MODEL_CONFIG, "the last layer gives no answers");
    }
    return r->layers != NULL;
}

bool modelread(const struct model_options *o, struct modelread *r, struct err *e)
{
    *r = (struct modelread){0};
    const struct json *model = o->model;
    if (o->stored)
        return read_stored(r, o, e);
    bool spelled =
        model && json_kind(model) == JSON_OBJECT && !json_get(model, "preset") && says_more(model);
    bool good;
    if (spelled) {
        struct explicit_spec spec = {0};
        good = opt_read(explicit_options, o->doc, model, "model", &spec, e);
        if (good) {
            r->layers = layer_list_read(o->doc, spec.layers, "model.layers", &r->count, e);
            good = r->layers && read_output(r, o, spec.output, e);
        } else if (e && e->id == ERR_CONFIG_KEY && !json_get(model, "layers")) {
            err_expected(e, "one of preset, layers");
            err_help(e, "the preset is auto, which chooses by itself; a preset that is named takes "
                        "options: add --set model.preset=%s", o->sequences ? "gru" : "mlp");
        } else if (e && e->id == ERR_CONFIG_KEY) {
            err_help(e, "the options of a preset stand beside its name: \"preset\": \"mlp\"");
        }
    } else if (model && json_kind(model) != JSON_OBJECT) {
        good = json_fail(o->doc, model, e, ERR_CONFIG_TYPE, "`model`: expected an object");
    } else {
        good = read_preset(r, o, e);
    }
    if (!good)
        modelread_release(r);
    return good;
}

void modelread_release(struct modelread *r)
{
    if (r->spec)
        opt_release(r->preset->options, r->spec);
    mem_free(r->spec);
    layer_list_free(r->layers, r->count);
    text_free(&r->output);
    *r = (struct modelread){0};
}

/* --- model.h --- */

bool model_check(const struct model_options *o, struct err *e)
{
    struct modelread r;
    if (!modelread(o, &r, e))
        return false;
    modelread_release(&r);
    return true;
}

bool model_path(const struct model_options *o, struct modelread *r)
{
    struct err none = {0};
    if (o->stored || !modelread(o, r, &none))
        return false;
    const struct linear_spec *s = r->spec;
    if (r->preset && strcmp(r->preset->name, "linear") == 0 && s->solver == SOLVER_PATH &&
        s->l1.count)
        return true;
    modelread_release(r);
    return false;
}

bool model_ridge(const struct model_options *o)
{
    struct modelread r;
    struct err none = {0};
    if (o->stored || !modelread(o, &r, &none))
        return false;
    bool is = r.preset && strcmp(r.preset->name, "rocket") == 0 &&
              ((const struct rocket_preset *)r.spec)->solver == ROCKET_RIDGE;
    modelread_release(&r);
    return is;
}

bool model_resolved(const struct model_options *o, struct text *json, struct err *e)
{
    struct modelread r;
    if (!modelread(o, &r, e))
        return false;
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    for (const struct option *row = r.preset ? r.preset->options : NULL; row && row->key; row++)
        if (row->type != OPT_CUSTOM)
            opt_write_value(row, r.spec, row->key, &out);
    layer_list_write(r.layers, r.count, "layers", &out);
    if (r.output.length)
        json_put_raw(&out, "output", r.output.data);
    json_close(&out, '}');
    text_add(json, out.text.data, out.text.length);
    text_free(&out.text);
    modelread_release(&r);
    return true;
}

void model_schema(struct json_out *out)
{
    json_open(out, "oneOf", '[');
    for (size_t i = 0; i < preset_count(); i++) {
        json_open(out, NULL, '{');
        json_put_string(out, "description", presets[i].summary);
        opt_schema(presets[i].options, out);
        json_close(out, '}');
    }
    json_open(out, NULL, '{');
    json_put_string(out, "description", "The layers spelled out.");
    opt_schema(explicit_options, out);
    json_close(out, '}');
    json_open(out, NULL, '{');
    json_put_string(out, "description", "Nothing: the preset mlp.");
    json_put_string(out, "type", "object");
    json_put_raw(out, "properties", "{\"layers\":{\"type\":\"null\"}}");
    json_put_bool(out, "additionalProperties", false);
    json_close(out, '}');
    json_close(out, ']');
}
