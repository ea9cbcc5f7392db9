/* init_forecast.h - warnings of `dnn init`: what `dnn train` will refuse in the config that it
 * writes, as far as a --set, or what was seen of the data, shows it. */
#ifndef DNN_CLI_INIT_FORECAST_H
#define DNN_CLI_INIT_FORECAST_H

#include "data/infer.h"
#include "run/config.h"

void init_forecast(const struct config *c, const struct infer *found);

#endif
