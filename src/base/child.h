/* child.h - this program executed once more, as a process of its own: for work that may hang or
 * die, and must take nobody with it. Its standard output is read here; standard input and error are
 * the caller's. It is alone in its process group, so that a signal for the caller's group reaches
 * it once, from the caller; and the kernel ends it (SIGKILL) with the thread that began it: there
 * is no orphan. */
#ifndef DNN_BASE_CHILD_H
#define DNN_BASE_CHILD_H

#include <sys/types.h>

struct child {
    pid_t id;
    int out; /* what it says, to be read to its end */
};
enum { CHILD_LOST = -1000 }; /* not even SIGKILL ends it: it stands in the kernel */

/* words: argv, NULL at the end. 0 or an errno. */
int child_begin(struct child *c, const char *const *words);
void child_tell(const struct child *c, int signal_number);
/* Gives it so long to end by itself, then none. Its exit code, minus the number of the signal that
 * ended it, or CHILD_LOST. */
int child_end(struct child *c, double patience_s);

#endif
