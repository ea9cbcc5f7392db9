/* job_judge.c - warnings about a finished model: no better than a constant answer, or still
 * improving when the epochs were over. The advice names the likeliest cause first. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "measure/metric.h"
#include "train/job.h"

enum { FEW_ROWS = 30 }; /* fewer show little and teach little */
#define TINY 1e-5       /* learning rates below this are not blamed for wild steps */
#define LEARNT 0.9      /* a training loss below this share of the constant's */
#define ROUNDING 1e-6   /* a loss that much below the constant's is not below it */
#define MORE_TIME \
    "the time limit cut its training short: give it more time (train.time_limit_s, --time-limit)"
#define CHANCE 0.5005   /* an AUC below this is 0.5 within rounding, or less */

bool against_better(const struct against *a)
{
    return a->constant - a->loss > ROUNDING * a->constant;
}

static const char *plural(unsigned long long count)
{
    return count == 1 ? "" : "s";
}

static void advise_of_loss(const struct train_job *j, char *text, size_t room)
{
    const struct history *h = &j->run.history;
    double rate = j->config->train.optimizer.learning_rate;
    double first = h->rows[0].loss, last = h->rows[h->epochs - 1].loss;
    double constant = score_constant(&j->run.score, PART_TRAIN);
    if (last > 1.05 * constant && rate > TINY)
        snprintf(text, room,
                 "the training loss is above the constant's (%s, %s): lower "
                 "train.optimizer.learning_rate (now %.3g), or look for extreme values in the data "
                 "or the target", text_figure(last, 4), text_figure(constant, 4), rate);
    else if (last < LEARNT * fmin(first, constant))
        snprintf(text, room,
                 "the training rows were learnt (loss %s, then %s), these were not: the "
                 "columns may tell nothing of the target that holds for other rows, or these "
                 "rows are of another kind (data.split)", text_figure(first, 4),
                 text_figure(last, 4));
    else if (run_is_path(&j->run))
        snprintf(text, room, "the columns may tell nothing of the target that a linear model can "
                             "learn: try the preset mlp");
    else
        snprintf(text, room,
                 "the training rows were not learnt either (loss %s, then %s): the columns may "
                 "tell nothing of the target, or raise train.optimizer.learning_rate (now %.3g)",
                 text_figure(first, 4), text_figure(last, 4), rate);
}

static void advise(const struct train_job *j, const struct train_result *r, enum part part,
                   char *text, size_t room)
{
    const struct train_options *o = &j->config->train;
    unsigned long long learnt = r->rows[PART_TRAIN], rows = r->rows[part];
    if (!j->ensemble->alone)
        snprintf(text, room, "%s", j->ensemble->cut ? MORE_TIME
                                                    : "the columns may tell nothing of the target");
    else if (r->epochs == 0)
        snprintf(text, room,
                 "it was trained for less than an epoch: give it more time (train.time_limit_s, "
                 "--time-limit)");
    else if (strcmp(r->stopped, "time_limit") == 0 &&
             (r->best_epoch == r->epochs || run_is_path(&j->run)))
        snprintf(text, room, "%s", MORE_TIME);
    else if (learnt < FEW_ROWS)
        snprintf(text, room, "it had %llu training row%s, too few to learn from", learnt,
                 plural(learnt));
    else if (j->run.history.metric && r->best_epoch == r->epochs && !run_is_path(&j->run))
        snprintf(text, room,
                 "its last epoch was the best: raise train.epochs (now %lld), or look at "
                 "train.optimizer.learning_rate (now %.3g)",
                 (long long)o->epochs, o->optimizer.learning_rate);
    else if (rows < FEW_ROWS)
        snprintf(text, room, "%llu row%s tell%s little: more of them would show what it is worth",
                 rows, plural(rows), rows == 1 ? "s" : "");
    else
        advise_of_loss(j, text, room);
}

static double auc_of(const struct metrics *m)
{
    double auc = metrics_get(m, "auc");
    return isnan(auc) ? metrics_get(m, "macro_auc") : auc;
}

/* The larger AUC of validation and test rows, if it is 0.5 within rounding, or less; else NaN. */
static double chance(const struct train_result *r)
{
    double auc = fmax(auc_of(&r->valid), auc_of(&r->test)); /* fmax ignores a NaN */
    return auc < CHANCE ? auc : (double)NAN;
}

/* The validation metric that the model at the output's name stores; NaN: not known. */
static double metric_there(const char *model, const char *metric)
{
    struct err ignored = {0};
    struct modelfile *f = modelfile_load(model, &ignored);
    struct json_doc *doc = NULL;
    double value = NAN;
    if (f && f->metrics_text)
        doc = json_parse_own(f->metrics_text, strlen(f->metrics_text), "metrics", &ignored);
    const struct json *valid = doc ? json_get(json_root(doc), "valid") : NULL;
    const struct json *found = valid ? json_get(valid, metric) : NULL;
    if (found && json_kind(found) == JSON_NUMBER)
        value = json_number(found);
    json_free(doc);
    modelfile_free(f);
    return value;
}

/* True: a model is at the output's name: a regular file, not empty (output_check has read it). */
static bool model_stands(const struct train_job *j)
{
    struct stat st;
    return stat(j->output, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

/* All networks of an ensemble answer a test row, but only the networks of one fold answer a row
 * left out: its test metrics may be the better ones. */
static void compare_parts(const struct train_job *j, const struct train_result *r)
{
    const struct metric_type *t = config_metric(j->config);
    double valid = metrics_get(&r->valid, t->name), test = metrics_get(&r->test, t->name);
    if (!r->has_valid || !r->has_test || !metrics_disagree(&r->valid, &r->test, t->name) ||
        (!j->ensemble->alone && test < valid))
        return;
    log_warning("validation and test rows disagree beyond chance: %s %s and %s; the "
                "split may put a whole group into one part (data.split.method time or group), or "
                "the same rows may be in both training and %s", t->name, text_figure(valid, 4),
                text_figure(test, 4), test > valid ? "validation rows" : "test rows");
}

static bool refuse_useless(const struct train_result *r, const struct against *a, struct err *e)
{
    if (r->has_valid)
        err_set(e, ERR_USELESS,
                "the new model is no better than a constant answer: loss %s on the validation "
                "rows, that of the constant %s; the existing model is kept",
                text_figure(a->loss, 4), text_figure(a->constant, 4));
    else
        err_set(e, ERR_USELESS,
                "the training ended inside its first epoch, and there are no validation rows to "
                "measure the new model on; the existing model is kept");
    return err_help(e, "train longer, or on other data; --force replaces the existing model");
}

/* On the test part, else the validation part. */
static bool gates_met(struct train_result *r, struct err *e)
{
    struct text failed = {0};
    for (size_t i = 0; i < r->gate_count; i++) {
        const struct gate *g = &r->gates[i];
        if (g->pass)
            continue;
        text_printf(&failed, "%s%s, measured ", failed.length ? "; " : "", text_quote_z(g->text));
        gate_put(g, &failed);
    }
    bool met = !failed.length;
    if (!met)
        err_set(e, ERR_GATE_UNMET, "gate not met on the %s rows: %s",
                part_names[r->has_test ? PART_TEST : PART_VALID], failed.data);
    text_free(&failed);
    return met;
}

bool job_accept(const struct train_job *j, struct train_result *r, bool useless,
                const struct against *a, struct err *e)
{
    if (useless && !j->request->force && model_stands(j))
        return refuse_useless(r, a, e);
    if (!gates_met(r, e))
        return false;
    compare_parts(j, r);
    return true;
}

void job_tell_replaced(const struct train_job *j, const struct train_result *r)
{
    const struct metric_type *t = config_metric(j->config);
    struct text line = {0};
    char room[512];
    if (r->epochs || !model_stands(j))
        return;
    double now = metrics_get(&r->valid, t->name), then = metric_there(j->output, t->name);
    if (r->has_valid && !isnan(now) && !isnan(then))
        text_printf(&line, " (validation %s %s, of the replaced model %s)", t->name,
                    text_figure(now, 4), text_figure(then, 4));
    log_warning("the model, trained for less than an epoch, replaces \"%s\"%s; give "
                "it more time (train.time_limit_s, --time-limit)",
                job_quoted(j->output, room), line.data ? line.data : "");
    text_free(&line);
}

void job_judge(const struct train_job *j, const struct train_result *r, const struct against *a)
{
    const struct train_options *o = &j->config->train;
    const bool alone = j->ensemble->alone;
    const double auc = chance(r);
    char advice[400];
    if (alone && j->run.history.metric && r->epochs && !r->best_epoch && !j->run.history.begun)
        log_warning("the metric %s had no value after any epoch: the last epoch's weights are "
                    "kept; choose another train.early_stopping.metric",
                    j->run.history.metric->name);
    if (a->constant <= 0 || a->part == PART_TRAIN)
        return; /* one value in all rows: reading them warned */
    if (!against_better(a)) {
        advise(j, r, a->part, advice, sizeof advice);
        log_warning("on the %s%s the model is no better than a constant answer: loss %s, that of "
                    "the constant %s; %s", alone ? part_names[a->part] : job_chooses(j),
                    alone ? " rows" : "", text_figure(a->loss, 4), text_figure(a->constant, 4),
                    advice);
    } else if (!isnan(auc)) {
        advise(j, r, r->has_test ? PART_TEST : PART_VALID, advice, sizeof advice);
        log_warning("the model orders the labels no better than a constant answer: AUC %.4g on the "
                    "%s rows; %s", auc, !r->has_test || auc_of(&r->valid) >= auc
                    ? part_names[PART_VALID] : part_names[PART_TEST], advice);
    } else if (alone && !run_is_path(&j->run) && j->run.history.epochs >= o->epochs &&
               history_unfinished(&j->run.history)) {
        log_warning(
            "the training ended with its epochs while it still got better (the last of %lld was "
            "the best): raise train.epochs, or train.optimizer.learning_rate (now %.3g)",
            (long long)j->run.history.epochs, o->optimizer.learning_rate);
    }
}

const char *job_chooses(const struct train_job *j)
{
    return j->ensemble->alone ? "validation rows" : "rows that the runs did not train on";
}

void job_cut(const struct train_job *j, const struct threshold_point *p, bool reached)
{
    const char *rows = job_chooses(j);
    if (reached)
        log_note("threshold %.6g: on the %s precision %.4g, recall %.4g", p->threshold, rows,
                 p->precision, p->recall);
    else if (isnan(p->recall))
        log_warning("the %s have no positive label to choose a threshold by: it is %.6g", rows,
                    p->threshold);
    else
        log_warning("no threshold reaches what `threshold` asks for on the %s: %.6g comes nearest, "
                    "with precision %.4g and recall %.4g", rows, p->threshold, p->precision,
                    p->recall);
}

void job_count_judged(struct train_result *r, const uint64_t count[PARTS],
                      const uint64_t of[PARTS])
{
    struct text line = {0};
    for (int p = PART_VALID; p < PARTS; p++)
        if (count[p] < of[p])
            text_printf(&line, "%s%llu of %llu %s", line.length ? " and " : "",
                        (unsigned long long)count[p], (unsigned long long)of[p],
                        p == PART_TEST            ? "test rows"
                        : r->rows[PART_VALID] > 0 ? "validation rows"
                                                  : "rows that the runs did not train on");
    if (!line.length)
        return;
    log_note("the time limit leaves time to answer %s: a random sample of them judges the model",
             line.data);
    text_free(&line);
    for (int p = PART_VALID; p < PARTS; p++) {
        r->judged[p] = count[p];
        r->judged_of[p] = of[p];
    }
}
