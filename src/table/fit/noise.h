/* noise.h - the noise of the target: rows that are equal in every column used and differ in their
 * target set a limit to every model. */
#ifndef DNN_TABLE_NOISE_H
#define DNN_TABLE_NOISE_H

#include <stdint.h>

struct dataset;
struct encoder;
struct noise {
    uint64_t rows, of; /* rows that equal another one; all rows */
    /* For rows with equal inputs. Classes: the probability that two of them have different labels.
     * Values: the variance of their targets. */
    double differ;
};

/* index: rows of d, which must be raw. Rows without a target are left out. */
void noise_of(const struct dataset *d, const struct encoder *c, const uint32_t *index,
              uint64_t count, struct noise *n);

#endif
