/* progress.h - a bar with loss, metric, rate and time left on a terminal; elsewhere plain lines of
 * epochs: each epoch (PROGRESS_PLAIN), or the first one and then at most one in ten seconds
 * (PROGRESS_AUTO). Standard error. */
#ifndef DNN_BASE_PROGRESS_H
#define DNN_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_style { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_PLAIN, PROGRESS_NONE };
struct progress;
/* metric_name NULL: no validation rows. One bar at a time in a process, as there is one terminal; a
 * log line of any thread removes it. One thread calls the functions of a progress. */
struct progress *progress_open(enum progress_style style, int64_t epochs, const char *metric_name);
/* fraction of the epoch done; drawn at most ten times a second. seconds_left negative: not known.
 */
void progress_step(struct progress *p, int64_t epoch, double fraction, double loss,
                   double rows_per_s, double seconds_left);
void progress_epoch(struct progress *p, int64_t epoch, double loss, double metric, bool best,
                    double rows_per_s, double seconds);
void progress_close(struct progress *p);
/* Work that has an amount: bytes of a file, columns. Nothing is shown in its first two seconds;
 * then a line that is redrawn on a terminal, elsewhere a plain line, the next ones ever later. */
struct progress_amount {
    const char *what, *unit; /* "reading", "columns"; unit NULL: bytes */
    bool bar, plain;
    double began, next;
};
void progress_amount_open(struct progress_amount *p, enum progress_style style, const char *what,
                          const char *unit);
/* of 0: not known. */
void progress_amount(struct progress_amount *p, double done, double of);
void progress_amount_close(struct progress_amount *p);
/* "1:02:03", "2:05", "0.42 s"; a rotating thread-local buffer. */
const char *progress_time(double seconds);

#endif
