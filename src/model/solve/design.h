/* design.h - the inputs of a linear model as columns, for a solver: numbers, indicators, one-hot
 * values and components of piecewise-linear numbers of encoded records (base/rowfmt.h). Numbers are
 * standardised over the rows, components centred; 0/1 columns stay unscaled, as lists of rows. Sums
 * over rows have one order in every vector code. */
#ifndef DNN_MODEL_DESIGN_H
#define DNN_MODEL_DESIGN_H

#include "base/rowfmt.h"

enum design_kind { DESIGN_NUMBER, DESIGN_SPARSE, DESIGN_COMPONENT };
struct design_column {
    enum design_kind kind;
    uint32_t from;  /* place in `numbers`; of a sparse column in `begin` */
    uint32_t row;   /* row of the output layer's weight; of a component: of ple.weight */
    float low, per; /* component: clamp((x - low) * per, 0, 1) */
    double center, factor; /* column = (value - center) * factor */
};
struct design {
    uint64_t rows;
    uint32_t columns;
    struct design_column *column;
    /* [numbers, then numbers with bins again][rows]: as encoded. The second copies make the
     * components: NaN if all components are 0 */
    float *numbers;
    uint64_t *begin; /* [sparse columns + 1]: places in `list` */
    uint32_t *list;  /* rows, ascending in each column */
    float *room;     /* [rows] */
};

/* Columns of the listed rows; weight [count] gives centre and deviation, its sum is 1. Columns of
 * one value are left out. Caller: design_free. */
struct design *design_new(const struct features *f, const struct rows *rows, const uint32_t *index,
                          uint64_t count, const double *weight);
void design_free(struct design *d);
/* Most bytes of a design of `rows` rows. */
uint64_t design_bytes(const struct features *f, uint64_t rows);
/* The most columns of a design. */
uint64_t design_most(const struct features *f);
/* Sum over the rows of column j times u [rows]. */
double design_dot(const struct design *d, uint32_t j, const double *u);
/* Sum over the rows of column j squared times v [rows]. */
double design_square(const struct design *d, uint32_t j, const double *v);
/* u[i] -= step * column j of row i * v[i] */
void design_move(const struct design *d, uint32_t j, double step, const double *v, double *u);

#endif
