#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "tap.h"

static struct err e;

static const char *errno_name(int errnum, bool writing)
{
    err_clear(&e);
    err_errno(&e, "a.csv", errnum, writing, "cannot be used");
    return err_info((int)e.id)->name;
}

static void many_at_once(void)
{
    struct err all[20] = {0};
    char rest[16];
    int good = 0;
    for (int i = 0; i < 20; i++) {
        snprintf(rest, sizeof rest, "rest %d", i);
        err_set(&all[i], ERR_USAGE, "one");
        err_more(&all[i], rest);
    }
    struct err moved = all[7];
    is_string(moved.more, "rest 7", "a copy moves an error with its list");
    for (int i = 0; i < 20; i++) {
        snprintf(rest, sizeof rest, "rest %d", i);
        good += strcmp(all[i].more, rest) == 0;
        mem_free(all[i].more);
    }
    is_int(good, 20, "of twenty errors alive, each keeps its own list");
    struct err e2 = {0};
    err_set(&e2, ERR_USAGE, "it");
    ok(!err_in_file(&e2, "b.csv") && !strcmp(e2.file, "b.csv") && !strcmp(e2.what, "it"),
       "an error gets the name of its file and keeps the rest");
}

int main(void)
{
    int last = 0;
    bool ascending = true, full = true, exits = true;
    for (size_t i = 0; err_info_at(i); i++) {
        const struct err_info *r = err_info_at(i);
        ascending = ascending && (int)r->id > last;
        last = (int)r->id;
        full = full && r->name[0] && strlen(r->summary) > 5 && strlen(r->page) > 20;
        exits = exits && r->exit >= 64 && r->exit <= 143;
        if ((int)r->id <= 0 || strlen(r->page) <= 20 || r->summary[strlen(r->summary) - 1] == '.')
            ok(false, "row %d: %s", (int)r->id, r->name);
    }
    ok(ascending, "the numbers ascend, so none is there twice");
    ok(full, "every id has a name, a summary and a page");
    ok(exits, "every exit code is one of the table's");
    ok(err_info(1) == NULL && err_info(ERR_CSV_NUMBER)->id == ERR_CSV_NUMBER, "a row by number");

    ok(!err_at(&e, ERR_CSV_NUMBER, "a\nb.csv", 7, 3, "column \"%s\"", "age"),
       "err_at returns false");
    is_string(e.what, "column \"age\"", "the sentence");
    is_string(e.file, "a\\x0ab.csv", "the file is escaped");
    ok(e.line == 7 && e.column == 3, "the place");
    ok(!err_set(&e, ERR_BUG, "later"), "err_set returns false");
    is_int(e.id, ERR_CSV_NUMBER, "the first failure stays");
    ok(!err_expected(&e, "a %s", "number") && !err_help(&e, "set %d", 1),
       "both end a return statement");
    is_string(e.expected, "a number", "expected");
    is_string(e.help, "set 1", "help");
    static const char *const words[] = {"round", "square"};
    ok(!err_words(&e, words, 2) && strcmp(e.expected, "one of round, square") == 0, "words");
    ok(!err_words(&e, words, 1) && strcmp(e.expected, "round") == 0, "a single one stands alone");
    err_excerpt(&e, "x\x1b[31m\xff", 7);
    is_string(e.excerpt, "x\\x1b[31m\\xff", "an excerpt is escaped");
    is_int(err_exit(&e), 65, "its exit code");
    err_clear(&e);
    is_int(err_exit(&e), 0, "none: 0");
    e.id = (enum err_id)4;
    is_int(err_exit(&e), 70, "an unknown one is a bug of ours");
    ok(!err_set(NULL, ERR_BUG, "nobody asks") && !err_help(NULL, "x"), "NULL is allowed");

    char longer[3000];
    for (size_t i = 0; i < sizeof longer - 1; i++)
        longer[i] = i % 2 ? (char)0xA4 : (char)0xC3; /* an a with two dots, in two bytes */
    longer[sizeof longer - 1] = '\0';
    err_clear(&e);
    err_set(&e, ERR_BUG, "%s", longer);
    size_t n = strlen(e.what);
    ok(n < sizeof e.what && n > 1000 && strcmp(e.what + n - 3, "...") == 0,
       "a long sentence is cut");
    ok(n % 2 == 1, "at a whole character");

    is_string(errno_name(ENOENT, false), "FILE_MISSING", "reading what is not there");
    is_string(errno_name(EACCES, false), "FILE_PERMISSION", "reading without the right");
    is_string(errno_name(EIO, false), "FILE_READ", "reading fails");
    is_string(errno_name(EMFILE, false), "FILE_OPEN_LIMIT", "too many files");
    is_string(errno_name(ENOENT, true), "FILE_CREATE", "writing into no folder");
    is_string(errno_name(EACCES, true), "FILE_CREATE", "writing into a locked folder");
    is_string(errno_name(EROFS, true), "FILE_CREATE", "writing to a read-only disk");
    is_string(errno_name(ENOSPC, true), "FILE_WRITE", "a full disk");
    is_string(errno_name(EDQUOT, true), "FILE_WRITE", "a full quota");
    is_string(errno_name(EFBIG, true), "FILE_WRITE", "a limit of size");
    is_string(errno_name(EPIPE, true), "FILE_PIPE", "a closed pipe");
    is_int(err_exit(&e), 141, "which is 141");
    is_string(errno_name(ENOMEM, true), "MEMORY", "no memory");
    is_string(e.what, "cannot be used: Cannot allocate memory", "the text of errno");
    many_at_once();
    return done();
}
