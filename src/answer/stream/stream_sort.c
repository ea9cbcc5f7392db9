/* stream_sort.c - see stream_sort.h. */
#include "answer/stream/stream_sort.h"

#include <string.h>

#include "answer/stream/stream_input.h"
#include "answer/stream/stream_series.h"
#include "answer/stream/stream_wait.h"
#include "base/mem.h"
#include "table/sequence/order.h"

/* A block of an input, and its place in all bytes. */
struct piece {
    struct csv_block block;
    size_t at;
    /* its cells; arrays of cells and records are parts of the common ones */
    struct csv_cells cells;
};

struct stream_sort {
    struct text bytes;
    struct piece *pieces;
    size_t piece_count;
    struct origins origins;
    struct csv_block block; /* all bytes */
    struct csv_cells cells; /* all cells */
    uint32_t *order;        /* [records]: the record of the input at each place */
    /* answers, by record of the input */
    const struct stream *t;
    unsigned char *records; /* of the first encoder */
    real *logits;           /* [records][members][outputs] */
    bool *bad, *line;
};

/* --- the whole inputs --- */

static void add_block(struct stream_sort *s, const struct csv_block *block)
{
    s->pieces = mem_more(s->pieces, s->piece_count, sizeof *s->pieces);
    s->pieces[s->piece_count] = (struct piece){.block = *block, .at = s->bytes.length};
    s->pieces[s->piece_count++].block.path = input_name(s->t, s->t->at); /* it lasts */
    text_add(&s->bytes, block->bytes, block->size);
}

static bool add_cells(struct stream_sort *s, struct piece *p, struct err *e)
{
    struct csv_cells *all = &s->cells, *own = &p->cells;
    size_t cells = all->cell_count + own->cell_count;
    size_t records = all->record_count + own->record_count;
    if (cells > UINT32_MAX || records >= UINT32_MAX)
        return err_at(e, ERR_CSV_LIMIT, p->block.path, p->block.first_line, 0,
                      "there are too many cells to be sorted: at most %u", UINT32_MAX);
    if (cells > all->cell_room) {
        all->cell_room = 2 * cells;
        all->cells = mem_grow(all->cells, all->cell_room, sizeof *all->cells);
    }
    if (records > all->record_room) {
        all->record_room = 2 * records;
        all->records = mem_grow(all->records, all->record_room, sizeof *all->records);
    }
    memcpy(all->cells + all->cell_count, own->cells, own->cell_count * sizeof *own->cells);
    for (size_t i = 0; i < own->record_count; i++) {
        struct csv_record *r = &all->records[all->record_count + i];
        *r = own->records[i];
        r->first_cell += (uint32_t)all->cell_count;
        r->offset += p->at;
    }
    all->cell_count = cells;
    all->record_count = records;
    all->blank_lines += own->blank_lines;
    mem_free(own->cells);
    mem_free(own->records);
    own->cells = NULL;
    own->records = NULL;
    return true;
}

bool stream_sort_parse(struct stream_sort *s, struct err *e)
{
    const struct stream *t = s->t;
    for (size_t i = 0; i < s->piece_count; i++) {
        struct piece *p = &s->pieces[i];
        p->block.bytes = s->bytes.data + p->at;
        p->block.owner = NULL;
        if (!csv_cells_parse(&t->dialect, &p->block, t->binding.cells, &p->cells, e)) {
            const struct err found = *e; /* its help goes into its own place */
            return err_help(e, "%s%sa file whose rows are sorted must be CSV from start to end, "
                            "whatever --on-bad-row says", found.help, *found.help ? "; " : "");
        }
        s->cells.dialect = p->cells.dialect;
        if (!add_cells(s, p, e))
            return false;
    }
    if (s->piece_count) {
        s->block = s->pieces[0].block;
        s->block.size = s->bytes.length;
    }
    return true;
}

struct stream_sort *stream_sort_new(const struct stream *t)
{
    struct stream_sort *s = mem_zero(1, sizeof *s);
    s->t = t;
    return s;
}

bool stream_sort_read(struct stream_sort *s, struct stream *t, struct err *e)
{
    struct csv_block block;
    while (!stream_stopped(e) && csv_next(t->csv, &block, e)) {
        add_block(s, &block);
        csv_release(t->csv, &block);
        if (csv_size(t->csv))
            progress_amount(&t->progress, (double)(block.file_offset + block.size),
                            (double)csv_size(t->csv));
    }
    origins_add(&s->origins, s->bytes.length, t->at);
    return e->id == ERR_NONE;
}

void stream_sort_free(struct stream_sort *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->piece_count; i++)
        csv_cells_free(&s->pieces[i].cells);
    csv_cells_free(&s->cells);
    origins_free(&s->origins);
    text_free(&s->bytes);
    void *const all[] = {s->pieces, s->order, s->records, s->logits, s->bad, s->line};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    mem_free(s);
}

const struct csv_block *stream_sort_block(const struct stream_sort *s)
{
    return &s->block;
}

const struct csv_cells *stream_sort_cells(const struct stream_sort *s)
{
    return &s->cells;
}

/* --- the order --- */

static void find_order(struct stream_sort *s)
{
    const struct stream *t = s->t;
    const size_t count = s->cells.record_count;
    struct series_step step = {0};
    struct row_places p;
    row_places_begin(&p, count);
    for (size_t i = 0; i < count; i++) {
        const struct series_step before = step;
        series_step_follow(t->schema, &t->binding, &s->block, &s->cells, i, &before, i > 0,
                           &step);
        row_places_add(&p, &step);
    }
    if (row_places_sort(&p) && !t->request.again)
        row_places_note(&p, t->schema, "; the answers are in the order of the input");
    s->order = mem_alloc(count + 1, sizeof *s->order);
    for (size_t i = 0; i < count; i++)
        s->order[i] = p.at[i].row;
    row_places_free(&p);
}

/* --- answers --- */

/* Keeps the answers of records in order. */
static bool keep(void *context, const struct stream_group *g, struct err *e)
{
    struct stream_sort *s = context;
    const struct serve *v = s->t->serve;
    const size_t stride = s->t->encoder->format.stride, outputs = v->outputs;
    (void)e;
    for (size_t i = 0; i < g->rows; i++) {
        const size_t to = s->order[g->first + i];
        memcpy(s->records + to * stride, g->records + i * stride, stride);
        s->bad[to] = g->bad[i];
        for (uint32_t m = 0; m < v->member_count; m++)
            memcpy(s->logits + (to * v->member_count + m) * outputs,
                   g->logits + ((size_t)m * g->rows + i) * outputs, outputs * sizeof *g->logits);
    }
    for (uint64_t i = 0; g->sample && i < g->samples; i++)
        s->line[s->order[g->first + group_last(g, i)]] = true;
    return true;
}

/* Records first .. first + rows - 1 of the input, with w->now for their logits and samples. */
static bool deliver(const struct stream_sort *s, struct work *w, size_t first, size_t rows,
                    const struct stream_sink *sink, struct err *e)
{
    const struct serve *v = s->t->serve;
    struct stream_part *p = &w->now;
    p->samples = 0;
    for (size_t i = 0; i < rows; i++) {
        for (uint32_t m = 0; m < v->member_count; m++)
            memcpy(p->logits + ((size_t)m * rows + i) * v->outputs,
                   s->logits + ((first + i) * v->member_count + m) * v->outputs,
                   v->outputs * sizeof *p->logits);
        if (s->line[first + i])
            p->sample[++p->samples] = (uint32_t)(i + 1);
    }
    struct stream_group g = {
        .cells = &s->cells,
        .first = first,
        .rows = rows,
        .bad = s->bad + first,
        .records = s->records + first * s->t->encoder->format.stride,
        .logits = p->logits,
        .sample = s->t->schema->windows.label == LABEL_ROW ? NULL : p->sample,
        .samples = p->samples,
        .origins = &w->origins,
    };
    return sink->group(sink->context, &g, e);
}

/* Swaps the records of the input and the sorted ones. */
static void swap_records(struct stream_sort *s, struct csv_record **other)
{
    struct csv_record *records = s->cells.records;
    s->cells.records = *other;
    *other = records;
}

bool stream_sort_answer(struct stream_sort *s, struct work *w, const struct stream_sink *sink,
                        struct err *e)
{
    const struct stream *t = s->t;
    const size_t count = s->cells.record_count, room = t->room;
    const struct stream_sink keeper = {.group = keep, .context = s};
    size_t kept = count;
    find_order(s);
    s->records = mem_zero(count, t->encoder->format.stride);
    s->logits = mem_zero(count * t->serve->member_count * t->serve->outputs, sizeof *s->logits);
    s->bad = mem_zero(count, sizeof *s->bad);
    s->line = mem_zero(count, sizeof *s->line);
    struct csv_record *other = mem_alloc(count, sizeof *other);
    for (size_t i = 0; i < count; i++)
        other[i] = s->cells.records[s->order[i]];
    swap_records(s, &other);
    w->block = &s->block;
    w->cells = &s->cells;
    w->origins = s->origins;
    s->origins = (struct origins){.count = 0};
    if (t->reject)
        reject_hold(t->reject);
    bool good = stream_series_answer(w, true, &keeper, &kept, e);
    good = good && (!t->reject || reject_release(t->reject, e));
    swap_records(s, &other);
    mem_free(other);
    for (size_t at = 0; good && at < count; at += room)
        good = deliver(s, w, at, count - at < room ? count - at : room, sink, e);
    origins_free(&w->origins);
    return good;
}
