/* first_lines.c - see first_lines.h. */
#include "csv/first_lines.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "csv/source.h"

enum { HEAD_BYTES = 1 << 16, LINES = 60 };

struct cells {
    const char *at, *end; /* the rest of the line */
    const char *marks;    /* bytes between cells; " ": a run of blanks */
};

/* The next cell, without blanks and quotes around it; false: there is none. */
static bool next_cell(struct cells *c, const char **text, size_t *length)
{
    if (!c->at)
        return false;
    const bool blanks = *c->marks == ' ';
    while (blanks && c->at < c->end && strchr(" \t", *c->at))
        c->at++;
    if (blanks && c->at == c->end)
        return false;
    const char *from = c->at, *to = from;
    while (to < c->end && !strchr(blanks ? " \t" : c->marks, *to))
        to++;
    c->at = to < c->end ? to + 1 : NULL;
    while (from < to && strchr(" \t\"", *from))
        from++;
    while (to > from && strchr(" \t\"", to[-1]))
        to--;
    *text = from;
    *length = (size_t)(to - from);
    return true;
}

static size_t count_cells(const char *line, size_t length, const char *marks)
{
    struct cells c = {line, line + length, marks};
    const char *text;
    size_t count = 0;
    for (size_t n; next_cell(&c, &text, &n);)
        count++;
    return count;
}

/* True if the line has most of the names as cells. */
static bool has_names(const char *line, size_t length, const char *marks,
                      const char *const *wanted, size_t count)
{
    struct cells c = {line, line + length, marks};
    const char *text;
    size_t found = 0;
    for (size_t n; next_cell(&c, &text, &n);)
        for (size_t i = 0; i < count; i++)
            found += strlen(wanted[i]) == n && memcmp(wanted[i], text, n) == 0;
    return 2 * found > count;
}

/* Returns the length of the line at `at`, without its end. *next: the next line; NULL: none
 * follows. */
static size_t line_at(const char *at, const char *end, const char **next)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *next = stop ? stop + 1 : NULL;
    size_t length = (size_t)((stop ? stop : end) - at);
    return length - (length && at[length - 1] == '\r');
}

static bool blank_help(const char *line, size_t length, const char *rest, const char *end,
                       int number, const char *path, struct err *e)
{
    const char *next;
    size_t names = count_cells(line, length, " "), cells = 0;
    if (rest && rest < end)
        cells = count_cells(rest, line_at(rest, end, &next), " ");
    const bool rows = cells == names + 1;
    char tail[32] = "";
    if (number > 1)
        snprintf(tail, sizeof tail, "tail -n +%d FILE | ", number);
    return err_help(e, "blanks stand between the cells%s: this makes commas of them: %s",
                    rows ? ", and each row has a name, as R's write.table makes them" : "",
                    shell_remedy(path, ".mended.csv",
                                 "%ssed '%ss/^[ \\t]*//; s/[ \\t][ \\t]*/,/g'%s", tail,
                                 rows ? "1s/^/row /; " : "", *tail ? "" : " FILE"));
}

/* True if a line has the names between these marks. *from: after the line before it, then after the
 * line; *line: its number. */
static bool find_line(const char **from, const char *end, const char *mark,
                      const char *const *wanted, size_t count, int *line, size_t *length)
{
    const char *next, *at = *from;
    for (*line = 1; *line <= LINES && at && at < end; ++*line, at = next) {
        *length = line_at(at, end, &next);
        if (has_names(at, *length, mark, wanted, count) && count_cells(at, *length, mark) > 1) {
            *from = at;
            return true;
        }
    }
    return false;
}

static void look(const char *bytes, const char *end, const char *const *wanted, size_t count,
                 const char *path, struct err *e)
{
    static const char *const marks[] = {",", ";", "\t", "|", " "};
    for (size_t m = 0; m < sizeof marks / sizeof *marks; m++) {
        const char *at = bytes, *next;
        int line;
        size_t length;
        if (!find_line(&at, end, marks[m], wanted, count, &line, &length))
            continue;
        line_at(at, end, &next);
        if (*marks[m] == ' ')
            blank_help(at, length, next, end, line, path, e);
        else if (line > 1)
            err_help(e, "the names stand in line %d: take out what is above them: %s", line,
                     shell_remedy(path, ".mended.csv", "tail -n +%d FILE", line));
        return;
    }
}

void first_lines_help(const char *path, const struct csv_dialect *d, const char *const *wanted,
                      size_t count, struct err *e)
{
    struct source_file f;
    struct err ignored = {0};
    size_t size = 0;
    if (!d->header || !count || strcmp(path, "-") == 0 || !source_open(&f, path, false, &ignored))
        return;
    char *bytes = mem_alloc(HEAD_BYTES, 1);
    if (f.file.seekable && source_read(&f, bytes, HEAD_BYTES, &size, &ignored) && !f.gunzip)
        look(bytes, bytes + size, wanted, count, path, e);
    source_close(&f);
    mem_free(bytes);
}

bool first_lines_row_names(const struct csv_dialect *d, const char *path,
                           const struct csv_record *r, const struct csv_cell *cells, size_t count,
                           struct err *e)
{
    if (!d->header || r->line != 2 || r->cells != count + 1 || !cells[count].length)
        return false;
    err_help(e, "the rows have a cell more than the header, as R's write.table makes them with row "
                "names: name that column: %s; or quote the cell that contains the delimiter",
             shell_remedy(path, ".mended.csv", "sed '1s/^/row%s/' FILE",
                          d->delimiter == '\t' ? "\\t" : (char[]){d->delimiter, '\0'}));
    return true;
}
