/* evaluate_text.h - the tables of `dnn evaluate` for people: labels, confusion, thresholds. */
#ifndef DNN_CLI_EVALUATE_TEXT_H
#define DNN_CLI_EVALUATE_TEXT_H

#include "answer/evaluate/evaluate.h"
#include "base/text.h"

/* Nothing for regression; no confusion of more than 12 labels. */
void evaluate_details(const struct evaluate_result *r, struct text *out);

#endif
