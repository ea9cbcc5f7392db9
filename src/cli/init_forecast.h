/* init_forecast.h - what `dnn train` would refuse in the config that `dnn init` is about to write.
 * What a --set does to a column's entry by itself is refused at once; what it, or the data, shows
 * beside the data is warned of. */
#ifndef DNN_CLI_INIT_FORECAST_H
#define DNN_CLI_INIT_FORECAST_H

#include "config/config.h"
#include "table/infer.h"

bool init_forecast(const struct config *c, const struct infer *found, struct err *e);
/* There is nothing to note about columns that the config lacks, nor that one of another use may
 * give the target away. */
void init_unused(const struct config *c, struct infer *found);

#endif
