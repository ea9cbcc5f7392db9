/* ahead.c - see ahead.h. */
#include "answer/stream/ahead.h"

#include "base/mem.h"
#include "base/process/thread.h"

#define BYTES_MOST ((size_t)32 << 20) /* of blocks and their cells: half of the memory of predict */
#define GROWS 13 /* bytes of a block and its cells, of one digit each, for each byte of CSV */

void ahead_start(struct ahead *a, struct csv *c, const struct csv_dialect *d, size_t columns)
{
    *a = (struct ahead){.csv = c,
                        .dialect = d,
                        .columns = columns,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
}

static void read_tile(void *context, unsigned tile, unsigned hand)
{
    struct ahead *a = context;
    struct ahead_block *b = NULL;
    struct err syntax = {0};
    (void)tile; /* each thread takes the next block */
    (void)hand;
    pthread_mutex_lock(&a->lock);
    a->ended = a->ended || !csv_next(a->csv, &a->blocks[a->used].block, &a->error);
    if (!a->ended)
        b = &a->blocks[a->used++];
    pthread_mutex_unlock(&a->lock);
    if (b)
        b->good = csv_cells_parse(a->dialect, &b->block, a->columns, &b->cells, &syntax);
}

static void release(struct ahead *a)
{
    for (unsigned i = 0; i < a->used; i++)
        csv_release(a->csv, &a->blocks[i].block);
    a->used = a->at = 0;
}

/* Blocks of one round. Their memory depends on the number of cells; before the first round, the
 * largest number is assumed. */
static unsigned round_blocks(const struct ahead *a)
{
    unsigned hands = threads_hands(), most = 1;
    size_t block = csv_block_bytes(a->csv), largest = a->room ? 0 : GROWS * block;
    for (unsigned i = 0; i < a->room; i++) {
        const struct csv_cells *c = &a->blocks[i].cells;
        size_t bytes = block + c->cell_room * sizeof *c->cells +
                       c->record_room * sizeof *c->records + c->unescaped_room;
        if (bytes > largest)
            largest = bytes;
    }
    if (largest < BYTES_MOST)
        most = (unsigned)(BYTES_MOST / largest);
    return csv_waits(a->csv) ? 1 : hands < most ? hands : most;
}

struct ahead_block *ahead_next(struct ahead *a, struct err *e)
{
    if (a->at == a->used && !a->ended) {
        unsigned wanted = round_blocks(a);
        release(a);
        if (a->room < wanted) {
            a->blocks = mem_grow(a->blocks, wanted, sizeof *a->blocks);
            for (; a->room < wanted; a->room++)
                a->blocks[a->room] = (struct ahead_block){0};
        }
        threads_run_few(wanted, read_tile, a);
    }
    if (a->at < a->used)
        return &a->blocks[a->at++];
    *e = a->error;
    return NULL;
}

void ahead_end(struct ahead *a)
{
    release(a);
    for (unsigned i = 0; i < a->room; i++)
        csv_cells_free(&a->blocks[i].cells);
    mem_free(a->blocks);
    pthread_mutex_destroy(&a->lock);
}
