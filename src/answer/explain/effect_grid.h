/* effect_grid.h - the points at which the effect of a column is asked for, from the cells that the
 * rows have in it. */
#ifndef DNN_ANSWER_EFFECT_GRID_H
#define DNN_ANSWER_EFFECT_GRID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { GRID_NUMBERS_MOST = 20, GRID_TEXTS_MOST = 15 };

/* The cell of a row in the column. */
struct grid_cell {
    const char *text; /* of a category; borrowed */
    size_t length;
    double at;        /* of a number or a date */
    double weight;    /* of the row, above 0 */
    uint32_t row;
    bool missing;
};
enum effect_kind { EFFECT_VALUE, EFFECT_OTHER, EFFECT_MISSING, EFFECT_WORD };
struct grid_point {
    enum effect_kind kind;
    double at;            /* of numbers */
    uint32_t row;         /* the first row with this cell */
    uint32_t rows;        /* that the point stands for */
    double weight;        /* of those */
    uint32_t *others;     /* EFFECT_OTHER: the rows that it stands for; else NULL */
};
struct grid {
    struct grid_point *points;
    uint32_t count;
};

/* Numbers and dates: a point for each value if there are at most GRID_NUMBERS_MOST of them. Else as
 * many bins of equal weight; equal values are in one bin; a bin's point is its median. Values
 * ascend; the missing cell comes after them, if a row has one. Sorts the cells. */
void grid_numbers(struct grid *g, struct grid_cell *cells, uint32_t count);
/* Categories: the ones with the most weight, at most GRID_TEXTS_MOST, ties by bytes; then one point
 * for all others, if there are two or more; then the missing cell. */
void grid_texts(struct grid *g, struct grid_cell *cells, uint32_t count);
void grid_free(struct grid *g);

#endif
