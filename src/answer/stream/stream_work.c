/* stream_work.c - see stream_work.h. Parsing and scaling go tile by tile over the pool. */
#include "answer/stream/stream_work.h"

#include <math.h>
#include <string.h>

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
    for (uint32_t i = 0; i < r->cells && i < t->in.binding.cells; i++) {
        int64_t line, column;
        csv_place(b, r, cells, i, &line, &column);
        if (line == why->line && column == why->column)
            return t->in.names[i];
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
    if (t->reject && !reject_add(t->reject, why, column, raw, length, file, e))
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
static void check_form(struct work *w, const struct csv_block *b, const struct csv_record *r)
{
    struct stream *t = w->t;
    const struct csv_cell *first = w->cells->cells + r->first_cell;
    if (csv_check_delimiter(&t->dialect, b, r, first, &t->other_form))
        stream_width(t, b->path, r->line, r->cells, &t->other_form);
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
            row_key_read(t->keys, &t->in.binding, w->cells, w->now.first + i,
                         records + i * t->encoder->format.stride, &key))
            fingerprint_look(t->serve->file->known, key, &w->hands[thread].lookups);
}

/* True: the record has weight 0, and the request skips such records unread. */
static bool counts_nothing(const struct work *w, size_t record)
{
    const struct stream *t = w->t;
    return t->request.weighed && !w->series &&
           cell_weightless(t->schema, &t->in.binding, w->cells, record);
}

/* Parses rows begin..end - 1 as raw records of encoder k. Drift is counted for encoder 0; the
 * others have the same numbers. */
static void parse_rows(struct work *w, uint32_t k, size_t begin, size_t end, unsigned thread)
{
    const struct encoder *c = w->t->serve->encoders[k];
    size_t stride = c->format.stride;
    unsigned char *records = w->now.records + k * w->now.rows * w->t->serve->stride;
    struct hand *hand = &w->hands[thread];
    struct drift *drift = k ? NULL : hand->drift;
    for (size_t i = begin; i < end; i++) {
        unsigned char *record = records + i * stride;
        const struct raw_record raw = {
            w->t->encoder, w->now.records + i * w->t->encoder->format.stride};
        const size_t at = w->now.first + i;
        const bool counts = i >= w->count_from && i < w->count_to;
        const bool good = !counts_nothing(w, at) &&
                          cell_parse(c, &w->t->in.binding, work_block(w, at), w->cells, at,
                                     w->t->request.labelled, k ? &raw : NULL, record,
                                     counts ? drift : NULL, &hand->terms, &hand->error);
        w->now.bad[i] = !good || (k && w->now.bad[i]);
        if (!good) { /* zeros go through the network */
            memset(record, 0, stride);
            err_clear(&hand->error);
        }
        if (drift && counts)
            drift_row(drift);
    }
    const size_t from = w->count_from > begin ? w->count_from : begin;
    const size_t to = w->count_to < end ? w->count_to : end;
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

/* Why a record has no answer. Parses it again, for the error and to undo its counts. */
static void reason(struct work *w, size_t at, struct err *why)
{
    const struct stream *t = w->t;
    const struct schema *s = t->schema;
    const struct csv_block *block = work_block(w, at);
    const struct csv_record *r = &w->cells->records[at];
    unsigned char *record = mem_zero(1, t->serve->stride);
    struct series_step step;
    struct err unused = {0};
    const bool placed = r->cells != t->in.binding.cells || !w->series ||
                        series_step_read(s, &t->in.binding, block, w->cells, at, &step, why);
    bool good = true;
    for (uint32_t k = placed ? t->serve->encoder_count : 1; good && k-- > 0;)
        good = cell_parse(t->serve->encoders[k], &t->in.binding, block, w->cells, at,
                          t->request.labelled, NULL, record, k ? NULL : w->undone,
                          &w->hands->terms, placed ? why : &unused);
    if (good && placed) {
        err_at(why, ERR_ANSWER_FINITE, block->path, r->line, 0,
               "the answer to this row is not a finite number");
        err_help(why, "look for values far outside the range that the model was trained on");
    }
    mem_free(record);
    /* another thread may have counted it; the sum over the threads is right */
    drift_undo(w->hands->drift, w->undone, s->column_count);
}

bool work_count_bad(struct work *w, size_t record, struct err *e)
{
    struct stream *t = w->t;
    struct err why = {0};
    const struct csv_record *r = &w->cells->records[record];
    const struct csv_block *block = work_block(w, record);
    if (counts_nothing(w, record)) {
        t->weightless++;
        return true;
    }
    reason(w, record, &why);
    if (why.id == ERR_CSV_LABEL_MISSING) {
        t->unlabelled++;
        return true;
    }
    int64_t line;
    if (!t->bad_rows && why.id == ERR_CSV_RAGGED)
        check_form(w, block, r);
    const char *column = column_named(t, block, w->cells, r, &why);
    return add_bad(t, work_place(w, record, &line), &why, column, block->bytes + r->offset,
                   r->bytes, e);
}

/* For wide sequences: true if the record has any step. */
static bool has_step(const struct work *w, size_t record)
{
    const struct schema *s = w->t->schema;
    for (size_t i = 0; i < s->column_count; i++) {
        const struct csv_cell *c = s->columns[i].number == UINT32_MAX
                                       ? NULL
                                       : cell_at(&w->t->in.binding, w->cells, record, i);
        if (c && !cell_is_missing(s, i, c->text, c->length))
            return true;
    }
    return false;
}

void work_parse(struct work *w, size_t begin, size_t end)
{
    w->count_from = begin;
    w->count_to = end;
    threads_run((unsigned)((w->now.rows + w->t->tile - 1) / w->t->tile), parse_tile, w);
}

static bool has_target(const struct work *w, const struct stream_part *p, size_t i)
{
    const struct rowfmt *f = &w->t->encoder->format;
    const unsigned char *record = p->records + i * f->stride;
    if (w->t->schema->task == TASK_REGRESSION)
        return !isnan(record_float(record, f->at_target));
    return record_int(record, f->at_target) >= 0;
}

/* A record of a sequence without a target: it may be the context of others. */
static void count_unlabelled(const struct work *w, size_t record)
{
    if (cell_weightless(w->t->schema, &w->t->in.binding, w->cells, record))
        w->t->weightless++;
    else
        w->t->unlabelled++;
}

/* The logits of records begin .. end - 1 alone: [members][these records]. */
static void close_up(const struct serve *v, struct stream_part *p, size_t begin, size_t end)
{
    for (uint32_t m = 0; end - begin < p->rows && m < v->member_count; m++)
        memmove(p->logits + (size_t)m * (end - begin) * v->outputs,
                p->logits + ((size_t)m * p->rows + begin) * v->outputs,
                (end - begin) * v->outputs * sizeof *p->logits);
}

bool work_deliver(struct work *w, struct stream_part *p, size_t begin, size_t end,
                  const bool *line, const bool *broken, struct err *e)
{
    struct stream *t = w->t;
    const bool each = !w->series || t->schema->windows.label == LABEL_ROW;
    p->samples = 0;
    for (size_t i = begin; i < end; i++) {
        const size_t record = p->first + i;
        const bool answered = !w->series || (line[i] && !broken[i]);
        const bool bad = p->bad[i] || (answered && !finite_answer(t->serve, p, i));
        if (bad && w->later)
            w->later[record] = true;
        else if (bad && !work_count_bad(w, record, e))
            return false;
        p->bad[i] = bad || !answered;
        if (w->series && !p->bad[i] && t->request.labelled && !has_target(w, p, i)) {
            p->bad[i] = true;
            count_unlabelled(w, record);
        }
        t->answers += !p->bad[i];
        t->stepless += !p->bad[i] && t->schema->steps && !has_step(w, record);
        if (!each && line[i])
            p->sample[++p->samples] = (uint32_t)(i + 1 - begin);
    }
    t->rows += end - begin;
    if (begin == end)
        return true;
    close_up(t->serve, p, begin, end);
    const struct stream_group g = {.cells = w->cells,
                                   .first = p->first + begin,
                                   .rows = end - begin,
                                   .bad = p->bad + begin,
                                   .records = p->records + begin * t->encoder->format.stride,
                                   .logits = p->logits,
                                   .sample = each ? NULL : p->sample,
                                   .samples = p->samples,
                                   .pieces = w->joined};
    return t->sink.group(t->sink.context, &g, e);
}

static bool deliver(struct work *w, struct stream_part *p, struct err *e)
{
    return work_deliver(w, p, 0, p->rows, NULL, NULL, e);
}

bool work_finish(struct work *w, struct err *e)
{
    bool computed = w->computes;
    w->computes = false;
    return !computed || (serve_end(w->t->serve, e) && deliver(w, &w->before, e));
}

/* Lets the device answer w->now, and delivers the part before. The two parts swap. After a failure
 * no later part is delivered. */
static bool compute(struct work *w, struct err *e)
{
    struct serve *s = w->t->serve;
    const bool other = w->computes;
    w->computes = false;
    if (other && !serve_end(s, e))
        return false;
    serve_begin(s, w->now.records, w->now.rows, w->now.logits);
    struct stream_part before = w->before;
    w->before = w->now;
    w->now = before;
    w->computes = !other || deliver(w, &w->now, e);
    struct err unused = {0};
    if (!w->computes)
        serve_end(s, &unused); /* the device still writes into its memory */
    return w->computes;
}

bool work_group(struct work *w, struct err *e)
{
    struct stream_part *p = &w->now;
    work_parse(w, 0, p->rows);
    if (w->before.records)
        return compute(w, e);
    return serve_answer(w->t->serve, p->records, p->rows, p->logits, e) && deliver(w, p, e);
}

bool work_broken(struct work *w, struct err *e)
{
    static const bool bad = true;
    struct stream *t = w->t;
    const struct csv_cells *cells = w->cells;
    const char *raw = w->block.bytes + cells->error_offset;
    size_t length = (size_t)(cells->resume_offset - cells->error_offset);
    while (length && (raw[length - 1] == '\n' || raw[length - 1] == '\r'))
        length--;
    t->rows++;
    struct stream_group g = {.rows = 1, .bad = &bad, .records = w->now.records,
                             .logits = w->now.logits};
    return add_bad(t, t->in.at, &cells->error, "", raw, length, e) &&
           t->sink.group(t->sink.context, &g, e);
}
