/* stream.c - see stream.h. Blocks of an input become groups of rows; stream_work.c parses, answers
 * and delivers a group. */
#include "answer/stream/stream.h"

#include <math.h>
#include <string.h>

#include "answer/stream/ahead.h"
#include "answer/stream/stream_work.h"
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

bool stream_open(struct stream *t, struct serve *s, const struct rows_request *q,
                 const struct stream_sink *sink, struct err *e)
{
    *t = (struct stream){.serve = s,
                         .encoder = s->encoders[0],
                         .schema = s->schema,
                         .request = *q,
                         .sink = *sink,
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

/* Starts threads and allocates parts for the first records, of `bytes` bytes. The first bytes of a
 * live pipe tell little: they count as a whole block of such rows. */
static void begin_work(struct work *w, size_t bytes, size_t records)
{
    struct stream *t = w->t;
    const uint64_t size = t->request.input_count > 1 ? 0 : csv_size(t->in.csv);
    const bool series = t->schema->windows.window > 0, more = size == 0 || size > bytes;
    if (t->sink.idle && csv_waits(t->in.csv) && csv_more(t->in.csv) &&
        bytes < CSV_BLOCK_BYTES / 2) {
        records = (records ? records : 1) * (CSV_BLOCK_BYTES / bytes);
        bytes = CSV_BLOCK_BYTES;
    }
    serve_threads(t->serve, records, size ? size : bytes, csv_size(t->in.csv) == 0);
    t->room = records < t->group && !more && !series ? records + 1 : t->group;
    t->serve->expected = records < t->room ? records : t->room;
    part_new(t, &w->now, t->room);
    if (series)
        w->series = stream_series_new(t, t->room);
    else if (!t->sink.asks && serve_overlaps(t->serve) && (more || records > t->room))
        part_new(t, &w->before, t->room);
    w->hands = mem_zero(threads_count(), sizeof *w->hands);
    for (unsigned i = 0; i < threads_count(); i++)
        w->hands[i].drift = drift_new(t->encoder, t->drift->pooled);
    w->undone = drift_new(t->encoder, t->drift->pooled);
}

/* --- a block --- */

/* Answers the records up to `end`. */
static bool answer_groups(struct work *w, size_t end, struct err *e)
{
    size_t room = w->t->room;
    for (size_t at = 0, rows; at < end; at += rows) {
        w->now.first = at;
        w->now.rows = end - at < room ? end - at : room;
        rows = w->now.rows;
        if (!work_group(w, e))
            return false;
    }
    return work_finish(w, e); /* the block is soon the reader's again */
}

/* Rows may have one of two widths. The first row with either settles it. */
static bool settle_width(struct stream *t, const struct csv_cells *cells, struct err *e)
{
    for (size_t i = 0; i < cells->record_count && t->in.least; i++) {
        size_t width = cells->records[i].cells;
        if (width == t->in.least) {
            binding_free(&t->in.binding);
            t->in.name_count = width;
            t->in.bound =
                schema_bind(t->schema, t->in.names, width, BIND_FEATURES, &t->in.binding, e);
        }
        if (width == t->in.name_count)
            t->in.least = 0;
    }
    return t->in.bound;
}

/* Answers the records up to *end; in sequences only records that nothing further changes, and sets
 * *end to the first that waits. */
static bool answer_records(struct work *w, bool final, size_t *end, struct err *e)
{
    if (!w->series)
        return answer_groups(w, *end, e);
    if (!stream_series_answer(w, final, end, e))
        return false;
    if (final)
        stream_series_cut(w->series);
    return true;
}

/* Answers w->block. A record that cannot be cut into cells ends its part of the block: the rest is
 * cut anew. good: it has no such record. */
static bool answer_rest(struct work *w, struct csv_cells *cells, bool good, struct err *e)
{
    struct stream *t = w->t;
    w->cells = cells;
    for (bool more = true; more;) {
        t->blank_lines += cells->blank_lines;
        if (!w->now.logits)
            begin_work(w, w->block.size, cells->record_count);
        size_t end = cells->record_count;
        if (!settle_width(t, cells, e) || !answer_records(w, !good, &end, e) ||
            (!good && !work_broken(w, e)))
            return false;
        struct csv_block next;
        more = !good && csv_rest(&w->block, cells, &next);
        if (w->series && good)
            wait_for_more(w, end);
        w->joined = NULL; /* no record before a bad one waits */
        if (more) {
            struct err syntax = {0};
            w->block = next;
            good = csv_cells_parse(&t->dialect, &next, t->in.binding.cells, cells, &syntax);
        }
    }
    return true;
}

/* The records that wait come before those of the block. */
static bool answer_block(struct work *w, struct ahead_block *now, struct err *e)
{
    struct pieces joined = w->waiting;
    struct err ignored = {0};
    w->block = now->block;
    if (!joined.count)
        return answer_rest(w, &now->cells, now->good, e);
    w->waiting = (struct pieces){.count = 0};
    pieces_add(&joined, w->t, &now->block, w->t->in.at);
    bool good = pieces_parse(&joined, w->t, &ignored);
    w->joined = &joined;
    w->block = joined.items[joined.count - 1].block;
    good = answer_rest(w, &joined.cells, good, e);
    w->joined = NULL;
    pieces_free(&joined);
    return good;
}

/* Answers the records that wait: nothing follows that may belong to them. */
static bool answer_waiting(struct work *w, struct err *e)
{
    struct stream *t = w->t;
    const bool sort = t->schema->windows.sort;
    if (!w->waiting.count)
        return true;
    if (sort && !pieces_parse(&w->waiting, t, e)) {
        const struct err found = *e; /* its help goes into its own place */
        return err_help(e, "%s%sa file whose rows are sorted must be CSV from start to end, "
                        "whatever --on-bad-row says", found.help, *found.help ? "; " : "");
    }
    w->joined = &w->waiting;
    w->cells = &w->waiting.cells;
    t->blank_lines += w->cells->blank_lines;
    size_t end = w->cells->record_count;
    if (!w->now.logits)
        begin_work(w, w->waiting.bytes.length, end);
    bool good = settle_width(t, w->cells, e) &&
                (sort ? stream_sort_answer(w, e) : answer_records(w, true, &end, e));
    pieces_free(&w->waiting);
    w->joined = NULL;
    return good;
}

/* Rows in any order wait for the last one. */
static bool read_sorted(struct work *w, struct err *e)
{
    struct stream *t = w->t;
    struct csv_block block;
    while (!t->empty && !stream_stopped(e) && csv_next(t->in.csv, &block, e)) {
        pieces_add(&w->waiting, t, &block, t->in.at);
        csv_release(t->in.csv, &block);
        if (csv_size(t->in.csv))
            progress_amount(&t->progress, (double)(block.file_offset + block.size),
                            (double)csv_size(t->in.csv));
    }
    return e->id == ERR_NONE;
}

static bool answer_input(struct work *w, struct err *e)
{
    struct stream *t = w->t;
    if (t->schema->windows.sort)
        return read_sorted(w, e);
    struct ahead ahead;
    struct ahead_block *now;
    bool good = true;
    ahead_start(&ahead, t->in.csv, &t->dialect, t->in.binding.cells);
    while (good && !t->empty && !stream_stopped(e) && (now = ahead_next(&ahead, e))) {
        double done = (double)(now->block.file_offset + now->block.size);
        good = answer_block(w, now, e);
        if (csv_size(t->in.csv) || !csv_waits(t->in.csv)) /* a pipe has no end that is known */
            progress_amount(&t->progress, done, (double)csv_size(t->in.csv));
    }
    ahead_end(&ahead);
    return good && e->id == ERR_NONE &&
           !stream_stopped(e); /* it may have come while the last rows were waited for */
}

/* Opens the next input. A sequence of records continues in it if the columns are the same. */
static bool next_input(struct work *w, struct err *e)
{
    struct stream *t = w->t;
    struct input before = t->in;
    t->in.csv = NULL;
    t->in.bound = false;
    t->in.at++;
    bool good = input_open(t, e);
    if (good && w->waiting.count && !input_alike(&t->in, &before)) {
        const struct input next = t->in;
        t->in = before;
        good = answer_waiting(w, e);
        before = t->in;
        t->in = next;
        if (w->series)
            stream_series_part(w->series);
    }
    input_close(t, &before);
    return good && (!t->sink.input || t->sink.input(t->sink.context, e) ||
                    err_in_file(e, input_name(t, t->in.at)));
}

bool stream_run(struct stream *t, struct err *e)
{
    struct work w = {.t = t};
    progress_amount_open(&t->progress, t->request.progress, "reading", NULL);
    bool good = answer_input(&w, e);
    while (good && t->in.at + 1 < t->request.input_count)
        good = next_input(&w, e) && answer_input(&w, e);
    good = good && answer_waiting(&w, e) && !stream_stopped(e);
    progress_amount_close(&t->progress);
    stream_look(t, t->in.csv);
    for (unsigned i = 0; w.hands && i < threads_count(); i++) {
        struct hand *h = &w.hands[i];
        drift_add(t->drift, h->drift, t->encoder);
        drift_free(h->drift);
        t->lookups.looked += h->lookups.looked;
        t->lookups.known += h->lookups.known;
        terms_free(&h->terms);
    }
    drift_free(w.undone);
    mem_free(w.hands);
    part_free(&w.now);
    part_free(&w.before);
    stream_series_free(w.series);
    pieces_free(&w.waiting);
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
    const struct csv_cell *c = cell_at(&t->in.binding, g->cells, g->first + row, t->schema->target);
    double value = (double)NAN;
    column_number(t->schema, t->schema->target, c->text, c->length, &value);
    return value;
}

void stream_close(struct stream *t)
{
    if (t->reject)
        reject_abort(t->reject);
    input_close(t, &t->in);
    for (size_t i = 0; t->given && i < t->in.name_count; i++)
        mem_free(t->given[i]);
    mem_free(t->given);
    drift_free(t->drift);
    text_free(&t->foreign);
    row_keys_free(t->keys);
    odd_steps_free(&t->odd);
    memset(t, 0, sizeof *t);
}
