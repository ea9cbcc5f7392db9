/* model_preset.c - the lists of layers that presets give: values of options put into a text. */
#include "base/mem.h"
#include "model/layer.h"
#include "model/preset/preset.h"
#include "tap.h"

struct toy_spec {
    int preset;
    struct opt_ints hidden;
    int norm;
    double dropout;
    bool bias;
    const struct json *layers;
};
static const char *const toy_words[] = {"toy", NULL};
static const char *const norm_words[] = {"none", "layer", NULL};
static const struct option toy_options[] = {
    {.key = "preset", .type = OPT_WORD, .flags = OPT_REQUIRED, .words = toy_words},
    {.key = "hidden", .type = OPT_INTS, .offset = offsetof(struct toy_spec, hidden),
     .standard = "[8, 4]", .low = 1, .high = 100},
    {.key = "norm", .type = OPT_WORD, .offset = offsetof(struct toy_spec, norm),
     .standard = "\"none\"", .words = norm_words},
    {.key = "dropout", .type = OPT_NUMBER, .offset = offsetof(struct toy_spec, dropout),
     .standard = "0.5", .low = 0, .high = 1},
    {.key = "bias", .type = OPT_BOOL, .offset = offsetof(struct toy_spec, bias),
     .standard = "true"},
    {0},
};
static const struct preset toy = {
    .name = "toy",
    .options = toy_options,
    .spec_size = sizeof(struct toy_spec),
    .layers = "[{\"each\": \"hidden\", \"layers\": [{\"type\": \"residual\", \"layers\": "
              "[{\"if\": \"{norm}\", \"type\": \"{norm}_norm\"}, {\"type\": \"dense\", \"units\": "
              "\"{hidden}\", \"bias\": \"{bias}\"}]}]}, "
              "{\"if\": \"{dropout}\", \"type\": \"dropout\", \"p\": \"{dropout}\"}]"};

/* What `options` give, and that it can be read as layers. */
static void gives(const struct preset *p, const char *options, const char *want)
{
    struct err e = {0};
    struct json_doc *doc = json_parse(options, strlen(options), "options", &e);
    void *spec = mem_zero(1, p->spec_size);
    struct json_out out = {0};
    ok(doc && opt_read(p->options, doc, json_root(doc), "model", spec, &e), "%s %s", options,
       e.what);
    ok(preset_layers(p, spec, &out, &e), "  gives layers");
    if (want)
        is_string(out.text.data, want, "  these");
    struct json_doc *list = json_parse(out.text.data, out.text.length, "layers", &e);
    uint32_t count;
    struct layer **layers = layer_list_read(list, json_root(list), "model.layers", &count, &e);
    ok(layers != NULL, "  that can be read %s", e.what);
    layer_list_free(layers, count);
    opt_release(p->options, spec);
    mem_free(spec);
    json_free(doc);
    json_free(list);
    text_free(&out.text);
}

int main(void)
{
    gives(&toy, "{\"preset\": \"toy\"}",
          "[{\"type\":\"residual\",\"layers\":[{\"type\":\"dense\",\"units\":8,\"bias\":true}]},"
          "{\"type\":\"residual\",\"layers\":[{\"type\":\"dense\",\"units\":4,\"bias\":true}]},"
          "{\"type\":\"dropout\",\"p\":0.5}]");
    gives(&toy,
          "{\"preset\": \"toy\", \"hidden\": [3], \"norm\": \"layer\", \"dropout\": 0, "
          "\"bias\": false}",
          "[{\"type\":\"residual\",\"layers\":[{\"type\":\"layer_norm\"},"
          "{\"type\":\"dense\",\"units\":3,\"bias\":false}]}]");
    gives(&toy, "{\"preset\": \"toy\", \"hidden\": [], \"dropout\": 0}", "[]");
    for (size_t i = 0; i < preset_count(); i++) {
        struct text options = {0};
        text_printf(&options, "{\"preset\": \"%s\"}", presets[i].name);
        if (presets[i].same_as)
            ok(preset_find(presets[i].same_as) != NULL, "%s is another one", presets[i].name);
        else
            gives(&presets[i], options.data, NULL);
        text_free(&options);
    }
    return done();
}
