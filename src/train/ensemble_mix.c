/* ensemble_mix.c - see ensemble_mix.h. */
#include "train/ensemble_mix.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"

const struct run_part *mixing_part(const struct mixing *x, uint32_t i, uint32_t fold)
{
    return x->n->parts[x->members[i] * x->n->folds + fold];
}

/* --- which members count --- */

/* Moves the parts of a member to the front: its whole ones, or all that exist; n->folds stays. */
static void pack(struct ensemble *n, uint32_t member, bool whole)
{
    struct run_part **parts = &n->parts[member * n->folds];
    uint32_t kept = 0;
    for (uint32_t f = 0; f < n->folds; f++)
        if (parts[f] && (part_whole(parts[f]) || !whole)) {
            struct run_part *p = parts[f];
            parts[f] = NULL;
            part_free(parts[kept]);
            parts[kept++] = p;
        }
}

/* Lists members with a whole run for each fold. If no member has (the time limit): the first one
 * with any run, with the runs that it has. */
static void find_members(struct mixing *x, bool so_far)
{
    struct ensemble *n = x->n;
    x->members = mem_alloc(n->members, sizeof *x->members);
    x->folds = n->folds;
    for (uint32_t m = 0; m < n->members; m++)
        if (ensemble_done_of(n, m, true) == n->folds)
            x->members[x->count++] = m;
    for (int whole = 1; whole >= 0 && !x->count; whole--)
        for (uint32_t m = 0; m < n->members && !x->count; m++)
            if (ensemble_done_of(n, m, whole)) {
                x->folds = ensemble_done_of(n, m, whole);
                x->members[x->count++] = m;
                pack(n, m, whole);
            }
    if (!so_far && (n->cut || x->count < n->members))
        log_note("%u of %u members are in the mean; runs that were not whole are left out",
                 x->count, n->members);
}

/* --- answers --- */

void mixing_own(const struct run_part *p, const struct part_rows *r, uint64_t from,
                uint64_t count, double *out)
{
    const real *logits = r->logits + from * p->outputs;
    if (p->encoder->schema->task != TASK_REGRESSION) {
        answer_probabilities(logits, count, p->outputs, out);
        return;
    }
    answer_values(&p->encoder->coding, logits, count, p->outputs, out);
}

/* The rows left out, in one list. */
static void gather_truth(struct mixing *x)
{
    uint64_t at = 0;
    for (uint32_t f = 0; f < x->folds; f++)
        x->rows += mixing_part(x, 0, f)->left.count;
    x->weight = mem_alloc(x->rows + 1, sizeof *x->weight);
    x->label = x->classes ? mem_alloc(x->rows + 1, sizeof *x->label) : NULL;
    x->target = x->classes ? NULL : mem_alloc(x->rows + 1, sizeof *x->target);
    for (uint32_t f = 0; f < x->folds; f++) {
        const struct part_rows *r = &mixing_part(x, 0, f)->left;
        if (!r->count)
            continue;
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
    x->range[0] = INFINITY;
    x->range[1] = -INFINITY;
    for (uint64_t i = 0; x->target && i < x->rows; i++) {
        x->range[0] = fmin(x->range[0], x->target[i]);
        x->range[1] = fmax(x->range[1], x->target[i]);
    }
}

/* Member i's answer to each row left out, as struct blend has it. mem_free. */
static double *own_answers(const struct mixing *x, uint32_t i)
{
    const uint32_t width = blend_width(&x->criterion);
    double *own = mem_zero(x->rows * width + 1, sizeof *own), *out;
    uint64_t at = 0;
    out = mem_alloc(SCORE_TALLIED * (uint64_t)x->outputs, sizeof *out);
    for (uint32_t f = 0; f < x->folds; f++) {
        const struct run_part *p = mixing_part(x, i, f);
        for (uint64_t from = 0; from < p->left.count; from += SCORE_TALLIED) {
            uint64_t left = p->left.count - from;
            uint64_t count = left < SCORE_TALLIED ? left : SCORE_TALLIED;
            mixing_own(p, &p->left, from, count, out);
            if (width > 1) {
                memcpy(own + at * width, out, count * width * sizeof *own);
                at += count;
            }
            for (uint64_t k = 0; width == 1 && k < count; k++, at++)
                own[at] = !x->classes       ? out[k]
                          : x->label[at] < 0 ? 1
                                             : out[k * x->outputs + (uint32_t)x->label[at]];
        }
    }
    mem_free(out);
    return own;
}

/* --- metrics --- */

void mixing_answer(const struct mixing *x, const double *weights, bool test, uint32_t f,
                uint64_t from, uint64_t count, double *out, double *room)
{
    memset(out, 0, count * x->outputs * sizeof *out);
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = test ? 0 : f; weights[i] > 0 && k < (test ? x->folds : f + 1); k++) {
            const struct run_part *p = mixing_part(x, i, k);
            double weight = test ? weights[i] / x->folds : weights[i];
            mixing_own(p, test ? &p->test : &p->left, from, count, room);
            for (uint64_t o = 0; o < count * x->outputs; o++)
                out[o] += weight * room[o];
        }
    if (weights != x->weights)
        return;
    if (x->classes)
        memcpy(room, out, count * x->outputs * sizeof *out);
    calibration_apply(&x->calibration, count, out);
    for (uint64_t i = 0; !x->classes && i < count * x->outputs; i++)
        out[i] = calibration_limit(&x->calibration, out[i]);
}

double *mixing_answers(const struct mixing *x)
{
    double *answers = mem_alloc(x->rows * x->outputs + 1, sizeof *answers), *to = answers;
    double *room = mem_alloc(SCORE_TALLIED * (uint64_t)x->outputs, sizeof *room);
    for (uint32_t f = 0; f < x->folds; f++) {
        const uint64_t rows = mixing_part(x, 0, f)->left.count;
        for (uint64_t from = 0; from < rows; from += SCORE_TALLIED) {
            const uint64_t count = rows - from < SCORE_TALLIED ? rows - from : SCORE_TALLIED;
            mixing_answer(x, x->weights, false, f, from, count, to, room);
            to += count * x->outputs;
        }
    }
    mem_free(room);
    return answers;
}

static void tally_rows(const struct mixing *x, const double *weights, bool test, uint32_t f,
                       struct tally *y, double *room)
{
    const struct run_part *p = mixing_part(x, 0, f);
    const struct part_rows *r = test ? &p->test : &p->left;
    double *out = room + SCORE_TALLIED * (uint64_t)x->outputs;
    for (uint64_t from = 0; from < r->count; from += SCORE_TALLIED) {
        uint64_t left = r->count - from, count = left < SCORE_TALLIED ? left : SCORE_TALLIED;
        double ends[4][SCORE_TALLIED];
        mixing_answer(x, weights, test, f, from, count, out, room);
        if (y->conformal && !x->classes)
            mixing_interval(x, test, f, from, count, out, ends[0], ends[1], ends[2]);
        tally_add(y, &(struct scores){.task = p->encoder->schema->task,
                                      .rows = count,
                                      .classes = x->classes,
                                      .probability = out,
                                      .raw = weights == x->weights ? room : out,
                                      .value = out,
                                      .label = r->label ? r->label + from : NULL,
                                      .target = r->target ? r->target + from : NULL,
                                      .low = ends[0],
                                      .high = ends[1],
                                      .group = x->grouped ? r->group + from : NULL,
                                      .weight = r->weight + from});
    }
}

bool mixing_cut(struct mixing *x, const struct threshold_rule *rule, struct threshold_point *p)
{
    x->decided = true;
    if (rule->kind == THRESHOLD_FIXED) {
        x->decision.threshold = x->alone.threshold = rule->at;
        return true;
    }
    struct tally *y = tally_new(TASK_BINARY, 2, TALLY_RANKS);
    double *room = mem_alloc(2 * SCORE_TALLIED * (uint64_t)x->outputs, sizeof *room);
    for (uint32_t f = 0; f < x->folds; f++)
        tally_rows(x, x->weights, false, f, y, room);
    bool reached = threshold_choose(&y->rank, rule, p);
    x->decision.threshold = x->alone.threshold = p->threshold;
    tally_free(y);
    mem_free(room);
    return reached;
}

void mixing_measure(const struct mixing *x, const double *weights, bool test,
                    struct train_result *judged, struct metrics *m)
{
    int task = mixing_part(x, 0, 0)->encoder->schema->task;
    struct tally *y = tally_new(task, x->classes, TALLY_ALL);
    y->decision = weights == x->weights ? x->decision : x->alone;
    y->conformal = weights == x->weights && x->conformal.rule ? &x->conformal : NULL;
    tally_judge_by(y, &x->criterion);
    double *room = mem_alloc(2 * SCORE_TALLIED * (uint64_t)x->outputs, sizeof *room);
    for (uint32_t f = 0; f < (test ? 1 : x->folds); f++)
        tally_rows(x, weights, test, f, y, room);
    metrics_of(y, m);
    metrics_intervals(y, m);
    for (size_t i = 0; judged && i < judged->gate_count; i++)
        gate_judge(&judged->gates[i], m, y);
    tally_free(y);
    mem_free(room);
}

void mixing_constant(const struct mixing *x, bool test, struct metrics *m)
{
    const struct run_part *first = mixing_part(x, 0, 0);
    const struct part_rows *r = &first->test;
    double *share = mem_zero(x->outputs, sizeof *share);
    for (uint32_t f = 0; f < x->folds; f++)
        for (uint32_t c = 0; c < x->outputs; c++)
            share[c] += mixing_part(x, 0, f)->constant[c] / x->folds;
    struct scores on = {.task = first->encoder->schema->task,
                        .rows = test ? r->count : x->rows,
                        .classes = x->classes,
                        .label = test ? r->label : x->label,
                        .target = test ? r->target : x->target,
                        .weight = test ? r->weight : x->weight};
    metrics_baseline(on.task, x->classes, share, share, &on, &x->criterion, m);
    mem_free(share);
}

/* --- selection --- */

/* The loss of constant answers on the rows left out: each run answers the best constant of its
 * training rows. */
static double constant_loss(const struct mixing *x)
{
    struct blend b = x->blend;
    const uint32_t width = b.width;
    double *own = mem_zero(x->rows * width + 1, sizeof *own), *p = mem_alloc(x->outputs, sizeof *p);
    double one = 1;
    uint64_t at = 0;
    for (uint32_t f = 0; f < x->folds; f++) {
        const struct run_part *part = mixing_part(x, 0, f);
        if (x->classes)
            criterion_constant(&x->criterion, part->constant, p);
        else
            memcpy(p, part->constant, x->outputs * sizeof *p);
        for (uint64_t i = 0; i < part->left.count; i++, at++)
            for (uint32_t k = 0; k < width; k++)
                own[at * width + k] =
                    p[width > 1 ? k : x->classes && x->label[at] > 0 ? (uint32_t)x->label[at] : 0];
    }
    b.answer = (const double *const[]){own};
    b.members = 1;
    const double loss = blend_loss(&b, &one);
    mem_free(own);
    mem_free(p);
    return loss;
}

/* Sets x->blend: answers, targets and weights, by which members are weighted. */
static void open_blend(struct mixing *x)
{
    x->own = mem_alloc(x->count, sizeof *x->own);
    for (uint32_t i = 0; i < x->count; i++)
        x->own[i] = own_answers(x, i);
    x->blend = (struct blend){.members = x->count,
                              .rows = x->rows,
                              .answer = (const double *const *)x->own,
                              .width = blend_width(&x->criterion),
                              .criterion = &x->criterion,
                              .label = x->label,
                              .target = x->target,
                              .weight = x->weight};
}

uint32_t mixing_linear(const struct mixing *x)
{
    uint32_t i = 0;
    for (; i < x->count; i++) {
        const struct preset *p = x->n->configs[x->members[i]]->architecture->preset;
        if (p && strcmp(p->name, "linear") == 0)
            break;
    }
    return i;
}

/* True: the linear member is as good as the mean of all, within a standard error. */
static bool linear_suffices(const struct mixing *x, uint32_t linear)
{
    double *alone = mem_zero(x->count + 1, sizeof *alone), error = 0, gain = INFINITY;
    if (linear < x->count) {
        alone[linear] = 1;
        gain = blend_gain(&x->blend, alone, x->weights, &error);
    }
    mem_free(alone);
    return gain <= error;
}

void mixing_choose(struct mixing *x, struct against *a)
{
    const struct ensemble_options *o = &x->j->config->ensemble;
    const uint32_t linear = mixing_linear(x);
    open_blend(x);
    x->weights = mem_alloc(x->count, sizeof *x->weights);
    for (uint32_t i = 0; i < x->count; i++)
        x->weights[i] = 1.0 / x->count;
    if (o->select == ENSEMBLE_GREEDY)
        blend_greedy(&x->blend, (uint32_t)o->rounds, x->weights);
    if (o->select == ENSEMBLE_GREEDY && x->count > 1 && linear_suffices(x, linear)) {
        for (uint32_t i = 0; i < x->count; i++)
            x->weights[i] = i == linear;
        x->linear_alone = true;
    }
    if (a)
        *a = (struct against){.part = PART_VALID,
                              .loss = blend_loss(&x->blend, x->weights),
                              .constant = constant_loss(x)};
}

/* --- open and free --- */

/* If the time limit left no time to answer all rows, only the rows that every run of x answered
 * stay. */
static bool keep_common(struct mixing *x, struct err *e)
{
    bool good = true;
    const struct part_rows *test = NULL;
    for (uint32_t i = 0; i < x->count * x->folds; i++) {
        const struct part_rows *r = &mixing_part(x, i % x->count, i / x->count)->test;
        test = r->at && (!test || r->count < test->count) ? r : test;
    }
    for (uint32_t f = 0; f < x->folds; f++) {
        const struct part_rows *left = NULL;
        for (uint32_t i = 0; i < x->count; i++) {
            const struct part_rows *r = &mixing_part(x, i, f)->left;
            left = r->at && (!left || r->count < left->count) ? r : left;
        }
        for (uint32_t i = 0; good && i < x->count; i++) {
            struct run_part *p = x->n->parts[x->members[i] * x->n->folds + f];
            good = (!left || part_rows_keep(&p->left, left, p->outputs, e)) &&
                   (!test || part_rows_keep(&p->test, test, p->outputs, e));
        }
    }
    return good;
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
                  p->encoder->schema->task != first->encoder->schema->task ||
                  part_rows_all(&p->test) != part_rows_all(&first->test) ||
                  part_rows_all(&p->left) != part_rows_all(&same_fold->left) ||
                  (!p->left.count && !n->plain) ||
                  p->sample.rows != first->sample.rows || p->sample.cells != first->sample.cells))
            return err_set(e, ERR_CHECKPOINT_OTHER,
                           "the part of run %u holds other rows than those of the other runs: "
                           "train that run again", i);
    }
    return true;
}

static struct mixing mixing_new(struct train_job *j, struct ensemble *n)
{
    return (struct mixing){.j = j,
                           .n = n,
                           .decision = {.threshold = DECISION_HALF},
                           .alone = {.threshold = DECISION_HALF}};
}

/* The shape of answers, and the rows, once the members are known. */
static void set_rows(struct mixing *x)
{
    x->grouped = true;
    for (uint32_t i = 0; i < x->n->runs; i++) {
        const struct run_part *p = x->n->parts[i];
        x->grouped = x->grouped && (!p || ((p->left.group || !p->left.count) &&
                                           (p->test.group || !p->test.count)));
    }
    x->outputs = mixing_part(x, 0, 0)->outputs;
    x->classes =
        mixing_part(x, 0, 0)->encoder->schema->task == TASK_REGRESSION ? 0 : x->outputs;
    gather_truth(x);
}

void mixing_of_one(struct mixing *x, struct train_job *j, struct ensemble *n)
{
    const double all = 1;
    *x = mixing_new(j, n);
    x->count = x->folds = 1;
    x->members = mem_zero(1, sizeof *x->members);
    x->weights = mem_copy(&all, sizeof all);
    set_rows(x);
}

bool mixing_open(struct mixing *x, struct train_job *j, bool so_far, struct err *e)
{
    *x = mixing_new(j, j->ensemble);
    bool good = parts_agree(x->n, e);
    if (good) {
        find_members(x, so_far);
        good = keep_common(x, e);
    }
    if (good) {
        set_rows(x);
        good = mixing_judge_by(x, e);
    }
    if (!good)
        mixing_free(x);
    return good;
}

void mixing_free(struct mixing *x)
{
    calibration_free(&x->calibration);
    decision_free(&x->decision);
    for (uint32_t i = 0; x->own && i < x->count; i++)
        mem_free(x->own[i]);
    mem_free(x->own);
    mem_free(x->class_weight);
    mem_free(x->members);
    mem_free(x->weights);
    mem_free(x->label);
    mem_free(x->target);
    mem_free(x->weight);
    *x = (struct mixing){0};
}
