/* rare.h - labels that would be in no training row: their samples stay in training, so that every
 * run knows every label. Such a sample is not in validation or test. With the key of a split
 * (group, hash) its whole group stays. */
#ifndef DNN_TABLE_RARE_H
#define DNN_TABLE_RARE_H

#include "table/dataset/dataset.h"

enum { RARE_NAMED = 3 };       /* labels kept by name */
struct rare {
    uint64_t labels;           /* found so far */
    struct rare_label {
        uint32_t id;           /* in schema.labels */
        uint64_t rows, first;  /* records that have it, and the first of them */
    } named[RARE_NAMED];
};

/* Sets keep[i] of the listed samples (NULL: all of d) with a label that no sample with trained[i]
 * has; of other samples it is 0. Records of weight 0 count for nothing. Adds the labels to r, which
 * may be NULL. False: every label is trained on; keep is not set. */
bool rare_find(const struct dataset *d, const uint32_t *samples, uint64_t count,
               const uint8_t *trained, uint8_t *keep, struct rare *r);
/* Warns of the labels. */
void rare_tell(const struct rare *r, const struct dataset *d, const struct data_options *o,
               struct remarks *remarks);

#endif
