/* ensemble_conform.c - the keys `intervals` and `sets`: what is told beside answers, by rows that
 * no network was trained on, and notes about it. */
#include <math.h>
#include <string.h>

#include "answer/stream/answer_line.h"
#include "base/log.h"
#include "base/mem.h"
#include "train/ensemble_mix.h"

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
    uint64_t rows = j->ensemble->alone ? j->table->split.list[PART_VALID].count : 0;
    if (!(level > 0))
        return true;
    for (uint32_t f = 0; f < j->folds; f++)
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
        log_note("intervals of %.4g are %s: on the %s their mean width is %s, of one width %s",
                 c->level, rules[c->rule], rows_of(j), text_figure(w->of[c->rule], 4),
                 text_figure(w->of[CONFORMAL_VALUE], 4));
    else
        log_note("intervals of %.4g are %s, answer - %s to answer + %s, by the %s", c->level,
                 rules[c->rule], text_figure(c->reach, 4), text_figure(c->reach, 4), rows_of(j));
}

/* struct conformal's spread of `count` rows; of test rows the mean over the folds. room [2 *
 * count]. */
static void spread_of(const struct mixing *x, bool test, uint32_t f, uint64_t from, uint64_t count,
                      double *spread, double *room)
{
    const uint32_t first = test ? 0 : f, last = test ? x->folds : f + 1;
    double *mean = room, *own = room + count, *sum = mem_alloc(count + 1, sizeof *sum);
    memset(spread, 0, count * sizeof *spread);
    for (uint32_t k = first; k < last; k++) {
        memset(mean, 0, count * sizeof *mean);
        memset(sum, 0, count * sizeof *sum);
        for (uint32_t i = 0; i < 2 * x->count; i++) { /* the mean of the members, then around it */
            const uint32_t member = i % x->count;
            const double weight = x->weights[member];
            const struct run_part *p = mixing_part(x, member, k);
            if (!(weight > 0))
                continue;
            mixing_own(p, test ? &p->test : &p->left, from, count, own);
            for (uint64_t r = 0; r < count; r++) {
                double off = own[r] - mean[r];
                if (i < x->count)
                    mean[r] += weight * own[r];
                else
                    sum[r] += weight * off * off;
            }
        }
        for (uint64_t r = 0; r < count; r++)
            spread[r] += sqrt(sum[r]) / (last - first);
    }
    mem_free(sum);
}

/* The target's coding by the model's first encoder: the one of the first member that is stored. */
static const struct target_coding *coding_of(const struct mixing *x)
{
    uint32_t i = 0;
    while (i + 1 < x->count && !(x->weights[i] > 0))
        i++;
    return &mixing_part(x, i, 0)->encoder->coding;
}

static bool several(const struct mixing *x)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->count; i++)
        count += x->weights[i] > 0;
    return count > 1;
}

void mixing_interval(const struct mixing *x, bool test, uint32_t f, uint64_t from, uint64_t count,
                     const double *value, double *low, double *high, double *room)
{
    double *spread = mem_zero(count + 1, sizeof *spread);
    if (x->conformal.rule == CONFORMAL_SPREAD)
        spread_of(x, test, f, from, count, spread, room);
    for (uint64_t i = 0; i < count; i++) {
        double ends[2];
        conformal_interval(&x->conformal, &x->calibration, coding_of(x), value[i], spread[i], ends);
        low[i] = ends[0];
        high[i] = ends[1];
    }
    mem_free(spread);
}

/* The groups of the rows left out, in one list; NULL: they have none. mem_free. */
static uint64_t *groups_of(const struct mixing *x)
{
    uint64_t *group = x->grouped ? mem_alloc(x->rows + 1, sizeof *group) : NULL, at = 0;
    for (uint32_t f = 0; group && f < x->folds; f++) {
        const struct part_rows *r = &mixing_part(x, 0, f)->left;
        if (r->count)
            memcpy(group + at, r->group, r->count * sizeof *group);
        at += r->count;
    }
    return group;
}

/* The spread of the networks on the rows left out, fold by fold: [rows]. mem_free. */
static double *spreads_of(const struct mixing *x)
{
    double *spread = mem_alloc(x->rows + 1, sizeof *spread), *to = spread;
    double *room = mem_alloc(2 * SCORE_TALLIED, sizeof *room);
    for (uint32_t f = 0; f < x->folds; f++) {
        const uint64_t rows = mixing_part(x, 0, f)->left.count;
        for (uint64_t from = 0; from < rows; from += SCORE_TALLIED) {
            const uint64_t count = rows - from < SCORE_TALLIED ? rows - from : SCORE_TALLIED;
            spread_of(x, false, f, from, count, to, room);
            to += count;
        }
    }
    mem_free(room);
    return spread;
}

static void fit(struct mixing *x, const struct conform_rows *r, bool quiet)
{
    const double level = config_region(x->j->config);
    const char *key = key_of(x->j->config), *rows = rows_of(x->j);
    struct conform_widths w;
    bool enough = conform_fit(r, level, &x->conformal, &w);
    if (!x->conformal.rule)
        log_warning("`%s` %.6g has no effect: none of the %s has a weight above 0", key, level,
                    rows);
    else if (!enough)
        log_warning("`%s` %.6g: the %s, or their groups, are too few for that level, so %s", key,
                    level, rows, x->conformal.rule == CONFORMAL_SETS
                        ? "every set has every label"
                        : "intervals reach as far as the largest error among them");
    else if (!quiet)
        tell(x->j, &x->conformal, &w);
    if (enough && r->group && w.share > level + FEW_GROUPS && !quiet)
        log_note("`%s` %.6g: the %s are of about %.0f groups or sequences, each one "
                 "piece of evidence: with so few, intervals or sets are made to hold %.3g %% of "
                 "them", key, level, rows, level / (w.share - level), 100 * w.share);
}

void mixing_conform(struct mixing *x, bool quiet)
{
    if (!(config_region(x->j->config) > 0))
        return;
    const bool values = !x->classes;
    double *answers = mixing_answers(x), *spread = values && several(x) ? spreads_of(x) : NULL;
    uint64_t *group = groups_of(x);
    fit(x, &(struct conform_rows){.count = x->rows,
                                  .classes = x->classes,
                                  .probability = answers,
                                  .decision = &x->decision,
                                  .label = x->label,
                                  .value = answers,
                                  .target = x->target,
                                  .spread = spread,
                                  .weight = x->weight,
                                  .group = group,
                                  .limits = &x->calibration,
                                  .coding = values ? coding_of(x) : NULL,
                                  .folds = x->folds}, quiet);
    mem_free(group);
    mem_free(spread);
    mem_free(answers);
}
