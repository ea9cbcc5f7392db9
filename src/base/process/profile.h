/* profile.h - the time of a training as spans on lanes, written as a trace for Perfetto and
 * chrome://tracing (Trace Event Format: complete events, "ph" "X", in microseconds). Process 1 is
 * the host: phases, epochs, stretches of steps, validation, checkpoints. Process 2 is the machine:
 * its time for each stretch, by its own marks, and the first steps by operation and by layer.
 * Those steps are played plainly, with marks around each operation: slower than a recorded step,
 * with the same bits.
 *
 * One profile a process (--profile FILE). Any thread may add spans; the command's thread begins,
 * names phases and ends. Without a profile nothing is measured. */
#ifndef DNN_BASE_PROFILE_H
#define DNN_BASE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { PROFILE_STEPS = 4, PROFILE_SPANS = 50000 }; /* steps by operations; spans kept, the first */
#define PROFILE_STEP "a step, operation by operation" /* the span of one such step */
enum profile_lane { PROFILE_HOST, PROFILE_STRETCHES, PROFILE_OPERATIONS, PROFILE_LAYERS };

/* Keeps spans from now on, for the file of that name; the present phase is the first. False: the
 * file cannot be written, or is something else than a trace. */
bool profile_begin(const char *path, struct err *e);
bool profile_on(void);
/* Ends the present phase and begins another; "": none. The phases of stop.h. */
void profile_phase(const char *name);
/* A span from `began` (clock_now()) to now, or of `seconds` seconds. count: a number to show with
 * it, 0: none. name: a literal. */
void profile_span(const char *name, int64_t count, double began);
void profile_work(enum profile_lane lane, const char *name, int64_t count, double began,
                  double seconds);
/* The machine's name, for its lanes. */
void profile_machine(const char *name);
/* Writes the file if a profile was begun, and logs the time by layer. good false: the training
 * failed; before its first step an existing file stays. */
bool profile_end(bool good, struct err *e);

#endif
