/* dataset_walk.c - reads the files of a dataset again, record by record. */
#include "table/cell_error.h"
#include "table/dataset_read.h"

/* One list of files; limit: its first records alone, 0: all. *row: the next row of the dataset. */
static bool walk_files(const struct dataset *d, const struct opt_strings *files, uint64_t limit,
                       unsigned own_parts, const struct dataset_visit *v, uint64_t *row,
                       struct err *e)
{
    const struct schema *s = d->schema;
    const char *const *names;
    size_t count;
    struct csv_cells cells = {0};
    struct binding binding = {0};
    struct csv_block b;
    struct csv *c = csv_open(&s->dialect, files->items, files->count, e);
    struct csv_choice first = {.count = limit};
    if (c && limit)
        csv_choose(c, &first);
    bool good = c && csv_header(c, &names, &count, e) &&
                schema_bind(s, names, count, own_parts ? BIND_SPLIT : BIND_TARGET, &binding, e) &&
                v->begin(v->owner, &binding, e);
    while (good && csv_next(c, &b, e)) {
        good = csv_cells_parse(&s->dialect, &b, count, &cells, e);
        struct cell_where w = {s, &binding, &b, &cells, 0, e};
        for (; good && w.record < cells.record_count; w.record++) {
            bool out = dataset_excludes(own_parts, &w) ||
                       cell_left_out(s, &binding, &cells, w.record);
            good = (out || *row < d->rows.count ||
                    err_at(e, ERR_FILE_CHANGED, b.path, 0, 0, "it has more rows than before")) &&
                   v->record(v->owner, &cells, w.record,
                             out ? UINT64_MAX : d->moved ? d->moved[*row] : *row, e);
            *row += !out;
        }
        csv_release(c, &b);
    }
    csv_cells_free(&cells);
    binding_free(&binding);
    csv_close(c);
    return good && e->id == ERR_NONE;
}

bool dataset_walk(const struct dataset *d, const struct data_options *o,
                  const struct dataset_visit *v, struct err *e)
{
    const struct opt_strings *lists[] = {&o->train, &o->valid};
    unsigned own_parts = dataset_own_parts(o);
    uint64_t row = 0;
    for (int part = PART_TRAIN; part <= PART_VALID; part++)
        if (lists[part]->count &&
            !walk_files(d, lists[part], part == PART_TRAIN ? o->limit : 0,
                        part == PART_TRAIN ? own_parts : 0, v, &row, e))
            return false;
    if (row == d->rows_of[PART_TRAIN] + d->rows_of[PART_VALID])
        return true;
    err_at(e, ERR_FILE_CHANGED, o->train.items[0], 0, 0, "it has other rows than before");
    return err_help(e, "run the command again when nothing writes to the data");
}
