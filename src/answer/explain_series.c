/* explain_series.c - see explain_series.h. */
#include "answer/explain_series.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/sort.h"
#include "base/thread.h"
#include "table/cell_copy.h"
#include "table/samples.h"
#include "table/series.h"
#include "table/vocab.h"

#define TILE 4u /* windows */
#define OTHER_INPUT UINT64_C(0x9e3779b97f4a7c15)

/* --- rows --- */

void explain_series_room(struct explain *x)
{
    if (!x->window)
        return;
    x->group = mem_grow(x->group, x->room, sizeof *x->group);
    x->order = mem_grow(x->order, x->room, sizeof *x->order);
}

void explain_series_place(struct explain *x, const struct stream_group *g, uint64_t row)
{
    const struct schema *s = x->serve->schema;
    struct err ignored = {0}; /* a row without a place has ended the stream */
    if (!x->window)
        return;
    x->order[x->rows] = 0;
    series_place(s, &x->stream->binding, NULL, g->cells, g->first + row, &x->group[x->rows],
                 s->windows.order == UINT32_MAX ? NULL : &x->order[x->rows], &ignored);
    x->group[x->rows] += x->input * OTHER_INPUT; /* a group ends with its file */
}

struct place {
    double order;
    uint32_t group, row; /* group: in the order of first rows */
};

static int by_place(const void *one, const void *other, const void *context)
{
    const struct place *a = one, *b = other;
    (void)context;
    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Groups together, each in order: a model that sorts reads files in any order. */
static struct place *put_in_order(const struct explain *x)
{
    struct place *places = mem_alloc(x->rows + 1, sizeof *places);
    struct vocab *met = vocab_new();
    for (uint64_t i = 0; i < x->rows; i++)
        places[i] = (struct place){
            x->order[i], vocab_add(met, (const char *)&x->group[i], sizeof x->group[i]),
            (uint32_t)i};
    vocab_free(met);
    sort_stable(places, x->rows, sizeof *places, by_place, NULL);
    return places;
}

/* --- windows and answers --- */

static bool has_target(const struct explain *x, uint32_t row)
{
    return x->classes ? x->label[row] >= 0 : !isnan(x->target[row]);
}

/* An answer that is measured by the target of a row; SAMPLE_NONE: it has none. */
static uint32_t add_line(struct explain *x, uint32_t row)
{
    if (!has_target(x, row))
        return SAMPLE_NONE;
    x->row_of[x->line_count] = row;
    return (uint32_t)x->line_count++;
}

/* The windows of a group of `count` rows. */
static void add_group(struct explain *x, const struct place *places, uint64_t count)
{
    const struct windows *w = &x->serve->schema->windows;
    uint32_t line = w->label == LABEL_GROUP ? add_line(x, places[count - 1].row) : SAMPLE_NONE;
    for (uint64_t i = 0; i < count && w->label == LABEL_ROW; i++)
        x->line[places[i].row] = add_line(x, places[i].row);
    for (uint64_t k = 0; k < windows_count(w, count); k++) {
        const struct place *first = places + k * w->stride;
        const uint32_t length = window_length(w, count, k);
        uint32_t *to = x->windows + x->window_count * w->window;
        for (uint32_t t = 0; t < w->window; t++)
            to[t] = t < length ? first[t].row : SAMPLE_NONE;
        if (w->label != LABEL_ROW)
            x->line[x->window_count] =
                w->label == LABEL_LAST ? add_line(x, first[length - 1].row) : line;
        x->window_count++;
    }
}

static uint64_t group_end(const struct explain *x, const struct place *places, uint64_t begin)
{
    uint64_t end = begin + 1;
    while (end < x->rows && places[end].group == places[begin].group)
        end++;
    return end;
}

void explain_series_list(struct explain *x)
{
    const struct windows *w = &x->serve->schema->windows;
    struct place *places = put_in_order(x);
    uint64_t most = 0;
    for (uint64_t at = 0, end; at < x->rows; at = end) {
        end = group_end(x, places, at);
        most += windows_count(w, end - at);
    }
    x->windows = mem_alloc(most * w->window + 1, sizeof *x->windows);
    x->line = mem_alloc(x->rows + 1, sizeof *x->line);
    x->row_of = mem_alloc(x->rows + 1, sizeof *x->row_of);
    for (uint64_t at = 0, end; at < x->rows; at = end) {
        end = group_end(x, places, at);
        add_group(x, places + at, end - at);
    }
    mem_free(places);
}

/* --- measuring --- */

static uint64_t chunk_windows(const struct explain *x)
{
    uint64_t most = EXPLAIN_CHUNK / x->window ? EXPLAIN_CHUNK / x->window : 1;
    return most < x->window_count ? most : x->window_count;
}

static uint32_t answers_of(const struct explain *x)
{
    return x->serve->schema->windows.label == LABEL_ROW ? x->window : 1;
}

void explain_series_begin(struct explain *x)
{
    const struct serve *v = x->serve;
    const size_t windows = chunk_windows(x), records = windows * x->window;
    const size_t numbers = (size_t)v->member_count * v->outputs;
    const size_t logits = windows * answers_of(x);
    x->records = mem_alloc(records * v->encoder_count, v->stride);
    x->chunk = mem_alloc(records, sizeof *x->chunk);
    x->logits = mem_alloc((logits > x->line_count ? logits : x->line_count) * numbers,
                          sizeof *x->logits);
    x->sum = mem_alloc(x->line_count * numbers, sizeof *x->sum);
    x->times = mem_alloc(x->line_count, sizeof *x->times);
    x->answer = mem_alloc(x->line_count * x->width, sizeof *x->answer);
}

void explain_series_end(struct explain *x)
{
    void *const all[] = {x->group, x->order, x->windows, x->line,
                         x->row_of, x->chunk, x->sum,    x->times};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
}

static uint32_t length_of(const struct explain *x, const uint32_t *window)
{
    uint32_t length = 0;
    while (length < x->window && window[length] != SAMPLE_NONE)
        length++;
    return length;
}

/* The records of window w of encoder k, at `to`, with the dealt cells. */
static void encode_window(const struct explain *x, uint32_t k, uint64_t w, unsigned char *to)
{
    const struct schema *s = x->serve->encoders[k];
    const size_t stride = s->format.stride;
    const uint32_t *own = x->windows + w * x->window;
    const uint32_t *other = x->dealt ? x->windows + (uint64_t)x->from[w] * x->window : NULL;
    const uint32_t length = length_of(x, own), others = other ? length_of(x, other) : 0;
    memset(to + length * stride, 0, (x->window - length) * stride);
    for (uint32_t t = 0; t < length; t++) {
        memcpy(to + t * stride, x->raw[k] + own[t] * stride, stride);
        for (uint32_t c = 0; other && c < x->dealt->count; c++)
            cell_copy(&s->format, &s->columns[x->dealt->columns[c]], to + t * stride,
                      x->raw[k] + other[t % others] * stride);
    }
    column_apply(s, to, length);
}

static void encode_tile(void *context, unsigned tile, unsigned thread)
{
    const struct explain *x = context;
    uint64_t begin = (uint64_t)tile * TILE, end = begin + TILE < x->count ? begin + TILE : x->count;
    (void)thread;
    for (uint64_t i = begin; i < end; i++) {
        const uint32_t *window = x->windows + (x->first + i) * x->window;
        for (uint32_t k = 0; k < x->serve->encoder_count; k++)
            encode_window(x, k, x->first + i,
                          x->records + k * x->count * x->window * x->serve->stride +
                              i * x->window * x->serve->encoders[k]->format.stride);
        for (uint32_t t = 0; t < x->window; t++)
            x->chunk[i * x->window + t] =
                window[t] == SAMPLE_NONE ? SOURCE_NONE : (uint32_t)(i * x->window + t);
    }
}

/* Adds answer j of window i of the chunk. */
static void add_answer(struct explain *x, uint64_t i, uint32_t j, uint32_t line)
{
    const struct serve *v = x->serve;
    const uint32_t answers = answers_of(x);
    if (line == SAMPLE_NONE)
        return;
    x->times[line]++;
    for (uint32_t m = 0; m < v->member_count; m++)
        for (uint32_t o = 0; o < v->outputs; o++)
            x->sum[((size_t)m * x->line_count + line) * v->outputs + o] +=
                (double)x->logits[((m * x->count + i) * answers + j) * v->outputs + o];
}

static bool add_windows(struct explain *x, struct err *e)
{
    const struct serve *v = x->serve;
    const uint64_t most = chunk_windows(x);
    memset(x->sum, 0, x->line_count * v->member_count * v->outputs * sizeof *x->sum);
    memset(x->times, 0, x->line_count * sizeof *x->times);
    for (x->first = 0; x->first < x->window_count; x->first += x->count) {
        x->count = x->window_count - x->first < most ? x->window_count - x->first : most;
        threads_run((unsigned)((x->count + TILE - 1) / TILE), encode_tile, x);
        if (stream_stopped(e) || !serve_answer_windows(x->serve, x->records, x->count * x->window,
                                                       x->chunk, NULL, x->count, x->logits, e))
            return false;
        for (uint64_t i = 0; i < x->count; i++) {
            const uint32_t *window = x->windows + (x->first + i) * x->window;
            if (answers_of(x) == 1)
                add_answer(x, i, 0, x->line[x->first + i]);
            for (uint32_t t = 0; answers_of(x) > 1 && t < length_of(x, window); t++)
                add_answer(x, i, t, x->line[window[t]]);
        }
    }
    return true;
}

bool explain_series_measure(struct explain *x, struct tally *t, struct err *e)
{
    const struct serve *v = x->serve;
    const uint64_t lines = x->line_count;
    if (!add_windows(x, e))
        return false;
    for (uint32_t m = 0; m < v->member_count; m++)
        for (uint64_t i = 0; i < lines * v->outputs; i++)
            x->logits[m * lines * v->outputs + i] =
                (real)(x->sum[m * lines * v->outputs + i] / x->times[i / v->outputs]);
    struct answer_mean mean = serve_mean(v, x->logits, lines);
    if (x->classes)
        answer_mean_probabilities(&mean, 0, lines, x->classes, x->answer);
    for (uint64_t i = 0; i < lines; i++) {
        const uint32_t row = x->row_of[i];
        if (!x->classes)
            x->answer[i] = answer_mean_value(&mean, i);
        tally_add(t, &(struct scores){.task = t->task,
                                      .rows = 1,
                                      .classes = x->classes,
                                      .probability = x->answer + i * x->width,
                                      .value = x->answer + i,
                                      .label = x->label + row,
                                      .target = x->target + row,
                                      .weight = x->weight + row});
    }
    return true;
}
