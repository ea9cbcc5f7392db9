/* init_time.h - the last line of `dnn init`: how long a training takes here. */
#ifndef DNN_CLI_INIT_TIME_H
#define DNN_CLI_INIT_TIME_H

#include <stdint.h>

#include "base/text.h"

/* config: as written to `name`. preset: a --set's; NULL: none, and auto and the fast preset are
 * compared. rows: of the file. Writes nothing if no forecast can be made. */
void init_time(const struct text *config, const char *name, const char *preset, uint64_t rows);

#endif
