/* reject.h - the file of rows that could not be read: line,column,name,id,reason,raw, and of
 * several inputs file (RFC 4180, header first). */
#ifndef DNN_CSV_REJECT_H
#define DNN_CSV_REJECT_H

#include "base/outfile.h"
#include "csv/csv.h"

struct reject;
#define REJECT_RAW CSV_MOST_FIELD /* bytes of the raw text that are kept, and said in the reason */
#define REJECT_BEGIN "line,column,name,id,reason,raw" /* how its first line begins */
/* files: each row says which file it is of. */
struct reject *reject_open(const char *path, bool files, struct err *e);
/* file: as the user named it. */
bool reject_add(struct reject *r, const struct err *why, const char *column_name, const char *raw,
                size_t length, const char *file, struct err *e);
bool reject_prepare(struct reject *r, struct err *e); /* as outfile_prepare */
bool reject_commit(struct reject *r, struct err *e); /* frees r */
void reject_abort(struct reject *r);

#endif
