/* ensemble_save.c - the end of an ensemble: the weights of its members, out-of-fold metrics, the
 * model. Everything comes from the parts and the config; no data are read. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/golden.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "measure/blend.h"
#include "train/ensemble.h"
#include "train/job.h"

/* The runs that count, and their answers. */
struct mixing {
    struct train_job *j;
    struct ensemble *n;
    uint32_t *members;      /* [count]: numbers of the members whose runs are all there */
    uint32_t count, folds;  /* folds of each */
    uint32_t outputs, classes;
    double *weights;        /* [count], the sum is 1 */
    /* all rows left out, fold by fold */
    uint64_t rows;
    int32_t *label;
    double *target;
    float *weight;
};

static const struct run_part *part_of(const struct mixing *x, uint32_t i, uint32_t fold)
{
    return x->n->parts[x->members[i] * x->n->folds + fold];
}

/* --- which members count --- */

static uint32_t parts_of(const struct ensemble *n, uint32_t member, bool whole)
{
    uint32_t count = 0;
    for (uint32_t f = 0; f < n->folds; f++) {
        const struct run_part *p = n->parts[member * n->folds + f];
        count += p && (p->whole || !whole);
    }
    return count;
}

/* Of a member without all of its folds the whole ones move to the front; n->folds stays. */
static void pack(struct ensemble *n, uint32_t member, bool whole)
{
    struct run_part **parts = &n->parts[member * n->folds];
    uint32_t kept = 0;
    for (uint32_t f = 0; f < n->folds; f++)
        if (parts[f] && (parts[f]->whole || !whole)) {
            struct run_part *p = parts[f];
            parts[f] = NULL;
            part_free(parts[kept]);
            parts[kept++] = p;
        }
}

/* Members with a whole run for each fold. If there is none (the time limit): the first one with
 * any, with the runs that it has. */
static void find_members(struct mixing *x)
{
    struct ensemble *n = x->n;
    x->members = mem_alloc(n->members, sizeof *x->members);
    x->folds = n->folds;
    for (uint32_t m = 0; m < n->members; m++)
        if (parts_of(n, m, true) == n->folds)
            x->members[x->count++] = m;
    for (int whole = 1; whole >= 0 && !x->count; whole--)
        for (uint32_t m = 0; m < n->members && !x->count; m++)
            if (parts_of(n, m, whole)) {
                x->folds = parts_of(n, m, whole);
                x->members[x->count++] = m;
                pack(n, m, whole);
            }
    if (n->cut || x->count < n->members)
        log_note("%u of %u members are in the mean; runs that were not whole are left out",
                 x->count, n->members);
}

/* --- answers --- */

/* Probabilities [count][classes], or values, of rows from..from + count - 1. */
static void answer(const struct run_part *p, const struct part_rows *r, uint64_t from,
                   uint64_t count, double *out)
{
    const real *logits = r->logits + from * p->outputs;
    if (p->schema->task != TASK_REGRESSION) {
        answer_probabilities(logits, count, p->outputs, out);
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        out[i] = answer_value(logits[i], p->schema->target_center, p->schema->target_scale);
}

/* The rows left out, in one list. */
static void gather_truth(struct mixing *x)
{
    uint64_t at = 0;
    for (uint32_t f = 0; f < x->folds; f++)
        x->rows += part_of(x, 0, f)->left.count;
    x->weight = mem_alloc(x->rows + 1, sizeof *x->weight);
    x->label = x->classes ? mem_alloc(x->rows + 1, sizeof *x->label) : NULL;
    x->target = x->classes ? NULL : mem_alloc(x->rows + 1, sizeof *x->target);
    for (uint32_t f = 0; f < x->folds; f++) {
        const struct part_rows *r = &part_of(x, 0, f)->left;
        memcpy(x->weight + at, r->weight, r->count * sizeof *r->weight);
        if (x->label)
            memcpy(x->label + at, r->label, r->count * sizeof *r->label);
        else
            memcpy(x->target + at, r->target, r->count * sizeof *r->target);
        at += r->count;
    }
    for (uint64_t i = 0; x->label && i < x->rows; i++)
        if (x->label[i] < 0) /* without a label: no loss */
            x->weight[i] = 0;
}

/* Of each row left out: member i's probability of its label, or its value. mem_free. */
static double *own_answers(const struct mixing *x, uint32_t i)
{
    double *own = mem_zero(x->rows + 1, sizeof *own), *out;
    uint64_t at = 0;
    out = mem_alloc(SCORE_TALLIED * (uint64_t)x->outputs, sizeof *out);
    for (uint32_t f = 0; f < x->folds; f++) {
        const struct run_part *p = part_of(x, i, f);
        for (uint64_t from = 0; from < p->left.count; from += SCORE_TALLIED) {
            uint64_t left = p->left.count - from;
            uint64_t count = left < SCORE_TALLIED ? left : SCORE_TALLIED;
            answer(p, &p->left, from, count, out);
            for (uint64_t k = 0; k < count; k++, at++)
                own[at] = !x->classes       ? out[k]
                          : x->label[at] < 0 ? 1
                                             : out[k * x->outputs + (uint32_t)x->label[at]];
        }
    }
    mem_free(out);
    return own;
}

/* --- metrics --- */

/* Adds `weights` [count] times the members' answers to rows of fold f; test rows: of all folds. */
static void mix(const struct mixing *x, const double *weights, bool test, uint32_t f,
                uint64_t from, uint64_t count, double *out, double *room)
{
    memset(out, 0, count * x->outputs * sizeof *out);
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = test ? 0 : f; weights[i] > 0 && k < (test ? x->folds : f + 1); k++) {
            const struct run_part *p = part_of(x, i, k);
            double weight = test ? weights[i] / x->folds : weights[i];
            answer(p, test ? &p->test : &p->left, from, count, room);
            for (uint64_t o = 0; o < count * x->outputs; o++)
                out[o] += weight * room[o];
        }
}

static void tally_rows(const struct mixing *x, const double *weights, bool test, uint32_t f,
                       struct tally *y, double *room)
{
    const struct run_part *p = part_of(x, 0, f);
    const struct part_rows *r = test ? &p->test : &p->left;
    double *out = room + SCORE_TALLIED * (uint64_t)x->outputs;
    for (uint64_t from = 0; from < r->count; from += SCORE_TALLIED) {
        uint64_t left = r->count - from, count = left < SCORE_TALLIED ? left : SCORE_TALLIED;
        mix(x, weights, test, f, from, count, out, room);
        tally_add(y, &(struct scores){.task = p->schema->task,
                                      .rows = count,
                                      .classes = x->classes,
                                      .probability = out,
                                      .value = out,
                                      .label = r->label ? r->label + from : NULL,
                                      .target = r->target ? r->target + from : NULL,
                                      .weight = r->weight + from});
    }
}

/* Metrics of a mean of members on the rows left out, or on the test rows. */
static void measure(const struct mixing *x, const double *weights, bool test, struct metrics *m)
{
    int task = part_of(x, 0, 0)->schema->task;
    struct tally *y = tally_new(task, x->classes, TALLY_ALL & ~(unsigned)TALLY_CONFUSED);
    double *room = mem_alloc(2 * SCORE_TALLIED * (uint64_t)x->outputs, sizeof *room);
    for (uint32_t f = 0; f < (test ? 1 : x->folds); f++)
        tally_rows(x, weights, test, f, y, room);
    metrics_of(y, m);
    tally_free(y);
    mem_free(room);
}

/* A constant answer: the mean of the runs' constants, on the test rows or those left out. */
static void measure_constant(const struct mixing *x, bool test, struct metrics *m)
{
    const struct run_part *first = part_of(x, 0, 0);
    const struct part_rows *r = &first->test;
    double *share = mem_zero(x->outputs, sizeof *share);
    for (uint32_t f = 0; f < x->folds; f++)
        for (uint32_t c = 0; c < x->outputs; c++)
            share[c] += part_of(x, 0, f)->constant[c] / x->folds;
    struct scores on = {.task = first->schema->task,
                        .rows = test ? r->count : x->rows,
                        .classes = x->classes,
                        .label = test ? r->label : x->label,
                        .target = test ? r->target : x->target,
                        .weight = test ? r->weight : x->weight};
    metrics_baseline(on.task, x->classes, share, share[0], &on, m);
    mem_free(share);
}

/* --- selection --- */

/* The loss of the runs' constants on the rows left out. */
static double constant_loss(const struct mixing *x, struct blend *b)
{
    double *own = mem_zero(x->rows + 1, sizeof *own), one = 1;
    uint64_t at = 0;
    for (uint32_t f = 0; f < x->folds; f++) {
        const struct run_part *p = part_of(x, 0, f);
        for (uint64_t i = 0; i < p->left.count; i++, at++)
            own[at] = p->constant[x->classes && x->label[at] > 0 ? x->label[at] : 0];
    }
    const double *const answers[] = {own};
    b->answer = answers;
    b->members = 1;
    double loss = blend_loss(b, &one);
    mem_free(own);
    return loss;
}

/* Chooses the weights; a: loss of the mean, and of a constant. */
static void choose(struct mixing *x, struct against *a)
{
    const struct ensemble_options *o = &x->j->config->ensemble;
    double **answers = mem_alloc(x->count, sizeof *answers);
    for (uint32_t i = 0; i < x->count; i++)
        answers[i] = own_answers(x, i);
    struct blend b = {.members = x->count,
                      .rows = x->rows,
                      .answer = (const double *const *)answers,
                      .target = x->target,
                      .weight = x->weight};
    x->weights = mem_alloc(x->count, sizeof *x->weights);
    for (uint32_t i = 0; i < x->count; i++)
        x->weights[i] = 1.0 / x->count;
    if (o->select == ENSEMBLE_GREEDY)
        blend_greedy(&b, (uint32_t)o->rounds, x->weights);
    a->part = PART_VALID;
    a->loss = blend_loss(&b, x->weights);
    a->constant = constant_loss(x, &b);
    for (uint32_t i = 0; i < x->count; i++)
        mem_free(answers[i]);
    mem_free(answers);
}

/* --- the result --- */

static void fill_members(const struct mixing *x, struct train_result *r)
{
    double *alone = mem_zero(x->count, sizeof *alone);
    r->members = mem_zero(x->count, sizeof *r->members);
    r->member_count = x->count;
    for (uint32_t i = 0; i < x->count; i++) {
        struct train_member *m = &r->members[i];
        m->name = mem_string(x->n->names[x->members[i]]);
        m->weight = x->weights[i];
        m->folds = x->folds;
        alone[i] = 1;
        measure(x, alone, false, &m->valid);
        alone[i] = 0;
        for (uint32_t f = 0; f < x->folds; f++)
            m->seconds += part_of(x, i, f)->seconds;
    }
    mem_free(alone);
}

static void fill_result(const struct mixing *x, struct train_result *r)
{
    const struct run_part *first = part_of(x, 0, 0);
    r->rows[PART_TRAIN] = first->rows;
    r->rows[PART_VALID] = x->n->folds > 1 ? 0 : x->rows;
    r->rows[PART_TRAIN] -= r->rows[PART_VALID];
    r->rows[PART_TEST] = first->test.count;
    r->has_valid = x->rows > 0;
    r->has_test = first->test.count > 0;
    r->runs = x->count * x->folds;
    r->stopped = x->n->cut ? "time_limit" : "epochs";
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t f = 0; f < x->folds; f++) {
            const struct run_part *p = part_of(x, i, f);
            r->epochs += p->epochs;
            if (strcmp(p->stopped, "patience") == 0 && !x->n->cut)
                r->stopped = "patience";
        }
    measure(x, x->weights, false, &r->valid);
    if (r->has_test)
        measure(x, x->weights, true, &r->test);
    measure_constant(x, r->has_test, &r->baseline);
    fill_members(x, r);
}

static bool judge(struct train_job *j, struct train_result *r, const struct against *a,
                  struct err *e)
{
    bool useless = !against_better(a);
    if (useless && !j->request->force && job_model_stands(j))
        return job_refuse_useless(r, a, e);
    if (!job_gates_met(r, e))
        return false;
    if (useless)
        log_warning("on the rows that the runs did not train on the model is no better than a "
                    "constant answer: loss %.4g, that of the constant %.4g; the columns may tell "
                    "nothing of the target", a->loss, a->constant);
    return true;
}

/* --- the model --- */

/* The stored runs of the model. */
struct storing {
    struct modelfile f;
    struct features **features; /* [encoder_count] */
    struct text *bytes;         /* [encoder_count]: as they are saved, to know equal ones */
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
    const struct run_part *p = part_of(x, i, fold);
    const struct config *c = x->n->configs[x->members[i]];
    const size_t sample = (size_t)p->sample.rows * x->outputs;
    uint32_t encoder = find_encoder(s, p->schema);
    struct model *m = model_plan(&c->model, s->features[encoder], 1, 1, false, e);
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
                                                        .weight = x->weights[i] / x->folds};
    return (m->params == p->param_count && m->buffers == p->buffer_count) ||
           err_set(e, ERR_MODEL_TENSOR, "run %u is not of the network of its member", p->run);
}

static bool write_model(const struct mixing *x, struct train_result *r, struct err *e)
{
    const struct run_part *first = part_of(x, 0, 0);
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
    golden_make(&s.f.golden, &first->sample, s.logits, s.f.member_count, x->outputs);
    stop_phase("writing the model", false);
    good = good && job_write_model(x->j, &s.f, s.plans, r->sha256, e);
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

/* The model is there: the files of the runs go. */
static void remove_parts(const struct train_job *j)
{
    for (uint32_t i = 0; i < j->ensemble->runs; i++) {
        struct err e = {0};
        char *path = part_path(j->output, i);
        if (j->ensemble->kept[i] && !file_remove(path, &e))
            log_warning("%s", e.what);
        mem_free(path);
    }
}

static void mixing_free(struct mixing *x)
{
    mem_free(x->members);
    mem_free(x->weights);
    mem_free(x->label);
    mem_free(x->target);
    mem_free(x->weight);
}

/* Parts come from files: the rows of a fold are the same in every member's part, and the test rows
 * in all. Else CHECKPOINT_OTHER. */
static bool parts_agree(const struct ensemble *n, struct err *e)
{
    const struct run_part *first = NULL;
    for (uint32_t i = 0; i < n->runs; i++) {
        const struct run_part *p = n->parts[i], *same_fold = p;
        for (uint32_t k = i % n->folds; p && k < i; k += n->folds)
            same_fold = n->parts[k] ? n->parts[k] : same_fold;
        if (p && !first)
            first = p;
        if (p && (p->run != i || p->outputs != first->outputs ||
                  p->schema->task != first->schema->task || p->test.count != first->test.count ||
                  p->left.count != same_fold->left.count || !p->left.count ||
                  p->sample.rows != first->sample.rows || p->sample.cells != first->sample.cells))
            return err_set(e, ERR_CHECKPOINT_OTHER,
                           "the part of run %u holds other rows than those of the other runs: "
                           "train that run again", i);
    }
    return true;
}

bool ensemble_save(struct train_job *j, struct train_result *r, struct err *e)
{
    struct mixing x = {.j = j, .n = j->ensemble};
    struct against a = {0};
    stop_phase("measuring the model", false);
    if (!parts_agree(x.n, e))
        return false;
    find_members(&x);
    x.outputs = part_of(&x, 0, 0)->outputs;
    x.classes = part_of(&x, 0, 0)->schema->task == TASK_REGRESSION ? 0 : x.outputs;
    gather_truth(&x);
    choose(&x, &a);
    fill_result(&x, r);
    bool good = judge(j, r, &a, e) && write_model(&x, r, e);
    if (good)
        remove_parts(j);
    mixing_free(&x);
    return good;
}

bool ensemble_save_part(struct train_job *j, uint32_t only, struct train_result *r, struct err *e)
{
    const struct run_part *p = j->ensemble->parts[only];
    stop_phase("writing the part", false);
    r->rows[PART_TRAIN] = p->rows;
    r->rows[PART_TEST] = p->test.count;
    r->epochs = p->epochs;
    r->best_epoch = p->best_epoch;
    r->runs = 1;
    r->stopped = strcmp(p->stopped, "patience") == 0     ? "patience"
                 : strcmp(p->stopped, "time_limit") == 0 ? "time_limit"
                                                         : "epochs";
    return part_save(p, j->output, e);
}
