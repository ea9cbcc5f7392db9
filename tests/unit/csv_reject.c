/* csv_reject.c - the file of rows that could not be read: header, quoting, and all or nothing. */
#include "base/mem.h"
#include "base/text.h"
#include "csv/reject.h"
#include "scratch.h"
#include "tap.h"

static void holds(const char *name, const char *want)
{
    ok(scratch_holds(name, want, strlen(want)), "%s", name);
}

static void test_rows(void)
{
    struct err e = {0}, why = {0};
    struct reject *r = reject_open(scratch("rows.csv"), false, &e);
    if (!ok(r, "opened: %s", e.what))
        return;
    err_at(&why, ERR_CSV_NUMBER, "in.csv", 17, 5, "column \"age\": \"x\" is not a number");
    ok(reject_add(r, &why, "age", "1,x,\"a\"", 7, "in.csv", &e), "a row");
    err_clear(&why);
    err_at(&why, ERR_CSV_RAGGED, "in.csv", 18, 0, "line 18 has 2 fields");
    ok(reject_add(r, &why, NULL, "1\r\n2", 4, "in.csv", &e), "one that belongs to no column");
    ok(reject_add(r, &why, "a,b", " blank", 6, "in.csv", &e), "blanks at the ends are kept");
    ok(reject_add(r, &why, "", "", 0, "in.csv", &e), "nothing at all");
    ok(reject_add(r, &why, "\xff", "a\0b\xfe", 4, "in.csv", &e), "any bytes");
    ok(scratch_count() == 1, "written aside");
    ok(reject_commit(r, &e), "committed: %s", e.what);
    static const char want[] =
        "line,column,name,id,reason,raw\n"
        "17,5,age,E1203,\"column \"\"age\"\": \"\"x\"\" is not a number\",\"1,x,\"\"a\"\"\"\n"
        "18,0,,E1206,line 18 has 2 fields,\"1\r\n2\"\n"
        "18,0,\"a,b\",E1206,line 18 has 2 fields,\" blank\"\n"
        "18,0,,E1206,line 18 has 2 fields,\n"
        "18,0,\xff,E1206,line 18 has 2 fields,a\0b\xfe\n";
    ok(scratch_holds("rows.csv", want, sizeof want - 1), "the rows as RFC 4180 writes them");
}

/* A raw row of any length, and the file that it is of where there are several. */
static void test_long(void)
{
    enum { LENGTH = 100000 };
    struct err e = {0}, why = {0};
    struct text want = {0};
    char *raw = mem_alloc(LENGTH, 1);
    for (int i = 0; i < LENGTH; i++)
        raw[i] = (char)('a' + i % 26);
    struct reject *r = reject_open(scratch("long.csv"), true, &e);
    if (!ok(r, "opened: %s", e.what))
        return;
    err_at(&why, ERR_CSV_RAGGED, "in.csv", 3, 0, "no");
    ok(reject_add(r, &why, NULL, raw, LENGTH, "a,b.csv", &e) && reject_commit(r, &e),
       "a long row");
    text_put(&want, "line,column,name,id,reason,raw,file\n3,0,,E1206,no,");
    text_add(&want, raw, LENGTH);
    text_put(&want, ",\"a,b.csv\"\n");
    ok(scratch_holds("long.csv", want.data, want.length), "whole, with its file");
    text_free(&want);
    mem_free(raw);
}

/* Of a row beyond the limit its beginning is kept, up to the end of a character. */
static void test_cut(void)
{
    static const char *const ends[] = {"ab", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x8C\xB1"};
    char *raw = mem_alloc(REJECT_RAW + 4, 1);
    memset(raw, 'x', REJECT_RAW);
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct err e = {0}, why = {0};
        struct text want = {0};
        size_t kept = REJECT_RAW - (i ? strlen(ends[i]) - 1 : 0);
        memcpy(raw + REJECT_RAW - (strlen(ends[i]) - 1), ends[i], strlen(ends[i]));
        struct reject *r = reject_open(scratch("cut.csv"), false, &e);
        err_at(&why, ERR_CSV_LIMIT, "in.csv", 3, 0, "no");
        ok(r && reject_add(r, &why, NULL, raw, REJECT_RAW + 1, "in.csv", &e) &&
               reject_commit(r, &e),
           "a row beyond the limit: %s", e.what);
        text_printf(&want,
                    "line,column,name,id,reason,raw\n3,0,,E%d,no (raw: its first %zu bytes),",
                    (int)ERR_CSV_LIMIT, kept);
        text_add(&want, raw, kept);
        text_put(&want, "\n");
        ok(scratch_holds("cut.csv", want.data, want.length),
           "%zu bytes of it, and no half of a character", kept);
        text_free(&want);
        memset(raw, 'x', REJECT_RAW + 4);
    }
    memset(raw + 1, 0x80, REJECT_RAW + 3); /* no UTF-8: there is no character to keep whole */
    struct err e = {0}, why = {0};
    struct reject *r = reject_open(scratch("cut.csv"), false, &e);
    err_at(&why, ERR_CSV_LIMIT, "in.csv", 3, 0, "no");
    ok(r && reject_add(r, &why, NULL, raw, REJECT_RAW + 1, "in.csv", &e) && reject_commit(r, &e),
       "bytes of no character: %s", e.what);
    struct text want = {0};
    text_printf(&want, "line,column,name,id,reason,raw\n3,0,,E%d,no (raw: its first %zu bytes),",
                (int)ERR_CSV_LIMIT, (size_t)REJECT_RAW);
    text_add(&want, raw, REJECT_RAW);
    text_put(&want, "\n");
    ok(scratch_holds("cut.csv", want.data, want.length), "all that there is room for");
    text_free(&want);
    mem_free(raw);
}

static void test_ends(void)
{
    struct err e = {0};
    struct reject *r = reject_open(scratch("none.csv"), false, &e);
    ok(r && reject_commit(r, &e), "no row: %s", e.what);
    holds("none.csv", "line,column,name,id,reason,raw\n");
    r = reject_open(scratch("none.csv"), false, &e);
    reject_abort(r);
    holds("none.csv", "line,column,name,id,reason,raw\n");
    r = reject_open(scratch("gone.csv"), false, &e);
    reject_abort(r);
    ok(access(scratch("gone.csv"), F_OK) != 0, "an aborted file is not there");
    reject_abort(NULL);
    ok(!reject_open(scratch("no/such/folder.csv"), false, &e) && err_exit(&e) == EXIT_CANTCREATE,
       "a folder that is not there: %s", e.what);
}

int main(void)
{
    scratch_make();
    test_rows();
    test_long();
    test_cut();
    test_ends();
    return done();
}
