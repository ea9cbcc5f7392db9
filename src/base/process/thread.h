/* thread.h - the only thread pool. Work is a list of tiles given by shapes alone; threads claim
 * tiles, and the result does not depend on which thread computed a tile. Idle workers spin at most
 * 20 microseconds, then sleep on a futex. Every worker blocks all signals but a crash's, which it
 * handles itself, and has the same floating-point mode (round to nearest, no flush to zero). */
#ifndef DNN_BASE_THREAD_H
#define DNN_BASE_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* wanted 0: min(affinity, cgroup quota). Started once; a thread that the system refuses means fewer
 * threads and a note. */
void threads_start(unsigned wanted);
void threads_stop(void);
unsigned threads_count(void);     /* including the caller; 1 before threads_start, or alone */
/* true: the calling thread does its tiles alone from now on. For runs side by side, each on its own
 * thread: the results are the same. */
void threads_alone(bool alone);
unsigned threads_available(void); /* min(affinity, cgroup quota), at least 1 */
/* Threads that find a processor at the same time: min(threads_count, available at the start). */
unsigned threads_hands(void);
/* Calls work(context, tile, thread) for tile 0..tiles-1, each exactly once, and returns when all
 * are done. thread < threads_count(), for per-thread scratch. Not reentrant: one thread calls at a
 * time, except threads that are alone. */
void threads_run(unsigned tiles, void (*work)(void *context, unsigned tile, unsigned thread),
                 void *context);
/* True: this thread does a tile; it must not call threads_run. */
bool threads_inside(void);
/* A thread beside the pool, in which only the signals of a crash are not blocked. Caller joins or
 * detaches it. False: the system gives no thread. */
bool thread_new(void *(*run)(void *context), void *context, pthread_t *thread);
/* As threads_run, for tiles that take memory of their own: no more than threads_hands() of them at
 * a time, each with a hand < threads_hands(). With more threads than processors, chance would
 * decide how many are interrupted inside a tile, with their memory in use. */
void threads_run_few(unsigned tiles, void (*work)(void *context, unsigned tile, unsigned hand),
                     void *context);
/* Several rounds without going back to sleep between them: `rounds` lists run one after the other,
 * with a barrier between two. tiles_of(context, round) gives the number of tiles. Used by the CPU
 * machine's replay. */
void threads_run_rounds(unsigned rounds, unsigned (*tiles_of)(void *context, unsigned round),
                        void (*work)(void *context, unsigned round, unsigned tile, unsigned thread),
                        void *context);

#endif
