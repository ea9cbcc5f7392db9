/* data_reject.c - the file of rows that could not be read: header, quoting, and all or nothing. */
#include "data/reject.h"
#include "scratch.h"
#include "tap.h"

static void holds(const char *name, const char *want)
{
    ok(scratch_holds(name, want, strlen(want)), "%s", name);
}

static void test_rows(void)
{
    struct err e = {0}, why = {0};
    struct reject *r = reject_open(scratch("rows.csv"), &e);
    if (!ok(r, "opened: %s", e.what))
        return;
    err_at(&why, ERR_CSV_NUMBER, "in.csv", 17, 5, "column \"age\": \"x\" is not a number");
    ok(reject_add(r, &why, "age", "1,x,\"a\"", 7, &e), "a row");
    err_clear(&why);
    err_at(&why, ERR_CSV_RAGGED, "in.csv", 18, 0, "line 18 has 2 fields");
    ok(reject_add(r, &why, NULL, "1\r\n2", 4, &e), "one that belongs to no column");
    ok(reject_add(r, &why, "a,b", " blank", 6, &e), "blanks at the ends are kept");
    ok(reject_add(r, &why, "", "", 0, &e), "nothing at all");
    ok(reject_add(r, &why, "\xff", "a\0b\xfe", 4, &e), "any bytes");
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

static void test_ends(void)
{
    struct err e = {0};
    struct reject *r = reject_open(scratch("none.csv"), &e);
    ok(r && reject_commit(r, &e), "no row: %s", e.what);
    holds("none.csv", "line,column,name,id,reason,raw\n");
    r = reject_open(scratch("none.csv"), &e);
    reject_abort(r);
    holds("none.csv", "line,column,name,id,reason,raw\n");
    r = reject_open(scratch("gone.csv"), &e);
    reject_abort(r);
    ok(access(scratch("gone.csv"), F_OK) != 0, "an aborted file is not there");
    reject_abort(NULL);
    ok(!reject_open(scratch("no/such/folder.csv"), &e) && err_exit(&e) == EXIT_CANTCREATE,
       "a folder that is not there: %s", e.what);
}

int main(void)
{
    scratch_make();
    test_rows();
    test_ends();
    return done();
}
