/* golden.h - the rows that a model file keeps with their answers, for `dnn verify`. */
#ifndef DNN_ANSWER_GOLDEN_H
#define DNN_ANSWER_GOLDEN_H

#include "model/file/modelfile.h"
#include "table/table.h"
#include "table/encoder/cell.h"

/* The rows of the sample whose answers are finite, for a model file holds no others; logits
 * [members][sample rows][outputs]. golden_free. */
void golden_make(struct golden *g, const struct table_sample *sample, const real *logits,
                 uint32_t members, uint32_t outputs);
void golden_free(struct golden *g);
/* Cells to records [g->count] of c->format.stride bytes, zeroed by the caller, ready for the
 * network. A cell that cannot be read: MODEL_GOLDEN, 76, at path. */
bool golden_parse(const struct golden *g, const struct encoder *c, const char *path,
                  unsigned char *records, struct err *e);

#endif
