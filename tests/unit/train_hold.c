/* train_hold.c -
 * which checkpoint a training that went on from others holds, until when, and what is
 * left of them when it ends badly. Ids: N01. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "scratch.h"
#include "tap.h"
#include "train/training.h"

enum { STEPS = 10 };
static struct config config;
static char output[512];
static char config_text[] = "{\"train\":{\"optimizer\":{\"learning_rate\":1}}}";
static char other_text[] = "{\"train\":{\"optimizer\":{\"learning_rate\":2}}}";
static const struct metric_type falling = {.name = "loss"}, rising = {.name = "auc",
                                                                      .higher = true};

/* A training whose epochs had these losses; a loss above 1000 is ruined. The metric is the loss,
 * or what `metrics` says. */
static void begin(struct training *t, const struct metric_type *metric, const double *losses,
                  const double *metrics, int64_t epochs)
{
    *t = (struct training){
        .config = &config, .config_text = config_text, .steps = STEPS, .output = output};
    t->history = (struct history){.metric = metric, .untrained = 1, .constant = 1};
    t->history.constant_metric = metric && !metric->higher ? 100 : 0; /* above 1000: useless */
    t->keeper = (struct keeper){.output = t->output, .keep = 2};
    for (int64_t i = 0; i < epochs; i++)
        history_add(&t->history, (struct history_row){.loss = losses[i],
                                                      .metric = metrics ? metrics[i] : losses[i]});
    if (metric && epochs)
        t->best.params = mem_zero(1, sizeof *t->best.params);
}

static void finish(struct training *t)
{
    mem_free(t->checkpoint);
    mem_free(t->best.params);
    keeper_release(&t->keeper);
    history_release(&t->history);
}

/* It went on from its newest checkpoint, whose text is `from`; the epoch it lies in had this loss
 * so far. */
static void go_on_inside(struct training *t, const char *from, const int64_t *steps, size_t count,
                         double loss)
{
    struct checkpoint c = {.config = (char *)(uintptr_t)from};
    for (size_t i = 0; i < count; i++)
        keeper_own(&t->keeper, steps[i], steps[i]);
    c.now.tried = steps[count - 1];
    c.now.epoch_loss = loss;
    c.now.epoch_weight = 1;
    training_hold(t, &c);
}

static void go_on(struct training *t, const char *from, const int64_t *steps, size_t count)
{
    go_on_inside(t, from, steps, count, 1);
}

/* An epoch ends. */
static void epoch(struct training *t, double loss)
{
    training_release(t, history_add(&t->history, (struct history_row){loss, loss, 1}));
}

static void holds(void)
{
    static const double good[] = {5, 4, 3}, wild[] = {5, 4, 5000};
    static const int64_t steps[] = {10, 20, 30};
    struct training t;
    begin(&t, &falling, good, NULL, 3);
    go_on(&t, config_text, steps, 3);
    is_int(t.keeper.held, 0, "the same rate and a best epoch to go back to: nothing is held");
    finish(&t);
    begin(&t, &falling, good, NULL, 3);
    go_on(&t, other_text, steps, 3);
    is_int(t.keeper.held, 30, "N01 another rate: the newest is held");
    finish(&t);
    begin(&t, &falling, wild, NULL, 3);
    go_on(&t, other_text, steps, 3);
    is_int(t.keeper.held, 20, "N01 the newest that is not ruined");
    finish(&t);
    static const int64_t inside[] = {10, 15, 25};
    begin(&t, &falling, good, NULL, 2);
    go_on_inside(&t, other_text, inside, 3, 7);
    is_int(t.keeper.held, 25, "N01 inside an epoch");
    finish(&t);
    begin(&t, &falling, good, NULL, 2);
    go_on_inside(&t, other_text, inside, 3, 5000);
    is_int(t.keeper.held, 15, "N01 that is ruined: the one before it");
    finish(&t);
    begin(&t, &falling, (const double[]){5, 5000}, NULL, 2);
    go_on_inside(&t, other_text, inside, 3, 5000);
    is_int(t.keeper.held, 10, "N01 inside one that ended so: too");
    finish(&t);
    begin(&t, NULL, good, NULL, 3);
    go_on(&t, config_text, steps, 3);
    is_int(t.keeper.held, 30, "without validation rows, at the same rate too");
    finish(&t);
    begin(&t, &falling, good, NULL, 2);
    t.keeper.earlier = 10;
    go_on(&t, config_text, steps, 2);
    is_int(t.keeper.held, 0, "another rate before that, and a better epoch since: nothing");
    finish(&t);
    begin(&t, &falling, (const double[]){3, 4, 5}, NULL, 3);
    t.keeper.earlier = 10;
    go_on(&t, config_text, steps, 3);
    is_int(t.keeper.held, 10, "N01 and no better one: what it had gone on from is held on");
    finish(&t);
    begin(&t, NULL, (const double[]){5, 3, 4}, NULL, 3);
    t.keeper.earlier = 20;
    go_on(&t, config_text, steps, 3);
    is_int(t.keeper.held, 20, "without validation rows: the loss has not come back");
    finish(&t);
    begin(&t, NULL, (const double[]){5, 3, 2}, NULL, 3);
    t.keeper.earlier = 20;
    go_on(&t, config_text, steps, 3);
    is_int(t.keeper.held, 30, "it has: the newest");
    finish(&t);
}

/* Files of another training had the names 10 and 30: ours are 11, 20 and 31. */
static void names(void)
{
    static const double wild[] = {5, 4, 5000}, more[] = {5, 4, 3, 5000};
    struct training t;
    struct checkpoint c = {.config = other_text, .now = {.tried = 30}};
    begin(&t, &falling, more, NULL, 4);
    keeper_own(&t.keeper, 11, 10);
    keeper_own(&t.keeper, 20, 20);
    keeper_own(&t.keeper, 31, 30);
    is_int(training_newest_good(&t), 31, "a name is no step: what its epoch was, and not the next");
    training_hold(&t, &c);
    is_int(t.keeper.held, 31, "nor where it is held");
    finish(&t);
    begin(&t, &falling, wild, NULL, 2);
    keeper_own(&t.keeper, 11, 10);
    keeper_own(&t.keeper, 21, 20);
    is_int(training_newest_good(&t), 21, "nor where it lies behind the last epoch");
    finish(&t);
}

static void releases(void)
{
    static const double good[] = {5, 4, 3};
    static const int64_t steps[] = {10, 20, 30};
    struct training t;
    begin(&t, &falling, good, NULL, 3);
    go_on(&t, other_text, steps, 3);
    epoch(&t, 100);
    is_int(t.keeper.held, 30, "N01 a worse epoch does not take its place");
    epoch(&t, 2);
    is_int(t.keeper.held, 0, "N01 a better one does");
    finish(&t);
    begin(&t, NULL, good, NULL, 3);
    go_on(&t, other_text, steps, 3);
    epoch(&t, 100);
    is_int(t.keeper.held, 30, "N01 without validation rows: a higher loss does not");
    epoch(&t, 5000);
    is_int(t.keeper.held, 30, "nor a ruined one");
    epoch(&t, 3);
    is_int(t.keeper.held, 0, "one that is no higher does");
    finish(&t);
    begin(&t, &rising, good, (const double[]){0.5, 0.6, 0.7}, 3);
    go_on(&t, other_text, steps, 3);
    epoch(&t, 5000);
    is_int(t.keeper.held, 30, "nor the best one, where it is ruined");
    finish(&t);
}

/* The first step behind the checkpoint of step 5, which was good as its file says, had this loss:
 * what there is to go back to. */
static void refuted(double loss, int64_t left, const char *what)
{
    struct training t;
    const struct step now = {.tried = 6, .loss = loss, .weight = 1};
    real one = 1;
    struct checkpoint c = {.params = &one, .param_count = 1, .config = config_text};
    struct err e = {0};
    int64_t name;
    memset(c.data, 'a', sizeof c.data - 1);
    c.plan = (struct plan){.backend = "cpu",
                           .core = "c",
                           .blas_core = "none",
                           .precision = "fp32",
                           .batch = 1,
                           .micro = 1,
                           .shards = 1,
                           .version = 1};
    begin(&t, &falling, NULL, NULL, 0);
    for (int64_t step = 3; step <= 5; step += 2) {
        c.now = (struct step){.tried = step, .applied = step, .epoch_loss = 5, .epoch_weight = 1};
        ok(keeper_save(&t.keeper, &c, &name, &e), "a checkpoint inside the first epoch: %s",
           e.what);
    }
    training_judge(&t, &now);
    is_int(training_newest_good(&t), left, what);
    keeper_clear(&t.keeper);
    finish(&t);
}

/* The first step behind the checkpoint of step 5 had this loss. */
static void judged(int64_t epochs, double loss, int64_t left, const char *what)
{
    static const double good[] = {5};
    const struct step now = {.tried = epochs * STEPS + 6, .loss = loss, .weight = 1};
    const int64_t at = epochs * STEPS + 5;
    struct training t;
    begin(&t, &falling, good, NULL, epochs);
    go_on(&t, other_text, &at, 1);
    training_judge(&t, &now);
    is_int(t.keeper.held, left, what);
    finish(&t);
}

static void judges(void)
{
    judged(0, 5, 5, "a first step as any: the checkpoint is held on");
    judged(0, 5000, 0, "N01 a ruined one: it is not");
    judged(0, (double)NAN, 0, "N01 nor where it is no number");
    judged(1, 5000, 15, "N01 but where an epoch has ended well before it");
    refuted(5, 5, "a good one is the newest good one");
    refuted(5000, 3, "N01 a refuted one is not good: the one before it is");
}

/* A training diverges that had gone on from the first `found` checkpoints, and wrote the others:
 * the newest that is left, whether it is called good, and what is said. */
static void falls(size_t found, const struct metric_type *metric, const double *losses,
                  const double *metrics, int64_t left, const char *want)
{
    static const int64_t steps[] = {10, 20, 30};
    struct training t;
    char text[600];
    begin(&t, metric, losses, metrics, 3);
    for (size_t i = 0; i < 3; i++) {
        char *path = checkpoint_path(t.output, steps[i]);
        scratch_put(strrchr(path, '/') + 1, "x", 1);
        mem_free(path);
        keeper_own(&t.keeper, steps[i], steps[i]);
        t.keeper.own[i].written = i >= found;
    }
    bool kept = training_keep_last(&t, true, text, sizeof text);
    is_int(keeper_newest(&t.keeper).name, left, "N01 the newest checkpoint that is left");
    struct checkpoint_list l;
    struct err e = {0};
    checkpoint_find(t.output, &l, &e);
    is_int(l.count ? l.steps[l.count - 1] : -1, left, "and that lies there");
    checkpoint_list_free(&l);
    ok(kept == (strcmp(want, "is kept") == 0) && strstr(text, want), "%s: %s", want, text);
    finish(&t);
}

static void falls_all(void)
{
    static const double early[] = {5000, 4, 3}, late[] = {5000, 4, 5000};
    static const double all[] = {5000, 6000, 7000};
    static const double ranks[] = {0.9, 0.6, 0.5};
    falls(0, &rising, early, ranks, 30, "is kept");
    falls(0, &rising, late, ranks, 20, "is kept");
    falls(0, &rising, all, ranks, -1, "no epoch had ended well");
    falls(0, NULL, all, NULL, -1, "no epoch had ended well");
    static const double fair[] = {1, 1, 1}, far[] = {2000, 1500, 1200};
    falls(0, &falling, fair, far, -1, "no epoch had ended well");
    falls(1, &falling, fair, far, 10, "no epoch had ended well before; what it went on from");
    falls(3, NULL, all, NULL, 30, "000030\"");
    falls(1, &rising, late, ranks, 20, "is kept");
    struct training t;
    char text[600];
    begin(&t, &rising, early, ranks, 3);
    ok(!training_keep_last(&t, true, text, sizeof text) &&
           strstr(text, "no checkpoint of an epoch that ended well"),
       "no checkpoint was written: %s", text);
    finish(&t);
}

int main(void)
{
    scratch_make();
    snprintf(output, sizeof output, "%s", scratch("h.dnn"));
    holds();
    names();
    releases();
    judges();
    falls_all();
    return done();
}
