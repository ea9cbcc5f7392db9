/* Models that were tampered with, models that do not fit each other, and what inspect shows of
 * them. */
#include <math.h>

#include "answer/evaluate/evaluate.h"
#include "answer/verify.h"
#include "base/log.h"
#include "base/mem.h"
#include "check/inspect.h"
#include "tap.h"
#include "tiny.h"

/* The model written anew with one of its parts changed: every logit moved, every weight multiplied,
 * a golden cell replaced. */
static bool save(const struct modelfile *f, const char *path, struct err *e)
{
    struct model *made[2] = {0};
    struct features *features = encoder_features(f->encoders[0]);
    bool good = true;
    for (uint32_t i = 0; good && i < f->member_count; i++) {
        good = (made[i] = model_plan(f->members[i].architecture, features, 1, 1, false, e)) != NULL;
    }
    const struct model *const plans[2] = {made[0], made[1]};
    good = good && modelfile_save(f, plans, path, NULL, e);
    for (uint32_t i = 0; i < f->member_count; i++)
        model_free(made[i]);
    features_free(features);
    return good;
}

static char *changed(const struct tiny *t, real move, real factor, char cell)
{
    struct err e = {0};
    char *path = tiny_path(t, "out.csv");
    struct modelfile *f = modelfile_load(t->model, &e);
    if (!f)
        return path;
    uint32_t outputs = f->schema->labels ? vocab_count(f->schema->labels) : 1;
    for (uint32_t i = 0; i < f->golden.count; i++)
        f->golden.logits[i * outputs] += move;
    for (uint64_t i = 0; i < f->members[0].param_count; i++)
        f->members[0].params[i] *= factor;
    if (cell)
        f->golden.text[f->golden.offsets[1]] = cell; /* the first row's x */
    ok(save(f, path, &e), "a changed model is written: %s", e.what);
    modelfile_free(f);
    return path;
}

static void golden_rows(const struct tiny *t)
{
    struct err e = {0};
    struct verify_result r;
    char *path = changed(t, (real)0.5, 1, 0);
    bool asked = verify_run(path, &tiny_overrides, true, &r, &e);
    ok(asked && !r.pass && r.largest_difference > 0.01,
       "moved logits do not pass: off by %.3g", r.largest_difference);
    mem_free(path);
    path = changed(t, 0, (real)1.001, 0);
    asked = verify_run(path, &tiny_overrides, true, &r, &e);
    ok(asked && !r.pass,
       "changed weights do not pass: off by %.3g", r.largest_difference);
    mem_free(path);
    path = changed(t, 0, 1, 'x');
    ok(!verify_run(path, &tiny_overrides, true, &r, &e) && e.id == ERR_MODEL_GOLDEN &&
           err_exit(&e) == EXIT_FORMAT,
       "a golden cell that cannot be read: %s", e.what);
    mem_free(path);
}

/* --- two members --- */

/* Answers to the model's own rows as text; mem_free. */
static char *answers_of(const struct tiny *t, const char *model)
{
    char *out = tiny_path(t, "in.csv"), *inputs[] = {t->data};
    struct predict_request q = {.rows = {.model = model, .inputs = inputs, .input_count = 1,
                                         .max_bad_rows = -1, .overrides = tiny_overrides},
                                .output = out};
    struct predict_result r;
    struct err e = {0};
    ok(predict_run(&q, &r, &e), "answered: %s", e.what);
    predict_release(&r);
    char *text = tiny_read(out);
    mem_free(out);
    return text;
}

/* The last number of the line; *line becomes the next one. */
static double last_number(const char **line)
{
    const char *end = strchr(*line, '\n'), *at = end;
    while (at[-1] != ',')
        at--;
    *line = end + 1;
    return strtod(at, NULL);
}

/* The largest distance of the answers from a mean of those of two models, weighted 3 to 1. */
static double off_mean(const char *both, const char *first, const char *second)
{
    double most = 0;
    for (int row = -1; *both && *first && *second; row++) {
        double mean = last_number(&both), a = last_number(&first), b = last_number(&second);
        double off = fabs(mean - (0.75 * a + 0.25 * b));
        most = row >= 0 && !(off <= most) ? off : most; /* not of the header */
    }
    return *both || *first || *second ? (double)NAN : most;
}

/* The model and a copy of it with its weights multiplied, as the members of one. */
static char *joined(const struct tiny *t, real factor)
{
    struct err e = {0};
    char *path = tiny_path(t, "part.csv");
    struct modelfile *f = modelfile_load(t->model, &e), *g = modelfile_load(t->model, &e);
    struct golden *golden = &f->golden;
    size_t count = (size_t)golden->count * (f->schema->labels ? 2 : 1);
    for (uint64_t i = 0; i < g->members[0].param_count; i++)
        g->members[0].params[i] *= factor;
    f->members = mem_grow(f->members, 2, sizeof *f->members);
    f->members[0].weight = 6;
    f->members[1] = g->members[0];
    f->members[1].weight = 2;
    f->member_count = 2;
    g->member_count = 0;
    golden->logits = mem_grow(golden->logits, 2 * count, sizeof *golden->logits);
    memcpy(golden->logits + count, golden->logits, count * sizeof *golden->logits);
    ok(save(f, path, &e), "a model of two members is written: %s", e.what);
    modelfile_free(f);
    modelfile_free(g);
    return path;
}

static void two_members(const struct tiny *t)
{
    struct err e = {0};
    struct verify_result v;
    char *path = joined(t, 1);
    ok(verify_run(path, &tiny_overrides, true, &v, &e) && v.pass && v.bits,
       "the golden rows of both members are answered again: %s", e.what);
    mem_free(path);
    path = joined(t, (real)0.5);
    bool asked = verify_run(path, &tiny_overrides, true, &v, &e);
    ok(asked && !v.pass && v.largest_difference > 1e-3,
       "another member does not pass: off by %.3g", v.largest_difference);
    char *second = changed(t, 0, (real)0.5, 0), *a = answers_of(t, t->model),
         *b = answers_of(t, second), *both = answers_of(t, path);
    double off = off_mean(both, a, b), size = fabs(strtod(strrchr(both, ',') + 1, NULL));
    ok(off <= 1e-8 * (size > 1 ? size : 1) && off_mean(a, a, b) > 1e-3,
       "answers are the weighted mean of those of the members: off by %.3g", off);
    char *inputs[] = {t->data};
    struct evaluate_request q = {.rows.model = path, .rows.inputs = inputs, .rows.input_count = 1,
                                 .better_than = t->model, .rows.overrides = tiny_overrides};
    struct evaluate_result r;
    ok(evaluate_run(&q, &r, &e) && r.rows == TINY_ROWS && r.gate_count == 1,
       "both are measured: %s", e.what);
    evaluate_release(&r);
    struct inspect seen;
    struct json_out out = {0};
    struct text text = {0};
    if (ok(inspect_open(&seen, path, &e), "inspected: %s", e.what)) {
        inspect_write(&seen, &out);
        inspect_text(&seen, &text);
        struct json_doc *doc = json_parse(out.text.data, out.text.length, "inspect", &e);
        const struct json *members = doc ? json_path(json_root(doc), "members") : NULL;
        ok(members && json_count(members) == 2 &&
               json_number(json_path(members, "1.weight")) == 2 &&
               strstr(text.data, "member 1, weight 2"),
           "two members with their weights are shown");
        json_free(doc);
        inspect_close(&seen);
    }
    text_free(&out.text);
    text_free(&text);
    char *const all[] = {path, second, a, b, both};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
}

static void two_members_of_values(void)
{
    struct err e = {0};
    struct tiny t;
    if (ok(tiny_open(&t, TASK_REGRESSION, &e), "a regression: %s", e.what))
        two_members(&t);
    tiny_close(&t);
}

/* The model as another core would have left it, so that nearness is asked for and not bits, and
 * its first golden cell one whose answer is no number, before others that are right. */
static void lost_answer(const struct tiny *t)
{
    struct err e = {0};
    struct verify_result r;
    struct modelfile *f = modelfile_load(t->model, &e);
    char *path = tiny_path(t, "out.csv");
    if (ok(f != NULL, "a model is loaded: %s", e.what)) {
        struct golden *g = &f->golden;
        const size_t cells = (size_t)g->count * g->cells;
        struct text text = {0};
        memcpy(f->plan.core, "other", sizeof "other");
        bool asked = save(f, path, &e) &&
                     verify_run(path, &tiny_overrides, true, &r, &e);
        ok(asked && !r.bits && r.pass, "another core's answers are near enough: %s", e.what);
        text_put(&text, "3e38");
        text_add(&text, g->text + g->offsets[1], g->offsets[cells] - g->offsets[1]);
        const uint64_t was = g->offsets[1];
        for (size_t i = 1; i <= cells; i++)
            g->offsets[i] += 4 - was;
        mem_free(g->text);
        g->text = text.data;
        asked = save(f, path, &e) &&
                verify_run(path, &tiny_overrides, true, &r, &e);
        ok(asked && !r.pass && isnan(r.largest_difference),
           "an answer that is no number does not pass: %s %g", e.what, r.largest_difference);
    }
    modelfile_free(f);
    mem_free(path);
}

/* A model of this data and config; false with a failed test. */
static bool trained(struct tiny *t, const char *data, const char *config)
{
    struct err e = {0};
    struct train_result r = {0};
    t->data = tiny_file(t, "data.csv", data);
    t->model = tiny_path(t, "tiny.dnn");
    char *path = tiny_path(t, "config.json");
    struct config *c = config_parse(config, strlen(config), path, &tiny_overrides, &e);
    struct train_request q = {.config = c, .output = t->model, .progress = 3};
    unsigned before = log_warnings();
    bool good = c && train_run(&q, &r, &e);
    train_release(&r);
    expect_warnings(log_warnings() - before);
    config_free(c);
    mem_free(path);
    return ok(good, "trained: %s", e.what);
}

/* A test row among the first, whose answer overflows: training measures without it (or with what
 * its metrics are worth), and the model that it leaves can be read. */
static void overflowing_row(void)
{
    struct err e = {0};
    struct tiny t = {.folder = "/tmp/dnn_tiny_XXXXXX"};
    struct text data = {0};
    struct verify_result r;
    if (!ok(mkdtemp(t.folder) != NULL, "a folder"))
        return;
    text_put(&data, "x,z,part,y\n3e38,3e38,test,yes\n-3e38,3e38,test,no\n");
    for (unsigned i = 0; i < 200; i++) {
        double x = rng_uniform(9, i, 0, 0, RNG_TEST) - 0.5;
        text_printf(&data, "%.3f,%.3f,%s,%s\n", x, rng_uniform(9, i, 1, 0, RNG_TEST),
                    i % 5 == 4 ? "valid" : "train", x > 0 ? "yes" : "no");
    }
    if (trained(&t, data.data,
                "{\"task\": \"binary\", \"data\": {\"train\": \"data.csv\", \"target\": \"y\","
                "\"columns\": {\"x\": {\"type\": \"numeric\", \"scale\": \"none\"},"
                "\"z\": {\"type\": \"numeric\", \"scale\": \"none\"}},"
                "\"split\": {\"method\": \"column\", \"column\": \"part\"}},"
                "\"model\": {\"preset\": \"mlp\"}, \"train\": {\"epochs\": 3},"
                "\"output\": {\"model\": \"tiny.dnn\"}}")) {
        bool asked = verify_run(t.model, &tiny_overrides, true, &r, &e);
        ok(asked && r.pass && r.rows == 14,
           "the model is read, with the 14 golden rows that have an answer: %s", e.what);
        if (asked)
            lost_answer(&t);
    }
    text_free(&data);
    tiny_close(&t);
}

/* The place is a column's name there, and the columns that the config leaves out have none. */
static void without_header(void)
{
    struct err e = {0};
    struct tiny t = {.folder = "/tmp/dnn_tiny_XXXXXX"};
    struct text data = {0};
    struct verify_result r;
    if (!ok(mkdtemp(t.folder) != NULL, "a folder"))
        return;
    for (unsigned i = 0; i < 200; i++) {
        double x = rng_uniform(9, i, 0, 0, RNG_TEST) - 0.5;
        text_printf(&data, "%.3f,%.3f,%u,%s\n", x, rng_uniform(9, i, 1, 0, RNG_TEST), i,
                    x > 0 ? "yes" : "no");
    }
    if (trained(&t, data.data,
                "{\"task\": \"binary\", \"data\": {\"train\": \"data.csv\", \"header\": false,"
                "\"target\": \"c4\", \"columns\": {\"c1\": \"numeric\", \"c2\": \"numeric\"},"
                "\"split\": {\"method\": \"random\", \"valid\": 0.2, \"test\": 0.1}},"
                "\"model\": {\"preset\": \"linear\"}, \"train\": {\"epochs\": 3},"
                "\"output\": {\"model\": \"tiny.dnn\"}}"))
        ok(verify_run(t.model, &tiny_overrides, true, &r, &e) && r.pass && r.rows == 16,
           "a model of a file without header answers its own rows: %s", e.what);
    text_free(&data);
    tiny_close(&t);
}

static void overflow(const struct tiny *t)
{
    char *path = changed(t, 0, (real)1e30, 0), *out = tiny_path(t, "in.csv");
    char *inputs[] = {t->data};
    struct predict_request q = {.rows.model = path,
                                .rows.inputs = inputs,
                                .rows.input_count = 1,
                                .output = out,
                                .rows.max_bad_rows = -1,
                                .rows.overrides = tiny_overrides};
    struct predict_result r;
    struct err e = {0};
    ok(!predict_run(&q, &r, &e) && e.id == ERR_ANSWER_FINITE && e.line > 1,
       "an answer that overflows: %s", e.what);
    predict_release(&r);
    err_clear(&e);
    q.rows.on_bad_row = BAD_ROW_NULL;
    unsigned before = log_warnings();
    ok(predict_run(&q, &r, &e) && r.rows == TINY_ROWS && r.bad_rows > 0,
       "is a bad row like others: %llu of them", (unsigned long long)r.bad_rows);
    is_int(log_warnings() - before, r.bad_rows == r.rows, "where none is answered it is warned of");
    expect_warnings(r.bad_rows == r.rows);
    predict_release(&r);
    mem_free(path);
    mem_free(out);
}

static void strangers(const struct tiny *t)
{
    struct err e = {0};
    struct tiny other;
    if (!ok(tiny_open(&other, TASK_MULTICLASS, &e), "another model: %s", e.what))
        return;
    char *inputs[] = {t->data};
    struct evaluate_request q = {.rows.model = t->model,
                                 .rows.inputs = inputs,
                                 .rows.input_count = 1,
                                 .better_than = other.model,
                                 .rows.overrides = tiny_overrides};
    struct evaluate_result r;
    ok(!evaluate_run(&q, &r, &e) && e.id == ERR_MODELS_DIFFER, "models of two tasks: %s", e.what);
    evaluate_release(&r);
    tiny_close(&other);
}

/* A label with a tab cannot be written without quotes. */
static void tab_in_label(void)
{
    struct err e = {0};
    struct tiny t;
    tiny_no = "\"n\to\"";
    if (!ok(tiny_open(&t, TASK_BINARY, &e), "a label with a tab: %s", e.what))
        return;
    char *out = tiny_path(&t, "out.csv"),
         *path = tiny_file(&t, "in.csv", "id\tx\tcolor\n1\t0.5\tred\n");
    char *inputs[] = {path};
    struct predict_request q = {.rows.model = t.model,
                                .rows.inputs = inputs,
                                .rows.input_count = 1,
                                .output = out,
                                .rows.max_bad_rows = -1,
                                .rows.tsv = true,
                                .rows.overrides = tiny_overrides};
    struct predict_result r;
    ok(!predict_run(&q, &r, &e) && e.id == ERR_LABEL_TEXT && !file_exists(out),
       "cannot be a tsv: %s", e.what);
    predict_release(&r);
    mem_free(path);
    mem_free(out);
    tiny_close(&t);
}

static struct json_doc *shown(const char *path, const char *kind)
{
    struct err e = {0};
    struct inspect seen;
    struct json_out out = {0};
    struct text text = {0};
    if (!ok(inspect_open(&seen, path, &e), "inspect: %s", e.what))
        return NULL;
    inspect_write(&seen, &out);
    inspect_text(&seen, &text);
    struct json_doc *doc = json_parse(out.text.data, out.text.length, "inspect", &e);
    ok(doc != NULL, "it is JSON: %s", e.what);
    is_string(doc ? json_string(json_get(json_root(doc), "schema")) : NULL, "dnn.inspect/1",
              "its schema");
    is_string(doc ? json_string(json_get(json_root(doc), "kind")) : NULL, kind, "its kind");
    ok(text.length > 100 && strstr(text.data, "color") != NULL, "and a text with the columns");
    text_free(&text);
    text_free(&out.text);
    inspect_close(&seen);
    return doc;
}

static void inspected(const struct tiny *t)
{
    struct json_doc *doc = shown(t->model, "model");
    if (doc) {
        const struct json *root = json_root(doc);
        is_string(json_string(json_path(root, "data.target")), "y", "the schema");
        ok(json_count(json_path(root, "model.layers")) >= 3, "the layers");
        ok(json_path(root, "config.train.epochs") && json_path(root, "metrics.valid"),
           "config and metrics");
        is_int(strlen(json_string(json_path(root, "hashes.model_sha256"))), 64, "the hash");
    }
    json_free(doc);
    doc = shown(t->data, "csv");
    if (doc) {
        const struct json *root = json_root(doc);
        is_int(json_number(json_get(root, "rows")), TINY_ROWS, "the rows");
        const struct json *x = json_path(root, "columns.1");
        is_string(json_string(json_get(x, "name")), "x", "a column");
        is_string(json_string(json_get(x, "type")), "numeric", "its type");
        is_int(json_number(json_get(x, "missing")), 89, "its gaps");
        is_int(json_count(json_get(x, "examples")), 5, "its first cells");
    }
    json_free(doc);
    struct err e = {0};
    struct inspect seen;
    ok(!inspect_open(&seen, "/nowhere.csv", &e) && err_exit(&e) == EXIT_NOINPUT, "no such file: %s",
       e.what);
}

int main(void)
{
    struct err e = {0};
    struct tiny t;
    log_setup(getenv("TEST_VERBOSE") ? 1 : 0, false);
    if (ok(tiny_open(&t, TASK_BINARY, &e), "a small binary model is trained: %s", e.what)) {
        golden_rows(&t);
        two_members(&t);
        overflow(&t);
        strangers(&t);
        inspected(&t);
        tab_in_label();
    }
    tiny_close(&t);
    two_members_of_values();
    overflowing_row();
    without_header();
    return done();
}
