/* config_schema.c - JSON Schema (draft 2020-12) of the config, for editors, from the tables. */
#include "model/layer.h"
#include "model/model.h"
#include "run/config_table.h"

void config_schema(struct text *json)
{
    struct json_out out = {0};
    json_open(&out, NULL, '{');
    json_put_string(&out, "$schema", "https://json-schema.org/draft/2020-12/schema");
    json_put_string(&out, "title", "dnn config");
    opt_schema(config_table, &out);
    json_open(&out, "$defs", '{');
    json_open(&out, "model", '{');
    model_schema(&out);
    json_close(&out, '}');
    layer_schema(&out);
    json_close(&out, '}');
    json_close(&out, '}');
    struct err e = {0};
    struct json_doc *doc = json_parse(out.text.data, out.text.length, "schema", &e);
    if (doc) {
        json_write(json, json_root(doc), 2);
        text_char(json, '\n');
    }
    json_free(doc);
    text_free(&out.text);
}
