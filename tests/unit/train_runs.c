/* train_runs.c - several runs over one table in one process, side by side: each gives the bytes of
 * a training by itself. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/thread.h"
#include "scratch.h"
#include "tap.h"
#include "train/training.h"

enum { RUNS = 3 };

static struct err e;

static void make_csv(void)
{
    struct text t = {0};
    text_put(&t, "a,b,c,y\n");
    for (unsigned i = 0; i < 900; i++) {
        double a = 2 * rng_uniform(7, 2 * i, 0, 0, RNG_TEST) - 1,
               b = 2 * rng_uniform(7, 2 * i + 1, 0, 0, RNG_TEST) - 1;
        text_printf(&t, "%.6f,%.6f,%s,%s\n", a, b, &"red\0one\0blu"[4 * (i % 3)],
                    a * b > 0 ? "yes" : "no");
    }
    scratch_put("d.csv", t.data, t.length);
    text_free(&t);
}

static struct config *config_of(unsigned seed)
{
    struct text t = {0};
    struct overrides o = {.threads = -1, .batch_size = -1, .time_limit_s = -1};
    text_printf(&t,
                "{\"task\":\"binary\",\"data\":{\"train\":\"d.csv\",\"target\":\"y\",\"columns\":{"
                "\"a\":\"numeric\",\"b\":\"numeric\",\"c\":\"categorical\"}},"
                "\"model\":{\"preset\":\"mlp\",\"hidden\":[16],\"dropout\":0.1},"
                "\"backend\":{\"name\":\"dnn_cpu\",\"threads\":2},"
                "\"train\":{\"epochs\":12,\"batch_size\":64,\"seed\":%u,"
                "\"optimizer\":{\"learning_rate\":0.02}}}",
                seed);
    struct config *c = config_parse(t.data, t.length, scratch("c.json"), &o, &e);
    text_free(&t);
    return c;
}

static bool same_file(const char *a, const char *b)
{
    size_t length;
    char *bytes = scratch_get(a, &length);
    bool same = bytes && scratch_holds(b, bytes, length);
    free(bytes);
    return same;
}

/* runs[1] and later read the table of runs[0]. All are open, loaded and built before the first one
 * trains; the last one trains first. */
static void side_by_side(void)
{
    static struct training runs[RUNS];
    static struct train_request requests[RUNS];
    static struct train_result results[RUNS];
    char names[RUNS][32];
    bool good = true;
    for (int i = 0; i < RUNS; i++) {
        snprintf(names[i], sizeof names[i], "run%d.dnn", i);
        struct config *c = config_of((unsigned)i + 1);
        requests[i] = (struct train_request){
            .config = c, .output = mem_string(scratch(names[i])), .progress = PROGRESS_NONE};
        runs[i] = (struct training){.request = &requests[i],
                                    .began = clock_now(),
                                    .lender = i ? &runs[0] : NULL};
        good = good && c && training_open(&runs[i], &requests[i], &e) &&
               training_load(&runs[i], &e) && training_build(&runs[i], &e);
    }
    ok(good, "%d runs over one table are open at once", RUNS);
    ok(runs[1].table == runs[0].table && runs[2].schema == runs[0].schema, "there is one table");
    for (int i = RUNS; i-- > 0;) {
        runs[i].progress = progress_open(PROGRESS_NONE, 12, NULL);
        good = good && epochs_run(&runs[i], &e);
    }
    for (int i = 0; i < RUNS; i++)
        good = good && train_save(&runs[i], &results[i], &e);
    ok(good, "each ends with a model: %s", e.what);
    for (int i = RUNS; i-- > 0;)
        training_close(&runs[i]);
    for (int i = 0; i < RUNS; i++) {
        struct train_result alone = {0};
        struct train_request q = requests[i];
        q.output = scratch("alone.dnn");
        ok(train_run(&q, &alone, &e) && same_file("alone.dnn", names[i]),
           "run %d has the bytes of a training by itself", i + 1);
        ok(strcmp(alone.sha256, results[i].sha256) == 0, "and its hash");
        train_release(&alone);
        config_free(requests[i].config);
        mem_free((char *)(uintptr_t)requests[i].output);
    }
    ok(strcmp(results[0].sha256, results[1].sha256) != 0, "another seed gives another model");
}

int main(void)
{
    scratch_make();
    log_setup(LOG_ERROR, false);
    make_csv();
    side_by_side();
    threads_stop();
    return done();
}
