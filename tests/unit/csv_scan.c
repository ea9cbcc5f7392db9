/* csv_scan.c - the fast scanner against libcsv: the same cells for every text that libcsv takes, a
 * refusal for every one that it does not; and blocks cut anywhere give the records of the whole. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "csv/csv_reader.h"
#include "csv/scan.h"
#include "tap.h"

static uint64_t drawn;

static uint32_t draw(uint32_t below)
{
    return rng_philox(11, (uint32_t)drawn++, 0, 0, RNG_TEST).v[0] % below;
}

/* A text of `size` bytes: cells, quotes and line ends, mostly well formed; spoil: in how many
 * places not; foreign: also by bytes that are no text. */
static size_t make_text(char *out, size_t size, char delimiter, const char *line_end,
                        uint32_t spoil, bool foreign)
{
    size_t n = 0;
    while (n + 24 < size) {
        uint32_t kind = draw(12);
        for (uint32_t i = draw(6) ? 0 : draw(3); i; i--)
            out[n++] = draw(2) ? ' ' : '\t';
        if (kind < 4) {
            out[n++] = '"';
            for (uint32_t i = draw(8); i; i--) {
                static const char inside[] = "ab,;\t \n\r|'\\\\";
                out[n++] = inside[draw(12)];
                if (draw(6) == 0) {
                    out[n++] = '"';
                    out[n++] = '"';
                }
            }
            out[n++] = '"';
        } else {
            for (uint32_t i = kind < 6 ? 0 : draw(7); i; i--)
                out[n++] = "0123456789.-ea\\!"[draw(16)];
        }
        for (uint32_t i = draw(6) ? 0 : draw(3); i; i--)
            out[n++] = draw(2) ? ' ' : '\t';
        if (draw(5) && n + 4 < size) {
            out[n++] = delimiter;
        } else {
            memcpy(out + n, line_end, strlen(line_end));
            n += strlen(line_end);
        }
    }
    for (; spoil; spoil--)
        out[draw((uint32_t)n)] = "\",\n\r \ta\\\0\x80"[draw(foreign ? 10 : 8)];
    return n;
}

static bool same_cells(const struct csv_cells *a, const struct csv_cells *b)
{
    if (a->cell_count != b->cell_count || a->record_count != b->record_count ||
        a->blank_lines != b->blank_lines)
        return false;
    for (size_t i = 0; i < a->record_count; i++) {
        const struct csv_record *x = a->records + i, *y = b->records + i;
        if (x->first_cell != y->first_cell || x->cells != y->cells || x->offset != y->offset ||
            x->bytes != y->bytes || x->line != y->line)
            return false;
    }
    for (size_t i = 0; i < a->cell_count; i++) {
        const struct csv_cell *x = a->cells + i, *y = b->cells + i;
        if (x->length != y->length || x->quoted != y->quoted || x->escaped != y->escaped ||
            memcmp(x->text, y->text, x->length) != 0)
            return false;
    }
    return true;
}

static void show(const char *text, size_t n)
{
    printf("# ");
    for (size_t i = 0; i < n; i++)
        printf(text[i] >= ' ' && text[i] < 127 ? "%c" : "\\x%02x", (unsigned char)text[i]);
    printf("\n");
}

struct pair {
    struct csv_cells scan, libcsv;
    unsigned done, refused;
};

/* One text, both readers. The copy has its own size, so that a sanitizer sees every read beyond it.
 * */
static bool agree(struct pair *p, const struct csv_dialect *d, bool cr, const char *text, size_t n,
                  size_t columns)
{
    char *copy = mem_alloc(n, 1);
    memcpy(copy, text, n);
    struct csv_block b = {.bytes = copy, .size = n, .path = "test", .first_line = 5, .cr = cr};
    struct err e = {0};
    bool done = scan_parse(d, &b, columns, &p->scan) == SCAN_DONE;
    bool good = libcsv_parse(d, &b, columns, &p->libcsv, &e);
    p->done += done;
    p->refused += !done;
    bool same = done == good && (!done || same_cells(&p->scan, &p->libcsv));
    if (!same) {
        printf("# scan %s, libcsv %s %s at %d:%d\n", done ? "done" : "refused",
               good ? "done" : "refused", e.what, (int)e.line, (int)e.column);
        show(text, n);
    }
    mem_free(copy);
    return same;
}

static void test_random(int rounds)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    struct pair p = {0};
    char text[1024];
    bool same = true;
    for (int i = 0; i < rounds && same; i++) {
        struct csv_dialect d = {.delimiter = ",;\t|"[draw(4)],
                                .quote = (int)draw(4),
                                .tsv = draw(16) == 0};
        uint32_t end = draw(8) < 4 ? 0 : draw(3);
        size_t n = make_text(text, 40 + draw(i % 16 ? 260 : 980), d.delimiter, ends[end],
                             draw(2) ? 0 : draw(3), false);
        n -= draw(4) ? 0 : draw(4);
        same = agree(&p, &d, end == 2, text, n, draw(3));
    }
    ok(same, "%d random texts: %u the same cells, %u refused by both", rounds, p.done, p.refused);
    ok(p.done > (unsigned)rounds / 4 && p.refused > (unsigned)rounds / 8,
       "both kinds were met often");
    csv_cells_free(&p.scan);
    csv_cells_free(&p.libcsv);
}

/* Texts of several windows, most of them plain, with little in them that is not. */
static void test_windows(int rounds)
{
    enum { MOST = 3 * 64 * SCAN_WINDOW };
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    static const char *const odd[] = {"\"a,b\"", "\"\"", " ", "\t", "a b", " \"x\"\"y\" ", "\"\n\"",
                                      "\r", "\n", "\"", "\n\n", "\r\n\r\n", "\"x\\\"y\\\\\"", "\\"};
    struct pair p = {0};
    char *text = mem_alloc(MOST, 1);
    bool same = true;
    for (int i = 0; i < rounds && same; i++) {
        struct csv_dialect d = {.delimiter = ",\t"[draw(2)],
                                .quote = (int)draw(4),
                                .tsv = draw(16) == 0};
        uint32_t end = draw(3), width = 1 + draw(30), odds = draw(2) ? 40000 : 800, n = 0;
        while (n + 40 < MOST) {
            for (uint32_t k = draw(width); k; k--)
                text[n++] = "0123456789.-eax!"[draw(16)];
            if (draw(odds) < 20) {
                const char *what = odd[draw(sizeof odd / sizeof *odd)];
                n += (uint32_t)snprintf(text + n, 12, "%s", what);
            }
            if (draw(5))
                text[n++] = d.delimiter;
            else
                n += (uint32_t)snprintf(text + n, 3, "%s", ends[end]);
        }
        same = agree(&p, &d, end == 2, text, n - draw(30), draw(3));
    }
    ok(same, "%d texts of three windows: %u the same cells, %u refused by both", rounds, p.done,
       p.refused);
    mem_free(text);
    csv_cells_free(&p.scan);
    csv_cells_free(&p.libcsv);
}

/* A block of several MiB is scanned: the limit of a field concerns its records alone. */
static void test_large(void)
{
    enum { RECORD = CSV_MOST_FIELD - 100, SIZE = 3 * (RECORD + 1) };
    struct pair p = {0};
    char *text = mem_alloc(SIZE, 1);
    for (size_t i = 0; i < SIZE; i++)
        text[i] = i % (RECORD + 1) == RECORD ? '\n' : i % 64 ? '7' : ',';
    ok(agree(&p, &(struct csv_dialect){.delimiter = ','}, false, text, SIZE, 0) && p.done == 1,
       "three records of nearly 1 MiB, in one block");
    mem_free(text);
    csv_cells_free(&p.scan);
    csv_cells_free(&p.libcsv);
}

/* Every text of up to 7 letters of a small alphabet, at the border of two masks and of two windows.
 * */
static void test_all_short(void)
{
    static const char strict[] = "\",\n\r a", backslash[] = "\",\n\r \\";
    static const size_t shifts[] = {0, 60, 64 * SCAN_WINDOW - 3};
    struct pair p = {0};
    bool same = true;
    char *text = mem_alloc(64 * SCAN_WINDOW + 16, 1);
    unsigned texts = 0;
    for (size_t round = 0; round < 6; round++) {
        size_t s = round % 3, most = s == 2 ? 4 : 6;
        const char *letters = round < 3 ? strict : backslash;
        struct csv_dialect d = {.delimiter = ',',
                                .quote = round < 3 ? QUOTE_STRICT : QUOTE_BACKSLASH};
        for (size_t length = 1; length <= most && same; length++) {
            size_t all = 1;
            for (size_t i = 0; i < length; i++)
                all *= 6;
            for (size_t k = 0; k < all && same; k++, texts++) {
                size_t rest = k, n = shifts[s];
                memset(text, 'x', n);
                for (size_t i = 9; i < n; i += 10)
                    text[i] = i % 20 == 9 ? '\n' : ',';
                for (size_t i = 0; i < length; i++, rest /= 6)
                    text[n++] = letters[rest % 6];
                same = agree(&p, &d, false, text, n, 2) && (s || agree(&p, &d, true, text, n, 1));
            }
        }
    }
    ok(same, "%u texts of up to 6 letters, each at the border of masks and windows", texts);
    mem_free(text);
    csv_cells_free(&p.scan);
    csv_cells_free(&p.libcsv);
}

static void test_masks(void)
{
    static const struct {
        const char *name, *needs;
        scan_masks_fn *f;
    } all[] = {
#if defined(__x86_64__)
        {"sse2", "sse2", scan_masks_sse2},
        {"avx2", "avx2", scan_masks_avx2},
        {"avx512", "avx512bw", scan_masks_avx512},
#endif
        {"plain", NULL, scan_masks_plain}
    };
    unsigned char bytes[64 * 32];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = draw(2) ? (unsigned char)"\",;\t\n\r |"[draw(8)] : (unsigned char)draw(256);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
#if defined(__x86_64__)
        if ((k == 1 && !__builtin_cpu_supports("avx2")) ||
            (k == 2 && !__builtin_cpu_supports("avx512bw"))) {
            tap_skip(all[k].name, "not on this processor");
            continue;
        }
#endif
        bool same = true;
        for (size_t c = 0; c < 4; c++) {
            struct scan_masks plain[32], other[32];
            scan_masks_plain(bytes, 32, ",;\t|"[c], plain);
            all[k].f(bytes, 32, ",;\t|"[c], other);
            same &= memcmp(plain, other, sizeof plain) == 0;
        }
        ok(same, "masks of %s are those of plain C", all[k].name);
    }
}

static void test_places(void)
{
#if defined(__x86_64__)
    if (!scan_places_has_avx512()) {
        tap_skip("places of avx512", "not on this processor");
        return;
    }
    static uint32_t a[64 * SCAN_WINDOW + SCAN_PLACES_BEYOND];
    static uint32_t b[64 * SCAN_WINDOW + SCAN_PLACES_BEYOND];
    bool same = true;
    for (int round = 0; round < 200; round++) {
        uint64_t masks[SCAN_WINDOW];
        for (size_t i = 0; i < SCAN_WINDOW; i++) {
            masks[i] = (uint64_t)draw(UINT32_MAX) << 32 | draw(UINT32_MAX);
            for (uint32_t thin = draw(5); thin; thin--)
                masks[i] &= (uint64_t)draw(UINT32_MAX) << 32 | draw(UINT32_MAX);
            masks[i] = draw(20) ? masks[i] : ~UINT64_C(0);
        }
        size_t n = scan_places_plain(masks, SCAN_WINDOW, 4096, a);
        same &= scan_places_avx512(masks, SCAN_WINDOW, 4096, b) == n &&
                memcmp(a, b, n * sizeof *a) == 0;
    }
    ok(same, "places of avx512 are those of plain C");
#endif
}

/* Lines, and what is in front of the first byte that is no ASCII, counted slowly. */
static void test_passes(void)
{
    bool same = true;
    for (int round = 0; round < 400 && same; round++) {
        size_t n = draw(round % 8 ? 600 : 40000), ascii = n, lines = 0;
        char *bytes = mem_alloc(n, 1);
        for (size_t i = 0; i < n; i++) {
            bytes[i] = (char)(draw(5) ? 1 + draw(127) : '\n');
            if (draw(round % 3 ? 100000 : 300) == 0)
                bytes[i] = "\0\x80\xff"[draw(3)];
            bool foreign = bytes[i] == '\0' || (bytes[i] & 0x80);
            ascii = foreign && ascii == n ? i : ascii;
            lines += bytes[i] == '\n';
        }
        size_t found = scan_ascii(bytes, n);
        same = found <= ascii && ascii - found < 64 && scan_lines(bytes, n, '\n') == (int64_t)lines;
        mem_free(bytes);
    }
    ok(same, "lines and ASCII of 400 texts");
}

/* --- cutting --- */

struct list {
    struct csv_cells cells;
    char *text; /* every record as line number, cells, and bad ones as their line number */
    size_t used;
};

static void add(struct list *l, const char *bytes, size_t n)
{
    memcpy(l->text + l->used, bytes, n);
    l->used += n;
}

static void add_line(struct list *l, char kind, int64_t line)
{
    char number[32];
    add(l, number, (size_t)snprintf(number, sizeof number, "%c%lld:", kind, (long long)line));
}

/* The records of a block and, behind each bad one, of the rest. */
static void list_block(struct list *l, const struct csv_dialect *d, const struct csv_block *b)
{
    struct csv_block now = *b;
    for (;;) {
        struct err e = {0};
        bool good = csv_cells_parse(d, &now, 2, &l->cells, &e);
        for (size_t i = 0; i < l->cells.record_count; i++) {
            const struct csv_record *r = l->cells.records + i;
            add_line(l, 'r', r->line);
            for (uint32_t k = 0; k < r->cells; k++) {
                const struct csv_cell *c = l->cells.cells + r->first_cell + k;
                add(l, c->text, c->length);
                add(l, "|", 1);
            }
        }
        if (good)
            return;
        int64_t line =
            now.first_line + scan_lines(now.bytes, l->cells.error_offset, now.cr ? '\r' : '\n');
        add_line(l, 'b', line);
        if (!csv_rest(&now, &l->cells, &now))
            return;
    }
}

/* As csv_next cuts: blocks of up to `most` bytes, more only for one long record, never more than
 * `longest`. */
static void list_cut(struct list *l, const struct csv_dialect *d, bool cr, const char *text,
                     size_t n, size_t most, size_t longest)
{
    size_t at = 0;
    int64_t line = 1;
    while (at < n) {
        size_t cut = 0;
        for (size_t room = most; !cut; room = room * 2 > longest ? longest : room * 2) {
            size_t shown = n - at < room ? n - at : room;
            bool last = shown == n - at;
            char *copy = mem_alloc(shown, 1);
            memcpy(copy, text + at, shown);
            cut = cut_find(d, cr, copy, shown, most, last);
            if (cut) {
                struct csv_block b = {
                    .bytes = copy, .size = cut, .path = "test", .first_line = line, .cr = cr};
                list_block(l, d, &b);
            }
            mem_free(copy);
        }
        line += scan_lines(text + at, cut, cr ? '\r' : '\n');
        at += cut;
    }
}

static void test_cuts(int rounds)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    struct list whole = {.text = mem_alloc(1 << 16, 1)}, cut = {.text = mem_alloc(1 << 16, 1)};
    char text[2048];
    bool same = true;
    unsigned spoiled = 0;
    for (int i = 0; i < rounds && same; i++) {
        struct csv_dialect d = {.delimiter = ",;\t|"[draw(4)],
                                .quote = (int)draw(4),
                                .tsv = draw(16) == 0};
        uint32_t end = draw(3), spoil = draw(2) ? 0 : draw(5);
        size_t n = make_text(text, 40 + draw(1900), d.delimiter, ends[end], spoil, true);
        spoiled += spoil > 0;
        whole.used = cut.used = 0;
        list_cut(&whole, &d, end == 2, text, n, n, n);
        list_cut(&cut, &d, end == 2, text, n, 16 + draw(300), 4096);
        same = whole.used == cut.used && memcmp(whole.text, cut.text, whole.used) == 0;
        if (!same) {
            show(text, n);
            show(whole.text, whole.used);
            show(cut.text, cut.used);
        }
    }
    ok(same, "%d texts, %u of them spoiled: blocks cut anywhere give the same records", rounds,
       spoiled);
    csv_cells_free(&whole.cells);
    csv_cells_free(&cut.cells);
    mem_free(whole.text);
    mem_free(cut.text);
}

int main(void)
{
    int rounds = getenv("DNN_TEST_LONG") ? 2000000 : 60000;
    test_masks();
    test_places();
    test_passes();
    test_all_short();
    test_random(rounds);
    test_windows(3000);
    test_large();
    test_cuts(rounds / 4);
    return done();
}
