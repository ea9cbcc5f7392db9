/* ensemble_save.c - the end of an ensemble: the weights of its members, out-of-fold metrics, the
 * model. Everything comes from the parts and the config; no data are read. */
#include <stdio.h>
#include <string.h>

#include "answer/golden.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
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
    if (useless && !j->request->force && job_model_stands(j))
        return job_refuse_useless(r, a, e);
    if (!job_gates_met(r, e))
        return false;
    job_compare_parts(j, r);
    if (useless)
        log_warning("on the rows that the runs did not train on the model is no better than a "
                    "constant answer: loss %.4g, that of the constant %.4g; %s", a->loss,
                    a->constant, advice);
    else
        job_warn_of_chance(r, advice);
    return true;
}

/* --- the model --- */

/* The stored runs of the model. */
struct storing {
    struct modelfile f;
    struct features **features; /* [encoder_count] */
    struct text *bytes;         /* [encoder_count]: as saved, to find equal ones */
    const struct model **plans;
    real *logits; /* of the sample: [members][rows][outputs] */
};

/* The number of an encoder in the model; a new one is added. */
static uint32_t find_encoder(struct storing *s, const struct schema *c)
{
    struct tensor_writer *w = tensor_writer_new();
    struct schema_saved *kept = schema_save(c, 0, w);
    struct text bytes = {0};
    struct err ignored = {0};
    uint32_t k = 0;
    tensor_meta(w, "kind", "model");
    tensor_write_bytes(w, "encoder", &bytes, &ignored);
    schema_saved_free(kept);
    tensor_writer_free(w);
    while (k < s->f.encoder_count && (s->bytes[k].length != bytes.length ||
                                      memcmp(s->bytes[k].data, bytes.data, bytes.length) != 0))
        k++;
    if (k < s->f.encoder_count) {
        text_free(&bytes);
        return k;
    }
    s->bytes[k] = bytes;
    s->features[k] = schema_features(c);
    s->f.encoders[k] = (struct schema *)(uintptr_t)c; /* only read */
    s->f.encoder_count++;
    return k;
}

static bool store_run(const struct mixing *x, struct storing *s, uint32_t i, uint32_t fold,
                      struct err *e)
{
    const struct run_part *p = mixing_part(x, i, fold);
    const struct config *c = x->n->configs[x->members[i]];
    const size_t sample = (size_t)p->sample.rows * x->outputs;
    uint32_t encoder = find_encoder(s, p->schema);
    struct model *m = model_plan(c->architecture, s->features[encoder], 1, 1, false, e);
    if (!m)
        return false;
    s->plans[s->f.member_count] = m;
    if (sample)
        memcpy(s->logits + s->f.member_count * sample, p->sample_logits,
               sample * sizeof *s->logits);
    s->f.members[s->f.member_count++] = (struct member){.params = p->params,
                                                        .buffers = p->buffers,
                                                        .param_count = p->param_count,
                                                        .buffer_count = p->buffer_count,
                                                        .encoder = encoder,
                                                        .history = p->history,
                                                        .epochs = p->history_rows,
                                                        .weight = x->weights[i] / x->folds};
    return (m->params == p->param_count && m->buffers == p->buffer_count) ||
           err_set(e, ERR_MODEL_TENSOR, "run %u is not of the network of its member", p->run);
}

static bool write_model(const struct mixing *x, struct train_result *r, struct err *e)
{
    const struct run_part *first = mixing_part(x, 0, 0);
    struct storing s = {.plans = mem_zero(x->n->runs, sizeof *s.plans)};
    struct text metrics = {0};
    bool good = true;
    s.logits = mem_zero((size_t)x->n->runs * (first->sample.rows + 1) * x->outputs,
                        sizeof *s.logits);
    s.f.members = mem_zero(x->n->runs, sizeof *s.f.members);
    s.f.encoders = mem_zero(x->n->runs, sizeof(struct schema *));
    s.features = mem_zero(x->n->runs, sizeof(struct features *));
    s.bytes = mem_zero(x->n->runs, sizeof *s.bytes);
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t f = 0; good && x->weights[i] > 0 && f < x->folds; f++)
            good = store_run(x, &s, i, f, e);
    job_metrics_text(r, &metrics);
    s.f.schema = s.f.encoders[0];
    s.f.config_text = x->j->config_text;
    s.f.metrics_text = metrics.data;
    s.f.plan = first->plan;
    /* a merge has no table; a part of an earlier version has no fingerprint */
    s.f.known = x->j->table ? x->j->table->known : (struct fingerprint *)(uintptr_t)first->known;
    s.f.decision = r->decision;
    s.f.calibration = x->calibration;
    s.f.conformal = x->conformal;
    s.f.class_weight = x->class_weight;
    golden_make(&s.f.golden, &first->sample, s.logits, s.f.member_count, x->outputs);
    stop_phase("writing the model", false);
    good = good && journal_sync(&x->j->journal, e) &&
           job_write_model(x->j, &s.f, s.plans, r->sha256, e);
    golden_free(&s.f.golden);
    for (uint32_t i = 0; i < s.f.member_count; i++)
        model_free((struct model *)(uintptr_t)s.plans[i]);
    for (uint32_t i = 0; i < s.f.encoder_count; i++) {
        features_free(s.features[i]);
        text_free(&s.bytes[i]);
    }
    mem_free(s.features);
    mem_free(s.bytes);
    mem_free(s.f.encoders);
    mem_free(s.plans);
    mem_free(s.logits);
    mem_free(s.f.members);
    text_free(&metrics);
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
