/* dataset_walk.c - reads the files of a dataset again, record by record, and finds the place of a
 * row for a message. */
#include <string.h>

#include "table/encoder/cell_error.h"
#include "table/dataset/dataset_read.h"

/* One list of files. *row: the next row of the dataset. */
static bool walk_files(const struct dataset *d, const struct data_options *o, int part,
                       const struct dataset_visit *v, uint64_t *row, struct err *e)
{
    const struct schema *s = d->schema;
    const struct opt_strings *files = data_files(o, part);
    const unsigned own_parts = part == PART_TRAIN ? dataset_own_parts(o) : 0;
    const char *const *names;
    size_t count;
    struct csv_cells cells = {0};
    struct binding binding = {0};
    struct csv_block b;
    struct csv *c = csv_open(&s->dialect, files->items, files->count, e);
    struct csv_choice first = {.count = part == PART_TRAIN ? o->limit : 0};
    if (c && first.count)
        csv_choose(c, &first);
    bool good = c && csv_header(c, &names, &count, e) &&
                schema_bind(s, names, count, own_parts ? BIND_SPLIT : BIND_PART, &binding, e) &&
                (!v->begin || v->begin(v->owner, &binding, e));
    if (part == PART_TEST)
        binding.weight = -1; /* rows of weight 0 stay */
    while (good && csv_next(c, &b, e)) {
        good = csv_cells_parse(&s->dialect, &b, count, &cells, e);
        struct cell_where w = {s, NULL, &binding, &b, &cells, 0, e};
        for (; good && w.record < cells.record_count; w.record++) {
            bool out = dataset_excludes(own_parts, &w) ||
                       cell_left_out(s, &binding, &cells, w.record);
            good = (out || *row < d->rows.count ||
                    err_at(e, ERR_FILE_CHANGED, b.path, 0, 0, "it has more rows than before")) &&
                   v->record(v->owner, &w, out ? UINT64_MAX : d->moved ? d->moved[*row] : *row);
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
    uint64_t row = 0;
    for (int part = PART_TRAIN; part <= PART_VALID; part++)
        if (data_files(o, part)->count && !walk_files(d, o, part, v, &row, e))
            return false;
    if (row == d->rows_of[PART_TRAIN] + d->rows_of[PART_VALID])
        return true;
    err_at(e, ERR_FILE_CHANGED, o->train.items[0], 0, 0, "it has other rows than before");
    return err_help(e, "run the command again when nothing writes to the data");
}

/* --- the place of a row --- */

struct place {
    uint64_t row;
    bool found;
    struct err *e;      /* gets file and line */
    struct text *group; /* gets the row's cell of the group; NULL: not wanted */
};

static bool at_row(void *owner, const struct cell_where *w, uint64_t row)
{
    struct place *p = owner;
    p->found = row == p->row;
    if (p->found && strlen(w->block->path) < sizeof p->e->file) {
        memcpy(p->e->file, w->block->path, strlen(w->block->path) + 1);
        p->e->line = w->cells->records[w->record].line;
    }
    if (p->found && p->group) {
        const struct csv_cell *cell = cell_at(w->b, w->cells, w->record, w->s->windows.group);
        text_add(p->group, cell->text, cell->length);
    }
    return !p->found;
}

static bool find_row(const struct dataset *d, const struct data_options *o, uint64_t row,
                     struct err *e, struct text *group)
{
    struct place p = {row - 1, false, e, group};
    const struct dataset_visit visit = {&p, NULL, at_row};
    uint64_t next = 0;
    for (int part = PART_TRAIN; row && part < PARTS && !p.found; part++) {
        struct err ignored = {0}; /* the files were valid before */
        if (data_passing(o, part)) /* a FIFO would wait for another writer */
            break;
        if (data_files(o, part)->count)
            walk_files(d, o, part, &visit, &next, &ignored);
    }
    return p.found || row == 0;
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
