/* cpu_ple.c - piecewise-linear numbers. A dense layer after them takes two rows of its weight a
 * number, however many bins: the running sum before the bin, and the bin's own. A forward tile
 * makes the running sums of two numbers and one panel of columns, which stay in the first cache
 * while the rows of the batch pass. The weight is read once a step, and its gradient is written
 * once. */
#include <assert.h>
#include <string.h>

#include "backend/cpu/cpu.h"

/* The last edge that is not above x, at most the start of the last bin; 0 below all. */
static uint32_t bin_of(const float *edges, uint32_t count, real x)
{
    uint32_t at = 0, left = count;
    while (left > 1) {
        uint32_t half = left / 2;
        at += (real)edges[at + half] <= x ? half : 0;
        left -= half;
    }
    return at;
}

void cpu_ple(const struct op_ple *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++) {
        real *x = act_real(a->x) + row * a->ld;
        for (uint32_t i = 0; i < a->columns; i++) {
            const struct ple_column *c = &a->column[i];
            const float *edges = a->edges + c->edges;
            real v = x[c->number];
            uint32_t bin = bin_of(edges, c->count, v);
            real low = (real)edges[bin], share = (v - low) / ((real)edges[bin + 1] - low);
            bool none = c->missing != PLE_NONE && x[c->missing] > 0;
            share = share > 0 ? share : 0;
            a->shares[i * (size_t)a->rows + row] = none ? 0 : share < 1 ? share : 1;
            a->bins[i * (size_t)a->rows + row] = none ? 0 : (int32_t)bin;
            if (c->alone)
                x[c->number] = 0;
        }
    }
}

void cpu_ple_wide(const struct op_ple_wide *a, const struct slice *s)
{
    for (size_t row = s->row0; row < s->row0 + s->rows; row++)
        for (uint32_t i = 0; i < a->columns; i++) {
            const struct ple_column *c = &a->column[i];
            uint32_t bin = (uint32_t)a->bins[i * (size_t)a->rows + row];
            real *x = act_real(a->x) + row * a->ld + a->at + c->first;
            for (uint32_t k = 0; k < c->count; k++)
                x[k] = k < bin ? 1 : 0;
            x[bin] = a->shares[i * (size_t)a->rows + row];
        }
}

/* --- forward: a panel of columns and a block of rows --- */

enum { PLE_ROWS = 256 };
/* In scratch: the panel's copy, which lies together, then the rooms of its numbers. */
#define PLE_ROOM ((size_t)PLE_ROWS * PANEL)

static uint32_t parts_of(uint32_t n, uint32_t most)
{
    return (n + most - 1) / most;
}

static uint32_t part_rows(uint32_t rows, uint32_t begin)
{
    return rows - begin < PLE_ROWS ? rows - begin : PLE_ROWS;
}

static struct ple_panel panel_of(uint32_t panel, uint32_t out, void *scratch)
{
    uint32_t begin = panel * PANEL;
    return (struct ple_panel){
        .y = scratch, .width = out - begin < PANEL ? out - begin : PANEL, .ldw = out};
}

/* A row of a panel. Most panels are whole, and a copy of a known size is no call. */
static void copy_row(real *to, const real *from, uint32_t width)
{
    if (width == PANEL)
        memcpy(to, from, PANEL * sizeof *to);
    else
        memcpy(to, from, width * sizeof *to);
}

/* Copies p->rows rows of a panel; lanes past its width are 0. */
static void copy_panel(const struct ple_panel *p, const real *y, uint32_t ldy)
{
    if (p->width < PANEL)
        memset(p->y, 0, (size_t)p->rows * PANEL * sizeof *y);
    for (uint32_t r = 0; r < p->rows; r++)
        copy_row(p->y + (size_t)r * PANEL, y + (size_t)r * ldy, p->width);
}

/* How many numbers from i on go together: two if both fit the scratch and end before `end`. */
static uint32_t pair_at(const struct ple_column *c, uint32_t i, uint32_t end)
{
    bool fits = i + 1 < end && (PLE_ROOM + ((size_t)c[i].count + c[i + 1].count) * 2 * PANEL) *
                                       sizeof(real) <= CPU_SCRATCH;
    return fits ? 2 : 1;
}

/* bins, shares: p->rows rows of the first column; the next column's are `stride` later. */
static void set_numbers(struct ple_panel *p, const struct ple_column *c, uint32_t numbers,
                        const real *w, const int32_t *bins, const real *shares, size_t stride)
{
    real *room = p->y + PLE_ROOM;
    p->numbers = numbers;
    for (uint32_t i = 0; i < numbers; i++, room += (size_t)c->count * 2 * PANEL, c++) {
        p->of[i] = (struct ple_number){.w = w + (size_t)c->first * p->ldw, .room = room,
                                       .bins = bins + i * stride, .shares = shares + i * stride,
                                       .count = c->count};
    }
    assert((size_t)(room - p->y) * sizeof(real) <= CPU_SCRATCH);
}

unsigned cpu_ple_dense_tiles(const struct op_ple_dense *a)
{
    return parts_of(a->out, PANEL) * parts_of(a->rows, PLE_ROWS);
}

void cpu_ple_dense(const struct op_ple_dense *a, const struct slice *s)
{
    uint32_t panels = parts_of(a->out, PANEL), panel = s->tile % panels;
    uint32_t begin = s->tile / panels * PLE_ROWS;
    real *y = act_real(a->y) + (size_t)begin * a->ldy + (size_t)panel * PANEL;
    const real *w = a->w + (size_t)panel * PANEL;
    struct ple_panel p = panel_of(panel, a->out, s->scratch);
    p.rows = part_rows(a->rows, begin);
    copy_panel(&p, y, a->ldy);
    for (uint32_t i = 0, numbers, next; i < a->columns; i = next) {
        numbers = pair_at(a->column, i, a->columns);
        next = i + numbers;
        size_t from = (size_t)i * a->rows + begin;
        set_numbers(&p, &a->column[i], numbers, w, a->bins + from, a->shares + from, a->rows);
        p.next = next < a->columns ? w + (size_t)a->column[next].first * a->out : NULL;
        p.next_count = 0;
        for (uint32_t k = next; p.next && k < next + pair_at(a->column, next, a->columns); k++)
            p.next_count += a->column[k].count;
        s->m->vec->ple(&p);
    }
    for (uint32_t r = 0; r < p.rows; r++)
        copy_row(y + (size_t)r * a->ldy, p.y + (size_t)r * PANEL, p.width);
}

/* --- backward: a block of columns and some numbers. For each number the rows are put in the order
 * of their bins, so that the sums of a bin stay in registers --- */

enum { BACK_COLUMNS = 4 * PANEL, BACK_NUMBERS = 6 };

/* Numbers of a tile, about the same in all of them. */
static uint32_t back_numbers(const struct op_ple_dense_back *a)
{
    return parts_of(a->columns, parts_of(a->columns, BACK_NUMBERS));
}

unsigned cpu_ple_dense_back_tiles(const struct op_ple_dense_back *a)
{
    return parts_of(a->out, BACK_COLUMNS) * parts_of(a->columns, back_numbers(a));
}

struct by_bin {
    real share[PLE_ROWS];
    uint16_t row[PLE_ROWS];
};

/* first: [count + 1]; the rows of bin j stand from first[j] to first[j + 1]. A counting sort. */
static void sort_rows(const int32_t *bins, const real *shares, uint32_t rows, uint32_t count,
                      struct by_bin *to, uint16_t *first)
{
    memset(first, 0, (count + 1) * sizeof *first);
    for (uint32_t r = 0; r < rows; r++)
        first[bins[r]]++;
    for (uint32_t j = 0, at = 0; j <= count; j++) { /* now the ends of the bins */
        at += first[j];
        first[j] = (uint16_t)at;
    }
    for (uint32_t r = rows; r-- > 0;) {
        uint32_t at = --first[bins[r]];
        to->row[at] = (uint16_t)r;
        to->share[at] = shares[r];
    }
}

void cpu_ple_dense_back(const struct op_ple_dense_back *a, const struct slice *s)
{
    uint32_t blocks = parts_of(a->out, BACK_COLUMNS), at = s->tile % blocks * BACK_COLUMNS;
    uint32_t begin = s->tile / blocks * back_numbers(a), end = begin + back_numbers(a);
    uint32_t columns_end = at + BACK_COLUMNS < a->out ? at + BACK_COLUMNS : a->out;
    end = end < a->columns ? end : a->columns;
    struct by_bin *sorted = (struct by_bin *)((real *)s->scratch + PLE_ROOM);
    uint16_t *firsts = (uint16_t *)(sorted + BACK_NUMBERS);
    for (uint32_t row = 0; row < a->rows; row += PLE_ROWS) {
        uint32_t rows = part_rows(a->rows, row);
        uint16_t *first = firsts;
        for (uint32_t i = begin; i < end; first += a->column[i++].count + 1) {
            size_t from = (size_t)i * a->rows + row;
            assert((char *)(first + a->column[i].count + 1) <= (char *)s->scratch + CPU_SCRATCH);
            sort_rows(a->bins + from, a->shares + from, rows, a->column[i].count,
                      &sorted[i - begin], first);
        }
        for (uint32_t column = at; column < columns_end; column += PANEL) {
            struct ple_panel p = panel_of(column / PANEL, a->out, s->scratch);
            p.rows = rows;
            copy_panel(&p, act_read(a->dy) + (size_t)row * a->lddy + column, a->lddy);
            struct ple_back b = {.y = p.y, .width = p.width, .ldw = a->out,
                                 .add = a->more || row > 0, .first = firsts};
            for (uint32_t i = begin; i < end; b.first += a->column[i++].count + 1) {
                b.w = a->dw + (size_t)a->column[i].first * a->out + column;
                b.row = sorted[i - begin].row;
                b.share = sorted[i - begin].share;
                b.count = a->column[i].count;
                s->m->vec->ple_back(&b);
            }
        }
    }
}
