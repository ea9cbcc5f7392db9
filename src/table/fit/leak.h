/* leak.h - detects columns that alone determine the target. Used by training (columns of a table)
 * and init (cells of a sample). */
#ifndef DNN_TABLE_LEAK_H
#define DNN_TABLE_LEAK_H

#include <stdbool.h>
#include <stdint.h>

/* Rows examined, evenly spaced over the data. */
#define LEAK_ROWS 20000u

/* The target of `count` rows: classes from 0 (label), or values (classes 0). */
struct leak_target {
    uint32_t count, classes;
    const int32_t *label;
    const float *value;
};

/* Measures how much of the target one column explains, 0 to 1; each row is judged by the others.
 * Classes: the share of the errors of the majority answer that the column removes. Two classes: the
 * column as a score, 2 |AUC - 1/2|; an estimate below 0.8. Values: the squared correlation, or the
 * share of variance between groups. NaN: missing number; group 0: missing category. */
double leak_of_number(const struct leak_target *t, const float *number);
double leak_of_group(const struct leak_target *t, const int32_t *group, uint32_t groups);
/* True if the value is high enough for a warning. */
bool leak_suspect(const struct leak_target *t, double explained);

/* The hash of a row's inputs, and of its inputs and target. */
struct leak_row { uint64_t inputs, whole; };
/* Sorts the rows. *copies: rows that equal another one. True: equal inputs often have different
 * targets, so rows of few columns with few values are equal by chance. */
bool leak_by_chance(struct leak_row *rows, uint32_t count, uint32_t *copies);

struct dataset;
struct encoder;
struct remarks;
struct split;
/* Adds remarks: features that determine the target (N10), training rows that are also in another
 * part (N11), numbers that look like identifiers (C25). hash: rows_hash of d. The rows of d must be
 * raw. */
void leak_check(const struct encoder *c, const struct dataset *d, const struct split *split,
                const uint64_t *hash, struct remarks *remarks);

#endif
