/* encoder_fit.h - one fitting, and its pieces. Private to encoder*.c. */
#ifndef DNN_TABLE_ENCODER_FIT_H
#define DNN_TABLE_ENCODER_FIT_H

#include "table/encoder.h"
#include "table/record.h"

struct fit {
    const struct dataset *data;
    const uint32_t *rows;       /* those to learn from, ascending */
    uint64_t count;
    struct encoder *encoder;    /* filled */
};
enum { NAMED_MOST = 4 };        /* columns that one warning names */

/* Every number_slot but its offset. E12: a column without values. */
bool fit_numbers(struct fit *f, struct err *e);
/* Vocabularies of the rows' values, and slot_of. */
bool fit_categories(struct fit *f, struct err *e);
/* The labels in order, the positive one last, and class_of. */
bool fit_labels(struct fit *f, struct err *e);

#endif
