/* row_store_series.c - see row_store_series.h. */
#include "answer/row_store_series.h"

#include <string.h>

#include "base/mem.h"
#include "base/thread.h"
#include "table/samples.h"
#include "table/series.h"
#include "table/vocab.h"

#define TILE 4u /* windows */

/* --- rows --- */

void store_series_room(struct row_store *x)
{
    x->group = mem_grow(x->group, x->room, sizeof *x->group);
    x->order = mem_grow(x->order, x->room, sizeof *x->order);
}

void store_series_place(struct row_store *x, const struct stream *t, const struct stream_group *g,
                        uint64_t i)
{
    const struct schema *s = x->serve->schema;
    struct err ignored = {0}; /* a row without a place has ended the stream */
    x->order[x->rows] = 0;
    series_place(s, &t->binding, NULL, g->cells, g->first + i, &x->group[x->rows],
                 s->windows.order == UINT32_MAX ? NULL : &x->order[x->rows], &ignored);
}

/* Groups together, each in order: a model that sorts reads files in any order. */
static struct row_place *put_in_order(const struct row_store *x)
{
    struct row_place *places = mem_alloc(x->rows + 1, sizeof *places);
    struct vocab *met = vocab_new();
    for (uint64_t i = 0; i < x->rows; i++)
        places[i] = (struct row_place){
            x->order[i], vocab_add(met, (const char *)&x->group[i], sizeof x->group[i]),
            (uint32_t)i};
    vocab_free(met);
    row_places_sort(places, x->rows);
    return places;
}

/* --- windows and lines --- */

/* The windows of a group of `count` rows. */
static void add_group(struct row_store *x, const struct row_place *places, uint64_t count)
{
    const struct windows *w = &x->serve->schema->windows;
    for (uint64_t k = 0; k < windows_count(w, count); k++) {
        const struct row_place *first = places + k * w->stride;
        const uint32_t length = window_length(w, count, k);
        uint32_t *to = x->windows + x->window_count * w->window;
        for (uint32_t t = 0; t < w->window; t++)
            to[t] = t < length ? first[t].row : SAMPLE_NONE;
        x->ends[x->window_count++] =
            w->label == LABEL_GROUP ? places[count - 1].row : first[length - 1].row;
    }
}

static uint64_t group_end(const struct row_store *x, const struct row_place *places, uint64_t begin)
{
    uint64_t end = begin + 1;
    while (end < x->rows && places[end].group == places[begin].group)
        end++;
    return end;
}

static uint32_t answers_of(const struct row_store *x)
{
    return x->serve->schema->windows.label == LABEL_ROW ? x->window : 1;
}

static void number_lines(struct row_store *x)
{
    bool *has = mem_zero(x->rows + 1, sizeof *has);
    for (uint64_t i = 0; i < x->window_count; i++)
        has[x->ends[i]] = true;
    for (uint64_t i = 0; i < x->rows; i++) {
        bool line = x->wanted[i] && (has[i] || answers_of(x) > 1);
        x->line_of[i] = line ? (uint32_t)x->line_count : SAMPLE_NONE;
        if (line)
            x->row_of[x->line_count++] = (uint32_t)i;
    }
    mem_free(has);
}

static uint64_t chunk_windows(const struct row_store *x)
{
    uint64_t most = KEPT_CHUNK / x->window ? KEPT_CHUNK / x->window : 1;
    return most < x->window_count ? most : x->window_count;
}

static void make_room(struct row_store *x)
{
    const struct serve *v = x->serve;
    const size_t windows = chunk_windows(x), records = windows * x->window;
    const size_t numbers = (size_t)v->member_count * v->outputs;
    const size_t logits = windows * answers_of(x);
    x->records = mem_alloc(records * v->encoder_count + 1, v->stride);
    x->chunk = mem_alloc(records + 1, sizeof *x->chunk);
    x->logits = mem_alloc((logits > x->line_count ? logits : x->line_count) * numbers + 1,
                          sizeof *x->logits);
    x->answer = mem_alloc(x->line_count * x->width + 1, sizeof *x->answer);
}

void store_series_lines(struct row_store *x)
{
    const struct windows *w = &x->serve->schema->windows;
    struct row_place *places = put_in_order(x);
    uint64_t most = 0;
    for (uint64_t at = 0, end; at < x->rows; at = end) {
        end = group_end(x, places, at);
        most += windows_count(w, end - at);
    }
    x->windows = mem_alloc(most * w->window + 1, sizeof *x->windows);
    x->ends = mem_alloc(most + 1, sizeof *x->ends);
    x->line_of = mem_alloc(x->rows + 1, sizeof *x->line_of);
    x->row_of = mem_alloc(x->rows + 1, sizeof *x->row_of);
    for (uint64_t at = 0, end; at < x->rows; at = end) {
        end = group_end(x, places, at);
        add_group(x, places + at, end - at);
    }
    mem_free(places);
    number_lines(x);
    make_room(x);
}

void store_series_close(struct row_store *x)
{
    void *const all[] = {x->group, x->order, x->windows, x->ends, x->line_of, x->chunk};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    window_mean_free(&x->mean);
}

/* --- answers --- */

/* The records of window w for encoder k, at `to`. */
static void encode_window(const struct row_store *x, uint32_t k, uint64_t w, unsigned char *to)
{
    const struct schema *s = x->serve->encoders[k];
    const size_t stride = s->format.stride;
    uint32_t length;
    const uint32_t *rows = store_window(x, w, &length);
    memset(to + length * stride, 0, (x->window - length) * stride);
    for (uint32_t t = 0; t < length; t++)
        memcpy(to + t * stride, x->raw[k] + rows[t] * stride, stride);
    if (x->change)
        x->change(x->context, k, w, length, to);
    column_apply(s, to, length);
}

static void encode_tile(void *context, unsigned tile, unsigned thread)
{
    const struct row_store *x = context;
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

/* Adds answer j of window i of the chunk to the line of a row. */
static void add_answer(struct row_store *x, uint64_t i, uint32_t j, uint32_t row)
{
    const uint32_t answers = answers_of(x), line = x->line_of[row];
    if (line != SAMPLE_NONE)
        window_mean_add(&x->mean, line, x->logits, x->count * answers, i * answers + j);
}

static bool add_windows(struct row_store *x, struct err *e)
{
    const struct serve *v = x->serve;
    const uint64_t most = chunk_windows(x);
    window_mean_begin(&x->mean, v->member_count, x->line_count, v->outputs);
    for (x->first = 0; x->first < x->window_count; x->first += x->count) {
        x->count = x->window_count - x->first < most ? x->window_count - x->first : most;
        threads_run((unsigned)((x->count + TILE - 1) / TILE), encode_tile, x);
        if (stream_stopped(e) || !serve_answer_windows(x->serve, x->records, x->count * x->window,
                                                       x->chunk, NULL, x->count, x->logits, e))
            return false;
        for (uint64_t i = 0; i < x->count; i++) {
            uint32_t length;
            const uint32_t *window = store_window(x, x->first + i, &length);
            if (answers_of(x) == 1)
                add_answer(x, i, 0, x->ends[x->first + i]);
            for (uint32_t t = 0; answers_of(x) > 1 && t < length; t++)
                add_answer(x, i, t, window[t]);
        }
    }
    return true;
}

bool store_series_answer(struct row_store *x, struct err *e)
{
    const struct serve *v = x->serve;
    const uint64_t lines = x->line_count;
    if (!add_windows(x, e))
        return false;
    window_mean_put(&x->mean, x->logits, lines, 0);
    struct answer_mean mean = serve_mean(v, x->logits, lines);
    if (x->classes)
        answer_mean_probabilities(&mean, 0, lines, x->classes, x->answer);
    for (uint64_t i = 0; !x->classes && i < lines; i++)
        store_values(x, &mean, i, x->answer + i * x->width);
    return true;
}
