/* cell.h - reads cells into records. Training and prediction call the same functions:
 *
 *   cell_parse     text of one record -> raw record (float32 of value - offset, date parts,
 *                  category slot)
 *   encoder_apply  raw record -> input of the network (imputed, scaled), in place */
#ifndef DNN_TABLE_CELL_H
#define DNN_TABLE_CELL_H

#include "table/encoder/drift.h"
#include "table/encoder/encoder.h"

/* The largest weight of a row. Weights multiply float gradients, and class weights
 * (CLASS_WEIGHT_MOST) multiply again: the product must stay below the largest float. */
#define WEIGHT_MOST 1e20

/* A record of a block, the schema and the columns that it is read by, and where errors go. */
struct cell_where {
    const struct schema *s;
    const struct encoder *encoder; /* NULL: a training reads */
    const struct binding *b;
    const struct csv_block *block;
    const struct csv_cells *cells;
    size_t record;
    struct err *e;
};
/* A record made by cell_parse, by an encoder of the same columns. */
struct raw_record {
    const struct encoder *encoder;
    const unsigned char *at;
};
/* Parses one record into `out` (encoder.format.stride bytes). labelled: the target is required
 * (evaluate); otherwise it is not read. Unknown values follow `unknown`. raw: this record, whose
 * numbers are copied; NULL: they are read. d may be NULL. t: buffers for texts. False on an error,
 * with file, line, column, name and the quoted text; too few or too many cells are an error. A
 * record without a required target is ERR_CSV_LABEL_MISSING, even if other cells have faults; in a
 * sequence of records it is context. */
bool cell_parse(const struct encoder *c, const struct binding *b, const struct csv_block *block,
                const struct csv_cells *cells, size_t record, bool labelled,
                const struct raw_record *raw, unsigned char *out, struct drift *d, struct terms *t,
                struct err *e);
/* As above for a training, with its target, into a raw record of the schema: ids of the columns'
 * vocabularies, which grow. *vanished counts numbers that are read as 0. */
bool cell_parse_raw(const struct schema *s, const struct binding *b, const struct csv_block *block,
                    const struct csv_cells *cells, size_t record, unsigned char *out,
                    uint64_t *vanished, struct err *e);
/* Looks up the target statistics of `count` records, then numbers_scale. */
void encoder_apply(const struct encoder *c, unsigned char *records, size_t count);
/* Imputes and scales `count` records in place. Each result depends on its own record only. */
void numbers_scale(const struct encoder *c, unsigned char *records, size_t count);
/* As above, for `count` values of one number; no NaN stays. */
void number_apply(const struct number_slot *n, float *v, size_t count);
/* The transform of a raw value alone; NaN stays one. */
float number_transform(const struct number_slot *n, float v);
/* True if the record has all its cells, and the cell of the target means missing: no training and
 * no metric can use it. */
bool cell_unlabelled(const struct schema *s, const struct binding *b,
                     const struct csv_cells *cells, size_t record);
/* Reads a cell of the column of weights; NULL: 1. False: it is no weight from 0 to WEIGHT_MOST. */
bool cell_weight(const struct schema *s, size_t column, const struct csv_cell *cell,
                 double *weight);
/* True if the record has all its cells, and its weight is 0. */
bool cell_weighs_nothing(const struct schema *s, const struct binding *b,
                         const struct csv_cells *cells, size_t record);
static inline bool cell_weightless(const struct schema *s, const struct binding *b,
                                   const struct csv_cells *cells, size_t record)
{
    return b->weight >= 0 && cell_weighs_nothing(s, b, cells, record);
}
/* True if a training leaves the record out, as if the file did not have it: it has no target, or
 * the weight 0. In a sequence of records it stays, as context. */
bool cell_left_out(const struct schema *s, const struct binding *b, const struct csv_cells *cells,
                   size_t record);
/* Parse a number or a date as the column writes them. */
enum number_result column_number(const struct schema *s, size_t column, const char *text,
                                 size_t length, double *value);
bool column_date(const struct schema *s, size_t column, const char *text, size_t length,
                 double *seconds);
/* A number, or a date in seconds, as the type of the column allows; NaN: neither. */
double column_time(const struct schema *s, size_t column, const char *text, size_t length);
/* True if the text means missing in that column (data.missing, or the column's own). UINT32_MAX: a
 * column that the schema lacks. */
static inline bool cell_is_missing(const struct schema *s, size_t column, const char *text,
                                   size_t length)
{
    return opt_strings_has(&s->missing, text, length) ||
           (column < s->column_count && s->columns[column].none.count &&
            opt_strings_has(&s->columns[column].none, text, length));
}
/* Returns the cell of a schema column; NULL if the file has no such column. */
static inline const struct csv_cell *cell_at(const struct binding *b, const struct csv_cells *cells,
                                             size_t record, size_t column)
{
    int32_t at = b->cell_of[column];
    return at < 0 ? NULL : cells->cells + cells->records[record].first_cell + (uint32_t)at;
}

#endif
