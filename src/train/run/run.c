/* run.c - see run.h: how a run begins and ends. */
#include "train/run/run.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "measure/metric.h"
#include "table/sequence/windows.h"

/* --- metric and weights --- */

/* The metric for auto: the task's default one; the training loss, if it has another optimum than
 * the metric. */
static const struct metric_type *usual_metric(const struct run *r)
{
    const struct loss_options *o = &r->loss;
    const bool sampled = r->config->train.sampling != SAMPLING_NONE,
               weighs = o->weighting != WEIGHTING_NONE,
               smooth = o->kind == LOSS_CROSS_ENTROPY && o->label_smoothing > 0;
    if (!sampled && (o->kind == LOSS_MSE ||
                     (o->kind == LOSS_CROSS_ENTROPY && !weighs && !smooth)))
        return metric_default(r->config->task);
    if (!r->quiet)
        log_line("early stopping follows the loss that is trained, %s%s%s%s, on the validation "
                 "rows", loss_names[o->kind], weighs ? " with class weights" : "",
                 sampled ? " with classes of equal weight" : "",
                 smooth ? " with label smoothing" : "");
    return &metric_loss;
}

/* Test rows without weight decide nothing: a warning. */
static void check_test(const struct run *r)
{
    unsigned long long rows = r->list[PART_TEST].count;
    if (rows && !r->quiet && !score_weighs(&r->score, PART_TEST))
        log_warning("the weight of each of the %llu test rows is 0: no metric has a value on them; "
                    "let some weigh more, or choose other rows (data.test, data.split)", rows);
}

/* Validation rows without weight are an error: they would choose the weights. */
static bool find_metric(struct run *r, struct err *e)
{
    const struct early_options *o = &r->config->train.early_stopping;
    const char *name = o->metric;
    int task = config_metric_task(r->config, false);
    r->history.patience = o->patience;
    r->history.min_steps = o->min_steps;
    r->history.min_delta = o->min_delta;
    r->history.last = o->ties != 0;
    check_test(r);
    if (r->list[PART_VALID].count == 0) {
        if (!r->quiet && json_path(json_root(r->config->doc), "train.early_stopping"))
            log_note("there are no validation rows: `train.early_stopping` has no effect, and the "
                     "last epoch's weights are kept");
        return true;
    }
    bool standard = !name || strcmp(name, "auto") == 0;
    r->history.metric = standard ? usual_metric(r)
                        : strcmp(name, metric_loss.name) == 0 ? &metric_loss
                                                              : metric_find(name, task);
    if (r->history.metric)
        return score_defined(&r->score, PART_VALID, r->history.metric, e);
    char known[256];
    metric_names(task, known, sizeof known);
    err_set(e, ERR_CONFIG_WORD,
            "train.early_stopping.metric: \"%s\" is not a metric of the task %s",
            text_quote_z(name), task_names[r->config->task]);
    return err_expected(e, "one of %s, auto", known);
}

/* --- open and close --- */

uint64_t run_pieces(uint64_t all, uint64_t each)
{
    return (all + each - 1) / each;
}

/* The windows of this epoch in the rows of its batches, if state passes from window to window; else
 * none. Caller: lanes_free. */
static struct lanes lanes_of(const struct run *r)
{
    const struct row_list *train = &r->list[PART_TRAIN];
    const struct source all = {.index = train->windows,
                               .begins = train->begins,
                               .count = train->window_count,
                               .steps = train->window};
    struct lanes l = {0};
    if (train->begins && train->window_count)
        lanes_train(&l, &all, r->batch * r->micro, r->seed, (uint32_t)r->history.epochs);
    return l;
}

void run_size(struct run *r, int64_t batch_size)
{
    const struct train_options *o = &r->config->train;
    const struct row_list *train = &r->list[PART_TRAIN];
    uint64_t rows = row_list_reads(train), batch = (uint64_t)batch_size, micro;
    if (train->begins) /* a row reads the windows of one sequence after another */
        rows = lanes_most(train->begins, rows);
    batch = rows && rows < batch ? rows : batch;
    micro = run_pieces(rows ? rows : 1, batch);
    micro = micro < (uint64_t)o->grad_accumulation ? micro : (uint64_t)o->grad_accumulation;
    r->batch = (uint32_t)batch;
    r->micro = (uint32_t)micro;
    struct lanes l = lanes_of(r);
    r->steps = l.count ? (int64_t)l.batches : (int64_t)run_pieces(rows, batch * micro);
    lanes_free(&l);
}

struct lanes run_deal(struct run *r)
{
    struct lanes before = r->lanes;
    r->lanes = lanes_of(r);
    if (!r->lanes.count)
        return before;
    r->source.index = r->lanes.index;
    r->source.begins = r->lanes.begins;
    r->source.count = r->lanes.batches * r->lanes.count;
    r->source.shuffle = 0;
    return before;
}

bool run_open(struct run *r, struct err *e)
{
    r->features = encoder_features(r->encoder);
    r->classes = r->config->task == TASK_REGRESSION ? 0 : r->features->outputs;
    r->score = (struct score_job){.rows = r->rows,
                                  .target = r->target,
                                  .groups = r->groups,
                                  .encoder = r->encoder,
                                  .features = r->features,
                                  .loss = &r->loss};
    memcpy(r->score.list, r->list, sizeof r->list);
    if (!run_set_weights(r, e))
        return false;
    run_size(r, r->config->train.batch_size);
    return find_metric(r, e);
}

void run_close(struct run *r)
{
    step_close(r->stepper);
    network_free(r->network);
    run_state_free(&r->best.state);
    history_release(&r->history);
    mem_free(r->class_weight);
    mem_free(r->prior_weight);
    mem_free(r->class_counts);
    mem_free(r->sampled);
    mem_free(r->sorted);
    mem_free(r->broke);
    lanes_free(&r->lanes);
    for (int p = 0; p < PARTS; p++)
        judged_free(&r->judged[p]);
    features_free(r->features);
    *r = (struct run){0};
}

bool run_answer(const struct run *r, const struct row_list *rows, real *logits, struct err *e)
{
    return score_answer(&r->score, rows, logits, e);
}

bool run_answer_first(const struct run *r, const struct rows *first, uint32_t count, real *logits,
                      struct err *e)
{
    struct score_job of_first = r->score;
    const struct features *f = r->features;
    const uint32_t length = f->window && count > f->window ? f->window : count;
    struct row_list list = {.index = mem_alloc((size_t)count + 1, sizeof *list.index),
                            .count = f->window && !f->each ? 1 : length,
                            .window = f->window,
                            .each = f->each};
    for (uint32_t i = 0; i < count; i++)
        list.index[i] = i;
    if (f->window && count) {
        list.windows = mem_alloc(f->window, sizeof *list.windows);
        window_rows(list.windows, f->window, 0, length);
        list.window_count = 1;
    }
    of_first.rows = *first;
    bool good = count == 0 || score_answer(&of_first, &list, logits, e);
    for (uint32_t i = (uint32_t)list.count; f->window && i < count; i++) /* one answer to all */
        memcpy(logits + (size_t)i * f->outputs, logits, f->outputs * sizeof *logits);
    mem_free(list.index);
    mem_free(list.windows);
    return good;
}

/* --- presets linear and rocket --- */

bool run_row(const struct run *r, uint32_t record, struct run_row *row)
{
    const unsigned char *at = rows_at(&r->rows, record);
    const struct rowfmt *format = &r->rows.format;
    int32_t label = 0;
    float target = 0, weight;
    memcpy(&weight, at + format->at_weight, sizeof weight);
    if (r->classes)
        memcpy(&label, at + format->at_target, sizeof label);
    else
        memcpy(&target, at + format->at_target, sizeof target);
    *row = (struct run_row){label, (double)target, (double)weight};
    if (r->class_weight && label >= 0)
        row->weight *= (double)r->class_weight[label];
    return label >= 0 && isfinite(target) && row->weight > 0;
}

bool run_is_ridge(const struct run *r)
{
    return r->list[PART_TRAIN].count <= RIDGE_ROWS &&
           r->config->architecture->solution == SOLVED_BY_RIDGE;
}

int64_t run_epochs_most(const struct run *r)
{
    const struct linear_spec *path = architecture_path(r->config->architecture);
    if (path)
        return path->penalties * (int64_t)path->l1.count;
    return run_is_ridge(r) ? 1 : r->config->train.epochs;
}

bool run_is_path(const struct run *r)
{
    return architecture_path(r->config->architecture) || run_is_ridge(r);
}

/* --- the first state --- */

/* The range of fp16 is too small for gradients: they are scaled. */
static bool scales(const struct run *r)
{
    return strcmp(r->plan.precision, "fp16") == 0;
}

/* The weights of another model take the place of the new ones. */
static bool begin_warm(struct run *r, struct err *e)
{
    const struct metric_type *metric = r->history.metric;
    struct network_state s;
    struct step now;
    uint32_t anew = 0;
    double value = (double)NAN;
    if (run_is_path(r)) {
        if (!r->quiet)
            log_note("--init-from: these weights are solved for, and those of the model are not "
                     "used");
        return true;
    }
    bool good = run_map_state(r, false, &s, e) &&
                warm_fill(&r->from, r, s.params, s.buffers, &anew, e);
    if (good && !machine_in_place(r->machine)) {
        network_step(r->network, &s.now);
        network_set(r->network, &s);
    }
    run_unmap_state(r, &s);
    good = good && (!metric || run_judge_begin(r, e)); /* by the rows that judge the epochs */
    if (!good || (metric && !score_metric(&r->score, PART_VALID, metric, &value, e)))
        return false;
    network_step(r->network, &now);
    if (history_begin(&r->history, value) && !run_remember(r, &now, e))
        return false;
    if (!r->quiet && metric && isfinite(value))
        log_line("--init-from: valid %s %.4f before the first epoch", metric->name, value);
    if (!r->quiet && anew)
        log_line("--init-from: %u categories, tokens or bins are not in the model and begin with "
                 "new weights", anew);
    return true;
}

/* The moments of a new network are 0. */
bool run_begin(struct run *r, struct err *e)
{
    const struct model *m = network_model(r->network);
    const struct step first = {.seed = r->seed, .scale = scales(r) ? SCALE_FIRST : 0};
    struct network_state own = {0}, s = {0};
    if (!network_view(r->network, &s)) {
        own.params = mem_alloc(m->params, sizeof *own.params);
        own.buffers = mem_zero(network_buffers(r->network) + 1, sizeof *own.buffers);
        s = own;
    }
    model_init(m, r->seed, 0, s.params, s.buffers);
    own.now = first;
    network_set(r->network, &own);
    run_state_free(&own);
    return network_fit_layers(r->network, e) && (!r->from.of || begin_warm(r, e));
}

/* The checkpoint is of this network: sizes, moments, counters. */
static bool suits(const struct run *r, const struct checkpoint *c)
{
    const struct model *m = network_model(r->network);
    unsigned states = optim_states(&r->config->train.optimizer);
    int64_t in_epoch = c->now.tried - c->epochs * r->steps;
    return c->param_count == m->params && c->buffer_count == network_buffers(r->network) &&
           (c->m1 ? states > 0 : c->now.applied == 0 || states == 0) &&
           (c->m2 != NULL) == (c->m1 && states > 1) && c->now.seed == r->seed && in_epoch >= 0 &&
           in_epoch <= r->steps && c->epochs <= r->config->train.epochs;
}

/* The best weights of a checkpoint of a later step. */
static void resume_best(struct run *r, struct checkpoint *c)
{
    r->best.state.params = c->best_params;
    r->best.state.buffers = c->best_buffers;
    c->best_params = c->best_buffers = NULL;
    r->best.epochs = r->history.best_epoch;
    r->best.mark = c->best_journal;
    r->best.state.now = (struct step){
        .seed = c->now.seed, .tried = r->best.epochs * r->steps, .scale = c->now.scale};
    if (!network_has_best_copy(r->network))
        return;
    network_set_best(r->network, &r->best.state);
    r->there.is = true;
    r->there.now = r->best.state.now;
    r->there.mark = r->best.mark;
}

bool run_resume(struct run *r, struct checkpoint *c, const char *path, struct err *e)
{
    if (r->from.of && !run_begin(r, e)) /* the start is to be beaten, and may still be the best */
        return false;
    if (!suits(r, c))
        return err_at(e, ERR_MODEL_TENSOR, path, 0, 0, "the checkpoint is not of this network");
    struct network_state s = {
        .params = c->params, .buffers = c->buffers, .m1 = c->m1, .m2 = c->m2, .now = c->now};
    if (!scales(r))
        s.now.scale = 0;
    else if (s.now.scale <= 0)
        s.now.scale = SCALE_FIRST; /* begun in another precision */
    network_set(r->network, &s);
    history_replay(&r->history, c->rows, c->epochs);
    if (r->history.metric && r->history.best_epoch && !c->best_params)
        return err_at(e, ERR_MODEL_TENSOR, path, 0, 0, "the checkpoint lacks the best weights");
    if (c->best_params && !r->history.best_epoch && !r->history.begun)
        return err_at(e, ERR_MODEL_TENSOR, path, 0, 0,
                      "the checkpoint has best weights, and no epoch is the best");
    if (c->best_params)
        resume_best(r, c);
    if (c->seconds > r->used) /* else the time since then was spent as well */
        r->used = c->seconds;
    return true;
}
