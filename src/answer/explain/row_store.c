/* row_store.c - see row_store.h. */
#include "answer/explain/row_store.h"

#include <string.h>

#include "base/mem.h"
#include "base/process/thread.h"

#define TILE 256u /* records of a tile */
#define CHUNK 8192u /* records that are answered at once */

void store_open(struct row_store *x, struct serve *s)
{
    *x = (struct row_store){.serve = s, .window = s->schema->windows.window,
                            .classes = s->schema->task == TASK_REGRESSION ? 0 : s->outputs};
    x->width = s->outputs;
    x->raw = mem_zero(s->encoder_count, sizeof(unsigned char *));
}

void store_middle(struct row_store *x)
{
    x->middle = !x->classes;
    x->width = x->classes ? x->classes : 1;
}

void store_values(const struct row_store *x, const struct answer_mean *mean, uint64_t line,
                  double *value)
{
    if (x->middle)
        *value = answer_mean_value(mean, line);
    else
        answer_mean_values(mean, line, value);
}

static void make_room(struct row_store *x)
{
    if (x->rows < x->room)
        return;
    x->room = x->rows ? 2 * x->rows : 256;
    for (uint32_t k = 0; k < x->serve->encoder_count; k++)
        x->raw[k] = mem_grow(x->raw[k], x->room, x->serve->encoders[k]->format.stride);
    x->wanted = mem_grow(x->wanted, x->room, sizeof *x->wanted);
    if (x->window)
        x->steps = mem_grow(x->steps, x->room, sizeof *x->steps);
}

bool store_add(struct row_store *x, const struct stream *t, const struct stream_group *g,
               uint64_t i, struct err *e)
{
    if (x->rows >= UINT32_MAX - 1)
        return err_set(e, ERR_CSV_LIMIT, "the files have more than %u rows", UINT32_MAX - 1);
    make_room(x);
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        const struct encoder *c = x->serve->encoders[k];
        const struct raw_record raw = {t->encoder, x->raw[0] + x->rows * t->encoder->format.stride};
        if (!cell_parse(c, &t->in.binding, NULL, g->cells, g->first + i, t->request.labelled,
                        k ? &raw : NULL, x->raw[k] + x->rows * c->format.stride, NULL, &x->terms,
                        e))
            return false;
    }
    struct err ignored = {0}; /* a row without a place has ended the stream */
    if (x->window)
        series_step_read(t->schema, &t->in.binding, NULL, g->cells, g->first + i,
                         &x->steps[x->rows], &ignored);
    x->wanted[x->rows++] = !g->bad[i];
    return true;
}

/* Copies a row of `from` to that place of x, which has room. */
static void put_row(struct row_store *x, uint64_t place, const struct row_store *from, uint64_t row)
{
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        const size_t stride = x->serve->encoders[k]->format.stride;
        memmove(x->raw[k] + place * stride, from->raw[k] + row * stride, stride);
    }
    x->wanted[place] = from->wanted[row];
}

void store_copy(struct row_store *x, const struct row_store *from, uint64_t row)
{
    make_room(x);
    put_row(x, x->rows++, from, row);
}

void store_replace(struct row_store *x, uint64_t row)
{
    put_row(x, row, x, --x->rows);
}

/* Lists the windows of the rows, in order: a model that sorts reads files in any order. */
static void list_windows(struct row_store *x)
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
    x->line_count = lines_number(x->windows.line, x->windows.count * window_answers(w), x->rows,
                                 x->wanted, x->row_of);
}

/* Records of a read. */
static uint32_t read_length(const struct row_store *x)
{
    return x->window ? x->window : 1;
}

/* Reads that are answered at once. */
static uint64_t chunk_reads(const struct row_store *x)
{
    const uint64_t all = store_reads(x);
    const uint64_t most = CHUNK / read_length(x) ? CHUNK / read_length(x) : 1;
    return most < all ? most : all;
}

void store_lines(struct row_store *x)
{
    const struct serve *v = x->serve;
    x->row_of = mem_grow(x->row_of, x->rows + 1, sizeof *x->row_of);
    x->line_count = x->rows;
    for (uint64_t i = 0; i < x->rows; i++)
        x->row_of[i] = (uint32_t)i;
    if (x->window)
        list_windows(x);
    const size_t reads = chunk_reads(x), records = reads * read_length(x);
    const size_t answers = x->window ? reads * window_answers(&v->schema->windows) : reads;
    const size_t logits = x->window && x->line_count > answers ? x->line_count : answers;
    x->records = mem_grow(x->records, records * v->encoder_count + 1, v->stride);
    x->chunk = x->window ? mem_grow(x->chunk, records + 1, sizeof *x->chunk) : NULL;
    x->logits = mem_grow(x->logits, logits * v->member_count * v->outputs + 1, sizeof *x->logits);
    x->answer = mem_grow(x->answer, x->line_count * x->width + 1, sizeof *x->answer);
}

uint64_t store_reads(const struct row_store *x)
{
    return x->window ? x->windows.count : x->rows;
}

const uint32_t *store_window(const struct row_store *x, uint64_t window, uint32_t *length)
{
    return window_list_rows(&x->windows, &x->serve->schema->windows, window, length);
}

/* The records of a read for encoder k, at `to`, before the encoding. */
static void place_read(const struct row_store *x, uint32_t k, uint64_t read, unsigned char *to)
{
    const size_t stride = x->serve->encoders[k]->format.stride;
    const uint32_t row = (uint32_t)read, *rows = &row;
    uint32_t length = 1;
    if (x->window)
        rows = store_window(x, read, &length);
    memset(to + length * stride, 0, (read_length(x) - length) * stride);
    for (uint32_t t = 0; t < length; t++)
        memcpy(to + t * stride, x->raw[k] + rows[t] * stride, stride);
    if (x->change)
        x->change(x->context, k, read, length, to);
}

static void encode_tile(void *context, unsigned tile, unsigned thread)
{
    const struct row_store *x = context;
    const uint32_t length = read_length(x), reads = TILE / length ? TILE / length : 1;
    const uint64_t begin = (uint64_t)tile * reads,
                   end = begin + reads < x->count ? begin + reads : x->count;
    (void)thread;
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        const struct encoder *c = x->serve->encoders[k];
        const size_t bytes = length * c->format.stride;
        unsigned char *to = x->records + k * x->count * length * x->serve->stride;
        for (uint64_t i = begin; i < end; i++)
            place_read(x, k, x->first + i, to + i * bytes);
        encoder_apply(c, to + begin * bytes, (end - begin) * length);
    }
    for (uint64_t i = begin * length; x->window && i < end * length; i++)
        x->chunk[i] = x->windows.rows[x->first * length + i] == SAMPLE_NONE ? SOURCE_NONE
                                                                           : (uint32_t)i;
}

static void answer_tile(void *context, unsigned tile, unsigned thread)
{
    const struct row_store *x = context;
    struct answer_mean mean = serve_mean(x->serve, x->logits, x->count);
    uint64_t begin = (uint64_t)tile * TILE, end = begin + TILE < x->count ? begin + TILE : x->count;
    double *answer = x->answer + x->first * x->width;
    (void)thread;
    if (x->before)
        mean.calibration = NULL;
    if (x->classes)
        answer_mean_probabilities(&mean, begin, end, x->classes, answer + begin * x->classes);
    for (uint64_t i = begin; !x->classes && i < end; i++)
        store_values(x, &mean, i, answer + i * x->width);
}

/* Makes x->logits the answers to lines x->first .. x->first + x->count - 1. */
static void take_answers(struct row_store *x)
{
    threads_run((unsigned)((x->count + TILE - 1) / TILE), answer_tile, x);
}

bool store_answer(struct row_store *x, store_change *change, const void *context, struct err *e)
{
    const struct serve *v = x->serve;
    const uint32_t length = read_length(x), tile = TILE / length ? TILE / length : 1;
    const uint32_t answers = window_answers(&v->schema->windows);
    const uint64_t reads = store_reads(x), most = chunk_reads(x);
    x->change = change;
    x->context = context;
    if (x->window)
        window_mean_begin(&x->mean, v->member_count, x->line_count, v->outputs);
    for (x->first = 0; x->first < reads; x->first += x->count) {
        x->count = reads - x->first < most ? reads - x->first : most;
        threads_run((unsigned)((x->count + tile - 1) / tile), encode_tile, x);
        if (stream_stopped(e) ||
            !serve_answer_windows(x->serve, x->records, x->count * length, x->chunk, NULL,
                                  x->count, x->logits, e))
            return false;
        if (x->window)
            window_mean_add(&x->mean, x->windows.line + x->first * answers, x->logits,
                            x->count * answers, 0, x->count * answers);
        else
            take_answers(x);
    }
    if (x->window) {
        window_mean_put(&x->mean, x->logits, x->line_count, 0);
        x->first = 0;
        x->count = x->line_count;
        take_answers(x);
    }
    return true;
}

void store_clear(struct row_store *x)
{
    x->rows = x->line_count = 0;
}

void store_close(struct row_store *x)
{
    void *const all[] = {x->raw,     x->wanted, x->row_of, x->answer,
                         x->records, x->logits, x->steps,  x->chunk};
    for (uint32_t k = 0; x->raw && k < x->serve->encoder_count; k++)
        mem_free(x->raw[k]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    terms_free(&x->terms);
    window_list_free(&x->windows);
    window_mean_free(&x->mean);
}
