/* warnings.h - the warnings of a command, for its --json object: the lines that a person reads,
 * also with --quiet. One list in the process, as there is one log; any thread may warn. */
#ifndef DNN_BASE_WARNINGS_H
#define DNN_BASE_WARNINGS_H

#include "base/json/json.h"

/* Starts a new list; in a program that was executed again, with the warnings of the old program. */
void warnings_keep(void);
void warnings_lines(struct text *out); /* adds the list, one warning a line */
/* Member "warnings" of an open object: a list of strings. */
void warnings_write(struct json_out *out);
void warnings_drop(void); /* ends the list: no more are kept */

#endif
