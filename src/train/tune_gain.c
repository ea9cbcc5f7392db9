/* tune_gain.c - how much lower the loss of the best trial is than that of trial 0, the config as it
 * is: row by row on the validation rows, so that what both find hard does not count. */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "train/tune_parts.h"

enum { AT_ONCE = 256 };
#define LEAST 1e-300 /* of a probability: its logarithm stays finite */

static double value_loss(const struct loss_options *o, const double *value, double target)
{
    const struct criterion c = {.loss = *o};
    const double d = target - *value;
    if (o->kind == LOSS_QUANTILE)
        return criterion_row(&c, value, target);
    return o->kind == LOSS_MAE ? fabs(d) : d * d;
}

const char *tune_loss_name(const struct config *c)
{
    if (c->task != TASK_REGRESSION)
        return "logloss";
    return loss_quantile(&c->train.loss) > 0     ? "pinball"
           : c->train.loss.kind == LOSS_MAE ? "mae"
                                                 : "mse";
}

/* The loss of each row left out; a row without a label has a weight of 0. */
static struct tune_losses losses_of(const struct config *c, const struct run_part *p)
{
    const struct part_rows *r = &p->left;
    const bool classes = p->schema->task != TASK_REGRESSION;
    struct tune_losses l = {.rows = r->count,
                            .loss = mem_alloc(r->count + 1, sizeof *l.loss),
                            .weight = mem_alloc(r->count + 1, sizeof *l.weight)};
    double *room = mem_alloc(AT_ONCE * (size_t)p->outputs, sizeof *room);
    for (uint64_t from = 0; from < r->count; from += AT_ONCE) {
        const uint64_t count = r->count - from < AT_ONCE ? r->count - from : AT_ONCE;
        if (classes)
            answer_probabilities(r->logits + from * p->outputs, count, p->outputs, room);
        else
            answer_values(&p->schema->coding, r->logits + from * p->outputs, count, p->outputs,
                          room);
        for (uint64_t i = from; i < from + count; i++) {
            const int32_t label = classes ? r->label[i] : 0;
            l.weight[i] = label < 0 ? 0 : (double)r->weight[i];
            l.loss[i] = label < 0 ? 0
                        : classes
                            ? -log(fmax(room[(i - from) * p->outputs + (uint32_t)label], LEAST))
                            : value_loss(&c->train.loss, room + (i - from) * p->outputs,
                                         r->target[i]);
        }
    }
    mem_free(room);
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

void tune_find_gain(struct tune *t)
{
    const struct tune_losses *a = &t->plain, *b = &t->top;
    const struct tune_result *best = &t->a->results[t->a->best];
    double sum = 0, squares = 0, weight = 0, weights = 0;
    t->a->gain = t->a->gain_error = (double)NAN;
    if (!a->rows || a->rows != b->rows || best->trial == 0 || t->top_trial != best->trial ||
        t->top_stage != best->stage)
        return; /* of a search that was resumed */
    for (uint64_t i = 0; i < a->rows; i++) {
        const double w = a->weight[i], d = a->loss[i] - b->loss[i];
        sum += w * d;
        weight += w;
        weights += w * w;
    }
    if (!(weight > 0))
        return;
    const double mean = sum / weight, rows = weight * weight / weights;
    for (uint64_t i = 0; i < a->rows; i++) {
        const double off = a->weight[i] * (a->loss[i] - b->loss[i] - mean);
        squares += off * off;
    }
    t->a->gain = mean;
    t->a->gain_error = rows > 1 ? sqrt(squares * rows / (rows - 1)) / weight : (double)NAN;
}
