/* csv_csv_help.h - what the tests of CSV reading share: files in a folder of their own, and a
 * whole reading as text. */
#ifndef DNN_TESTS_DATA_CSV_HELP_H
#define DNN_TESTS_DATA_CSV_HELP_H

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "csv/csv.h"
#include "table/schema/options.h"
#include "tap.h"

static char folder[64];

static inline const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static inline const char *write_file(const char *name, const char *bytes, size_t length)
{
    const char *path = path_of(name);
    FILE *f = fopen(path, "wb");
    fwrite(bytes, 1, length, f);
    fclose(f);
    return path;
}

/* What reading gave: the names, then "LINE:cell|cell\n" for each record; quoted cells in "". */
struct reading {
    struct text names, records;
    struct err e;
    uint64_t blank_lines, blocks;
    struct csv_notes notes;
};

static inline void add_cell(struct text *t, const struct csv_cell *c)
{
    text_put(t, c->quoted ? "\"" : "");
    text_add(t, c->text, c->length);
    text_put(t, c->quoted ? "\"" : "");
    text_char(t, '|');
}

/* All of c, which is closed; NULL: it could not be opened, and r->e says why. */
static inline void read_csv(struct reading *r, const struct csv_dialect *d, struct csv *c)
{
    const char *const *names;
    size_t columns = 0;
    struct csv_block b;
    struct csv_cells cells = {0};
    if (c && csv_header(c, &names, &columns, &r->e)) {
        r->notes = csv_notes(c);
        for (size_t i = 0; i < columns; i++)
            text_printf(&r->names, "%s|", names[i]);
        while (r->e.id == ERR_NONE && csv_next(c, &b, &r->e)) {
            r->blocks++;
            csv_cells_parse(d, &b, columns, &cells, &r->e);
            r->blank_lines += cells.blank_lines;
            for (size_t i = 0; i < cells.record_count; i++) {
                const struct csv_record *record = cells.records + i;
                text_printf(&r->records, "%d:", (int)record->line);
                for (uint32_t k = 0; k < record->cells; k++)
                    add_cell(&r->records, cells.cells + record->first_cell + k);
                text_char(&r->records, '\n');
            }
            csv_release(c, &b);
        }
    }
    csv_cells_free(&cells);
    csv_close(c);
}

static inline void read_paths(struct reading *r, const struct csv_dialect *d, char *const *paths,
                       size_t count)
{
    *r = (struct reading){0};
    read_csv(r, d, csv_open(d, paths, count, &r->e));
}

static inline void read_bytes(struct reading *r, const struct csv_dialect *d, const char *bytes,
                       size_t length)
{
    char *path = mem_string(write_file("t.csv", bytes, length));
    read_paths(r, d, &path, 1);
    mem_free(path);
}

static inline void drop(struct reading *r)
{
    text_free(&r->names);
    text_free(&r->records);
}

#define COMMA                                                                                      \
    {                                                                                              \
        .delimiter = ',', .header = true                                                           \
    }
static const struct csv_dialect comma = COMMA;

static inline void expect_error(const struct reading *r, const char *name, enum err_id id, int line,
                         int column, const char *what, const char *help)
{
    bool same = r->e.id == id && r->e.line == line && r->e.column == column &&
                strstr(r->e.what, what) && strstr(r->e.help, help);
    ok(same, "%s: E%d at %d:%d", name, (int)id, line, column);
    if (!same)
        printf("#   got E%d at %d:%d: %s; help: %s\n", (int)r->e.id, (int)r->e.line,
               (int)r->e.column, r->e.what, r->e.help);
}

static inline void folder_make(void)
{
    snprintf(folder, sizeof folder, "/tmp/dnn_csv_%ld", (long)getpid());
    mkdir(folder, 0700);
}

static inline void folder_remove(void)
{
    static const char *const made[] = {"t.csv", "1.csv", "2.csv", "fifo", "change.csv"};
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(path_of(made[i]));
    rmdir(folder);
}

#endif
