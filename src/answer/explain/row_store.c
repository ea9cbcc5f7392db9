/* row_store.c - see row_store.h; for windows row_store_series.c. */
#include "answer/explain/row_store.h"

#include <string.h>

#include "answer/explain/row_store_series.h"
#include "base/mem.h"
#include "base/process/thread.h"

#define TILE 256u

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

struct answer_mean store_mean(const struct row_store *x, const real *logits, uint64_t lines)
{
    struct answer_mean mean = serve_mean(x->serve, logits, lines);
    if (x->before)
        mean.calibration = NULL;
    return mean;
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
        if (!cell_parse(c, &t->binding, NULL, g->cells, g->first + i, t->request.labelled,
                        k ? &raw : NULL, x->raw[k] + x->rows * c->format.stride, NULL, &x->terms,
                        e))
            return false;
    }
    struct err ignored = {0}; /* a row without a place has ended the stream */
    if (x->window)
        series_step_read(t->schema, &t->binding, NULL, g->cells, g->first + i, &x->steps[x->rows],
                         &ignored);
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

void store_lines(struct row_store *x)
{
    if (x->window) {
        store_series_lines(x);
        return;
    }
    const size_t chunk = x->rows < KEPT_CHUNK ? x->rows : KEPT_CHUNK;
    x->row_of = mem_grow(x->row_of, x->rows + 1, sizeof *x->row_of);
    x->line_count = x->rows;
    for (uint64_t i = 0; i < x->rows; i++)
        x->row_of[i] = (uint32_t)i;
    x->records = mem_grow(x->records, chunk * x->serve->encoder_count + 1, x->serve->stride);
    x->logits = mem_grow(x->logits, chunk * x->serve->member_count * x->serve->outputs + 1,
                         sizeof *x->logits);
    x->answer = mem_grow(x->answer, x->rows * x->width + 1, sizeof *x->answer);
}

uint64_t store_reads(const struct row_store *x)
{
    return x->window ? x->windows.count : x->rows;
}

const uint32_t *store_window(const struct row_store *x, uint64_t window, uint32_t *length)
{
    return window_list_rows(&x->windows, &x->serve->schema->windows, window, length);
}

static void encode_tile(void *context, unsigned tile, unsigned thread)
{
    const struct row_store *x = context;
    uint64_t begin = (uint64_t)tile * TILE, end = begin + TILE < x->count ? begin + TILE : x->count;
    (void)thread;
    for (uint32_t k = 0; k < x->serve->encoder_count; k++) {
        const struct encoder *c = x->serve->encoders[k];
        const size_t stride = c->format.stride;
        unsigned char *to = x->records + k * x->count * x->serve->stride;
        memcpy(to + begin * stride, x->raw[k] + (x->first + begin) * stride,
               (end - begin) * stride);
        for (uint64_t i = begin; x->change && i < end; i++)
            x->change(x->context, k, x->first + i, 1, to + i * stride);
        encoder_apply(c, to + begin * stride, end - begin);
    }
}

static void answer_tile(void *context, unsigned tile, unsigned thread)
{
    const struct row_store *x = context;
    struct answer_mean mean = store_mean(x, x->logits, x->count);
    uint64_t begin = (uint64_t)tile * TILE, end = begin + TILE < x->count ? begin + TILE : x->count;
    double *answer = x->answer + x->first * x->width;
    (void)thread;
    if (x->classes)
        answer_mean_probabilities(&mean, begin, end, x->classes, answer + begin * x->classes);
    for (uint64_t i = begin; !x->classes && i < end; i++)
        store_values(x, &mean, i, answer + i * x->width);
}

bool store_answer(struct row_store *x, store_change *change, const void *context, struct err *e)
{
    x->change = change;
    x->context = context;
    if (x->window)
        return store_series_answer(x, e);
    for (x->first = 0; x->first < x->rows; x->first += x->count) {
        x->count = x->rows - x->first < KEPT_CHUNK ? x->rows - x->first : KEPT_CHUNK;
        unsigned tiles = (unsigned)((x->count + TILE - 1) / TILE);
        threads_run(tiles, encode_tile, x);
        if (stream_stopped(e) || !serve_answer(x->serve, x->records, x->count, x->logits, e))
            return false;
        threads_run(tiles, answer_tile, x);
    }
    return true;
}

void store_clear(struct row_store *x)
{
    x->rows = x->line_count = 0;
}

void store_close(struct row_store *x)
{
    void *const all[] = {x->raw, x->wanted, x->row_of, x->answer, x->records, x->logits};
    for (uint32_t k = 0; x->raw && k < x->serve->encoder_count; k++)
        mem_free(x->raw[k]);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mem_free(all[i]);
    terms_free(&x->terms);
    store_series_close(x);
}
