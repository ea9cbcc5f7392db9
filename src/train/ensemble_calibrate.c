/* ensemble_calibrate.c - the loss that counts for an ensemble, by the configs of its members; the
 * key `calibrate` corrects a model's answers by it, with notes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "train/ensemble_mix.h"

/* Counts of the training rows of run 0 by class, and sums of their weights. Rows with weights count
 * as one each, as sampling draws rows; a training without folds knows the shares alone. */
static void count_classes(const struct mixing *x, double *rows, double *sums)
{
    const struct run_part *first = mixing_part(x, 0, 0);
    for (uint32_t c = 0; c < x->outputs; c++)
        sums[c] = first->constant[c] * (double)first->rows;
    memcpy(rows, sums, x->outputs * sizeof *rows);
    if (!x->label || first->left.count >= x->rows)
        return;
    memset(rows, 0, x->outputs * sizeof *rows);
    for (uint64_t i = first->left.count; i < x->rows; i++)
        if (x->label[i] >= 0)
            rows[x->label[i]]++;
}

bool mixing_judge_by(struct mixing *x, struct err *e)
{
    const struct encoder *of = mixing_part(x, 0, 0)->encoder;
    double *rows = mem_zero(x->outputs, sizeof *rows), *sums = mem_zero(x->outputs, sizeof *sums);
    bool good = true, differ = false;
    if (x->classes)
        count_classes(x, rows, sums);
    for (uint32_t i = 0; good && i < x->count; i++) {
        struct criterion own, as_first;
        float *mine = NULL;
        good = run_criterion(x->n->configs[x->members[i]], of, rows, sums, &own, &mine, e);
        if (good && !i) {
            x->criterion = own;
            x->class_weight = mine;
            continue;
        }
        as_first = x->criterion;
        as_first.class_weight = own.class_weight;
        differ |= good && !criterion_equal(&x->criterion, &own);
        x->weights_differ |= good && !criterion_equal(&x->criterion, &as_first);
        mem_free(mine);
    }
    if (good && differ) {
        mem_free(x->class_weight);
        good = run_criterion(x->j->config, of, rows, sums, &x->criterion, &x->class_weight, e);
    }
    mem_free(rows);
    mem_free(sums);
    return good;
}

/* --- calibration --- */

/* Squared errors are in the units of the target. */
static void tell(const struct train_job *j, const struct calibration *c,
                 const struct calibrate_rows *r, const struct calibrate_gain *g)
{
    const char *rows = job_chooses(j);
    if (c->limited) {
        char range[96], low[40] = "", high[40] = "";
        if (isfinite(c->low))
            snprintf(low, sizeof low, "not below %s", text_figure(c->low, 6));
        if (isfinite(c->high))
            snprintf(high, sizeof high, "not above %s", text_figure(c->high, 6));
        snprintf(range, sizeof range, "%s%s%s", low, *low && *high ? " and " : "", high);
        const int kind = r->criterion->loss.kind;
        log_note("values are kept %s, the range of the target: on the %s the %s is %s, without "
                 "limits %s", range, rows,
                 kind == LOSS_MSE        ? "mean squared error"
                 : kind == LOSS_QUANTILE ? "pinball loss"
                                         : loss_names[kind],
                 text_figure(g->after, 6), text_figure(g->before, 6));
    } else {
        log_note("probabilities are calibrated (scale %.4g): on the %s the log-loss is %.6g, "
                 "without calibration %.6g", c->scale, rows, g->after, g->before);
    }
}

/* Fits x->calibration. leans: the key that asks for other labels than the likeliest, whose
 * probabilities are known not to be honest; NULL: none. */
static void fit(struct mixing *x, const char *leans, bool quiet)
{
    const int how = x->j->config->calibrate;
    double *answers = mixing_answers(x);
    const struct calibrate_rows rows = {.count = x->rows,
                                        .criterion = &x->criterion,
                                        .classes = x->classes,
                                        .probability = answers,
                                        .value = answers,
                                        .label = x->label,
                                        .target = x->target,
                                        .weight = x->weight};
    struct calibrate_gain g = {0};
    bool found = x->rows > 0;
    if (found && x->classes)
        found = calibrate_fit(&rows, &x->calibration, &g);
    else if (found)
        found = calibrate_range(&rows, x->range[0], x->range[1], how == CALIBRATE_AUTO,
                                &x->calibration, &g);
    if (!found || (how == CALIBRATE_AUTO && x->classes &&
                   !(leans ? g.gain > 0 : calibrate_pays(&g))))
        calibration_free(&x->calibration);
    else if (!quiet)
        tell(x->j, &x->calibration, &rows, &g);
    mem_free(answers);
}

/* If calibrated probabilities are honest, the label stays that of the answers before. */
static void decide(struct mixing *x, const char *leans, bool quiet)
{
    const struct config *c = x->j->config;
    if (!leans || c->calibrate != CALIBRATE_AUTO || c->cut.kind != THRESHOLD_NONE ||
        !decision_before(&x->calibration, &x->decision))
        return;
    x->decided = true;
    if (!quiet && x->decision.offset)
        log_note("the label is decided as before the calibration, because `%s` asks for other "
                 "labels than the likeliest: the model keeps an offset for each label; "
                 "\"calibrate\": \"affine\" answers the likeliest label", leans);
    else if (!quiet)
        log_note("the label is decided as before the calibration, because `%s` asks for other "
                 "labels than the likeliest: the threshold is %.4g; %s\"calibrate\": \"affine\" "
                 "decides otherwise", leans, x->decision.threshold,
                 c->task == TASK_BINARY ? "a `threshold` in the config, or " : "");
}

bool mixing_calibrate(struct mixing *x, bool quiet, struct err *e)
{
    const int how = x->j->config->calibrate;
    const char *leans = NULL;
    for (uint32_t i = 0; i < x->count && !leans; i++)
        leans = x->weights[i] > 0 ? config_leans(x->n->configs[x->members[i]]) : NULL;
    if (how == CALIBRATE_PRIOR && x->weights_differ)
        return err_set(e, ERR_CONFIG_CONFLICT,
                       "`calibrate` \"prior\" undoes the weights of classes in the mean of the "
                       "members, and the members differ in train.loss.class_weights or "
                       "train.sampling");
    if (how == CALIBRATE_PRIOR && x->class_weight)
        calibrate_prior(x->class_weight, x->classes, &x->calibration);
    if (how != CALIBRATE_NONE && how != CALIBRATE_PRIOR)
        fit(x, leans, quiet);
    decide(x, leans, quiet);
    return true;
}
