/* step.h - a network at work: what it issues is run plainly the first time, recorded the second and
 * played from then on. The routines are owned here, one for each function and what it is called
 * with. */
#ifndef DNN_MODEL_STEP_H
#define DNN_MODEL_STEP_H

#include "model/network.h"

struct stepper;
/* Borrows both until step_close. */
struct stepper *step_open(struct network *n, struct machine *m);
/* How the machine plays a training step, or a batch of answers. False: it was not played yet, or
 * the machine does not tell. */
bool step_path(const struct stepper *s, bool answers, struct machine_path *path);
void step_close(struct stepper *s); /* before the network's end; NULL does nothing */

/* Whether to stop is asked within steps that are long, and between the parts of many answers, which
 * are false then, without an error; NULL, as it is at first: never. */
void step_ask(struct stepper *s, bool (*stop)(void));
/* The next `steps` training steps. Returns when they are done; false with the machine's failure, or
 * without an error where it was asked to stop: then those before the step at hand are done, and of
 * that one nothing. */
bool step_train(struct stepper *s, uint32_t steps, struct err *e);
/* Logits [count][outputs] of positions row0.. of `from` (no shuffle); any count, in batches. A
 * row's logits depend on the weights and that row alone. */
bool step_answer(struct stepper *s, const struct source *from, uint64_t row0, uint64_t count,
                 real *logits, struct err *e);

/* --- on a machine that keeps answers until all are there (network_room): nobody waits in between
 * --- */

/* Answers are queued for so many rows at most; behind them, whether to stop is asked. */
#define STEP_ASKED ((uint64_t)1 << 18)
/* How many rows' logits at once; 0: not such a machine, and step_measure is not to be called. */
uint64_t step_room(const struct stepper *s);
/* The same answers, measured there as `what` says (its sum and weight are the answer; NULL: not
 * measured), with their logits (NULL: they stay) or without. The rows live and stay as they are
 * until others are asked for. */
bool step_measure(struct stepper *s, const struct source *from, uint64_t row0, uint64_t count,
                  struct answers *what, real *logits, struct err *e);

#endif
