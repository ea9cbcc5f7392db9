/* output.h - checks that outputs are safe to write. Called before a training begins, so that hours
 * are not lost at their end. */
#ifndef DNN_CONFIG_OUTPUT_H
#define DNN_CONFIG_OUTPUT_H

#include "config/config.h"

/* The model, output.metrics and the profile (NULL: none): none is an input or another of them; the
 * last two are no lock or checkpoint of the model (SAME_FILE, 64); the folder can be written to
 * (FILE_CREATE, 73); existing files at the names of the model (output_replaceable), of
 * output.metrics and of finished runs of an ensemble were written by dnn (73). No file is left. */
bool output_check(const struct config *c, const char *model, bool part, const char *profile,
                  struct err *e);
/* The output at path ("-": standard output) is no input that the config names (SAME_FILE, 64). */
bool output_apart(const struct config *c, const char *path, struct err *e);
/* A training may write a model, or a part (train --run), at this name: no file exists, or a file of
 * the same kind. Else 73. */
bool output_replaceable(const char *model, bool part, struct err *e);
/* True: a regular file at path begins as a checkpoint of dnn does. */
bool output_is_checkpoint(const char *path);
/* True: a file can be made or replaced at this name; no file is left. */
bool output_probe(const char *path, struct err *e);
/* The begin of each line of output.metrics. */
#define OUTPUT_METRICS_BEGIN "{\"schema\":\"dnn.epoch/1\","
/* True: a config may be written there. 73 if a config exists and `force` is not given, or any other
 * file. An empty file is replaced. */
bool output_takes_config(const char *path, bool force, struct err *e);
/* Answers replace any file, but no model and no config (73). */
bool output_spares(const char *path, struct err *e);
/* An output of `option` with a line for each row, written after the training: it is no input, no
 * model and no config, it can be made, and data.train and data.valid can be read a second time.
 * Else 64 or 73. */
bool output_beside_rows(const struct config *c, const char *path, const char *option,
                        struct err *e);
/* Warns when the disk has less room than `bytes`. */
void output_room(const char *model, uint64_t bytes);

#endif
