/* ensemble_run.c - one run of several, from its recipe to its part. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "train/job.h"

static void copy_truth(const struct run *r, const struct row_list *list, struct part_rows *to)
{
    const struct rowfmt *f = &r->rows.format;
    to->count = list->count;
    to->weight = mem_alloc(list->count + 1, sizeof *to->weight);
    if (r->classes)
        to->label = mem_alloc(list->count + 1, sizeof *to->label);
    else
        to->target = mem_alloc(list->count + 1, sizeof *to->target);
    if (r->groups)
        to->group = mem_alloc(list->count + 1, sizeof *to->group);
    for (uint64_t i = 0; i < list->count; i++) {
        const unsigned char *record = rows_at(&r->rows, list->index[i]);
        if (r->groups)
            to->group[i] = dataset_group(r->groups, list->index[i]);
        memcpy(&to->weight[i], record + f->at_weight, sizeof *to->weight);
        if (r->classes)
            memcpy(&to->label[i], record + f->at_target, sizeof *to->label);
        else
            to->target[i] = r->target[list->index[i]];
    }
}

/* Truth and logits of a part of a run; part_rows_free in either case. */
static bool answer_rows(const struct run *r, enum part part, struct part_rows *to, struct err *e)
{
    const struct judged *judged = &r->judged[part];
    copy_truth(r, &r->list[part], to);
    if (judged->at) {
        to->at = mem_copy(judged->at, (to->count + 1) * sizeof *to->at);
        to->of = judged->of;
    }
    to->logits = mem_zero(to->count * r->features->outputs + 1, sizeof *to->logits);
    return run_answer(r, &r->list[part], to->logits, e);
}

static bool answer_sample(const struct run *r, const struct table_sample *sample,
                          const struct rows *first, struct run_part *p, struct err *e)
{
    const size_t cells = (size_t)sample->rows * sample->cells;
    p->sample = (struct table_sample){.rows = sample->rows, .cells = sample->cells};
    if (!sample->rows)
        return true;
    p->sample.offsets = mem_copy(sample->offsets, (cells + 1) * sizeof *sample->offsets);
    p->sample.text = mem_string_n(sample->text, (size_t)sample->offsets[cells]);
    p->sample_logits =
        mem_zero((size_t)sample->rows * p->outputs + 1, sizeof *p->sample_logits);
    return run_answer_first(r, first, sample->rows, p->sample_logits, e);
}

struct run_part *part_of_run(const struct train_job *j, struct run *r, const struct rows *first,
                             const bool held[PARTS], struct ended *s, struct err *e)
{
    const struct model *m = network_model(r->network);
    *s = (struct ended){0};
    if (!run_use_best(r, &s->last, e) || !run_map_state(r, false, &s->best, e) ||
        !run_finite(r, &s->best, e))
        return NULL;
    struct run_part *p = mem_zero(1, sizeof *p);
    p->borrows = true;
    p->params = s->best.params;
    p->buffers = s->best.buffers;
    p->param_count = m->params;
    p->buffer_count = m->buffers;
    p->outputs = r->features->outputs;
    p->encoder = r->encoder;
    p->plan = r->plan;
    p->epochs = r->history.epochs;
    p->best_epoch = r->history.best_epoch;
    p->history = history_table(&r->history, &p->history_rows);
    snprintf(p->stopped, sizeof p->stopped, "%s", r->stopped);
    p->config = mem_string(j->config_text);
    p->known = j->table->known;
    memcpy(p->data, j->table->sha256, sizeof p->data);
    if (answer_sample(r, &j->table->data->sample, first, p, e) &&
        (!held[PART_VALID] || answer_rows(r, PART_VALID, &p->left, e)) &&
        (!held[PART_TEST] || answer_rows(r, PART_TEST, &p->test, e)))
        return p;
    part_free(p);
    return NULL;
}

static void own_weights(struct run_part *p)
{
    p->borrows = false;
    p->params = mem_copy(p->params, (size_t)p->param_count * sizeof *p->params);
    p->buffers = p->buffer_count
                     ? mem_copy(p->buffers, (size_t)p->buffer_count * sizeof *p->buffers)
                     : NULL;
}

/* The part of a run whose network goes. NULL as part_of_run. */
static struct run_part *fill(const struct train_job *j, struct run *r, const struct rows *first,
                             struct err *e)
{
    static const bool held[PARTS] = {[PART_VALID] = true, [PART_TEST] = true};
    struct ended s;
    struct run_part *p = part_of_run(j, r, first, held, &s, e);
    if (p) {
        const uint64_t *rows = j->table->split.record_count;
        p->rows = rows[PART_TRAIN] + rows[PART_VALID];
        p->constant = score_constant_answer(&r->score);
        own_weights(p);
    } else if (e->id == ERR_NONE) {
        run_use_last(r, &s.last); /* a checkpoint holds the last weights */
    }
    ended_unmap(r, &s);
    return p;
}

void ended_unmap(const struct run *r, struct ended *s)
{
    run_unmap_state(r, &s->best);
    run_unmap_state(r, &s->last);
}

struct run_part *ensemble_run(struct train_job *j, uint32_t run, struct machine *m, struct err *e)
{
    const struct ensemble *n = j->ensemble;
    const double began = clock_now();
    struct run_part *p = NULL;
    struct run r = {.machine = m,
                    .quiet = true,
                    .micro_most = j->run.micro_most,
                    .whole_test = n->whole_test,
                    .passes = {[PART_VALID] = n->apart ? 0 : n->folds * ensemble_passes(n),
                               [PART_TEST] = n->apart ? 0 : ensemble_passes(n)},
                    .began = n->apart ? began : j->began,
                    .used = n->apart ? 0 : j->run.used};
    struct view *view = view_make(j->table->data, n->encoders[run], false);
    job_set_run(j, run, &view->rows, &r);
    if (run_open(&r, e) && job_train(j, run, &r, e))
        p = fill(j, &r, view_first(view), e);
    if (!p && e->id == ERR_NONE && n->keepers)
        keep_stopped(&n->keepers[run], &r, e);
    if (p) {
        p->run = run;
        p->member = run / n->folds;
        p->fold = run % n->folds;
        p->seconds = clock_now() - began;
    }
    if (p && r.broke)
        log_warning("run %u (member \"%s\", fold %u): %s; its weights are those of epoch %lld, the "
                    "best before", run, text_quote_z(n->names[p->member]), p->fold, r.broke,
                    (long long)r.history.best_epoch);
    run_close(&r);
    view_free(view);
    return p;
}
