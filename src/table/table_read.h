/* table_read.h - the pipeline from files to raw records. Private to table*.c. Blocks are
 * parsed side by side by the pool, a few at a time, and put behind one another in the order of the
 * files: who parsed what cannot be seen. */
#ifndef DNN_TABLE_TABLE_READ_H
#define DNN_TABLE_TABLE_READ_H

#include "table/table.h"

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

struct table_raw {
    struct table *table;       /* rows, blank_lines, extra_columns, sample are filled */
    unsigned char **chunks;    /* = table->rows.chunks, ours to grow */
    size_t chunk_count;
    uint64_t rows_of[PARTS];   /* read from the files of each part; train may be split further */
    uint64_t left_out;         /* rows of data.train that say a part with files of its own */
    struct spill key, time, said, target;
};

/* Reads data.train, data.valid and data.test, decides number_slot.offset of s and fills its
 * vocabularies with provisional values (table/stats.h). The first bad record in the order of the
 * files is the error. False with e->id == ERR_NONE when stop said so. raw->table is to be freed in
 * any case. */
bool table_read(struct table_raw *raw, struct schema *s, const struct data_options *o,
                bool (*stop)(void), struct err *e);

/* The parts that rows of data.train may say and be none of: those with files of their own, as bits.
 * Any only where a column says the part. */
unsigned table_own_parts(const struct data_options *o);

/* table_place.c: sets the file and the line of e to those of a row of the table, from 1; files
 * that cannot be read again change nothing. */
void table_place(const struct schema *s, const struct data_options *o, uint64_t row, struct err *e);

/* table_block.c: one block after the other by one thread. */
#define UNLABELLED_SHOWN 5
struct table_block {
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
struct table_request {
    const struct schema *schema;
    const struct csv_dialect *dialect;
    const struct binding *binding;
    int method;                /* enum split_method, -1 for rows whose part is known */
    bool groups;               /* which of these have a group, that other parts may have too */
    unsigned own_parts;
    bool sample;
};
/* Does the record say a part that has files of its own? It is no row of the table then, and nothing
 * else of it is read. */
struct cell_where;
bool table_leaves_out(unsigned own_parts, const struct cell_where *w);
void table_block_parse(struct table_block *b, const struct table_request *q,
                       const struct csv_block *block, struct csv_cells *cells);
/* New ids are added to the vocabularies of s; table_block_renumber then rewrites the records. */
void table_block_merge(struct table_block *b, struct schema *s);
void table_block_renumber(struct table_block *b);
void table_block_clear(struct table_block *b); /* keeps its rooms */
void table_block_free(struct table_block *b);

#endif
