/* answer_line.h - one line of a prediction file: id columns, passthrough columns, the answer. RFC
 * 4180 quoting, or none (tsv). */
#ifndef DNN_ANSWER_ANSWER_LINE_H
#define DNN_ANSWER_ANSWER_LINE_H

#include "model/conformal.h"
#include "model/decision.h"
#include "table/encoder/encoder.h"

/* The region of an answer: low and high after a value, the column set after probabilities: labels
 * in their order, joined by "|"; "\\" stands before a "|" or "\\" of a label. */
enum answer_region { ANSWER_ALONE, ANSWER_INTERVAL, ANSWER_SET };

struct answer_line {
    char delimiter;
    bool quotes; /* false: tsv */
    const struct schema *schema;
    uint32_t *cells; /* of the record, in order of output */
    size_t cell_count;
    char **names; /* of these cells */
    uint32_t outputs;    /* classes; 0: regression */
    uint32_t values;     /* regression: the number of columns q0.05, .., or 1: prediction */
    bool fine;           /* values have 17 digits */
    struct text *labels; /* [classes], as they are written; none for regression */
    struct text missing; /* --null */
    int region;          /* enum answer_region */
    struct text *members; /* [classes], as they stand in a set; NULL: no sets */
    bool uncertainty;    /* a last column; set after answer_line_open */
    /* A column in front of the answer, and its cell in the next line; set after answer_line_open.
     * NULL: none. */
    const char *column, *cell;
    const struct decision *decision; /* of classes; set after answer_line_open */
    /* 0: every class; K: the answer, then the likeliest others, K in all; set after
     * answer_line_open */
    uint32_t top;
};

/* Refuses (E13) an id column with the name of an output column. */
bool answer_line_names(const struct schema *s, int region, struct err *e);
/* True: values are written with 17 digits, since 9 are too few for this target. */
bool answer_line_fine(const struct encoder *c);
/* passthrough: NULL, "all" or "a,b,c" (names of the input, see name_list.h; a name that it lacks is
 * E10). Frees nothing of its arguments; they must live as long. */
bool answer_line_open(struct answer_line *l, const struct encoder *c, int region,
                      const struct binding *b, const char *passthrough, bool tsv,
                      const char *null_text, struct err *e);
/* Finds the same columns in a further input, whose cells stand elsewhere. One is missing: E14. */
bool answer_line_turn(struct answer_line *l, const struct binding *b, struct err *e);
void answer_line_close(struct answer_line *l);
/* Tabs and line ends in names are E14 under tsv; a repeated column with a name of --top is E10. */
bool answer_line_header(const struct answer_line *l, const struct binding *b, struct text *out,
                        struct err *e);
/* probability [classes], or the values of a regression [values]; line end included. */
void answer_line_add(const struct answer_line *l, const struct csv_cells *cells, size_t record,
                     const double *answer, struct text *out);
/* Adds a last number, with 9 digits, to the line that was added last. */
void answer_line_more(const struct answer_line *l, double value, struct text *out);
/* Adds the ends of an interval, or a set: the labels that c holds; answer: the predicted one. */
void answer_line_ends(const struct answer_line *l, const double ends[2], struct text *out);
void answer_line_set(const struct answer_line *l, const struct conformal *c,
                     const double *probability, uint32_t answer, struct text *out);
/* The parts of a line of another kind: id columns and passthrough columns, each followed by the
 * delimiter; a field, quoted if it must be, with the delimiter in front of all but the first. */
void answer_line_cells(const struct answer_line *l, const struct csv_cells *cells, size_t record,
                       struct text *out);
void answer_line_field(const struct answer_line *l, struct text *out, const char *text,
                       size_t length);
/* A row without an answer. cells NULL: nothing of it is readable. */
void answer_line_null(const struct answer_line *l, const struct csv_cells *cells, size_t record,
                      struct text *out);

#endif
