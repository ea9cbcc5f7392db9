/* cell_copy.h - parsed cells from record to record. */
#ifndef DNN_TABLE_CELL_COPY_H
#define DNN_TABLE_CELL_COPY_H

#include "table/encoder/encoder.h"

/* True: the network reads the column. */
static inline bool column_is_input(const struct column *c)
{
    return c->number != UINT32_MAX || c->category != UINT32_MAX;
}
/* The number of numbers of a record that the column makes. */
uint32_t column_numbers(const struct column *c);
/* The parsed cell of a column, from a raw record (cell_parse) into another of the encoder. */
void cell_copy(const struct encoder *e, size_t column, unsigned char *to,
               const unsigned char *from);
/* A number of a raw record, which is not missing then. */
void cell_set_number(const struct rowfmt *f, uint32_t number, float value, unsigned char *record);

#endif
