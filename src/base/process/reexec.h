/* reexec.h - executes the command again in the same process, without the GPU that failed. A failed
 * driver keeps memory and threads that only a new program gets rid of. Once for each command.
 *
 * The new program finds in argv[0] why the old one ended, whether to resume and the seconds spent;
 * the text of the config and the warnings in files without a name (memfd). No environment variable
 * takes part, so none can be set by accident. */
#ifndef DNN_BASE_PROCESS_REEXEC_H
#define DNN_BASE_PROCESS_REEXEC_H

#include <stdbool.h>
#include <stddef.h>

struct text;
/* Seconds used by the program before (here), and by its training over all runs (all). */
struct reexec_spent { double here, all; };

/* Keeps the arguments of main, and reads argv[0]. main calls it once, before the others. */
void reexec_begin(char **argv);

/* --- the old program --- */

/* Signals wait for the new program from here on. False: already executed again, or a signal asked
 * to end; nothing is changed. */
bool reexec_ready(void);
/* Executes the program. Returns only if that fails, with a note. config [length]: the text of the
 * config; warned: lines. */
void reexec_now(const char *config, size_t length, bool resume, const char *why,
                struct reexec_spent spent, const struct text *warned);

/* --- the new program --- */

const char *reexec_why(void); /* why the old program ended, quoted; NULL: there is none */
bool reexec_resumes(void);    /* it shall resume from a checkpoint */
struct reexec_spent reexec_spent(void); /* 0: no old program */
const char *reexec_warnings(void); /* the file with the old program's warnings, one a line, and */
const char *reexec_config(void);   /* that with the config's text; NULL: no old program */

#endif
