/* effects.c - see effects.h. For each point of a column all rows of the sample are answered with
 * the cell of the row that the point was taken from. */
#include "answer/explain/effects.h"

#include <math.h>
#include <string.h>

#include "answer/explain/effects_parts.h"
#include "base/mem.h"
#include "base/sort.h"
#include "table/encoder/cell_copy.h"
#include "table/schema/record.h"

#define ROUNDING 1e-12

const char *const effect_kind_names[] = {"value", "other", "missing", "word", NULL};

/* --- points --- */

struct effect_point effect_point_new(enum effect_kind kind, const char *value, size_t length,
                                     uint32_t classes)
{
    return (struct effect_point){.kind = kind,
                                 .value = mem_string_n(value, length),
                                 .at = (double)NAN,
                                 .mean = mem_zero(classes, sizeof(double)),
                                 .low = mem_zero(classes, sizeof(double)),
                                 .high = mem_zero(classes, sizeof(double))};
}

void effect_point_free(struct effect_point *p)
{
    mem_free(p->value);
    mem_free(p->mean);
    mem_free(p->low);
    mem_free(p->high);
    *p = (struct effect_point){0};
}

void spread_point(const struct spread *s, struct weighted *values, struct effect_point *p)
{
    for (uint32_t c = 0; c < s->classes; c++) {
        double sum = 0, all = 0;
        size_t count = 0;
        for (uint64_t i = 0; i < s->count; i++) {
            const uint64_t at = i * s->width + s->first + c;
            const double v = s->value[at] - (s->minus ? s->minus[at] : 0);
            if (!(s->weight[i] > 0))
                continue;
            values[count++] = (struct weighted){v, s->weight[i]};
            sum += s->weight[i] * v;
            all += s->weight[i];
        }
        p->mean[c] = all > 0 ? sum / all : (double)NAN;
        p->low[c] = count ? weighted_quantile(values, count, 0.1 * (1 - ROUNDING)) : (double)NAN;
        p->high[c] = count ? weighted_quantile(values, count, 0.9 * (1 - ROUNDING)) : (double)NAN;
    }
}

/* --- one column --- */

/* The source of a point's cells. */
struct placing {
    const struct sample *x;
    const struct unit *unit;
    const struct grid_point *point;
};

/* A channel of wide sequences: the value in all steps that the row has. */
static void place_level(const struct placing *p, const struct encoder *c, unsigned char *record)
{
    for (uint32_t i = 0; i < p->unit->count; i++) {
        const uint32_t number = c->schema->columns[p->unit->columns[i]].number;
        if (!isnan(record_number(record, number)))
            cell_set_number(&c->format, number,
                            (float)(p->point->at - c->numbers[number].offset), record);
    }
}

static void place_cells(const void *context, uint32_t encoder, uint64_t read, uint32_t length,
                        unsigned char *records)
{
    const struct placing *p = context;
    const struct row_store *k = &p->x->store;
    const struct encoder *c = k->serve->encoders[encoder];
    const size_t stride = c->format.stride;
    const struct grid_point *g = p->point;
    const uint32_t row = g->others ? g->others[read % g->rows] : g->row;
    for (uint32_t t = 0; t < length; t++)
        if (c->schema->steps)
            place_level(p, c, records + t * stride);
        else
            for (uint32_t i = 0; i < p->unit->count; i++)
                cell_copy(c, p->unit->columns[i], records + t * stride,
                          k->raw[encoder] + row * stride);
}

/* The rows' cells in the unit, without rows of weight 0. */
static uint32_t list_cells(const struct sample *x, const struct unit *u, struct grid_cell *cells)
{
    const struct schema *s = x->store.serve->schema;
    const size_t stride = x->store.serve->encoders[0]->format.stride;
    uint32_t count = 0;
    for (uint32_t row = 0; row < x->store.rows; row++) {
        const unsigned char *record = x->store.raw[0] + row * stride;
        for (uint32_t i = 0; x->weight[row] > 0 && i < u->count; i++) {
            const uint32_t c = u->columns[i], number = s->columns[c].number;
            struct grid_cell *cell = &cells[count];
            *cell = (struct grid_cell){.row = row, .weight = x->weight[row], .at = (double)NAN};
            if (s->steps) {
                cell->at = (double)record_number(record, number) + s->offsets[number];
                count += isnan(cell->at) ? 0 : 1; /* a missing step stays one */
                continue;
            }
            cell->text = sample_cell(x, row, c, &cell->length);
            cell->missing = cell_is_missing(s, c, cell->text, cell->length);
            if (!cell->missing && number != UINT32_MAX)
                cell->at = column_time(s, c, cell->text, cell->length);
            count++;
        }
    }
    return count;
}

static struct effect_point point_of(const struct sample *x, const struct unit *u,
                                    const struct grid_point *g)
{
    const bool steps = x->store.serve->schema->steps > 0;
    struct text value = {0};
    size_t length = 0;
    const char *text = "";
    if (g->kind == EFFECT_VALUE && steps)
        text_printf(&value, "%.9g", g->at);
    else if (g->kind == EFFECT_VALUE)
        text = sample_cell(x, g->row, u->columns[0], &length);
    struct effect_point p = effect_point_new(g->kind, steps ? value.data : text,
                                             steps ? value.length : length, x->r->classes);
    p.at = g->at;
    p.rows = g->rows;
    text_free(&value);
    return p;
}

static bool measure_points(struct sample *x, struct effect *f, const struct grid *g,
                           const double *line_weight, struct err *e)
{
    struct weighted *values = mem_alloc(x->store.line_count + 1, sizeof *values);
    struct spread s = {.weight = line_weight, .count = x->store.line_count,
                       .width = x->store.width, .first = x->r->first, .classes = x->r->classes};
    double all = 0;
    bool good = true;
    for (uint32_t i = 0; i < g->count; i++)
        all += g->points[i].weight;
    f->points = mem_zero(g->count + 1, sizeof *f->points);
    for (uint32_t i = 0; good && i < g->count; i++) {
        const struct placing place = {x, f->unit, &g->points[i]};
        good = store_answer(&x->store, place_cells, &place, e);
        if (!good)
            break;
        struct effect_point *p = &f->points[f->count++];
        *p = point_of(x, f->unit, &g->points[i]);
        p->share = g->points[i].weight / all;
        s.value = x->store.answer;
        spread_point(&s, values, p);
    }
    mem_free(values);
    return good;
}

/* By how much each class moves: around the mean of the points; words around 0, no change. */
static void size_effect(struct effect *f, uint32_t classes)
{
    double sum = 0, most = -1;
    for (uint32_t c = 0; c < classes; c++) {
        double mean = 0, square = 0;
        for (uint32_t i = 0; i < f->count; i++)
            if (f->points[i].kind != EFFECT_WORD)
                mean += f->points[i].share * f->points[i].mean[c];
        for (uint32_t i = 0; i < f->count; i++)
            square += f->points[i].share * (f->points[i].mean[c] - mean) *
                      (f->points[i].mean[c] - mean);
        if (square > most) {
            most = square;
            f->moved = c;
        }
        sum += square;
    }
    f->size = sqrt(sum);
}

static bool measure_unit(struct sample *x, struct effect *f, const double *line_weight,
                         const double *base, struct err *e)
{
    const struct schema *s = x->store.serve->schema;
    f->type = s->columns[f->unit->columns[0]].type;
    bool good;
    if (f->type == COLUMN_TEXT) {
        good = effect_words(x, f, base, e);
    } else {
        struct grid grid;
        struct grid_cell *cells = mem_alloc(x->store.rows * f->unit->count + 1, sizeof *cells);
        uint32_t count = list_cells(x, f->unit, cells);
        if (s->columns[f->unit->columns[0]].number != UINT32_MAX)
            grid_numbers(&grid, cells, count);
        else
            grid_texts(&grid, cells, count);
        good = measure_points(x, f, &grid, line_weight, e);
        grid_free(&grid);
        mem_free(cells);
    }
    size_effect(f, x->r->classes);
    return good;
}

/* --- all --- */

static bool wanted(const struct effects_request *q, const struct unit *u)
{
    for (size_t i = 0; q->only && i < q->only_count; i++)
        if (strcmp(q->only[i], u->name) == 0)
            return true;
    return !q->only;
}

static int by_size(const void *one, const void *other, const void *context)
{
    const struct effect *a = one, *b = other;
    (void)context;
    return a->size > b->size ? -1 : a->size < b->size;
}

/* The answers to the unchanged rows. */
static bool measure_base(struct sample *x, double *line_weight, double **base, struct err *e)
{
    struct row_store *k = &x->store;
    if (!store_answer(k, NULL, NULL, e))
        return false;
    *base = mem_copy(k->answer, k->line_count * k->width * sizeof **base);
    double all = 0;
    for (uint64_t i = 0; i < k->line_count; i++) {
        line_weight[i] = x->weight[k->row_of[i]];
        all += line_weight[i];
        for (uint32_t c = 0; c < x->r->classes; c++)
            x->r->mean[c] += line_weight[i] * k->answer[i * k->width + x->r->first + c];
    }
    for (uint32_t c = 0; c < x->r->classes; c++)
        x->r->mean[c] /= all;
    return all > 0 || err_set(e, ERR_WEIGHT_SUM,
                              "the weight of each row is 0: there is nothing to measure");
}

static bool measure_all(struct sample *x, struct err *e)
{
    struct effects_result *r = x->r;
    double *base = NULL, *line_weight = mem_alloc(x->store.line_count + 1, sizeof *line_weight);
    struct progress_amount progress;
    bool good = measure_base(x, line_weight, &base, e);
    progress_amount_open(&progress, x->q->rows.progress, "explaining", "columns");
    r->effects = mem_zero(r->units.count + 1, sizeof *r->effects);
    for (uint32_t i = 0; good && i < r->units.count; i++) {
        const struct unit *u = &r->units.items[i];
        const bool text = r->serve.schema->columns[u->columns[0]].type == COLUMN_TEXT;
        if (!wanted(x->q, u))
            continue;
        if (text && x->store.window) {
            r->left_out++;
            continue;
        }
        r->effects[r->count].unit = u;
        good = measure_unit(x, &r->effects[r->count++], line_weight, base, e);
        progress_amount(&progress, i + 1, r->units.count);
    }
    progress_amount_close(&progress);
    mem_free(base);
    mem_free(line_weight);
    sort_stable(r->effects, r->count, sizeof *r->effects, by_size, NULL);
    return good;
}

static uint64_t sample_rows(const struct sample *x)
{
    const struct schema *s = x->store.serve->schema;
    uint64_t rows = x->store.window ? EFFECTS_SERIES_ROWS : EFFECTS_ROWS, columns = 0;
    for (uint32_t i = 0; i < x->r->units.count; i++)
        columns += wanted(x->q, &x->r->units.items[i]);
    if (columns > EFFECTS_COLUMNS)
        rows = rows * EFFECTS_COLUMNS / columns;
    rows = rows > EFFECTS_ROWS_LEAST ? rows : EFFECTS_ROWS_LEAST;
    return x->q->quick && (s->steps || x->store.window) ? rows / 5 : rows;
}

bool effects_run(const struct effects_request *q, struct effects_result *r, struct err *e)
{
    *r = (struct effects_result){0};
    if (!units_open(&r->units, &r->serve, &q->rows, NULL, 0, e))
        return false;
    const bool classes = r->serve.schema->task != TASK_REGRESSION;
    r->first = classes && r->serve.outputs == 2;
    r->classes = classes && r->serve.outputs > 2 ? r->serve.outputs : 1;
    r->mean = mem_zero(r->classes, sizeof *r->mean);
    struct sample x = {.q = q, .r = r};
    store_open(&x.store, &r->serve);
    store_middle(&x.store);
    x.most = sample_rows(&x);
    bool good = sample_read(&x, e) && measure_all(&x, e);
    sample_free(&x);
    return good;
}

void effects_release(struct effects_result *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        for (uint32_t k = 0; k < r->effects[i].count; k++)
            effect_point_free(&r->effects[i].points[k]);
        mem_free(r->effects[i].points);
    }
    mem_free(r->effects);
    mem_free(r->mean);
    units_free(&r->units);
    serve_close(&r->serve);
    *r = (struct effects_result){0};
}
