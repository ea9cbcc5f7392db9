/* order.h - the order of steps of sequences in long format: a row is a step, the rows of a group
 * stand together, in the order of the column data.sequence.order. */
#ifndef DNN_TABLE_SEQUENCE_ORDER_H
#define DNN_TABLE_SEQUENCE_ORDER_H

#include "base/text.h"
#include "table/encoder/cell.h"

/* --- a row --- */

struct series_step {
    uint64_t group; /* hash of its cell */
    double order;   /* 0 if no column says it */
};
/* Reads the step of a record. False, E12: it has no order; the group is set. */
bool series_step_read(const struct schema *s, const struct binding *b,
                      const struct csv_block *block, const struct csv_cells *cells, size_t record,
                      struct series_step *to, struct err *e);
/* Like series_step_read for a record that may be bad: one of another number of cells is of the
 * group before it, one without an order follows the row before it. before: that row's; joined: it
 * is of a group that may go on. */
bool series_step_follow(const struct schema *s, const struct binding *b,
                        const struct csv_block *block, const struct csv_cells *cells,
                        size_t record, const struct series_step *before, bool joined,
                        struct series_step *to);

/* --- all rows --- */

enum disorder {
    IN_ORDER,
    ORDER_FALLS, /* less than in the row before, which is of the same group */
    GROUP_APART  /* rows of the group stand apart */
};
/* Fills the error for a row that is not in order, without a place and help. False. */
bool disorder_report(const struct schema *s, enum disorder why, struct err *e);

struct row_place {
    double order;
    uint32_t group, row; /* group: its number, in the order of first rows */
};
/* The rows of files, to be put in order. */
struct row_places {
    struct row_place *at; /* [count] */
    uint64_t count;
    uint64_t group;       /* of the last row */
    uint32_t groups;      /* of the parts before */
    struct vocab *met;    /* groups of this part */
    enum disorder why;    /* how the first row out of order stands to the one before it */
    uint64_t bad;         /* that row; not set if why is IN_ORDER */
};
void row_places_begin(struct row_places *p, uint64_t rows);
/* Groups of further rows are other ones. */
void row_places_part(struct row_places *p);
/* Adds the next row. */
void row_places_add(struct row_places *p, const struct series_step *step);
/* Groups together, each in order; stable. True: rows moved. */
bool row_places_sort(struct row_places *p);
/* The end of the group that begins at place `begin`. */
uint64_t row_places_end(const struct row_places *p, uint64_t begin);
void row_places_free(struct row_places *p);
/* The note that rows were put in order. more: a further clause, or "". */
void row_places_note(const struct row_places *p, const struct schema *s, const char *more);

/* --- what is unusual --- */

/* Rows of a group whose `order` is as in the row before, or follows a gap: a step of more than 1.5
 * usual ones. */
enum odd_step { STEP_EQUAL, STEP_GAP, ODD_STEPS };
struct odd_steps {
    uint64_t count[ODD_STEPS];
    struct text first[ODD_STEPS]; /* where the first one is: "FILE:LINE, group "s3"" */
};
/* The kind of a step; ODD_STEPS: usual. */
enum odd_step odd_step(const struct windows *w, double step);
/* The place of a row, for `first`. group: its cell. */
void odd_step_place(struct text *to, const char *path, int64_t line, const char *group,
                    size_t length);
void odd_steps_note(const struct odd_steps *o, const struct schema *s);
void odd_steps_free(struct odd_steps *o);

#endif
