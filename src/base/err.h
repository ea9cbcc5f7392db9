/* err.h - failures of the world: one sentence where, one what, one how to mend it.
 *
 *     bool f(..., struct err *e)      true on success; on failure e is filled and false returned
 *     return err_at(e, ERR_CSV_NUMBER, path, line, col, "column \"%s\": ...", name);
 *
 * Headers say which family of ids a failure is of: E13 is one of 1300 to 1399.
 *     E10 command line    E11 JSON               E12 CSV content          E13 the config's meaning
 *     E14 data and model  E15 model files        E16 files and disk       E17 memory, threads
 *     E18 backend         E19 training           E99 a bug of dnn
 *
 * Nobody below src/cli prints or exits. The ids, exit codes and pages stand in errors.def. A copy
 * of an err moves it. It owns nothing but `more`, which cli_fail frees with the last copy. User
 * text put into a message must go through text_quote() first. */
#ifndef DNN_BASE_ERR_H
#define DNN_BASE_ERR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/exitcode.h"

enum err_id {
    ERR_NONE = 0,
#define ERROR(number, name, exit_code, summary, page) ERR_##name = number,
#include "base/errors.def"
#undef ERROR
};

struct err {
    enum err_id id;
    char file[1024];    /* the user's file, "" when none */
    int64_t line;       /* physical line from 1, 0 when none */
    int64_t column;     /* byte in that line from 1, 0 when none */
    char what[1024];    /* one sentence, no full stop */
    char excerpt[256];  /* the user's own text, escaped and cut; "" when none */
    char expected[1024]; /* "" when none */
    char help[900];     /* "" when none */
    /* of a config; "" when none: the key to blame ("train.epochs"), the key that it contradicts */
    char key[256], other[256];
    int cause;          /* told apart for programs, as the id's own room lists them; 0: not told */
    char *more; /* the rest of a list that is too long for `what`, on the heap; NULL mostly */
};

struct err_info {
    enum err_id id;
    enum exit_code exit;
    const char *name, *summary, *page;
};

/* Fill e and return false. A first failure is never overwritten by a later one: call err_clear to
 * reuse. */
bool err_set(struct err *e, enum err_id id, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool err_at(struct err *e, enum err_id id, const char *file, int64_t line, int64_t column,
            const char *format, ...) __attribute__((format(printf, 6, 7)));
/* Like err_set, with the file and the text of errno; picks NOINPUT, PERMISSION, IO or CANTCREATE
 * ids. */
bool err_errno(struct err *e, const char *file, int errnum, bool writing, const char *doing);
/* Additions to a filled e; both return false so that they can end a return statement. */
bool err_expected(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* "one of a, b, c"; a single word stands alone; of none, or of more than fit, nothing is said. */
bool err_words(struct err *e, const char *const *words, size_t count);
bool err_help(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
void err_excerpt(struct err *e, const char *text, size_t length);
bool err_key(struct err *e, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool err_other(struct err *e, const char *key);
bool err_cause(struct err *e, int cause);
/* A text of any length after `what`: a list that must be printed in full. e owns a copy. */
void err_more(struct err *e, const char *text);
bool err_in_file(struct err *e, const char *file); /* puts the file's name before e; false */
void err_clear(struct err *e);

/* The row of errors.def; NULL for an unknown number. Rows are walked by err_info_at(0..), NULL at
 * the end. */
const struct err_info *err_info(int id);
const struct err_info *err_info_at(size_t index);
enum exit_code err_exit(const struct err *e);

#endif
