/* profile.h - where the time of a training goes: spans on two lanes, written as a trace that
 * Perfetto and chrome://tracing open (the Trace Event Format: an object with complete events, "ph"
 * "X", in microseconds). Process 1 is the host: phases, epochs, stretches of steps, validation,
 * checkpoints. Process 2 is the machine that computes: how long it worked on each stretch, by marks
 * of its own, and the operations of the first steps one by one, in the order in which they were
 * issued. Those few are played plainly, with a mark before and behind each: they are slower than a
 * recorded step, and show what it is made of, not how long it is. The bits are the same.
 * When nobody asks, nothing is measured. One profile a process, kept by one thread. */
#ifndef DNN_BASE_PROFILE_H
#define DNN_BASE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { PROFILE_STEPS = 4, PROFILE_SPANS = 20000 }; /* steps by operations; spans kept, the first */
enum profile_lane { PROFILE_HOST, PROFILE_STRETCHES, PROFILE_OPERATIONS };

/* From now on spans are kept, for the file of that name, with the phase under way as the first;
 * what the file is may be replaced by a trace. */
bool profile_begin(const char *path, struct err *e);
bool profile_on(void);
/* What was begun last ends now; "" begins nothing. The phases of stop.h. */
void profile_phase(const char *name);
/* From `began` (clock_now()) to now, or for so many seconds. count: how many of them, 0: one
 * without a number. */
void profile_span(const char *name, int64_t count, double began);
void profile_work(enum profile_lane lane, const char *name, int64_t count, double began,
                  double seconds);
/* What the machine is, for the names of the lanes. */
void profile_machine(const char *name);
/* Writes the file, when one was begun; after a failure before the first step the file that is there
 * stays. */
bool profile_end(bool good, struct err *e);

#endif
