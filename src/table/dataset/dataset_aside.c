/* dataset_aside.c - columns of type ignore whose cells are numbers or dates but for their form, or
 * most of them. */
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "csv/form/form_guess.h"
#include "table/encoder/cell.h"
#include "table/dataset/dataset_read.h"

enum { LEAST = 5, NAMED = 5 }; /* least present cells; most columns in the note */

/* True: most present cells of the first rows are numbers or dates, and not all of them
 * plain numbers. *all: each has a form of its own. */
static bool most_formed(const struct schema *s, const struct binding *b,
                        const struct csv_cells *cells, size_t column, uint32_t cell,
                        bool *all)
{
    uint64_t found = 0, plain = 0, formed = 0;
    for (size_t i = 0; i < cells->record_count; i++) {
        const struct csv_record *r = &cells->records[i];
        double value;
        if (r->cells != b->cells)
            continue;
        const struct csv_cell *c = &cells->cells[r->first_cell + cell];
        if (cell_is_missing(s, column, c->text, c->length))
            continue;
        found++;
        if (number_parse(c->text, c->length, s->decimal, &value) == NUMBER_OK)
            plain++;
        else
            formed += form_guess(c->text, c->length) != FORM_NONE;
    }
    *all = formed == found;
    return found >= LEAST && plain < found && 2 * (plain + formed) > found;
}

void dataset_note_aside(const struct schema *s, const struct binding *b,
                      const struct csv_cells *cells)
{
    struct text names = {0};
    unsigned found = 0;
    bool whole = true, all;
    for (size_t i = 0; i < s->column_count; i++)
        for (uint32_t k = 0; s->columns[i].type == COLUMN_IGNORE && k < b->cells; k++) {
            if (strcmp(b->names[k], s->columns[i].name) != 0 ||
                !most_formed(s, b, cells, i, k, &all))
                continue;
            whole &= all;
            if (found++ < NAMED)
                text_printf(&names, "%s\"%s\"", found > 1 ? ", " : "",
                            text_quote_z(s->columns[i].name));
        }
    if (found > NAMED)
        text_printf(&names, " and %u more", found - NAMED);
    if (found)
        log_note("column%s %s: set aside (ignore), though %scells are numbers or dates%s; "
                 "`dnn init` says %s", found == 1 ? "" : "s", names.data,
                 whole ? "the " : "most ", whole ? " in a form of their own" : "",
                 whole ? "which key reads them" : "which are not");
    text_free(&names);
}
