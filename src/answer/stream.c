/* stream.c - see stream.h. Blocks of an input become groups of rows; stream_work.c parses, answers
 * and delivers a group. */
#include "answer/stream.h"

#include <string.h>

#include "answer/ahead.h"
#include "answer/stream_input.h"
#include "answer/stream_work.h"
#include "base/mem.h"
#include "base/stop.h"
#include "base/thread.h"

#define GROUP_MOST 4096u
#define GROUP_LEAST 64u
#define TILES 32u                       /* of a full group */
#define GROUP_BYTES ((uint64_t)8 << 20) /* records, logits and probabilities of a group */

bool stream_open(struct stream *t, struct serve *s, const struct stream_request *q, struct err *e)
{
    *t = (struct stream){
        .serve = s, .schema = s->schema, .request = *q, .dialect = s->schema->dialect};
    if (q->csv)
        t->dialect.delimiter = ',';
    if (q->tsv) {
        t->dialect.delimiter = '\t';
        t->dialect.tsv = true;
    }
    if (q->no_header)
        t->dialect.header = false;
    t->dialect.said = q->labelled         ? CSV_SAID_BY_MODEL
                      : q->csv || q->tsv ? CSV_SAID_BY_IO
                                         : CSV_SAID_BY_MODEL_OR_IO;
    t->dialect.trained = s->schema->dialect.delimiter;
    t->drift = drift_new(t->schema);
    uint64_t row_bytes = t->schema->format.stride +
                         s->outputs * (s->member_count * sizeof(real) + sizeof(double));
    t->group = GROUP_MOST;
    while (t->group > GROUP_LEAST && t->group * row_bytes > GROUP_BYTES)
        t->group /= 2;
    t->tile = t->group / TILES;
    if (q->columns && !input_columns(t, q->columns, e))
        return false;
    if (!input_open(t, e))
        return false;
    if (q->rejects) {
        t->reject = reject_open(q->rejects, q->input_count > 1, e);
        if (!t->reject)
            return false;
    }
    return true;
}

bool stream_stopped(struct err *e)
{
    if (!stop_wanted())
        return false;
    stop_error("the end of the input", e);
    return true;
}

/* --- the stream --- */

static void part_new(const struct stream *t, struct part *p, size_t room)
{
    p->records = mem_zero(room, t->schema->format.stride);
    p->logits = mem_zero(room * t->serve->member_count * t->serve->outputs, sizeof *p->logits);
    p->bad = mem_zero(room, sizeof *p->bad);
}

static void part_free(struct part *p)
{
    mem_free(p->records);
    mem_free(p->logits);
    mem_free(p->bad);
}

/* The first rows: how many there are decides what is started, and how large things are. Of what
 * comes bit by bit the first bit tells little: as many are meant as fill a block. */
static void begin_work(struct work *w, const struct csv_block *block, size_t records)
{
    struct stream *t = w->t;
    uint64_t size = t->request.input_count > 1 ? 0 : csv_size(t->csv);
    size_t bytes = block->size;
    if (t->request.idle && csv_waits(t->csv) && csv_more(t->csv) && bytes < CSV_BLOCK_BYTES / 2) {
        records = (records ? records : 1) * (CSV_BLOCK_BYTES / bytes);
        bytes = CSV_BLOCK_BYTES;
    }
    serve_threads(t->serve, records, size ? size : bytes,
                  csv_size(t->csv) == 0);
    size_t room = records < t->group ? records + 1 : t->group;
    if (size == 0 || size > block->size)
        room = t->group;
    t->serve->expected = records < room ? records : room;
    unsigned threads = threads_count();
    part_new(t, &w->now, room);
    if (serve_overlaps(t->serve) && (size == 0 || size > block->size || records > room))
        part_new(t, &w->before, room);
    w->error = mem_zero(threads, sizeof *w->error);
    w->drift = mem_zero(threads, sizeof(struct drift *));
    for (unsigned i = 0; i < threads; i++)
        w->drift[i] = drift_new(t->schema);
    w->undone = drift_new(t->schema);
    t->room = room;
}

static bool answer_groups(struct work *w, const struct stream_sink *sink, struct err *e)
{
    size_t count = w->cells->record_count, room = w->t->room;
    for (size_t at = 0, rows; at < count; at += rows) {
        w->now.first = at;
        w->now.rows = rows = count - at < room ? count - at : room;
        if (!work_group(w, sink, e))
            return false;
    }
    return work_finish(w, sink, e); /* the block is soon the reader's again */
}

/* The first row that has one of two widths says which one rows have. */
static bool settle_width(struct stream *t, const struct csv_cells *cells, struct err *e)
{
    for (size_t i = 0; i < cells->record_count && t->least; i++) {
        size_t width = cells->records[i].cells;
        if (width == t->least) {
            binding_free(&t->binding);
            t->name_count = width;
            t->bound = schema_bind(t->schema, t->names, width, BIND_FEATURES, &t->binding, e);
        }
        if (width == t->name_count)
            t->least = 0;
    }
    return t->bound;
}

/* A record that cannot be cut into cells ends its part of the block: the rest is cut anew. */
static bool answer_block(struct work *w, struct ahead_block *now, const struct stream_sink *sink,
                         struct err *e)
{
    struct stream *t = w->t;
    const struct csv_block *block = &now->block;
    struct csv_cells *cells = &now->cells;
    struct csv_block rest = *block;
    w->cells = cells;
    for (bool more = true, good = now->good; more;) {
        t->blank_lines += cells->blank_lines;
        w->block = &rest;
        if (!w->now.logits)
            begin_work(w, block, cells->record_count);
        if (!settle_width(t, cells, e) || !answer_groups(w, sink, e) ||
            (!good && !work_broken(w, sink, e)))
            return false;
        struct csv_block next;
        more = !good && csv_rest(&rest, cells, &next);
        if (more) {
            struct err syntax = {0};
            rest = next;
            good = csv_cells_parse(&t->dialect, &rest, t->binding.cells, cells, &syntax);
        }
    }
    return true;
}

static bool answer_input(struct work *w, const struct stream_sink *sink, struct err *e)
{
    struct stream *t = w->t;
    struct ahead ahead;
    struct ahead_block *now;
    bool good = true;
    ahead_start(&ahead, t->csv, &t->dialect, t->binding.cells);
    while (good && !t->empty && !stream_stopped(e) && (now = ahead_next(&ahead, e)))
        good = answer_block(w, now, sink, e);
    ahead_end(&ahead);
    good = good && e->id == ERR_NONE;
    return good && !stream_stopped(e); /* it may have come while the last rows were waited for */
}

bool stream_run(struct stream *t, const struct stream_sink *sink, struct err *e)
{
    struct work w = {.t = t};
    bool good = answer_input(&w, sink, e);
    while (good && t->at + 1 < t->request.input_count) {
        input_close(t);
        t->at++;
        good = input_open(t, e) &&
               (!sink->input || sink->input(sink->context, e) || input_blame(e, input_name(t))) &&
               answer_input(&w, sink, e);
    }
    t->in_utf8 = t->in_utf8 || (t->csv && csv_looks_utf8(t->csv));
    for (unsigned i = 0; w.drift && i < threads_count(); i++) {
        drift_add(t->drift, w.drift[i], t->schema->column_count);
        drift_free(w.drift[i]);
    }
    drift_free(w.undone);
    mem_free(w.drift);
    mem_free(w.error);
    part_free(&w.now);
    part_free(&w.before);
    if (good && !t->request.again)
        stream_notes(t);
    return good;
}

bool stream_prepare(struct stream *t, struct err *e)
{
    return !t->reject || reject_prepare(t->reject, e);
}

bool stream_commit(struct stream *t, struct err *e)
{
    struct reject *r = t->reject;
    t->reject = NULL;
    return !r || reject_commit(r, e);
}

void stream_close(struct stream *t)
{
    if (t->reject)
        reject_abort(t->reject);
    input_close(t);
    for (size_t i = 0; t->given && i < t->name_count; i++)
        mem_free(t->given[i]);
    mem_free(t->given);
    drift_free(t->drift);
    memset(t, 0, sizeof *t);
}
