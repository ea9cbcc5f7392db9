/* run_path.c - see run_path.h. */
#include "train/run/run_path.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "model/solve/elastic.h"

enum { WAIT = 6, HELD = 5 }; /* penalties without a better one; every fifth row is held out */
enum { FEW = 500 };          /* fewer validation rows cannot choose a penalty alone */
/* training rows x classes, up to which each fifth is held out once */
enum { FOLDS_MOST = 1 << 18 };
#define BETTER 1e-4          /* of the metric: less is no better one */
#define REACH 1e-4           /* the last penalty of a path, of the first */
#define ERRORS 0.5           /* standard errors of the folds: less is no worse penalty */
#define EXPLAINED 1e-4       /* of the constant's loss: a path ends below it */

/* A penalty of a path. */
struct place {
    uint32_t l1, step;
    double penalty;
};
/* The rows of a problem. */
struct fit_rows {
    uint32_t *index;
    uint64_t count;
    double *weight, *target;
    int32_t *label;
};
/* The rows to solve for, as columns, and the weights so far. */
struct problem {
    struct fit_rows rows;
    struct design *design;
    struct elastic *solver;
};
struct run_path {
    struct run *r;
    const struct linear_spec *spec;
    struct problem *now; /* at work */
    struct problem all;  /* of all training rows */
    uint8_t *fold;       /* of each training row */
    struct place at;  /* the next penalty */
    double last;      /* penalty of the present weights */
    double best;      /* metric of the best of this path, lower is better */
    uint32_t waited;
    struct place chosen; /* the best of all; penalty 0: none */
    double best_of_all;
    uint32_t used, inputs; /* of the chosen one: inputs with a weight, of all */
    bool over, unsolved;
    bool ridge; /* ridge regression in place of a path */
    double until; /* seconds of the training at which the solver stops; 0: none */
    struct stopper stopper;
};

/* How many fifths of the training rows are held out, one after another, to choose the penalty; 0:
 * the validation rows choose it. Few rows choose badly; after a random split, all rows are as good
 * as the validation rows. */
static int folds_of(const struct run *r)
{
    const struct data_options *d = &r->config->data;
    const uint64_t valid = r->list[PART_VALID].count;
    const bool small = r->list[PART_TRAIN].count * (r->classes ? r->classes : 1) <= FOLDS_MOST;
    const bool random = !d->valid.count && (d->split.method == SPLIT_RANDOM ||
                                            d->split.method == SPLIT_STRATIFIED);
    return valid && !(valid < FEW && small && random) ? 0 : small ? HELD : 1;
}

uint64_t run_path_bytes(const struct run *r)
{
    const uint64_t rows = r->list[PART_TRAIN].count;
    if (!run_is_path(r))
        return 0;
    if (run_is_ridge(r))
        return run_ridge_bytes(r);
    return (1 + (uint64_t)folds_of(r)) *
           (elastic_bytes(rows, design_most(r->features), r->classes) +
            design_bytes(r->features, rows) +
            rows * (sizeof(uint32_t) + sizeof(int32_t) + 2 * sizeof(double)));
}

static bool out_of_time(const struct run_path *p)
{
    return p->until > 0 && run_seconds(p->r) >= p->until;
}

static bool stops(const void *path)
{
    return stop_wanted() || out_of_time(path);
}

/* --- the problem --- */

static void rows_free(struct fit_rows *f)
{
    mem_free(f->index);
    mem_free(f->weight);
    mem_free(f->target);
    mem_free(f->label);
    *f = (struct fit_rows){0};
}

/* Adds a row with a label or a target, and a weight. */
static void add_row(const struct run *r, uint32_t row, struct fit_rows *f)
{
    struct run_row is;
    if (!run_row(r, row, &is))
        return;
    f->index[f->count] = row;
    f->weight[f->count] = is.weight;
    f->label[f->count] = is.label;
    f->target[f->count++] = is.target;
}

/* without: the fold that is left out; -1: none. */
static bool list_rows(const struct run_path *p, int without, struct fit_rows *f, struct err *e)
{
    const struct run *r = p->r;
    const struct row_list *train = &r->list[PART_TRAIN];
    double sum = 0;
    *f = (struct fit_rows){.index = mem_alloc(train->count + 1, sizeof *f->index),
                           .weight = mem_alloc(train->count + 1, sizeof *f->weight),
                           .target = mem_alloc(train->count + 1, sizeof *f->target),
                           .label = mem_alloc(train->count + 1, sizeof *f->label)};
    for (uint64_t i = 0; i < train->count; i++)
        if (p->fold[i] != without)
            add_row(r, train->index[i], f);
    for (uint64_t i = 0; i < f->count; i++)
        sum += f->weight[i];
    for (uint64_t i = 0; i < f->count; i++)
        f->weight[i] /= sum;
    return f->count || err_set(e, ERR_WEIGHT_SUM, "no training row has a weight above 0");
}

static bool problem_make(const struct run_path *p, int without, struct problem *to, struct err *e)
{
    const struct run *r = p->r;
    if (!list_rows(p, without, &to->rows, e))
        return false;
    const struct fit_rows *f = &to->rows;
    to->design = design_new(r->features, &r->rows, f->index, f->count, f->weight);
    to->solver = elastic_new(&(struct elastic_problem){.x = to->design,
                                                       .weight = f->weight,
                                                       .classes = r->classes,
                                                       .label = f->label,
                                                       .target = f->target,
                                                       .smoothing = r->loss.label_smoothing,
                                                       .stop = &p->stopper});
    return true;
}

static void problem_drop(struct problem *p)
{
    elastic_free(p->solver);
    design_free(p->design);
    rows_free(&p->rows);
    *p = (struct problem){0};
}

/* --- the network's weights --- */

/* The weights of the output layer in the arena. */
struct layer_weights {
    real *weight, *bias, *components;
    uint32_t outputs;
};

static struct layer_weights find_weights(const struct model *m, real *params)
{
    struct layer_weights w = {.outputs = m->outputs};
    for (uint32_t i = 0; i < m->list.count; i++) {
        const struct param *p = &m->list.items[i];
        real *at = params + p->at;
        if (strcmp(p->name, "ple.weight") == 0)
            w.components = at;
        else if (p->kind == PARAM_WEIGHT)
            w.weight = at;
        else if (p->kind == PARAM_BIAS)
            w.bias = at;
    }
    return w;
}

/* Adds a weight of an output of the solver. Two classes share theirs: half of it each, with its
 * sign. */
static void put(const struct layer_weights *w, real *row, const struct elastic *s, uint32_t k,
                double value)
{
    if (s->outputs == w->outputs) {
        row[k] = (real)value;
    } else {
        row[0] = (real)(-value / 2);
        row[1] = (real)(value / 2);
    }
}

static void set_weights(const struct run_path *p)
{
    const struct model *m = network_model(p->r->network);
    const struct elastic *s = p->now->solver;
    const struct design *d = p->now->design;
    real *params = mem_zero(m->params, sizeof *params);
    struct layer_weights w = find_weights(m, params);
    for (uint32_t k = 0; k < s->outputs; k++) {
        double bias = s->intercept[k];
        for (uint32_t j = 0; j < d->columns; j++) {
            const struct design_column *c = &d->column[j];
            double value = s->beta[(size_t)k * d->columns + j] * c->factor;
            real *rows = c->kind == DESIGN_COMPONENT ? w.components : w.weight;
            put(&w, rows + (size_t)c->row * w.outputs, s, k, value);
            bias -= value * c->center;
        }
        put(&w, w.bias, s, k, bias);
    }
    struct network_state state = {.params = params};
    network_step(p->r->network, &state.now);
    network_set(p->r->network, &state);
    mem_free(params);
}

/* --- the way along the paths --- */

static void begin_l1(struct run_path *p, uint32_t l1)
{
    p->over = l1 >= p->spec->l1.count;
    if (p->over)
        return;
    elastic_reset(p->now->solver);
    p->at = (struct place){.l1 = l1};
    p->best = HUGE_VAL;
    p->waited = 0;
    p->at.penalty = p->last = elastic_most(p->now->solver, p->spec->l1.items[l1]);
    /* no column correlates with the target; without time nothing is known of that */
    p->over = !(p->last > 0) && !stops(p);
}

/* Solves for p->at, as far as there is time. False: a signal. */
static bool solve(struct run_path *p)
{
    if (!elastic_solve(p->now->solver, p->at.penalty, p->last, p->spec->l1.items[p->at.l1]))
        p->unsolved |= !stops(p);
    p->last = p->at.penalty;
    if (stop_wanted())
        return false;
    set_weights(p);
    return true;
}

static void count_used(struct run_path *p)
{
    const struct elastic *s = p->now->solver;
    const uint32_t columns = p->now->design->columns;
    p->inputs = columns;
    p->used = 0;
    for (uint32_t j = 0; j < columns; j++) {
        bool used = false;
        for (uint32_t k = 0; k < s->outputs; k++)
            used |= fabs(s->beta[(size_t)k * columns + j]) > 0;
        p->used += used;
    }
}

/* Goes to the next penalty, or the next path, after the measure of this one (lower is better). */
static void go_on(struct run_path *p, double measure)
{
    const double steps = (double)p->spec->penalties - 1;
    if (measure < p->best_of_all) {
        p->best_of_all = measure;
        p->chosen = p->at;
        count_used(p);
    }
    p->waited = measure < p->best - BETTER * fabs(p->best) ? 0 : p->waited + 1;
    p->best = fmin(measure, p->best);
    bool ends = p->waited >= WAIT || p->at.step + 1 >= (uint32_t)p->spec->penalties ||
                p->now->solver->loss < EXPLAINED * p->now->solver->constant;
    if (ends) {
        begin_l1(p, p->at.l1 + 1);
        return;
    }
    p->at.step++;
    p->at.penalty *= pow(REACH, 1 / steps);
}

/* The metric of the last epoch, lower is better. */
static double last_metric(const struct run *r)
{
    const struct history *h = &r->history;
    double v = h->epochs ? h->rows[h->epochs - 1].metric : (double)NAN;
    return isnan(v) ? (double)INFINITY : h->metric->higher ? -v : v;
}

/* --- folds --- */

/* Each fold's problem, without its rows, and those rows. */
struct folds {
    int count;
    struct problem problem[HELD];
    uint32_t *held[HELD];
    uint64_t held_count[HELD];
    double last[HELD]; /* penalty of the fold's weights */
    struct tried {
        struct place at;
        double loss[HELD];
    } *tried; /* [tried_count], owned: penalties in their order */
    size_t tried_count;
};

static bool folds_open(const struct run_path *p, struct folds *f, struct err *e)
{
    const struct row_list *train = &p->r->list[PART_TRAIN];
    bool good = true;
    *f = (struct folds){.count = folds_of(p->r)};
    for (int k = 0; k < f->count; k++)
        f->held[k] = mem_alloc(train->count + 1, sizeof *f->held[k]);
    for (uint64_t i = 0; i < train->count; i++)
        if (p->fold[i] < f->count)
            f->held[p->fold[i]][f->held_count[p->fold[i]]++] = train->index[i];
    for (int k = 0; good && k < f->count; k++)
        good = problem_make(p, k, &f->problem[k], e);
    return good;
}

static void folds_close(struct folds *f)
{
    for (int k = 0; k < f->count; k++) {
        problem_drop(&f->problem[k]);
        mem_free(f->held[k]);
    }
    mem_free(f->tried);
}

/* Solves for p->at without each fold; *loss: the mean over the rows held out. False: a signal, or
 * e says why. */
static bool folds_measure(struct run_path *p, struct folds *f, double *loss, struct err *e)
{
    struct score_job score = p->r->score;
    struct tried now = {.at = p->at};
    double sum = 0, rows = 0;
    bool good = true;
    score.class_weight = p->r->class_weight; /* its copies stand in the list */
    for (int k = 0; good && k < f->count; k++) {
        double own = 0;
        p->now = &f->problem[k];
        p->last = p->at.step ? f->last[k]
                             : elastic_most(p->now->solver, p->spec->l1.items[p->at.l1]);
        score.list[PART_VALID] =
            (struct row_list){.index = f->held[k], .count = f->held_count[k]};
        good = !f->held_count[k] ||
               (solve(p) && score_metric(&score, PART_VALID, &metric_loss, &own, e));
        f->last[k] = p->last;
        now.loss[k] = own;
        sum += own * (double)f->held_count[k];
        rows += (double)f->held_count[k];
    }
    f->tried = mem_grow(f->tried, f->tried_count + 1, sizeof *f->tried);
    f->tried[f->tried_count++] = now;
    p->now = &p->all;
    *loss = isfinite(sum) && rows > 0 ? sum / rows : (double)INFINITY;
    return good;
}

/* The largest penalty of the path that is worse than the best one by less than half a standard
 * error of that difference over the folds: the least loss of many is one of chance as well. */
static struct place simplest(const struct folds *f, struct place best)
{
    const struct tried *one = f->tried, *end = one + f->tried_count, *to = one;
    while (to < end && (to->at.l1 != best.l1 || to->at.step != best.step))
        to++;
    for (; to < end && f->count > 1 && one < to; one++) {
        double mean = 0, squares = 0;
        for (int k = 0; k < f->count; k++)
            mean += (one->loss[k] - to->loss[k]) / f->count;
        for (int k = 0; k < f->count; k++)
            squares += pow(one->loss[k] - to->loss[k] - mean, 2);
        if (one->at.l1 == best.l1 &&
            mean <= ERRORS * sqrt(squares / (f->count - 1) / f->count))
            return one->at;
    }
    return best;
}

/* Finds the penalty on training rows that are held out in turn, then solves for it on all. With a
 * time limit the first has half of the time that is left. */
static bool search(struct run_path *p, double *loss, struct err *e)
{
    struct run *r = p->r;
    struct folds f;
    const double limit = p->until;
    if (limit > 0)
        p->until = (run_seconds(r) + limit) / 2;
    bool good = folds_open(p, &f, e);
    for (double measure; good && !p->over && !out_of_time(p);) {
        if (!p->at.step)
            for (int k = 0; k < f.count; k++)
                elastic_reset(f.problem[k].solver);
        good = folds_measure(p, &f, &measure, e);
        if (good)
            go_on(p, measure);
    }
    const struct place to = p->chosen = simplest(&f, p->chosen);
    folds_close(&f);
    p->now = &p->all;
    p->until = limit;
    if (!good)
        return false;
    begin_l1(p, to.l1);
    double ratio = pow(REACH, 1 / ((double)p->spec->penalties - 1));
    for (p->at.step = 0; good && !p->over && p->at.step <= to.step; p->at.step++) {
        good = solve(p);
        p->over = out_of_time(p);
        p->at.penalty *= ratio;
    }
    count_used(p);
    p->chosen.penalty = p->last;
    *loss = p->now->solver->loss * (r->classes ? 1 : 2);
    p->over = true;
    return good;
}

bool run_path_next(struct run_path *p, double *loss, struct err *e)
{
    struct run *r = p->r;
    if (p->over)
        return false;
    p->over = p->ridge;
    if (p->ridge)
        return run_ridge(r, loss, e);
    if (folds_of(r))
        return search(p, loss, e);
    if (r->history.epochs && p->last > 0) {
        go_on(p, last_metric(r));
        if (p->over)
            return false;
    }
    if (!solve(p))
        return false;
    *loss = p->now->solver->loss * (r->classes ? 1 : 2);
    return true;
}

/* --- begin and end --- */

struct run_path *run_path_open(struct run *r, struct err *e)
{
    struct run_path *p = mem_zero(1, sizeof *p);
    p->r = r;
    p->best_of_all = INFINITY;
    p->until = r->config->train.time_limit_s > 0 ? run_judge_from(r, r->history.metric) : 0;
    p->stopper = (struct stopper){stops, p};
    p->ridge = run_is_ridge(r);
    if (p->ridge)
        return p;
    p->spec = architecture_path(r->config->architecture);
    p->now = &p->all;
    p->fold = run_deal_folds(r, HELD);
    if (!problem_make(p, -1, &p->all, e)) {
        run_path_close(p);
        return NULL;
    }
    begin_l1(p, 0);
    return p;
}

void run_path_tell(const struct run_path *p)
{
    if (p->unsolved && !p->r->quiet)
        log_info("some penalties were not solved for to the last digit; the path went on");
    if (!p->r->quiet && p->chosen.penalty > 0)
        log_line("linear: penalty %.3g, l1 %g; %u of %u inputs have a weight", p->chosen.penalty,
                 p->spec->l1.items[p->chosen.l1], p->used, p->inputs);
}

void run_path_close(struct run_path *p)
{
    if (!p)
        return;
    problem_drop(&p->all);
    mem_free(p->fold);
    mem_free(p);
}
