/* job_save.c - the end of a training: best weights, their metrics, golden rows, model file. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <errno.h>
#include <sys/stat.h>

#include "answer/golden.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "config/output.h"
#include "measure/probability.h"
#include "train/ensemble.h"
#include "train/job.h"

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

/* Validation rows and the model's answers to them. */
struct answered {
    struct part_rows rows;
    double *answer; /* [rows.count * outputs]: probabilities, or values */
};

static void answered_free(struct answered *v)
{
    part_rows_free(&v->rows);
    mem_free(v->answer);
}

/* Calibrates the answers to the validation rows. answered_free, after failure too. */
static bool fit_calibration(struct train_job *j, struct train_result *r, struct answered *v,
                            struct err *e)
{
    const struct run *n = &j->run;
    if (!part_rows_answer(n, PART_VALID, &v->rows, e))
        return false;
    const struct part_rows left = v->rows;
    double *answers = v->answer = mem_alloc(left.count * n->features->outputs + 1,
                                            sizeof *answers);
    const struct criterion criterion = score_criterion(&n->score);
    struct calibrate_rows rows = {.count = left.count,
                                  .criterion = &criterion,
                                  .classes = n->classes,
                                  .probability = answers,
                                  .value = answers,
                                  .label = left.label,
                                  .target = left.target,
                                  .weight = left.weight};
    double range[2] = {INFINITY, -INFINITY};
    if (n->classes)
        answer_probabilities(left.logits, left.count, n->classes, answers);
    else
        answer_values(&n->schema->coding, left.logits, left.count, n->features->outputs, answers);
    struct run_row counts;
    for (uint64_t i = 0; !n->classes && i < n->list[PART_TRAIN].count; i++) {
        if (!run_row(n, n->list[PART_TRAIN].index[i], &counts))
            continue;
        range[0] = fmin(range[0], n->target[n->list[PART_TRAIN].index[i]]);
        range[1] = fmax(range[1], n->target[n->list[PART_TRAIN].index[i]]);
    }
    const char *leans = config_leans(j->config);
    job_calibrate(j, &rows, n->prior_weight, leans, range, false, &r->calibration);
    job_decide(j->config, leans, &r->calibration, false, &r->decision);
    if (n->classes)
        calibration_apply(&r->calibration, left.count, answers);
    for (uint64_t i = 0; !n->classes && i < left.count * n->features->outputs; i++)
        answers[i] = calibration_limit(&r->calibration, answers[i]);
    j->run.score.calibration = &r->calibration;
    return true;
}

/* Fits intervals or sets, by the same answers. A set always has the decided label, so the decision
 * is known before. */
static void fit_conformal(struct train_job *j, struct train_result *r, const struct answered *v)
{
    const struct run *n = &j->run;
    const struct decision decision = decision_in_use(&r->decision);
    job_conform(j, &(struct conform_rows){.count = v->rows.count,
                                          .classes = n->classes,
                                          .probability = v->answer,
                                          .decision = &decision,
                                          .label = v->rows.label,
                                          .value = v->answer,
                                          .target = v->rows.target,
                                          .weight = v->rows.weight,
                                          .group = v->rows.group,
                                          .limits = &r->calibration,
                                          .coding = &n->schema->coding}, false, &r->conformal);
    j->run.score.conformal = r->conformal.rule ? &r->conformal : NULL;
}

/* Fits the steps from answers to predictions: calibration, threshold, intervals or sets. */
static bool fit_answers(struct train_job *j, struct train_result *r, struct err *e)
{
    const bool answers = j->config->calibrate != CALIBRATE_NONE || config_region(j->config) > 0;
    struct answered v = {0};
    bool good = !answers || fit_calibration(j, r, &v, e);
    if (j->config->cut.kind == THRESHOLD_FIXED)
        r->decision.threshold = j->config->cut.at;
    if (good && threshold_is_chosen(&j->config->cut) && r->has_valid) {
        struct threshold_point p;
        bool reached;
        good = score_threshold(&j->run.score, PART_VALID, &j->config->cut, &p, &reached, e);
        if (good)
            job_cut(j, r, &p, reached);
    }
    if (good && answers)
        fit_conformal(j, r, &v);
    j->run.score.decision = r->decision;
    answered_free(&v);
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

/* True: a model is at the output's name: a regular file, not empty (output_check has read it). */
bool job_model_stands(const struct train_job *j)
{
    struct stat st;
    return stat(j->output, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

bool job_refuse_useless(const struct train_result *r, const struct against *a, struct err *e)
{
    if (r->has_valid)
        err_set(e, ERR_USELESS,
                "the new model is no better than a constant answer: loss %.4g on the validation "
                "rows, that of the constant %.4g; the existing model is kept",
                a->loss, a->constant);
    else
        err_set(e, ERR_USELESS,
                "the training ended inside its first epoch, and there are no validation rows to "
                "measure the new model on; the existing model is kept");
    return err_help(e, "train longer, or on other data; --force replaces the existing model");
}

/* On the test part, else the validation part. */
bool job_gates_met(struct train_result *r, struct err *e)
{
    struct text failed = {0};
    for (size_t i = 0; i < r->gate_count; i++) {
        const struct gate *g = &r->gates[i];
        if (g->pass)
            continue;
        text_printf(&failed, "%s%s, measured ", failed.length ? "; " : "", text_quote_z(g->text));
        gate_put(g, &failed);
    }
    bool met = !failed.length;
    if (!met)
        err_set(e, ERR_GATE_UNMET, "gate not met on the %s rows: %s",
                part_names[r->has_test ? PART_TEST : PART_VALID], failed.data);
    text_free(&failed);
    return met;
}

/* The run broke, and its best epoch is no better than a constant answer. */
static bool refuse(struct train_job *j, const struct against *a, struct err *e)
{
    char why[200];
    snprintf(why, sizeof why,
             "the best epoch, %lld, is no better than a constant answer (loss %.4g on the %s rows, "
             "that of the constant %.4g)",
             (long long)j->run.history.best_epoch, a->loss, part_names[a->part], a->constant);
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
    if (useless && !j->request->force && job_model_stands(j))
        return job_refuse_useless(r, a, e);
    if (!job_gates_met(r, e))
        return false;
    job_compare_parts(j, r);
    job_judge(j, r, r->has_valid && against_better(shown) ? a : shown);
    if (!r->epochs && job_model_stands(j))
        job_tell_replaced(j, r);
    return true;
}

/* The metrics as the JSON object of the model file; no time, place or speed. */
void job_metrics_text(const struct train_result *r, struct text *out)
{
    struct json_out o = {0};
    json_open(&o, NULL, '{');
    train_write_end(r, &o);
    json_open(&o, "rows", '{');
    for (int p = 0; p < PARTS; p++)
        json_put_int(&o, part_words[p], (int64_t)r->rows[p]);
    json_close(&o, '}');
    train_write_judged(r, &o);
    if (r->metric)
        json_put_string(&o, "metric", r->metric);
    if (r->member_count)
        train_write_members(r, false, &o);
    if (r->has_valid)
        metrics_write(&r->valid, "valid", &o);
    if (r->has_test)
        metrics_write(&r->test, "test", &o);
    if (r->has_valid || r->has_test)
        metrics_write(&r->baseline, "baseline", &o);
    json_close(&o, '}');
    *out = o.text;
}

static bool make_golden(const struct train_job *j, struct golden *g, struct err *e)
{
    const struct table_sample *sample = &j->table->sample;
    const uint32_t outputs = j->run.features->outputs;
    real *logits = mem_zero((size_t)sample->rows * outputs + 1, sizeof *logits);
    bool good = run_answer_first(&j->run, &j->table->first, sample->rows, logits, e);
    if (good)
        golden_make(g, sample, logits, 1, outputs);
    mem_free(logits);
    return good;
}

/* A free name beside the output; mem_free. */
static char *name_beside(const char *output)
{
    for (unsigned i = 1;; i++) {
        struct text name = {0};
        text_printf(&name, i > 1 ? "%s.new-%u" : "%s.new", output, i);
        struct stat st;
        if (lstat(name.data, &st) != 0 && errno == ENOENT)
            return name.data;
        text_free(&name);
    }
}

/* A foreign file may have appeared at the output's name while the training ran. The last look is
 * directly before the rename; then the model is written beside that file, and it is an error. */
bool job_write_model(struct train_job *j, const struct modelfile *f,
                     const struct model *const *plans, char digest[65], struct err *e)
{
    char shown[512];
    struct outfile o = {.fd = -1};
    bool replaceable = output_replaceable(j->output, false, e);
    if (replaceable && !modelfile_prepare(f, plans, j->output, &o, digest, e))
        return false;
    if (replaceable && output_replaceable(j->output, false, e))
        return outfile_commit(&o, e);
    outfile_abort(&o);
    if (e->id != ERR_FILE_CREATE)
        return false; /* it cannot be looked at */
    struct err inner = {0};
    char *beside = name_beside(j->output);
    if (modelfile_save(f, plans, beside, digest, &inner)) {
        err_help(e, "it came while the training ran; the model is written to \"%s\"",
                 job_quoted(beside, shown));
        keeper_clear(&j->keeper);
        j->says_kept = true;
    } else {
        *e = inner;
    }
    mem_free(beside);
    return false;
}

static bool write_model(struct train_job *j, struct train_result *r, struct err *e)
{
    const struct model *m = network_model(j->run.network);
    struct network_state s;
    struct text metrics = {0};
    bool good = run_map_state(&j->run, false, &s, e) && run_finite(&j->run, &s, e);
    struct member member = {.params = s.params,
                            .buffers = s.buffers,
                            .param_count = m->params,
                            .buffer_count = m->buffers,
                            .weight = 1};
    member.history = history_table(&j->run.history, &member.epochs);
    struct modelfile f = {.schema = j->schema,
                          .config_text = j->config_text,
                          .plan = j->run.plan,
                          .decision = r->decision,
                          .calibration = r->calibration,
                          .conformal = r->conformal,
                          .class_weight = j->run.prior_weight,
                          .members = &member,
                          .member_count = 1,
                          .known = j->table->known};
    good = good && make_golden(j, &f.golden, e);
    job_metrics_text(r, &metrics);
    f.metrics_text = metrics.data;
    stop_phase("writing the model", false);
    if (good)
        good = job_write_model(j, &f, &m, r->sha256, e);
    golden_free(&f.golden);
    mem_free(member.history);
    text_free(&metrics);
    run_unmap_state(&j->run, &s);
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
    /* with the model in place its folder's sync alone can fail: then its checkpoints stay */
    good = good && journal_sync(&j->journal, e) && write_model(j, r, e);
    if (good)
        keeper_clear(&j->keeper);
    return good;
}
