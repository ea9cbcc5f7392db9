/* tune_gain.c - the gain of the best trial over trial 0, the unchanged config. If the search
 * follows the criterion: row by row on the validation rows, so that rows that both find hard do not
 * count. Else by the intervals of the two scores. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "train/search/tune_parts.h"

void tune_criterion(const struct config *config, const struct run_part *p, struct criterion *c,
                    float **weights)
{
    struct err ignored = {0}; /* of labels that no row has: the trial has told */
    double *sums = mem_copy(p->constant, p->outputs * sizeof *sums);
    for (uint32_t k = 0; k < p->outputs; k++)
        sums[k] *= (double)p->rows;
    run_criterion(config, p->encoder, sums, sums, c, weights, &ignored);
    mem_free(sums);
}

/* The loss of each row left out, by the criterion of the search; a row without a label has a weight
 * of 0. */
static struct tune_losses losses_of(const struct config *config, const struct run_part *p)
{
    const struct part_rows *r = &p->left;
    const bool classes = p->encoder->schema->task != TASK_REGRESSION;
    struct tune_losses l = {.rows = r->count,
                            .loss = mem_alloc(r->count + 1, sizeof *l.loss),
                            .weight = mem_alloc(r->count + 1, sizeof *l.weight)};
    double *answers = mem_alloc(r->count * p->outputs + 1, sizeof *answers);
    struct criterion_sum s = {0};
    struct criterion c;
    float *class_weight = NULL;
    tune_criterion(config, p, &c, &class_weight);
    mixing_own(p, r, 0, r->count, answers);
    for (uint64_t i = 0; i < r->count; i++) {
        const int32_t label = classes ? r->label[i] : 0;
        const double *own = answers + i * p->outputs;
        l.weight[i] = criterion_weight(&c, label, (double)r->weight[i]);
        l.loss[i] = 0;
        if (!criterion_of_rows(&c))
            criterion_add(&c, &s, own, label, 0, (double)r->weight[i]);
        else if (l.weight[i] > 0)
            l.loss[i] = criterion_row(&c, classes ? own + label : own,
                                      classes ? 0 : r->target[i]);
    }
    for (uint64_t i = 0; !criterion_of_rows(&c) && i < r->count; i++)
        l.loss[i] = criterion_f1_row(&c, &s, answers + i * p->outputs, r->label[i]);
    mem_free(class_weight);
    mem_free(answers);
    return l;
}

void tune_losses_free(struct tune_losses *l)
{
    mem_free(l->loss);
    mem_free(l->weight);
    *l = (struct tune_losses){0};
}

/* r is better than all so far. */
static bool leads(const struct tune *t, const struct tune_result *r)
{
    bool first = !isnan(r->score);
    for (size_t i = 0; first && i < t->a->count; i++)
        first = tune_precedes(t->a->metric, r, &t->a->results[i]);
    return first;
}

void tune_note_losses(struct tune *t, const struct run_part *p, const struct tune_result *r)
{
    if (r->trial == 0) {
        tune_losses_free(&t->plain);
        t->plain = losses_of(t->q->config, p);
    }
    if (leads(t, r)) {
        tune_losses_free(&t->top);
        t->top = losses_of(t->q->config, p);
        t->top_trial = r->trial;
        t->top_stage = r->stage;
    }
}

/* By the intervals of two scores. */
static void gain_of_scores(struct tune *t, const struct tune_result *best)
{
    const struct tune_result *plain = tune_last(t->a, 0);
    const struct metric_type *m = t->a->metric;
    if (!plain || best->trial == 0 || isnan(plain->score))
        return;
    const struct interval a = metrics_interval(&plain->valid, m->name),
                          b = metrics_interval(&best->valid, m->name);
    t->a->gain = m->higher ? best->score - plain->score : plain->score - best->score;
    t->a->gain_error = hypot(a.high - a.low, b.high - b.low) / (2 * 1.96);
}

void tune_find_gain(struct tune *t)
{
    const struct tune_losses *a = &t->plain, *b = &t->top;
    const struct tune_result *best = &t->a->results[t->a->best];
    struct mean gain = {0};
    t->a->gain = t->a->gain_error = (double)NAN;
    if (t->a->metric != config_metric(t->q->config)) {
        gain_of_scores(t, best);
        return;
    }
    if (!a->rows || a->rows != b->rows || best->trial == 0 || t->top_trial != best->trial ||
        t->top_stage != best->stage)
        return; /* of a search that was resumed */
    for (uint64_t i = 0; i < a->rows; i++)
        if (a->weight[i] > 0)
            mean_add(&gain, a->weight[i], a->loss[i] - b->loss[i]);
    t->a->gain = mean_value(&gain);
    t->a->gain_error = mean_error(&gain);
}
