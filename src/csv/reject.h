/* reject.h - writes the file of rejected rows: line,column,name,id,reason,raw; with several inputs
 * also file (RFC 4180, with header). */
#ifndef DNN_CSV_REJECT_H
#define DNN_CSV_REJECT_H

#include "base/file/outfile.h"
#include "csv/csv.h"

struct reject;
#define REJECT_RAW CSV_MOST_FIELD /* bytes kept of the raw text; the reason names the limit */
#define REJECT_BEGIN "line,column,name,id,reason,raw" /* the beginning of its header */
/* Opens the file. files: adds the column `file`. NULL and an error on failure. */
struct reject *reject_open(const char *path, bool files, struct err *e);
/* Appends one row. `file`: the name of its input as given by the user. */
bool reject_add(struct reject *r, const struct err *why, const char *column_name, const char *raw,
                size_t length, const char *file, struct err *e);
bool reject_prepare(struct reject *r, struct err *e); /* see outfile_prepare */
bool reject_commit(struct reject *r, struct err *e);  /* frees r */
/* Removes the unfinished file; frees r. */
void reject_abort(struct reject *r);

#endif
