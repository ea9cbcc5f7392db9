/* predict.c - the story of one prediction: model, inputs, output, rows, summary. */
#include "answer/stream/predict.h"

#include <stdio.h>
#include <string.h>

#include "answer/stream/answer_line.h"
#include "base/clock.h"
#include "base/file/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/process/thread.h"
#include "choose/memory.h"
#include "config/output.h"
#include "csv/reject.h"

struct writer {
    const struct predict_request *q;
    struct stream *stream;
    bool by_sample; /* a line a sample, else a line a record */
    struct answer_line line;
    struct outfile out;
    double *probability; /* [group][classes] */
    uint32_t classes; /* 0: regression */
    const struct stream_group *group;
    _Atomic uint64_t held[2]; /* values at the low and at the high end of the model's range */
    struct text *texts; /* one a tile */
    size_t text_count;
};

/* --- a group: its lines are made tile by tile and written in order --- */

static uint64_t lines_of(const struct writer *w, const struct stream_group *g)
{
    return w->by_sample ? group_samples(g) : g->rows;
}

/* The record that a line is of. */
static uint64_t record_of(const struct writer *w, const struct stream_group *g, uint64_t line)
{
    return w->by_sample ? group_last(g, line) : line;
}

static void add_line(struct writer *w, const struct answer_mean *mean, uint64_t i,
                     struct text *out)
{
    const struct stream_group *g = w->group;
    const double *probability = w->probability + i * (w->classes ? w->classes : 1);
    double values[QUANTILES_MOST] = {0};
    if (!w->classes)
        answer_mean_values(mean, i, values);
    const double value = values[mean->middle];
    int held = w->classes ? 0 : answer_mean_held(mean, i);
    if (held)
        w->held[held > 0]++;
    const uint32_t label =
        w->classes ? decision_label(w->line.decision, probability, w->classes) : 0;
    double ends[2];
    answer_line_add(&w->line, g->cells, g->first + i, w->classes ? probability : values, out);
    if (w->line.region == ANSWER_INTERVAL) {
        answer_mean_interval(mean, i, value, ends);
        answer_line_ends(&w->line, ends, out);
    }
    if (w->line.region == ANSWER_SET)
        answer_line_set(&w->line, mean->conformal, probability, label, out);
    if (w->q->uncertainty)
        answer_line_more(&w->line,
                         w->classes ? answer_mean_spread(mean, i, w->classes, probability, label)
                                    : answer_mean_value_spread(mean, i, value),
                         out);
}

static void write_tile(void *context, unsigned tile, unsigned thread)
{
    struct writer *w = context;
    const struct stream_group *g = w->group;
    struct answer_mean mean = serve_mean(w->stream->serve, g->logits, g->rows);
    struct text *out = &w->texts[tile];
    uint64_t begin = (uint64_t)tile * w->stream->tile, end = begin + w->stream->tile;
    uint64_t lines = lines_of(w, g);
    uint32_t width = w->classes ? w->classes : 1;
    (void)thread;
    text_clear(out);
    if (end > lines)
        end = lines;
    if (w->classes) {
        uint64_t from = record_of(w, g, begin), to = record_of(w, g, end - 1) + 1;
        answer_mean_probabilities(&mean, from, to, width, w->probability + from * width);
    }
    for (uint64_t line = begin; line < end; line++) {
        uint64_t i = record_of(w, g, line);
        if (!g->bad[i])
            add_line(w, &mean, i, out);
        else if (w->q->rows.on_bad_row == BAD_ROW_NULL)
            answer_line_null(&w->line, g->cells, g->first + i, out);
    }
}

static bool write_group(void *context, const struct stream_group *g, struct err *e)
{
    struct writer *w = context;
    unsigned tiles = (unsigned)((lines_of(w, g) + w->stream->tile - 1) / w->stream->tile);
    if (!w->texts) {
        uint32_t width = w->classes ? w->classes : 1;
        w->text_count = (w->stream->room + w->stream->tile - 1) / w->stream->tile;
        w->texts = mem_zero(w->text_count, sizeof *w->texts);
        w->probability = mem_alloc(w->stream->room * width, sizeof *w->probability);
    }
    w->group = g;
    threads_run(tiles, write_tile, w);
    for (unsigned i = 0; i < tiles; i++)
        if (w->texts[i].length && !outfile_write(&w->out, w->texts[i].data, w->texts[i].length, e))
            return false;
    return true;
}

static bool next_input(void *context, struct err *e)
{
    struct writer *w = context;
    return answer_line_turn(&w->line, &w->stream->in.binding, e);
}

/* Before a wait for more rows: writes the answers so far, as the sender may wait for them; false if
 * a signal asks to end. */
static bool while_idle(void *context, struct err *e)
{
    struct writer *w = context;
    return (!w->out.open || w->out.temp || outfile_flush(&w->out, e)) && !stream_stopped(e);
}

/* --- the story --- */

static bool check_output(const char *what, const char *output, const struct predict_request *q,
                         struct err *e)
{
    if (!output)
        return true;
    bool named = strcmp(output, "-") != 0; /* cli has tested standard output */
    if (named && file_same(output, q->rows.model))
        return err_set(e, ERR_SAME_FILE, "%s \"%s\" is the model file", what, text_quote_z(output));
    for (size_t i = 0; i < q->rows.input_count; i++)
        if (named && strcmp(q->rows.inputs[i], "-") != 0 && file_same(output, q->rows.inputs[i]))
            return err_set(e, ERR_SAME_FILE, "%s \"%s\" is one of the inputs", what,
                           text_quote_z(output));
    bool piped = q->rows.input_count == 0;
    for (size_t i = 0; i < q->rows.input_count; i++)
        piped |= strcmp(q->rows.inputs[i], "-") == 0;
    if (piped && file_is_input(output))
        return err_set(e, ERR_SAME_FILE, "%s \"%s\" is the file that standard input reads", what,
                       text_quote_z(output));
    return true;
}

static bool check_request(const struct predict_request *q, struct err *e)
{
    if (!check_output("the output", q->output, q, e) ||
        !check_output("the file of --rejects", q->rows.rejects, q, e))
        return false;
    if (q->rows.rejects && (file_same(q->rows.rejects, q->output) ||
                       (file_is_output(q->rows.rejects) && file_is_output(q->output))))
        return err_set(e, ERR_SAME_FILE, "--rejects and the output are both \"%s\"",
                       text_quote_z(q->rows.rejects));
    if (q->rows.rejects && !file_is_ours(q->rows.rejects, REJECT_BEGIN, "a list of bad rows by dnn",
                                      "choose another file for --rejects", e))
        return false;
    if (!output_spares(q->output, e))
        return false;
    size_t pipes = 0;
    for (size_t i = 0; i < q->rows.input_count; i++)
        pipes += strcmp(q->rows.inputs[i], "-") == 0;
    if (pipes > 1)
        return err_set(e, ERR_USAGE, "standard input (-) is given %zu times", pipes);
    return true;
}

/* The machine failed, not the rows before: on a stream their answers stay, all of them. */
static void keep_answered(struct writer *w, struct err *e)
{
    struct err late = {0};
    bool stay = w->out.open && !w->out.temp && outfile_flush(&w->out, &late);
    char advice[sizeof e->help];
    snprintf(advice, sizeof advice, "%s", e->help);
    err_help(e, "the answers to the first %llu rows %s; start again%s%s%s",
             (unsigned long long)w->stream->rows, stay ? "are written" : "are dropped",
             stay ? " with the rows behind them" : "", *advice ? "; " : "", advice);
}

/* Removes temporary files of killed runs beside the outputs. */
static void sweep(const struct predict_request *q)
{
    unsigned stale = outfile_sweep(q->output, NULL);
    stale += q->rows.rejects ? outfile_sweep(q->rows.rejects, NULL) : 0;
    if (stale)
        log_note("%u temporary file%s of a run that was killed removed", stale,
                 stale > 1 ? "s" : "");
}

/* Too many rows cannot be read: writes the list of them, though there are no answers. */
static void keep_rejects(struct writer *w)
{
    struct err late = {0};
    if (!stream_prepare(w->stream, &late) || !stream_commit(w->stream, &late))
        log_warning("\"%s\" could not be written: %s", text_quote_z(w->q->rows.rejects), late.what);
}

static bool answer_all(struct writer *w, struct err *e)
{
    const struct predict_request *q = w->q;
    struct text header = {0};
    const struct conformal *c = &w->stream->serve->file->conformal;
    const int region = c->rule == CONFORMAL_SETS     ? ANSWER_SET
                       : conformal_is_interval(c) ? ANSWER_INTERVAL
                                                  : ANSWER_ALONE;
    bool good = answer_line_open(&w->line, w->stream->encoder, region, &w->stream->in.binding,
                                 q->passthrough, q->rows.tsv, q->null_text, e);
    w->line.uncertainty = q->uncertainty;
    w->line.decision = &w->stream->serve->decision;
    w->line.top = q->top;
    good = good && answer_line_header(&w->line, &w->stream->in.binding, &header, e) &&
           outfile_open(&w->out, q->output, e);
    if (good)
        sweep(q);
    if (good && !q->rows.no_header)
        good = outfile_write(&w->out, header.data, header.length, e);
    good = good && stream_run(w->stream, e);
    if (!good && (e->id == ERR_MACHINE_FAULT || (e->id == ERR_GPU_MEMORY && w->stream->rows)))
        keep_answered(w, e);
    if (!good && e->id == ERR_BAD_ROWS && w->q->rows.rejects)
        keep_rejects(w);
    /* both or none, but for a rename that fails; the answers' own name appears last */
    good = good && stream_prepare(w->stream, e) && outfile_prepare(&w->out, e) &&
           stream_commit(w->stream, e);
    good = outfile_end(&w->out, good, e);
    text_free(&header);
    return good;
}

/* Values that the range of the target held. */
static void note_held(const struct predict_result *r)
{
    const struct calibration *c = &r->serve.file->calibration;
    const double ends[2] = {c->low, c->high};
    for (int i = 0; i < 2; i++)
        if (r->held[i])
            log_note("%llu of %llu answers are %s, %s that the training rows had: without this "
                     "limit of the model they would be %s", (unsigned long long)r->held[i],
                     (unsigned long long)r->answers, text_figure(ends[i], 6),
                     i ? "the most" : "the least", i ? "above" : "below");
}

static bool predict_opened(const struct predict_request *q, struct predict_result *r, struct err *e)
{
    struct stream stream = {0};
    struct rows_request rows = q->rows;
    const struct schema *s = r->serve.schema;
    struct writer w = {.q = q,
                       .stream = &stream,
                       .by_sample = schema_answers_windows(s),
                       .classes = s->task == TASK_REGRESSION ? 0 : r->serve.outputs};
    const struct stream_sink sink = {
        .group = write_group, .input = next_input, .idle = while_idle, .context = &w};
    double began = clock_now();
    rows.passthrough = q->passthrough != NULL;
    for (size_t i = 0; q->null_text && *q->null_text && i < r->serve.encoder_count; i++)
        opt_strings_add(&r->serve.encoders[i]->schema->missing, q->null_text);
    bool good = stream_open(&stream, &r->serve, &rows, &sink, e) && answer_all(&w, e);
    r->predict_s = clock_now() - began;
    r->rows = stream.rows;
    r->bad_rows = stream.bad_rows;
    r->answers = stream.answers;
    r->held[0] = w.held[0];
    r->held[1] = w.held[1];
    if (good)
        note_held(r);
    r->drift = stream.drift;
    stream.drift = NULL;
    for (size_t i = 0; i < w.text_count; i++)
        text_free(&w.texts[i]);
    mem_free(w.texts);
    mem_free(w.probability);
    answer_line_close(&w.line);
    stream_close(&stream);
    return good;
}

/* The share of answered rows with a category or a number beyond the training. */
static double unseen_share(const struct predict_result *r)
{
    uint64_t answers = r->rows - r->bad_rows;
    return answers ? (double)r->drift->unseen / (double)answers : 0;
}

static bool check_top(const struct predict_request *q, const struct serve *s, struct err *e)
{
    if (q->top && s->schema->task == TASK_REGRESSION)
        return err_set(e, ERR_OPTION_CONFLICT, "--top is for classes, and this model answers with "
                                               "a number");
    return q->top <= s->outputs ||
           err_set(e, ERR_OPTION_VALUE, "--top: this model has %u labels: K is at most %u",
                   s->outputs, s->outputs);
}

/* One network differs from no other one. */
static bool check_uncertainty(const struct predict_request *q, const struct serve *s,
                              struct err *e)
{
    if (!q->uncertainty || s->member_count > 1)
        return true;
    err_at(e, ERR_ONE_NETWORK, q->rows.model, 0, 0, "--uncertainty is the spread of the networks "
           "of an ensemble, and this model is one network");
    return err_help(e, "train with `ensemble.folds` 5, say; or with `%s` 0.9 (dnn help conformal)",
                    s->schema->task == TASK_REGRESSION ? "intervals" : "sets");
}

static bool read_gates(const struct predict_request *q, struct predict_result *r, struct err *e)
{
    r->gates = mem_zero(q->require_count + 1, sizeof *r->gates);
    for (size_t i = 0; i < q->require_count; i++, r->gate_count++)
        if (!gate_read_name(&r->gates[i], q->require[i], "unseen", e))
            return false;
    return true;
}

static void judge_gates(struct predict_result *r)
{
    r->passed = true;
    for (size_t i = 0; i < r->gate_count; i++) {
        gate_measure(&r->gates[i], unseen_share(r));
        r->passed = r->passed && r->gates[i].pass;
    }
}

bool predict_run(const struct predict_request *q, struct predict_result *r, struct err *e)
{
    double began = clock_now();
    *r = (struct predict_result){0};
    stop_phase("predict", true);
    if (!check_request(q, e) || !read_gates(q, r, e) ||
        !serve_open(&r->serve, &q->rows, JOB_PREDICT, e))
        return false;
    r->load_s = clock_now() - began;
    if (!serve_threshold(&r->serve, q->threshold, e) || !check_top(q, &r->serve, e) ||
        !check_uncertainty(q, &r->serve, e) || !serve_take(&r->serve, &q->rows, e))
        return false;
    bool good = predict_opened(q, r, e);
    r->total_s = clock_now() - began;
    if (good) {
        judge_gates(r);
        uint64_t answers = r->answers;
        log_line("%s: predicted %llu row%s, %llu answer%s", r->serve.backend.used,
                 (unsigned long long)r->rows, r->rows == 1 ? "" : "s",
                 (unsigned long long)answers, answers == 1 ? "" : "s");
    }
    return good;
}

static void write_counts(const struct schema *s, const uint64_t *counts, const char *key,
                         struct json_out *out)
{
    json_open(out, key, '{');
    for (size_t i = 0; i < s->column_count; i++)
        if (counts[i])
            json_put_int(out, s->columns[i].name, (int64_t)counts[i]);
    json_close(out, '}');
}

void predict_write(const struct predict_result *r, struct json_out *out)
{
    const struct schema *s = r->serve.schema;
    json_open(out, NULL, '{');
    json_put_string(out, "schema", "dnn.predict/1");
    json_put_int(out, "rows", (int64_t)r->rows);
    json_put_int(out, "bad_rows", (int64_t)r->bad_rows);
    write_counts(s, r->drift->unknown, "unknown_categories", out);
    write_counts(s, r->drift->rare, "rare_categories", out);
    write_counts(s, r->drift->outside, "outside_range", out);
    json_put_number(out, "unseen", unseen_share(r));
    if (r->serve.file->calibration.limited) {
        json_open(out, "limited", '{');
        json_put_int(out, "low", (int64_t)r->held[0]);
        json_put_int(out, "high", (int64_t)r->held[1]);
        json_close(out, '}');
    }
    drift_write(r->drift, r->serve.encoders[0], out);
    gates_write(r->gates, r->gate_count, out);
    json_open(out, "seconds", '{');
    json_put_number(out, "load", r->load_s);
    json_put_number(out, "predict", r->predict_s);
    json_put_number(out, "total", r->total_s);
    json_close(out, '}');
    select_write(&r->serve.backend, "backend", out);
    memory_write("memory", out);
    json_close(out, '}');
}

void predict_release(struct predict_result *r)
{
    for (size_t i = 0; i < r->gate_count; i++)
        gate_release(&r->gates[i]);
    mem_free(r->gates);
    if (r->drift)
        drift_free(r->drift);
    serve_close(&r->serve);
    memset(r, 0, sizeof *r);
}
