/* architecture.c - reads "model": a preset with its options, or layers, or both as
 * architecture_write writes them. */
#include "model/preset/architecture.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

struct explicit_spec {
    const struct json *layers, *output;
};
static const struct option explicit_options[] = {
    {OPT_ROW(struct explicit_spec, layers, OPT_CUSTOM, NULL), .flags = OPT_REQUIRED,
     .schema = "{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/layer\"}}",
     .help = "The hidden layers, in order. The layer to the task's outputs follows them by "
             "itself."},
    {OPT_ROW(struct explicit_spec, output, OPT_CUSTOM, "null"), .flags = OPT_NULLABLE,
     .schema = "{\"type\":[\"object\",\"null\"]}",
     .help = "The layer to the task's outputs, dense or ntk_dense, without units. null: dense "
             "with init small."},
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

/* Makes the output layer of the text, or the default one; after views, one head for each. */
static bool make_output(struct architecture *a, struct err *e)
{
    struct text text = {0};
    uint32_t count;
    const struct layer *last = a->count ? a->layers[a->count - 1] : NULL;
    uint32_t views = last && last->type->views ? last->type->views(last) : 0;
    if (views)
        text_printf(&text, "[{\"type\":\"view_dense\",\"units\":1,\"views\":%u}]", views);
    else
        text_printf(&text, "[{\"units\":1,%s]",
                    a->output_text.data ? a->output_text.data + 1
                                        : "\"type\":\"dense\",\"init\":\"small\"}");
    struct layer **layers = read_text(text.data, text.length, &count, e);
    text_free(&text);
    a->output = layers ? layers[0] : NULL;
    mem_free(layers);
    return a->output != NULL;
}

/* a->preset's layers with a->spec. */
static struct layer **layers_of(const struct architecture *a, uint32_t *count, struct err *e)
{
    struct json_out out = {0};
    struct layer **layers = NULL;
    if (preset_layers(a->preset, a->spec, &out, e))
        layers = read_text(out.text.data, out.text.length, count, e);
    text_free(&out.text);
    return layers;
}

static bool output_of(struct architecture *a, struct err *e)
{
    struct json_out out = {0};
    bool good = !a->preset->output || preset_output(a->preset, a->spec, &out, e);
    if (good && out.text.length) /* without the brackets of the list */
        text_add(&a->output_text, out.text.data + 1, out.text.length - 2);
    text_free(&out.text);
    return good;
}

/* The output layer that the config spells out. */
static bool read_output(struct architecture *a, const struct model_options *o,
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
    json_write(&a->output_text, output, 0);
    if (make_output(a, e) && a->output->type->answers)
        return true;
    if (a->output)
        return json_fail(o->doc, output, e, ERR_CONFIG_CONFLICT,
                         "`%s`: the layer gives no answers; dense and ntk_dense do", key);
    json_place(o->doc, output, &e->line, &e->column); /* it was read apart from the document */
    snprintf(e->file, sizeof e->file, "%s", json_name(o->doc));
    return err_key(e, "%s", key);
}

static bool read_spec(struct architecture *a, const struct json_doc *doc, const struct json *at,
                      bool sequences, struct err *e)
{
    a->spec = mem_zero(1, a->preset->spec_size);
    if (opt_read(a->preset->options, doc, at, "model", a->spec, e)) {
        if (a->preset->settle)
            a->preset->settle(a->spec, doc);
        return true;
    }
    mem_free(a->spec); /* opt_read has released its members */
    a->spec = NULL;
    if (e && e->id == ERR_CONFIG_KEY && a->preset->same_as && !e->help[0])
        err_help(e, "preset \"%s\" chooses the options; a preset that is named takes options: add "
                    "--set model.preset=%s", a->preset->name, sequences ? "gru" : "mlp");
    return false;
}

/* "auto" becomes a preset with its defaults. */
static bool follow(struct architecture *a, bool sequences, struct err *e)
{
    struct text text = {0};
    if (!a->preset->same_as)
        return true;
    const struct preset *chosen = preset_meant(a->preset, sequences);
    opt_release(a->preset->options, a->spec);
    mem_free(a->spec);
    a->spec = NULL;
    a->preset = chosen;
    text_printf(&text, "{\"preset\": \"%s\"}", chosen->name);
    struct json_doc *doc = json_parse_own(text.data, text.length, "preset", e);
    bool good = doc && read_spec(a, doc, json_root(doc), sequences, e);
    json_free(doc);
    text_free(&text);
    return good;
}

static bool same_layers(const struct architecture *a, struct layer *const *layers, uint32_t count)
{
    struct json_out one = {0}, two = {0};
    layer_list_write(a->layers, a->count, NULL, true, &one);
    layer_list_write(layers, count, NULL, true, &two);
    bool same = one.text.length == two.text.length &&
                memcmp(one.text.data, two.text.data, one.text.length) == 0;
    text_free(&one.text);
    text_free(&two.text);
    return same;
}

/* Checks that layers beside a preset equal the preset's. */
static bool read_beside(struct architecture *a, const struct model_options *o,
                        const struct json *list, struct err *e)
{
    uint32_t count;
    struct layer **layers = layer_list_read(o->doc, list, "model.layers", &count, e);
    if (!layers)
        return false;
    bool good = same_layers(a, layers, count);
    layer_list_free(layers, count);
    if (good)
        return true;
    const struct json *word = json_get(o->model, "preset");
    const char *name = word ? json_string(word) : "mlp";
    bool became = strcmp(name, a->preset->name) != 0;
    json_fail(o->doc, list, e, ERR_CONFIG_CONFLICT,
              "`model.layers` is not what `model.preset` \"%s\" gives%s%s%s", name,
              became ? ", which is \"" : " with its options", became ? a->preset->name : "",
              became ? "\" here" : "");
    err_other(e, "model.preset");
    return err_help(e, "leave out `model.layers` to follow the preset, or `model.preset` and its "
                       "options to follow "
                       "the layers");
}

/* Takes out the layers that make one step of many. False: nothing before them reads steps. */
static bool keep_steps(struct architecture *a, struct err *e)
{
    if (a->count && a->layers[0]->type->ends_steps) {
        err_set(e, ERR_CONFIG_CONFLICT, "preset %s makes one answer from all steps of a sequence, "
                "and each row has an answer here (data.sequence.label \"row\")", a->preset->name);
        err_key(e, "model.preset");
        return err_help(e, "take preset lstm, gru, tcn or transformer");
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        struct layer *l = a->layers[i];
        if (!l->type->ends_steps)
            a->layers[kept++] = l;
        else
            layer_free(l);
    }
    a->count = kept;
    return true;
}

static bool read_preset(struct architecture *a, const struct model_options *o, struct err *e)
{
    const struct json *word = o->model ? json_get(o->model, "preset") : NULL;
    const struct json *list = o->model ? json_get(o->model, "layers") : NULL;
    a->preset = word ? preset_of(o->doc, word, e) : preset_find("auto"); /* mlp */
    if (!a->preset)
        return false;
    if (word && !read_spec(a, o->doc, o->model, o->sequences, e))
        return false;
    if (!follow(a, o->sequences, e))
        return false;
    a->layers = layers_of(a, &a->count, e);
    if (a->layers && o->each && !keep_steps(a, e))
        return false;
    return a->layers && output_of(a, e) &&
           (!list || json_kind(list) == JSON_NULL || read_beside(a, o, list, e));
}

/* Anything but layers that are null: a model that says nothing is of the preset mlp. */
static bool says_more(const struct json *model)
{
    for (const struct json *v = json_at(model, 0); v; v = json_next(v))
        if (strcmp(json_key(v), "layers") != 0 || json_kind(v) != JSON_NULL)
            return true;
    return false;
}

static bool read_spelled(struct architecture *a, const struct model_options *o, struct err *e)
{
    struct explicit_spec spec = {0};
    if (opt_read(explicit_options, o->doc, o->model, "model", &spec, e)) {
        a->layers = layer_list_read(o->doc, spec.layers, "model.layers", &a->count, e);
        return a->layers && read_output(a, o, spec.output, e);
    }
    if (e && e->id == ERR_CONFIG_KEY && !json_get(o->model, "layers")) {
        err_expected(e, "one of preset, layers");
        err_help(e, "the preset is auto, which chooses its options; a preset that is named takes "
                    "options: add --set model.preset=%s", o->sequences ? "gru" : "mlp");
    } else if (e && e->id == ERR_CONFIG_KEY) {
        err_help(e, "the options of a preset stand beside its name: \"preset\": \"mlp\"");
    }
    return false;
}

static enum solution solution_of(const struct architecture *a)
{
    const char *name = a->preset ? a->preset->name : "";
    const struct linear_spec *linear = a->spec;
    const struct rocket_preset *rocket = a->spec;
    if (strcmp(name, "linear") == 0 && linear->solver == SOLVER_PATH && linear->l1.count)
        return SOLVED_BY_PATH;
    if (strcmp(name, "rocket") == 0 && rocket->solver == ROCKET_RIDGE)
        return SOLVED_BY_RIDGE;
    return SOLVED_BY_STEPS;
}

struct architecture *architecture_read(const struct model_options *o, struct err *e)
{
    struct architecture *a = mem_zero(1, sizeof *a);
    const struct json *model = o->model;
    bool good;
    if (model && json_kind(model) != JSON_OBJECT)
        good = json_fail(o->doc, model, e, ERR_CONFIG_TYPE, "`model`: expected an object");
    else if (model && !json_get(model, "preset") && says_more(model))
        good = read_spelled(a, o, e);
    else
        good = read_preset(a, o, e);
    if (!good || (!a->output && !make_output(a, e))) {
        architecture_free(a);
        return NULL;
    }
    if (model)
        json_place(o->doc, model, &a->line, &a->column);
    a->file = mem_string(o->doc ? json_name(o->doc) : "");
    a->solution = solution_of(a);
    return a;
}

struct architecture *architecture_stored(const struct json_doc *doc, const struct json *list,
                                         struct err *e)
{
    struct architecture *a = mem_zero(1, sizeof *a);
    a->file = mem_string("");
    a->layers = layer_list_read(doc, list, "layers", &a->count, e);
    if (a->layers && a->count && a->layers[a->count - 1]->type->answers)
        return a;
    if (a->layers)
        err_set(e, ERR_MODEL_CONFIG, "the last layer gives no answers");
    architecture_free(a);
    return NULL;
}

struct architecture *architecture_parse(const char *text, const char *name, struct err *e)
{
    struct json_doc *doc = text ? json_parse(text, strlen(text), name, e) : NULL;
    const struct model_options o = {.doc = doc, .model = doc ? json_root(doc) : NULL};
    struct architecture *a = doc || !text ? architecture_read(&o, e) : NULL;
    json_free(doc);
    return a;
}

void architecture_free(struct architecture *a)
{
    if (!a)
        return;
    if (a->spec)
        opt_release(a->preset->options, a->spec);
    mem_free(a->spec);
    layer_list_free(a->layers, a->count);
    layer_free(a->output);
    text_free(&a->output_text);
    mem_free(a->file);
    mem_free(a);
}

struct layer **architecture_layers(const struct architecture *a, uint32_t outputs,
                                   uint32_t *count)
{
    struct layer **layers = mem_alloc((size_t)a->count + 1, sizeof *layers);
    for (*count = 0; *count < a->count; ++*count)
        layers[*count] = layer_copy(a->layers[*count]);
    if (a->output)
        layers[(*count)++] = layer_copy_wide(a->output, outputs);
    return layers;
}

const struct linear_spec *architecture_path(const struct architecture *a)
{
    return a->solution == SOLVED_BY_PATH ? a->spec : NULL;
}

void architecture_write(const struct architecture *a, struct text *json)
{
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    for (const struct option *row = a->preset ? a->preset->options : NULL; row && row->key; row++)
        if (row->type != OPT_CUSTOM)
            opt_write_value(row, a->spec, row->key, &out);
    layer_list_write(a->layers, a->count, "layers", true, &out);
    if (a->output_text.length)
        json_put_raw(&out, "output", a->output_text.data);
    json_close(&out, '}');
    text_add(json, out.text.data, out.text.length);
    text_free(&out.text);
}

void architecture_schema(struct json_out *out)
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
