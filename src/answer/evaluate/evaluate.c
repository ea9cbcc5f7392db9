/* evaluate.c - the story of one evaluation: rows through the stream into a tally, then metrics,
 * intervals and gates. */
#include "answer/evaluate/evaluate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "answer/evaluate/evaluate_gates.h"
#include "answer/stream/answer_line.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "base/rng.h"
#include "base/text.h"

#define ALONE 0x5bd1e995u /* seed of keys of rows without a group */

struct measure {
    struct stream *stream;
    struct tally *tally;
    struct threshold_table *table; /* NULL: none */
    struct answers_kept *kept;     /* NULL: nobody compares */
    struct hard_rows *hard;        /* NULL: nobody asks */
    struct by *by;                 /* [by_count], of the same rows as kept */
    size_t by_count;
    uint32_t classes; /* 0: regression */
    uint32_t values;  /* of a regression's answer */
    uint64_t rows;    /* measured */
    const struct stream_group *group;
    float *weight;
    int32_t *label;
    double *probability, *value, *target;
    double *low, *high; /* of intervals */
    uint32_t group_column; /* column of the schema; UINT32_MAX: no groups, or no such cells */
    uint64_t *group_key;   /* NULL: no groups */
    double *raw; /* probabilities before calibration, if the criterion judges by them; else NULL */
};

/* --- groups of rows --- */

/* The column that the config's split groups by; the model holds its config as a record. */
static const char *split_column(const struct modelfile *f)
{
    const struct json *root = f->config ? json_root(f->config) : NULL;
    const struct json *method = root ? json_path(root, "data.split.method") : NULL;
    const struct json *column = root ? json_path(root, "data.split.column") : NULL;
    const bool group = method && json_kind(method) == JSON_STRING &&
                       strcmp(json_string(method), "group") == 0;
    return group && column && json_kind(column) == JSON_STRING ? json_string(column) : NULL;
}

/* The column of groups: rows that the split keeps together, a column of type group, the series that
 * windows are of. UINT32_MAX: the model knows no groups. */
static uint32_t group_column(const struct modelfile *f)
{
    const struct schema *s = f->schema;
    const char *name = split_column(f);
    for (uint32_t i = 0; name && i < s->column_count; i++)
        if (strcmp(s->columns[i].name, name) == 0)
            return i;
    return schema_group_column(s);
}

/* A hash of the row's group; if the present input lacks the column, of the row's number alone, as
 * if each row were a group. */
static uint64_t group_key(const struct measure *m, const struct stream_group *g, uint64_t row)
{
    const struct csv_cell *c =
        cell_at(&m->stream->in.binding, g->cells, g->first + row, m->group_column);
    const uint64_t number = m->rows + row;
    return c ? rng_hash(c->text, c->length, 0) : rng_hash(&number, sizeof number, ALONE);
}

/* --- rows --- */

static void read_tile(void *context, unsigned tile, unsigned thread)
{
    struct measure *m = context;
    const struct stream_group *g = m->group;
    const struct rowfmt *f = &m->stream->encoder->format;
    struct answer_mean mean = serve_mean(m->stream->serve, g->logits, g->rows);
    uint64_t begin = (uint64_t)tile * m->stream->tile, end = begin + m->stream->tile;
    (void)thread;
    if (end > g->rows)
        end = g->rows;
    if (m->classes)
        answer_mean_probabilities(&mean, begin, end, m->classes,
                                  m->probability + begin * m->classes);
    struct answer_mean raw = mean;
    raw.calibration = NULL;
    if (m->raw)
        answer_mean_probabilities(&raw, begin, end, m->classes, m->raw + begin * m->classes);
    for (uint64_t i = begin; i < end; i++) {
        const unsigned char *record = g->records + i * f->stride;
        if (g->bad[i])
            continue;
        if (m->group_key)
            m->group_key[i] = group_key(m, g, i);
        memcpy(&m->weight[i], record + f->at_weight, sizeof(float));
        if (m->classes) {
            memcpy(&m->label[i], record + f->at_target, sizeof(int32_t));
        } else {
            answer_mean_values(&mean, i, m->value + i * m->values);
            m->target[i] = stream_target(m->stream, g, i);
            double ends[2] = {0};
            if (mean.conformal)
                answer_mean_interval(&mean, i, m->value[i * m->values], ends);
            m->low[i] = ends[0];
            m->high[i] = ends[1];
        }
    }
}

static struct scores scores_of(const struct measure *m, const struct stream_group *g)
{
    return (struct scores){.task = m->stream->schema->task,
                           .rows = g->rows,
                           .bad = g->bad,
                           .classes = m->classes,
                           .probability = m->probability,
                           .raw = m->raw,
                           .label = m->label,
                           .value = m->value,
                           .target = m->target,
                           .low = m->low,
                           .high = m->high,
                           .group = m->group_key,
                           .weight = m->weight};
}

static bool keep_group(const struct measure *m, const struct stream_group *g,
                       const struct scores *s, struct err *e)
{
    bool good = true;
    if (m->kept)
        answers_keep(m->kept, s);
    if (m->hard)
        hard_rows_add(m->hard, m->stream, g, s, m->tally);
    for (size_t i = 0; good && i < m->by_count; i++)
        good = by_add(&m->by[i], m->stream, g, e);
    return good;
}

/* Decides by the first input whether rows have groups. */
static void open_groups(struct measure *m)
{
    const struct schema *s = m->stream->schema;
    if (m->group_column == UINT32_MAX)
        return;
    if (m->stream->in.binding.cell_of[m->group_column] >= 0)
        m->group_key = mem_alloc(m->stream->room, sizeof *m->group_key);
    else if (!m->stream->request.again)
        log_note("the data lacks \"%s\", the column of groups: intervals are as if all rows were "
                 "independent, which makes them too narrow",
                 text_quote_z(s->columns[m->group_column].name));
}

static bool measure_group(void *context, const struct stream_group *g, struct err *e)
{
    struct measure *m = context;
    if (!m->weight) {
        size_t rows = m->stream->room;
        m->weight = mem_alloc(rows, sizeof *m->weight);
        m->label = mem_alloc(rows, sizeof *m->label);
        m->value = mem_zero(rows * m->values, sizeof *m->value);
        m->target = mem_alloc(rows, sizeof *m->target);
        m->low = mem_alloc(rows, sizeof *m->low);
        m->high = mem_alloc(rows, sizeof *m->high);
        m->probability = mem_alloc(rows * (m->classes ? m->classes : 1), sizeof *m->probability);
        open_groups(m);
        if (m->classes && !criterion_is_metric(&m->tally->criterion))
            m->raw = mem_alloc(rows * m->classes, sizeof *m->raw);
    }
    const struct scores s = scores_of(m, g);
    m->group = g;
    if (!g->cells) /* one record that is not CSV */
        return keep_group(m, g, &s, e);
    threads_run((unsigned)((g->rows + m->stream->tile - 1) / m->stream->tile), read_tile, m);
    if (!keep_group(m, g, &s, e))
        return false;
    for (uint64_t i = 0; i < s.rows; i++) {
        if (!g->bad[i] && m->table)
            threshold_table_add(m->table, m->probability[2 * i + 1], m->label[i] == 1,
                                (double)m->weight[i]);
        m->rows += !g->bad[i];
    }
    tally_add(m->tally, &s);
    return true;
}

/* Why nothing was measured. */
static bool report_nothing(const char *path, const struct stream *t, struct err *e)
{
    unsigned long long rows = t->rows;
    if (!rows)
        return err_at(e, ERR_CSV_NO_ROWS, path, 0, 0, "0 data rows: there is nothing to measure");
    if (t->bad_rows)
        return err_at(e, ERR_BAD_ROWS, path, 0, 0,
                      "none of %llu rows can be measured: %llu cannot be read, %llu have no target",
                      rows, (unsigned long long)t->bad_rows, (unsigned long long)t->unlabelled);
    if (t->weightless)
        return err_at(e, ERR_WEIGHT_SUM, path, 0, 0,
                      "the weight of each of the %llu rows %sis 0: there is nothing to measure",
                      (unsigned long long)t->weightless, t->unlabelled ? "with a target " : "");
    err_at(e, ERR_CSV_LABEL_MISSING, path, 0, 0,
           "target \"%s\" is missing in every row, %llu in all",
           text_quote_z(t->schema->columns[t->schema->target].name), rows);
    return err_help(e, "`dnn predict` answers rows without a target");
}

/* All rows through an opened model. */
static bool measure_all(const struct evaluate_request *q, struct serve *serve, struct tally *tally,
                        struct answers_kept *kept, bool raw, struct evaluate_result *counts,
                        struct err *e)
{
    struct stream stream = {0};
    struct rows_request rows = q->rows;
    rows.labelled = true;
    rows.max_bad_rows = -1;
    rows.again |= !counts;
    struct measure m = {.stream = &stream, .tally = tally, .classes = tally->classes,
                        .values = schema_values(serve->schema),
                        .kept = kept, .group_column = group_column(serve->file)};
    if (kept)
        *kept = (struct answers_kept){.task = serve->schema->task,
                                      .classes = tally->classes,
                                      .decision = serve->decision,
                                      .conformal = tally->conformal,
                                      .raw = raw,
                                      .criterion = tally->criterion};
    if (counts) {
        m.hard = q->hard;
        m.by = counts->by;
        m.by_count = counts->by_count;
    }
    if (counts && serve->schema->task == TASK_BINARY) {
        m.table = &counts->table;
        threshold_table_begin(m.table, serve->decision.threshold);
    }
    const struct stream_sink sink = {.group = measure_group, .context = &m};
    bool good = stream_open(&stream, serve, &rows, &sink, e) && stream_run(&stream, e);
    if (counts) {
        counts->rows = m.rows;
        counts->bad = stream.bad_rows;
        counts->unlabelled = stream.unlabelled;
        counts->weightless = stream.weightless;
        bool sure;
        counts->known = stream.keys ? fingerprint_share(serve->file->known, &stream.lookups, &sure)
                                    : (double)NAN;
        counts->drift = stream.drift;
        stream.drift = NULL;
    }
    if (good && m.rows == 0)
        good = report_nothing(rows_path(&q->rows), &stream, e);
    void *const all[] = {m.weight, m.label, m.value,       m.target, m.group_key,
                         m.low,    m.high,  m.probability, m.raw};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    stream_close(&stream);
    return good;
}

/* criterion: from the model that is judged first. */
static struct tally *tally_for(const struct serve *s, const struct criterion *criterion)
{
    uint32_t classes = s->schema->task == TASK_REGRESSION ? 0 : s->outputs;
    struct tally *t = tally_new(s->schema->task, classes, TALLY_ALL);
    t->decision = s->decision;
    tally_judge_by(t, criterion);
    t->conformal = s->file->conformal.rule ? &s->file->conformal : NULL;
    return t;
}

/* --- the comparison --- */

/* The other model on the same rows; the gate's value is the advantage, above 0 when this one is
 * better. */
static bool compare(const struct evaluate_request *q, struct serve *other,
                    const struct answers_kept *own, struct gate *g, struct err *e)
{
    struct answers_kept others = {0};
    struct comparison c;
    struct tally *tally = tally_for(other, &own->criterion);
    bool good = measure_all(q, other, tally, &others, g->metric == &metric_loss, NULL, e) &&
                compare_answers(own, &others, g->metric, &c, e);
    if (good) {
        g->own = c.own;
        g->other = c.other;
        g->value = c.advantage;
        g->interval = c.interval;
        g->pass = q->by == 0 ? g->value > 0 : g->value >= q->by; /* false for NaN */
    }
    answers_free(&others);
    tally_free(tally);
    return good;
}

static bool measure_by(struct evaluate_result *r, const struct answers_kept *own, struct err *e)
{
    for (size_t i = 0; i < r->by_count; i++)
        if (!by_measure(&r->by[i], own, r->tally, evaluate_by_metric(r), e))
            return false;
    for (size_t i = 0; i < r->gate_count; i++)
        if (r->gates[i].of == GATE_OF_WORST)
            by_judge(r->by, r->by_count, &r->gates[i]);
    return true;
}

/* own: room for the answers, if the models are compared, groups are measured, or the request keeps
 * them. */
static bool measure(const struct evaluate_request *q, struct serve *other,
                    struct answers_kept *own, struct evaluate_result *r, struct err *e)
{
    const struct criterion c = serve_criterion(&r->serve);
    bool raw = false;
    for (size_t i = 0; i < r->gate_count; i++)
        raw |= r->gates[i].compares && r->gates[i].metric == &metric_loss;
    if (raw && r->by_count) {
        err_set(e, ERR_OPTION_CONFLICT, "--by COLUMN, and --better-than by the loss that is "
                                        "trained, need different answers");
        return err_help(e, "name a metric for the comparison: --on %s",
                        metric_default(r->serve.schema->task)->name);
    }
    r->tally = tally_for(&r->serve, &c);
    const bool keeps = other || r->by_count || q->keep;
    if (!measure_all(q, &r->serve, r->tally, keeps ? own : NULL, raw, r, e))
        return false;
    metrics_of(r->tally, &r->metrics);
    metrics_intervals(r->tally, &r->metrics);
    for (size_t i = 0; i < r->gate_count; i++)
        if (!r->gates[i].compares)
            gate_judge(&r->gates[i], &r->metrics, r->tally);
    if (!measure_by(r, own, e))
        return false;
    if (r->tally->classes == 2)
        lift_of(&r->tally->rank, r->lift);
    rank_free(&r->tally->rank); /* the other model's rows take its place */
    r->passed = true;
    for (size_t i = 0; i < r->gate_count; i++) {
        struct gate *g = &r->gates[i];
        if (g->compares && !compare(q, other, own, g, e))
            return false;
        r->passed = r->passed && g->pass;
    }
    return true;
}

/* From the config that the model holds as a record; costs of no use there are none. */
static void read_costs(struct evaluate_result *r)
{
    const struct json_doc *config = r->serve.file->config;
    const struct json *v = config ? json_path(json_root(config), "threshold.costs") : NULL;
    const struct json *fp = v ? json_get(v, "fp") : NULL, *fn = v ? json_get(v, "fn") : NULL;
    if (fp && fn && json_kind(fp) == JSON_NUMBER && json_kind(fn) == JSON_NUMBER) {
        r->fp = json_number(fp);
        r->fn = json_number(fn);
    }
}

/* The other model, before hours of rows are measured in vain. It borrows `held`. */
static bool open_other(const struct evaluate_request *q, struct serve *other,
                       struct evaluate_result *r, struct err *e)
{
    struct rows_request rows = q->rows;
    rows.model = q->better_than;
    rows.part = NULL;
    if (!serve_open(other, &rows, JOB_EVALUATE, e) || !serve_take(other, &rows, e) ||
        !evaluate_comparable(&r->serve, other, q, e) || !evaluate_regions(q, other, r, e))
        return false;
    evaluate_common(q, other, r);
    other->held = r->serve.held;
    return true;
}

bool evaluate_run(const struct evaluate_request *q, struct evaluate_result *r, struct err *e)
{
    *r = (struct evaluate_result){0};
    stop_phase("evaluate", true);
    if (!serve_open(&r->serve, &q->rows, JOB_EVALUATE, e) ||
        !evaluate_gates(q, r, e))
        return false;
    if (!serve_threshold(&r->serve, q->threshold, e) ||
        !serve_take(&r->serve, &q->rows, e))
        return false;
    read_costs(r);
    r->by = mem_zero(q->group_count + 1, sizeof *r->by);
    for (; r->by_count < q->group_count; r->by_count++)
        by_open(&r->by[r->by_count], q->groups[r->by_count]);
    struct answers_kept own = {0};
    if (!q->better_than) {
        bool measured = measure(q, NULL, q->keep ? q->keep : &own, r, e);
        answers_free(&own);
        return measured;
    }
    struct serve other = {0};
    bool good = open_other(q, &other, r, e) && measure(q, &other, &own, r, e);
    other.held = (struct held){.count = 0};
    answers_free(&own);
    serve_close(&other);
    return good;
}

void evaluate_release(struct evaluate_result *r)
{
    for (size_t i = 0; i < r->gate_count; i++)
        gate_release(&r->gates[i]);
    mem_free(r->gates);
    for (size_t i = 0; i < r->by_count; i++)
        by_free(&r->by[i]);
    mem_free(r->by);
    tally_free(r->tally);
    drift_free(r->drift);
    serve_close(&r->serve);
    memset(r, 0, sizeof *r);
}
