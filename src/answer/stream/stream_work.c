/* stream_work.c - see stream_work.h. Parsing and scaling go tile by tile over the pool. */
#include "answer/stream/stream_work.h"

#include <math.h>
#include <string.h>

#include "answer/stream/stream_input.h"
#include "answer/stream/stream_wait.h"
#include "base/mem.h"
#include "base/process/thread.h"
#include "table/schema/record.h"
#include "table/sequence/order.h"

#define LOOKED_ALL 16384 /* the first rows, which are all looked up in the fingerprint */

/* --- rows that cannot be read --- */

/* The name of the column of an error, or "". */
static const char *column_named(const struct stream *t, const struct csv_block *b,
                                const struct csv_cells *cells, const struct csv_record *r,
                                const struct err *why)
{
    if (!cells || why->column == 0)
        return "";
    for (uint32_t i = 0; i < r->cells && i < t->binding.cells; i++) {
        int64_t line, column;
        csv_place(b, r, cells, i, &line, &column);
        if (line == why->line && column == why->column)
            return t->names[i];
    }
    return "";
}

/* Counts a bad row of input `at` and adds it to the rejects. False: it ends the stream. */
static bool add_bad(struct stream *t, size_t at, const struct err *why, const char *column,
                    const char *raw, size_t length, struct err *e)
{
    t->bad_rows++;
    if (t->bad_rows == 1) {
        t->first_bad = *why;
        t->alike = true;
    }
    t->alike &= why->id == t->first_bad.id;
    if (t->request.on_bad_row == BAD_ROW_STOP) {
        *e = *why;
        if (t->request.strict)
            return false;
        return err_help(e, "%s%s--on-bad-row skip%s goes on without such rows%s", why->help,
                        *why->help ? "; or " : "", t->request.labelled ? "" : " (or null)",
                        t->request.labelled ? "" : ", and --rejects FILE lists them");
    }
    const char *file = t->request.input_count ? t->request.inputs[at] : "-";
    if (t->reject && !reject_add(t->reject, why, column, raw, length, at, file, e))
        return false;
    int64_t most = t->request.max_bad_rows;
    if (most >= 0 && t->bad_rows > (uint64_t)most) {
        err_at(e, ERR_BAD_ROWS, why->file, why->line, why->column,
               "more than %lld row%s cannot be read; the last one: %s", (long long)most,
               most == 1 ? "" : "s", why->what);
        return t->reject ? err_help(e, "raise --max-bad-rows, or mend the rows listed in \"%s\"",
                                    text_quote_z(t->request.rejects))
                         : err_help(e, "raise --max-bad-rows, or mend the rows that --rejects "
                                       "FILE lists");
    }
    return true;
}

/* The first bad row has a wrong number of cells. Prepares the error for a file in which every row
 * has. */
static void check_form(struct work *w, const struct csv_record *r, const char *path, int64_t line)
{
    struct stream *t = w->t;
    const struct csv_cell *first = w->cells->cells + r->first_cell;
    if (csv_check_delimiter(&t->dialect, w->block, r, first, &t->other_form))
        stream_width(t, path, line, r->cells, &t->other_form);
}

/* --- a group --- */

/* Counts which of rows begin .. end - 1 of encoder 0, raw, the model knows. In a large file, after
 * the first rows, one row in eight is looked up. */
static void look_rows(struct work *w, const unsigned char *records, size_t begin, size_t end,
                      unsigned thread)
{
    const struct stream *t = w->t;
    const size_t step = t->rows < LOOKED_ALL ? 1 : 8;
    uint64_t key;
    for (size_t i = begin; i < end; i += step)
        if (!w->now.bad[i] &&
            row_key_read(t->keys, &t->binding, w->cells, w->now.first + i,
                         records + i * t->encoder->format.stride, &key))
            fingerprint_look(t->serve->file->known, key, &w->lookups[thread]);
}

/* True: the record has weight 0, and the request skips such records unread. */
static bool counts_nothing(const struct work *w, size_t record)
{
    const struct stream *t = w->t;
    return t->request.weighed && !w->series &&
           cell_weightless(t->schema, &t->binding, w->cells, record);
}

/* Parses rows begin..end - 1 as raw records of encoder k. Drift is counted for encoder 0; the
 * others have the same numbers. */
static void parse_rows(struct work *w, uint32_t k, size_t begin, size_t end, unsigned thread)
{
    const struct encoder *c = w->t->serve->encoders[k];
    size_t stride = c->format.stride;
    unsigned char *records = w->now.records + k * w->now.rows * w->t->serve->stride;
    struct drift *drift = k ? NULL : w->drift[thread];
    for (size_t i = begin; i < end; i++) {
        unsigned char *record = records + i * stride;
        const struct raw_record raw = {
            w->t->encoder, w->now.records + i * w->t->encoder->format.stride};
        bool counts = !w->series || (i >= w->count_from && i < w->count_to);
        bool good = !counts_nothing(w, w->now.first + i) &&
                    cell_parse(c, &w->t->binding, w->block, w->cells, w->now.first + i,
                               w->t->request.labelled, k ? &raw : NULL, record,
                               counts ? drift : NULL, &w->terms[thread], &w->error[thread]);
        w->now.bad[i] = !good || (k && w->now.bad[i]);
        if (!good) { /* zeros go through the network */
            memset(record, 0, stride);
            err_clear(&w->error[thread]);
        }
        if (drift && counts)
            drift_row(drift);
    }
    size_t from = begin, to = end; /* the rows that are counted */
    if (w->series) {
        from = w->count_from > begin ? w->count_from : begin;
        to = w->count_to < end ? w->count_to : end;
    }
    if (drift && from < to)
        drift_places(drift, c, records + from * stride, w->now.bad + from, to - from);
    if (k == 0 && w->t->keys)
        look_rows(w, records, from, to, thread);
}

static void parse_tile(void *context, unsigned tile, unsigned thread)
{
    struct work *w = context;
    size_t begin = (size_t)tile * w->t->tile, end = begin + w->t->tile;
    end = end > w->now.rows ? w->now.rows : end;
    for (uint32_t k = 0; k < w->t->serve->encoder_count; k++)
        parse_rows(w, k, begin, end, thread);
    for (uint32_t k = 0; k < w->t->serve->encoder_count; k++) {
        const struct encoder *c = w->t->serve->encoders[k];
        unsigned char *records = w->now.records + k * w->now.rows * w->t->serve->stride;
        encoder_apply(c, records + begin * c->format.stride, end - begin);
    }
}

/* The answers of all members to row i of the part. */
static bool finite_answer(const struct serve *s, const struct stream_part *p, size_t i)
{
    for (uint32_t m = 0; m < s->member_count; m++)
        for (uint32_t o = 0; o < s->outputs; o++)
            if (!isfinite(p->logits[(m * p->rows + i) * s->outputs + o]))
                return false;
    return true;
}

/* Why record i of the part has no answer. Parses it again, for the error and to undo its counts. */
static void reason(struct work *w, const struct stream_part *p, size_t i, struct err *why)
{
    const struct schema *s = w->t->schema;
    const struct csv_record *r = &w->cells->records[p->first + i];
    err_clear(why);
    unsigned char *record = mem_zero(1, w->t->serve->stride);
    struct series_step step;
    bool good = r->cells != w->t->binding.cells || !w->series ||
                series_step_read(s, &w->t->binding, w->block, w->cells, p->first + i, &step, why);
    const bool placed = good;
    for (uint32_t k = w->t->serve->encoder_count; good && k-- > 0;)
        good = cell_parse(w->t->serve->encoders[k], &w->t->binding, w->block, w->cells,
                          p->first + i, w->t->request.labelled, NULL, record,
                          k ? NULL : w->undone, w->terms, why);
    if (good) {
        err_at(why, ERR_ANSWER_FINITE, w->block->path, r->line, 0,
               "the answer to this row is not a finite number");
        err_help(why, "look for values far outside the range that the model was trained on");
    }
    if (!placed)
        cell_parse(w->t->encoder, &w->t->binding, w->block, w->cells, p->first + i,
                   w->t->request.labelled, NULL, record, w->undone, w->terms, &(struct err){0});
    mem_free(record);
    /* another thread may have counted it; the sum over the threads is right */
    drift_undo(w->drift[0], w->undone, s->column_count);
}

/* Counts record i of the part, which has no answer. */
static bool count_bad(struct work *w, const struct stream_part *p, size_t i, struct err *e)
{
    struct stream *t = w->t;
    struct err why = {0};
    const struct csv_record *r = &w->cells->records[p->first + i];
    if (counts_nothing(w, p->first + i)) {
        t->weightless++;
        return true;
    }
    reason(w, p, i, &why);
    if (why.id == ERR_CSV_LABEL_MISSING) {
        t->unlabelled++;
        return true;
    }
    int64_t line;
    const size_t at = work_origin(w, p->first + i, &line);
    if (!t->bad_rows && why.id == ERR_CSV_RAGGED)
        check_form(w, r, input_name(t, at), line);
    const char *column = column_named(t, w->block, w->cells, r, &why);
    if (w->origins.count) { /* the block is of another input, or of all */
        err_in_file(&why, input_name(t, at));
        why.line += line - r->line;
    }
    return add_bad(t, at, &why, column, w->block->bytes + r->offset, r->bytes, e);
}

/* For wide sequences: true if the record has any step. */
static bool has_step(const struct work *w, size_t record)
{
    const struct schema *s = w->t->schema;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct csv_cell *c = s->columns[i].number == UINT32_MAX
                                       ? NULL
                                       : cell_at(&w->t->binding, w->cells, record, i);
        if (c && !cell_is_missing(s, i, c->text, c->length))
            return true;
    }
    return false;
}

/* Gives the answers of a part to the sink; rows without an answer are counted first. */
static bool deliver(struct work *w, struct stream_part *p, const struct stream_sink *sink,
                    struct err *e)
{
    struct stream *t = w->t;
    for (size_t i = 0; i < p->rows; i++) {
        if (!p->bad[i] && finite_answer(t->serve, p, i)) {
            t->stepless += t->schema->steps && !has_step(w, p->first + i);
            continue;
        }
        p->bad[i] = true;
        if (!count_bad(w, p, i, e))
            return false;
    }
    t->rows += p->rows;
    struct stream_group g = {.cells = w->cells,
                             .first = p->first,
                             .rows = p->rows,
                             .bad = p->bad,
                             .records = p->records,
                             .logits = p->logits,
                             .origins = &w->origins};
    return sink->group(sink->context, &g, e);
}

/* --- sequences of records --- */

void work_parse(struct work *w, size_t begin, size_t end)
{
    w->count_from = begin;
    w->count_to = end;
    threads_run((unsigned)((w->now.rows + w->t->tile - 1) / w->t->tile), parse_tile, w);
}

static bool has_target(const struct work *w, size_t i)
{
    const struct rowfmt *f = &w->t->encoder->format;
    const unsigned char *record = w->now.records + i * f->stride;
    if (w->t->schema->task == TASK_REGRESSION)
        return !isnan(record_float(record, f->at_target));
    return record_int(record, f->at_target) >= 0;
}

/* The records without their first ones, for the sink. */
static struct stream_group from(struct work *w, size_t begin, size_t end)
{
    struct stream_part *p = &w->now;
    const struct serve *v = w->t->serve;
    for (uint32_t m = 0; m < v->member_count; m++) /* [members][delivered records] */
        memmove(p->logits + (size_t)m * (end - begin) * v->outputs,
                p->logits + ((size_t)m * p->rows + begin) * v->outputs,
                (end - begin) * v->outputs * sizeof *p->logits);
    return (struct stream_group){.cells = w->cells,
                                 .first = p->first + begin,
                                 .rows = end - begin,
                                 .bad = p->bad + begin,
                                 .records = p->records + begin * w->t->encoder->format.stride,
                                 .logits = p->logits,
                                 .origins = &w->origins};
}

bool work_deliver(struct work *w, size_t begin, size_t end, const bool *line, const bool *broken,
                  const struct stream_sink *sink, struct err *e)
{
    struct stream *t = w->t;
    struct stream_part *p = &w->now;
    const bool each = t->schema->windows.label == LABEL_ROW;
    p->samples = 0;
    for (size_t i = begin; i < end; i++) {
        bool counted = p->bad[i];
        if (counted && !count_bad(w, p, i, e))
            return false;
        p->bad[i] = counted || broken[i] || !line[i];
        if (line[i] && !p->bad[i] && !finite_answer(t->serve, p, i)) {
            p->bad[i] = true;
            if (!count_bad(w, p, i, e))
                return false;
        }
        if (line[i] && !p->bad[i] && t->request.labelled && !has_target(w, i)) {
            p->bad[i] = true;
            if (cell_weightless(t->schema, &t->binding, w->cells, p->first + i))
                t->weightless++;
            else
                t->unlabelled++;
        }
        t->answers += line[i] && !p->bad[i];
        if (!each && line[i])
            p->sample[++p->samples] = (uint32_t)(i + 1 - begin);
    }
    t->rows += end - begin;
    if (begin == end)
        return true;
    struct stream_group g = from(w, begin, end);
    g.sample = each ? NULL : p->sample;
    g.samples = p->samples;
    return sink->group(sink->context, &g, e);
}

bool work_finish(struct work *w, const struct stream_sink *sink, struct err *e)
{
    bool computed = w->computes;
    w->computes = false;
    return !computed || (serve_end(w->t->serve, e) && deliver(w, &w->before, sink, e));
}

/* Lets the device answer w->now, and delivers the part before. The two parts swap. After a failure
 * no later part is delivered. */
static bool compute(struct work *w, const struct stream_sink *sink, struct err *e)
{
    struct serve *s = w->t->serve;
    bool other = w->computes;
    if (other && !serve_end(s, e)) {
        w->computes = false;
        return false;
    }
    serve_begin(s, w->now.records, w->now.rows, w->now.logits);
    struct stream_part before = w->before;
    w->before = w->now;
    w->now = before;
    w->computes = true;
    struct err unused = {0};
    if (!other || deliver(w, &w->now, sink, e))
        return true;
    serve_end(s, &unused); /* the device still writes into its memory */
    w->computes = false;
    return false;
}

bool work_group(struct work *w, const struct stream_sink *sink, struct err *e)
{
    struct stream *t = w->t;
    struct stream_part *p = &w->now;
    threads_run((unsigned)((p->rows + t->tile - 1) / t->tile), parse_tile, w);
    if (w->before.records)
        return compute(w, sink, e);
    return serve_answer(t->serve, p->records, p->rows, p->logits, e) &&
           deliver(w, p, sink, e);
}

bool work_broken(struct work *w, const struct stream_sink *sink, struct err *e)
{
    static const bool bad = true;
    const struct csv_cells *cells = w->cells;
    const char *raw = w->block->bytes + cells->error_offset;
    size_t length = (size_t)(cells->resume_offset - cells->error_offset);
    while (length && (raw[length - 1] == '\n' || raw[length - 1] == '\r'))
        length--;
    w->t->rows++;
    struct stream_group g = {.rows = 1, .bad = &bad, .records = w->now.records,
                             .logits = w->now.logits};
    return add_bad(w->t, w->t->at, &cells->error, "", raw, length, e) &&
           sink->group(sink->context, &g, e);
}
