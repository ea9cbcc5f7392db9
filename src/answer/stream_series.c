/* stream_series.c - see stream_series.h. A span of records is parsed and its windows are answered;
 * records are delivered once no further window reads them (their answers are means over windows) or
 * their window has its answer. Windows begin at multiples of the stride from the group's begin on,
 * so that neither blocks nor spans change an answer. */
#include "answer/stream_series.h"

#include <math.h>
#include <string.h>

#include "answer/stream_input.h"
#include "answer/stream_wait.h"
#include "base/mem.h"
#include "table/record.h"
#include "table/series.h"
#include "table/window_mean.h"

#define GROUPS_MET ((size_t)1 << 16) /* number of remembered groups, to find one that comes again */

/* Records begin .. end of a span, all of one group. */
struct piece {
    size_t begin, end;
    uint64_t at;   /* place of `begin` in its group */
    bool closed;   /* the group ends with `end` */
    uint64_t first_window, windows; /* answered now: first_window .. first_window + windows - 1 */
    size_t delivered, next; /* records below are delivered; the next span begins at it */
};

struct stream_series {
    const struct windows *o;
    size_t room;
    /* the record before the span is in the group that continues */
    bool goes_on;
    uint64_t group, met[GROUPS_MET];
    uint64_t parted; /* the last group of an input before, whose columns were others; 0: none */
    double order;
    uint64_t at;      /* place of the span's first record in that group */
    size_t context;   /* its first records, which are delivered already */
    struct window_mean of_group; /* label group: the mean over the windows so far, one line */
    bool bad; /* of carried state: the window before was bad */
    /* of a span */
    uint64_t *key;    /* [room] */
    double *place;
    bool *broken, *line; /* [room]: the record is bad; it has an answer */
    uint32_t *windows;   /* [window_count][window]: records of the span */
    struct window_mean mean; /* [room]: the mean over the windows of each record */
    uint32_t *begins;    /* [window_count], 1: the first of its group */
    size_t window_room;
    real *logits;
    size_t logit_room;
    struct piece *pieces;
    size_t piece_count;
};

size_t stream_series_room(const struct schema *s)
{
    return 4 * (size_t)s->windows.window;
}

struct stream_series *stream_series_new(const struct stream *t, size_t room)
{
    struct stream_series *s = mem_zero(1, sizeof *s);
    s->o = &t->schema->windows;
    s->room = room;
    window_mean_begin(&s->of_group, t->serve->member_count, 1, t->serve->outputs);
    s->key = mem_alloc(room, sizeof *s->key);
    s->place = mem_alloc(room, sizeof *s->place);
    s->broken = mem_zero(room, sizeof *s->broken);
    s->line = mem_zero(room, sizeof *s->line);
    s->pieces = mem_zero(room, sizeof *s->pieces);
    return s;
}

void stream_series_free(struct stream_series *s)
{
    if (!s)
        return;
    void *const all[] = {s->key,     s->place,  s->broken, s->line,
                         s->windows, s->logits, s->pieces, s->begins};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    window_mean_free(&s->of_group);
    window_mean_free(&s->mean);
    mem_free(s);
}

void stream_series_cut(struct stream_series *s)
{
    s->met[s->group % GROUPS_MET] = 0;
    s->goes_on = false;
    s->context = 0;
}

void stream_series_part(struct stream_series *s)
{
    s->met[s->group % GROUPS_MET] = s->parted = s->group;
}

/* --- the groups of the records --- */

/* key: of the record's group. */
static bool report(const struct work *w, size_t record, uint64_t key, bool apart, struct err *e)
{
    const struct schema *s = w->t->schema;
    const char *group = s->columns[s->windows.group].name;
    int64_t line;
    const char *path = input_name(w->t, work_origin(w, record, &line));
    if (s->windows.sort || (apart && key == w->series->parted)) {
        err_at(e, ERR_SERIES_ORDER, path, line, 0,
               "rows of this group (\"%s\") stand in an earlier file, too, whose columns are not "
               "known to be the same", text_quote_z(group));
        return err_help(e, "a group goes on in a further file if that has the same columns in the "
                           "same order");
    }
    if (apart)
        err_at(e, ERR_SERIES_ORDER, path, line, 0,
               "the rows of a group (\"%s\") stand apart: other rows come before this one",
               text_quote_z(group));
    else
        err_at(e, ERR_SERIES_ORDER, path, line, 0,
               "\"%s\" is less than in the row before, which is of the same group (\"%s\")",
               text_quote_z(s->columns[s->windows.order].name), text_quote_z(group));
    return err_help(e, "sort the file: rows of one group together, in order%s",
                    s->windows.order == UINT32_MAX
                        ? ""
                        : "; a model trained with \"unordered\": \"sort\" sorts it");
}

/* Group and place of record i of the span. A record that cannot be read is of the group before it,
 * and makes it bad. */
static void read_place(struct work *w, size_t first, size_t i)
{
    struct stream_series *s = w->series;
    struct err ignored = {0};
    bool there = w->cells->records[first + i].cells == w->t->binding.cells;
    s->key[i] = i ? s->key[i - 1] : s->group;
    s->place[i] = i ? s->place[i - 1] : s->order;
    if (there)
        s->broken[i] = !series_place(w->t->schema, &w->t->binding, w->block, w->cells, first + i,
                                     &s->key[i],
                                     s->o->order == UINT32_MAX ? NULL : &s->place[i], &ignored);
    else
        s->broken[i] = true;
    bool joins = i ? s->key[i] == s->key[i - 1] : s->goes_on && s->key[i] == s->group;
    if (s->broken[i] && s->o->order != UINT32_MAX)
        s->place[i] = !joins ? (double)-INFINITY : i ? s->place[i - 1] : s->order;
}

static void begin_group(struct stream_series *s)
{
    window_mean_begin(&s->of_group, s->of_group.members, 1, s->of_group.outputs);
}

/* Cuts the span into pieces of one group each. False: rows are not in order. */
static bool find_pieces(struct work *w, size_t first, size_t records, bool final, struct err *e)
{
    struct stream_series *s = w->series;
    const bool ordered = s->o->order != UINT32_MAX;
    s->piece_count = 0;
    for (size_t i = 0; i < records; i++) {
        read_place(w, first, i);
        bool joins = i ? s->key[i] == s->key[i - 1] : s->goes_on && s->key[i] == s->group;
        double before = i ? s->place[i - 1] : s->order;
        uint64_t *met = &s->met[s->key[i] % GROUPS_MET];
        if (joins && ordered && (i || s->at) && s->place[i] < before)
            return report(w, first + i, s->key[i], false, e);
        if (!joins && *met == s->key[i] && !s->broken[i])
            return report(w, first + i, s->key[i], true, e);
        *met = s->key[i];
        if (i && joins)
            continue;
        if (i)
            s->pieces[s->piece_count - 1].end = i;
        s->pieces[s->piece_count++] = (struct piece){.begin = i, .at = joins ? s->at : 0};
        if (!joins && !i) { /* the group that went on ended with the span before */
            begin_group(s);
            s->bad = false;
        }
    }
    for (size_t k = 0; k < s->piece_count; k++)
        s->pieces[k].closed = k + 1 < s->piece_count || final;
    if (s->piece_count)
        s->pieces[s->piece_count - 1].end = records;
    return true;
}

/* Counts the odd steps to records begin .. end - 1 of the span, which begins at record `first`. */
static void count_steps(const struct work *w, size_t first, size_t begin, size_t end)
{
    const struct stream_series *s = w->series;
    struct odd_steps *odd = &w->t->odd;
    for (size_t i = begin; i < end && s->o->order != UINT32_MAX; i++) {
        bool joins = i ? s->key[i] == s->key[i - 1] && !s->broken[i - 1]
                       : s->goes_on && s->at && s->key[i] == s->group;
        enum odd_step kind = odd_step(s->o, s->place[i] - (i ? s->place[i - 1] : s->order));
        if (!joins || s->broken[i] || kind == ODD_STEPS || odd->count[kind]++)
            continue;
        const struct csv_cell *group = cell_at(&w->t->binding, w->cells, first + i, s->o->group);
        int64_t line;
        const size_t at = work_origin(w, first + i, &line);
        odd_step_place(&odd->first[kind], input_name(w->t, at), line, group->text, group->length);
    }
}

/* Finds the windows of a piece to answer now, and the records to deliver. Before the end of its
 * group a window is answered only if another one is sure to follow. */
static void plan_piece(const struct stream_series *s, struct piece *p)
{
    const uint64_t window = s->o->window, stride = s->o->stride;
    const uint64_t rows = p->at + (p->end - p->begin); /* of the group so far */
    const uint64_t all = p->closed ? windows_count(s->o, rows)
                                   : rows > window ? (rows - window - 1) / stride + 1 : 0;
    uint64_t delivered = all * stride, next = delivered;
    p->first_window = p->at / stride;
    p->windows = all > p->first_window ? all - p->first_window : 0;
    if (p->closed) {
        delivered = next = rows;
    } else if (s->o->label == LABEL_LAST) {
        delivered = all ? (all - 1) * stride + window : 0;
    } else if (s->o->label == LABEL_ROW) { /* further windows add to rows from `delivered` on */
        next = delivered < window ? 0 : ((delivered - window) / stride + 1) * stride;
    }
    p->delivered = delivered > p->at ? p->begin + (size_t)(delivered - p->at) : p->begin;
    p->next = next > p->at ? p->begin + (size_t)(next - p->at) : p->begin;
}

/* --- answers --- */

static size_t add_windows(struct stream_series *s, const struct piece *p, size_t count)
{
    const uint32_t window = s->o->window;
    for (uint64_t k = 0; k < p->windows; k++, count++) {
        uint64_t from = (p->first_window + k) * s->o->stride;
        size_t first = p->begin + (size_t)(from - p->at);
        size_t left = p->end - first, length = left < window ? left : window;
        if (count == s->window_room) {
            s->window_room = count ? 2 * count : 64;
            s->windows = mem_grow(s->windows, s->window_room * window, sizeof *s->windows);
            s->begins = mem_grow(s->begins, s->window_room, sizeof *s->begins);
        }
        s->begins[count] = from == 0;
        for (uint32_t t = 0; t < window; t++)
            s->windows[count * window + t] = t < length ? (uint32_t)(first + t) : SOURCE_NONE;
    }
    return count;
}

static uint32_t window_end(const struct stream_series *s, const uint32_t *records)
{
    uint32_t length = 0;
    while (length < s->o->window && records[length] != SOURCE_NONE)
        length++;
    return length;
}

/* label group: the windows of a piece are added; the last one answers. */
static void answer_group(struct work *w, const struct piece *p, size_t first, size_t windows)
{
    struct stream_series *s = w->series;
    const size_t line = p->end - 1;
    for (size_t k = first; k < first + p->windows; k++)
        window_mean_add(&s->of_group, 0, s->logits, windows, k);
    for (size_t i = p->begin; i < p->end; i++)
        s->bad |= w->now.bad[i];
    if (!p->closed)
        return;
    window_mean_put(&s->of_group, w->now.logits, w->now.rows, line);
    s->line[line] = true;
    s->broken[line] |= s->bad;
    begin_group(s);
    s->bad = false;
}

/* One record each answers of windows first .. first + count - 1, or all of their records. */
static void answer_windows(struct work *w, size_t first, size_t count, size_t windows)
{
    struct stream_series *s = w->series;
    const bool each = s->o->label == LABEL_ROW;
    const uint32_t window = s->o->window;
    for (size_t k = first; k < first + count; k++) {
        const uint32_t *records = s->windows + k * window;
        uint32_t length = window_end(s, records);
        bool bad = s->o->carry && !s->begins[k] && s->bad; /* what it carries on is bad */
        for (uint32_t t = 0; t < length; t++)
            bad |= w->now.bad[records[t]];
        s->bad = bad;
        for (uint32_t t = each ? 0 : length - 1; t < length; t++) {
            window_mean_add(&s->mean, records[t], s->logits, each ? windows * window : windows,
                            each ? k * window + t : k);
            s->line[records[t]] = true;
            s->broken[records[t]] |= bad;
        }
    }
}

static bool answer_span(struct work *w, size_t windows, struct err *e)
{
    struct stream_series *s = w->series;
    struct serve *v = w->t->serve;
    const uint32_t answers = s->o->label == LABEL_ROW ? s->o->window : 1;
    size_t wanted = windows * answers * v->member_count * v->outputs, at = 0;
    if (wanted > s->logit_room) {
        mem_free(s->logits);
        s->logits = mem_alloc(wanted, sizeof *s->logits);
        s->logit_room = wanted;
    }
    memset(w->now.logits, 0,
           w->now.rows * v->member_count * v->outputs * sizeof *w->now.logits);
    memset(s->line, 0, w->now.rows * sizeof *s->line);
    window_mean_begin(&s->mean, v->member_count, w->now.rows, v->outputs);
    memset(s->broken, 0, w->now.rows * sizeof *s->broken);
    if (!serve_answer_windows(v, w->now.records, w->now.rows, s->windows,
                              s->begins, windows, s->logits, e))
        return false;
    for (size_t k = 0; k < s->piece_count; at += s->pieces[k++].windows)
        if (s->o->label == LABEL_GROUP)
            answer_group(w, &s->pieces[k], at, windows);
        else
            answer_windows(w, at, (size_t)s->pieces[k].windows, windows);
    if (s->o->label != LABEL_GROUP)
        window_mean_put(&s->mean, w->now.logits, w->now.rows, 0);
    return true;
}

/* The next span begins with record `next` of this one, `delivered` of its records are. */
static void go_on(struct stream_series *s, size_t records, size_t delivered, size_t next)
{
    const struct piece *last = &s->pieces[s->piece_count - 1];
    s->goes_on = !last->closed;
    s->group = s->key[records - 1];
    s->context = delivered - next;
    s->at = last->at + (next - last->begin);
    if (next)
        s->order = s->place[next - 1];
}

/* records: number of the span's records; it begins at record `first` of the block. */
static bool span(struct work *w, size_t first, size_t records, bool final,
                 const struct stream_sink *sink, size_t *next, struct err *e)
{
    struct stream_series *s = w->series;
    const size_t context = s->context;
    size_t windows = 0;
    if (!find_pieces(w, first, records, final, e))
        return false;
    for (size_t k = 0; k < s->piece_count; k++) {
        plan_piece(s, &s->pieces[k]);
        windows = add_windows(s, &s->pieces[k], windows);
    }
    const struct piece *last = &s->pieces[s->piece_count - 1];
    *next = last->next;
    count_steps(w, first, context, last->delivered);
    w->now.first = first;
    w->now.rows = records;
    if (last->delivered > context || windows) {
        bool *broken = mem_copy(s->broken, records * sizeof *broken);
        work_parse(w, context, last->delivered);
        for (size_t i = 0; i < records; i++)
            w->now.bad[i] |= broken[i];
        mem_free(broken);
        if (!answer_span(w, windows, e) ||
            !work_deliver(w, context, last->delivered, s->line, s->broken, sink, e))
            return false;
    }
    go_on(s, records, last->delivered, *next);
    return true;
}

bool stream_series_answer(struct work *w, bool final, const struct stream_sink *sink,
                          size_t *kept, struct err *e)
{
    struct stream_series *s = w->series;
    const size_t all = w->cells->record_count;
    size_t at = 0, next = 1;
    while (at < all && next) {
        size_t left = all - at, records = left < s->room ? left : s->room;
        if (!span(w, at, records, final && records == left, sink, &next, e))
            return false;
        at += next;
    }
    *kept = at;
    return true;
}
