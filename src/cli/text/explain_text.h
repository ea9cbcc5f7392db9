/* explain_text.h - what `dnn explain` prints for people. */
#ifndef DNN_CLI_EXPLAIN_TEXT_H
#define DNN_CLI_EXPLAIN_TEXT_H

#include "answer/explain/attribute.h"
#include "answer/explain/effects.h"
#include "answer/explain/explain.h"

void explain_text(const struct explain_result *r, struct text *out);
void explain_text_rows(const struct attribute_request *q, const struct attribute_result *r,
                       struct text *out);
void explain_text_effects(const struct effects_result *r, struct text *out);
/* The value of a point as a reader wants it: a date that is written as a number of seconds as a
 * date, of "other" and "missing" these words. User text. */
void explain_text_value(const struct effect *f, const struct effect_point *p, struct text *out);

#endif
