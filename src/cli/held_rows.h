/* held_rows.h - the option --part and the files that the rows of a command come from. */
#ifndef DNN_CLI_HELD_ROWS_H
#define DNN_CLI_HELD_ROWS_H

#include "answer/stream/reading.h"
#include "cli/args.h"
#include "config/config.h"

extern const char *const part_option_words[]; /* part_words; NULL at the end */
#define PART_OPTION                                                                                \
    {"part", 0, "PART", part_option_words, 0, 0, 0,                                                \
     "Of the training file, the rows of this part alone, as the split of the training made "       \
     "them: train, valid or test. Without DATA the file is that of the config which stands "       \
     "beside the model under its name, leads.json for leads.dnn."}

/* Sets the inputs, the part and the reading options of a command whose first argument is a model:
 * the other arguments, or with --part alone the training files of the config beside the model.
 * needs: without either it is an error (64). *beside: that config, which the caller frees after the
 * inputs (config_free), or NULL. False: e. */
bool held_rows_read(const struct args *a, bool needs, struct config **beside,
                    struct rows_request *q, struct err *e);
/* Without files and --part in the line: the test rows of the training by the config beside the
 * model, if it and its files exist: the files of data.test, or part "test" of data.train. False:
 * nothing is set, and *why says why. */
bool held_rows_default(const struct args *a, struct config **beside, struct rows_request *q,
                       struct text *why);
#endif
