/* csv_csv.c - files to records: line ends, encodings, quotes, headers, blank lines, several files,
 * pipes (C02, C03, C07, C08, C11, C13, C15, C16, C27, C28 of the catalogue). What is refused stands
 * in csv_csv_bad.c. */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "base/file/file.h"
#include "csv_csv_help.h"

/* --- what is read --- */

static const struct {
    const char *name, *bytes, *names, *records;
    struct csv_dialect d;
    unsigned blank;
} good[] = {
    {"plain", "a,b\n1,2\n3,4\n", "a|b|", "2:1|2|\n3:3|4|\n", COMMA, 0},
    {"C07 CRLF", "a,b\r\n1,2\r\n3,4\r\n", "a|b|", "2:1|2|\n3:3|4|\n", COMMA, 0},
    {"C07 mixed LF and CRLF", "a,b\r\n1,2\n3,4\r\n", "a|b|", "2:1|2|\n3:3|4|\n", COMMA, 0},
    {"C07 only bare CR", "a,b\r1,2\r3,4\r", "a|b|", "2:1|2|\n3:3|4|\n", COMMA, 0},
    {"C08 no final newline", "a,b\n1,2\n3,4", "a|b|", "2:1|2|\n3:3|4|\n", COMMA, 0},
    {"C08 ends with a delimiter", "a,b\n1,2\n3,", "a|b|", "2:1|2|\n3:3||\n", COMMA, 0},
    {"C03 byte-order mark",
     "\xef\xbb\xbf"
     "a,b\n1,2\n",
     "a|b|", "2:1|2|\n", COMMA, 0},
    {"C03 byte-order mark and quotes", "\xef\xbb\xbf\"a\",b\n1,2\n", "a|b|", "2:1|2|\n", COMMA, 0},
    {"C03 byte-order mark, no header",
     "\xef\xbb\xbf"
     "1,2\n",
     "c1|c2|",
     "1:1|2|\n",
     {.delimiter = ','},
     0},
    {"semicolons", "a;b\n1,5;2\n", "a|b|", "2:1,5|2|\n", {.delimiter = ';', .header = true}, 0},
    {"tabs", "a\tb\n1\t \n\t2\n", "a|b|", "2:1||\n3:|2|\n", {.delimiter = '\t', .header = true}, 0},
    {"bars", "a|b\n1|2\n", "a|b|", "2:1|2|\n", {.delimiter = '|', .header = true}, 0},
    {"C11 inside quotes", "a,b\n\"x,y\",\"1\n2\"\n\"\"\"q\"\"\",\"\r\"\nz,w\n", "a|b|",
     "2:\"x,y\"|\"1\n2\"|\n4:\"\"q\"\"|\"\r\"|\n5:z|w|\n", COMMA, 0},
    {"C11 CRLF inside quotes", "a,b\r\n\"1\r\n2\",3\r\n4,5\r\n", "a|b|",
     "2:\"1\r\n2\"|3|\n4:4|5|\n", COMMA, 0},
    {"C11 LF inside quotes of a CR file", "a,b\r\"1\n2\",3\r4,5\r", "a|b|",
     "2:\"1\n2\"|3|\n3:4|5|\n", COMMA, 0},
    {"blanks around cells", "a , b\n 1\t,  \" x \"  \n", "a|b|", "2:1|\" x \"|\n", COMMA, 0},
    {"empty and quoted empty", "a,b\n,\"\"\n", "a|b|", "2:|\"\"|\n", COMMA, 0},
    {"quoted header", "\"a,1\",\"b\"\"2\"\n1,2\n", "a,1|b\"2|", "2:1|2|\n", COMMA, 0},
    {"backslashes in quotes: \\\" is a quote, \\\\ a backslash, others are characters",
     "a,b\n\"the \\\"best\\\" one\",\"x\\\\\"\n\"C:\\dir, \"\"y\"\"\",\\N\n",
     "a|b|",
     "2:\"the \"best\" one\"|\"x\\\"|\n3:\"C:\\dir, \"y\"\"|\\N|\n",
     {.delimiter = ',', .header = true, .quote = QUOTE_BACKSLASH},
     0},
    {"header over two lines", "\"a\nx\",b\n1,2\n", "a\nx|b|", "3:1|2|\n", COMMA, 0},
    {"C13 blank lines", "a,b\n\n1,2\n  \n\t\n3,4\n\n", "a|b|", "3:1|2|\n6:3|4|\n", COMMA, 4},
    {"C13 blank lines, CRLF", "a,b\r\n\r\n1,2\r\n \r\n", "a|b|", "3:1|2|\n", COMMA, 2},
    {"C13 blank lines of one column", "a\n1\n\n3\n  \n", "a|", "2:1|\n3:|\n4:3|\n5:|\n", COMMA, 0},
    {"C13 the last one without its end", "a\n1\n ", "a|", "2:1|\n3:|\n", COMMA, 0},
    {"blank lines before the header", "\n \na,b\n1,2\n", "a|b|", "4:1|2|\n", COMMA, 0},
    {"no header", "1,2\n3,4\n", "c1|c2|", "1:1|2|\n2:3|4|\n", {.delimiter = ','}, 0},
    {"no header, one column, a blank line first",
     "\n5\n",
     "c1|",
     "1:|\n2:5|\n",
     {.delimiter = ','},
     0},
    {"C02 header only", "a,b\n", "a|b|", "", COMMA, 0},
    {"C02 header only, no line end", "a,b", "a|b|", "", COMMA, 0},
    {"tsv: quotes are bytes",
     "a\tb\n\"1\t2\"\n\"\t\"\"\n",
     "a|b|",
     "2:\"1|2\"|\n3:\"|\"\"|\n",
     {.delimiter = '\t', .header = true, .tsv = true},
     0},
    {"ragged records are handed on", "a,b\n1\n1,2,3\n", "a|b|", "2:1|\n3:1|2|3|\n", COMMA, 0},
    {"latin1",
     "a,b\nG\xf6\xdf,\xe9\n",
     "a|b|",
     "2:G\xc3\xb6\xc3\x9f|\xc3\xa9|\n",
     {.delimiter = ',', .header = true, .encoding = ENCODING_LATIN1},
     0},
    {"cp1252",
     "a,b\n\x80"
     "5,\x93x\x94\n",
     "a|b|",
     "2:\xe2\x82\xac"
     "5|\xe2\x80\x9cx\xe2\x80\x9d|\n",
     {.delimiter = ',', .header = true, .encoding = ENCODING_CP1252},
     0},
    {"UTF-8", "\xc3\xa4,b\n\xf0\x9f\x8d\x8e,2\n", "\xc3\xa4|b|", "2:\xf0\x9f\x8d\x8e|2|\n", COMMA,
     0},
};

static void test_good(void)
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct reading r;
        read_bytes(&r, &good[i].d, good[i].bytes, strlen(good[i].bytes));
        const char *records = r.records.data ? r.records.data : "";
        bool same = strcmp(records, good[i].records) == 0;
        ok(r.e.id == ERR_NONE && r.names.data && strcmp(r.names.data, good[i].names) == 0 && same &&
               r.blank_lines == good[i].blank,
           "%s", good[i].name);
        if (r.e.id != ERR_NONE || !same)
            printf("# %s names %s records %s", r.e.what, r.names.data, records);
        drop(&r);
    }
}

/* --- blocks and files --- */

static void test_blocks(void)
{
    struct text all = {0};
    text_put(&all, "a,b\n");
    for (int i = 0; i < 200000; i++)
        text_printf(&all, i % 7 ? "%d,%d\n" : "\"%d\n\",%d\n", i, i * 3);
    struct reading r;
    read_bytes(&r, &comma, all.data, all.length);
    ok(r.e.id == ERR_NONE && r.blocks > 2, "a file of %zu bytes comes in %d blocks", all.length,
       (int)r.blocks);
    struct text want = {0};
    for (int i = 0, line = 2; i < 200000; i++) {
        text_printf(&want, i % 7 ? "%d:%d|%d|\n" : "%d:\"%d\n\"|%d|\n", line, i, i * 3);
        line += i % 7 ? 1 : 2;
    }
    ok(r.records.length == want.length && memcmp(r.records.data, want.data, want.length) == 0,
       "and each record keeps its line");
    drop(&r);
    text_clear(&want);
    text_clear(&all);
    text_put(&all, "a,b\n");
    for (int i = 0; i < 100000; i++) {
        text_printf(&all, "\xe9%d,\xfc%d\n", i, i);
        text_printf(&want, "%d:\xc3\xa9%d|\xc3\xbc%d|\n", i + 2, i, i);
    }
    struct csv_dialect latin = {.delimiter = ',', .header = true, .encoding = ENCODING_LATIN1};
    read_bytes(&r, &latin, all.data, all.length);
    ok(r.blocks > 1 && r.records.length == want.length &&
           memcmp(r.records.data, want.data, want.length) == 0,
       "latin1 over several blocks");
    drop(&r);
    text_free(&all);
    text_free(&want);
}

static void test_files(void)
{
    struct reading r;
    char *two[] = {mem_string(write_file("1.csv", "a,b\n1,2", 7)),
                   mem_string(write_file("2.csv", "a,b\r\n3,4\r\n", 10))};
    read_paths(&r, &comma, two, 2);
    is_string(r.records.data, "2:1|2|\n2:3|4|\n",
              "two files behind one another, each with its lines");
    drop(&r);
    write_file("2.csv", "b,a\n3,4\n", 8);
    read_paths(&r, &comma, two, 2);
    is_string(r.records.data, "2:1|2|\n2:4|3|\n", "columns in another order go by name");
    drop(&r);
    write_file("2.csv", "c,b\n3,4\n", 8);
    read_paths(&r, &comma, two, 2);
    expect_error(&r, "another name", ERR_CSV_COLUMNS, 1, 1, "column 1 is \"c\"", "any order");
    drop(&r);
    write_file("2.csv", "a,b,c\n3,4,5\n", 12);
    read_paths(&r, &comma, two, 2);
    expect_error(&r, "one column more", ERR_CSV_COLUMNS, 1, 1, "has 3 columns", "");
    drop(&r);
    write_file("2.csv", "", 0);
    read_paths(&r, &comma, two, 2);
    expect_error(&r, "the second file is empty", ERR_CSV_EMPTY, 0, 0, "empty", "");
    drop(&r);
    mem_free(two[1]);
    two[1] = mem_string(path_of("absent.csv"));
    read_paths(&r, &comma, two, 2);
    expect_error(&r, "C27 a missing file", ERR_FILE_MISSING, 0, 0, "", "");
    drop(&r);
    mem_free(two[1]);
    two[1] = mem_string(folder);
    read_paths(&r, &comma, two, 2);
    expect_error(&r, "C27 a directory", ERR_FILE_MISSING, 0, 0, "directory", "");
    drop(&r);
    mem_free(two[0]);
    mem_free(two[1]);
}

/* C27: a FIFO is read in one pass. */
static void test_fifo(void)
{
    char *path = mem_string(path_of("fifo"));
    if (mkfifo(path, 0600) != 0) {
        tap_skip("C27 a FIFO", "cannot be made here");
        mem_free(path);
        return;
    }
    pid_t child = fork();
    if (child == 0) {
        FILE *f = fopen(path, "w");
        fputs("a,b\n1,2\n", f);
        fflush(f);
        fputs("3,4\n", f);
        fclose(f);
        _exit(0);
    }
    struct reading r;
    read_paths(&r, &comma, &path, 1);
    is_string(r.records.data, "2:1|2|\n3:3|4|\n", "C27 a FIFO is read in one pass");
    drop(&r);
    mem_free(path);
}

static int asked;
static bool is_third(const void *unused)
{
    (void)unused;
    return ++asked >= 3;
}
static const struct stopper third_time = {is_third, NULL};

/* A reader that waits for a FIFO polls, also before a writer opens it. */
static void test_ask(void)
{
    const char *const *names;
    size_t count;
    struct err e = {0};
    char *path = mem_string(path_of("fifo")); /* test_fifo made it, where that can be done */
    if (!file_exists(path)) {
        tap_skip("a FIFO that nobody writes to", "cannot be made here");
        mem_free(path);
        return;
    }
    struct csv *c = csv_open(&comma, &path, 1, &e);
    csv_set_stop(c, &third_time);
    ok(!csv_header(c, &names, &count, &e) && e.id == ERR_NONE && asked == 3,
       "a FIFO that nobody writes to is waited for until that is not wanted any more");
    csv_close(c);
    pid_t child = fork();
    if (child == 0) {
        FILE *f = fopen(path, "w");
        fputs("a,b\n1,2\n", f);
        fflush(f);
        nanosleep(&(struct timespec){0, 120000000}, NULL); /* longer than is waited at once */
        fputs("3,4\n", f);
        fclose(f);
        _exit(0);
    }
    asked = -1000;
    struct csv_block b;
    uint64_t bytes = 0;
    c = csv_open(&comma, &path, 1, &e);
    csv_set_stop(c, &third_time);
    while (csv_next(c, &b, &e)) {
        bytes += b.size;
        csv_release(c, &b);
    }
    ok(bytes == 8 && e.id == ERR_NONE && asked > -1000, "and one with a slow writer is read whole");
    csv_close(c);
    mem_free(path);
}

/* The first line is longer than a block, and its end does not come. */
static void test_ask_long(void)
{
    const char *const *names;
    size_t count;
    char *path = mem_string(path_of("fifo"));
    for (int widths = 0; widths < 2 && file_exists(path); widths++) {
        struct err e = {0};
        pid_t child = fork();
        if (child == 0) {
            FILE *f = fopen(path, "w");
            for (size_t i = 0; i < CSV_BLOCK_BYTES / 4 + 1000; i++)
                fputs("a,b,", f);
            fflush(f);
            pause();
            _exit(0);
        }
        asked = 0;
        struct csv_dialect d = {.delimiter = ',', .header = !widths};
        struct csv *c = csv_open(&d, &path, 1, &e);
        csv_set_stop(c, &third_time);
        if (widths)
            csv_widths(c, 2, 3);
        ok(!csv_header(c, &names, &count, &e) && e.id == ERR_NONE && asked == 3,
           "a stop within a first line of several blocks, %s header: %s",
           widths ? "without" : "with", e.what);
        csv_close(c);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    mem_free(path);
}

/* Records of many columns come several in a block where the caller wants it, the same records. */
static void test_hold(void)
{
    enum { COLUMNS = 20000, RECORDS = 20 };
    struct text bytes = {0};
    struct reading one, held = {0};
    for (int i = 0; i <= RECORDS; i++)
        for (int k = 0; k < COLUMNS; k++)
            text_printf(&bytes, "%s%05d%s", i ? "" : "c", (i * 7919 + k) % 100000,
                        k + 1 < COLUMNS ? "," : "\n");
    read_bytes(&one, &comma, bytes.data, bytes.length);
    char *path = mem_string(path_of("t.csv"));
    struct csv *c = csv_open(&comma, &path, 1, &held.e);
    const char *const *names;
    size_t count = 0;
    ok(csv_header(c, &names, &count, &held.e) && csv_block_bytes(c) == CSV_BLOCK_BYTES,
       "a header of %zu columns", count);
    csv_hold_records(c);
    ok(csv_block_bytes(c) == CSV_BLOCK_RECORDS * COLUMNS * 6, "blocks of %d records",
       CSV_BLOCK_RECORDS);
    read_csv(&held, &comma, c);
    ok(one.e.id == ERR_NONE && held.e.id == ERR_NONE && one.blocks == RECORDS / 2 &&
           held.blocks == (RECORDS + CSV_BLOCK_RECORDS - 1) / CSV_BLOCK_RECORDS,
       "%d records: %d blocks of two, or %d held", RECORDS, (int)one.blocks, (int)held.blocks);
    ok(one.records.length == held.records.length &&
           memcmp(one.records.data, held.records.data, held.records.length) == 0,
       "the same records");
    drop(&one);
    drop(&held);
    text_free(&bytes);
    mem_free(path);
}

/* Chosen records keep their lines, through quoted line ends, blank lines and blocks. */
static void test_choose(void)
{
    struct text bytes = {0}, want = {0};
    uint8_t wanted[5000] = {0};
    uint64_t records = 0;
    text_put(&bytes, "a,b\r\n");
    for (int line = 2; records < 8 * sizeof wanted; records++) {
        const bool two = records % 5 == 1, takes = records * 7919 % 11 < 3;
        text_printf(&bytes, two ? "\"%d\n\",%d\r\n" : "%d,%d\r\n", line, (int)records);
        if (takes) {
            text_printf(&want, two ? "%d:\"%d\n\"|%d|\n" : "%d:%d|%d|\n", line, line,
                        (int)records);
            wanted[records >> 3] |= (uint8_t)(1u << (records & 7));
        }
        line += two ? 2 : 1;
        if (records % 1000 == 7 && ++line)
            text_put(&bytes, "\r\n");
    }
    char *path = mem_string(write_file("t.csv", bytes.data, bytes.length));
    struct csv_choice choice = {.wanted = wanted, .count = records};
    struct reading r = {0};
    struct csv *c = csv_open(&comma, &path, 1, &r.e);
    csv_choose(c, &choice);
    read_csv(&r, &comma, c);
    ok(r.blocks > 1 && r.records.length == want.length &&
           memcmp(r.records.data, want.data, want.length) == 0,
       "chosen records of %d blocks: each has its line in the file", (int)r.blocks);
    ok(choice.blanked && r.blank_lines - choice.blanked < 41, "its own blank lines are told");
    drop(&r);
    text_free(&bytes);
    text_free(&want);
    mem_free(path);
}

/* C28: the file grows behind the reader's back. */
static void test_change(void)
{
    struct err e = {0};
    struct csv_block b;
    char *path = mem_string(write_file("change.csv", "a,b\n1,2\n", 8));
    struct csv *c = csv_open(&comma, &path, 1, &e);
    ok(csv_next(c, &b, &e), "a block is read");
    csv_release(c, &b);
    FILE *f = fopen(path, "a");
    fputs("3,4\n", f);
    fclose(f);
    while (csv_next(c, &b, &e))
        csv_release(c, &b);
    ok(e.id == ERR_FILE_CHANGED && strstr(e.what, "changed while being read"),
       "C28 then the file grows");
    csv_close(c);
    mem_free(path);
}

static void test_notes(void)
{
    struct reading r;
    read_bytes(&r, &comma, "1,2.5\n3,4\n", 10);
    ok(r.notes.numbers, "C16 a header of numbers is noted");
    drop(&r);
    read_bytes(&r, &comma, "Age,x,age\n1,2,3\n", 16);
    ok(!r.notes.numbers && r.notes.first == 0 && r.notes.second == 2,
       "C15 names equal but for case are noted");
    drop(&r);
    read_bytes(&r, &comma, "a b,x,ab\n1,2,3\n", 15);
    ok(r.notes.first == 0 && r.notes.second == 2, "C15 names equal but for blanks are noted");
    drop(&r);
    read_bytes(&r, &comma, "a,b\n", 4);
    ok(r.notes.first == r.notes.second, "other names are not");
    drop(&r);
}

static void test_place(void)
{
    static const char text[] = "a,b\n\"x\n\"\"y\", \"z\" , q\n";
    struct csv_block b = {.bytes = text, .size = sizeof text - 1, .path = "t", .first_line = 1};
    struct csv_cells cells = {0};
    struct err e = {0};
    int64_t line, column;
    csv_cells_parse(&comma, &b, 2, &cells, &e);
    static const int places[3][2] = {{2, 1}, {3, 7}, {3, 13}};
    for (uint32_t i = 0; i < 3; i++) {
        csv_place(&b, &cells.records[1], &cells, i, &line, &column);
        ok(line == places[i][0] && column == places[i][1], "cell %u stands at %d:%d", i, (int)line,
           (int)column);
    }
    csv_cells_free(&cells);
}

int main(void)
{
    folder_make();
    test_good();
    test_blocks();
    test_files();
    test_fifo();
    test_ask();
    test_ask_long();
    test_hold();
    test_choose();
    test_change();
    test_notes();
    test_place();
    folder_remove();
    return done();
}
