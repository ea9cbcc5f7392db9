/* job_save.c - the end of a training: the weights of members, calibration, threshold, intervals or
 * sets; metrics; the model. Of several runs everything comes from their parts and the config. A
 * single run is measured by its network, block by block: its answers may be many, and are held only
 * to fit calibration, intervals or sets. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "train/ensemble_mix.h"

/* Model and measures. shown: on the rows of the summary. */
struct ending {
    struct train_job *j;
    struct train_result *r;
    struct mixing x;
    struct against against, shown;
    struct ended weights; /* of a single run */
};

/* --- a single run --- */

/* The training loss of the epoch whose weights serve, or of the steps so far; for a training
 * without validation rows. */
static double training_loss(const struct run *n)
{
    const struct history *h = &n->history;
    struct step now;
    if (h->epochs)
        return h->rows[(n->broke ? h->best_epoch : h->epochs) - 1].loss;
    network_step(n->network, &now);
    return now.epoch_loss / now.epoch_weight;
}

/* The least and the greatest target of the training rows. */
static void target_range(const struct run *n, double range[2])
{
    const struct row_list *l = &n->list[PART_TRAIN];
    struct run_row counts;
    range[0] = INFINITY;
    range[1] = -INFINITY;
    for (uint64_t i = 0; !n->classes && i < l->count; i++)
        if (run_row(n, l->index[i], &counts)) {
            range[0] = fmin(range[0], n->target[l->index[i]]);
            range[1] = fmax(range[1], n->target[l->index[i]]);
        }
}

/* The best weights answer from here on. */
static bool open_one(struct ending *d, struct err *e)
{
    struct train_job *j = d->j;
    struct run *n = &j->run;
    struct mixing *x = &d->x;
    const bool fits = j->config->calibrate != CALIBRATE_NONE || config_region(j->config) > 0;
    const bool held[PARTS] = {[PART_VALID] = fits};
    j->ensemble->parts[0] = part_of_run(j, n, view_first(j->table->view), held, &d->weights, e);
    if (!j->ensemble->parts[0])
        return false;
    mixing_of_one(x, j, j->ensemble);
    x->criterion = score_criterion(&n->score);
    if (n->prior_weight)
        x->class_weight = mem_copy(n->prior_weight, n->classes * sizeof *x->class_weight);
    target_range(n, x->range);
    n->score.calibration = fits ? &x->calibration : NULL;
    return true;
}

/* All metrics of a part, and its loss against the constant's. The part that gates are for judges
 * them. */
static bool measure_part(struct ending *d, enum part part, struct metrics *m, struct against *a,
                         struct err *e)
{
    struct score_job score = d->j->run.score;
    score.intervals = true;
    if (part == PART_TEST || !d->r->has_test) {
        score.gates = d->r->gates;
        score.gate_count = d->r->gate_count;
    }
    if (!score_all(&score, part, &metric_loss, m, e))
        return false;
    *a = (struct against){.part = part,
                          .loss = m->m[m->count - 1].value,
                          .constant = score_constant(&score, part)};
    m->count -= criterion_is_metric(&d->x.criterion); /* its metric stands among the others */
    return true;
}

static bool measure_one(struct ending *d, struct err *e)
{
    struct run *n = &d->j->run;
    struct train_result *r = d->r;
    part_rows_free(&d->j->ensemble->parts[0]->left); /* calibration and intervals stand */
    n->score.decision = r->decision;
    n->score.conformal = d->x.conformal.rule ? &d->x.conformal : NULL;
    if ((r->has_valid && !measure_part(d, PART_VALID, &r->valid, &d->against, e)) ||
        (r->has_test && !measure_part(d, PART_TEST, &r->test, &d->shown, e)))
        return false;
    if (!r->has_valid)
        d->against = (struct against){.part = PART_TRAIN,
                                      .loss = training_loss(n),
                                      .constant = score_constant(&n->score, PART_TRAIN)};
    if (!r->has_test || !score_weighs(&n->score, PART_TEST))
        d->shown = d->against;
    /* test rows without weight measure nothing: the constant is measured on the validation rows */
    bool idle = d->shown.part != PART_TEST && r->has_valid;
    if (r->has_test || r->has_valid)
        score_baseline(&n->score, r->has_test && !idle ? PART_TEST : PART_VALID, &r->baseline);
    return true;
}

static void count_one(struct ending *d)
{
    const struct run *n = &d->j->run;
    struct train_result *r = d->r;
    for (int p = 0; p < PARTS; p++)
        r->rows[p] = n->judged[p].at ? n->judged[p].of : n->list[p].count;
    job_count_judged(r, (const uint64_t[PARTS]){0, n->list[PART_VALID].count,
                                                n->list[PART_TEST].count}, r->rows);
    r->has_valid = n->list[PART_VALID].count > 0;
    r->has_test = n->list[PART_TEST].count > 0;
    r->epochs = n->history.epochs;
    r->best_epoch = n->history.metric || n->broke ? n->history.best_epoch : n->history.epochs;
    r->begun = n->history.begun;
    r->metric = n->history.metric ? n->history.metric->name : NULL;
    r->stopped = n->stopped;
}

/* --- several runs --- */

static void fill_members(const struct mixing *x, struct train_result *r)
{
    double *alone = mem_zero(x->count, sizeof *alone);
    r->members = mem_zero(x->count, sizeof *r->members);
    r->member_count = x->count;
    r->counts = metric_of(&x->criterion, mixing_part(x, 0, 0)->encoder->schema->task)->name;
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

static void count_all(struct ending *d)
{
    const struct mixing *x = &d->x;
    struct train_result *r = d->r;
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
}

static void measure_all(struct ending *d)
{
    const struct mixing *x = &d->x;
    struct train_result *r = d->r;
    mixing_measure(x, x->weights, false, r->has_test ? NULL : r, &r->valid);
    if (r->has_test && !stop_wanted())
        mixing_measure(x, x->weights, true, r, &r->test);
    mixing_constant(x, r->has_test, &r->baseline);
    fill_members(x, r);
}

/* --- any --- */

/* The threshold of the config, or the one that its rule chooses; without validation rows a single
 * run has none. */
static bool choose_threshold(struct ending *d, struct err *e)
{
    const struct threshold_rule *rule = &d->j->config->cut;
    const bool alone = d->j->ensemble->alone, chosen = threshold_is_chosen(rule);
    struct mixing *x = &d->x;
    struct threshold_point p;
    bool reached = true;
    if (rule->kind == THRESHOLD_NONE || (alone && chosen && !d->r->has_valid))
        return true;
    if (!alone || !chosen) {
        reached = mixing_cut(x, rule, &p);
    } else {
        if (!score_threshold(&d->j->run.score, PART_VALID, rule, &p, &reached, e))
            return false;
        x->decided = true;
        x->decision.threshold = p.threshold;
    }
    if (chosen)
        job_cut(d->j, &p, reached);
    return true;
}

/* False without an error: a signal asked to stop. */
static bool measure(struct ending *d, struct err *e)
{
    const bool alone = d->j->ensemble->alone;
    struct mixing *x = &d->x;
    if (alone) {
        count_one(d);
        if (!open_one(d, e))
            return false;
    } else {
        if (!mixing_open(x, d->j, false, e))
            return false;
        mixing_choose(x, &d->against);
        d->shown = d->against;
        mixing_report(x);
    }
    if (stop_wanted() || !mixing_calibrate(x, false, e) || !choose_threshold(d, e))
        return false;
    mixing_conform(x, false);
    if (x->decided)
        d->r->decision = decision_copy(&x->decision);
    if (stop_wanted())
        return false;
    if (alone)
        return measure_one(d, e) && !stop_wanted();
    count_all(d);
    measure_all(d);
    return !stop_wanted();
}

/* A single run broke, and its best epoch is no better than a constant answer. */
static bool refuse(struct train_job *j, const struct against *a, struct err *e)
{
    char why[200];
    snprintf(why, sizeof why,
             "the best epoch, %lld, is no better than a constant answer (loss %s on the %s rows, "
             "that of the constant %s)", (long long)j->run.history.best_epoch,
             text_figure(a->loss, 4), part_names[a->part], text_figure(a->constant, 4));
    return job_useless(j, j->run.broke, why, e);
}

static bool judge(struct ending *d, struct err *e)
{
    struct train_job *j = d->j;
    struct train_result *r = d->r;
    const struct against *a = &d->against, *shown = &d->shown;
    char advice[300];
    if (j->run.broke && !against_better(a))
        return refuse(j, a, e);
    if (j->run.broke) {
        job_advice(j, advice, sizeof advice);
        log_warning("%s; the model is that of epoch %lld, the best before; %s", j->run.broke,
                    (long long)j->run.history.best_epoch, advice);
    }
    /* without validation rows, a run that ended inside its first epoch has no measure */
    bool useless = r->has_valid ? !against_better(a) : r->epochs == 0;
    if (!job_accept(j, r, useless, a, e))
        return false;
    job_judge(j, r, r->has_valid && against_better(shown) ? a : shown);
    job_tell_replaced(j, r);
    return true;
}

/* The part of the run that `train --run` names. */
static bool save_part(struct train_job *j, struct train_result *r, struct err *e)
{
    const struct run_part *p = j->ensemble->parts[j->request->only];
    stop_phase("writing the part", false);
    r->rows[PART_TRAIN] = p->rows;
    r->rows[PART_TEST] = part_rows_all(&p->test);
    job_count_judged(r, (const uint64_t[PARTS]){0, p->left.count, p->test.count},
                     (const uint64_t[PARTS]){0, part_rows_all(&p->left), part_rows_all(&p->test)});
    r->epochs = p->epochs;
    r->best_epoch = p->best_epoch;
    r->runs = 1;
    r->stopped = strcmp(p->stopped, "patience") == 0     ? "patience"
                 : strcmp(p->stopped, "time_limit") == 0 ? "time_limit"
                                                         : "epochs";
    if (!journal_sync(&j->journal, e) || !part_save(p, j->output, e))
        return false;
    job_clear(j);
    return true;
}

bool job_save(struct train_job *j, struct train_result *r, struct err *e)
{
    struct ending d = {.j = j, .r = r};
    const bool alone = j->ensemble->alone;
    if (j->request->one)
        return save_part(j, r, e);
    stop_phase("measuring the model", false);
    bool good = measure(&d, e);
    if (!good && alone && (e->id == ERR_NONE || machine_in_place(j->machine)))
        run_use_last(&j->run, &d.weights.last); /* a checkpoint holds the last weights */
    if (!good && e->id == ERR_NONE) { /* the parts of a merge are not its own */
        if (j->table)
            job_stopped(j, e);
        else
            stop_error("the parts were merged", e);
    }
    good = good && judge(&d, e) && job_write_model(&d.x, r, e);
    if (good)
        job_clear(j);
    mixing_free(&d.x);
    if (alone) {
        ended_unmap(&j->run, &d.weights);
        part_free(j->ensemble->parts[0]);
        j->ensemble->parts[0] = NULL;
    }
    return good;
}
