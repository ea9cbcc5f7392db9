/* statistics.h - target statistics: smoothed means of the target by key, as numbers of a record
 * after the columns' numbers. A key is a value of a column, or a pair of values. An encoder holds
 * them; encoder_apply looks them up in training and answers alike, and a view replaces training
 * rows' numbers by statistics out of fold. */
#ifndef DNN_TABLE_STATISTICS_H
#define DNN_TABLE_STATISTICS_H

#include "base/rowfmt.h"
#include "table/schema/options.h"

/* Limits: entries of a table, columns whose pairs are tried, classes with a value each, values of a
 * column from which on its rows are counted. */
#define STATISTICS_ENTRIES_MOST 65536
#define STATISTICS_PAIRED_MOST 18
#define STATISTICS_CLASSES_MOST 10
#define STATISTICS_COUNTED_LEAST 20
#define STATISTICS_ABSENT UINT32_MAX

/* A column's values as ids: 0 missing, 1 unknown, then the values. */
struct statistic_key {
    uint32_t column;     /* of the schema */
    uint32_t slot;       /* of its number or category */
    bool number;
    uint32_t count;      /* values; ids are below count + 2 */
    float *values;       /* number: [count], ascending, as records store them; else NULL */
};
/* The statistics of each value of a key, or of each pair of values. */
struct statistic_table {
    uint32_t keys[2];    /* places in statistics.keys; the second ABSENT: one column */
    uint32_t means;      /* numbers of an entry: 0, 1, or one a class ... */
    bool counted;        /* ... and log(1 + rows) after them */
    uint32_t first;      /* its first number among the numbers of all tables */
    uint32_t count;      /* entries */
    uint64_t *codes;     /* [count], ascending: id, or id of the first << 32 | id of the second */
    float *values;       /* [count][means + counted]; of other codes: 0 */
    uint32_t *places;    /* finds the entry of a code: statistics_index */
    uint32_t mask;       /* 0: by id, or by first * stride + second; else a hash table */
    uint32_t stride;
};
struct statistics {
    struct statistic_key *keys;
    uint32_t key_count;
    struct statistic_table *tables;
    uint32_t table_count;
    uint32_t numbers;    /* of all tables */
    uint32_t first;      /* slot of the first one in a record */
};

struct statistics *statistics_new(uint32_t keys, uint32_t tables);
void statistics_free(struct statistics *s);
/* Sets the first number of each table, and their count. */
void statistics_layout(struct statistics *s);
/* Builds the index of entries; call it before statistics_apply. */
void statistics_index(struct statistics *s);
/* Returns the id of a stored number. */
uint32_t statistic_id(const struct statistic_key *k, float v);
/* Fills the numbers of `count` records from their raw numbers and category slots. */
void statistics_apply(const struct statistics *s, const struct rowfmt *f, unsigned char *records,
                      size_t count);
static inline uint32_t statistic_width(const struct statistic_table *t)
{
    return t->means + t->counted;
}

#endif
