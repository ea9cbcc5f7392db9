/* progress.h - a bar with loss, metric, rate and time left on a terminal; one plain line an epoch elsewhere. */
#ifndef DNN_RUN_PROGRESS_H
#define DNN_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

enum progress_style { PROGRESS_AUTO, PROGRESS_BAR, PROGRESS_PLAIN, PROGRESS_NONE };
struct progress;
struct progress *progress_open(enum progress_style style, int64_t epochs, const char *metric_name);
/* fraction of the epoch done; called at most some ten times a second by the training loop. */
void progress_step(struct progress *p, int64_t epoch, double fraction, double loss, double rows_per_s, double seconds_left);
void progress_epoch(struct progress *p, int64_t epoch, double loss, double metric, bool best, double rows_per_s, double seconds);
void progress_close(struct progress *p);

#endif
