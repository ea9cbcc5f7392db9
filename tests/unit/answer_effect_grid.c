/* answer_effect_grid.c - the points of a column, against counts by hand: few values, bins of
 * equal weight, heavy values, categories and all others, missing cells. */
#include "answer/explain/effect_grid.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

enum { MOST = 1000 };

static struct grid_cell cells[MOST];

static void number(uint32_t row, double at, double weight)
{
    cells[row] = (struct grid_cell){.at = at, .weight = weight, .row = row, .missing = isnan(at)};
}

static void test_few(void)
{
    const double values[] = {3, 1, (double)NAN, 3, 2, 3};
    struct grid g;
    for (uint32_t i = 0; i < 6; i++)
        number(i, values[i], i == 3 ? 5 : 1);
    grid_numbers(&g, cells, 6);
    is_int(g.count, 4, "three values and the missing cell");
    ok(g.points[0].at == 1 && g.points[1].at == 2 && g.points[2].at == 3, "values ascend");
    ok(g.points[2].rows == 3 && g.points[2].weight == 7 && g.points[2].row == 0,
       "a value's rows, weight and first row");
    ok(g.points[3].kind == EFFECT_MISSING && g.points[3].rows == 1 && g.points[3].row == 2,
       "the missing cell is last");
    grid_free(&g);
    number(0, (double)NAN, 1);
    grid_numbers(&g, cells, 1);
    ok(g.count == 1 && g.points[0].kind == EFFECT_MISSING, "a column without a value");
    grid_free(&g);
}

/* 1000 distinct values in a mixed order: 20 bins of 50, each at its 25th value. */
static void test_bins(void)
{
    struct grid g;
    bool good = true;
    for (uint32_t i = 0; i < MOST; i++)
        number(i, (double)(i * 7 % MOST), 1);
    grid_numbers(&g, cells, MOST);
    is_int(g.count, GRID_NUMBERS_MOST, "20 bins");
    for (uint32_t i = 0; i < g.count; i++)
        good = good && g.points[i].rows == 50 && (int)g.points[i].at == (int)(50 * i + 24);
    ok(good, "of 50 rows, at their medians");
    grid_free(&g);
    /* the row of weight 1000 is half of all: it has bins for itself */
    uint32_t rows = 0, heavy = 0;
    for (uint32_t i = 0; i < MOST; i++)
        number(i, (double)i, i == 500 ? 999 : 1);
    grid_numbers(&g, cells, MOST);
    good = true;
    for (uint32_t i = 0; i < g.count; i++) {
        rows += g.points[i].rows;
        heavy += g.points[i].weight >= 999 && (int)g.points[i].at == 500;
        good = good && (i == 0 || g.points[i].at > g.points[i - 1].at);
    }
    ok(rows == MOST && heavy == 1 && good && g.count <= GRID_NUMBERS_MOST,
       "a heavy value is one bin's point; all rows are in bins");
    grid_free(&g);
}

static void test_texts(void)
{
    static char names[40][8];
    struct grid g;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 20; i++) { /* category i has i % 5 + 1 rows */
        snprintf(names[i], sizeof names[i], "c%02u", i);
        for (uint32_t k = 0; k <= i % 5; k++, count++)
            cells[count] = (struct grid_cell){.text = names[i], .length = 3, .weight = 1,
                                              .row = count};
    }
    cells[count] = (struct grid_cell){.missing = true, .weight = 1, .row = count};
    grid_texts(&g, cells, count + 1);
    is_int(g.count, GRID_TEXTS_MOST + 2, "15 categories, the others, the missing cell");
    ok(g.points[0].rows == 5 && g.points[0].row == 10 && g.points[4].rows == 4,
       "from the largest down, of equal ones the first by bytes");
    const struct grid_point *others = &g.points[GRID_TEXTS_MOST];
    ok(others->kind == EFFECT_OTHER && others->rows == 6 && others->weight == 6 &&
           others->others[0] != others->others[5],
       "the others are five categories of one and two rows");
    ok(g.points[GRID_TEXTS_MOST + 1].kind == EFFECT_MISSING, "the missing cell is last");
    grid_free(&g);
    for (uint32_t i = 0; i < 16; i++)
        cells[i] = (struct grid_cell){.text = names[i], .length = 3, .weight = 1, .row = i};
    grid_texts(&g, cells, 16);
    ok(g.count == 16 && g.points[15].kind == EFFECT_VALUE, "a single one is shown by itself");
    grid_free(&g);
}

/* The greatest value weighs nothing in the sum of all: it is in the last bin, no further one. */
static void test_light(void)
{
    struct grid g;
    for (uint32_t i = 0; i + 1 < MOST; i++)
        number(i, (double)i, i + 2 < MOST ? 1 : 1e-20);
    number(MOST - 1, (double)NAN, 1);
    grid_numbers(&g, cells, MOST);
    ok(g.count == GRID_NUMBERS_MOST + 1 && g.points[GRID_NUMBERS_MOST].kind == EFFECT_MISSING,
       "20 bins and the missing cell");
    grid_free(&g);
}

int main(void)
{
    test_few();
    test_bins();
    test_light();
    test_texts();
    return done();
}
