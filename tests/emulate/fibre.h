/* fibre.h - a stack of its own for each lane, with a guard page below it, and the switch between
 * them: a few instructions on x86-64 and aarch64. One thread. */
#ifndef EMULATE_FIBRE_H
#define EMULATE_FIBRE_H

#include <stddef.h>

struct fibre {
    void *stack;  /* lowest usable byte; NULL: not made yet */
    void *sp;     /* where it stopped */
};

/* Makes f begin at `body` at the next switch; its stack is kept from use to use. `body` never
 * returns: it calls fibre_leave for the last time instead. */
void fibre_begin(struct fibre *f, void (*body)(void));
/* From the main stack into f, until f calls fibre_leave. */
void fibre_enter(struct fibre *f);
/* Back to the main stack; returns when entered again. */
void fibre_leave(struct fibre *f);
/* The first thing a body does. */
extern "C" void fibre_arrived(void);
/* True inside the guard page below a fibre's stack: tells an overflow from another bad address. */
bool fibre_guard_hit(const struct fibre *f, const void *address);

#endif
