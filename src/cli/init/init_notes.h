/* init_notes.h - the notes of `dnn init` about a file: types with their reasons, labels, scores,
 * leaks. */
#ifndef DNN_CLI_INIT_NOTES_H
#define DNN_CLI_INIT_NOTES_H

#include "config/overrides.h"
#include "infer/infer.h"

void init_notes(const struct infer *found, const char *target, const struct overrides *o);

#endif
