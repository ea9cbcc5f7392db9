/* lift.h - what the rows with the highest probabilities of the positive label hold: the share of
 * all positive rows (gains), and how many times as dense with them as all rows they are (lift). */
#ifndef DNN_MEASURE_LIFT_H
#define DNN_MEASURE_LIFT_H

#include "base/json/json.h"
#include "measure/rank.h"

#define LIFT_CUTS 3
extern const double lift_cuts[LIFT_CUTS]; /* 0.05, 0.1, 0.2 of the rows' weight */

/* NaN: no positive row */
struct lift {
    double top;       /* share of the rows' weight */
    double precision; /* share of them that is positive */
    double found;     /* share of the positive rows that is among them */
    double lift;      /* precision over the share of positive rows in all */
};
/* Rows with equal scores at the cut count in part: the mean over a choice among them by chance.
 * Sorts the rows. */
void lift_of(struct rank *r, struct lift out[LIFT_CUTS]);
/* "lift": [{"top", "precision", "found", "lift"}] */
void lift_write(const struct lift l[LIFT_CUTS], struct json_out *out);

#endif
