/* ahead.c - see ahead.h. */
#include "run/ahead.h"

#include "base/mem.h"
#include "base/thread.h"

void ahead_start(struct ahead *a, struct csv *c, const struct csv_dialect *d, size_t columns)
{
    *a = (struct ahead){.csv = c,
                        .dialect = d,
                        .columns = columns,
                        .lock = PTHREAD_MUTEX_INITIALIZER};
}

static void read_tile(void *context, unsigned tile, unsigned thread)
{
    struct ahead *a = context;
    struct ahead_block *b = NULL;
    struct err syntax = {0};
    (void)tile; /* whoever comes takes the next block */
    (void)thread;
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

struct ahead_block *ahead_next(struct ahead *a, struct err *e)
{
    if (a->at == a->used && !a->ended) {
        unsigned wanted = csv_waits(a->csv) ? 1 : threads_count();
        release(a);
        if (a->room < wanted) {
            a->blocks = mem_grow(a->blocks, wanted, sizeof *a->blocks);
            for (; a->room < wanted; a->room++)
                a->blocks[a->room] = (struct ahead_block){0};
        }
        threads_run(wanted, read_tile, a);
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
