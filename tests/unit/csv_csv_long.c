/* csv_csv_long.c - records beyond the limit: one bad row each where their quotes close, by a
 * reader whose limit is a few bytes, and by one of 16 MiB. */
#include <stdlib.h>
#include <unistd.h>

#include "base/rng.h"
#include "csv_csv_help.h"

static unsigned wrong;
static void check(bool right)
{
    wrong += !right;
}

#include "../csv_list.h"

static uint32_t drawn;
static uint32_t draw(uint32_t below)
{
    return rng_bits(21, drawn++, 0, 0, RNG_TEST) % below;
}

/* A header, and lines of cells; those in quotes may hold anything, but for LF where lines end with
 * CR. Some quotes stand wrong. */
static size_t make_text(char *text, size_t room, char delimiter, const char *end)
{
    size_t n = (size_t)snprintf(text, room, "a%cb%s", delimiter, end);
    while (n + 200 < room) {
        for (int cell = 0; cell < 2; cell++) {
            bool quoted = draw(3) == 0;
            n += (size_t)snprintf(text + n, 8, "%s%s", draw(16) ? "" : " ", quoted ? "\"" : "");
            for (uint32_t left = draw(draw(12) ? 9 : 90); left; left--) {
                char c = "abxyz"[draw(5)];
                c = quoted && draw(6) == 0 ? " \t,;\r\n"[draw(*end == '\r' && !end[1] ? 5 : 6)] : c;
                if (quoted && draw(20) == 0)
                    text[n++] = '"', c = '"';
                text[n++] = draw(300) ? c : '"';
            }
            n += (size_t)snprintf(text + n, 8, "%s%s", quoted && draw(200) ? "\"" : "",
                                  draw(16) ? "" : " ");
            text[n++] = delimiter;
        }
        n--;
        n += (size_t)snprintf(text + n, 8, "%s", draw(60) ? end : "\r");
    }
    return draw(4) ? n : n - strlen(end);
}

/* As from a pipe. */
static void pipe_in(const char *text, size_t n)
{
    int ends[2];
    if (pipe(ends) != 0 || write(ends[1], text, n) != (ssize_t)n || dup2(ends[0], 0) < 0)
        abort();
    close(ends[0]);
    close(ends[1]);
}

static struct csv *open_small(const struct csv_dialect *d, char *path, size_t longest)
{
    struct err e = {0};
    struct csv *c = csv_open(d, &path, 1, &e);
    c->longest = longest;
    c->block = longest < 64 || draw(2) ? longest : longest / 4;
    return c;
}

/* The same records of a file by its name and of the whole in one piece; a pipe gives them too, or
 * the first of them and an error. */
static void test_random(unsigned rounds)
{
    static const char *const ends[] = {"\n", "\r\n", "\r"};
    unsigned differ = 0, lost = 0, stopped = 0, beyond = 0;
    for (unsigned i = 0; i < rounds; i++) {
        char text[3000];
        uint32_t end = draw(3);
        struct csv_dialect d = {.delimiter = ",;\t|"[draw(4)], .header = true,
                                .tsv = draw(16) == 0, .encoding = draw(4) ? 0 : ENCODING_LATIN1};
        size_t n = make_text(text, 300 + draw(2700), d.delimiter, ends[end]),
               longest = 24 + draw(200);
        size_t head = 3 + strlen(ends[end]);
        struct csv_block whole = {.bytes = text + head, .size = n - head, .path = "t",
                                  .first_line = 2, .cr = end == 2};
        struct text expected = {0}, got = {0}, piped = {0};
        struct err e = {0};
        walk_as_libcsv(&d, end == 2, text + head, n - head, 1 + draw(99));
        list_block(&expected, &d, &whole, 2, longest);
        char *path = mem_string(write_file("t.csv", text, n)), standard[] = "-";
        struct csv *c = open_small(&d, path, longest);
        bool good = list_file(&got, &d, c, &e) && got.length == expected.length &&
                    memcmp(got.data, expected.data, got.length) == 0;
        differ += !good;
        if (!good && differ < 3)
            fprintf(stderr, "# longest %zu, error %s\n%.*s\n# expected %s\n# got %s\n", longest,
                    e.what, (int)n, text, expected.data, got.data ? got.data : "");
        csv_close(c);
        mem_free(path);

        err_clear(&e);
        pipe_in(text, n);
        c = open_small(&d, standard, longest);
        bool ended = list_file(&piped, &d, c, &e);
        bool begins = piped.length <= expected.length &&
                      (!piped.length || memcmp(piped.data, expected.data, piped.length) == 0);
        lost += !begins || (ended ? piped.length != expected.length : e.id != ERR_CSV_LIMIT);
        stopped += !ended;
        csv_close(c);
        text_clear(&piped);
        list_block(&piped, &d, &whole, 2, SIZE_MAX);
        beyond += piped.length != expected.length;
        text_free(&expected);
        text_free(&got);
        text_free(&piped);
    }
    ok(differ == 0, "C21 %u texts, %u with a record beyond the limit: a file gives each once",
       rounds, beyond);
    ok(lost == 0, "a pipe too, or it ends with an error (%u times)", stopped);
    ok(wrong == 0, "a record ends, and is bad, where libcsv says");
    ok(beyond > rounds / 4 && stopped > rounds / 20, "and all of it was tried");
}

/* Rows before and behind a record that begins with `open`, of 20 MiB of `line` and `close`. */
static const char *write_large(const char *open, const char *line, const char *close)
{
    const char *path = path_of("large.csv");
    FILE *f = fopen(path, "wb");
    fprintf(f, "a,b\n1,2\n3,%s", open);
    for (size_t i = 0; i * strlen(line) < (size_t)20 << 20; i++)
        fputs(line, f);
    fprintf(f, "%s\n5,6\n", close);
    fclose(f);
    return path;
}

static void test_large(void)
{
    static const struct {
        const char *name, *open, *line, *close;
        size_t records; /* of the list, with the bad ones; its length below that of a few lines */
        const char *begin;
    } all[] = {
        {"a record in quotes", "\"", "x,\"\"y\"\"\n", "\"", 3, "r2:1|2|b3:r"},
        {"a cell without lines", "\"", "x,y;", "\"", 3, "r2:1|2|b3:r4:5|6|"},
        {"a line", "", "x,y;", "", 3, "r2:1|2|b3:r4:5|6|"},
        {"a quote that nothing closes", "\"", "7,8 and more of this text\n", "9,9", 0,
         "r2:1|2|b3:r4:7|8 and more of this text|r5:"},
        {"a quote that stands wrong behind 16 MiB", "\"", "7,8 and more of this text\n", "9,\"9\"",
         0, "r2:1|2|b3:r4:7|8 and more of this text|r5:"},
    };
    uint64_t before = mem_peak();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        char *path = mem_string(write_large(all[i].open, all[i].line, all[i].close));
        struct err e = {0};
        struct csv *c = csv_open(&comma, &path, 1, &e);
        const char *const *names;
        size_t count, length = strlen(all[i].begin), records = 0;
        struct csv_block b;
        struct text first = {0}, now = {0};
        csv_header(c, &names, &count, &e);
        while (csv_next(c, &b, &e)) {
            text_clear(&now);
            list_block(&now, &comma, &b, 2, SIZE_MAX);
            records += (size_t)scan_lines(now.data, now.length, ':');
            if (first.length < length)
                text_add(&first, now.data, now.length);
            csv_release(c, &b);
        }
        csv_close(c);
        ok(e.id == ERR_NONE && first.length >= length && !memcmp(first.data, all[i].begin, length),
           "C21 beyond 16 MiB, %s: %.40s %s", all[i].name, first.data, e.what);
        ok(all[i].records ? records == all[i].records : records > 700000, "%d records",
           (int)records);
        text_free(&first);
        text_free(&now);
        mem_free(path);
    }
    ok(mem_peak() - before < (uint64_t)64 << 20, "in flat memory");
}

int main(void)
{
    folder_make();
    test_random(getenv("DNN_TEST_LONG") ? 20000 : 1500);
    test_large();
    folder_remove();
    return done();
}
