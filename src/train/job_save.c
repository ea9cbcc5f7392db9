/* job_save.c - the end of a training: best weights, their metrics, golden rows, model file. */
#include <math.h>
#include <stdio.h>

#include "base/log.h"
#include "base/process/stop.h"
#include "train/ensemble_mix.h"

/* All metrics of a part, and its loss against the constant's. The part that gates are for judges
 * them. */
static bool measure_part(struct train_job *j, enum part part, struct train_result *r,
                         struct metrics *m, struct against *a, struct err *e)
{
    struct score_job score = j->run.score;
    score.intervals = true;
    if (part == PART_TEST || !r->has_test) {
        score.gates = r->gates;
        score.gate_count = r->gate_count;
    }
    if (!score_all(&score, part, &metric_loss, m, e))
        return false;
    const struct criterion c = score_criterion(&j->run.score);
    *a = (struct against){.part = part,
                          .loss = m->m[m->count - 1].value,
                          .constant = score_constant(&j->run.score, part)};
    m->count -= criterion_is_metric(&c); /* its metric stands among the others */
    return true;
}

/* The training loss of the epoch whose weights serve, or of the steps so far; for a training
 * without validation rows. */
static double training_loss(struct train_job *j)
{
    const struct history *h = &j->run.history;
    struct step now;
    if (h->epochs)
        return h->rows[(j->run.broke ? h->best_epoch : h->epochs) - 1].loss;
    network_step(j->run.network, &now);
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

/* The threshold of the config, or the one that its rule chooses. */
static bool fit_threshold(struct train_job *j, struct train_result *r, struct err *e)
{
    struct threshold_point p;
    bool reached;
    if (j->config->cut.kind == THRESHOLD_FIXED)
        r->decision.threshold = j->config->cut.at;
    if (!threshold_is_chosen(&j->config->cut) || !r->has_valid)
        return true;
    if (!score_threshold(&j->run.score, PART_VALID, &j->config->cut, &p, &reached, e))
        return false;
    job_cut(j, r, &p, reached);
    return true;
}

/* Calibration, threshold, intervals or sets, by the answers to the validation rows as to the rows
 * that the runs of an ensemble left out. */
static bool fit_by_rows(struct train_job *j, struct train_result *r, struct err *e)
{
    struct run *n = &j->run;
    struct run_part p = {.outputs = n->features->outputs, .schema = n->schema}, *parts = &p;
    struct ensemble one = {
        .configs = &j->config, .parts = &parts, .members = 1, .folds = 1, .runs = 1};
    struct mixing x;
    if (!part_rows_answer(n, PART_VALID, &p.left, e)) {
        part_rows_free(&p.left);
        return false;
    }
    mixing_of_one(&x, j, &one);
    x.criterion = score_criterion(&n->score);
    x.class_weight = n->prior_weight;
    target_range(n, x.range);
    bool good = mixing_calibrate(&x, false, e);
    r->calibration = x.calibration;
    if (x.decided)
        r->decision = decision_copy(&x.decision);
    n->score.calibration = &r->calibration;
    good = good && fit_threshold(j, r, e);
    if (r->decision.threshold > 0)
        x.decision.threshold = r->decision.threshold;
    if (good)
        mixing_conform(&x, false);
    r->conformal = x.conformal;
    n->score.conformal = r->conformal.rule ? &r->conformal : NULL;
    x.calibration = (struct calibration){0}; /* the result's */
    x.class_weight = NULL;                   /* the run's */
    mixing_free(&x);
    part_rows_free(&p.left);
    return good;
}

/* What turns answers into predictions. Without calibration, intervals and sets no answers are
 * held. */
static bool fit_answers(struct train_job *j, struct train_result *r, struct err *e)
{
    const bool held = j->config->calibrate != CALIBRATE_NONE || config_region(j->config) > 0;
    bool good = held ? fit_by_rows(j, r, e) : fit_threshold(j, r, e);
    j->run.score.decision = r->decision;
    return good;
}

/* against: on the validation rows; shown: on the rows of the summary. */
static bool measure(struct train_job *j, struct train_result *r, struct against *against,
                    struct against *shown, struct err *e)
{
    r->has_valid = j->run.list[PART_VALID].count > 0;
    r->has_test = j->run.list[PART_TEST].count > 0;
    if (!fit_answers(j, r, e))
        return false;
    if ((r->has_valid && !measure_part(j, PART_VALID, r, &r->valid, against, e)) ||
        (r->has_test && !measure_part(j, PART_TEST, r, &r->test, shown, e)))
        return false;
    if (!r->has_valid)
        *against = (struct against){.part = PART_TRAIN,
                                    .loss = training_loss(j),
                                    .constant = score_constant(&j->run.score, PART_TRAIN)};
    if (!r->has_test || !score_weighs(&j->run.score, PART_TEST))
        *shown = *against;
    /* test rows without weight measure nothing: the constant is measured on the validation rows */
    bool idle = shown->part != PART_TEST && r->has_valid;
    enum part part = r->has_test && !idle ? PART_TEST : PART_VALID;
    if (r->has_test || r->has_valid)
        score_baseline(&j->run.score, part, &r->baseline);
    return true;
}

/* The run broke, and its best epoch is no better than a constant answer. */
static bool refuse(struct train_job *j, const struct against *a, struct err *e)
{
    char why[200];
    snprintf(why, sizeof why,
             "the best epoch, %lld, is no better than a constant answer (loss %s on the %s rows, "
             "that of the constant %s)", (long long)j->run.history.best_epoch,
             text_figure(a->loss, 4), part_names[a->part], text_figure(a->constant, 4));
    return job_useless(j, j->run.broke, why, e);
}

static bool judge(struct train_job *j, struct train_result *r, const struct against *a,
                  const struct against *shown, struct err *e)
{
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

static bool write_model(struct train_job *j, struct train_result *r, struct err *e)
{
    struct run *n = &j->run;
    struct network_state s;
    bool good = run_map_state(n, false, &s, e) && run_finite(n, &s, e);
    struct run_part *p = good ? part_of_run(j, n, &s, &j->table->first, e) : NULL;
    good = p && job_write_model(j, &(struct stored_run){p, n->config, 1}, 1,
                                &(struct modelfile){.decision = r->decision,
                                                    .calibration = r->calibration,
                                                    .conformal = r->conformal,
                                                    .class_weight = n->prior_weight}, r, e);
    part_free(p);
    run_unmap_state(n, &s);
    return good;
}

bool job_save(struct train_job *j, struct train_result *r, struct err *e)
{
    struct run *n = &j->run;
    struct network_state last;
    struct against against = {0}, shown = {0};
    stop_phase("measuring the model", false);
    bool good = run_use_best(n, &last, e);
    for (int p = 0; p < PARTS; p++)
        r->rows[p] = n->judged[p].at ? n->judged[p].of : n->list[p].count;
    job_count_judged(r, (const uint64_t[PARTS]){0, n->list[PART_VALID].count,
                                                n->list[PART_TEST].count}, r->rows);
    r->epochs = n->history.epochs;
    r->best_epoch = n->history.metric || n->broke ? n->history.best_epoch : n->history.epochs;
    r->begun = n->history.begun;
    r->metric = n->history.metric ? n->history.metric->name : NULL;
    r->stopped = n->stopped;
    good = good && measure(j, r, &against, &shown, e);
    if (!good && (e->id == ERR_NONE || machine_in_place(j->machine)))
        run_use_last(n, &last); /* a checkpoint holds the last weights */
    if (!good && e->id == ERR_NONE)
        job_stopped(j, e);
    run_unmap_state(n, &last);
    good = good && judge(j, r, &against, &shown, e);
    good = good && write_model(j, r, e);
    if (good)
        keeper_clear(&j->keeper);
    return good;
}
