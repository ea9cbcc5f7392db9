/* Prediction: the same bytes however a file is cut, batched or shared out; columns by name; bad
 * rows; outputs. */
#include "answer/stream/predict.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/process/thread.h"
#include "tap.h"
#include "tiny.h"

static struct tiny tiny;
static struct predict_result last; /* counts of the last run; its memory is gone */
static struct err why;

/* The output of one run, "" after a failure; mem_free. */
static char *predict(struct predict_request q)
{
    char *out = tiny_path(&tiny, "out.csv");
    struct predict_result r;
    unlink(out);
    if (!q.rows.model)
        q.rows.model = tiny.model;
    if (!q.rows.overrides.backend)
        q.rows.overrides = tiny_overrides;
    q.output = out;
    err_clear(&why);
    bool good = predict_run(&q, &r, &why);
    last = r;
    predict_release(&r);
    char *text = good ? tiny_read(out) : mem_string("");
    if (!good)
        ok(!file_exists(out), "after a failure there is no output");
    mem_free(out);
    return text;
}

static char *predict_text(const char *content, struct predict_request q)
{
    char *path = tiny_file(&tiny, "in.csv", content);
    char *inputs[] = {path};
    q.rows.inputs = inputs;
    q.rows.input_count = 1;
    char *text = predict(q);
    mem_free(path);
    return text;
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* What follows the first line. */
static const char *body(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : text + strlen(text);
}

static const struct predict_request plain = {.rows.max_bad_rows = -1};

/* --- the answer to a row depends on that row alone --- */

static void same_bytes(void)
{
    struct text data = {0};
    text_put(&data, "id,x,color,y\n");
    tiny_rows(TASK_BINARY, 5000, 9000, &data);
    char *whole = predict_text(data.data, plain);
    is_int(lines_of(whole), 9001, "D10: as many lines as rows, and a header");
    ok(strncmp(whole, "id,prediction,probability_no,probability_yes\n5000,", 49) == 0,
       "ids first, then the answer: %.60s", whole);

    bool same = true;
    for (uint32_t cut = 0; cut < 20 && same; cut++) {
        size_t rows = 1 + rng_permute(3, 0, 0, 8998, cut);
        const char *at = body(data.data);
        for (size_t i = 0; i < rows; i++)
            at = body(at);
        struct text a = {0}, b = {0};
        text_add(&a, data.data, (size_t)(at - data.data));
        text_put(&b, "id,x,color,y\n");
        text_put(&b, at);
        char *first = predict_text(a.data, plain), *second = predict_text(b.data, plain);
        size_t length = strlen(first);
        same = strncmp(whole, first, length) == 0 && strcmp(whole + length, body(second)) == 0;
        mem_free(first);
        mem_free(second);
        text_free(&a);
        text_free(&b);
    }
    ok(same, "a file cut at 20 places gives the same bytes");

    static const int64_t batches[] = {1, 7, 64, 4096};
    for (size_t i = 0; i < 4; i++) {
        struct predict_request q = plain;
        q.rows.overrides = tiny_overrides;
        q.rows.overrides.batch_size = batches[i];
        char *other = predict_text(data.data, q);
        ok(strcmp(whole, other) == 0, "batches of %lld give the same bytes", (long long)batches[i]);
        mem_free(other);
    }
    for (unsigned threads = 1; threads <= 3; threads++) {
        threads_stop();
        threads_start(threads);
        char *other = predict_text(data.data, plain);
        ok(strcmp(whole, other) == 0, "%u threads give the same bytes", threads);
        mem_free(other);
    }

    /* two files are one */
    char *one = tiny_file(&tiny, "in.csv", data.data),
         *two = tiny_file(&tiny, "part.csv", "id,x,color,y\n7,0.5,red,\n");
    char *inputs[] = {one, two};
    struct predict_request q = plain;
    q.rows.inputs = inputs;
    q.rows.input_count = 2;
    char *other = predict(q);
    size_t length = strlen(whole);
    ok(strncmp(whole, other, length) == 0 && strncmp(other + length, "7,", 2) == 0,
       "two files are one stream");
    is_int(last.rows, 9001, "rows of both are counted");
    mem_free(other);
    mem_free(one);
    mem_free(two);
    mem_free(whole);
    text_free(&data);
}

/* --- columns --- */

static void columns(void)
{
    char *want = predict_text("id,x,color\n1,0.5,red\n2,,green\n", plain);
    is_int(lines_of(want), 3, "D09: the target may be absent");
    char *got = predict_text("color,x,id\nred,0.5,1\ngreen,,2\n", plain);
    is_string(got, want, "D03: columns in another order");
    mem_free(got);
    got = predict_text("extra,color,x,y,id\n9,red,0.5,yes,1\n9,green,,no,2\n", plain);
    is_string(got, want, "D02: extra columns and the target are passed over");
    mem_free(got);
    got = predict_text("id,xx,Color\n1,0.5,red\n", plain);
    ok(why.id == ERR_MODEL_COLUMN && strstr(why.what, "\"x\"") && strstr(why.what, "\"color\""),
       "D01: all missing names at once: %s", why.what);
    ok(strstr(why.help, "Color") != NULL, "D04: did you mean: %s", why.help);
    mem_free(got);

    struct predict_request q = plain;
    q.rows.no_header = true;
    q.rows.columns = "id,x,color";
    got = predict_text("1,0.5,red\n2,,green\n", q);
    is_string(got, body(want), "--no-header with --columns");
    mem_free(got);
    q.rows.columns = "id,x,color,more";
    got = predict_text("1,0.5,red\n", q);
    ok(why.id == ERR_FILE_WIDTH, "as many names as columns: %s", why.what);
    mem_free(got);
    q.rows.columns = "id,x,x";
    got = predict_text("1,0.5,red\n", q);
    ok(err_exit(&why) == EXIT_USAGE, "a name that stands twice: %s", why.what);
    mem_free(got);
    q.rows.columns = NULL;
    got = predict_text("1,0.5,red\n", q);
    ok(err_exit(&why) == EXIT_DATA && strstr(why.help, "--columns"),
       "D08: no header and no names: %s", why.help);
    mem_free(got);
    mem_free(want);

    got = predict_text("id,x,color\n", plain);
    is_string(got, "id,prediction,probability_no,probability_yes\n",
              "D11: header only gives header only");
    is_int(last.rows, 0, "and no rows");
    mem_free(got);
    got = predict_text("", plain);
    ok(why.id == ERR_CSV_EMPTY, "C01: an empty file: %s", why.what);
    mem_free(got);
}

static void unknown_categories(void)
{
    char *path = tiny_file(&tiny, "in.csv", "id,x,color\n1,0.5,mauve\n2,0.5,ochre\n3,99,red\n");
    char *inputs[] = {path}, *out = tiny_path(&tiny, "out.csv");
    struct predict_request q = plain;
    q.rows.model = tiny.model;
    q.rows.inputs = inputs;
    q.rows.input_count = 1;
    q.output = out;
    q.rows.overrides = tiny_overrides;
    struct predict_result r;
    struct json_out json = {0};
    struct err e = {0};
    if (ok(predict_run(&q, &r, &e), "unseen categories are answered: %s", e.what)) {
        predict_write(&r, &json);
        struct json_doc *doc = json_parse(json.text.data, json.text.length, "summary", &e);
        if (ok(doc != NULL, "the summary is JSON: %s", e.what)) {
            const struct json *root = json_root(doc);
            is_string(json_string(json_get(root, "schema")), "dnn.predict/1", "its schema");
            is_int(json_number(json_get(root, "rows")), 3, "its rows");
            is_int(json_number(json_path(root, "unknown_categories.color")), 2,
                   "D05: unseen ones by column");
            ok(json_path(root, "seconds.total") && json_path(root, "backend.used") &&
                   json_path(root, "memory.host_peak_bytes"),
               "seconds, backend, memory");
        }
        json_free(doc);
    }
    text_free(&json.text);
    predict_release(&r);
    mem_free(path);
    mem_free(out);
}

/* --- what is repeated, and how it is written --- */

static void passthrough(void)
{
    static const char input[] =
        "id,x,color,note,y\n\"a,1\",0.5,red,\"say \"\"hi\"\"\",yes\n2,0.5,red,\" lead\",\n"
        "3,0.5,red,\"two\nlines\",no\n";
    struct predict_request q = plain;
    q.passthrough = "note,id";
    char *got = predict_text(input, q);
    ok(strncmp(got, "id,note,prediction,", 19) == 0, "an id is not repeated: %.40s", got);
    ok(strstr(got, "\n\"a,1\",\"say \"\"hi\"\"\",") && strstr(got, "\n2,\" lead\",") &&
           strstr(got, "\n3,\"two\nlines\","),
       "D13: quotes where RFC 4180 wants them: %s", got);
    mem_free(got);
    q.passthrough = "all";
    got = predict_text(input, q);
    ok(strncmp(got, "id,x,color,note,y,prediction,", 29) == 0, "all columns: %.40s", got);
    mem_free(got);
    q.passthrough = "nota";
    got = predict_text(input, q);
    ok(err_exit(&why) == EXIT_USAGE && strstr(why.help, "note"),
       "a name that is not there: %s (%s)", why.what, why.help);
    mem_free(got);

    q.passthrough = "note";
    q.rows.tsv = true;
    got = predict_text("id\tx\tcolor\tnote\n1\t0.5\tred\tsay \"hi\", then\n", q);
    ok(strncmp(got, "id\tnote\tprediction\t", 19) == 0 && strstr(got, "\n1\tsay \"hi\", then\t"),
       "tsv has tabs and no quotes: %s", got);
    mem_free(got);
    got = predict_text("id\tx\tcolor\tnote\n1\t0.5\tred\tone\ttwo\n", q);
    ok(err_exit(&why) == EXIT_DATA, "a tab inside a value is a bad row: %s", why.what);
    mem_free(got);
}

/* --- rows that cannot be read --- */

static void bad_rows(void)
{
    static const char input[] =
        "id,x,color\n1,0.5,red\n2,half,red\n3,0.5\n4,0.5,re\"d\n5,\"0.\"5,red\n6,0.5,green\n";
    char *got = predict_text(input, plain);
    ok(err_exit(&why) == EXIT_DATA && why.line == 3 && why.column == 3,
       "D07: stop at the first, with its place: %s", why.what);
    mem_free(got);

    struct predict_request q = plain;
    q.rows.on_bad_row = BAD_ROW_SKIP;
    got = predict_text(input, q);
    is_int(lines_of(got), 3, "skip leaves them out");
    is_int(last.rows, 6, "all records are counted");
    is_int(last.bad_rows, 4, "so are the bad ones");
    ok(strstr(got, "\n1,") && strstr(got, "\n6,"), "the good ones are answered");
    mem_free(got);

    q.rows.on_bad_row = BAD_ROW_NULL;
    char *rejects = tiny_path(&tiny, "bad.csv");
    q.rows.rejects = rejects;
    got = predict_text(input, q);
    is_int(lines_of(got), 7, "null keeps their places");
    ok(strstr(got, "\n2,,,\n3,,,\n,,,\n,,,\n6,") != NULL,
       "empty answers, ids where they can be read: %s", got);
    mem_free(got);
    char *list = tiny_read(rejects);
    is_int(lines_of(list), 5, "each is listed");
    ok(strstr(list, "3,3,x,") && strstr(list, "\"2,half,red\""),
       "with line, column, name and raw text: %s", list);
    mem_free(list);
    unlink(rejects);

    q.null_text = "NA";
    got = predict_text(input, q);
    ok(strstr(got, "\n2,NA,NA,NA\n") != NULL, "--null");
    mem_free(got);
    unlink(rejects);
    q.null_text = NULL;

    q.rows.max_bad_rows = 4;
    got = predict_text(input, q);
    is_int(lines_of(got), 7, "as many bad rows as allowed");
    mem_free(got);
    unlink(rejects);
    q.rows.max_bad_rows = 3;
    got = predict_text(input, q);
    ok(why.id == ERR_BAD_ROWS && err_exit(&why) == EXIT_DATA, "one more: %s", why.what);
    list = tiny_read(rejects);
    is_int(lines_of(list), 5, "the list of the bad rows is there all the same");
    mem_free(list);
    unlink(rejects);
    mem_free(got);
    mem_free(rejects);

    /* many bad rows over several blocks: the good answers are those of a file without them */
    struct text mixed = {0}, good = {0};
    text_put(&mixed, "id,x,color,y\n");
    text_put(&good, "id,x,color,y\n");
    for (uint64_t i = 0; i < 300; i++) {
        tiny_rows(TASK_BINARY, 200 * i, 200, &mixed);
        tiny_rows(TASK_BINARY, 200 * i, 200, &good);
        text_put(&mixed, i % 3 ? "9,oops,red,no\n" : i % 2 ? "9,0.5,\"re\"d,no\n" : "9\n");
    }
    q = plain;
    q.rows.on_bad_row = BAD_ROW_SKIP;
    got = predict_text(mixed.data, q);
    is_int(last.bad_rows, 300, "bad rows among many");
    char *want = predict_text(good.data, q);
    ok(strcmp(got, want) == 0, "do not touch their neighbours");
    mem_free(got);
    mem_free(want);
    text_free(&mixed);
    text_free(&good);
}

/* --- outputs --- */

static void outputs(void)
{
    char *inputs[] = {tiny.data};
    struct predict_request q = {.rows.model = tiny.model,
                                .rows.inputs = inputs,
                                .rows.input_count = 1,
                                .rows.max_bad_rows = -1,
                                .output = tiny.data,
                                .rows.overrides = tiny_overrides};
    struct predict_result r;
    struct err e = {0};
    ok(!predict_run(&q, &r, &e) && err_exit(&e) == EXIT_USAGE, "L06: the output is an input: %s",
       e.what);
    predict_release(&r);
    q.output = tiny.model;
    err_clear(&e);
    ok(!predict_run(&q, &r, &e) && err_exit(&e) == EXIT_USAGE, "the output is the model: %s",
       e.what);
    predict_release(&r);
    q.output = "/nowhere/at/all.csv";
    err_clear(&e);
    ok(!predict_run(&q, &r, &e) && err_exit(&e) == EXIT_CANTCREATE, "F07: no such folder: %s",
       e.what);
    predict_release(&r);
    char *out = tiny_path(&tiny, "out.csv");
    q.output = out;
    q.rows.model = tiny.data;
    err_clear(&e);
    ok(!predict_run(&q, &r, &e) && err_exit(&e) == EXIT_FORMAT, "M01: the model is no model: %s",
       e.what);
    predict_release(&r);
    inputs[0] = "/nowhere.csv";
    q.rows.model = tiny.model;
    err_clear(&e);
    ok(!predict_run(&q, &r, &e) && err_exit(&e) == EXIT_NOINPUT, "C27: no such input: %s", e.what);
    predict_release(&r);
    mem_free(out);
}

static void other_tasks(void)
{
    struct err e = {0};
    tiny_close(&tiny);
    if (ok(tiny_open(&tiny, TASK_REGRESSION, &e), "a regression: %s", e.what)) {
        char *got = predict_text("id,x,color\n1,0.5,red\n2,,green\n", plain);
        double value = 0;
        ok(sscanf(got, "id,prediction\n1,%lf\n2,", &value) == 1 && value > 1000 && value < 1020,
           "values in the target's units: %s", got);
        mem_free(got);
    }
    tiny_close(&tiny);
    if (ok(tiny_open(&tiny, TASK_MULTICLASS, &e), "three classes: %s", e.what)) {
        char *got = predict_text("id,x,color\n1,0.99,red\n", plain);
        ok(strncmp(got, "id,prediction,probability_no,\"probability_so, so\",probability_yes\n",
                   66) == 0,
           "labels in order, quoted where they must be: %s", got);
        mem_free(got);
    }
}

int main(void)
{
    struct err e = {0};
    log_setup(getenv("TEST_VERBOSE") ? 1 : 0, false);
    if (ok(tiny_open(&tiny, TASK_BINARY, &e), "a small binary model is trained: %s", e.what)) {
        same_bytes();
        columns();
        unknown_categories();
        passthrough();
        bad_rows();
        outputs();
        other_tasks();
    }
    tiny_close(&tiny);
    threads_stop();
    return done();
}
