/* part.h - the parts of the data: training, validation and test rows. */
#ifndef DNN_TABLE_PART_H
#define DNN_TABLE_PART_H

enum part { PART_TRAIN, PART_VALID, PART_TEST, PARTS };
extern const char *const part_names[PARTS]; /* for messages: "training", ... */
extern const char *const part_words[PARTS]; /* for files and keys: "train", ... */

#endif
