/* leak.h - does one column alone give the target away? Shared by training (all columns of a
 * table) and init (cells of a sample). */
#ifndef DNN_TABLE_LEAK_H
#define DNN_TABLE_LEAK_H

#include <stdbool.h>
#include <stdint.h>

/* Rows that are looked at, evenly spaced over the data. */
#define LEAK_ROWS 20000u

/* The target of count rows: classes numbered from 0 (label), or values (classes 0). */
struct leak_target {
    uint32_t count, classes;
    const int32_t *label;
    const float *value;
};

/* How much of the target the column alone explains, 0 to 1, judged on each row by the others:
 * classes: the share of the errors of always answering the largest class that goes away; two
 * classes: the column as a score, 2 |AUC - 1/2|; values: the squared correlation, or the share
 * of variance between groups. NaN is a missing number, group 0 a missing category. */
double leak_of_number(const struct leak_target *t, const float *number);
double leak_of_group(const struct leak_target *t, const int32_t *group, uint32_t groups);
/* Above this a column is warned of. */
bool leak_suspect(const struct leak_target *t, double explained);

struct dataset;
struct encoder;
struct remarks;
struct split;
/* Remarks about features that give the target away (N10), rows that are in training and another
 * part (N11), numbers that look like identifiers (C25). hash: rows_hash of d, whose rows are raw.
 * */
void leak_check(const struct encoder *c, const struct dataset *d, const struct split *split,
                const uint64_t *hash, struct remarks *remarks);

#endif
