/* stream_series.c - see stream_work.h. A span of records is parsed and its windows are answered;
 * records are delivered once no further window reads them (their answers are means over windows) or
 * their window has its answer. Windows begin at multiples of the stride from the group's begin on,
 * so that neither blocks nor spans change an answer. */
#include <string.h>

#include "answer/stream/stream_work.h"
#include "base/mem.h"
#include "table/schema/record.h"
#include "table/sequence/order.h"
#include "table/sequence/windows.h"

#define GROUPS_MET ((size_t)1 << 16) /* number of remembered groups, to find one that comes again */

/* Records begin .. end of a span, all of one group. */
struct stretch {
    size_t begin, end;
    uint64_t at;   /* place of `begin` in its group */
    bool closed;   /* the group ends with `end` */
    uint64_t first_window, windows; /* answered now: first_window .. first_window + windows - 1 */
    size_t delivered, next; /* records below are delivered; the next span begins at it */
};

struct stream_series {
    const struct windows *o;
    size_t room;
    bool goes_on;              /* the span's first record may be of the group before it */
    struct series_step before; /* of the record before the span */
    uint64_t met[GROUPS_MET];
    uint64_t parted; /* the last group of an input before, whose columns were others; 0: none */
    uint64_t at;      /* place of the span's first record in that group */
    size_t context;   /* its first records, which are delivered already */
    struct window_mean of_group; /* label group: the mean over the windows so far, one line */
    bool bad; /* of carried state: the window before was bad */
    /* of a span */
    struct series_step *step; /* [room] */
    bool *broken, *line;      /* [room]: the record is bad; it has an answer */
    struct window_list windows; /* of records of the span */
    struct window_mean mean;  /* [room]: of the windows that a record is in */
    real *logits;
    size_t logit_room;
    struct stretch *pieces;
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
    s->step = mem_alloc(room, sizeof *s->step);
    s->broken = mem_zero(room, sizeof *s->broken);
    s->line = mem_zero(room, sizeof *s->line);
    s->pieces = mem_zero(room, sizeof *s->pieces);
    return s;
}

void stream_series_free(struct stream_series *s)
{
    if (!s)
        return;
    void *const all[] = {s->step, s->broken, s->line, s->logits, s->pieces};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    window_list_free(&s->windows);
    window_mean_free(&s->of_group);
    window_mean_free(&s->mean);
    mem_free(s);
}

void stream_series_cut(struct stream_series *s)
{
    s->met[s->before.group % GROUPS_MET] = 0;
    s->goes_on = false;
    s->context = 0;
}

void stream_series_part(struct stream_series *s)
{
    s->met[s->before.group % GROUPS_MET] = s->parted = s->before.group;
}

/* --- the groups of the records --- */

/* Record i of the block is not in order. group: its own. False. */
static bool report(const struct work *w, size_t i, uint64_t group, enum disorder why,
                   struct err *e)
{
    const struct schema *s = w->t->schema;
    int64_t line;
    const char *path = input_name(w->t, work_place(w, i, &line));
    if (s->windows.sort || (why == GROUP_APART && group == w->series->parted)) {
        err_at(e, ERR_SERIES_ORDER, path, line, 0,
               "rows of this group (\"%s\") stand in an earlier file, too, whose columns are not "
               "known to be the same", text_quote_z(s->columns[s->windows.group].name));
        return err_help(e, "a group goes on in a further file if that has the same columns in the "
                           "same order");
    }
    disorder_report(s, why, e);
    err_in_file(e, path);
    e->line = line;
    return err_help(e, "sort the file: rows of one group together, in order%s",
                    s->windows.order == UINT32_MAX
                        ? ""
                        : "; a model trained with \"unordered\": \"sort\" sorts it");
}

/* True: record i of the span is of the group of the record before it, whose step is *before. */
static bool joins(const struct stream_series *s, size_t i, const struct series_step **before)
{
    *before = i ? &s->step[i - 1] : &s->before;
    return (i || s->goes_on) && s->step[i].group == (*before)->group;
}

static void begin_group(struct stream_series *s)
{
    window_mean_begin(&s->of_group, s->of_group.members, 1, s->of_group.outputs);
}

/* Cuts the span into pieces of one group each. False: rows are not in order. A record that cannot
 * be read is of the group before it, and makes it bad. */
static bool find_pieces(struct work *w, size_t first, size_t records, bool final, struct err *e)
{
    struct stream_series *s = w->series;
    s->piece_count = 0;
    for (size_t i = 0; i < records; i++) {
        const struct series_step *before = i ? &s->step[i - 1] : &s->before;
        s->broken[i] = !series_step_follow(w->t->schema, &w->t->in.binding,
                                           work_block(w, first + i), w->cells, first + i,
                                            before, i || s->goes_on, &s->step[i]);
        const bool same = joins(s, i, &before);
        uint64_t *met = &s->met[s->step[i].group % GROUPS_MET];
        if (same && (i || s->at) && s->step[i].order < before->order)
            return report(w, first + i, s->step[i].group, ORDER_FALLS, e);
        if (!same && *met == s->step[i].group && !s->broken[i])
            return report(w, first + i, s->step[i].group, GROUP_APART, e);
        *met = s->step[i].group;
        if (i && same)
            continue;
        if (i)
            s->pieces[s->piece_count - 1].end = i;
        s->pieces[s->piece_count++] = (struct stretch){.begin = i, .at = same ? s->at : 0};
        if (!same && !i) { /* the group that went on ended with the span before */
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
        const struct series_step *before;
        if (!joins(s, i, &before) || s->broken[i] || (i ? s->broken[i - 1] : !s->at))
            continue;
        enum odd_step kind = odd_step(s->o, s->step[i].order - before->order);
        if (kind == ODD_STEPS || odd->count[kind]++)
            continue;
        const struct csv_cell *group = cell_at(&w->t->in.binding, w->cells, first + i, s->o->group);
        int64_t line;
        const size_t at = work_place(w, first + i, &line);
        odd_step_place(&odd->first[kind], input_name(w->t, at), line, group->text, group->length);
    }
}

/* Finds the windows of a piece to answer now, and the records to deliver. Before the end of its
 * group a window is answered only if another one is sure to follow. */
static void plan_piece(const struct stream_series *s, struct stretch *p)
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

static void add_windows(struct stream_series *s, const struct stretch *p)
{
    for (uint64_t k = p->first_window; k < p->first_window + p->windows; k++) {
        const struct window x = window_at(s->o, p->at + (p->end - p->begin), k);
        window_list_add(&s->windows, s->o, &x, NULL, p->begin - p->at);
    }
}

/* label group: the windows of a piece are added; the last one answers. */
static void answer_group(struct work *w, const struct stretch *p, size_t first, size_t windows)
{
    struct stream_series *s = w->series;
    const size_t line = p->end - 1;
    window_mean_add(&s->of_group, NULL, s->logits, windows, first, p->windows);
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

/* The lines of the windows; those of a bad window are broken, and of what it carries on. */
static void find_lines(struct work *w)
{
    struct stream_series *s = w->series;
    const uint32_t answers = window_answers(s->o);
    for (uint64_t k = 0; k < s->windows.count; k++) {
        uint32_t length;
        const uint32_t *records = window_list_rows(&s->windows, s->o, k, &length);
        const uint32_t *line = s->windows.line + k * answers;
        s->bad &= s->o->carry && !s->windows.begins[k];
        for (uint32_t t = 0; t < length; t++)
            s->bad |= w->now.bad[records[t]];
        for (uint32_t i = 0; i < answers && line[i] != SAMPLE_NONE; i++) {
            s->line[line[i]] = true;
            s->broken[line[i]] |= s->bad;
        }
    }
}

static bool answer_span(struct work *w, struct err *e)
{
    struct stream_series *s = w->series;
    struct serve *v = w->t->serve;
    const size_t windows = s->windows.count, answers = windows * window_answers(s->o);
    const size_t wanted = answers * v->member_count * v->outputs;
    if (wanted > s->logit_room) {
        mem_free(s->logits);
        s->logits = mem_alloc(wanted, sizeof *s->logits);
        s->logit_room = wanted;
    }
    memset(w->now.logits, 0,
           w->now.rows * v->member_count * v->outputs * sizeof *w->now.logits);
    memset(s->line, 0, w->now.rows * sizeof *s->line);
    memset(s->broken, 0, w->now.rows * sizeof *s->broken);
    if (!serve_answer_windows(v, w->now.records, w->now.rows, s->windows.rows, s->windows.begins,
                              windows, s->logits, e))
        return false;
    if (s->o->label == LABEL_GROUP) {
        for (size_t k = 0, at = 0; k < s->piece_count; at += s->pieces[k++].windows)
            answer_group(w, &s->pieces[k], at, windows);
        return true;
    }
    window_mean_begin(&s->mean, v->member_count, w->now.rows, v->outputs);
    window_mean_add(&s->mean, s->windows.line, s->logits, answers, 0, answers);
    window_mean_put(&s->mean, w->now.logits, w->now.rows, 0);
    find_lines(w);
    return true;
}

/* The next span begins with record `next` of this one, `delivered` of its records are. */
static void go_on(struct stream_series *s, size_t records, size_t delivered, size_t next)
{
    const struct stretch *last = &s->pieces[s->piece_count - 1];
    s->goes_on = !last->closed;
    if (next)
        s->before.order = s->step[next - 1].order;
    s->before.group = s->step[records - 1].group;
    s->context = delivered - next;
    s->at = last->at + (next - last->begin);
}

/* records: number of the span's records; it begins at record `first` of the block. */
static bool span(struct work *w, size_t first, size_t records, bool final, size_t *next,
                 struct err *e)
{
    struct stream_series *s = w->series;
    const size_t context = s->context;
    s->windows.count = 0;
    if (!find_pieces(w, first, records, final, e))
        return false;
    for (size_t k = 0; k < s->piece_count; k++) {
        plan_piece(s, &s->pieces[k]);
        add_windows(s, &s->pieces[k]);
    }
    const struct stretch *last = &s->pieces[s->piece_count - 1];
    *next = last->next;
    count_steps(w, first, context, last->delivered);
    w->now.first = first;
    w->now.rows = records;
    if (last->delivered > context || s->windows.count) {
        work_parse(w, context, last->delivered);
        for (size_t i = 0; i < records; i++)
            w->now.bad[i] |= s->broken[i];
        if (!answer_span(w, e) ||
            !work_deliver(w, &w->now, context, last->delivered, s->line, s->broken, e))
            return false;
    }
    go_on(s, records, last->delivered, *next);
    return true;
}

bool stream_series_answer(struct work *w, bool final,
                          size_t *kept, struct err *e)
{
    struct stream_series *s = w->series;
    const size_t all = w->cells->record_count;
    size_t at = 0, next = 1;
    while (at < all && next) {
        size_t left = all - at, records = left < s->room ? left : s->room;
        if (!span(w, at, records, final && records == left, &next, e))
            return false;
        at += next;
    }
    *kept = at;
    return true;
}
