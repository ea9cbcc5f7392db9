/* features.h - the first stage: a record's numbers, "was missing" indicators and categories side by
 * side in one flat row x: numbers, indicators, rows of embedding tables, then 0/1 columns, both in
 * the order of the schema. A dense layer that stands first takes ids for the 0/1 columns, which are
 * then never written out: x ends before them. */
#ifndef DNN_MODEL_FEATURES_H
#define DNN_MODEL_FEATURES_H

#include "model/model.h"

/* Copies f into m and plans x; false with E13 when there is nothing to learn from or too much. */
bool features_plan(struct model *m, const struct features *f, struct planner *p, struct err *e);
void features_release(struct model *m);
/* Embedding tables: uniform within 1 / sqrt(dim); the slots of missing and unknown values start at
 * zero, and so does what they add to the first layer when they are 0/1 columns: a slot that no
 * training row fills says nothing. */
void features_init(const struct model *m, uint64_t seed, uint32_t model_number, real *params);
void features_forward(const struct model *m, struct pass *p, const struct source *from,
                      real *target);
void features_backward(const struct model *m, struct pass *p, const struct act *dx);

#endif
