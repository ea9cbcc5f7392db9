/* tune.c - see tune.h: rounds, stages and trials. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/progress.h"
#include "base/sort.h"
#include "base/process/stop.h"
#include "train/train.h"
#include "train/search/tune_parts.h"

enum { THIRD = 3, STAGES = 3 };

/* The training of a trial at a stage; NULL: not done yet. */
static const struct tune_result *find(const struct tune *t, uint32_t trial, uint32_t stage)
{
    for (size_t i = t->a->count; i-- > 0;)
        if (t->a->results[i].trial == trial && t->a->results[i].stage == stage)
            return &t->a->results[i];
    return NULL;
}

/* --- a training --- */

/* Epochs in stage s of n: all in the last one, a third of them in the one before, and so on. */
static int64_t epochs_of(int64_t all, uint32_t stage, uint32_t stages)
{
    for (uint32_t s = stage + 1; s < stages; s++)
        all = (all + THIRD - 1) / THIRD;
    return all;
}

static uint32_t trial_of(const struct tune *t, uint32_t item)
{
    return t->first + t->slots[item];
}

/* Passes over a training of an earlier run of the program; ends the search if the estimated time
 * does not fit. */
static enum parallel_turn turn(void *tune, uint32_t item)
{
    struct tune *t = tune;
    const struct config *c = t->job.ensemble->configs[t->slots[item]];
    if (find(t, trial_of(t, item), t->stage))
        return PARALLEL_PASS;
    double expected = t->epochs_done ? t->epoch_seconds / (double)t->epochs_done *
                                           (double)c->train.epochs
                                     : 0;
    if (!(t->q->limit_s > 0) || !t->a->count || tune_used(t) + expected < t->q->limit_s)
        return PARALLEL_DO;
    t->a->timed_out = true;
    return PARALLEL_END;
}

static void measure(const struct tune *t, struct run_part *p, struct tune_result *r)
{
    struct ensemble alone = {.parts = &p, .members = 1, .folds = 1, .runs = 1};
    struct mixing x;
    mixing_of_one(&x, NULL, &alone);
    tune_criterion(t->q->config, p, &x.criterion, &x.class_weight);
    mixing_measure(&x, x.weights, false, NULL, &r->valid);
    mixing_free(&x);
    r->score = metrics_get(&r->valid, t->a->metric->name);
    r->trained = p->epochs;
    r->best_epoch = p->best_epoch;
    r->seconds = p->seconds;
    snprintf(r->stopped, sizeof r->stopped, "%s", p->stopped);
}

/* Under the lock. */
static void tell(const struct tune *t, const struct tune_result *r)
{
    struct text line = {0};
    text_printf(&line, "trial %u: ", r->trial);
    if (isnan(r->score))
        text_put(&line, "broke");
    else
        text_printf(&line, "%s %s", t->a->metric->name, text_figure(r->score, 4));
    const struct interval ends = metrics_interval(&r->valid, t->a->metric->name);
    interval_put(&ends, &line);
    text_printf(&line, ", best epoch %lld of %lld, %s", (long long)r->best_epoch,
                (long long)r->epochs, progress_time(r->seconds));
    if (t->q->progress == PROGRESS_NONE)
        log_info("%s", line.data);
    else
        log_line("%s", line.data);
    text_free(&line);
}

/* Trains a trial. A training cut short by the time limit of the search counts only if there is no
 * other. */
static bool work(void *tune, uint32_t item, struct machine *m, struct err *e)
{
    struct tune *t = tune;
    const uint32_t slot = t->slots[item];
    struct train_options *o = &t->job.ensemble->configs[slot]->train;
    const double own = t->q->config->train.time_limit_s, left = t->q->limit_s - tune_used(t);
    struct tune_result r = {
        .trial = trial_of(t, item), .stage = t->stage, .epochs = o->epochs, .score = (double)NAN};
    bool cut = false;
    o->time_limit_s = own;
    if (t->q->limit_s > 0 && !(own > 0 && own < left)) {
        o->time_limit_s = left > 0.01 ? left : 0.01;
        cut = true;
    }
    struct run_part *p = ensemble_run(&t->job, slot, m, e);
    if (!p && e->id != ERR_DIVERGED)
        return false;
    if (p)
        measure(t, p, &r);
    else
        snprintf(r.stopped, sizeof r.stopped, "diverged");
    cut = cut && strcmp(r.stopped, "time_limit") == 0;
    parallel_lock(t->job.jobs);
    t->job.ensemble->scored++;
    if (!p && t->broke.id == ERR_NONE)
        t->broke = *e;
    err_clear(e);
    bool good = true, counts = !cut || !t->a->count;
    t->a->timed_out |= cut;
    if (counts) {
        if (p)
            tune_note_losses(t, p, &r);
        tune_add(t, &r);
        tell(t, &r);
        good = cut || tune_keep(t, &r, e);
    }
    parallel_unlock(t->job.jobs);
    part_free(p);
    return good;
}

/* --- stages and rounds --- */

static void free_draws(struct draw *draws, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        draw_free(&draws[i]);
    mem_free(draws);
}

/* Places the error of a trial's config, whose text is no file: at its key in c, or in the space. */
static bool place_error(const struct config *c, uint32_t trial, const struct draw *d, struct err *e)
{
    struct text sets = {0};
    char what[sizeof e->what];
    const struct json *root = json_root(c->doc), *v = *e->key ? json_path(root, e->key) : NULL;
    for (size_t i = 0; i < d->count; i++)
        if (strncmp(d->sets[i], e->key, strlen(e->key)) == 0)
            v = NULL;
    if (!v) {
        v = json_path(root, "tune.space");
        snprintf(e->key, sizeof e->key, "tune.space");
    }
    e->line = e->column = 0;
    if (v)
        json_place(c->doc, v, &e->line, &e->column);
    snprintf(e->file, sizeof e->file, "%s", e->line > 0 ? json_name(c->doc) : "");
    draw_write(d, &sets);
    snprintf(what, sizeof what, "%s", e->what);
    snprintf(e->what, sizeof e->what, "trial %u, %.300s: %.600s", trial, sets.data, what);
    text_free(&sets);
    return false;
}

static void free_configs(struct config **configs, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        config_free(configs[i]);
    mem_free(configs);
}

/* The configs of a round, as the members of an ensemble without folds. */
static struct ensemble *open_round(struct tune *t, uint32_t count, struct err *e)
{
    struct config **configs = mem_zero(count, sizeof *configs);
    const char **names = mem_zero(count, sizeof *names);
    struct draw *draws = mem_zero(count, sizeof *draws);
    struct ensemble *n = NULL;
    uint32_t made = 0;
    for (; made < count; made++) {
        space_draw(&t->a->space, t->first + made, &draws[made]);
        configs[made] = config_trial(t->q->config, (const char *const *)draws[made].sets,
                                     draws[made].count, e);
        if (!configs[made])
            break;
        names[made] = "trial";
    }
    if (made == count) {
        n = ensemble_of(configs, names, count, 1);
        n->plain = n->apart = true;
        mem_free(configs);
    } else {
        place_error(t->q->config, t->first + made, &draws[made], e);
        free_configs(configs, made);
    }
    free_draws(draws, count);
    mem_free(names);
    return n;
}

static void close_round(struct ensemble *n)
{
    const uint32_t count = n->members;
    struct config **configs = mem_copy(n->configs, count * sizeof *configs);
    ensemble_free(n); /* it looks at them */
    free_configs(configs, count);
}

static bool run_stage(struct tune *t, uint32_t stages, const int64_t *epochs, struct err *e)
{
    struct ensemble *n = t->job.ensemble;
    for (uint32_t i = 0; i < t->slot_count; i++)
        n->configs[t->slots[i]]->train.epochs = epochs_of(epochs[t->slots[i]], t->stage, stages);
    struct parallel_jobs s = {.owner = t,
                              .count = t->slot_count,
                              .threads = ensemble_beside(&t->job, t->slot_count),
                              .machine = t->job.machine,
                              .turn = turn,
                              .work = work};
    t->job.jobs = &s;
    bool good = parallel_run(&s, e);
    t->job.jobs = NULL;
    return good && !stop_wanted();
}

static int by_score(const void *one, const void *other, const void *context)
{
    const struct tune *t = context;
    const struct tune_result *a = find(t, t->first + *(const uint32_t *)one, t->stage - 1),
                             *b = find(t, t->first + *(const uint32_t *)other, t->stage - 1);
    return tune_better(t->a->metric, b->score, a->score) -
           tune_better(t->a->metric, a->score, b->score);
}

static int by_number(const void *one, const void *other, const void *context)
{
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    (void)context;
    return a < b ? -1 : a > b;
}

/* The best third of the stage before continues, in the order of their numbers; ties: the first. */
static void halve(struct tune *t)
{
    sort_stable(t->slots, t->slot_count, sizeof *t->slots, by_score, t);
    t->slot_count = (t->slot_count + THIRD - 1) / THIRD;
    sort_stable(t->slots, t->slot_count, sizeof *t->slots, by_number, NULL);
}

static uint32_t stages_of(const struct tune *t, uint32_t count)
{
    uint32_t stages = 1;
    int64_t epochs = t->q->config->train.epochs;
    for (; stages < STAGES && count >= THIRD && epochs >= THIRD; stages++) {
        count /= THIRD;
        epochs /= THIRD;
    }
    return t->q->only >= 0 ? 1 : stages;
}

/* The machine that computes, by the work of the first round. */
static bool choose_machine(struct tune *t, uint32_t runs, struct err *e)
{
    if (t->job.machine && t->first > 0 && t->q->only < 0)
        return true; /* of the first round */
    return job_open_run(&t->job, e) && (t->job.machine || job_decide_machine(&t->job, runs, e));
}

static bool end_round(struct tune *t, bool good)
{
    const int64_t micro_most = t->job.run.micro_most;
    run_close(&t->job.run); /* it borrows the round's encoder */
    t->job.run.micro_most = micro_most;
    if (t->job.ensemble)
        close_round(t->job.ensemble);
    t->job.ensemble = NULL;
    return good;
}

static bool run_round(struct tune *t, uint32_t count, struct err *e)
{
    const uint32_t stages = stages_of(t, count);
    struct ensemble *n = t->job.ensemble = open_round(t, count, e);
    if (!n || !ensemble_encode(&t->job, e))
        return end_round(t, false);
    if (!t->first)
        transforms_say(&t->job, 1, 1);
    if (!choose_machine(t, count, e))
        return end_round(t, false);
    int64_t *epochs = mem_alloc(count, sizeof *epochs);
    t->slots = mem_alloc(count, sizeof *t->slots);
    t->slot_count = count;
    for (uint32_t i = 0; i < count; i++) {
        t->slots[i] = i;
        epochs[i] = n->configs[i]->train.epochs;
    }
    bool good = true;
    for (t->stage = 0; good && t->stage < stages && !t->a->timed_out; t->stage++) {
        if (t->stage)
            halve(t);
        good = run_stage(t, stages, epochs, e);
    }
    mem_free(epochs);
    mem_free(t->slots);
    t->slots = NULL;
    return end_round(t, good);
}


static bool run_rounds(struct tune *t, struct err *e)
{
    const struct tune_request *q = t->q;
    uint32_t all = q->trials ? (uint32_t)q->trials : q->limit_s > 0 ? TUNE_MOST : TUNE_TRIALS;
    uint32_t round = q->trials || !(q->limit_s > 0) ? all : TUNE_ROUND;
    if (q->only >= 0) {
        t->first = (uint32_t)q->only;
        return run_round(t, 1, e);
    }
    for (; t->first < all && !t->a->timed_out; t->first += round)
        if (!run_round(t, all - t->first < round ? all - t->first : round, e))
            return false;
    return true;
}

/* --- all of it --- */

static bool find_metric(struct tune *t, struct err *e)
{
    const struct config *c = t->q->config;
    const char *name = c->train.early_stopping.metric;
    bool standard = !name || strcmp(name, "auto") == 0;
    t->a->metric = standard ? config_metric(c) : metric_find(name, config_metric_task(c, false));
    if (t->a->metric)
        return true;
    err_set(e, ERR_CONFIG_WORD, "train.early_stopping.metric: \"%s\" is not a metric of the task",
            text_quote_z(name));
    return err_key(e, "train.early_stopping.metric");
}

static bool check_config(const struct tune *t, struct err *e)
{
    const struct config *c = t->q->config;
    if (c->ensemble.members && json_count(c->ensemble.members)) {
        err_set(e, ERR_CONFIG_CONFLICT, "a search varies one network, and the config lists members "
                                        "of an ensemble");
        err_key(e, "ensemble.members");
        return err_help(e, "--set ensemble.members=[] searches without them");
    }
    return true;
}

/* Notes which network a trial is, if the config trains more than one. */
static void note_network(const struct config *c)
{
    const char *network = config_auto_network(c);
    if (network)
        log_note("preset auto is a list of networks; tune searches one network, preset %s (choose "
                 "another with --set model.preset=NAME)", network);
    if (c->ensemble.folds)
        log_note("a trial is one network, trained on the training rows of the split; "
                 "ensemble.folds %lld is for the training of the best config",
                 (long long)c->ensemble.folds);
}

static bool check_rows(struct tune *t, struct err *e)
{
    if (!t->job.table->split.record_count[PART_VALID]) {
        err_set(e, ERR_CONFIG_CONFLICT, "trials are compared on validation rows, and there are "
                                        "none");
        err_key(e, "data.split.valid");
        return err_help(e, "set `data.split.valid` above 0");
    }
    t->job.table->split.record_count[PART_TEST] = 0; /* nothing looks at them */
    row_list_free(&t->job.table->split.list[PART_TEST]);
    t->job.table->data->sample.rows = 0;
    return true;
}

static bool stopped(const struct tune *t, struct err *e)
{
    if (e->id != ERR_NONE)
        return false;
    if (!t->output || t->q->only >= 0) {
        err_set(e, stop_id(), "stopped by %s; nothing is kept", stop_name());
        return err_help(e, "start it again%s", t->q->only < 0 ? ", with -o to be able to resume"
                                                              : "");
    }
    err_set(e, stop_id(), "stopped by %s; %zu trainings are kept in \"%s\"", stop_name(),
            t->a->count, text_quote_z(t->journal.path));
    return err_help(e, "the same command with --resume continues");
}

static bool find_best(struct tune *t, struct err *e)
{
    struct tune_answer *a = t->a;
    for (size_t i = 1; i < a->count; i++)
        if (tune_precedes(a->metric, &a->results[i], &a->results[a->best]))
            a->best = i;
    if (a->count && !isnan(a->results[a->best].score))
        return true;
    *e = t->broke;
    return e->id != ERR_NONE ? false : err_set(e, ERR_DIVERGED, "no trial has a score");
}

static bool story(struct tune *t, struct err *e)
{
    stop_phase("opening the outputs", true);
    if (!find_metric(t, e) || !check_config(t, e) || !space_open(&t->a->space, t->q->config, e))
        return false;
    space_note_steps(&t->a->space, t->q->config);
    note_network(t->q->config);
    t->job.folds = 1;
    if (!job_start(&t->job, e) || !check_rows(t, e) || !tune_open(t, e))
        return false;
    stop_phase("training", false);
    if (!run_rounds(t, e))
        return stopped(t, e);
    if (!find_best(t, e))
        return false;
    tune_find_gain(t);
    t->a->backend = t->job.backend;
    t->a->total_s = tune_used(t);
    stop_phase("writing the result", false);
    return tune_save(t, e);
}

bool tune_check(const struct config *c, struct err *e)
{
    struct space s;
    bool good = space_open(&s, c, e);
    for (uint32_t i = 0; good && i < TUNE_TRIALS; i++) {
        struct draw d;
        space_draw(&s, i, &d);
        struct config *trial = config_trial(c, (const char *const *)d.sets, d.count, e);
        good = trial || place_error(c, i, &d, e);
        config_free(trial);
        draw_free(&d);
    }
    space_close(&s);
    return good || config_blame(c, e);
}

bool tune_run(const struct tune_request *q, struct tune_answer *a, struct err *e)
{
    struct tune t = {.q = q,
                     .a = a,
                     .request = {.config = q->config, .progress = q->progress},
                     .journal = {.fd = -1}};
    t.job = (struct train_job){.request = &t.request,
                               .job = JOB_TUNE,
                               .config = q->config,
                               .config_text = mem_string(""),
                               .began = clock_now(),
                               .journal = {.fd = -1}};
    memset(a, 0, sizeof *a);
    bool good = story(&t, e) || config_blame(q->config, e);
    tune_close(&t);
    tune_losses_free(&t.plain);
    tune_losses_free(&t.top);
    job_close(&t.job);
    stop_phase("ending", false);
    return good;
}
