/* training.c - see training.h. */
#include "train/training.h"

#include <stdio.h>
#include <string.h>

#include "answer/answer_line.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/thread.h"
#include "choose/memory.h"
#include "config/output.h"

const char *training_quoted(const char *path, char room[512])
{
    text_escape(room, 512, path, strlen(path));
    return room;
}

/* --- the outputs --- */

static void note_existing(const struct training *t)
{
    struct checkpoint_list l;
    struct err e = {0};
    if (!checkpoint_find(t->output, &l, &e))
        log_note("%s", e.what);
    if (l.count) {
        char *path = checkpoint_path(t->output, l.steps[l.count - 1]), room[512];
        log_note(
            "%zu checkpoint%s of an earlier training %s left as %s (\"%s\"); --resume would go "
            "on from the newest one of this config and data",
            l.count, l.count > 1 ? "s" : "", l.count > 1 ? "are" : "is",
            l.count > 1 ? "they are" : "it is", training_quoted(path, room));
        mem_free(path);
    }
    checkpoint_list_free(&l);
}

bool training_open(struct training *t, const struct train_request *q, struct err *e)
{
    t->config = q->config;
    t->output = file_final(q->output);
    t->resume = q->resume || anew_resumes();
    t->keeper = (struct keeper){.output = t->output, .keep = q->config->train.checkpoint.keep};
    stop_phase("opening the outputs", true);
    if (!output_check(t->config, q->output, q->profile, e) ||
        !lock_take(&t->lock, t->output, e) ||
        !journal_open(&t->journal, t->config->output.metrics, e) || !journal_own(&t->journal, e))
        return false;
    unsigned stale = checkpoint_sweep(t->output);
    if (stale)
        log_note("%u temporary file%s of a run that was killed removed", stale,
                 stale > 1 ? "s" : "");
    if (t->resume) {
        if (t->lock.abrupt)
            log_note("the run before ended abruptly");
    } else {
        note_existing(t);
    }
    return true;
}

/* --- the data --- */

static void say_notes(const struct table *table)
{
    for (size_t i = 0; i < table->remarks.count; i++)
        log_warning("%s", table->remarks.items[i].text);
    if (table->extra_columns)
        log_note("%llu column%s of the file not in the config: ignored",
                 (unsigned long long)table->extra_columns, table->extra_columns > 1 ? "s" : "");
    if (table->blank_lines)
        log_note("%llu blank line%s dropped", (unsigned long long)table->blank_lines,
                 table->blank_lines > 1 ? "s" : "");
}

/* auto: the task's own metric, unless the loss asks for other answers than those that it rates
 * best: then the loss itself. */
static const struct metric_type *usual_metric(const struct training *t)
{
    const struct loss_options *o = &t->config->train.loss;
    if (loss_is_plain(o))
        return metric_default(t->config->task);
    bool weighs = o->class_weights && json_kind(o->class_weights) != JSON_NULL;
    log_line("early stopping follows the loss that is trained, %s%s%s, on the validation rows",
             loss_names[o->kind], weighs ? " with class weights" : "",
             o->kind == LOSS_CROSS_ENTROPY && o->label_smoothing > 0 ? " with label smoothing"
                                                                     : "");
    return &metric_loss;
}

/* Validation rows without weight would choose the weights blindly: an error. Test rows decide
 * nothing, and the model is as good without them. */
static void look_at_test(const struct training *t)
{
    unsigned long long rows = t->table->count[PART_TEST];
    if (rows && !score_weighs(&t->score, PART_TEST))
        log_warning("the weight of each of the %llu test rows is 0: no metric has a value on them; "
                    "let some weigh more, or choose other rows (data.test, data.split)", rows);
}

static bool find_metric(struct training *t, struct err *e)
{
    const char *name = t->config->train.early.metric;
    int task = t->config->task;
    t->history.patience = t->config->train.early.patience;
    t->history.min_delta = t->config->train.early.min_delta;
    look_at_test(t);
    if (t->table->count[PART_VALID] == 0) {
        if (json_path(json_root(t->config->doc), "train.early_stopping"))
            log_note("there are no validation rows: `train.early_stopping` has no effect, and the "
                     "last epoch's weights are kept");
        return true;
    }
    bool standard = !name || strcmp(name, "auto") == 0;
    t->history.metric = standard ? usual_metric(t) : metric_find(name, task);
    if (t->history.metric)
        return score_defined(&t->score, PART_VALID, t->history.metric, e);
    char known[256];
    metric_names(task, known, sizeof known);
    err_set(e, ERR_CONFIG_WORD,
            "train.early_stopping.metric: \"%s\" is not a metric of the task %s",
            text_quote_z(name), task_names[task]);
    return err_expected(e, "one of %s, auto", known);
}

static void have_labels(struct training *t)
{
    t->classes = t->config->task == TASK_REGRESSION ? 0 : t->features->outputs;
    if (!t->classes)
        return;
    t->labels = mem_zero(t->classes, sizeof *t->labels);
    for (uint32_t c = 0; c < t->classes && c < vocab_count(t->schema->labels); c++) {
        size_t length;
        const char *label = vocab_text(t->schema->labels, c, &length);
        t->labels[c] = mem_string_n(label, length);
    }
}

static bool have_weights(struct training *t, struct err *e)
{
    if (!loss_resolve(&t->config->train.loss, t->classes > 0, e))
        return false;
    if (!t->classes)
        return true;
    double *counts = mem_zero(t->classes, sizeof *counts);
    score_class_counts(&t->score, counts);
    bool good =
        loss_class_weights(&t->config->train.loss, t->config->doc, (const char *const *)t->labels,
                           counts, t->classes, &t->class_weight, e);
    for (uint32_t c = 0; good && t->class_weight && c < t->classes; c++)
        if (counts[c] > 0 && t->class_weight[c] <= 0)
            log_warning("train.loss.class_weights gives \"%s\" the weight 0: its rows are not "
                        "learned from", text_quote_z(t->labels[c]));
    mem_free(counts);
    t->score.class_weight = t->class_weight;
    return good;
}

/* --resume=or-restart: the checkpoints of another config or of other data go. A file at such a name
 * that is no checkpoint stays. */
static bool drop_others(struct training *t, struct err *e)
{
    struct checkpoint_list l;
    t->dropped = true;
    log_note("%s; its checkpoints are removed, and the training starts afresh", e->what);
    err_clear(e);
    bool good = checkpoint_find(t->output, &l, e);
    for (size_t i = 0; good && i < l.count; i++) {
        char *path = checkpoint_path(t->output, l.steps[i]);
        good = !output_is_checkpoint(path) || file_remove(path, e);
        mem_free(path);
    }
    checkpoint_list_free(&l);
    return good;
}

/* Looked for once. */
static bool find_checkpoint(struct training *t, struct err *e)
{
    bool look = t->resume && !t->looked;
    t->looked = true;
    if (!look ||
        resume_find(&t->keeper, t->config_text, t->table->sha256, &t->found, &t->checkpoint, e))
        return true;
    bool other = e->id == ERR_CHECKPOINT_OTHER && t->request && t->request->restart;
    return other && drop_others(t, e);
}

static uint64_t rounds(uint64_t all, uint64_t each)
{
    return (all + each - 1) / each;
}

void training_size(struct training *t, int64_t batch_size)
{
    const struct train_options *o = &t->config->train;
    uint64_t rows = t->table->count[PART_TRAIN], batch = (uint64_t)batch_size, micro;
    batch = rows && rows < batch ? rows : batch;
    micro = rounds(rows ? rows : 1, batch);
    micro = micro < (uint64_t)o->grad_accumulation ? micro : (uint64_t)o->grad_accumulation;
    t->batch = (uint32_t)batch;
    t->micro = (uint32_t)micro;
    t->steps = (int64_t)rounds(rows, batch * micro);
}

/* auto: a training goes on where it was. Else, what a row costs follows from the network's
 * products: the way back takes two for each on the way forward. A step also updates every
 * parameter of the tables of which it looks up a few rows: 28 bytes of memory each, which take as
 * long as UPDATE operations of a product, on a CPU and on a card. */
#define UPDATE 256.0

static bool decide_machine(struct training *t, struct err *e)
{
    if (!find_checkpoint(t, e))
        return false;
    if (t->found) {
        select_by_plan(&t->backend, &t->found->plan);
        return training_open_machine(t, e);
    }
    struct model *m = model_plan(&t->config->model, t->features, 1, 1, false, e);
    if (!m)
        return false;
    double products = (double)model_flops(m), tables = (double)m->params - products / 2;
    double rows = (double)t->table->count[PART_TRAIN] * (double)t->config->train.epochs;
    struct select_work work = {.rows = rows,
                               .flops = 3.0 * products + UPDATE * tables / t->batch,
                               .steps = rows / t->batch,
                               .bytes = (double)t->table->bytes};
    model_free(m);
    select_decide(&t->backend, &work);
    return training_open_machine(t, e);
}

/* Known before the training, not behind it. */
static bool can_be_saved(const struct training *t, struct err *e)
{
    struct model *m = model_plan(&t->config->model, t->features, 1, 1, false, e);
    bool fits = m && modelfile_holds(m, e);
    model_free(m);
    return fits;
}

/* OpenBLAS was asked for by name and cannot be used. */
static void warn_blas(const struct training *t)
{
    struct cpu_info cpu;
    cpu_describe(&cpu);
    if (t->config->backend.blas == BLAS_OPENBLAS && cpu.blas_reason[0] &&
        !select_wants_gpu(&t->backend))
        log_warning("backend.blas \"openblas\": %s; our own products serve", cpu.blas_reason);
}

static bool load(struct training *t, struct err *e)
{
    const struct config *c = t->config;
    if (!select_backend(&c->backend, JOB_TRAIN, c->settings, c->setting_count, &t->backend, e))
        return false;
    unsigned threads = c->backend.threads ? (unsigned)c->backend.threads : threads_available();
    blas_prepare(threads, (enum blas_choice)c->backend.blas); /* before any thread starts */
    warn_blas(t);
    threads_start((unsigned)c->backend.threads);
    t->backend.threads = threads_count();
    stop_phase("reading the data", true);
    if (!training_read(t, e))
        return false;
    stop_phase("preparing", false);
    if (!answer_line_names(t->schema, e) || !schema_holds(t->schema, e))
        return false;
    say_notes(t->table);
    answer_line_warn(t->schema);
    training_size(t, t->config->train.batch_size);
    t->features = schema_features(t->schema);
    t->score = (struct score_job){.table = t->table,
                                  .schema = t->schema,
                                  .features = t->features,
                                  .loss = &t->config->train.loss};
    have_labels(t);
    if (!have_weights(t, e) || !find_metric(t, e))
        return false;
    struct text text = {0};
    if (!config_resolved(c, t->features, true, &text, e))
        return false;
    t->config_text = mem_string_n(text.data, text.length);
    text_free(&text);
    return can_be_saved(t, e) && (t->machine || decide_machine(t, e));
}

bool training_load(struct training *t, struct err *e)
{
    return load(t, e) || config_blame(t->config, e) || config_blame_data(t->config, e);
}

/* --- plan, network, weights --- */

/* The range of fp16 is too small for gradients as they are. */
static bool scales(const struct training *t)
{
    return strcmp(t->plan.precision, "fp16") == 0;
}

/* The moments are 0, as the network was made. */
static bool start_afresh(struct training *t, struct err *e)
{
    const struct model *m = network_model(t->network);
    const struct step first = {.seed = t->config->train.seed,
                               .scale = scales(t) ? SCALE_FIRST : 0};
    struct network_state s = {0};
    bool in_place = network_view(t->network, &s);
    if (!in_place)
        training_have_weights(t, &s);
    model_init(m, t->config->train.seed, 0, s.params, s.buffers);
    if (in_place)
        s = (struct network_state){0};
    s.now = first;
    network_set(t->network, &s);
    training_state_free(&s);
    return network_fit_layers(t->network, e);
}

/* What a checkpoint says must be of this network: sizes, moments, counters. */
static bool suits(const struct training *t, const struct checkpoint *c)
{
    const struct model *m = network_model(t->network);
    unsigned states = optim_states(&t->config->train.optimizer);
    int64_t in_epoch = c->now.tried - c->epochs * t->steps;
    return c->param_count == m->params && c->buffer_count == m->buffers &&
           (c->m1 ? states > 0 : c->now.applied == 0 || states == 0) &&
           (c->m2 != NULL) == (c->m1 && states > 1) &&
           c->now.seed == t->config->train.seed && in_epoch >= 0 && in_epoch <= t->steps &&
           c->epochs <= t->config->train.epochs;
}

/* The best epoch's end, as a checkpoint of a later step has it. */
static void take_best(struct training *t, struct checkpoint *c)
{
    t->best.params = c->best_params;
    t->best.buffers = c->best_buffers;
    c->best_params = c->best_buffers = NULL;
    t->best_epochs = t->history.best_epoch;
    t->best_journal = c->best_journal;
    t->best.now = (struct step){
        .seed = c->now.seed, .tried = t->best_epochs * t->steps, .scale = c->now.scale};
    if (!network_keeps_best(t->network))
        return;
    network_set_best(t->network, &t->best);
    t->there.is = true;
    t->there.now = t->best.now;
    t->there.epochs = t->best_epochs;
    t->there.journal = t->best_journal;
}

static bool take_over(struct training *t, struct checkpoint *c, const char *path, struct err *e)
{
    if (!suits(t, c))
        return err_at(e, ERR_MODEL_TENSOR, path, 0, 0, "the checkpoint is not of this network");
    struct network_state s = {
        .params = c->params, .buffers = c->buffers, .m1 = c->m1, .m2 = c->m2, .now = c->now};
    if (!scales(t))
        s.now.scale = 0;
    else if (s.now.scale <= 0)
        s.now.scale = SCALE_FIRST; /* begun in another precision */
    network_set(t->network, &s);
    history_replay(&t->history, c->rows, c->epochs);
    if (t->history.metric && t->history.best_epoch && !c->best_params)
        return err_at(e, ERR_MODEL_TENSOR, path, 0, 0, "the checkpoint lacks the best weights");
    if (c->best_params && !t->history.best_epoch)
        return err_at(e, ERR_MODEL_TENSOR, path, 0, 0,
                      "the checkpoint has best weights, and no epoch is the best");
    if (c->best_params)
        take_best(t, c);
    if (c->seconds > t->used) /* else the time since was spent as well */
        t->used = c->seconds;
    return true;
}

/* Every vector code gives the same bits; only a BLAS has its own for each kind of processor. */
static bool same_bits(const struct plan *a, const struct plan *b, const char **differs)
{
    struct plan as_b = *a;
    if (strcmp(a->backend, "cpu") == 0 && strcmp(a->blas_core, "none") == 0 &&
        strcmp(b->blas_core, "none") == 0)
        memcpy(as_b.core, b->core, sizeof as_b.core);
    return plan_same(&as_b, b, differs);
}

/* The checkpoint's plan is obeyed as far as this machine and build can. */
static void obey(struct training *t, const struct plan *wanted, const char *path)
{
    const char *differs = NULL;
    char room[512];
    bool same_kind = strcmp(wanted->backend, t->plan.backend) == 0;
    uint64_t whole = (uint64_t)t->batch * t->micro, rows = wanted->batch;
    /* The last micro-batch has the rest. Rows beyond the batch would only cost memory. */
    bool same_step = rows && rows <= t->batch && rounds(whole, rows) == wanted->micro;
    if (same_kind)
        machine_obey(t->machine, wanted);
    machine_plan(t->machine, same_kind && same_step ? wanted->batch : t->plan.batch,
                 same_kind && same_step ? wanted->micro : t->plan.micro, &t->plan);
    if (!t->backend.fell_back && !same_bits(&t->plan, wanted, &differs))
        log_warning("\"%s\" was computed %s (%s differs): the result is as good, but not the same "
                    "bytes as that of a run that was not stopped",
                    training_quoted(path, room),
                    strcmp(differs, "batch") == 0 || strcmp(differs, "micro") == 0
                        ? "in other pieces"
                        : "on another kind of machine",
                    differs);
}

bool training_build(struct training *t, struct err *e)
{
    const struct train_options *o = &t->config->train;
    machine_plan(t->machine, t->batch, t->micro, &t->plan);
    if (!find_checkpoint(t, e))
        return false;
    struct checkpoint *c = t->found;
    if (c) {
        obey(t, &c->plan, t->checkpoint);
        training_say_kept(t, c);
    } else {
        training_keep_to_size(t);
    }
    machine_obey(t->machine, &t->plan);
    bool good = training_make_network(t, e);
    snprintf(t->backend.blas_core, sizeof t->backend.blas_core, "%s", t->plan.blas_core);
    snprintf(t->backend.precision, sizeof t->backend.precision, "%s", t->plan.precision);
    if (good && c) {
        good = take_over(t, c, t->checkpoint, e);
        if (good)
            log_line("resuming at step %lld (epoch %lld of %lld)", (long long)c->now.tried,
                     (long long)(c->epochs < o->epochs ? c->epochs + 1 : c->epochs),
                     (long long)o->epochs);
    } else if (good) {
        if (t->resume && !t->dropped)
            log_note("there is no checkpoint to resume from: the training starts afresh");
        good = start_afresh(t, e);
    }
    if (good)
        good = journal_cut(&t->journal, c ? c->journal : 0, e);
    checkpoint_free(c);
    t->found = NULL;
    if (!good)
        return false;
    const struct model *m = network_model(t->network);
    unsigned copies = 2 + optim_states(&o->optimizer);
    if (t->output)
        output_room(t->output, 2 * copies * m->params * sizeof(real));
    t->checkpoint_at = clock_now();
    return true;
}

void training_close(struct training *t)
{
    progress_close(t->progress);
    memory_note(t->machine);
    step_close(t->stepper);
    network_free(t->network);
    machine_close(t->machine);
    training_state_free(&t->best);
    history_release(&t->history);
    for (uint32_t i = 0; t->labels && i < t->classes; i++)
        mem_free(t->labels[i]);
    mem_free(t->labels);
    mem_free(t->class_weight);
    mem_free(t->broke);
    mem_free(t->config_text);
    features_free(t->features);
    if (!t->lender) {
        table_free(t->table);
        schema_free(t->schema);
    }
    keeper_release(&t->keeper);
    checkpoint_free(t->found);
    mem_free(t->checkpoint);
    mem_free(t->output);
    journal_close(&t->journal);
    lock_drop(&t->lock);
    *t = (struct training){0};
}
