/* train_runs.c - several runs over one dataset in one process, one after another and side by side
 * in threads: each gives the weights of a training by itself, bit for bit. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/process/thread.h"
#include "model/file/modelfile.h"
#include "scratch.h"
#include "table/fit/encoder_fit.h"
#include "table/fit/view.h"
#include "tap.h"
#include "train/run/run.h"
#include "train/train.h"

enum { RUNS = 4, ROWS = 900 };

static struct err e;

static const char *const recipes[RUNS] = {
    "\"model\":{\"preset\":\"mlp\",\"hidden\":[16],\"dropout\":0.1},"
    "\"train\":{\"epochs\":12,\"batch_size\":64,\"seed\":1,"
    "\"optimizer\":{\"learning_rate\":0.02}}",
    "\"model\":{\"preset\":\"mlp\",\"hidden\":[8,8]},"
    "\"train\":{\"epochs\":9,\"batch_size\":32,\"seed\":2,\"clip_norm\":1,"
    "\"loss\":{\"class_weights\":\"balanced\"}}",
    "\"model\":{\"layers\":[{\"type\":\"dense\",\"units\":16},{\"type\":\"batch_norm\"}]},"
    "\"train\":{\"epochs\":5,\"batch_size\":50,\"seed\":3,"
    "\"optimizer\":{\"type\":\"sgd\",\"learning_rate\":0.05}}",
    "\"model\":{\"preset\":\"linear\"},"
    "\"train\":{\"epochs\":30,\"batch_size\":900,\"seed\":4,"
    "\"early_stopping\":{\"metric\":\"logloss\",\"patience\":2}}"};

/* Row i of the data; run k validates on every fourth row from k on. */
static void put_row(struct text *t, unsigned i)
{
    double a = 2 * rng_uniform(7, 2 * i, 0, 0, RNG_TEST) - 1,
           b = 2 * rng_uniform(7, 2 * i + 1, 0, 0, RNG_TEST) - 1;
    text_printf(t, "%.6f,%.6f,%s,%s\n", a, b, &"red\0one\0blu"[4 * (i % 3)],
                a * b > 0 ? "yes" : "no");
}

/* part: -1 all rows, else those of run k's training (0) or validation (1). */
static void make_csv(const char *name, unsigned k, int part)
{
    struct text t = {0};
    text_put(&t, "a,b,c,y\n");
    for (unsigned i = 0; i < ROWS; i++)
        if (part < 0 || (i % RUNS == k) == part)
            put_row(&t, i);
    scratch_put(name, t.data, t.length);
    text_free(&t);
}

static struct config *config_of(const char *train, const char *valid, unsigned k)
{
    struct text t = {0};
    struct overrides o = {.threads = -1, .batch_size = -1, .time_limit_s = -1};
    text_printf(&t, "{\"task\":\"binary\",\"data\":{\"train\":\"%s\",", train);
    if (valid)
        text_printf(&t, "\"valid\":\"%s\",\"split\":{\"test\":0},", valid);
    text_printf(&t, "\"target\":\"y\",\"positive\":\"yes\",\"columns\":{"
                    "\"a\":\"numeric\",\"b\":\"numeric\",\"c\":\"categorical\"}},"
                    "\"backend\":{\"name\":\"dnn_cpu\",\"threads\":2},%s}", recipes[k]);
    struct config *c = config_parse(t.data, t.length, scratch("c.json"), &o, &e);
    text_free(&t);
    return c;
}

/* A fold of the dataset: its rows, its encoder, its view, and the single training's weights. */
struct fold {
    struct config *config;
    uint32_t train[ROWS], valid[ROWS];
    uint64_t train_count, valid_count;
    struct encoder *encoder;
    struct view *view;
    real *weights; /* of a training of these rows alone */
    uint64_t weight_count;
    /* of a run in a thread */
    bool good, same;
    real *logits; /* of the validation rows */
};
static struct fold folds[RUNS];
static struct dataset *data;

/* The weights of `dnn train` on the fold's rows as files. */
static bool train_alone(struct fold *f, unsigned k)
{
    struct train_result r = {0};
    make_csv("t.csv", k, 0);
    make_csv("v.csv", k, 1);
    struct config *c = config_of("t.csv", "v.csv", k);
    struct train_request q = {.config = c, .output = scratch("alone.dnn"), .progress = 3,
                              .force = true};
    bool good = c && train_run(&q, &r, &e);
    struct modelfile *m = good ? modelfile_load(scratch("alone.dnn"), &e) : NULL;
    if (m) {
        const struct member *one = &m->members[0];
        f->weight_count = one->param_count;
        f->weights = mem_copy(one->params, (size_t)one->param_count * sizeof *one->params);
    }
    modelfile_free(m);
    config_free(c);
    train_release(&r);
    return m != NULL;
}

static void open_fold(struct fold *f, unsigned k)
{
    for (uint32_t i = 0; i < ROWS; i++)
        if (i % RUNS == k)
            f->valid[f->valid_count++] = i;
        else
            f->train[f->train_count++] = i;
    f->encoder = encoder_fit(data, f->train, f->train_count, &e);
    f->view = f->encoder ? view_make(data, f->encoder, false) : NULL;
    f->config = config_of("d.csv", NULL, k);
}

static bool same_weights(const struct run *r, const struct fold *f)
{
    struct network_state now;
    return network_model(r->network)->params == f->weight_count &&
           network_view(r->network, &now) &&
           memcmp(now.params, f->weights, (size_t)f->weight_count * sizeof *f->weights) == 0;
}

/* Trains the fold's run; f->same: it has the weights of the training alone. */
static bool train_fold(struct fold *f, real *logits, struct err *why)
{
    struct network_state last = {0};
    struct run r = {.config = f->config,
                    .seed = f->config->train.seed,
                    .encoder = f->encoder,
                    .rows = f->view->rows,
                    .list = {{f->train, f->train_count}, {f->valid, f->valid_count}},
                    .machine = machine_open(&(struct machine_options){.blas = true}, why),
                    .began = clock_now()};
    struct machine *m = r.machine;
    bool good = m && run_open(&r, why) && !run_plan(&r, NULL) && run_network(&r, why) &&
                run_begin(&r, why) && run_epochs(&r, why) == RUN_ENDED &&
                run_use_best(&r, &last, why) && run_answer(&r, &r.list[PART_VALID], logits, why);
    f->same = good && same_weights(&r, f);
    run_unmap_state(&r, &last);
    run_close(&r);
    machine_close(m);
    return good;
}

static void *train_in_thread(void *fold)
{
    struct fold *f = fold;
    struct err why = {0};
    threads_alone(true);
    f->good = train_fold(f, f->logits, &why);
    return NULL;
}

static void one_after_another(void)
{
    for (unsigned k = RUNS; k-- > 0;) {
        struct fold *f = &folds[k];
        f->logits = mem_zero(2 * ROWS, sizeof *f->logits);
        bool good = train_fold(f, f->logits, &e);
        ok(good && f->same, "run %u has the weights of a training of its rows alone: %s", k + 1,
           e.what);
    }
    ok(folds[0].weight_count != folds[1].weight_count, "the recipes differ");
}

static void side_by_side(void)
{
    pthread_t threads[RUNS];
    real *before[RUNS];
    for (unsigned k = 0; k < RUNS; k++) {
        before[k] = folds[k].logits;
        folds[k].logits = mem_zero(2 * ROWS, sizeof *before[k]);
        folds[k].same = false;
        if (pthread_create(&threads[k], NULL, train_in_thread, &folds[k]) != 0)
            abort();
    }
    for (unsigned k = 0; k < RUNS; k++)
        pthread_join(threads[k], NULL);
    for (unsigned k = 0; k < RUNS; k++) {
        ok(folds[k].good && folds[k].same, "run %u in a thread beside others: the same weights",
           k + 1);
        ok(memcmp(before[k], folds[k].logits, 2 * ROWS * sizeof *before[k]) == 0,
           "and the same answers to the rows that it did not train on");
        mem_free(before[k]);
    }
}

/* Out of fold: each row is answered once, by the run that did not train on it. */
static void out_of_fold(void)
{
    unsigned answered = 0, right = 0;
    const struct rowfmt *format = &folds[0].view->rows.format;
    for (unsigned k = 0; k < RUNS - 1; k++) /* the last one is linear */
        for (uint64_t i = 0; i < folds[k].valid_count; i++, answered++) {
            int32_t label;
            const real *z = folds[k].logits + 2 * i;
            memcpy(&label, rows_at(&folds[k].view->rows, folds[k].valid[i]) + format->at_target,
                   sizeof label);
            right += (z[1] > z[0]) == (label == 1);
        }
    ok(answered == ROWS * (RUNS - 1) / RUNS && right > answered * 3 / 4,
       "out-of-fold answers: %u of %u right", right, answered);
}

int main(void)
{
    scratch_make();
    log_setup(LOG_SILENT, false);
    make_csv("d.csv", 0, -1);
    bool good = true;
    for (unsigned k = 0; k < RUNS; k++)
        good = good && train_alone(&folds[k], k);
    expect_warnings(2); /* the third and the linear one are no better than a constant answer */
    ok(good, "%d trainings by themselves: %s", RUNS, e.what);
    struct config *c = config_of("d.csv", NULL, 0);
    struct schema *declared = c ? schema_declare(&c->data, c->task, c->doc, &e) : NULL;
    data = declared ? dataset_load(declared, &c->data, NULL, &e) : NULL;
    for (unsigned k = 0; data && k < RUNS; k++)
        open_fold(&folds[k], k);
    ok(data && folds[RUNS - 1].view, "one dataset, a view for each fold: %s", e.what);
    one_after_another();
    side_by_side();
    out_of_fold();
    for (unsigned k = 0; k < RUNS; k++) {
        view_free(folds[k].view);
        encoder_free(folds[k].encoder);
        config_free(folds[k].config);
        mem_free(folds[k].weights);
        mem_free(folds[k].logits);
    }
    dataset_free(data);
    schema_free(declared);
    config_free(c);
    threads_stop();
    return done();
}
