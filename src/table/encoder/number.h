/* number.h - what is fitted to a column of numbers: offset, scale, range. */
#ifndef DNN_TABLE_NUMBER_H
#define DNN_TABLE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* One number of a record. Parsed: float32 of (value - offset). Applied: scaled. */
struct number_slot {
    double offset;          /* subtracted in double before rounding to float32 */
    int scale;              /* enum column_scale, never AUTO once fitted */
    double center, factor;  /* applied: (v - center) * factor, v without offset; factor 0: a
                             * constant column, always 0 */
    double least, most;     /* limits of the scaled value */
    float impute;           /* replaces a missing value before scaling; units of v */
    bool indicator;         /* it was missing in a training row */
    uint32_t quantile_count;
    /* SCALE_QUANTILE: ascending knots of the training values. Applied: the normal quantile of the
     * interpolated rank, clipped to least and most. */
    float *quantiles;
    float low, high;        /* range of the training values, for counting drift */
    /* enum column_transform, applied to v + offset, before imputing and scaling; impute, center and
     * quantiles are in its units, without offset */
    int transform;
    /* Piecewise-linear: ascending edges of the scaled value; none: plain */
    uint32_t edge_count;
    float *edges;
    bool alone;             /* the scaled value itself is no input */
    bool periodic;          /* it has periodic inputs as well */
};

#endif
