/* train_train.c -
 * whole trainings, in this process: what they reach, what they refuse, how they end,
 * and that a resumed one ends in the bytes of one that was never stopped. Ids: F06 F07 F11 L06 M17
 * N01 N03 N08 N15 S01 S02 S03 S04 S09. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/progress.h"
#include "base/rng.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "check/check.h"
#include "model/file/checkpoint_list.h"
#include "scratch.h"
#include "table/schema/schema.h"
#include "tap.h"
#include "train/run/checkpoint.h"
#include "train/train.h"

static struct err e;
static struct train_result r;

/* --- data and configs of our own --- */

/* a, b in [-1, 1], c one of three words, y by the kind: 'b' ab > 0, 'm' the word and the sign of a,
 * 'r' a number. */
static void make_csv(const char *name, unsigned rows, char kind)
{
    struct text t = {0};
    text_put(&t, "a,b,c,y\n");
    for (unsigned i = 0; i < rows; i++) {
        double a = 2 * rng_uniform(7, 2 * i, 0, 0, RNG_TEST) - 1,
               b = 2 * rng_uniform(7, 2 * i + 1, 0, 0, RNG_TEST) - 1;
        const char *word = &"red\0one\0blu"[4 * (i % 3)];
        text_printf(&t, "%.6f,%.6f,%s,", a, b, word);
        if (kind == 'b')
            text_put(&t, a * b > 0 ? "yes\n" : "no\n");
        else if (kind == 'm')
            text_printf(&t, "%s%d\n", word, a > 0);
        else
            text_printf(&t, "%.6f\n", 100 + 30 * a - 20 * b + (i % 3 == 0 ? 10 : 0));
    }
    scratch_put(name, t.data, t.length);
    text_free(&t);
}

#define COLUMNS "\"columns\":{\"a\":\"numeric\",\"b\":\"numeric\",\"c\":\"categorical\"}"
#define SMALL "\"model\":{\"preset\":\"mlp\",\"hidden\":[16]}"
#define CPU "\"backend\":{\"name\":\"dnn_cpu\",\"threads\":1}"

/* more: further members of the object, each with a comma in front. */
static struct config *config_of(const char *task, const char *csv, const char *train,
                                const char *more)
{
    struct text t = {0};
    struct overrides o = {.threads = -1, .batch_size = -1, .time_limit_s = -1};
    text_printf(&t,
                "{\"task\":\"%s\",\"data\":{\"train\":\"%s\",\"target\":\"y\"," COLUMNS "}," SMALL
                "," CPU ",\"train\":{\"batch_size\":64,%s}%s}",
                task, csv, train, more);
    struct config *c = config_parse(t.data, t.length, scratch("c.json"), &o, &e);
    text_free(&t);
    if (!c)
        printf("# config: %s\n", e.what);
    return c;
}

static bool train(const char *task, const char *csv, const char *options, const char *more,
                  const char *output, bool resume)
{
    err_clear(&e);
    train_release(&r);
    memset(&r, 0, sizeof r);
    struct config *c = config_of(task, csv, options, more);
    if (!c)
        return false;
    struct train_request q = {
        .config = c, .output = scratch(output), .resume = resume, .progress = PROGRESS_NONE};
    bool good = train_run(&q, &r, &e);
    config_free(c);
    if (!good)
        printf("# E%d exit %d: %s\n", (int)e.id, (int)err_exit(&e), e.what);
    return good;
}

static bool same_file(const char *a, const char *b)
{
    size_t length;
    char *bytes = scratch_get(a, &length);
    bool same = bytes && scratch_holds(b, bytes, length);
    free(bytes);
    return same;
}

static bool exists(const char *name)
{
    return access(scratch(name), F_OK) == 0;
}

static size_t checkpoints(const char *output)
{
    struct checkpoint_list l;
    struct err why = {0};
    checkpoint_find(scratch(output), &l, &why);
    size_t count = l.count;
    checkpoint_list_free(&l);
    return count;
}

/* --- cases --- */

#define FIT                                                                                        \
    "\"epochs\":30,\"optimizer\":{\"learning_rate\":0.03},\"early_stopping\":{\"patience\":0}"

static void tasks(void)
{
    ok(train("binary", "b.csv", FIT, "", "b.dnn", false), "binary");
    ok(r.has_valid && r.has_test && r.rows[0] + r.rows[1] + r.rows[2] == 900,
       "every row is in one part");
    ok(r.epochs == 30 && strcmp(r.stopped, "epochs") == 0 && r.exit == 0, "all epochs ran");
    ok(metrics_get(&r.test, "auc") > 0.95, "a product of two numbers is learnt: auc %.3f",
       metrics_get(&r.test, "auc"));
    ok(metrics_get(&r.baseline, "auc") == 0.5 &&
           metrics_get(&r.baseline, "logloss") > metrics_get(&r.test, "logloss"),
       "the baseline knows nothing");
    ok(strlen(r.sha256) == 64 && exists("b.dnn") && !exists("b.dnn.lock") &&
           checkpoints("b.dnn") == 0,
       "the model is there, lock and checkpoints are not");
    ok(train("multiclass", "m.csv", FIT, "", "m.dnn", false) &&
           metrics_get(&r.test, "accuracy") > 0.9,
       "multiclass");
    bool good = train("regression", "r.csv", FIT, "", "r.dnn", false);
    ok(good && metrics_get(&r.test, "r2") > 0.93, "regression: r2 %.3f",
       metrics_get(&r.test, "r2"));
    ok(metrics_get(&r.baseline, "r2") < 0.05, "the mean explains nothing");
}

static void again_and_again(void)
{
    ok(train("binary", "b.csv", "\"epochs\":4", "", "one.dnn", false), "N15 once");
    char sha[65];
    memcpy(sha, r.sha256, 65);
    ok(train("binary", "b.csv", "\"epochs\":4", "", "two.dnn", false) &&
           same_file("one.dnn", "two.dnn"),
       "N15 twice: the same bytes under another name");
    is_string(r.sha256, sha, "and the same hash");
    ok(train("binary", "b.csv", "\"epochs\":4,\"seed\":1", "", "two.dnn", false) &&
           !same_file("one.dnn", "two.dnn"),
       "another seed gives another model, and replaces the old one");
}

static void shapes(void)
{
    ok(train("binary", "b.csv", "\"epochs\":3,\"grad_accumulation\":3", "", "s.dnn", false),
       "gradients are accumulated");
    ok(train("binary", "b20.csv", "\"epochs\":3", "", "s20.dnn", false) && r.epochs == 3,
       "N08 fewer rows than a batch");
    expect_warnings(1); /* too few rows to learn from */
    struct config *c =
        config_of("binary", "b.csv", "\"epochs\":2", ",\"output\":{\"metrics\":\"m.jsonl\"}");
    c->data.split.valid = c->data.split.test = 0;
    struct train_request q = {.config = c, .output = scratch("s.dnn"), .progress = PROGRESS_NONE};
    ok(train_run(&q, &r, &e) && !r.has_valid && !r.has_test && r.best_epoch == 2,
       "no validation rows: the last epoch's weights are kept");
    struct json_out out = {0};
    train_write(&q, &r, &out);
    struct json_doc *doc = json_parse(out.text.data, out.text.length, "train", &e);
    ok(doc && strcmp(json_string(json_get(json_root(doc), "schema")), "dnn.train/1") == 0 &&
           json_path(json_root(doc), "seconds.total") && json_path(json_root(doc), "backend.used"),
       "the answer is JSON of the contract");
    json_free(doc);
    text_free(&out.text);
    config_free(c);
    size_t length, lines = 0;
    char *journal = scratch_get("m.jsonl", &length);
    for (size_t i = 0; journal && i < length; i++)
        lines += journal[i] == '\n';
    ok(lines == 2 && strstr(journal, "dnn.epoch/1") && strstr(journal, "host_peak_bytes"),
       "a line an epoch");
    free(journal);
    ok(!train("binary", "one.csv", "\"epochs\":2", "", "s1.dnn", false) && err_exit(&e) == 65 &&
           !exists("s1.dnn"),
       "N03 one class only: 65, and nothing is written");
}

static void patience(void)
{
    ok(train("binary", "b.csv",
             "\"epochs\":400,\"optimizer\":{\"learning_rate\":0.02},"
             "\"early_stopping\":{\"patience\":4}",
             "", "p.dnn", false) &&
           strcmp(r.stopped, "patience") == 0 && r.epochs == r.best_epoch + 4,
       "patience: %lld epochs, best %lld", (long long)r.epochs, (long long)r.best_epoch);
    ok(train("binary", "b.csv",
             "\"epochs\":3,\"early_stopping\":{\"metric\":\"auc\",\"patience\":1}", "", "p.dnn",
             false),
       "on another metric");
    ok(train("binary", "b.csv",
             "\"epochs\":100000,\"time_limit_s\":0.4,\"early_stopping\":{\"patience\":0}", "",
             "p.dnn", false) &&
           strcmp(r.stopped, "time_limit") == 0 && r.exit == 0 && r.epochs > 0,
       "the time is up: the best so far, exit 0");
    unsigned warnings = log_warnings();
    log_setup(LOG_ERROR, false);
    ok(train("binary", "b.csv", "\"epochs\":9,\"time_limit_s\":0.000001", "", "short.dnn", false) &&
           strcmp(r.stopped, "time_limit") == 0 && exists("short.dnn"),
       "up before the first epoch ends: the weights as they are");
    log_setup(LOG_NOTE, false);
    is_int(log_warnings() - warnings, 2, "with a warning, and one of what it is worth");
    expect_warnings(2);
    ok(r.epochs == 0 && r.best_epoch == 0 && metrics_get(&r.valid, "logloss") > 0,
       "no epoch is said to be done, and what it reaches is measured");
    struct json_out out = {0};
    struct train_request q = {.output = "p.dnn"};
    train_write(&q, &r, &out);
    ok(strstr(out.text.data, "\"epochs\":0,\"best_epoch\":null,\"stopped\":\"time_limit\"") != NULL,
       "as JSON: no best epoch");
    text_free(&out.text);
}

static void diverging(void)
{
    static const char wild[] =
        "\"epochs\":60,\"optimizer\":{\"type\":\"sgd\",\"learning_rate\":1000,\"momentum\":0.9},"
        "\"checkpoint\":{\"every_s\":1000}";
    ok(train("regression", "r.csv", "\"epochs\":2", "", "d.dnn", false), "a model from before");
    size_t length;
    char *before = scratch_get("d.dnn", &length);
    ok(!train("regression", "r.csv", wild, "", "d.dnn", false) && err_exit(&e) == 80,
       "N01 a wild learning rate: 80");
    ok(strstr(e.help, "learning_rate") && strstr(e.help, "clip_norm") &&
           strstr(e.help, "start again") &&
           strstr(e.what, "no epoch had ended: nothing is written") &&
           strstr(e.what, " of layer ") && checkpoints("d.dnn") == 0,
       "N01 before the first epoch ended: where it broke, what to change, nothing is written");
    ok(scratch_holds("d.dnn", before, length), "the model from before is untouched");
    free(before);
    ok(!exists("d.dnn.lock"), "and the lock is gone");
    static const char late[] =
        "\"epochs\":60,\"optimizer\":{\"type\":\"sgd\",\"learning_rate\":%g,"
        "\"momentum\":0.9},\"schedule\":{\"warmup\":0.95},"
        "\"early_stopping\":{\"patience\":0},\"checkpoint\":{\"every_s\":1000}";
    char options[512], sha[65];
    snprintf(options, sizeof options, late, 5.0);
    unsigned warnings = log_warnings();
    ok(train("regression", "r.csv", options, "", "late.dnn", false) && r.exit == 0 &&
           strcmp(r.stopped, "diverged") == 0 && r.best_epoch > 0 && r.best_epoch < 60 &&
           checkpoints("late.dnn") == 0,
       "N01 after some epochs: the model of the best one, exit 0");
    is_int(log_warnings() - warnings, 1, "N01 with a warning");
    expect_warnings(1);
    ok(metrics_get(&r.valid, "r2") > 0.5, "N01 a good model: r2 %.3f", metrics_get(&r.valid, "r2"));
    memcpy(sha, r.sha256, 65);
    int64_t best = r.best_epoch;
    ok(train("regression", "r.csv", options, "", "late.dnn", false) && r.best_epoch == best,
       "N01 once more");
    is_string(r.sha256, sha, "N01 the same bytes");
    expect_warnings(1);
}

static void outputs(void)
{
    scratch_put("text.dnn", "hello", 5);
    ok(!train("binary", "b.csv", "\"epochs\":1", "", "text.dnn", false) && err_exit(&e) == 73,
       "F06 not a dnn model: 73");
    ok(scratch_holds("text.dnn", "hello", 5), "it is untouched");
    ok(!train("binary", "b.csv", "\"epochs\":1", "", "no/where.dnn", false) && err_exit(&e) == 73,
       "F07 no folder: 73");
    ok(!train("binary", "b.csv", "\"epochs\":1", "", "b.csv", false) && err_exit(&e) == 64,
       "L06 the input: 64");
    ok(!train("binary", "b.csv", "\"epochs\":1", ",\"output\":{\"metrics\":\"b.csv\"}", "x.dnn",
              false) &&
           err_exit(&e) == 64,
       "L06 the journal over the input: 64");
    if (link(scratch("b.csv"), scratch("hard.dnn")) == 0)
        ok(!train("binary", "b.csv", "\"epochs\":1", "", "hard.dnn", false) && err_exit(&e) == 64,
           "L06 through a link");
    ok(train("binary", "b.csv", "\"epochs\":1", "", "real.dnn", false), "a model");
    expect_warnings(1); /* one epoch is not enough */
    if (symlink(scratch("real.dnn"), scratch("sym.dnn")) == 0) {
        struct stat st;
        ok(train("binary", "b.csv", "\"epochs\":2", "", "sym.dnn", false) &&
               lstat(scratch("sym.dnn"), &st) == 0 && S_ISLNK(st.st_mode) &&
               same_file("sym.dnn", "real.dnn"),
           "F11 the file behind a link is replaced, the link stays");
    }
    ok(!train("binary", "gone.csv", "\"epochs\":1", "", "x.dnn", false) && err_exit(&e) == 66 &&
           !exists("x.dnn.lock"),
       "no input: 66");
}

/* --- stopping and resuming --- */

#define LONG                                                                                       \
    "\"epochs\":40,\"optimizer\":{\"learning_rate\":0.02},\"early_stopping\":{\"patience\":0},"    \
    "\"checkpoint\":{\"every_s\":1000}"

static void term_after(unsigned milliseconds, int number)
{
    if (fork() == 0) {
        usleep(milliseconds * 1000);
        kill(getppid(), number);
        _exit(0);
    }
}

static double whole_s; /* what such a training takes */

static void resuming(void)
{
    ok(train("binary", "big.csv", LONG, "", "whole.dnn", false), "a training that nobody stops");
    whole_s = r.total_s;
    unsigned resumes = 0;
    bool good = true, done = false;
    for (unsigned turn = 0; turn < 60 && !done && good; turn++) {
        term_after((unsigned)(whole_s * 1000 * (0.15 + 0.05 * (turn % 5))) + 1, SIGTERM);
        done = train("binary", "big.csv", LONG, "", "parts.dnn", true);
        wait(NULL);
        stop_forget();
        good = done || (e.id == ERR_STOPPED && r.exit == 75 && !exists("parts.dnn.lock"));
        resumes += !done;
    }
    ok(good && done && resumes > 0, "S01 stopped and resumed %u times", resumes);
    ok(same_file("whole.dnn", "parts.dnn"), "the same bytes as the one that nobody stopped");
    is_int((int64_t)checkpoints("parts.dnn"), 0, "the checkpoints are gone");
}

static void other_training(void)
{
    bool stopped = false;
    double after_s = whole_s / 2; /* a busy machine may not have begun to train by then */
    for (int turn = 0; turn < 20 && checkpoints("o.dnn") == 0; turn++) {
        term_after((unsigned)(after_s * 1000) + 1, SIGTERM);
        stopped = !train("binary", "big.csv", LONG, "", "o.dnn", false) && e.id == ERR_STOPPED;
        wait(NULL);
        stop_forget();
        after_s *= stopped ? 1.2 : 0.8;
    }
    if (!stopped) {
        tap_skip("M17 a checkpoint of another training", "the training was over too soon");
        return;
    }
    ok(checkpoints("o.dnn") == 1, "a checkpoint is left");
    ok(!train("binary", "big.csv", LONG ",\"seed\":3", "", "o.dnn", true) && err_exit(&e) == 76 &&
           strstr(e.what, "train.seed"),
       "M17 another config: 76 and the key");
    ok(!train("binary", "b.csv", LONG, "", "o.dnn", true) && err_exit(&e) == 76 &&
           strstr(e.what, "data"),
       "M17 other data: 76");
    stop_request(SIGTERM);
    ok(!train("binary", "big.csv", LONG, "", "o.dnn", true) && e.id == ERR_STOPPED &&
           strstr(e.what, "are left as they are") && strstr(e.help, "--resume") &&
           checkpoints("o.dnn") == 1,
       "S01 stopped while the rows are read: the checkpoints are left, which is said");
    stop_forget();
    ok(train("binary", "b.csv", "\"epochs\":1", "", "o.dnn", false) && checkpoints("o.dnn") == 1,
       "without --resume it is noted and left");
    expect_warnings(1); /* one epoch is not enough */
    ok(train("binary", "b.csv", "\"epochs\":1", "", "fresh.dnn", true),
       "--resume with none starts afresh");
    expect_warnings(1);
}

static void before_the_start(void)
{
    stop_request(SIGTERM);
    ok(!train("binary", "b.csv", "\"epochs\":1", "", "n.dnn", false) && err_exit(&e) == 75 &&
           strstr(e.what, "there is no checkpoint"),
       "S09 before the first step: 75, start again");
    stop_forget();
    stop_request(SIGINT);
    ok(!train("binary", "b.csv", "\"epochs\":1", "", "n.dnn", false) && err_exit(&e) == 130,
       "S02 SIGINT: 130");
    stop_forget();
    ok(!exists("n.dnn") && checkpoints("n.dnn") == 0 && !exists("n.dnn.lock"), "nothing is left");
    stop_request(SIGUSR1);
    stop_request(SIGUSR2);
    fflush(stderr);
    int saved = dup(STDERR_FILENO), told = open(scratch("told"), O_CREAT | O_WRONLY, 0600);
    dup2(told, STDERR_FILENO);
    bool good = train("binary", "b.csv", "\"epochs\":3", "", "n.dnn", false);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(told);
    ok(good && checkpoints("n.dnn") == 0,
       "S03 S04 a checkpoint and a status line on request, and the training goes on");
    size_t length;
    char *lines = scratch_get("told", &length);
    ok(strstr(lines, "epoch 1/3, step 0, best epoch 0, ") && !strstr(lines, "nan"),
       "S04 a status line before the first step has no loss");
    free(lines);
}

static void checking(void)
{
    struct config *c = config_of("binary", "b.csv", "\"epochs\":5", "");
    struct check_result k;
    ok(check_run(c, NULL, &k, &e), "check");
    ok(k.rows[0] + k.rows[1] + k.rows[2] == 900 && k.parameters > 0 &&
           k.columns_by_type[COLUMN_NUMERIC] == 2 && k.columns_by_type[COLUMN_CATEGORICAL] == 1,
       "rows, columns and parameters");
    ok(k.host_bytes > k.encoded_bytes && k.seconds > 0 && k.largest_batch_train >= 64 &&
           k.largest_batch_predict >= 64,
       "memory, time and the largest batch");
    ok(k.resolved.length > 100 && strstr(k.resolved.data, "\"layers\""), "the preset as layers");
    struct json_out out = {0};
    check_write(c, &k, &out);
    struct json_doc *doc = json_parse(out.text.data, out.text.length, "check", &e);
    ok(doc && json_path(json_root(doc), "memory.host_bytes") &&
           json_path(json_root(doc), "rows.train"),
       "as JSON");
    json_free(doc);
    text_free(&out.text);
    check_free(&k);
    config_free(c);
}

int main(void)
{
    scratch_make();
    log_setup(LOG_ERROR, false);
    stop_install();
    make_csv("b.csv", 900, 'b');
    make_csv("b20.csv", 40, 'b');
    make_csv("big.csv", 6000, 'b');
    make_csv("m.csv", 900, 'm');
    make_csv("r.csv", 900, 'r');
    static const char one[] = "a,b,c,y\n1,2,x,yes\n2,3,y,yes\n3,4,x,yes\n4,1,y,yes\n5,5,x,yes\n";
    scratch_put("one.csv", one, strlen(one));
    tasks();
    again_and_again();
    shapes();
    patience();
    diverging();
    outputs();
    resuming();
    other_training();
    before_the_start();
    checking();
    threads_stop();
    train_release(&r);
    return done();
}
