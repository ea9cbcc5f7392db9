/* row_store_series.c - see row_store_series.h. */
#include "answer/explain/row_store_series.h"

#include <string.h>

#include "base/mem.h"
#include "base/process/thread.h"

#define TILE 4u /* windows */

/* --- windows and lines --- */

static uint64_t chunk_windows(const struct row_store *x)
{
    uint64_t most = KEPT_CHUNK / x->window ? KEPT_CHUNK / x->window : 1;
    return most < x->windows.count ? most : x->windows.count;
}

static void make_room(struct row_store *x)
{
    const struct serve *v = x->serve;
    const size_t windows = chunk_windows(x), records = windows * x->window;
    const size_t numbers = (size_t)v->member_count * v->outputs;
    const size_t logits = windows * window_answers(&v->schema->windows);
    x->records = mem_alloc(records * v->encoder_count + 1, v->stride);
    x->chunk = mem_alloc(records + 1, sizeof *x->chunk);
    x->logits = mem_alloc((logits > x->line_count ? logits : x->line_count) * numbers + 1,
                          sizeof *x->logits);
    x->answer = mem_alloc(x->line_count * x->width + 1, sizeof *x->answer);
}

/* A model that sorts reads files in any order. */
void store_series_lines(struct row_store *x)
{
    const struct windows *w = &x->serve->schema->windows;
    struct row_places p;
    row_places_begin(&p, x->rows);
    for (uint64_t i = 0; i < x->rows; i++)
        row_places_add(&p, &x->steps[i]);
    row_places_sort(&p);
    for (uint64_t at = 0, end; at < x->rows; at = end) {
        end = row_places_end(&p, at);
        for (uint64_t k = 0; k < windows_count(w, end - at); k++) {
            const struct window one = window_at(w, end - at, k);
            window_list_add(&x->windows, w, &one, p.at + at, 0);
        }
    }
    row_places_free(&p);
    x->row_of = mem_alloc(x->rows + 1, sizeof *x->row_of);
    x->line_count = lines_number(x->windows.line, x->windows.count * window_answers(w), x->rows,
                                 x->wanted, x->row_of);
    make_room(x);
}

void store_series_close(struct row_store *x)
{
    mem_free(x->steps);
    mem_free(x->chunk);
    window_list_free(&x->windows);
    window_mean_free(&x->mean);
}

/* --- answers --- */

/* The records of window w for encoder k, at `to`. */
static void encode_window(const struct row_store *x, uint32_t k, uint64_t w, unsigned char *to)
{
    const struct encoder *c = x->serve->encoders[k];
    const size_t stride = c->format.stride;
    uint32_t length;
    const uint32_t *rows = store_window(x, w, &length);
    memset(to + length * stride, 0, (x->window - length) * stride);
    for (uint32_t t = 0; t < length; t++)
        memcpy(to + t * stride, x->raw[k] + rows[t] * stride, stride);
    if (x->change)
        x->change(x->context, k, w, length, to);
    encoder_apply(c, to, length);
}

static void encode_tile(void *context, unsigned tile, unsigned thread)
{
    const struct row_store *x = context;
    uint64_t begin = (uint64_t)tile * TILE, end = begin + TILE < x->count ? begin + TILE : x->count;
    (void)thread;
    for (uint64_t i = begin; i < end; i++) {
        const uint32_t *window = x->windows.rows + (x->first + i) * x->window;
        for (uint32_t k = 0; k < x->serve->encoder_count; k++)
            encode_window(x, k, x->first + i,
                          x->records + k * x->count * x->window * x->serve->stride +
                              i * x->window * x->serve->encoders[k]->format.stride);
        for (uint32_t t = 0; t < x->window; t++)
            x->chunk[i * x->window + t] =
                window[t] == SAMPLE_NONE ? SOURCE_NONE : (uint32_t)(i * x->window + t);
    }
}

static bool add_windows(struct row_store *x, struct err *e)
{
    const struct serve *v = x->serve;
    const uint64_t most = chunk_windows(x);
    const uint32_t answers = window_answers(&v->schema->windows);
    window_mean_begin(&x->mean, v->member_count, x->line_count, v->outputs);
    for (x->first = 0; x->first < x->windows.count; x->first += x->count) {
        x->count = x->windows.count - x->first < most ? x->windows.count - x->first : most;
        threads_run((unsigned)((x->count + TILE - 1) / TILE), encode_tile, x);
        if (stream_stopped(e) || !serve_answer_windows(x->serve, x->records, x->count * x->window,
                                                       x->chunk, NULL, x->count, x->logits, e))
            return false;
        window_mean_add(&x->mean, x->windows.line + x->first * answers, x->logits,
                        x->count * answers, 0, x->count * answers);
    }
    return true;
}

bool store_series_answer(struct row_store *x, struct err *e)
{
    const uint64_t lines = x->line_count;
    if (!add_windows(x, e))
        return false;
    window_mean_put(&x->mean, x->logits, lines, 0);
    struct answer_mean mean = store_mean(x, x->logits, lines);
    if (x->classes)
        answer_mean_probabilities(&mean, 0, lines, x->classes, x->answer);
    for (uint64_t i = 0; !x->classes && i < lines; i++)
        store_values(x, &mean, i, x->answer + i * x->width);
    return true;
}
