/* dataset_read.h - the pipeline from files to raw records. Private to dataset*.c. The pool parses
 * blocks in parallel, a few at a time, and appends them in the order of the files, so the result
 * does not depend on threads. */
#ifndef DNN_TABLE_DATASET_READ_H
#define DNN_TABLE_DATASET_READ_H

#include "table/cell.h"
#include "table/dataset.h"

/* One value a row while the number of rows is not known: chunks that are never moved. */
struct spill {
    size_t size; /* of a value; 0: not kept */
    unsigned char **chunks;
    uint64_t count;
};
void spill_add(struct spill *s, const void *values, uint64_t count);
/* The values as one array of their exact number (mem_free), NULL when they are not kept. Empties s.
 * */
void *spill_flat(struct spill *s);
void spill_free(struct spill *s);

struct reading {
    struct dataset *data;      /* rows, counters, sample and remarks are filled */
    unsigned char **chunks;    /* = data->rows.chunks, ours to grow */
    size_t chunk_count;
    struct spill key, time, said, target;
};

/* Reads data.train, data.valid and data.test; decides number_slot.offset of the dataset's schema
 * and fills its vocabularies. The first bad record in the order of the files is the error. False
 * with e->id == ERR_NONE when stop ended it. */
bool dataset_read(struct reading *r, const struct data_options *o, bool (*stop)(void),
                  struct err *e);

/* Bits of the parts with files of their own, where a column says the part: a row of data.train that
 * says one of them is left out. */
unsigned dataset_own_parts(const struct data_options *o);

/* dataset_block.c: one block, parsed by one thread. */
#define UNLABELLED_SHOWN 5
struct block_rows {
    uint64_t rows, blank_lines, left_out;
    unsigned char *records;
    size_t records_room;       /* in bytes */
    struct schema schema;      /* a copy with vocabularies of its own */
    uint64_t *key;             /* per row, those that the split needs */
    double *time, *target;
    uint8_t *said;
    size_t rows_room;
    struct text sample;        /* the first rows, when they are wanted */
    uint64_t *sample_ends;
    uint32_t sample_rows;
    struct drift drift;        /* vanished only */
    uint64_t unlabelled;
    int64_t unlabelled_lines[UNLABELLED_SHOWN];
    const char *path;
    bool failed;
    struct err error;
    uint32_t **map; /* by category slot, then the labels: provisional id here -> in the table */
};
struct block_request {
    const struct schema *schema;
    const struct csv_dialect *dialect;
    const struct binding *binding;
    int method;                /* enum split_method, -1 for rows whose part is known */
    bool groups;               /* which of these have a group, that other parts may have too */
    unsigned own_parts;
    bool sample;
};
/* Does the record say a part that has files of its own? Then it is no row of the dataset, and
 * nothing else of it is read. */
struct cell_where;
bool dataset_leaves_out(unsigned own_parts, const struct cell_where *w);
void block_parse(struct block_rows *b, const struct block_request *q,
                       const struct csv_block *block, struct csv_cells *cells);
/* New ids are added to the vocabularies of s; block_renumber then rewrites the records. */
void block_merge(struct block_rows *b, struct schema *s);
void block_renumber(struct block_rows *b);
void block_clear(struct block_rows *b); /* keeps its rooms */
void block_free(struct block_rows *b);

#endif
