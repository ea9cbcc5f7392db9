/* train_judge.c - what a training's own figures say against it: a model that a constant answer
 * beats, or one that was still getting better. Advice follows from what is known of the training,
 * the likeliest cause first. */
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "train/training.h"

#define NOT_PLAIN 3  /* times the rmse of the mean, of a loss that does not aim at the mean */
#define NOT_OVER 1.5 /* times that of the constant, where the last epoch was the best */

enum { FEW_ROWS = 30 };    /* fewer than these tell little, and teach little */
#define STILL 0.01         /* no weight got further than about this */
#define CLIPPED 1e-6       /* adam and rmsprop undo the length, until epsilon is longer */
#define PULLED 0.05        /* the share of a weight that decay takes in a step */
#define FAR 3              /* times the loss of a constant: where steps have thrown a model */
#define LONG 0.1           /* a rate of adam or rmsprop that throws models about */
#define TINY 1e-5          /* a rate that nobody need lower */

/* The learning rates of all steps, summed up: with adam and rmsprop, about how far a weight can
 * get; with sgd, times the norm of its gradient, which clip_norm ends. */
static double way(const struct training *t)
{
    double sum = 0;
    for (int64_t i = 0; i < t->history.epochs; i++)
        sum += t->history.rows[i].learning_rate * (double)t->steps;
    return sum;
}

/* Few steps of a usual length are a choice. */
static bool is_short(const struct training *t)
{
    bool chosen = t->history.epochs < HISTORY_MANY &&
                  t->config->train.optimizer.learning_rate > TINY;
    return !chosen && way(t) < STILL;
}

static bool is_clipped(const struct training *t)
{
    const struct train_options *o = &t->config->train;
    if (o->clip_norm <= 0)
        return false;
    return o->optimizer.kind == OPTIM_SGD
               ? way(t) >= STILL && way(t) * o->clip_norm < STILL
               : o->clip_norm < CLIPPED;
}

static bool is_pulled(const struct training *t)
{
    const struct optim_options *o = &t->config->train.optimizer;
    return o->weight_decay >= 1 && o->learning_rate * o->weight_decay > PULLED;
}

/* Nothing could be learnt, however long it went on. */
static bool is_held(const struct training *t)
{
    return t->history.epochs > 0 && (is_short(t) || is_clipped(t) || is_pulled(t));
}

/* What the best constant answer costs on the training rows; class weights and other losses are
 * measured by what no training at all costs. */
static double constant_loss(const struct training *t)
{
    double constant = t->history.constant, sum = 0, entropy = 0;
    if (!t->classes || !loss_is_plain(&t->config->train.loss))
        return constant;
    double *counts = mem_zero(t->classes, sizeof *counts);
    score_class_counts(&t->score, counts);
    for (uint32_t c = 0; c < t->classes; c++)
        sum += counts[c];
    for (uint32_t c = 0; c < t->classes; c++)
        if (counts[c] > 0)
            entropy -= counts[c] / sum * log(counts[c] / sum);
    mem_free(counts);
    return sum > 0 ? entropy : constant;
}

/* Of a training that had its epochs and whose steps were of a sound length. */
static void advise_of_loss(const struct training *t, char *text, size_t room)
{
    const struct history *h = &t->history;
    double rate = t->config->train.optimizer.learning_rate;
    double first = h->rows[0].loss, last = h->rows[h->epochs - 1].loss;
    double constant = constant_loss(t);
    bool wild = first > FAR * constant || last > constant * 1.05 ||
                (t->config->train.optimizer.kind != OPTIM_SGD && rate > LONG);
    if (wild && rate > TINY)
        snprintf(text, room,
                 "lower train.optimizer.learning_rate (now %.3g), or look for extreme values in "
                 "the data or the target", rate);
    else if (wild)
        snprintf(text, room, "look for extreme values in the data or the target");
    else if (last < 0.9 * fmin(first, constant))
        snprintf(text, room,
                 "the training rows were learnt (loss %.4g, then %.4g), these were not: the "
                 "columns may tell nothing of the target that holds for other rows, or these "
                 "rows are of another kind (data.split)", first, last);
    else
        snprintf(text, room,
                 "the training rows were not learnt either (loss %.4g, then %.4g): the columns "
                 "may tell nothing of the target", first, last);
}

static void advise(const struct training *t, const struct train_result *r, enum part part,
                   bool over, char *text, size_t room)
{
    const struct train_options *o = &t->config->train;
    unsigned long long learnt = r->rows[PART_TRAIN], rows = r->rows[part];
    if (r->epochs == 0)
        snprintf(text, room,
                 "it was trained for less than an epoch: give it more time (train.time_limit_s, "
                 "--time-limit)");
    else if (is_clipped(t))
        snprintf(text, room, "its steps are cut to nothing: raise train.clip_norm (now %.3g)",
                 o->clip_norm);
    else if (is_short(t))
        snprintf(text, room,
                 "its steps are too short to get anywhere: raise train.optimizer.learning_rate "
                 "(now %.3g)", o->optimizer.learning_rate);
    else if (is_pulled(t))
        snprintf(text, room,
                 "every step pulls the weights back: lower train.optimizer.weight_decay (now %.3g)",
                 o->optimizer.weight_decay);
    else if (learnt < FEW_ROWS)
        snprintf(text, room, "it had %llu training row%s, too few to learn from", learnt,
                 learnt == 1 ? "" : "s");
    else if (t->history.metric && !over)
        snprintf(text, room,
                 "its last epoch was the best: raise train.epochs (now %lld), or look at "
                 "train.optimizer.learning_rate (now %.3g)",
                 (long long)o->epochs, o->optimizer.learning_rate);
    else if (rows < FEW_ROWS)
        snprintf(text, room, "%llu row%s tell%s little: more of them would show what it is worth",
                 rows, rows == 1 ? "" : "s", rows == 1 ? "s" : "");
    else
        advise_of_loss(t, text, room);
}

/* Asked of the metric that its loss makes good: other losses, and class weights, give up some of
 * logloss or rmse on purpose. A training that ended while it still got better may have come from
 * far: there it must be worse by much, unless it could get nowhere. */
static bool judge_constant(const struct training *t, const struct train_result *r, enum part part)
{
    char advice[400];
    const struct metrics *m = part == PART_TEST ? &r->test : &r->valid;
    const struct metric_type *metric = metric_default(t->config->task);
    bool plain = loss_is_plain(&t->config->train.loss);
    bool over = t->history.metric && r->best_epoch < r->epochs;
    double margin = over || is_held(t) ? 1 : NOT_OVER;
    if (!plain && t->classes)
        metric = metric_ranking(t->config->task);
    else if (!plain)
        margin = NOT_PLAIN;
    double got = metrics_get(m, metric->name), constant = metrics_get(&r->baseline, metric->name);
    if (!t->classes && !(constant > 0)) /* one value in all rows: said when they were read */
        return false;
    if (!(metric->higher ? got <= constant : got >= margin * constant))
        return false;
    advise(t, r, part, over, advice, sizeof advice);
    log_warning("on the %s rows the model is no better than a constant answer: %s %.4g, that of "
                "the constant %.4g; %s",
                part_names[part], metric->name, got, constant, advice);
    return true;
}

void train_judge(const struct training *t, const struct train_result *r, enum part part)
{
    const struct train_options *o = &t->config->train;
    if (judge_constant(t, r, part) || t->history.epochs < o->epochs ||
        !history_unfinished(&t->history))
        return;
    log_warning(
        "the training ended with its epochs while it still got better (the last of %lld was "
        "the best): raise train.epochs, or train.optimizer.learning_rate (now %.3g)",
        (long long)t->history.epochs, o->optimizer.learning_rate);
}
