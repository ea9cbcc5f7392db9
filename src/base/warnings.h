/* warnings.h - what a run warned of, for its summary: the same lines that a person reads, --quiet
 * or not. One list in the process, as there is one log. */
#ifndef DNN_BASE_WARNINGS_H
#define DNN_BASE_WARNINGS_H

#include "base/json.h"

/* From now on, behind those of a process that became this one (anew.h); what was kept before
 * goes. */
void warnings_keep(void);
void warnings_lines(struct text *out); /* adds what is kept, one a line */
/* Member "warnings" of an open object: a list of strings, empty where none are kept. */
void warnings_write(struct json_out *out);
void warnings_drop(void); /* and no more are kept */

#endif
