/* fuzz_csv.c - any bytes as CSV, the first two choose the dialect. The scanner and libcsv must give
 * the same cells or both refuse; reading on behind bad records must end; and blocks cut anywhere
 * must give the records of the whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "csv/csv_reader.h"
#include "csv/scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=32";
}

static void check(bool right)
{
    if (!right)
        abort();
}

#include "../csv_list.h"

static void compare(const struct csv_cells *a, const struct csv_cells *b)
{
    check(a->cell_count == b->cell_count && a->record_count == b->record_count);
    check(a->blank_lines == b->blank_lines);
    for (size_t i = 0; i < a->record_count; i++) {
        const struct csv_record *x = a->records + i, *y = b->records + i;
        check(x->first_cell == y->first_cell && x->cells == y->cells && x->offset == y->offset);
        check(x->bytes == y->bytes && x->line == y->line);
    }
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct csv_cell *x = a->cells + i, *y = b->cells + i;
        check(x->length == y->length && x->quoted == y->quoted && x->escaped == y->escaped);
        check(memcmp(x->text, y->text, x->length) == 0);
    }
}

static void both_readers(const struct csv_dialect *d, const struct csv_block *b, size_t columns)
{
    struct csv_cells scan = {0}, libcsv = {0};
    struct err e = {0};
    if ((csv_unquoted(d) || d->quote == QUOTE_LENIENT) && memchr(b->bytes, '\0', b->size))
        return; /* csv_cells_parse gives libcsv no NUL */
    bool done = scan_parse(d, b, columns, &scan) == SCAN_DONE;
    check(done == libcsv_parse(d, b, columns, &libcsv, &e));
    if (done)
        compare(&scan, &libcsv);
    else
        check(e.id != ERR_NONE && e.what[0] && e.line >= b->first_line && e.column > 0);
    csv_cells_free(&scan);
    csv_cells_free(&libcsv);
}

/* As csv_next cuts a file. */
static void list_cut(struct text *out, const struct csv_dialect *d, bool cr, const char *text,
                     size_t n, size_t columns, size_t most)
{
    const size_t longest = 4096;
    int64_t line = 1;
    for (size_t at = 0; at < n;) {
        size_t cut = 0;
        for (size_t room = most;; room = room * 2 > longest ? longest : room * 2) {
            size_t shown = n - at < room ? n - at : room;
            cut = cut_find(d, cr, text + at, shown, most, shown == n - at);
            if (cut || room == longest)
                break;
        }
        if (!cut)
            return; /* a line beyond the limit: the end of such a file */
        struct csv_block b = {
            .bytes = text + at, .size = cut, .path = "fuzz", .first_line = line, .cr = cr};
        list_block(out, d, &b, columns, SIZE_MAX);
        line += scan_lines(text + at, cut, cr ? '\r' : '\n');
        at += cut;
    }
}

/* The whole road from a file on: formats, encodings, the header. */
static void read_file(struct csv_dialect d, int encoding, const char *text, size_t n)
{
    int fd = memfd_create("fuzz", 0);
    char path[64], *paths[] = {path, path};
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check(write(fd, text, n) == (ssize_t)n);
    d.encoding = encoding;
    struct err e = {0};
    struct csv_block b;
    struct csv_cells cells = {0};
    const char *const *names;
    size_t count = 0;
    struct csv *c = csv_open(&d, paths, 2, &e);
    if (!d.header && n % 2)
        csv_widths(c, 2 + n % 3 / 2, 3);
    if (csv_header(c, &names, &count, &e)) {
        check(count > 0 && count <= CSV_MOST_COLUMNS);
        while (csv_next(c, &b, &e)) {
            struct err syntax = {0};
            csv_cells_parse(&d, &b, count, &cells, &syntax);
            csv_release(c, &b);
        }
    } else {
        check(e.id != ERR_NONE && e.what[0]);
    }
    csv_cells_free(&cells);
    csv_close(c);
    close(fd);
}

/* With a limit of a few bytes: a record beyond it is one bad row, from a file. */
static void read_limited(struct csv_dialect d, const char *text, size_t n, size_t longest)
{
    static const char head[] = "a,b\n";
    struct text expected = {0}, got = {0};
    struct err e = {0};
    char *bytes = mem_alloc(n + sizeof head, 1), path[64], *paths[] = {path};
    int fd = memfd_create("fuzz", 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    memcpy(bytes, head, sizeof head);
    bytes[1] = d.delimiter;
    memcpy(bytes + sizeof head - 1, text, n);
    check(write(fd, bytes, n + sizeof head - 1) == (ssize_t)(n + sizeof head - 1));
    d.header = true;
    struct csv_block whole = {
        .bytes = bytes + sizeof head - 1, .size = n, .path = "fuzz", .first_line = 2};
    list_block(&expected, &d, &whole, 2, longest);
    struct csv *c = csv_open(&d, paths, 1, &e);
    c->block = c->longest = longest;
    if (list_file(&got, &d, c, &e)) /* zeros in front are another encoding */
        check(got.length == expected.length &&
              (!got.length || memcmp(got.data, expected.data, got.length) == 0));
    csv_close(c);
    close(fd);
    mem_free(bytes);
    text_free(&expected);
    text_free(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size > 4000)
        return 0;
    struct csv_dialect d = {
        .delimiter = ",;\t|"[data[0] & 3], .header = true,
        .quote = (data[0] >> 4) % 4, .tsv = (data[0] & 12) == 4};
    bool cr = (data[0] & 48) == 16;
    size_t columns = data[0] >> 6 & 3, most = 1 + data[1], n = size - 2;
    char *text = mem_copy(data + 2, n); /* its own block: a read beyond its end is seen */
    struct csv_block whole = {.bytes = text, .size = n, .path = "fuzz", .first_line = 1, .cr = cr};
    both_readers(&d, &whole, columns);
    struct text one = {0}, many = {0};
    list_block(&one, &d, &whole, columns, SIZE_MAX);
    list_cut(&many, &d, cr, text, n, columns, most);
    check(one.length == many.length &&
          (!one.length || memcmp(one.data, many.data, one.length) == 0));
    text_free(&one);
    text_free(&many);
    if (data[1] % 16 == 3 && n)
        read_limited(d, text, n, 8 + data[1] / 4);
    if (data[1] % 16 == 7) { /* slower by far: whole blocks of memory */
        d.header = data[1] & 16;
        read_file(d, (data[1] >> 5) % 3, text, n);
    }
    mem_free(text);
    return 0;
}
