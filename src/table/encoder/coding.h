/* coding.h - how the network learns a regression target: a function of the value, standardised. */
#ifndef DNN_TABLE_CODING_H
#define DNN_TABLE_CODING_H

#include <stdbool.h>
#include <stdint.h>

/* TARGET_AUTO: as declared; an encoder has chosen. */
enum target_transform { TARGET_NONE, TARGET_LOG, TARGET_CBRT, TARGET_QUANTILE, TARGET_AUTO };
extern const char *const target_transform_names[]; /* ends with NULL */

#define CODING_KNOTS_MOST 1024
/* The choice of target_transform "auto". */
struct target_choice {
    bool made;
    int transform;
    double error[TARGET_AUTO]; /* root mean squared, in units of the target; NaN: not tried */
    uint64_t judged;           /* rows; 0: too few to choose by */
};
struct target_coding {
    int transform;         /* enum target_transform */
    double center, scale;  /* of the function's values; scale > 0 */
    double *knots;         /* quantile: values of the target, ascending; owned */
    uint32_t knot_count;
};
/* True: the transform is defined for y. */
bool coding_takes(int transform, double y);
/* The target that the network learns: (function of y - center) / scale. A NaN stays one. A value
 * outside the domain counts as the least one inside. */
double coding_encode(const struct target_coding *c, double y);
/* The inverse: an answer of the network in the units of the target, always finite if z is. */
double coding_decode(const struct target_coding *c, double z);
/* Sets knots from `count` values, ascending, at least one. They reach from the first to the last
 * value. */
void coding_fit_knots(struct target_coding *c, const double *sorted, uint64_t count);

#endif
