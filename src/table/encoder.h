/* encoder.h - the statistics of a list of rows: scales, imputation, vocabularies, classes, the
 * scale of a regression target. They depend on the listed rows only, not on their order or on
 * threads. A model stores the fitted schema.
 *
 * Statistics of a column are computed in double from its sorted values. */
#ifndef DNN_TABLE_ENCODER_H
#define DNN_TABLE_ENCODER_H

#include "table/dataset.h"

struct encoder {
    struct schema *schema;      /* fitted; owned */
    int32_t **slot_of;          /* [category_count][values of the dataset + 2]: id -> slot */
    int32_t *class_of;          /* [labels of the dataset]: id -> class, -1: in no listed row; NULL:
                                 * regression */
    /* Target statistics out of fold: [numbers][held_count] for the rows it is fitted on. */
    float *held;
    uint32_t *held_rows;        /* [held_count], ascending */
    uint64_t held_count;
    struct target_choice choice; /* target_transform auto */
    struct remarks remarks;
};

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
void encoder_free(struct encoder *c);
/* Checks all rows of d. False, E12: a column with unknown = error has a value that the encoder does
 * not know. */
bool encoder_covers(const struct encoder *c, const struct dataset *d, struct err *e);

/* Chooses number_slot.offset of every number from the first rows of the first file, before parsing:
 * 0, or the first value if the values are large against their spread and do not fit a float32
 * (timestamps, codes). Datetimes use their first value. */
void schema_offsets_decide(struct schema *s, const struct binding *b,
                           const struct csv_cells *cells);

#endif
