/* encoder.h - what was learned from a list of rows: scales, imputation, vocabularies, classes, the
 * scale of a regression target. A value: it depends on the listed rows alone, not on their order
 * nor on threads, and a model stores its schema.
 *
 * Statistics of a column are computed in double from its sorted values. */
#ifndef DNN_TABLE_ENCODER_H
#define DNN_TABLE_ENCODER_H

#include "table/dataset.h"

struct encoder {
    struct schema *schema;      /* fitted; owned */
    int32_t **slot_of;          /* [category_count][values of the dataset + 2]: id -> slot */
    int32_t *class_of;          /* [labels of the dataset]: id -> class, -1: no listed row has it;
                                 * NULL: regression */
    struct remarks remarks;
};

/* Fits on `count` rows of d, ascending. NULL with E12 or E14: no rows, no weight, a column without
 * a value, too many categories, one class only, an unknown positive label. */
struct encoder *encoder_fit(const struct dataset *d, const uint32_t *rows, uint64_t count,
                            struct err *e);
void encoder_free(struct encoder *c);
/* False (E12): some row of d has a value that the encoder does not know, in a column whose
 * `unknown` is error. */
bool encoder_covers(const struct encoder *c, const struct dataset *d, struct err *e);

/* Chooses number_slot.offset for every number from the first rows of the first file, before any
 * record is parsed: 0, or the first value when the values are large against their spread and do not
 * fit a float32 (timestamps, codes); datetimes always take their first value. */
void schema_offsets_decide(struct schema *s, const struct binding *b,
                           const struct csv_cells *cells);

#endif
