/* csv_list.h - reads the records of a text into a list, and one record by libcsv. The fuzz
 * target and the unit test share it; they define check(bool). */
#ifndef DNN_TESTS_CSV_LIST_H
#define DNN_TESTS_CSV_LIST_H

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "csv/csv_reader.h"

/* A record with its line end, for which there must be room even where the file ends before. */
static inline size_t record_bytes(const struct csv_block *b, const struct csv_record *r)
{
    size_t end = r->offset + r->bytes;
    end += !b->cr && end + 1 < b->size && b->bytes[end] == '\r' && b->bytes[end + 1] == '\n';
    return end + 1 - r->offset;
}

/* The records of a block and of what follows each bad one; one beyond `longest` is bad. */
static inline void list_block(struct text *out, const struct csv_dialect *d,
                              const struct csv_block *b, size_t columns, size_t longest)
{
    struct csv_block now = *b;
    struct csv_cells cells = {0};
    for (;;) {
        struct err e = {0};
        bool good = csv_cells_parse(d, &now, columns, &cells, &e);
        for (size_t i = 0; i < cells.record_count; i++) {
            const struct csv_record *r = cells.records + i;
            check(r->offset + r->bytes <= now.size);
            bool bad = record_bytes(&now, r) > longest;
            text_printf(out, bad ? "b%lld:" : "r%lld:", (long long)r->line);
            for (uint32_t k = 0; k < r->cells && !bad; k++) {
                const struct csv_cell *c = cells.cells + r->first_cell + k;
                int64_t line, column;
                csv_place(&now, r, &cells, k, &line, &column);
                check(line >= r->line && column >= 1);
                text_add(out, c->text, c->length);
                text_char(out, '|');
            }
        }
        if (good)
            break;
        check(cells.has_error && cells.resume_offset > cells.error_offset && e.id != ERR_NONE);
        text_printf(out, "b%lld:",
                    (long long)now.first_line +
                        (long long)scan_lines(now.bytes, cells.error_offset, now.cr ? '\r' : '\n'));
        if (!csv_rest(&now, &cells, &now))
            break;
    }
    csv_cells_free(&cells);
}

/* What csv_next gives. False: the reading ended with an error. */
static inline bool list_file(struct text *out, const struct csv_dialect *d, struct csv *c,
                             struct err *e)
{
    const char *const *names;
    size_t count;
    struct csv_block b;
    if (!csv_header(c, &names, &count, e))
        return false;
    while (csv_next(c, &b, e)) {
        list_block(out, d, &b, count, SIZE_MAX);
        csv_release(c, &b);
    }
    return e->id == ERR_NONE;
}

#endif
