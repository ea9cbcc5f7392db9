/* anew.h - executes the command anew in the same process, without the GPU that failed. A failed
 * driver keeps memory and threads that only a new program gets rid of. Once for each command.
 *
 * The old program writes into a file without a name (memfd): why it ended, whether to resume, the
 * seconds spent, its warnings, and the text of the config. The new program gets the descriptor in
 * argv[0], "dnn:anew:7". No environment variable takes part, so none can be set by accident. */
#ifndef DNN_BASE_ANEW_H
#define DNN_BASE_ANEW_H

#include <stdbool.h>
#include <stddef.h>

struct text;
struct anew;
/* Seconds used by the program before (here), and by its training over all runs (all). */
struct anew_spent { double here, all; };

/* --- the old program --- */

/* Prepares the execution; signals wait for the new program from here on. config [length]: the text
 * of the config. NULL: not possible, already executed anew, or a signal asked to end. */
struct anew *anew_ready(const char *config, size_t length);
/* Executes the program anew. Returns only if that fails, with a note, and frees a. warned: lines.
 */
void anew_execute(struct anew *a, bool resume, const char *why, struct anew_spent spent,
                  const struct text *warned);

/* --- the new program --- */

/* Reads the descriptor in name (argv[0]). main calls it once, before the others. */
void anew_receive(const char *name);
bool anew_is(void);                      /* this program was executed anew */
bool anew_resumes(void);                 /* ... to resume from a checkpoint */
/* Why the old program ended, quoted. False: there was none. */
bool anew_why(char *to, size_t room);
struct anew_spent anew_spent(void);      /* 0: no old program */
const char *anew_warnings(void);         /* the old program's warnings, one a line; or "" */
char *anew_config(size_t *length);       /* the text, once; caller mem_frees; NULL: none */

#endif
