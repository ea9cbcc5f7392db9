/* cell_copy.h - parsed cells from record to record. */
#ifndef DNN_TABLE_CELL_COPY_H
#define DNN_TABLE_CELL_COPY_H

#include "table/schema.h"

/* True: the network reads the column. */
static inline bool column_is_input(const struct column *c)
{
    return c->number != UINT32_MAX || c->category != UINT32_MAX;
}
/* The number of numbers of a record that the column makes. */
uint32_t column_numbers(const struct column *c);
/* The parsed cell of a column, from one raw record (cell_parse) into another of the same format. */
void cell_copy(const struct rowfmt *f, const struct column *c, unsigned char *to,
               const unsigned char *from);
/* A number of a raw record, which is not missing then. */
void cell_set_number(const struct rowfmt *f, uint32_t number, float value, unsigned char *record);

#endif
