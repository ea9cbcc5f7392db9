/* config_write.c - the config with every key filled in. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "config/config_table.h"

/* Keys that a model file must not hold: it may not depend on place, time or size of the machine
 * that made it. */
static const char *const not_portable[] = {"data.train",
                                           "data.valid",
                                           "data.test",
                                           "data.reader",
                                           "data.workers",
                                           "data.min_rows",
                                           "output",
                                           "tune",
                                           "train.time_limit_s",
                                           "train.checkpoint",
                                           "backend.threads",
                                           "backend.device",
                                           "backend.guests", /* the plan says who served */
                                           "backend.memory_limit_gb",
                                           "backend.memory_fraction",
                                           "backend.predict_batch_size"};

/* Keys of data.split that a split by a column does not read. */
static const char *const shares[] = {"data.split.valid", "data.split.test"};

/* The members of the config in memory, but files and the backend as the document says them. */
static void write_members(const struct config *c, const struct config *raw, bool loaded,
                          struct json_out *out)
{
    struct config view = *raw;
    if (loaded) {
        view.data = c->data;
        view.data.train = raw->data.train;
        view.data.valid = raw->data.valid;
        view.data.test = raw->data.test;
        view.train = c->train;
        view.ensemble = c->ensemble;
    }
    json_open(out, NULL, '{');
    opt_write(config_table, &view, out);
    json_close(out, '}');
}

static bool put_model(struct json_doc *doc, const struct config *c, struct err *e)
{
    struct text model = {0};
    architecture_write(c->architecture, &model);
    bool good = json_set(doc, "model", model.data, e);
    text_free(&model);
    return good;
}

bool config_resolved(const struct config *c, const struct features *f, bool portable,
                     struct text *json, struct err *e)
{
    struct config raw = {0};
    if (!opt_read(config_table, c->doc, json_root(c->doc), "", &raw, e))
        return false;
    struct json_out out = {0};
    write_members(c, &raw, f || portable, &out);
    opt_release(config_table, &raw);
    struct json_doc *doc = json_parse_own(out.text.data, out.text.length, "resolved", e);
    text_free(&out.text);
    if (!doc || (f && !put_model(doc, c, e))) {
        json_free(doc);
        return false;
    }
    for (size_t i = 0; portable && i < sizeof not_portable / sizeof *not_portable; i++)
        json_remove(doc, not_portable[i]);
    if (portable && !config_is_ensemble(c)) /* a model of one network has no word of it */
        json_remove(doc, "ensemble");
    bool shared_out = c->data.split.method != SPLIT_COLUMN;
    for (size_t i = 0; !shared_out && i < sizeof shares / sizeof *shares; i++)
        json_remove(doc, shares[i]);
    json_write(json, json_root(doc), portable ? 0 : 2);
    if (!portable && json->length >= JSON_MOST_BYTES) { /* a text that a command may read */
        text_clear(json);
        json_write(json, json_root(doc), 0);
    }
    if (!portable)
        text_char(json, '\n');
    json_free(doc);
    return true;
}
