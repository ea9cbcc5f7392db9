/* cv.c - see cv.h. Each fold is a job of its own over one dataset: a table of its rows, an ensemble
 * (of one run, if the config has none), and the mean of its runs. All runs of all folds are trained
 * side by side. */
#include "train/cv.h"

#include <math.h>
#include <string.h>

#include "answer/stream/answer_line.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/progress.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "base/process/warnings.h"
#include "choose/memory.h"
#include "config/output.h"
#include "table/sequence/windows.h"
#include "train/cv_answers.h"
#include "train/ensemble_mix.h"
#include "train/train.h"

struct cv {
    const struct cv_request *q;
    struct train_request request; /* of the jobs */
    struct train_job all;         /* the table of all folds */
    struct train_job *folds;      /* [count] */
    uint32_t count, runs;         /* runs: number of runs of a fold */
    uint32_t finished;            /* runs of all folds, under the lock of `jobs` */
    struct cv_answers answers;
    struct conformal told; /* of the last fold */
};

/* --- the folds --- */

/* Errors about the number of folds name the key of an ensemble. */
static bool blame_folds(struct err *e)
{
    if (strcmp(e->key, "ensemble.folds") == 0) {
        e->key[0] = '\0';
        err_help(e, "--folds sets their number; split.method \"stratified\" spreads every class "
                    "over the folds");
    }
    return false;
}

/* The table of all rows: nothing is set aside for validation and test. */
static bool read_table(struct cv *v, struct err *e)
{
    struct config *c = v->q->config;
    const struct split_options kept = c->data.split;
    c->data.split.valid = 0;
    c->data.split.test = 0;
    v->all.folds = v->count;
    bool good = job_start(&v->all, e);
    c->data.split = kept;
    return good;
}

static bool open_fold(struct cv *v, uint32_t fold, struct err *e)
{
    struct train_job *j = &v->folds[fold];
    const struct config *c = v->q->config;
    *j = (struct train_job){.request = &v->request,
                            .config = v->q->config,
                            .began = v->all.began,
                            .journal = {.fd = -1},
                            .backend = v->all.backend,
                            .config_text = mem_string("")};
    j->ensemble = ensemble_new(c, e);
    if (!j->ensemble)
        return false;
    j->ensemble->apart = true;
    j->ensemble->whole_test = v->q->output != NULL; /* each row is a line of it */
    j->shared = &v->all.journal;
    j->fold = fold;
    v->runs = j->ensemble->runs;
    for (uint32_t i = 0; i < j->ensemble->members; i++)
        j->ensemble->configs[i]->train.time_limit_s = c->train.time_limit_s / v->runs;
    j->table = table_of_fold(v->all.table, fold, &c->data.split, j->ensemble->folds, e);
    if (!j->table)
        return false;
    if (!j->ensemble->plain && !j->table->folds.rows[0].left_count)
        return err_set(e, ERR_CONFIG_CONFLICT, "the members of the ensemble are chosen by "
                                               "validation rows, and there are none");
    return ensemble_encode(j, e);
}

static bool open_folds(struct cv *v, struct err *e)
{
    v->folds = mem_zero(v->count, sizeof *v->folds);
    for (uint32_t f = 0; f < v->count; f++) {
        v->folds[f].journal.fd = -1;
        if (!open_fold(v, f, e))
            return blame_folds(e);
    }
    transforms_say(v->folds, v->count, v->runs);
    struct train_job *first = v->folds;
    if (!job_open_run(first, e))
        return false;
    first->machine = v->all.machine;
    v->all.machine = NULL;
    return first->machine || job_decide_machine(first, v->count * v->runs, e);
}

/* --- training --- */

/* Under the lock. */
static void tell(struct cv *v, uint32_t fold, const struct run_part *p)
{
    const struct ensemble *n = v->folds[fold].ensemble;
    struct text line = {0};
    text_printf(&line, "fold %u", fold);
    if (v->runs > 1)
        text_printf(&line, ", run %u, member \"%s\"", p->run, text_quote_z(n->names[p->member]));
    text_printf(&line, ": best epoch %lld of %lld, %s; %u of %u runs are finished",
                (long long)p->best_epoch, (long long)p->epochs, progress_time(p->seconds),
                ++v->finished, v->count * v->runs);
    if (v->q->progress == PROGRESS_NONE || v->q->progress == PROGRESS_AUTO)
        log_info("%s", line.data);
    else
        log_line("%s", line.data);
    text_free(&line);
}

/* Trains one run of one fold. A run that broke is left out. */
static bool work(void *cv, uint32_t item, struct machine *m, struct err *e)
{
    struct cv *v = cv;
    const uint32_t fold = item / v->runs, run = item % v->runs;
    struct train_job *j = &v->folds[fold];
    struct run_part *p = ensemble_run(j, run, m, e);
    if (!p && e->id != ERR_DIVERGED)
        return false;
    if (p) { /* the weights are not used again */
        mem_free(p->params);
        mem_free(p->buffers);
        p->params = p->buffers = NULL;
    } else {
        log_warning("fold %u: run %u is left out: %s", fold, run, e->what);
    }
    parallel_lock(j->jobs);
    if (p)
        tell(v, fold, p);
    else if (j->ensemble->broke.id == ERR_NONE)
        j->ensemble->broke = *e;
    j->ensemble->parts[run] = p;
    parallel_unlock(j->jobs);
    err_clear(e);
    return true;
}

static bool train(struct cv *v, struct err *e)
{
    const uint32_t items = v->count * v->runs;
    struct parallel_jobs s = {.owner = v,
                              .count = items,
                              .threads = ensemble_beside(v->folds, items),
                              .machine = v->folds->machine,
                              .work = work};
    for (uint32_t f = 0; f < v->count; f++)
        v->folds[f].jobs = &s;
    stop_phase("training", false);
    if (parallel_run(&s, e) && !stop_wanted())
        return true;
    if (e->id != ERR_NONE)
        return false;
    err_set(e, stop_id(), "stopped by %s; nothing of a cross-validation is kept", stop_name());
    return err_help(e, "start it again");
}

/* --- answers and metrics --- */

/* Answers the rows that a fold leaves out, and adds them to the tally of all folds. A fold without
 * intervals gives infinite ends. */
static void answer_fold(struct cv *v, uint32_t fold, const struct mixing *x, struct tally *y)
{
    const uint32_t *index = v->folds[fold].table->split.list[PART_TEST].index;
    const struct part_rows *r = &mixing_part(x, 0, 0)->test;
    const bool intervals = conformal_is_interval(&x->conformal);
    double *out = mem_alloc(2 * SCORE_TALLIED * (uint64_t)x->outputs, sizeof *out),
           *raw = out + SCORE_TALLIED * (uint64_t)x->outputs, ends[4][SCORE_TALLIED];
    tally_judge_by(y, &x->criterion);
    y->decision = x->decision;
    for (uint64_t from = 0; from < r->count; from += SCORE_TALLIED) {
        uint64_t count = r->count - from < SCORE_TALLIED ? r->count - from : SCORE_TALLIED;
        mixing_answer(x, x->weights, true, 0, from, count, out, raw);
        if (intervals)
            mixing_interval(x, true, 0, from, count, out, ends[0], ends[1], ends[2]);
        for (uint64_t i = 0; i < count; i++) {
            const uint64_t row = index[from + i];
            v->answers.fold[row] = fold;
            memcpy(v->answers.answer + row * x->outputs, out + i * x->outputs,
                   x->outputs * sizeof *out);
            for (int end = 0; v->answers.ends && end < 2; end++)
                v->answers.ends[2 * row + (size_t)end] = intervals ? ends[end][i]
                                                         : end     ? (double)INFINITY
                                                                   : -(double)INFINITY;
        }
        tally_add(y, &(struct scores){.task = v->q->config->task,
                                      .rows = count,
                                      .classes = x->classes,
                                      .probability = out,
                                      .raw = raw,
                                      .value = out,
                                      .label = r->label ? r->label + from : NULL,
                                      .target = r->target ? r->target + from : NULL,
                                      .low = ends[0],
                                      .high = ends[1],
                                      .group = r->group ? r->group + from : NULL,
                                      .weight = r->weight + from});
    }
    mem_free(out);
}

/* If the time limit left no time to answer all rows that a fold leaves out, only the rows that each
 * of its runs answered stay in the list. */
static bool keep_judged(const struct cv *v, struct train_job *j, struct cv_fold *r, struct err *e)
{
    struct row_list *list = &j->table->split.list[PART_TEST];
    const struct part_rows *least = NULL;
    bool good = true;
    for (uint32_t i = 0; i < v->runs; i++) {
        const struct run_part *p = j->ensemble->parts[i];
        if (p && p->test.at && (!least || p->test.count < least->count))
            least = &p->test;
    }
    if (!least)
        return true;
    for (uint64_t i = 0; i < least->count; i++)
        list->index[i] = list->index[least->at[i]];
    r->judged = list->count = least->count;
    for (uint32_t i = 0; good && i < v->runs; i++) {
        struct run_part *p = j->ensemble->parts[i];
        good = !p || part_rows_keep(&p->test, least, p->outputs, e);
    }
    return good;
}

/* Joins the answers of windows that are of one line, as predict does it. */
static void join_windows(const struct cv *v, struct train_job *j)
{
    const struct dataset *d = v->all.table->data;
    struct row_list *list = &j->table->split.list[PART_TEST];
    if (!list->windows)
        return;
    uint32_t *line = mem_alloc(list->count + 1, sizeof *line);
    for (uint64_t i = 0; i < list->count; i++)
        line[i] = line_of(&d->schema->windows, &d->samples, list->index[i]);
    const uint64_t lines = lines_number(line, list->count, d->rows.count, NULL, list->index);
    for (uint32_t i = 0; i < v->runs; i++) {
        struct run_part *p = j->ensemble->parts[i];
        if (p)
            part_rows_join(&p->test, line, lines, p->outputs);
    }
    list->count = lines;
    mem_free(line);
}

static bool measure_fold(struct cv *v, uint32_t fold, struct tally **pooled, struct cv_fold *r,
                         struct err *e)
{
    struct train_job *j = &v->folds[fold];
    const struct dataset *d = v->all.table->data;
    struct mixing x;
    uint32_t found = 0;
    for (uint32_t i = 0; i < v->runs; i++) {
        const struct run_part *p = j->ensemble->parts[i];
        found += p != NULL;
        r->epochs += p ? p->epochs : 0;
        r->seconds += p ? p->seconds : 0;
    }
    if (!found) {
        *e = j->ensemble->broke;
        return false;
    }
    if (!keep_judged(v, j, r, e))
        return false;
    join_windows(v, j);
    if (!mixing_open(&x, j, false, e))
        return false;
    if (!v->answers.answer) {
        v->answers.outputs = x.outputs;
        v->answers.answer = mem_zero(d->rows.count * x.outputs + 1, sizeof *v->answers.answer);
        v->answers.region = job_region(v->q->config);
        if (v->answers.region == ANSWER_INTERVAL)
            v->answers.ends = mem_alloc(2 * d->rows.count + 1, sizeof *v->answers.ends);
        *pooled = tally_new(v->q->config->task, x.classes, TALLY_ALL);
    }
    mixing_choose(&x, NULL);
    if (!mixing_calibrate(&x, true, e)) {
        mixing_free(&x);
        return false;
    }
    if (j->config->cut.kind != THRESHOLD_NONE)
        mixing_cut(&x, &j->config->cut, &(struct threshold_point){0});
    mixing_conform(&x, true);
    v->told = x.conformal;
    (*pooled)->conformal = v->told.rule ? &v->told : NULL;
    v->answers.decision[fold] = decision_copy(&x.decision);
    v->answers.conformal[fold] = x.conformal;
    answer_fold(v, fold, &x, *pooled);
    r->runs = found;
    for (int p = 0; p < PARTS; p++)
        r->rows[p] = j->table->split.record_count[p];
    mixing_measure(&x, x.weights, true, NULL, &r->metrics);
    mixing_free(&x);
    return true;
}

/* Standard errors over folds with a value. */
static void set_errors(struct cv_result *r)
{
    r->error = r->pooled;
    for (uint32_t k = 0; k < r->pooled.count; k++) {
        struct mean mean = {0};
        for (uint32_t f = 0; f < r->fold_count; f++) {
            double off = metrics_get(&r->folds[f].metrics, r->pooled.m[k].type->name) -
                         r->pooled.m[k].value;
            if (!isnan(off))
                mean_add(&mean, 1, off);
        }
        r->error.m[k].value = mean_error(&mean);
    }
}

static bool measure(struct cv *v, struct cv_result *r, struct err *e)
{
    const uint64_t rows = v->all.table->data->rows.count;
    struct tally *pooled = NULL;
    uint64_t all = 0;
    bool good = true;
    const struct schema *s = v->all.table->encoder->schema;
    if (schema_answers_windows(s))
        v->answers.line = lines_of(&s->windows, &v->all.table->data->samples, rows);
    r->label = v->answers.line ? s->windows.label : LABEL_ROW;
    v->answers.fold = mem_alloc(rows + 1, sizeof *v->answers.fold);
    for (uint64_t i = 0; i < rows; i++)
        v->answers.fold[i] = CV_NO_FOLD;
    r->folds = mem_zero(v->count, sizeof *r->folds);
    r->fold_count = v->count;
    stop_phase("measuring the folds", false);
    for (uint32_t f = 0; good && f < v->count; f++) {
        good = measure_fold(v, f, &pooled, &r->folds[f], e);
        r->answers += v->folds[f].table->split.list[PART_TEST].count;
        all += r->folds[f].judged ? v->folds[f].table->split.record_count[PART_TEST]
                                  : v->folds[f].table->split.list[PART_TEST].count;
    }
    if (good && r->answers < all)
        log_note("the time limit leaves time to answer %llu of %llu rows that the folds leave out: "
                 "a random sample of them is measured", (unsigned long long)r->answers,
                 (unsigned long long)all);
    if (good) {
        metrics_of(pooled, &r->pooled);
        metrics_intervals(pooled, &r->pooled);
        set_errors(r);
    }
    tally_free(pooled);
    return good;
}

static bool story(struct cv *v, struct cv_result *r, struct err *e)
{
    const char *output = v->q->output;
    stop_phase("opening the output", true);
    if (output && !output_beside_rows(v->q->config, output, "-o", e))
        return false;
    if (!journal_open(&v->all.journal, v->q->config->output.metrics, e) ||
        !journal_own(&v->all.journal, e))
        return false;
    if (!read_table(v, e))
        return blame_folds(e);
    if (!open_folds(v, e) || !journal_cut(&v->all.journal, 0, e) || !train(v, e) ||
        !journal_sync(&v->all.journal, e) || !measure(v, r, e))
        return false;
    stop_phase("writing the answers", false);
    if (output && !cv_answers_write(&v->answers, output, v->all.table, v->all.table->encoder,
                                    &v->q->config->data, e))
        return false;
    r->backend = v->folds->backend;
    r->total_s = clock_now() - v->all.began;
    return true;
}

bool cv_run(const struct cv_request *q, struct cv_result *r, struct err *e)
{
    struct cv v = {.q = q,
                   .request = {.config = q->config, .progress = q->progress},
                   .count = (uint32_t)q->folds};
    v.all = (struct train_job){.request = &v.request,
                               .config = q->config,
                               .began = clock_now(),
                               .journal = {.fd = -1}};
    memset(r, 0, sizeof *r);
    bool good = story(&v, r, e) || config_blame(q->config, e);
    for (uint32_t f = 0; v.folds && f < v.count; f++)
        job_close(&v.folds[f]);
    mem_free(v.folds);
    for (uint32_t f = 0; f < v.count; f++)
        decision_free(&v.answers.decision[f]);
    mem_free(v.answers.fold);
    mem_free(v.answers.answer);
    mem_free(v.answers.ends);
    mem_free(v.answers.line);
    job_close(&v.all);
    stop_phase("ending", false);
    return good;
}

void cv_release(struct cv_result *r)
{
    mem_free(r->folds);
    r->folds = NULL;
    r->fold_count = 0;
}

void cv_write(const struct cv_result *r, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.cv/1");
    json_put_int(out, "rows", (int64_t)r->answers);
    json_open(out, "folds", '[');
    for (uint32_t f = 0; f < r->fold_count; f++) {
        const struct cv_fold *k = &r->folds[f];
        json_open(out, NULL, '{');
        json_put_int(out, "fold", f);
        json_open(out, "rows", '{');
        for (int p = 0; p < PARTS; p++)
            json_put_int(out, part_words[p], (int64_t)k->rows[p]);
        json_close(out, '}');
        if (k->judged)
            json_put_int(out, "judged", (int64_t)k->judged);
        json_put_int(out, "runs", k->runs);
        json_put_int(out, "epochs", k->epochs);
        metrics_write(&k->metrics, "metrics", out);
        metrics_write_intervals(&k->metrics, "intervals", out);
        json_put_number(out, "seconds", k->seconds);
        json_close(out, '}');
    }
    json_close(out, ']');
    metrics_write(&r->pooled, "pooled", out);
    metrics_write(&r->error, "standard_error", out);
    metrics_write_intervals(&r->pooled, "pooled_intervals", out);
    select_write(&r->backend, "backend", out);
    memory_write("memory", out);
    warnings_write(out);
    json_put_number(out, "seconds", r->total_s);
    json_close(out, '}');
}
