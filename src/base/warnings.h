/* warnings.h - the warnings of a run, for its summary: the lines that a person reads, with --quiet
 * as well. One list in the process, as there is one log. */
#ifndef DNN_BASE_WARNINGS_H
#define DNN_BASE_WARNINGS_H

#include "base/json.h"

/* Starts a new list with the warnings of the program before, if this one was executed anew. */
void warnings_keep(void);
void warnings_lines(struct text *out); /* adds what is kept, one a line */
/* Member "warnings" of an open object: a list of strings, empty where none are kept. */
void warnings_write(struct json_out *out);
void warnings_drop(void); /* and no more are kept */

#endif
