/* declaration.h - a schema while it is made from the config. Private to schema_declare.c and
 * schema_sequence.c. */
#ifndef DNN_TABLE_DECLARATION_H
#define DNN_TABLE_DECLARATION_H

#include "table/schema/schema.h"

struct declaration {
    const struct data_options *options;
    const struct json_doc *doc;
    struct schema *schema;
    const struct json **places; /* by column: its entry, NULL: none */
    struct vocab *names;        /* names of the columns, in their order */
    struct err *e;
};

struct column *declare_column(struct declaration *d, const char *name, const struct json *place);
/* The column of that name; UINT32_MAX: none. */
uint32_t declared_at(const struct declaration *d, const char *name);
/* The columns of sequences, in wide or long format. */
bool declare_sequence(struct declaration *d);

/* Adds the place of the column's entry, if it has one. */
#define FAIL(d, at, id, ...) \
    ((at) ? json_fail((d)->doc, at, (d)->e, id, __VA_ARGS__) : err_set((d)->e, id, __VA_ARGS__))

#endif
