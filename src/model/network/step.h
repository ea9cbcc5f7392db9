/* step.h - plays a network: a training step or a batch of answers is issued plainly the first time,
 * recorded the second, and played from then on. The stepper owns the routines, one for each
 * function and its argument. */
#ifndef DNN_MODEL_STEP_H
#define DNN_MODEL_STEP_H

#include "model/network/network.h"

struct stepper;
/* Borrows both until step_close. */
struct stepper *step_open(struct network *n, struct machine *m);
/* How the machine plays a training step, or a batch of answers. False: nothing was played yet, or
 * the machine does not tell. */
bool step_path(const struct stepper *s, bool answers, struct machine_path *path);
void step_close(struct stepper *s); /* before the network's end; NULL does nothing */

/* stop is called within long steps and between the parts of many answers. If it returns true, they
 * return false without an error. NULL, the default: never. */
void step_stop_when(struct stepper *s, bool (*stop)(void));
/* The next `steps` training steps; returns when they are done. False: the machine failed, or,
 * without an error, stop was true: all steps before the present one are done, and nothing of this
 * one. */
bool step_train(struct stepper *s, uint32_t steps, struct err *e);
/* Logits [count][outputs] of positions row0.. of `from` (no shuffle), of sequences with an answer a
 * step [count][steps][outputs]; any count, in batches. A row's logits depend on the weights and
 * that row alone. */
bool step_answer(struct stepper *s, const struct source *from, uint64_t row0, uint64_t count,
                 real *logits, struct err *e);

/* --- on a machine that keeps answers until all are computed (network_room) --- */

/* The most rows whose answers are queued at once; stop is called after them. */
#define STEP_ASKED ((uint64_t)1 << 18)
/* Rows whose logits it keeps at once; 0: the machine keeps none, and step_measure must not be
 * called. */
uint64_t step_room(const struct stepper *s);
/* As step_answer, measured on the machine as `what` asks: sets its sum and weight; NULL: not
 * measured. logits NULL: not wanted. The rows must not change until others are answered. */
bool step_measure(struct stepper *s, const struct source *from, uint64_t row0, uint64_t count,
                  struct answers *what, real *logits, struct err *e);

#endif
