/* config_schema.c - JSON Schema (draft 2020-12) of the config, for editors, from the tables. */
#include <string.h>

#include "config/config_help.h"
#include "config/config_table.h"
#include "measure/metric.h"
#include "model/layer.h"
#include "model/network/model.h"
#include "table/schema/sequence.h"

/* Checks beyond the rows of the tables. */
static const struct {
    const char *path, *json;
} rules[] = {
    {"properties.data.properties.delimiter.enum", "[\",\",\";\",\"\\t\",\"|\"]"},
    {"properties.data.properties.train.minItems", "1"},
    {"properties.data.properties.train.minLength", "1"},
    {"properties.data.properties.train.items.minLength", "1"},
    {"properties.data.properties.valid.items.minLength", "1"},
    {"properties.data.properties.test.items.minLength", "1"},
    {"properties.data.properties.valid.minLength", "1"},
    {"properties.data.properties.test.minLength", "1"},
    {"properties.data.properties.target.minLength", "1"},
    {"properties.output.properties.model.minLength", "1"},
    {"properties.output.properties.metrics.minLength", "1"},
    {"properties.train.properties.optimizer.properties.betas.minItems", "2"},
    {"properties.train.properties.optimizer.properties.betas.maxItems", "2"},
    {"properties.backend.properties.device.pattern",
     "\"^(auto|(cuda:)?[0-9]{1,4}|(GPU|MIG)-[0-9a-fA-FGPU/-]{1,75})$\""},
};

static bool put_rules(struct json_doc *doc, struct err *e)
{
    bool good = true;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        good = good && json_set(doc, rules[i].path, rules[i].json, e);
    return good;
}

/* Keys of the contract that may be null and nothing else. */
static bool put_absent(struct json_doc *doc, struct err *e)
{
    bool good = true;
    for (size_t i = 0; config_absent[i]; i++) {
        struct text path = {0};
        if (opt_find(config_table, config_absent[i]))
            continue;
        for (const char *key = config_absent[i]; *key;) {
            size_t length = strcspn(key, ".");
            text_put(&path, path.length ? ".properties." : "properties.");
            text_add(&path, key, length);
            key += length + (key[length] == '.');
        }
        good = good && json_set(doc, path.data, "{\"type\":\"null\"}", e);
        text_free(&path);
    }
    return good;
}

static bool put_metrics(struct json_doc *doc, struct err *e)
{
    struct json_out names = {0};
    json_open(&names, NULL, '[');
    json_put_string(&names, NULL, "auto");
    for (const struct metric_type *t = metric_types; t->name; t++)
        json_put_string(&names, NULL, t->name);
    json_put_string(&names, NULL, metric_loss.name);
    json_close(&names, ']');
    bool good =
        json_set(doc, "properties.train.properties.early_stopping.properties.metric.enum",
                 names.text.data, e);
    text_free(&names.text);
    return good;
}

void config_schema(struct text *json)
{
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    json_put_string(&out, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_string(&out, "title", "dnn config");
    opt_schema(config_table, &out);
    json_open(&out, "$defs", '{');
    json_open(&out, "model", '{');
    architecture_schema(&out);
    json_close(&out, '}');
    layer_schema(&out);
    columns_schema(&out);
    sequence_schema(&out);
    json_close(&out, '}');
    json_close(&out, '}');
    struct err e = {0};
    struct json_doc *doc = json_parse(out.text.data, out.text.length, "schema", &e);
    if (doc && put_rules(doc, &e) && put_metrics(doc, &e) && put_absent(doc, &e)) {
        json_write(json, json_root(doc), 2);
        text_char(json, '\n');
    }
    json_free(doc);
    text_free(&out.text);
}
