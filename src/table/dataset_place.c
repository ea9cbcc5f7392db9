/* dataset_place.c - finds the file and line of a row for a message, by reading the files again. */
#include <string.h>

#include "table/cell_error.h"
#include "table/dataset_read.h"
#include "table/sequence/odd_steps.h"

/* Finds the row in a block; *row counts down to it. Returns the number of records if it comes
 * later. */
static size_t find_record(struct cell_where w, unsigned own_parts, uint64_t *row)
{
    for (; w.record < w.cells->record_count; w.record++)
        if (!dataset_excludes(own_parts, &w) &&
            !cell_left_out(w.s, w.b, w.cells, w.record) && --*row == 0)
            break;
    return w.record;
}

/* Searches one list of files. group: gets the row's cell of that column; NULL: not wanted. */
static bool find_in(const struct schema *s, const struct opt_strings *files, int part,
                    unsigned own_parts, uint64_t *row, struct err *e, struct text *group)
{
    struct err ignored = {0}; /* the files were valid before */
    const char *const *names;
    size_t count;
    struct csv_cells cells = {0};
    struct binding binding = {0};
    struct csv_block b;
    bool found = false;
    struct csv *c = csv_open(&s->dialect, files->items, files->count, &ignored);
    bool good = c && csv_header(c, &names, &count, &ignored) &&
                schema_bind(s, names, count, own_parts ? BIND_SPLIT : BIND_TARGET, &binding,
                            &ignored);
    if (part == PART_TEST)
        binding.weight = -1; /* rows of weight 0 stay */
    while (good && !found && csv_next(c, &b, &ignored)) {
        good = csv_cells_parse(&s->dialect, &b, count, &cells, &ignored);
        struct cell_where w = {s, &binding, &b, &cells, 0, &ignored};
        size_t record = good ? find_record(w, own_parts, row) : 0;
        found = good && record < cells.record_count;
        if (found && strlen(b.path) < sizeof e->file) {
            memcpy(e->file, b.path, strlen(b.path) + 1);
            e->line = cells.records[record].line;
        }
        if (found && group) {
            const struct csv_cell *cell = cell_at(&binding, &cells, record, s->windows.group);
            text_add(group, cell->text, cell->length);
        }
        csv_release(c, &b);
    }
    csv_cells_free(&cells);
    binding_free(&binding);
    csv_close(c);
    return found;
}

/* A FIFO would wait for another writer. */
static bool last(const struct opt_strings *files)
{
    size_t i = 0;
    while (i < files->count && file_lasts(files->items[i]))
        i++;
    return i == files->count;
}

static bool find_row(const struct dataset *d, const struct data_options *o, uint64_t row,
                     struct err *e, struct text *group)
{
    const struct schema *s = d->schema;
    const struct opt_strings *lists[PARTS] = {&o->train, &o->valid, &o->test};
    unsigned own_parts = dataset_own_parts(o);
    bool found = row == 0;
    for (uint64_t i = 0; d->moved && !found && i < d->rows.count; i++)
        if (d->moved[i] + UINT64_C(1) == row) {
            row = i + 1;
            break;
        }
    for (int part = PART_TRAIN; part < PARTS && !found && last(lists[part]); part++)
        found = lists[part]->count && find_in(s, lists[part], part,
                                              part == PART_TRAIN ? own_parts : 0, &row, e, group);
    return found;
}

void dataset_place(const struct dataset *d, const struct data_options *o, uint64_t row,
                   struct err *e)
{
    find_row(d, o, row, e, NULL);
}

void dataset_step_place(const struct dataset *d, const struct data_options *o, uint64_t row,
                        struct text *to)
{
    struct err place = {0};
    struct text group = {0};
    if (find_row(d, o, row, &place, &group))
        odd_step_place(to, place.file, place.line, group.data, group.length);
    text_free(&group);
}
