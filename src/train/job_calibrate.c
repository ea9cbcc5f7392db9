/* job_calibrate.c - the key `calibrate`: corrects a model's answers, and writes notes about it. */
#include "base/log.h"
#include "base/mem.h"
#include "train/job.h"

/* Squared errors are in the units of the target. */
static void tell(const struct train_job *j, const struct calibration *c,
                 const struct calibrate_gain *g)
{
    const char *rows = j->ensemble ? "rows that the runs did not train on" : "validation rows";
    if (c->limited)
        log_note("values are kept between %.6g and %.6g, the range of the target: on the %s the "
                 "mean squared error is %.6g, without these limits %.6g", c->low, c->high, rows,
                 g->after, g->before);
    else
        log_note("probabilities are calibrated (scale %.4g): on the %s the log-loss is %.6g, "
                 "without calibration %.6g", c->scale, rows, g->after, g->before);
}

void job_calibrate(const struct train_job *j, const struct calibrate_rows *r,
                   const float *class_weight, const double range[2], bool quiet,
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
        calibrate_range(r, range[0], range[1], c, &g);
    if (!found || (how == CALIBRATE_AUTO && !calibrate_pays(&g)))
        calibration_free(c);
    else if (!quiet)
        tell(j, c, &g);
}
