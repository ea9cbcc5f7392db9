/* ensemble.c - see ensemble.h: the list of runs, and how they are trained side by side. */

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/progress.h"
#include "base/process/stop.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "train/ensemble_mix.h"
#include "train/job.h"

/* --- the list of runs --- */

/* The first member with the same options of columns as this one. */
static uint32_t find_equal(const struct ensemble *n, uint32_t member)
{
    const struct encoder_options *own = &n->configs[member]->data.encoders;
    uint32_t k = 0;
    while (k < member && !opt_equal(encoder_options_table, own, &n->configs[k]->data.encoders))
        k++;
    return k;
}

bool ensemble_encode(struct train_job *j, struct err *e)
{
    struct ensemble *n = j->ensemble;
    struct progress_amount progress;
    bool good = true;
    progress_amount_open(&progress, (enum progress_style)j->request->progress, "fitting",
                         "encoders");
    for (uint32_t m = 0; good && m < n->members; m++) {
        const struct config *c = n->configs[m];
        uint32_t equal = find_equal(n, m);
        struct schema *as = schema_declare(&c->data, c->task, c->doc, e);
        good = as != NULL;
        for (uint32_t f = 0; good && f < n->folds; f++) {
            progress_amount(&progress, m * n->folds + f, n->runs);
            struct encoder **to = &n->encoders[m * n->folds + f];
            *to = equal < m ? n->encoders[equal * n->folds + f]
                            : table_fit_fold(j->table, f, as, e);
            good = *to != NULL;
        }
        schema_free(as);
    }
    progress_amount_close(&progress);
    if (good)
        table_know_pooled(j->table, n->encoders, n->runs);
    return good;
}

struct ensemble *ensemble_of(struct config **configs, const char *const *names, uint32_t members,
                             uint32_t folds)
{
    struct ensemble *n = mem_zero(1, sizeof *n);
    n->members = members;
    n->folds = folds;
    n->runs = n->members * n->folds;
    n->configs = mem_zero(n->members, sizeof *n->configs);
    n->names = mem_zero(n->members, sizeof *n->names);
    n->parts = mem_zero(n->runs, sizeof *n->parts);
    n->work = mem_zero(n->runs, sizeof *n->work);
    n->beside = 1;
    n->encoders = mem_zero(n->runs, sizeof *n->encoders);
    for (uint32_t i = 0; i < members; i++) {
        n->configs[i] = configs[i];
        n->names[i] = mem_string(names[i]);
    }
    return n;
}

struct ensemble *ensemble_new(const struct config *c, struct err *e)
{
    const uint32_t members = (uint32_t)config_member_count(c);
    struct config *configs[ENSEMBLE_MEMBERS] = {NULL};
    char rooms[ENSEMBLE_MEMBERS][32];
    const char *names[ENSEMBLE_MEMBERS];
    for (uint32_t i = 0; i < members; i++) {
        names[i] = config_member_name(c, i, rooms[i]);
        configs[i] = config_member(c, i, e);
        if (!configs[i])
            return NULL;
    }
    struct ensemble *n = ensemble_of(configs, names, members,
                                     c->ensemble.folds ? (uint32_t)c->ensemble.folds : 1);
    n->plain = !config_is_ensemble(c);
    return n;
}

struct ensemble *ensemble_alone(struct config *c)
{
    struct ensemble *n = ensemble_of(&c, (const char *const[]){"base"}, 1, 1);
    n->plain = n->alone = true;
    return n;
}

struct encoder *ensemble_encoder(const struct train_job *j, uint32_t run)
{
    const struct ensemble *n = j->ensemble;
    return n->alone ? j->table->encoder : n->encoders[run];
}

void ensemble_free(struct ensemble *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < n->runs; i++) {
        bool shared = i >= n->folds && find_equal(n, i / n->folds) != i / n->folds;
        part_free(n->parts[i]);
        if (!shared)
            encoder_free(n->encoders[i]);
        if (n->keepers)
            keeper_release(&n->keepers[i]);
    }
    mem_free(n->encoders);
    for (uint32_t i = 0; i < n->members; i++)
        mem_free(n->names[i]);
    mem_free(n->configs);
    mem_free(n->names);
    mem_free(n->parts);
    mem_free(n->keepers);
    mem_free(n->work);
    mem_free(n);
}

uint32_t ensemble_done_of(const struct ensemble *n, uint32_t member, bool whole)
{
    uint32_t done = 0;
    for (uint32_t i = member * n->folds; i < (member + 1) * n->folds; i++)
        done += n->parts[i] && (!whole || part_whole(n->parts[i]));
    return done;
}

uint32_t ensemble_done(const struct ensemble *n, bool whole)
{
    uint32_t done = 0;
    for (uint32_t m = 0; m < n->members; m++)
        done += ensemble_done_of(n, m, whole);
    return done;
}

/* --- side by side --- */

/* cost of a row in addition to its products, in operations: with it, the time of a linear model
 * forecasts the time of networks */
#define ROW_WORK 2e4

struct model *ensemble_plan(const struct config *c, const struct encoder *as, struct err *e)
{
    struct features *f = encoder_features(as);
    struct model *m = model_plan(c->architecture, f, 1, 1, false, e);
    features_free(f);
    return m;
}

double ensemble_work(const struct train_job *j, uint32_t run, uint64_t *params, struct err *e)
{
    const struct ensemble *n = j->ensemble;
    const struct config *c = n->configs[run / n->folds];
    struct model *m = ensemble_plan(c, ensemble_encoder(j, run), e);
    if (!m)
        return -1;
    double work = ((double)m->flops + ROW_WORK) * (double)c->train.epochs *
                  (double)j->table->folds.rows[run % n->folds].train_count;
    *params = m->params;
    model_free(m);
    return work;
}

/* The work of each run; 0 of a path, whose epochs are not counted beforehand. */
static void find_work(const struct train_job *j)
{
    const struct ensemble *n = j->ensemble;
    for (uint32_t i = 0; i < n->runs; i++) {
        struct err ignored = {0};
        uint64_t params;
        double work = ensemble_work(j, i, &params, &ignored);
        bool steps = n->configs[i / n->folds]->architecture->solution == SOLVED_BY_STEPS;
        n->work[i] = work > 0 && steps ? work : 0;
    }
}

double ensemble_seconds(const struct ensemble *n, uint32_t run)
{
    double own = 0, all = 0, worked = 0, work = 0;
    uint32_t done = 0, done_own = 0;
    for (uint32_t i = 0; i < n->runs; i++) {
        const struct run_part *p = n->parts[i];
        if (!p || !part_whole(p))
            continue;
        done++;
        all += p->seconds;
        worked += n->work[i] > 0 ? p->seconds : 0;
        work += n->work[i];
        if (i / n->folds == run / n->folds) {
            own += p->seconds;
            done_own++;
        }
    }
    if (done_own)
        return own / done_own;
    return work > 0 && n->work[run] > 0 ? worked / work * n->work[run] : done ? all / done : 0;
}

/* The mean itself is measured with intervals and calibrated; a member takes about a third of
 * that. */
double ensemble_passes(const struct ensemble *n)
{
    return 1 + n->members / 3.0;
}

/* Seconds that the mean takes after the runs, by the first finished one; 0: none has finished. */
static double mean_seconds(const struct ensemble *n)
{
    for (uint32_t i = 0; i < n->runs; i++)
        if (n->parts[i])
            return ensemble_passes(n) * run_pass_seconds(n->parts[i]->outputs) *
                   ((double)n->parts[i]->left.count * n->folds + (double)n->parts[i]->test.count);
    return 0;
}

/* Runs of member 0 start as long as the next one fits the time that is left. Member 0 is enough for
 * a model: a run of another member starts only if all missing runs of that member fit. */
static bool has_time(const struct train_job *j, uint32_t run)
{
    const struct ensemble *n = j->ensemble;
    const uint32_t member = run / n->folds;
    const double limit = j->config->train.time_limit_s;
    double used = j->run.used + clock_now() - j->began, each = ensemble_seconds(n, run);
    const uint32_t left = n->folds - ensemble_done_of(n, member, false);
    uint32_t rounds = (left + n->beside - 1) / n->beside;
    if (limit > 0 && ensemble_done(n, true) < ensemble_done(n, false))
        return false; /* the limit ended a run */
    return !(limit > 0) || used + each * (member ? rounds : 1) + mean_seconds(n) < limit;
}

static enum parallel_turn turn(void *job, uint32_t run)
{
    const struct train_job *j = job;
    const int64_t only = job_only(j);
    struct ensemble *n = j->ensemble;
    if (n->parts[run] || (only >= 0 && run != only))
        return PARALLEL_PASS;
    if (run == 0 || only >= 0 || has_time(j, run))
        return PARALLEL_DO;
    n->cut = true;
    return PARALLEL_PASS; /* one of another member may take less */
}

static void tell_run(const struct train_job *j, const struct run_part *p)
{
    const struct ensemble *n = j->ensemble;
    struct text line = {0};
    text_printf(&line, "run %u, member \"%s\"", p->run, text_quote_z(n->names[p->member]));
    if (n->folds > 1)
        text_printf(&line, ", fold %u", p->fold);
    text_printf(&line, ": best epoch %lld of %lld, %s; %u of %u runs are finished",
                (long long)p->best_epoch, (long long)p->epochs, progress_time(p->seconds),
                ensemble_done(n, false), n->runs);
    if (j->request->progress == PROGRESS_NONE || n->members > 1) /* the report names members
                                                                  * instead */
        log_info("%s", line.data);
    else
        log_line("%s", line.data);
    text_free(&line);
}

/* Keeps a finished run, in a file too if it is whole. */
static bool keep(struct train_job *j, struct run_part *p, struct err *e)
{
    struct ensemble *n = j->ensemble;
    struct keeper *k = &n->keepers[p->run];
    bool good = true, all = job_only(j) < 0, save = part_whole(p) && all;
    p->used = j->run.used + clock_now() - j->began;
    if (save) {
        good = part_save(p, k->output, e);
        keeper_clear(k);
        good = good && keep_drop(k->output, e);
    }
    parallel_lock(j->jobs);
    n->parts[p->run] = p;
    k->part = save && good;
    n->cut |= !part_whole(p);
    tell_run(j, p);
    if (all && j->request->progress != PROGRESS_NONE)
        ensemble_tell(j, p->member);
    parallel_unlock(j->jobs);
    return good;
}

/* A run that broke before an epoch had ended is left out; with any other error all end. */
static bool left_out(struct train_job *j, uint32_t run, struct err *e)
{
    struct ensemble *n = j->ensemble;
    if (e->id != ERR_DIVERGED)
        return false;
    if (!n->alone)
        log_warning("run %u (member \"%s\", fold %u) is left out: %s", run,
                    text_quote_z(n->names[run / n->folds]), run % n->folds, e->what);
    parallel_lock(j->jobs);
    if (n->broke.id == ERR_NONE)
        n->broke = *e;
    parallel_unlock(j->jobs);
    err_clear(e);
    return true;
}

static bool work(void *job, uint32_t run, struct machine *m, struct err *e)
{
    struct train_job *j = job;
    if (j->ensemble->alone) /* its network answers at the end: it has no part yet */
        return job_train(j, run, &j->run, e) || left_out(j, run, e);
    struct run_part *p = ensemble_run(j, run, m, e);
    return p ? keep(j, p, e) : left_out(j, run, e);
}

/* On a CPU side by side; on a GPU one after another. */
static bool train_runs(struct train_job *j, uint32_t count, struct err *e)
{
    struct ensemble *n = j->ensemble;
    n->beside = job_only(j) < 0 ? ensemble_beside(j, count) : 1;
    if (!n->alone)
        find_work(j);
    struct parallel_jobs s = {.owner = j,
                              .count = n->runs,
                              .threads = n->beside,
                              .machine = j->machine,
                              .turn = turn,
                              .work = work};
    j->jobs = &s;
    bool good = parallel_run(&s, e);
    j->jobs = NULL;
    return good;
}

uint32_t ensemble_beside(const struct train_job *j, uint32_t count)
{
    uint32_t threads = select_is_gpu(&j->backend) ? 1 : threads_count();
    return threads < count ? threads : count;
}

/* True: no run writes this line of output.metrics again: it is of a finished run, or of an epoch
 * before the checkpoint of an unfinished one. */
static bool stays(const void *ensemble, const char *line)
{
    const struct ensemble *n = ensemble;
    unsigned run;
    long long epoch;
    if (sscanf(line, "{\"schema\":\"dnn.epoch/1\",\"run\":%u,\"epoch\":%lld,", &run, &epoch) != 2 ||
        run >= n->runs)
        return false;
    const struct checkpoint *c = n->keepers[run].found;
    return n->parts[run] || (c && epoch <= c->epochs);
}

/* job_build begins those of a single run, once that has its network. */
static bool begin_lines(struct train_job *j, struct err *e)
{
    if (j->ensemble->alone)
        return true;
    if (job_only(j) >= 0) /* the other runs may write to it now */
        return journal_join(&j->journal, e);
    return j->resume ? journal_filter(&j->journal, stays, j->ensemble, e)
                     : journal_cut(&j->journal, 0, e);
}

bool ensemble_train(struct train_job *j, struct err *e)
{
    struct ensemble *n = j->ensemble;
    if (!job_find(j, e) || !begin_lines(j, e))
        return false;
    uint32_t count = n->runs - ensemble_done(n, false);
    stop_phase("training", false);
    j->started = clock_now();
    bool good = !count || train_runs(j, count, e);
    if (!good && e->id != ERR_NONE)
        return false;
    if (!good || (stop_wanted() && !n->alone))
        return job_stopped(j, e);
    bool any = n->alone ? n->broke.id == ERR_NONE : ensemble_done(n, false) > 0;
    return any || job_useless(j, n->broke.what, "no epoch had ended", e);
}
