/* scored.c - see scored.h. */
#include "answer/evaluate/scored.h"

#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/process/stop.h"

const double scored_quantiles[SCORED_QUANTILES] = {0.1, 0.25, 0.5, 0.75, 0.9};

struct scoring {
    struct scored *to;
    struct stream *stream;
    double *probability; /* [group][classes] */
};

static void add(struct scored *r, double value)
{
    r->value = mem_more(r->value, r->rows, sizeof *r->value);
    r->value[r->rows++] = value;
}

static void add_answer(struct scoring *x, const struct answer_mean *mean, uint64_t i)
{
    struct scored *r = x->to;
    if (r->classes) {
        const double *p = x->probability + i * r->classes;
        const uint32_t answer = decision_label(&r->serve.decision, p, r->classes);
        r->answered[answer]++;
        add(r, r->classes == 2 ? p[1] : p[answer]);
    } else {
        double values[QUANTILES_MOST] = {0};
        answer_mean_values(mean, i, values);
        add(r, values[mean->middle]);
    }
}

static bool score_group(void *context, const struct stream_group *g, struct err *e)
{
    struct scoring *x = context;
    (void)e;
    if (!g->cells)
        return true;
    if (!x->probability && x->to->classes)
        x->probability = mem_alloc(x->stream->room * x->to->classes, sizeof *x->probability);
    const struct answer_mean mean = serve_mean(&x->to->serve, g->logits, g->rows);
    if (x->to->classes)
        answer_mean_probabilities(&mean, 0, g->rows, x->to->classes, x->probability);
    for (uint64_t i = 0; i < g->rows; i++)
        if (!g->bad[i])
            add_answer(x, &mean, i);
    return true;
}

static void summarise(struct scored *r)
{
    sort_doubles(r->value, r->rows);
    for (int k = 0; k < SCORED_QUANTILES; k++)
        r->quantile[k] = r->value[(uint64_t)(scored_quantiles[k] * (double)(r->rows - 1))];
    r->spread = histogram_of_values(r->value, r->rows, r->classes ? 0 : r->value[0],
                                    r->classes ? 1 : r->value[r->rows - 1]);
}

bool scored_run(const struct rows_request *q, struct scored *r, struct err *e)
{
    *r = (struct scored){.rows = 0};
    stop_phase("predict", true);
    if (!serve_open(&r->serve, q, JOB_EVALUATE, e) || !serve_take(&r->serve, q, e))
        return false;
    r->classes = r->serve.schema->task == TASK_REGRESSION ? 0 : r->serve.outputs;
    r->answered = mem_zero((size_t)r->classes + 1, sizeof *r->answered);
    struct stream stream = {0};
    struct scoring x = {.to = r, .stream = &stream};
    struct rows_request rows = *q;
    rows.strict = true;
    const struct stream_sink sink = {.group = score_group, .context = &x};
    bool good = stream_open(&stream, &r->serve, &rows, &sink, e) && stream_run(&stream, e);
    r->drift = stream.drift;
    stream.drift = NULL;
    r->bad = stream.bad_rows;
    if (good && !r->rows)
        good = err_at(e, ERR_CSV_NO_ROWS, q->inputs[0], 0, 0, "0 data rows: there is nothing to "
                                                              "answer");
    if (good)
        summarise(r);
    mem_free(x.probability);
    stream_close(&stream);
    return good;
}

void scored_release(struct scored *r)
{
    mem_free(r->value);
    mem_free(r->answered);
    drift_free(r->drift);
    serve_close(&r->serve);
    memset(r, 0, sizeof *r);
}
