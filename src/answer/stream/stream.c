/* stream.c - see stream.h. Blocks of an input become groups of rows; stream_work.c parses, answers
 * and delivers a group. */
#include "answer/stream/stream.h"

#include <math.h>
#include <string.h>

#include "answer/stream/ahead.h"
#include "answer/stream/stream_input.h"
#include "answer/stream/stream_series.h"
#include "answer/stream/stream_sort.h"
#include "answer/stream/stream_wait.h"
#include "base/mem.h"
#include "base/process/stop.h"
#include "base/process/thread.h"

#define GROUP_MOST 4096u
#define GROUP_LEAST 64u
#define TILES 32u                       /* of a full group */
#define GROUP_BYTES ((uint64_t)8 << 20) /* records, logits and probabilities of a group */

/* The filter of categories that training pooled; NULL: the model has none. */
static const struct bloom *pooled_of(const struct serve *s)
{
    return s->file->known && s->file->known->pooled.bytes ? &s->file->known->pooled : NULL;
}

bool stream_open(struct stream *t, struct serve *s, const struct stream_request *q, struct err *e)
{
    *t = (struct stream){
        .serve = s, .encoder = s->encoders[0], .schema = s->schema, .request = *q,
        .dialect = s->schema->dialect};
    t->request.weighed |= q->labelled;
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
    t->drift = drift_new(t->encoder, pooled_of(s));
    t->choice = held_choice(&s->held, q->limit);
    if (q->labelled && !q->again && s->file->known &&
        (!s->held.wanted || s->file->known->numbers[FINGERPRINT_OWN] & FINGERPRINT_HELD))
        t->keys = row_keys_reading(t->encoder);
    uint64_t row_bytes = s->stride +
                         s->outputs * (s->member_count * sizeof(real) + sizeof(double));
    t->group = GROUP_MOST;
    while (t->group > GROUP_LEAST && t->group * row_bytes > GROUP_BYTES)
        t->group /= 2;
    if (t->schema->windows.window && t->group < stream_series_room(t->schema))
        t->group = (uint32_t)stream_series_room(t->schema);
    t->tile = (t->group + TILES - 1) / TILES;
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

static void part_new(const struct stream *t, struct stream_part *p, size_t room)
{
    p->records = mem_zero(room * t->serve->encoder_count, t->serve->stride);
    p->logits = mem_zero(room * t->serve->member_count * t->serve->outputs, sizeof *p->logits);
    p->bad = mem_zero(room, sizeof *p->bad);
    if (t->schema->windows.window)
        p->sample = mem_zero(room + 1, sizeof *p->sample);
}

static void part_free(struct stream_part *p)
{
    mem_free(p->records);
    mem_free(p->logits);
    mem_free(p->bad);
    mem_free(p->sample);
}

/* Starts threads and allocates parts for the number of rows in the first block. The first bytes of
 * a live pipe tell little: they count as a whole block of such rows. */
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
    const bool series = t->schema->windows.window > 0;
    if (size == 0 || size > block->size || series)
        room = t->group;
    t->serve->expected = records < room ? records : room;
    unsigned threads = threads_count();
    part_new(t, &w->now, room);
    if (series)
        w->series = stream_series_new(t, room);
    else if (serve_overlaps(t->serve) && (size == 0 || size > block->size || records > room))
        part_new(t, &w->before, room);
    w->error = mem_zero(threads, sizeof *w->error);
    w->drift = mem_zero(threads, sizeof(struct drift *));
    for (unsigned i = 0; i < threads; i++)
        w->drift[i] = drift_new(t->encoder, t->drift->pooled);
    w->undone = drift_new(t->encoder, t->drift->pooled);
    w->lookups = mem_zero(threads, sizeof *w->lookups);
    w->terms = mem_zero(threads, sizeof *w->terms);
    t->room = room;
}

/* --- a block --- */

/* Answers the records up to `end`. */
static bool answer_groups(struct work *w, size_t end, const struct stream_sink *sink,
                          struct err *e)
{
    size_t room = w->t->room;
    for (size_t at = 0, rows; at < end; at += rows) {
        w->now.first = at;
        w->now.rows = end - at < room ? end - at : room;
        rows = w->now.rows;
        if (!work_group(w, sink, e))
            return false;
    }
    return work_finish(w, sink, e); /* the block is soon the reader's again */
}

/* Rows may have one of two widths. The first row with either settles it. */
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

/* Answers the records up to *end; in sequences only records that nothing further changes, and sets
 * *end to the first that waits. */
static bool answer_records(struct work *w, bool final, size_t *end, const struct stream_sink *sink,
                           struct err *e)
{
    if (!w->series)
        return answer_groups(w, *end, sink, e);
    if (!stream_series_answer(w, final, sink, end, e))
        return false;
    if (final)
        stream_series_cut(w->series);
    return true;
}

/* A record that cannot be cut into cells ends its part of the block: the rest is cut anew. */
static bool answer_block(struct work *w, struct ahead_block *now, const struct stream_sink *sink,
                         struct err *e)
{
    struct stream *t = w->t;
    const struct csv_block *block = &now->block;
    struct csv_cells *cells = &now->cells;
    struct csv_block rest = *block;
    bool good = now->good;
    if (w->waiting.used) {
        good = wait_join(w, &rest);
        cells = &w->waiting.cells;
    }
    w->cells = cells;
    for (bool more = true; more;) {
        t->blank_lines += cells->blank_lines;
        w->block = &rest;
        if (!w->now.logits)
            begin_work(w, block, cells->record_count);
        size_t end = cells->record_count;
        if (!settle_width(t, cells, e) || !answer_records(w, !good, &end, sink, e) ||
            (!good && !work_broken(w, sink, e)))
            return false;
        struct csv_block next;
        more = !good && csv_rest(&rest, cells, &next);
        if (!good) /* nothing of it waits */
            origins_free(&w->origins);
        if (w->series && good)
            wait_for_more(w, &rest, end);
        if (more) {
            struct err syntax = {0};
            rest = next;
            good = csv_cells_parse(&t->dialect, &rest, t->binding.cells, cells, &syntax);
        }
    }
    return true;
}

/* Answers inputs whose rows may be in any order, after the last one is read. */
static bool answer_sorted(struct work *w, const struct stream_sink *sink, struct err *e)
{
    struct stream *t = w->t;
    struct stream_sort *s = w->sort;
    const struct csv_cells *cells = stream_sort_cells(s);
    bool good = stream_sort_parse(s, e);
    if (good && cells->record_count) {
        t->blank_lines += cells->blank_lines;
        if (!w->now.logits)
            begin_work(w, stream_sort_block(s), cells->record_count);
        good = settle_width(t, cells, e) && stream_sort_answer(s, w, sink, e);
    }
    stream_sort_free(s);
    w->sort = NULL;
    return good && !stream_stopped(e);
}

/* Answers the records that wait: nothing follows that may belong to them. */
static bool answer_waiting(struct work *w, const struct stream_sink *sink, struct err *e)
{
    if (w->sort)
        return answer_sorted(w, sink, e);
    if (!w->waiting.used)
        return true;
    w->cells = &w->waiting.cells;
    w->block = &w->waiting.from;
    w->waiting.used = 0;
    w->t->blank_lines += w->cells->blank_lines;
    size_t end = w->cells->record_count;
    bool good = answer_records(w, true, &end, sink, e);
    origins_free(&w->origins);
    return good;
}

static bool read_sorted(struct work *w, struct err *e)
{
    if (!w->sort)
        w->sort = stream_sort_new(w->t);
    return w->t->empty || (stream_sort_read(w->sort, w->t, e) && !stream_stopped(e));
}

static bool answer_input(struct work *w, const struct stream_sink *sink, struct err *e)
{
    struct stream *t = w->t;
    if (t->schema->windows.sort)
        return read_sorted(w, e);
    struct ahead ahead;
    struct ahead_block *now;
    bool good = true;
    ahead_start(&ahead, t->csv, &t->dialect, t->binding.cells);
    while (good && !t->empty && !stream_stopped(e) && (now = ahead_next(&ahead, e))) {
        double done = (double)(now->block.file_offset + now->block.size);
        good = answer_block(w, now, sink, e);
        if (csv_size(t->csv) || !csv_waits(t->csv)) /* a pipe has no end that is known */
            progress_amount(&t->progress, done, (double)csv_size(t->csv));
    }
    ahead_end(&ahead);
    good = good && e->id == ERR_NONE;
    if (good && !t->schema->windows.window) /* nothing follows: the last sample is whole */
        good = answer_waiting(w, sink, e);
    return good && !stream_stopped(e); /* it may have come while the last rows were waited for */
}

/* Opens the next input. A sequence of records continues in it if the columns are the same. */
static bool next_input(struct work *w, const struct stream_sink *sink, struct err *e)
{
    struct stream *t = w->t;
    struct input before;
    input_keep(t, &before);
    t->at++;
    bool good = input_open(t, e);
    if (good && (w->sort || w->waiting.used)) {
        if (input_alike(t, &before)) {
            if (!w->sort)
                wait_turn(w, before.at);
        } else {
            input_swap(t, &before);
            good = answer_waiting(w, sink, e);
            input_swap(t, &before);
            if (w->series)
                stream_series_part(w->series);
        }
    }
    input_forget(t, &before);
    return good && (!sink->input || sink->input(sink->context, e) ||
                    err_in_file(e, input_name(t, t->at)));
}

bool stream_run(struct stream *t, const struct stream_sink *sink, struct err *e)
{
    struct work w = {.t = t};
    progress_amount_open(&t->progress, (enum progress_style)t->request.progress, "reading", NULL);
    bool good = answer_input(&w, sink, e);
    while (good && t->at + 1 < t->request.input_count)
        good = next_input(&w, sink, e) && answer_input(&w, sink, e);
    good = good && answer_waiting(&w, sink, e) && !stream_stopped(e);
    progress_amount_close(&t->progress);
    stream_look(t);
    for (unsigned i = 0; w.drift && i < threads_count(); i++) {
        drift_add(t->drift, w.drift[i], t->encoder);
        drift_free(w.drift[i]);
        t->lookups.looked += w.lookups[i].looked;
        t->lookups.known += w.lookups[i].known;
        terms_free(&w.terms[i]);
    }
    drift_free(w.undone);
    mem_free(w.drift);
    mem_free(w.lookups);
    mem_free(w.error);
    mem_free(w.terms);
    part_free(&w.now);
    part_free(&w.before);
    stream_series_free(w.series);
    stream_sort_free(w.sort);
    text_free(&w.waiting.bytes);
    csv_cells_free(&w.waiting.cells);
    origins_free(&w.origins);
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

double stream_target(const struct stream *t, const struct stream_group *g, uint64_t row)
{
    const struct csv_cell *c = cell_at(&t->binding, g->cells, g->first + row, t->schema->target);
    double value = (double)NAN;
    column_number(t->schema, t->schema->target, c->text, c->length, &value);
    return value;
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
    text_free(&t->foreign);
    row_keys_free(t->keys);
    odd_steps_free(&t->odd);
    memset(t, 0, sizeof *t);
}
