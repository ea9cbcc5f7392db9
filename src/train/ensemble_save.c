/* ensemble_save.c - the end of an ensemble: the weights of its members, out-of-fold metrics, the
 * model. Everything comes from the parts and the config; no data are read. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "train/ensemble_mix.h"

/* --- the result --- */

static void fill_members(const struct mixing *x, struct train_result *r)
{
    double *alone = mem_zero(x->count, sizeof *alone);
    r->members = mem_zero(x->count, sizeof *r->members);
    r->member_count = x->count;
    r->counts = metric_of(&x->criterion, mixing_part(x, 0, 0)->schema->task)->name;
    for (uint32_t i = 0; i < x->count && !stop_wanted(); i++) { /* the caller looks too */
        struct train_member *m = &r->members[i];
        m->name = mem_string(x->n->names[x->members[i]]);
        m->weight = x->weights[i];
        m->folds = x->folds;
        m->brings = mixing_brings(x, i);
        alone[i] = 1;
        mixing_measure(x, alone, false, NULL, &m->valid);
        alone[i] = 0;
        for (uint32_t f = 0; f < x->folds; f++)
            m->seconds += mixing_part(x, i, f)->seconds;
    }
    mem_free(alone);
}

static void fill_result(const struct mixing *x, struct train_result *r)
{
    const struct run_part *first = mixing_part(x, 0, 0);
    r->rows[PART_TRAIN] = first->rows;
    uint64_t left = 0;
    for (uint32_t f = 0; f < x->folds; f++)
        left += part_rows_all(&mixing_part(x, 0, f)->left);
    r->rows[PART_VALID] = x->n->folds > 1 ? 0 : left;
    r->rows[PART_TRAIN] -= r->rows[PART_VALID];
    r->rows[PART_TEST] = part_rows_all(&first->test);
    job_count_judged(r, (const uint64_t[PARTS]){0, x->rows, first->test.count},
                     (const uint64_t[PARTS]){0, left, r->rows[PART_TEST]});
    r->has_valid = x->rows > 0;
    r->has_test = first->test.count > 0;
    r->runs = x->count * x->folds;
    r->stopped = x->n->cut ? "time_limit" : "epochs";
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t f = 0; f < x->folds; f++) {
            const struct run_part *p = mixing_part(x, i, f);
            r->epochs += p->epochs;
            if (strcmp(p->stopped, "patience") == 0 && !x->n->cut)
                r->stopped = "patience";
        }
    mixing_measure(x, x->weights, false, r->has_test ? NULL : r, &r->valid);
    if (r->has_test && !stop_wanted())
        mixing_measure(x, x->weights, true, r, &r->test);
    mixing_constant(x, r->has_test, &r->baseline);
    fill_members(x, r);
}

static bool judge(struct train_job *j, struct train_result *r, const struct against *a,
                  struct err *e)
{
    const char *advice = j->ensemble->cut ? JOB_MORE_TIME
                                          : "the columns may tell nothing of the target";
    bool useless = !against_better(a);
    if (!job_accept(j, r, useless, a, e))
        return false;
    if (useless)
        log_warning("on the rows that the runs did not train on the model is no better than a "
                    "constant answer: loss %s, that of the constant %s; %s",
                    text_figure(a->loss, 4), text_figure(a->constant, 4), advice);
    else
        job_warn_of_chance(r, advice);
    return true;
}

/* --- the model --- */

static bool write_model(const struct mixing *x, struct train_result *r, struct err *e)
{
    struct stored_run *runs = mem_alloc(x->n->runs, sizeof *runs);
    uint32_t count = 0;
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t f = 0; x->weights[i] > 0 && f < x->folds; f++)
            runs[count++] = (struct stored_run){mixing_part(x, i, f),
                                                x->n->configs[x->members[i]],
                                                x->weights[i] / x->folds};
    bool good = job_write_model(x->j, runs, count,
                                &(struct modelfile){.decision = r->decision,
                                                    .calibration = x->calibration,
                                                    .conformal = x->conformal,
                                                    .class_weight = x->class_weight}, r, e);
    mem_free(runs);
    return good;
}

/* A signal asked to stop: the runs are kept (of a merge the parts are, which are not its own). */
static bool stopped(struct train_job *j, struct err *e)
{
    if (!stop_wanted())
        return false;
    if (j->table)
        ensemble_stopped(j, -1, e);
    else
        stop_error("the parts were merged", e);
    return true;
}

bool ensemble_save(struct train_job *j, struct train_result *r, struct err *e)
{
    struct mixing x;
    struct against a = {0};
    stop_phase("measuring the model", false);
    if (!mixing_open(&x, j, false, e))
        return false;
    mixing_choose(&x, &a);
    mixing_report(&x);
    bool good = !stopped(j, e) && mixing_calibrate(&x, false, e);
    if (good && j->config->cut.kind != THRESHOLD_NONE) {
        struct threshold_point p;
        bool reached = mixing_cut(&x, &j->config->cut, &p);
        if (threshold_is_chosen(&j->config->cut))
            job_cut(j, r, &p, reached);
    }
    if (good)
        mixing_conform(&x, false);
    if (good && x.decided)
        r->decision = decision_copy(&x.decision);
    good = good && !stopped(j, e);
    if (good)
        fill_result(&x, r);
    good = good && !stopped(j, e) && judge(j, r, &a, e) && write_model(&x, r, e);
    if (good)
        ensemble_clear(j);
    mixing_free(&x);
    return good;
}
