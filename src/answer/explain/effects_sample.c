/* effects_sample.c - the rows that effects are measured on; see effects.h. */
#include "answer/explain/effects_parts.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "table/encoder/cell_copy.h"

#define SEED 20260103u

static bool read_weight(const struct sample *x, const struct stream_group *g, uint64_t i,
                        double *weight, struct err *e)
{
    const struct stream *t = x->stream;
    *weight = 1;
    if (t->in.binding.weight < 0)
        return true;
    const uint32_t column = t->in.binding.column_of[t->in.binding.weight];
    const struct csv_cell *cell = cell_at(&t->in.binding, g->cells, g->first + i, column);
    if (cell_weight(t->schema, column, cell, weight))
        return true;
    int64_t line;
    const size_t at = stream_place(t, g, i, &line);
    return err_at(e, ERR_CSV_WEIGHT, x->q->rows.input_count ? x->q->rows.inputs[at] : "-", line, 0,
                  "column \"%s\": \"%s\" is not a weight from 0 to 1e20",
                  text_quote_z(t->schema->columns[column].name),
                  text_quote(cell->text, cell->length));
}

/* Keeps the cells as they are written. Of wide sequences numbers suffice. */
static void keep_cells(struct sample *x, const struct stream_group *g, uint64_t i, uint64_t row)
{
    const struct schema *s = x->store.serve->schema;
    struct sample_cells *to = &x->cells[row];
    struct text all = {0};
    to->end = mem_alloc(s->column_count, sizeof *to->end);
    for (size_t c = 0; !s->steps && c < s->column_count; c++) {
        const struct csv_cell *cell = cell_at(&x->stream->in.binding, g->cells, g->first + i, c);
        if (cell)
            text_add(&all, cell->text, cell->length);
        to->end[c] = (uint32_t)all.length;
    }
    to->bytes = all.data;
}

static void free_cells(struct sample_cells *c)
{
    mem_free(c->bytes);
    mem_free(c->end);
    *c = (struct sample_cells){0};
}

/* The place of the next row in the sample, or UINT64_MAX: it is not drawn. */
static uint64_t draw_place(const struct sample *x)
{
    if (x->store.rows < x->most)
        return x->store.rows;
    if (x->store.window)
        return UINT64_MAX;
    double share = rng_uniform(SEED, x->seen, 0, 0, RNG_SAMPLE);
    uint64_t place = (uint64_t)(share * (double)(x->seen + 1));
    return place < x->most ? place : UINT64_MAX;
}

static bool keep_row(struct sample *x, const struct stream_group *g, uint64_t i, uint64_t place,
                     double weight, struct err *e)
{
    if (x->store.rows >= x->room) {
        uint64_t room = x->room ? 2 * x->room : EFFECTS_ROWS;
        x->cells = mem_grow(x->cells, room, sizeof *x->cells);
        x->weight = mem_grow(x->weight, room, sizeof *x->weight);
        memset(x->cells + x->room, 0, (room - x->room) * sizeof *x->cells);
        x->room = room;
    }
    bool last = place == x->store.rows;
    if (!store_add(&x->store, x->stream, g, i, e))
        return false;
    if (!last)
        store_replace(&x->store, place);
    free_cells(&x->cells[place]);
    keep_cells(x, g, i, place);
    x->weight[place] = weight;
    return true;
}

static bool keep_group(void *context, const struct stream_group *g, struct err *e)
{
    struct sample *x = context;
    for (uint64_t i = 0; g->cells && i < g->rows; i++) {
        double weight;
        if (g->bad[i] && !x->store.window)
            continue;
        if (!read_weight(x, g, i, &weight, e))
            return false;
        x->r->rows++;
        uint64_t place = draw_place(x);
        x->seen++;
        if (place != UINT64_MAX && !keep_row(x, g, i, place, weight, e))
            return false;
    }
    return true;
}

bool sample_read(struct sample *x, struct err *e)
{
    struct stream stream = {0};
    struct rows_request rows = x->q->rows;
    const struct stream_sink sink = {.group = keep_group, .context = x};
    rows.progress = PROGRESS_NONE;
    rows.strict = rows.weighed = true;
    x->stream = &stream;
    bool good = stream_open(&stream, x->store.serve, &rows, &sink, e) &&
                stream_run(&stream, e);
    if (good)
        store_lines(&x->store);
    x->r->lines = x->store.line_count;
    if (good && !x->r->lines && stream.weightless)
        good = err_set(e, ERR_WEIGHT_SUM,
                       "the weight of each row is 0: there is nothing to measure");
    else if (good && !x->r->lines)
        good = err_at(e, ERR_CSV_NO_ROWS, rows_path(&rows), 0, 0,
                      "0 data rows: there is nothing to measure");
    stream_close(&stream);
    x->stream = NULL;
    return good;
}

const char *sample_cell(const struct sample *x, uint64_t row, uint32_t column, size_t *length)
{
    const struct sample_cells *c = &x->cells[row];
    const uint32_t from = column ? c->end[column - 1] : 0;
    *length = c->end[column] - from;
    return *length ? c->bytes + from : "";
}

void sample_free(struct sample *x)
{
    for (uint64_t i = 0; i < x->room; i++)
        free_cells(&x->cells[i]);
    mem_free(x->cells);
    mem_free(x->weight);
    store_close(&x->store);
}
