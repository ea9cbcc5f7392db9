/* job_calibrate.c - the key `calibrate`: corrects a model's answers, and writes notes about it. */
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/mem.h"
#include "train/job.h"

/* Squared errors are in the units of the target. */
static void tell(const struct train_job *j, const struct calibration *c,
                 const struct calibrate_rows *r, const struct calibrate_gain *g)
{
    const char *rows = j->ensemble ? "rows that the runs did not train on" : "validation rows";
    if (c->limited) {
        char range[96], low[40] = "", high[40] = "";
        if (isfinite(c->low))
            snprintf(low, sizeof low, "not below %.6g", c->low);
        if (isfinite(c->high))
            snprintf(high, sizeof high, "not above %.6g", c->high);
        snprintf(range, sizeof range, "%s%s%s", low, *low && *high ? " and " : "", high);
        const int kind = r->criterion->loss.kind;
        log_note("values are kept %s, the range of the target: on the %s the %s is %.6g, without "
                 "limits %.6g", range, rows,
                 kind == LOSS_MSE        ? "mean squared error"
                 : kind == LOSS_QUANTILE ? "pinball loss"
                                         : loss_names[kind],
                 g->after, g->before);
    } else {
        log_note("probabilities are calibrated (scale %.4g): on the %s the log-loss is %.6g, "
                 "without calibration %.6g", c->scale, rows, g->after, g->before);
    }
}

void job_calibrate(const struct train_job *j, const struct calibrate_rows *r,
                   const float *class_weight, const char *leans, const double range[2], bool quiet,
                   struct calibration *c)
{
    const int how = j->config->calibrate;
    struct calibrate_gain g = {0};
    *c = (struct calibration){0};
    if (how == CALIBRATE_NONE)
        return;
    if (how == CALIBRATE_PRIOR) {
        if (class_weight)
            calibrate_prior(class_weight, r->classes, c);
        return;
    }
    bool found = r->count > 0;
    if (found && r->classes)
        found = calibrate_fit(r, c, &g);
    else if (found)
        found = calibrate_range(r, range[0], range[1], how == CALIBRATE_AUTO, c, &g);
    if (!found || (how == CALIBRATE_AUTO && r->classes &&
                   !(leans ? g.gain > 0 : calibrate_pays(&g))))
        calibration_free(c);
    else if (!quiet)
        tell(j, c, r, &g);
}

bool job_decide(const struct config *c, const char *leans, const struct calibration *calibration,
                bool quiet, struct decision *d)
{
    if (!leans || c->calibrate != CALIBRATE_AUTO || c->cut.kind != THRESHOLD_NONE ||
        !decision_before(calibration, d))
        return false;
    if (quiet)
        return true;
    if (d->offset)
        log_note("the label is decided as before the calibration, because `%s` asks for other "
                 "labels than the likeliest: the model keeps an offset for each label; "
                 "\"calibrate\": \"affine\" answers the likeliest label", leans);
    else
        log_note("the label is decided as before the calibration, because `%s` asks for other "
                 "labels than the likeliest: the threshold is %.4g; %s\"calibrate\": \"affine\" "
                 "decides otherwise", leans, d->threshold,
                 c->task == TASK_BINARY ? "a `threshold` in the config, or " : "");
    return true;
}
