/* table_place.c - the file and line of a row of the table, for a message: the files are counted
 * through once more. */
#include <string.h>

#include "data/table_read.h"

/* Goes through one list of files; *row counts down to the row that is looked for. */
static bool find_in(const struct schema *s, const struct opt_strings *files, uint64_t *row,
                    struct err *e)
{
    struct err ignored = {0}; /* the files were good a moment ago */
    const char *const *names;
    size_t count;
    struct csv_cells cells = {0};
    struct csv_block b;
    bool found = false;
    struct csv *c = csv_open(&s->dialect, files->items, files->count, &ignored);
    bool good = c && csv_header(c, &names, &count, &ignored);
    while (good && !found && csv_next(c, &b, &ignored)) {
        good = csv_cells_parse(&s->dialect, &b, count, &cells, &ignored);
        found = good && *row <= cells.record_count;
        if (found && strlen(b.path) < sizeof e->file) {
            memcpy(e->file, b.path, strlen(b.path) + 1);
            e->line = cells.records[*row - 1].line;
        }
        *row -= found ? 0 : cells.record_count;
        csv_release(c, &b);
    }
    csv_cells_free(&cells);
    csv_close(c);
    return found;
}

void table_place(const struct schema *s, const struct data_options *o, uint64_t row, struct err *e)
{
    const struct opt_strings *lists[PARTS] = {&o->train, &o->valid, &o->test};
    bool found = row == 0;
    for (int part = PART_TRAIN; part < PARTS && !found; part++)
        found = lists[part]->count && find_in(s, lists[part], &row, e);
}
