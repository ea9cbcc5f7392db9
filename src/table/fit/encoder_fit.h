/* encoder_fit.h - fits an encoder on a list of rows. It depends on the listed rows only, not on
 * their order or on threads. Statistics of a column are computed in double from its sorted
 * values. */
#ifndef DNN_TABLE_ENCODER_FIT_H
#define DNN_TABLE_ENCODER_FIT_H

#include "table/dataset/dataset.h"
#include "table/encoder/encoder.h"

/* Fits on `count` rows of d, ascending. Caller: encoder_free. NULL with E12 or E14: no rows, no
 * weight, a column without values, too many categories, one class only, an unknown positive
 * label. */
struct encoder *encoder_fit(const struct dataset *d, const uint32_t *rows, uint64_t count,
                            struct err *e);
/* As encoder_fit by the options that `as` declares for its columns, which are d's, and its target.
 * judges [judge_count]: validation rows; only target_transform "auto" uses them. */
struct encoder *encoder_fit_as(const struct dataset *d, const struct schema *as,
                               const uint32_t *rows, uint64_t count, const uint32_t *judges,
                               uint64_t judge_count, struct err *e);
/* Checks all rows of d. False, E12: a column with unknown = error has a value that the encoder does
 * not know. */
bool encoder_covers(const struct encoder *c, const struct dataset *d, struct err *e);

#endif
