/* output.h - is it safe to write there? Asked before a training begins, so that hours are not lost
 * at their end. */
#ifndef DNN_RUN_OUTPUT_H
#define DNN_RUN_OUTPUT_H

#include "run/config.h"

/* The model and output.metrics: neither is an input or the other (SAME_FILE, 64), the folder
 * can be written to (FILE_CREATE, 73), and what stands at the model's name, if anything, is a dnn
 * model (73). Nothing is left behind. */
bool output_check(const struct config *c, const char *model, struct err *e);
/* Warns when the disk has less room than `bytes`. */
void output_room(const char *model, uint64_t bytes);

#endif
