/* csv_csv_bad.c - every error of a file that is no CSV, with its place (C01, C04 to C07, C09, C10,
 * C14, C15, C17, C21, C26 of the catalogue). */
#include "csv_csv_help.h"

static const struct {
    const char *name, *bytes;
    enum err_id id;
    int line, column;
    const char *what, *help; /* parts of them */
    struct csv_dialect d;
} bad[] = {
    {"C01 empty", "", ERR_CSV_EMPTY, 0, 0, "empty, expected a header line", "", COMMA},
    {"C01 empty without header",
     "",
     ERR_CSV_EMPTY,
     0,
     0,
     "empty, expected a row",
     "",
     {.delimiter = ','}},
    {"C01 blank lines only", "\n \n\n", ERR_CSV_EMPTY, 0, 0, "blank lines only", "", COMMA},
    {"C01 a byte-order mark only", "\xef\xbb\xbf", ERR_CSV_EMPTY, 0, 0, "empty", "", COMMA},
    {"C06 invalid UTF-8 in the header", "a,\xe9\n1,2\n", ERR_CSV_ENCODING, 1, 3, "\\xe9",
     "data.encoding", COMMA},
    {"C06 invalid UTF-8 in a cell", "a,b\n1,2\nx,y\xff\n", ERR_CSV_ENCODING, 3, 4, "\\xff",
     "data.encoding", COMMA},
    {"C06 a character cut off", "a,b\n1,\xc3", ERR_CSV_ENCODING, 2, 3, "\\xc3", "", COMMA},
    {"C07 a stray CR", "a,b\n1,2\r3,4\n", ERR_CSV_CR, 2, 4, "carriage return", "quote the cell",
     COMMA},
    {"C07 a stray CR at the end", "a,b\n1,2\r", ERR_CSV_CR, 2, 4, "carriage return", "", COMMA},
    {"C07 CR CR LF", "a,b\r\r\n1,2\r\r\n", ERR_CSV_CR, 1, 4, "carriage return", "", COMMA},
    {"C09 unterminated", "a,b\n1,2\n3,\"x\n5,6\n7,8\n", ERR_CSV_UNTERMINATED, 3, 3, "does not end",
     "close the quote", COMMA},
    {"C09 unterminated in the header", "a,\"b\n1,2\n", ERR_CSV_UNTERMINATED, 1, 3, "does not end",
     "", COMMA},
    {"C10 a\"b", "a,b\n1,2\nx,a\"b\n", ERR_CSV_QUOTE, 3, 4, "not quoted", "", COMMA},
    {"C10 \"a\"b", "a,b\n1,2\n\"a\"b,x\n", ERR_CSV_QUOTE, 3, 4, "follows the closing quote", "",
     COMMA},
    {"C10 behind a quoted line end", "a,b\n\"1\n2\",\"a\"b\n", ERR_CSV_QUOTE, 3, 7,
     "follows the closing quote", "", COMMA},
    {"C10 paired with the quote of a later row", "a,b\n1,2\n3,\"x\n5,6\n7,\"y\"\n",
     ERR_CSV_QUOTE, 3, 3, "of the cell that opens here, at line 5, byte 4", "twice", COMMA},
    {"C14 duplicate names", "a,b,a\n1,2,3\n", ERR_CSV_HEADER_DUPLICATE, 1, 5,
     "columns 1 and 3 have the same name \"a\"", "", COMMA},
    {"C14 numbers as names", "1,2,1\n1,2,3\n", ERR_CSV_HEADER_DUPLICATE, 1, 5, "columns 1 and 3",
     "\"header\": false", COMMA},
    {"C15 empty name", "a,,b\n1,2,3\n", ERR_CSV_HEADER_NAME, 1, 3, "column 2 has no name", "",
     COMMA},
    {"C15 the first and the second empty", ",,b\n1,2,3\n", ERR_CSV_HEADER_NAME, 1, 1,
     "column 1 has no name", "", COMMA},
    {"C15 the name it would get is another's", ",c1\n1,2\n", ERR_CSV_HEADER_DUPLICATE, 1, 2,
     "columns 1 and 2 have the same name \"c1\"", "", COMMA},
    {"C15 delimiter at the end", "a,b,\n1,2,3\n", ERR_CSV_HEADER_NAME, 1, 5, "column 3 has no name",
     "", COMMA},
    {"C17 semicolons", "a;b;c\n1;2;3\n", ERR_CSV_DELIMITER, 1, 1,
     "found 1 column; did you mean delimiter \";\"?", "\"delimiter\": \";\"", COMMA},
    {"C17 tabs", "a\tb\n1\t2\n", ERR_CSV_DELIMITER, 1, 1, "did you mean delimiter \"\\t\"?", "",
     COMMA},
    {"C17 bars, no header",
     "1|2\n",
     ERR_CSV_DELIMITER,
     1,
     1,
     "did you mean delimiter \"|\"?",
     "",
     {.delimiter = ','}},
    {"C17 commas",
     "a,b\n1,2\n",
     ERR_CSV_DELIMITER,
     1,
     1,
     "did you mean delimiter \",\"?",
     "",
     {.delimiter = ';', .header = true}},
    {"C17 semicolons, quoted names", "\"a;b\";\"c, d\";e\n1;2;3\n", ERR_CSV_DELIMITER, 1, 1,
     "found 1 column; did you mean delimiter \";\"?", "\"delimiter\": \";\"",
     {.delimiter = '|', .header = true}},
    {"C17 tabs, the second name quoted", "\n\na\t\"b\"\n1\t2\n", ERR_CSV_DELIMITER, 3, 1,
     "did you mean delimiter \"\\t\"?", "", COMMA},
    {"C17 text behind a quoted name, the delimiter right", "\"a\";x,\"b\"\n1,2\n", ERR_CSV_QUOTE, 1,
     4, "follows the closing quote", "", COMMA},
    {"C26 gzip", "\x1f\x8b\x08_________", ERR_CSV_GZIP, 0, 0, "damaged at byte 4 of the file",
     "gzip -t", COMMA},
    {"C26 zip", "PK\x03\x04_________________________", ERR_CSV_BINARY, 0, 0, "zip", "unzip", COMMA},
    {"C26 xlsx", "PK\x03\x04_______________[Content_Types].xml___", ERR_CSV_BINARY, 0, 0, "xlsx",
     "save the sheet as CSV", COMMA},
    {"C26 Parquet", "PAR1____", ERR_CSV_BINARY, 0, 0, "Parquet", "", COMMA},
    {"C26 PDF", "%PDF-1.4\n", ERR_CSV_BINARY, 0, 0, "PDF", "", COMMA},
    {"an undefined byte of cp1252",
     "a,b\nx\xe9,2\nz\xe9\x81,4\n",
     ERR_CSV_ENCODING,
     3,
     3,
     "81",
     "",
     {.delimiter = ',', .header = true, .encoding = ENCODING_CP1252}},
    {"a UTF-8 mark in latin1",
     "\xef\xbb\xbf"
     "a,b\n",
     ERR_CSV_ENCODING,
     1,
     1,
     "byte-order mark",
     "utf-8",
     {.delimiter = ',', .header = true, .encoding = ENCODING_LATIN1}},
};

static void test_bad(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct reading r;
        read_bytes(&r, &bad[i].d, bad[i].bytes, strlen(bad[i].bytes));
        expect_error(&r, bad[i].name, bad[i].id, bad[i].line, bad[i].column, bad[i].what,
                     bad[i].help);
        drop(&r);
    }
}

/* Texts with NUL bytes need their length. */
static void test_zeros(void)
{
    static const struct {
        const char *name, *bytes;
        size_t length;
        enum err_id id;
        int line, column;
        const char *what;
    } all[] = {
        {"C05 NUL in a field", "a,b\n1,2\n3,4\0005\n", 14, ERR_CSV_NUL, 3, 4, "byte 11"},
        {"C05 NUL in the header", "a,b\0c\n1,2\n", 10, ERR_CSV_NUL, 1, 4, "byte 3"},
        {"C05 NUL behind an open quote", "a,b\n1,\"x\0y\"\n", 13, ERR_CSV_NUL, 2, 5, "NUL"},
        {"C05 NUL in a line of its own", "a,b\n\0\n1,2\n", 10, ERR_CSV_NUL, 2, 1, "NUL"},
        {"C05 NUL behind blanks", "a,b\n  \0\n1,2\n", 12, ERR_CSV_NUL, 2, 3, "NUL"},
        {"C04 UTF-16LE with its mark",
         "\xff\xfe"
         "a\0,\0b\0\n\0",
         10, ERR_CSV_UTF16, 0, 0, "UTF-16LE"},
        {"C04 UTF-16BE with its mark", "\xfe\xff\0a\0,\0b\0\n", 10, ERR_CSV_UTF16, 0, 0,
         "UTF-16BE"},
        {"C04 UTF-16LE",
         "a\0,\0b\0\n\0"
         "1\0,\0",
         12, ERR_CSV_UTF16, 0, 0, "UTF-16LE"},
        {"C04 UTF-16BE",
         "\0a\0,\0b\0\n\0"
         "1\0,",
         12, ERR_CSV_UTF16, 0, 0, "UTF-16BE"},
        {"C04 UTF-32LE", "a\0\0\0,\0\0\0b\0\0\0", 12, ERR_CSV_UTF16, 0, 0, "UTF-32LE"},
        {"C04 UTF-32BE with its mark", "\0\0\xfe\xff\0\0\0a", 8, ERR_CSV_UTF16, 0, 0, "UTF-32BE"},
        {"C26 SQLite", "SQLite format 3\0____", 20, ERR_CSV_BINARY, 0, 0, "SQLite"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct reading r;
        read_bytes(&r, &comma, all[i].bytes, all[i].length);
        expect_error(&r, all[i].name, all[i].id, all[i].line, all[i].column, all[i].what, "");
        drop(&r);
    }
}

static void test_limits(void)
{
    struct reading r;
    size_t size = (size_t)20 << 20;
    char *long_text = mem_alloc(size, 1);

    memset(long_text, 'x', size);
    memcpy(long_text, "a,b\n", 4);
    read_bytes(&r, &comma, long_text, size);
    expect_error(&r, "C21 a line beyond 16 MiB", ERR_CSV_LIMIT, 2, 0, "longer than 16 MiB", "");
    drop(&r);

    read_bytes(&r, &comma, long_text + 4, size - 4);
    expect_error(&r, "C21 a header beyond 16 MiB", ERR_CSV_LIMIT, 1, 0, "longer than 16 MiB", "");
    drop(&r);

    size_t field = CSV_MOST_FIELD + 2;
    long_text[4 + field] = '\n';
    read_bytes(&r, &comma, long_text, 5 + field);
    ok(r.e.id == ERR_CSV_LIMIT && r.e.line == 2 && strstr(r.e.what, "field"),
       "C21 a field beyond 1 MiB");
    drop(&r);

    long_text[4 + CSV_MOST_FIELD / 2] = ',';
    long_text[4 + CSV_MOST_FIELD] = '\n';
    read_bytes(&r, &comma, long_text, 5 + CSV_MOST_FIELD);
    ok(r.e.id == ERR_NONE && r.records.length > CSV_MOST_FIELD, "a line of 1 MiB is read");
    drop(&r);

    for (size_t i = 0; i < CSV_MOST_COLUMNS + 1; i++)
        long_text[4 + i] = ',';
    long_text[5 + CSV_MOST_COLUMNS] = '\n';
    read_bytes(&r, &comma, long_text, 6 + CSV_MOST_COLUMNS);
    ok(r.e.id == ERR_CSV_LIMIT && strstr(r.e.what, "65536 columns"),
       "C21 more than 65,536 columns");
    drop(&r);

    memset(long_text, 'n', CSV_MOST_NAME + 1);
    memcpy(long_text + CSV_MOST_NAME + 1, ",b\n", 3);
    read_bytes(&r, &comma, long_text, CSV_MOST_NAME + 4);
    expect_error(&r, "C21 a name beyond 4 KiB", ERR_CSV_HEADER_NAME, 1, 1, "4097 bytes", "");
    drop(&r);

    /* a quote that never ends is refused after 16 MiB, at the line where its record begins */
    memset(long_text, 'x', size);
    for (size_t i = 99; i < size; i += 100)
        long_text[i] = '\n';
    memcpy(long_text, "a,b\n1,\"2\n", 9);
    read_bytes(&r, &comma, long_text, size);
    expect_error(&r, "C09 a quote open for 20 MiB", ERR_CSV_LIMIT, 2, 0, "with the lines in its",
                 "is a quote wrong?");
    drop(&r);
    mem_free(long_text);

    char *zero = mem_string("/dev/zero");
    uint64_t before = mem_peak();
    read_paths(&r, &comma, &zero, 1);
    ok(r.e.id == ERR_CSV_NUL || r.e.id == ERR_CSV_LIMIT, "C21 /dev/zero ends at a limit: %s",
       r.e.what);
    ok(mem_peak() - before < (uint64_t)64 << 20, "and its memory is bounded");
    drop(&r);
    mem_free(zero);
}

int main(void)
{
    folder_make();
    test_bad();
    test_zeros();
    test_limits();
    folder_remove();
    return done();
}
