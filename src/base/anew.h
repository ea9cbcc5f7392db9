/* anew.h - a command that is executed anew in the same process, with nothing of the GPU left, and
 * what the program before hands to the one that comes: why, whether to go on from a checkpoint,
 * what was spent and warned of (the environment variable DNN_FALLBACK), and the config as it was
 * read (DNN_FALLBACK_CONFIG: the descriptor of its text). Once for each command. */
#ifndef DNN_BASE_ANEW_H
#define DNN_BASE_ANEW_H

#include <stdbool.h>
#include <stddef.h>

struct text;
struct anew;
/* Seconds that a process which was left had used, and those of its training over all runs. */
struct anew_spent { double here, all; };

/* --- by the program that goes --- */

/* Ready to be executed. config [length]: its text, or NULL: it is read again from path. NULL: it
 * cannot be, was already, or a signal has asked for the end (stop_wanted). */
struct anew *anew_ready(const char *config, size_t length, const char *path);
/* Returns only where that fails, with a note, and frees. warned: lines. */
void anew_execute(struct anew *a, bool resume, const char *why, struct anew_spent spent,
                  const struct text *warned);

/* --- by the one that comes. A user's own word in the variable may be anything --- */

bool anew_is(void);
bool anew_resumes(void);                 /* it is to go on from a checkpoint */
bool anew_why(char *to, size_t room);    /* quoted; false: nothing was handed over */
struct anew_spent anew_spent(void);      /* 0 where there was no program before */
const char *anew_warnings(void);         /* of the one before, one a line; or "" */
char *anew_config(size_t *length);       /* the text, once; mem_free; NULL: none */

#endif
