/* forecast.h - how long a training takes on this machine, told by `dnn init` before anybody waits
 * for it. A check of the first rows: steps of a network that trains in batches are timed, other
 * networks follow from their operations, and all from the number of rows. On the CPU. */
#ifndef DNN_CHECK_FORECAST_H
#define DNN_CHECK_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct forecast {
    double seconds; /* of all epochs, or the time limit */
    double least;   /* seconds of the fewest epochs that early stopping allows; else `seconds` */
    unsigned threads;
};

/* config: its text; name: its file, as file names in it are relative. preset: replaces the config's
 * own; NULL: its own. rows: of the file. False: the training could not begin, or a signal came.
 * Writes no messages. */
bool forecast_make(const char *config, size_t length, const char *name, const char *preset,
                   uint64_t rows, struct forecast *f);

#endif
