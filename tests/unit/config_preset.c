/* config_preset.c - the fragment of config that a preset brings, laid under a document. */
#include "tap.h"

#include "config/config_table.h"
#include "model/preset.h"

/* A preset may set any default; what the document says is kept, right or wrong. */
static void fragments(void)
{
    static const struct preset_defaults defaults[] = {
        {"train.optimizer.type=sgd,train.optimizer.nesterov!=x", "{\"train\": {\"epochs\": 9}}"},
        {"train.optimizer.type!=sgd", "{\"train\": {\"epochs\": 7, \"batch_size\": 32, \"schedule\": {\"type\": "
                  "\"constant\"}, \"loss\": {\"class_weights\": {\"a\": 2}}}, "
                  "\"data\": {\"split\": {\"valid\": 0.3}}, \"backend\": {\"threads\": 3}}"},
        {NULL, "{\"train\": {\"epochs\": 8}}"},
        {0}};
    static const struct preset toy = {.name = "toy", .defaults = defaults};
    static const char text[] = "{\"train\": {\"batch_size\": 16, \"schedule\": 5}}";
    static const char sgd[] = "{\"train\": {\"optimizer\": {\"type\": \"sgd\"}}}";
    struct err e = {0};
    struct text keys = {0}, all = {0}, now = {0};
    struct json_doc *doc = json_parse(text, strlen(text), "c.json", &e);
    ok(config_add_preset(doc, &toy, &keys, &e), "a fragment of config %s", e.what);
    for (size_t at = 0; at < keys.length; at += strlen(keys.data + at) + 1)
        text_printf(&all, "%s ", keys.data + at);
    is_string(all.data, "train.epochs train.loss.class_weights data.split.valid backend.threads ",
              "gives these keys");
    json_write(&now, json_root(doc), 0);
    is_string(now.data,
              "{\"train\":{\"batch_size\":16,\"schedule\":5,\"epochs\":7,\"loss\":"
              "{\"class_weights\":{\"a\":2}}},\"data\":{\"split\":{\"valid\":0.3}},"
              "\"backend\":{\"threads\":3}}",
              "and these values");
    json_free(doc);
    doc = json_parse(sgd, strlen(sgd), "c.json", &e);
    text_clear(&keys);
    text_clear(&now);
    ok(config_add_preset(doc, &toy, &keys, &e), "a config that says so");
    json_write(&now, json_root(doc), 0);
    is_string(now.data, "{\"train\":{\"optimizer\":{\"type\":\"sgd\"},\"epochs\":9}}",
              "gets other ones, the first that counts");
    json_free(doc);
    text_free(&keys);
    text_free(&all);
    text_free(&now);
}

int main(void)
{
    fragments();
    return done();
}
