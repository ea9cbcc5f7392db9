/* infer_aside.c - columns of type ignore whose cells are numbers or dates in a form that has to be
 * named. */
#include <string.h>

#include "base/log.h"
#include "base/text.h"
#include "table/cell.h"
#include "table/infer_survey.h"

enum { LEAST = 5, NAMED = 5 }; /* cells that are there; columns in the note */

/* Whether all cells of the first rows that are there have such a form. */
static bool all_formed(const struct schema *s, const struct binding *b,
                       const struct csv_cells *cells, uint32_t cell)
{
    uint64_t found = 0;
    for (size_t i = 0; i < cells->record_count; i++) {
        const struct csv_record *r = &cells->records[i];
        if (r->cells != b->cells)
            continue;
        const struct csv_cell *c = &cells->cells[r->first_cell + cell];
        if (cell_is_missing(s, c->text, c->length))
            continue;
        if (infer_form(c->text, c->length) == FORM_NONE)
            return false;
        found++;
    }
    return found >= LEAST;
}

void infer_note_aside(const struct schema *s, const struct binding *b,
                      const struct csv_cells *cells)
{
    struct text names = {0};
    unsigned found = 0;
    for (size_t i = 0; i < s->column_count; i++)
        for (uint32_t k = 0; s->columns[i].type == COLUMN_IGNORE && k < b->cells; k++)
            if (strcmp(b->names[k], s->columns[i].name) == 0 && all_formed(s, b, cells, k) &&
                found++ < NAMED)
                text_printf(&names, "%s\"%s\"", found > 1 ? ", " : "",
                            text_quote_z(s->columns[i].name));
    if (found > NAMED)
        text_printf(&names, " and %u more", found - NAMED);
    if (found)
        log_note("column%s %s: set aside (ignore), though the cells are numbers or dates in a form "
                 "of their own; `dnn init` says which key reads them",
                 found == 1 ? "" : "s", names.data);
    text_free(&names);
}
