/* tune_result.c - the trainings of a search: which is the better one, and all of them as JSON. */
#include <math.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/process/warnings.h"
#include "choose/memory.h"
#include "train/search/tune_parts.h"

/* --- the list of trainings --- */

double tune_used(const struct tune *t)
{
    return t->used + clock_now() - t->job.began;
}

bool tune_better(const struct metric_type *m, double a, double b)
{
    if (isnan(a) || isnan(b))
        return !isnan(a) && isnan(b);
    return m->higher ? a > b : a < b;
}

bool tune_precedes(const struct metric_type *m, const struct tune_result *a,
                   const struct tune_result *b)
{
    bool equal = a->score >= b->score && a->score <= b->score;
    return tune_better(m, a->score, b->score) ||
           (equal && (a->stage > b->stage || (a->stage == b->stage && a->trial < b->trial)));
}

void tune_add(struct tune *t, const struct tune_result *r)
{
    struct tune_answer *a = t->a;
    a->results = mem_grow(a->results, a->count + 1, sizeof *a->results);
    a->results[a->count++] = *r;
    if (r->trial >= a->trials)
        a->trials = r->trial + 1;
    if (r->trained > 0) {
        t->epoch_seconds += r->seconds;
        t->epochs_done += r->trained;
    }
}

const struct tune_result *tune_last(const struct tune_answer *a, uint32_t trial)
{
    const struct tune_result *last = NULL;
    for (size_t i = 0; i < a->count; i++)
        if (a->results[i].trial == trial && (!last || a->results[i].stage > last->stage))
            last = &a->results[i];
    return last;
}

const char *tune_gain_name(const struct config *c, const struct tune_answer *a)
{
    const bool squares = a->metric == config_metric(c) && a->metric == metric_find("rmse", c->task);
    return squares ? "mean squared error" : a->metric->name;
}

void tune_release(struct tune_answer *a)
{
    space_close(&a->space);
    mem_free(a->results);
    a->results = NULL;
    a->count = 0;
}

/* --- JSON --- */

static void write_result(const struct tune_answer *a, const struct tune_result *r, const char *key,
                         const char *config, struct json_out *out)
{
    struct draw d;
    struct text values = {0};
    space_draw(&a->space, r->trial, &d);
    draw_write(&d, &values);
    json_open(out, key, '{');
    json_put_int(out, "trial", r->trial);
    json_put_int(out, "stage", r->stage);
    json_put_int(out, "epochs", r->epochs);
    json_put_int(out, "best_epoch", r->best_epoch);
    json_put_string(out, "stopped", r->stopped);
    metrics_write(&r->valid, "valid", out);
    metrics_write_intervals(&r->valid, "valid_intervals", out);
    json_put_number(out, "seconds", r->seconds);
    json_put_raw(out, "values", values.data);
    if (key)
        json_put_string(out, "config", config);
    json_close(out, '}');
    draw_free(&d);
    text_free(&values);
}

void tune_write(const struct tune_request *q, const struct tune_answer *a, struct json_out *out)
{
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.tune/1");
    json_put_string(out, "metric", a->metric->name);
    write_result(a, &a->results[a->best], "best", q->output, out);
    if (!isnan(a->gain)) {
        json_open(out, "gain", '{');
        json_put_string(out, "metric", tune_gain_name(q->config, a));
        json_put_number(out, "value", a->gain);
        json_put_number(out, "standard_error", a->gain_error);
        json_close(out, '}');
    }
    json_open(out, "trials", '[');
    for (uint32_t i = 0; i < a->trials; i++)
        if (tune_last(a, i))
            write_result(a, tune_last(a, i), NULL, NULL, out);
    json_close(out, ']');
    json_put_string(out, "stopped", a->timed_out ? "time_limit" : "trials");
    select_write(&a->backend, "backend", out);
    memory_write("memory", out);
    warnings_write(out);
    json_put_number(out, "seconds", a->total_s);
    json_close(out, '}');
}
