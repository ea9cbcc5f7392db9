/* header_row.c - see header_row.h. */
#include "table/encoder/header_row.h"

#include "base/process/shell.h"
#include "base/unicode.h"

#define UTF8_MARK "\xef\xbb\xbf"

bool header_row_equals(const char *const *names, size_t count, const struct csv_cell *cells)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = cells[i].text;
        size_t length = cells[i].length;
        const bool nameless = i == 0 && !length && strcmp(names[0], "c1") == 0;
        if (i == 0 && length > 3 && memcmp(text, UTF8_MARK, 3) == 0) {
            text += 3;
            length -= 3;
        }
        if (!nameless && !unicode_same(names[i], strlen(names[i]), text, length))
            return false;
    }
    return count > 1;
}

bool header_row_report(const struct csv_block *b, const struct csv_record *r, struct err *e)
{
    const bool first = r->line == 1;
    err_at(e, ERR_CSV_HEADER_AGAIN, b->path, r->line, 0,
           first ? "the first line is a header" : "the row is the header again");
    err_excerpt(e, b->bytes + r->offset, r->bytes);
    if (first)
        return err_help(e, "leave out --no-header, which says that the input has none");
    return err_help(e, "files put together with cat have a header each: give them one by one "
                       "(data.train takes a list, predict several files), or take the line out: %s",
                    shell_remedy(b->path, ".mended.csv", "sed %lldd FILE", (long long)r->line));
}

bool header_row_none(const char *const *names, size_t count, const struct csv_block *b,
                     const struct csv_cells *cells, struct err *e)
{
    for (size_t r = 0; r < cells->record_count; r++) {
        const struct csv_cell *first = cells->cells + cells->records[r].first_cell;
        if (header_row_may_be(names, first) && header_row_equals(names, count, first))
            return header_row_report(b, &cells->records[r], e);
    }
    return true;
}

static bool is_read(const struct schema *s, const struct binding *b, size_t column)
{
    return column != s->target && b->cell_of[column] >= 0 &&
           column_type_is_input(s->columns[column].type);
}

/* True if an earlier cell that is read has the same text. */
static bool stands_twice(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    for (size_t i = 0; i < column; i++) {
        if (!is_read(w->s, w->b, i))
            continue;
        const struct csv_cell *other = cell_at(w->b, w->cells, w->record, i);
        if (other->length == cell->length && memcmp(other->text, cell->text, cell->length) == 0)
            return true;
    }
    return false;
}

bool header_row_unknown(const struct cell_where *w)
{
    size_t found = 0;
    for (size_t i = 0; i < w->s->column_count; i++) {
        const struct column *c = &w->s->columns[i];
        if (!is_read(w->s, w->b, i))
            continue;
        const struct csv_cell *cell = cell_at(w->b, w->cells, w->record, i);
        double value;
        if (c->type != COLUMN_CATEGORICAL || cell_is_missing(w->s, i, cell->text, cell->length) ||
            vocab_find(w->encoder->columns[i].vocab, cell->text, cell->length) != UINT32_MAX ||
            number_parse(cell->text, cell->length, w->s->decimal, &value) == NUMBER_OK ||
            stands_twice(w, i, cell))
            return false;
        found++;
    }
    return found > 1;
}

bool header_row_report_unknown(const struct cell_where *w)
{
    const struct csv_record *r = w->cells->records + w->record;
    err_at(w->e, ERR_CSV_HEADER_AGAIN, w->block->path, r->line, 0,
           "the first line looks like names: training saw none of its categories, and the model "
           "was trained on a file without header");
    err_excerpt(w->e, w->block->bytes + r->offset, r->bytes);
    return err_help(w->e, "take the line out: %s",
                    shell_remedy(w->block->path, ".mended.csv", "tail -n +2 FILE"));
}
