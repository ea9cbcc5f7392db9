/* model_loss.c - options of the loss and weights of classes. */
#include "base/mem.h"
#include "model/loss.h"
#include "tap.h"

static const char *const labels[] = {"maybe", "no", "yes"};
static const double counts[] = {10, 60, 30};

struct reading {
    struct json_doc *doc;
    struct loss_options o;
    struct err e;
};

static bool read(struct reading *r, const char *text)
{
    *r = (struct reading){0};
    r->doc = json_parse(text, strlen(text), "case", &r->e);
    return opt_read(loss_options_table, r->doc, json_root(r->doc), "train.loss", &r->o, &r->e);
}

static void refused(const char *text, bool classes, enum err_id id, const char *what)
{
    struct reading r;
    float *w = NULL;
    bool good = read(&r, text) && loss_read(&r.o, r.doc, classes, &r.e) &&
                loss_class_weights(&r.o, labels, counts, 3, &w, &r.e);
    ok(!good && !w && r.e.id == id && strstr(r.e.what, what), "%s: E%d %s", text, (int)r.e.id,
       r.e.what);
    loss_release(&r.o);
    json_free(r.doc);
}

static void weights(const char *text, const float *want)
{
    struct reading r;
    float *w = NULL;
    bool good = read(&r, text) && loss_read(&r.o, r.doc, true, &r.e) &&
                loss_class_weights(&r.o, labels, counts, 3, &w, &r.e);
    ok(good && (want ? w && memcmp(w, want, 3 * sizeof *w) == 0 : !w), "%s", text);
    mem_free(w);
    loss_release(&r.o);
    json_free(r.doc);
}

static void quantiles(void)
{
    struct reading r;
    ok(read(&r, "{\"type\": \"quantile\", \"q\": [0.1, 0.45, 0.9]}") &&
           loss_read(&r.o, r.doc, false, &r.e),
       "a list of quantiles");
    is_int(loss_values(&r.o), 3, "  has three");
    is_near(r.o.q[2], 0.9, 0, "  in their order");
    is_int(loss_middle(r.o.q, 3), 1, "  the middle one");
    is_int(loss_middle((const double[]){0.25, 0.75}, 2), 0, "of two as near the lower one");
    loss_release(&r.o);
    json_free(r.doc);
    struct text text = {0};
    text_put(&text, "{\"q\": [");
    for (int k = 1; k <= 33; k++)
        text_printf(&text, "%s%.2f", k > 1 ? ", " : "", k / 40.0);
    text_put(&text, "]}");
    refused(text.data, false, ERR_CONFIG_RANGE, "has 33");
    text_free(&text);
}

int main(void)
{
    struct reading r;
    ok(read(&r, "{}") && loss_read(&r.o, r.doc, true, &r.e), "auto for classes");
    is_int(r.o.kind, LOSS_CROSS_ENTROPY, "  is cross-entropy");
    loss_release(&r.o);
    json_free(r.doc);
    ok(read(&r, "{}") && loss_read(&r.o, r.doc, false, &r.e), "auto for numbers");
    is_int(r.o.kind, LOSS_MSE, "  is mse");
    is_near(r.o.gamma, 2, 0, "gamma of focal");
    is_near(r.o.delta, 1, 0, "delta of huber");
    is_near(r.o.q[0], 0.5, 0, "q of quantile");
    is_int(r.o.q_count, 0, "  is no list");
    loss_release(&r.o);
    json_free(r.doc);
    weights("{\"class_weights\": null}", NULL);
    weights("{}", NULL);
    weights("{\"class_weights\": \"balanced\"}",
            (const float[]){(float)(100 / (3 * 10.0)), (float)(100 / (3 * 60.0)),
                            (float)(100 / (3 * 30.0))});
    weights("{\"class_weights\": {\"yes\": 5}}", (const float[]){1, 1, 5});
    weights("{\"class_weights\": {\"yes\": 5, \"no\": 0, \"maybe\": 0.5}}",
            (const float[]){0.5f, 0, 5});
    weights("{\"class_weights\": {}}", (const float[]){1, 1, 1});
    refused("{\"type\": \"mse\"}", true, ERR_CONFIG_CONFLICT, "`task`");
    refused("{\"type\": \"focal\"}", false, ERR_CONFIG_CONFLICT, "`task`");
    refused("{\"type\": \"crossentropy\"}", true, ERR_CONFIG_WORD, "crossentropy");
    refused("{\"class_weights\": \"balance\"}", true, ERR_CONFIG_WORD, "balance");
    refused("{\"class_weights\": 3}", true, ERR_CONFIG_TYPE, "class_weights");
    refused("{\"class_weights\": {\"yes\": \"5\"}}", true, ERR_CONFIG_TYPE, "\"yes\"");
    refused("{\"class_weights\": {\"yes\": -1}}", true, ERR_CONFIG_RANGE, "\"yes\"");
    refused("{\"class_weights\": {\"yess\": 2}}", true, ERR_CONFIG_LABEL, "\"yess\"");
    refused("{\"class_weights\": {\"yes\": 0, \"no\": 0, \"maybe\": 0}}", true, ERR_CONFIG_RANGE,
            "weighs 0");
    refused("{\"class_weights\": \"balanced\"}", false, ERR_CONFIG_CONFLICT, "regression");
    refused("{\"label_smoothing\": 1}", true, ERR_CONFIG_RANGE, "label_smoothing");
    quantiles();
    refused("{\"q\": 0}", false, ERR_CONFIG_RANGE, "q");
    refused("{\"q\": \"0.5\"}", false, ERR_CONFIG_TYPE, "a number or a list");
    refused("{\"q\": []}", false, ERR_CONFIG_RANGE, "2 to 32");
    refused("{\"q\": [0.5]}", false, ERR_CONFIG_RANGE, "has 1");
    refused("{\"q\": [0.5, 0.5]}", false, ERR_CONFIG_RANGE, "above the one before");
    refused("{\"q\": [0.9, 0.1]}", false, ERR_CONFIG_RANGE, "above the one before");
    refused("{\"q\": [0.1, 1]}", false, ERR_CONFIG_RANGE, "less than 1");
    refused("{\"q\": [0.1, \"0.9\"]}", false, ERR_CONFIG_RANGE, "less than 1");
    return done();
}
