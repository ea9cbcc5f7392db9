/* cpu_ple.c - piecewise-linear numbers. A dense layer behind them takes two rows of its weight a
 * number, however many bins: the running sum before the bin, and the bin's own. A tile makes the
 * running sums of one number and one panel of columns, which stay in the first cache while the rows
 * of the batch pass. The weight is read once a step, and its gradient is written once. */
#include <assert.h>
#include <string.h>

#include "backend/cpu.h"

/* The last edge that is not above x, but none behind the last bin; 0 below all. */
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

/* --- tiles: a panel of columns, and a block of rows or some of the numbers --- */

enum { PLE_ROWS = 256, PLE_NUMBERS = 8 };
/* In scratch: the panel's copy, which lies together, then the room of one number. */
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
    return (struct ple_panel){.y = scratch,
                              .room = (real *)scratch + PLE_ROOM,
                              .width = out - begin < PANEL ? out - begin : PANEL,
                              .ldw = out};
}

/* The copy of p->rows rows of a panel; lanes behind its width are 0. */
static void copy_panel(const struct ple_panel *p, const real *y, uint32_t ldy)
{
    for (uint32_t r = 0; r < p->rows; r++) {
        real *to = p->y + (size_t)r * PANEL;
        memcpy(to, y + (size_t)r * ldy, p->width * sizeof *to);
        memset(to + p->width, 0, (PANEL - p->width) * sizeof *to);
    }
}

static void set_column(struct ple_panel *p, const struct ple_column *c, const real *w,
                       uint32_t panel)
{
    w += (size_t)c->first * p->ldw + (size_t)panel * PANEL;
    memcpy(&p->w, &w, sizeof p->w); /* of forward only read */
    p->count = c->count;
    assert((PLE_ROOM + (size_t)p->count * 2 * PANEL) * sizeof(real) <= CPU_SCRATCH);
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
    struct ple_panel p = panel_of(panel, a->out, s->scratch);
    p.rows = part_rows(a->rows, begin);
    copy_panel(&p, y, a->ldy);
    for (uint32_t i = 0; i < a->columns; i++) {
        set_column(&p, &a->column[i], a->w, panel);
        const struct ple_column *next = i + 1 < a->columns ? &a->column[i + 1] : NULL;
        p.next = next ? a->w + (size_t)next->first * a->out + (size_t)panel * PANEL : NULL;
        p.next_count = next ? next->count : 0;
        p.bins = a->bins + (size_t)i * a->rows + begin;
        p.shares = a->shares + (size_t)i * a->rows + begin;
        s->m->vec->ple(&p);
    }
    for (uint32_t r = 0; r < p.rows; r++)
        memcpy(y + (size_t)r * a->ldy, p.y + (size_t)r * PANEL, p.width * sizeof *y);
}

unsigned cpu_ple_dense_back_tiles(const struct op_ple_dense_back *a)
{
    return parts_of(a->out, PANEL) * parts_of(a->columns, PLE_NUMBERS);
}

void cpu_ple_dense_back(const struct op_ple_dense_back *a, const struct slice *s)
{
    uint32_t panels = parts_of(a->out, PANEL), panel = s->tile % panels;
    uint32_t first = s->tile / panels * PLE_NUMBERS, end = first + PLE_NUMBERS;
    end = end < a->columns ? end : a->columns;
    struct ple_panel p = panel_of(panel, a->out, s->scratch);
    for (uint32_t begin = 0; begin < a->rows; begin += PLE_ROWS) {
        p.rows = part_rows(a->rows, begin);
        p.add = a->more || begin > 0;
        copy_panel(&p, act_read(a->dy) + (size_t)begin * a->lddy + (size_t)panel * PANEL, a->lddy);
        for (uint32_t i = first; i < end; i++) {
            set_column(&p, &a->column[i], a->dw, panel);
            p.bins = a->bins + (size_t)i * a->rows + begin;
            p.shares = a->shares + (size_t)i * a->rows + begin;
            s->m->vec->ple_back(&p);
        }
    }
}
