/* evaluate_gates.c - see evaluate_gates.h. */
#include "answer/evaluate/evaluate_gates.h"

#include <math.h>
#include <string.h>

#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "table/schema/label.h"

bool evaluate_comparable(const struct serve *a, const struct serve *b,
                         const struct evaluate_request *q, struct err *e)
{
    const struct schema *s = a->schema, *t = b->schema;
    if (s->task != t->task)
        return err_at(e, ERR_MODELS_DIFFER, q->better_than, 0, 0,
                      "its task is %s, that of %s is %s", task_names[t->task],
                      text_quote_z(q->rows.model), task_names[s->task]);
    uint32_t count = s->labels ? vocab_count(s->labels) : 0;
    bool same = !s->labels || vocab_count(t->labels) == count;
    for (uint32_t i = 0; same && i < count; i++) {
        size_t length;
        const char *label = vocab_text(s->labels, i, &length);
        same = label_find(t->labels, s->decimal, label, length) == i;
    }
    if (s->quantile_count != t->quantile_count ||
        (s->quantile_count && memcmp(s->quantiles, t->quantiles,
                                     s->quantile_count * sizeof *s->quantiles) != 0))
        return err_at(e, ERR_MODELS_DIFFER, q->better_than, 0, 0,
                      "it does not answer the quantiles that %s answers",
                      text_quote_z(q->rows.model));
    return same ||
           err_at(e, ERR_MODELS_DIFFER, q->better_than, 0, 0,
                  "its labels, or their order, are not those of %s", text_quote_z(q->rows.model));
}

/* Caller frees. */
static char *gate_name(const struct evaluate_request *q, const struct metric_type *metric)
{
    struct text text = {0};
    text_printf(&text, "%s better than %s", metric->name, q->better_than);
    if (q->by != 0)
        text_printf(&text, " by %.9g", q->by);
    return text.data;
}

bool evaluate_gates(const struct evaluate_request *q, struct evaluate_result *r, struct err *e)
{
    const struct criterion c = serve_criterion(&r->serve);
    const int task = metric_task(&c, r->serve.schema->task, r->serve.file->conformal.rule != 0);
    r->gates = mem_zero(q->require_count + 1, sizeof *r->gates);
    for (size_t i = 0; i < q->require_count; i++) {
        if (!gate_read(&r->gates[i], q->require[i], task, e))
            return false;
        r->gate_count++;
        if (r->gates[i].of == GATE_OF_WORST && !q->group_count)
            return err_set(e, ERR_OPTION_CONFLICT, "--require: \"%s\" is of the worst group, and "
                           "no --by COLUMN names groups", text_quote_z(q->require[i]));
    }
    if (!q->better_than)
        return true;
    const struct metric_type *metric = q->on ? metric_find(q->on, task)
                                             : metric_of(&c, r->serve.schema->task);
    if (metric && metric->of_level) {
        err_set(e, ERR_OPTION_VALUE, "--on: %s orders no models: near its level is right",
                metric->name);
        return err_help(e, "compare by %s", metric_of(&c, r->serve.schema->task)->name);
    }
    if (!metric) {
        char names[160];
        metric_names(task, names, sizeof names);
        err_set(e, ERR_OPTION_VALUE, "--on: \"%s\" is no metric of this model's task",
                text_quote_z(q->on));
        err_expected(e, "one of %s", names);
        const char *near = metric_nearest(q->on, task);
        return near ? err_help(e, "did you mean \"%s\"?", near) : false;
    }
    for (size_t i = 0; i < q->rows.input_count; i++)
        if (file_once(q->rows.inputs[i]))
            return err_set(e, ERR_OPTION_CONFLICT,
                           "--better-than reads the rows twice, and %s can be read once",
                           strcmp(q->rows.inputs[i], "-") == 0 ? "standard input (-)"
                                                          : text_quote_z(q->rows.inputs[i]));
    r->gates[r->gate_count++] =
        (struct gate){.text = gate_name(q, metric), .metric = metric, .bound = q->by,
                      .compares = true, .value = (double)NAN};
    return true;
}

/* The loss of one model, before calibration, says nothing of a model that was trained by another
 * one. Class weights of other counts may differ somewhat. */
static bool same_loss(const struct serve *a, const struct serve *b)
{
    struct criterion one = serve_criterion(a), other = serve_criterion(b);
    const float *x = one.class_weight, *y = other.class_weight;
    bool alike = !x == !y;
    for (uint32_t c = 0; x && y && c < one.classes; c++)
        alike = alike && x[c] <= 1.5f * y[c] && y[c] <= 1.5f * x[c];
    one.class_weight = other.class_weight = NULL;
    return alike && criterion_equal(&one, &other);
}

bool evaluate_regions(const struct evaluate_request *q, const struct serve *other,
                      const struct evaluate_result *r, struct err *e)
{
    const struct metric_type *metric = r->gates[r->gate_count - 1].metric;
    const struct conformal *a = &r->serve.file->conformal, *b = &other->file->conformal;
    const struct criterion c = serve_criterion(&r->serve);
    const char *const what = r->serve.schema->task == TASK_REGRESSION ? "intervals" : "sets";
    if (metric == &metric_loss ||
        metric_belongs(metric, metric_task(&c, r->serve.schema->task, false)))
        return true;
    if (!b->rule)
        err_at(e, ERR_MODELS_DIFFER, q->better_than, 0, 0, "it has no %s, so that it has no %s",
               what, metric->name);
    else if (b->level < a->level || b->level > a->level)
        err_at(e, ERR_MODELS_DIFFER, q->better_than, 0, 0,
               "its %s are of the level %.6g, and those of %s of %.6g: %s compares those of one "
               "level", what, b->level, text_quote_z(q->rows.model), a->level, metric->name);
    else
        return true;
    return err_help(e, "train it with \"%s\": %.6g, or compare by %s", what, a->level,
                    metric_of(&c, r->serve.schema->task)->name);
}

void evaluate_common(const struct evaluate_request *q, const struct serve *other,
                     struct evaluate_result *r)
{
    struct gate *g = &r->gates[r->gate_count - 1];
    const struct serve *own = &r->serve;
    if (q->on || g->metric != &metric_loss || own->schema->task == TASK_REGRESSION ||
        same_loss(own, other))
        return;
    mem_free(g->text);
    g->metric = metric_default(own->schema->task);
    g->text = gate_name(q, g->metric);
    log_note("--better-than: the two models were trained by different losses: %s compares their "
             "probabilities; --on names another metric", g->metric->name);
}

const struct metric_type *evaluate_by_metric(const struct evaluate_result *r)
{
    const int task = r->serve.schema->task;
    const struct criterion c = serve_criterion(&r->serve);
    for (size_t i = 0; i < r->gate_count; i++)
        if (r->gates[i].of == GATE_OF_WORST)
            return r->gates[i].metric;
    const struct metric_type *counts = metric_of(&c, task);
    return counts == &metric_loss ? metric_default(task) : counts;
}
