/* job_conform.c - the keys `intervals` and `sets`: what is told beside answers, and notes about
 * it. */
#include <math.h>

#include "answer/answer_line.h"
#include "base/log.h"
#include "train/ensemble.h"
#include "train/job.h"

#define FEW_GROUPS 0.03 /* so far above the level few groups are told */

int job_region(const struct config *c)
{
    return !(config_region(c) > 0)       ? ANSWER_ALONE
           : c->task == TASK_REGRESSION ? ANSWER_INTERVAL
                                        : ANSWER_SET;
}

static const char *key_of(const struct config *c)
{
    return c->task == TASK_REGRESSION ? "intervals" : "sets";
}

static const char *rows_of(const struct train_job *j)
{
    return j->folds > 1 ? "rows that the runs did not train on" : "validation rows";
}

bool job_conform_rows(const struct train_job *j, struct err *e)
{
    const struct config *c = j->config;
    const double level = config_region(c);
    uint64_t rows = j->ensemble ? 0 : j->table->list[PART_VALID].count;
    if (!(level > 0))
        return true;
    for (uint32_t f = 0; j->ensemble && f < j->folds; f++)
        rows += j->table->folds.rows[f].answers.count;
    if (rows >= conform_least(level))
        return true;
    err_set(e, ERR_CONFIG_CONFLICT, "`%s` %.6g needs at least %llu %s, and there are %llu",
            key_of(c), level, (unsigned long long)conform_least(level), rows_of(j),
            (unsigned long long)rows);
    err_key(e, "%s", key_of(c));
    return err_help(e, "set `ensemble.folds` to 5, say, `data.split.valid` higher, or a lower "
                       "level");
}

static void tell(const struct train_job *j, const struct conformal *c,
                 const struct conform_widths *w)
{
    static const char *const rules[] = {
        [CONFORMAL_VALUE] = "of one width for all rows",
        [CONFORMAL_LEARNT] = "of one width in the learnt scale of the target",
        [CONFORMAL_SPREAD] = "as wide as the networks differ"};
    if (c->rule == CONFORMAL_SETS && c->reach >= 1)
        log_note("sets of %.4g: the predicted label alone is right as often, by the %s", c->level,
                 rows_of(j));
    else if (c->rule == CONFORMAL_SETS)
        log_note("sets of %.4g: the predicted label, and labels of at least %.4g, by the %s",
                 c->level, c->reach, rows_of(j));
    else if (c->rule != CONFORMAL_VALUE)
        log_note("intervals of %.4g are %s: on the %s their mean width is %.4g, of one width %.4g",
                 c->level, rules[c->rule], rows_of(j), w->of[c->rule], w->of[CONFORMAL_VALUE]);
    else
        log_note("intervals of %.4g are %s, answer - %.4g to answer + %.4g, by the %s", c->level,
                 rules[c->rule], c->reach, c->reach, rows_of(j));
}

void job_conform(const struct train_job *j, const struct conform_rows *r, bool quiet,
                 struct conformal *c)
{
    const double level = config_region(j->config);
    struct conform_widths w;
    *c = (struct conformal){0};
    if (!(level > 0))
        return;
    bool enough = conform_fit(r, level, c, &w);
    if (!c->rule)
        log_warning("`%s` %.6g has no effect: none of the %s has a weight above 0",
                    key_of(j->config), level, rows_of(j));
    else if (!enough)
        log_warning("`%s` %.6g: the %s, or their groups, are too few for that level, so %s",
                    key_of(j->config), level, rows_of(j), c->rule == CONFORMAL_SETS
                        ? "every set has every label"
                        : "intervals reach as far as the largest error among them");
    else if (!quiet)
        tell(j, c, &w);
    if (enough && r->group && w.share > level + FEW_GROUPS && !quiet)
        log_note("`%s` %.6g: the %s are of about %.0f groups or sequences, each one "
                 "piece of evidence: with so few, intervals or sets are made to hold %.3g %% of "
                 "them",
                 key_of(j->config), level, rows_of(j), level / (w.share - level), 100 * w.share);
}
