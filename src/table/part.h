/* part.h - the parts of the data: training, validation and test rows. */
#ifndef DNN_TABLE_PART_H
#define DNN_TABLE_PART_H

enum part { PART_TRAIN, PART_VALID, PART_TEST, PARTS };
extern const char *const part_names[PARTS]; /* as messages say them: "training", ... */
extern const char *const part_words[PARTS]; /* as files and keys do: "train", ... */

#endif
