/* effects_parts.h - the sample, and how its answers are summed up. Private to effects.c,
 * effects_sample.c and effects_words.c. */
#ifndef DNN_ANSWER_EFFECTS_PARTS_H
#define DNN_ANSWER_EFFECTS_PARTS_H

#include "answer/explain/effects.h"
#include "answer/explain/row_store.h"
#include "measure/weighted.h"

/* The cells of a row, one after another: that of column i ends at end[i]. */
struct sample_cells {
    char *bytes;
    uint32_t *end;
};
struct sample {
    const struct effects_request *q;
    struct effects_result *r;
    struct stream *stream;
    struct row_store store;
    struct sample_cells *cells; /* [rows] */
    double *weight;             /* [rows] */
    uint64_t most;              /* rows of the sample */
    uint64_t room, seen;        /* seen: rows that have a weight */
};

/* Reads the rows, keeps the sample. */
bool sample_read(struct sample *x, struct err *e);
void sample_free(struct sample *x);
/* The cell of a column; not of wide sequences. */
const char *sample_cell(const struct sample *x, uint64_t row, uint32_t column, size_t *length);

/* Puts the weighted mean over lines of each class, and their band, into a point. value: of line i
 * and class c; values: room for all lines. */
struct spread {
    const double *value; /* [count][width] */
    const double *minus; /* NULL, or [count][width], subtracted */
    const double *weight; /* [count] */
    uint64_t count;
    uint32_t width, first, classes;
};
void spread_point(const struct spread *s, struct weighted *values, struct effect_point *p);
struct effect_point effect_point_new(enum effect_kind kind, const char *value, size_t length,
                                     uint32_t classes);
void effect_point_free(struct effect_point *p);

/* The words of a text column: fills the points of f. base: answers of the rows [rows][width]. */
bool effect_words(struct sample *x, struct effect *f, const double *base, struct err *e);

#endif
