/* row_group.c - see row_group.h. */
#include "answer/stream/row_group.h"

#include <string.h>

#include "base/rng.h"

#define ALONE 0x5bd1e995u /* seed of keys of rows without a group */

/* The column that the config's split groups by; the model holds its config as a record. */
static const char *split_column(const struct modelfile *f)
{
    const struct json *root = f->config ? json_root(f->config) : NULL;
    const struct json *method = root ? json_path(root, "data.split.method") : NULL;
    const struct json *column = root ? json_path(root, "data.split.column") : NULL;
    const bool group = method && json_kind(method) == JSON_STRING &&
                       strcmp(json_string(method), "group") == 0;
    return group && column && json_kind(column) == JSON_STRING ? json_string(column) : NULL;
}

uint32_t row_group_column(const struct modelfile *f)
{
    const struct schema *s = f->schema;
    const char *name = split_column(f);
    for (uint32_t i = 0; name && i < s->column_count; i++)
        if (strcmp(s->columns[i].name, name) == 0)
            return i;
    return schema_group_column(s);
}

uint64_t row_group_key(const struct stream *t, const struct stream_group *g, uint64_t row,
                       uint32_t column, uint64_t number)
{
    const struct csv_cell *c = cell_at(&t->binding, g->cells, g->first + row, column);
    return c ? rng_hash(c->text, c->length, 0) : rng_hash(&number, sizeof number, ALONE);
}
