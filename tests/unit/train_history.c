/* train_history.c - early stopping's rule, and the journal of epochs. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "scratch.h"
#include "tap.h"
#include "train/run/history.h"
#include "train/journal.h"

#include <math.h>

static bool add(struct history *h, double metric)
{
    return history_add(h, (struct history_row){.loss = 1, .metric = metric, .learning_rate = 0.1});
}

static void lower_is_better(void)
{
    struct history h = {.metric = metric_find("logloss", TASK_BINARY), .patience = 2};
    ok(add(&h, 0.9) && add(&h, 0.8), "each better epoch is the best");
    ok(!add(&h, 0.8) && h.waited == 1 && !history_over(&h, 1), "an equal one is not");
    ok(!add(&h, 0.85) && history_over(&h, 1), "patience is used up");
    ok(add(&h, 0.7) && !history_over(&h, 1) && h.best_epoch == 5, "a better one begins anew");
    ok(!add(&h, (double)NAN) && h.best_epoch == 5, "NaN is never best");
    struct history again = {.metric = h.metric, .patience = 2};
    history_replay(&again, h.rows, h.epochs);
    ok(again.best_epoch == h.best_epoch && again.waited == h.waited && again.epochs == h.epochs,
       "replayed, the same state");
    ok(!add(&h, 0.8) && history_over(&h, 1), "patience is used up again");
    h.min_steps = 5;
    ok(!history_over(&h, 2) && history_over(&h, 3), "it lasts for min_steps steps at least");
    history_release(&again);
    history_release(&h);
}

static void nothing_flagged(void)
{
    struct history h = {.metric = metric_find("f1", TASK_BINARY), .patience = 2};
    history_add(&h, (struct history_row){.loss = 0.7, .metric = 0});
    ok(history_add(&h, (struct history_row){.loss = 0.5, .metric = 0}) && h.waited == 0,
       "of metrics that are 0 the lower loss is better");
    ok(!history_add(&h, (struct history_row){.loss = 0.6, .metric = 0}), "a higher one is not");
    ok(history_add(&h, (struct history_row){.loss = 0.8, .metric = 0.1}), "a metric above 0 is");
    ok(!history_add(&h, (struct history_row){.loss = 0.2, .metric = 0}), "0 is not any more");
    history_release(&h);
}

static void other_rules(void)
{
    struct history h = {
        .metric = metric_find("auc", TASK_BINARY), .patience = 0, .min_delta = 0.01};
    ok(add(&h, 0.5) && !add(&h, 0.505) && add(&h, 0.52),
       "higher is better, by more than min_delta");
    for (int i = 0; i < 50; i++)
        add(&h, 0.4);
    ok(!history_over(&h, 1) && h.best_epoch == 3, "patience 0: all epochs run, the best is kept");
    history_release(&h);
    struct history none = {.patience = 1};
    static const double losses[] = {3, 1, 2};
    for (int i = 0; i < 3; i++)
        history_add(&none, (struct history_row){.loss = losses[i], .metric = (double)NAN});
    ok(!history_over(&none, 1) && none.best_epoch == 2,
       "without validation rows the lowest training loss is the best, and patience ends nothing");
    history_release(&none);
    struct history late = {.metric = metric_find("rmse", TASK_REGRESSION)};
    struct history ties = {.metric = metric_find("auc", TASK_BINARY), .patience = 2, .last = true};
    ok(add(&ties, 0.5) && add(&ties, 0.5) && !add(&ties, 0.4) && ties.best_epoch == 2 &&
           !add(&ties, (double)NAN) && history_over(&ties, 1),
       "ties last: an equal one is better, a NaN is not");
    history_release(&ties);
    ok(!add(&late, (double)NAN) && add(&late, 3.0) && late.best_epoch == 2,
       "a first NaN is not best either");
    history_release(&late);
}

/* rmse of `epochs` epochs whose steps are as long as the schedule says, and which goes from 1
 * toward 0 with the way that they went: by exp(-way / reach). */
static bool unfinished(int epochs, double reach, bool cosine, double last)
{
    struct history h = {.metric = metric_find("rmse", TASK_REGRESSION)};
    double way = 0;
    for (int i = 0; i < epochs; i++) {
        double rate = cosine ? (1 + cos(3.14159265358979 * i / epochs)) / 2 : 0.5;
        way += rate / epochs;
        double metric = exp(-way / reach) + (i == epochs - 1 ? last : 0);
        history_add(&h, (struct history_row){.learning_rate = rate, .metric = metric});
    }
    bool is = history_unfinished(&h);
    history_release(&h);
    return is;
}

static void ended_too_soon(void)
{
    ok(unfinished(200, 0.3, false, 0) && unfinished(200, 0.3, true, 0),
       "still on the way when the epochs were over, whatever the schedule");
    ok(!unfinished(200, 0.05, false, 0) && !unfinished(200, 0.05, true, 0), "there in time");
    ok(!unfinished(19, 0.3, true, 0), "few epochs are a choice");
    ok(unfinished(20, 0.3, true, 0), "twenty are not");
    ok(!unfinished(200, 0.3, true, 0.1), "the last epoch was not the best");
}

static void journal(void)
{
    struct err e = {0};
    struct journal j;
    ok(journal_open(&j, NULL, &e) && journal_line(&j, "x", &e) && journal_sync(&j, &e),
       "no journal is no work");
    journal_close(&j);
    scratch_put("m.jsonl", "old\nlines\n", 10);
    ok(journal_open(&j, scratch("m.jsonl"), &e), "opened");
    ok(scratch_holds("m.jsonl", "old\nlines\n", 10),
       "what is inside stays until the training begins");
    ok(journal_cut(&j, 0, &e) && journal_line(&j, "{\"a\":1}", &e) &&
           journal_line(&j, "{\"b\":2}", &e),
       "two lines");
    ok(j.length == 16 && scratch_holds("m.jsonl", "{\"a\":1}\n{\"b\":2}\n", 16), "are there");
    ok(journal_sync(&j, &e) && journal_cut(&j, 8, &e), "cut back");
    ok(scratch_holds("m.jsonl", "{\"a\":1}\n", 8), "to the checkpoint's length");
    log_setup(LOG_ERROR, false); /* its note is expected */
    ok(journal_cut(&j, 4000, &e) && j.length == 8, "shorter than remembered: as it is");
    journal_close(&j);
    static const size_t torn[] = {1, 4087, 4088, 4089, 12000};
    char line[12008] = "{\"a\":1}\n";
    memset(line + 8, 'x', sizeof line - 8);
    for (size_t i = 0; i < sizeof torn / sizeof *torn; i++) {
        scratch_put("m.jsonl", line, 8 + torn[i]);
        ok(journal_open(&j, scratch("m.jsonl"), &e) && journal_cut(&j, 20000, &e) && j.length == 8,
           "with %zu bytes of a line without an end: cut to whole lines", torn[i]);
        journal_close(&j);
    }
    ok(scratch_holds("m.jsonl", line, 8), "which stay");
    scratch_put("m.jsonl", line + 8, 5000);
    ok(journal_open(&j, scratch("m.jsonl"), &e) && journal_cut(&j, 20000, &e) && j.length == 0,
       "without any line: empty");
    journal_close(&j);
    ok(journal_open(&j, scratch("new.jsonl"), &e), "a new one");
    journal_close(&j);
    ok(scratch_count() == 1, "is not left when the training never began");
    struct journal other, late;
    ok(journal_open(&j, scratch("new.jsonl"), &e) && journal_own(&j, &e) &&
           journal_open(&late, scratch("new.jsonl"), &e) && journal_own(&late, &e),
       "two trainings open it before it is there");
    ok(journal_cut(&j, 0, &e) && journal_line(&j, "x", &e), "the first one makes it");
    ok(!journal_cut(&late, 0, &e) && err_exit(&e) == 75, "the second one is refused then: 75");
    journal_close(&late);
    err_clear(&e);
    ok(journal_open(&other, scratch("new.jsonl"), &e) && !journal_own(&other, &e) &&
           err_exit(&e) == 75,
       "and a third one at once");
    journal_close(&other);
    err_clear(&e);
    journal_close(&j);
    ok(scratch_holds("new.jsonl", "x\n", 2), "the lines of the first one stay");
    remove(scratch("new.jsonl"));
    ok(!journal_open(&j, scratch("no/m.jsonl"), &e) && err_exit(&e) == 73, "no folder: 73");
    err_clear(&e);
    ok(journal_open(&j, "/dev/null", &e) && journal_cut(&j, 0, &e) && journal_line(&j, "x", &e) &&
           journal_sync(&j, &e),
       "a device is only written");
    journal_close(&j);
}

int main(void)
{
    scratch_make();
    lower_is_better();
    nothing_flagged();
    other_rules();
    ended_too_soon();
    journal();
    return done();
}
