/* train_text.h - what `dnn train` and `dnn merge` say at the end, for people. */
#ifndef DNN_CLI_TRAIN_TEXT_H
#define DNN_CLI_TRAIN_TEXT_H

#include "train/train.h"

/* Metrics of each part, and gates. */
void train_metrics_text(const struct train_result *r);
/* These, the members, and a line about the training of `output`. */
void train_text(const struct train_result *r, const char *output);

#endif
