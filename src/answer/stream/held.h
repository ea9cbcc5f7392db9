/* held.h - the rows of one part of the training file, as the split of the training dealt them. The
 * file is read and split again, by the config that the model holds, and compared with what the
 * model remembers of its rows (table/split/fingerprint.h). */
#ifndef DNN_ANSWER_HELD_H
#define DNN_ANSWER_HELD_H

#include "csv/csv.h"
#include "model/file/modelfile.h"

/* The records of the files, in their order. */
struct held {
    uint8_t *wanted; /* bits, as of a csv_choice; NULL: none were asked for */
    uint64_t count;
};

/* part: a word of part_words. False: PART_ROWS (65) if the files are not the training's, the part
 * had a file of its own or no rows, or the model does not say how it was split; or an error of
 * reading them. */
bool held_find(struct held *h, const struct modelfile *f, const char *part, char *const *files,
               size_t count, struct err *e);
void held_free(struct held *h);
/* The choice of these records, or of the first `limit` of them (0: all); count 0: every record. */
struct csv_choice held_choice(const struct held *h, uint64_t limit);

#endif
