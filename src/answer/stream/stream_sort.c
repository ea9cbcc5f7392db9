/* stream_sort.c - see stream_work.h. */
#include <string.h>

#include "answer/stream/stream_work.h"
#include "base/mem.h"
#include "table/sequence/order.h"

/* Answers, by record of the input. */
struct sorted {
    struct work *w;
    uint32_t *order;        /* [records]: the record of the input at each place */
    unsigned char *records; /* of the first encoder */
    real *logits;           /* [records][members][outputs] */
    bool *bad, *line;
};

static void find_order(struct sorted *s)
{
    const struct work *w = s->w;
    const struct stream *t = w->t;
    const size_t count = w->cells->record_count;
    struct series_step step = {0};
    struct row_places p;
    row_places_begin(&p, count);
    for (size_t i = 0; i < count; i++) {
        const struct series_step before = step;
        series_step_follow(t->schema, &t->in.binding, work_block(w, i), w->cells, i, &before,
                           i > 0, &step);
        row_places_add(&p, &step);
    }
    if (row_places_sort(&p) && !t->request.again)
        row_places_note(&p, t->schema, "; the answers are in the order of the input");
    for (size_t i = 0; i < count; i++)
        s->order[i] = p.at[i].row;
    row_places_free(&p);
}

/* Keeps the answers of records in order. */
static bool keep(void *context, const struct stream_group *g, struct err *e)
{
    struct sorted *s = context;
    const struct serve *v = s->w->t->serve;
    const size_t stride = s->w->t->encoder->format.stride, outputs = v->outputs;
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
static bool deliver(const struct sorted *s, size_t first, size_t rows, struct err *e)
{
    const struct stream *t = s->w->t;
    const struct serve *v = t->serve;
    struct stream_part *p = &s->w->now;
    p->samples = 0;
    for (size_t i = 0; i < rows; i++) {
        for (uint32_t m = 0; m < v->member_count; m++)
            memcpy(p->logits + ((size_t)m * rows + i) * v->outputs,
                   s->logits + ((first + i) * v->member_count + m) * v->outputs,
                   v->outputs * sizeof *p->logits);
        if (s->line[first + i])
            p->sample[++p->samples] = (uint32_t)(i + 1);
    }
    const struct stream_group g = {
        .cells = s->w->cells,
        .first = first,
        .rows = rows,
        .bad = s->bad + first,
        .records = s->records + first * t->encoder->format.stride,
        .logits = p->logits,
        .sample = t->schema->windows.label == LABEL_ROW ? NULL : p->sample,
        .samples = p->samples,
        .pieces = s->w->joined,
    };
    return t->sink.group(t->sink.context, &g, e);
}

bool stream_sort_answer(struct work *w, struct err *e)
{
    struct stream *t = w->t;
    struct csv_cells *cells = &w->waiting.cells;
    const size_t count = cells->record_count, room = t->room;
    const struct stream_sink sink = t->sink;
    struct sorted s = {
        .w = w,
        .order = mem_alloc(count, sizeof *s.order),
        .records = mem_zero(count, t->encoder->format.stride),
        .logits = mem_zero(count * t->serve->member_count * t->serve->outputs, sizeof *s.logits),
        .bad = mem_zero(count, sizeof *s.bad),
        .line = mem_zero(count, sizeof *s.line)};
    struct csv_record *input = cells->records, *ordered = mem_alloc(count, sizeof *ordered);
    bool *bad = mem_zero(count, sizeof *bad); /* records to be counted */
    size_t kept;
    find_order(&s);
    for (size_t i = 0; i < count; i++)
        ordered[i] = input[s.order[i]];
    cells->records = ordered;
    t->sink = (struct stream_sink){.group = keep, .context = &s};
    w->later = mem_zero(count, sizeof *w->later);
    bool good = stream_series_answer(w, true, &kept, e);
    t->sink = sink;
    cells->records = input;
    for (size_t i = 0; i < count; i++)
        bad[s.order[i]] = w->later[i];
    mem_free(w->later);
    w->later = NULL;
    for (size_t i = 0; good && i < count; i++)
        good = !bad[i] || work_count_bad(w, i, e);
    for (size_t at = 0; good && at < count; at += room)
        good = deliver(&s, at, count - at < room ? count - at : room, e);
    mem_free(ordered);
    mem_free(bad);
    mem_free(s.order);
    mem_free(s.records);
    mem_free(s.logits);
    mem_free(s.bad);
    mem_free(s.line);
    return good;
}
