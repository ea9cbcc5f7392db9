/* stream_wait.c - see stream_wait.h. */
#include "answer/stream/stream_wait.h"

#include "answer/stream/stream_input.h"
#include "base/mem.h"

/* --- the origin of records --- */

void origins_add(struct origins *o, uint64_t end, size_t at)
{
    if (o->count && o->items[o->count - 1].end >= end)
        return;
    o->items = mem_grow(o->items, o->count + 1, sizeof *o->items);
    o->items[o->count++] = (struct origin){.end = end, .at = at};
}

void origins_free(struct origins *o)
{
    mem_free(o->items);
    *o = (struct origins){.count = 0};
}

/* The first `skip` bytes of the block are gone. */
static void skip_bytes(struct origins *o, uint64_t skip)
{
    size_t kept = 0;
    for (size_t i = 0; i < o->count; i++)
        if (o->items[i].end > skip) {
            o->items[kept] = o->items[i];
            o->items[kept++].end -= skip;
        }
    o->count = kept;
}

static size_t origin_of(const struct stream *t, const struct origins *o,
                        const struct csv_record *r, int64_t *line)
{
    size_t i = 0;
    while (i < o->count && r->offset >= o->items[i].end)
        i++;
    *line = r->line + (i < o->count ? o->items[i].shift : 0);
    return i < o->count ? o->items[i].at : t->at;
}

size_t work_origin(const struct work *w, size_t record, int64_t *line)
{
    return origin_of(w->t, &w->origins, &w->cells->records[record], line);
}

size_t stream_place(const struct stream *t, const struct stream_group *g, uint64_t i,
                    int64_t *line)
{
    return origin_of(t, g->origins, &g->cells->records[g->first + i], line);
}

/* --- records that wait --- */

void wait_for_more(struct work *w, const struct csv_block *block, size_t first)
{
    struct waiting *wait = &w->waiting;
    struct csv_block tail = *block;
    size_t skip = block->size;
    struct err ignored = {0};
    if (first < w->cells->record_count) {
        skip = (size_t)w->cells->records[first].offset;
        tail.first_line = w->cells->records[first].line;
    }
    tail.bytes += skip;
    tail.size -= skip;
    tail.file_offset += skip;
    tail.valid = 0;
    skip_bytes(&w->origins, skip);
    struct text kept = {0};
    wait->used = tail.size;
    if (!tail.size)
        return;
    text_add(&kept, tail.bytes, tail.size);
    text_free(&wait->bytes);
    wait->bytes = kept;
    wait->from = tail;
    wait->from.bytes = kept.data;
    wait->from.owner = NULL;
    csv_cells_parse(&w->t->dialect, &wait->from, w->t->binding.cells, &wait->cells, &ignored);
    w->t->blank_lines -= wait->cells.blank_lines; /* counted again with the next block */
}

void wait_turn(struct work *w, size_t at)
{
    origins_add(&w->origins, w->waiting.bytes.length, at);
    w->waiting.from.path = input_name(w->t, at); /* what names it now goes with that input */
    w->waiting.turned = true;
}

/* The lines of the next block may end in another way. */
static void end_lines(struct waiting *wait, char end)
{
    const struct csv_cells *cells = &wait->cells;
    for (size_t i = 0; i < cells->record_count; i++) {
        const struct csv_record *r = &cells->records[i];
        size_t to = i + 1 < cells->record_count ? (size_t)r[1].offset : wait->bytes.length;
        for (size_t at = (size_t)r->offset + r->bytes; at < to; at++)
            wait->bytes.data[at] = end;
    }
}

static int64_t count_lines(const struct text *bytes, char end)
{
    int64_t lines = 0;
    for (size_t i = 0; i < bytes->length; i++)
        lines += bytes->data[i] == end;
    return lines;
}

/* Records that are not chosen stood between those that wait and the block: their lines. */
static void fill_lines(struct work *w, const struct csv_block *block)
{
    struct waiting *wait = &w->waiting;
    const char end = block->cr ? '\r' : '\n';
    int64_t line = wait->from.first_line + count_lines(&wait->bytes, end);
    for (; line < block->first_line; line++, w->t->choice.blanked++)
        text_char(&wait->bytes, end);
}

/* Before the first block of a further input: lines are counted as in that input, and the lines of
 * the waiting records are shifted. */
static void turn(struct work *w, struct csv_block *block)
{
    struct waiting *wait = &w->waiting;
    const char end = block->cr ? '\r' : '\n';
    if (wait->from.cr != block->cr)
        end_lines(wait, end);
    if (wait->bytes.data[wait->bytes.length - 1] != end)
        text_char(&wait->bytes, end);
    block->first_line -= count_lines(&wait->bytes, end);
    for (size_t i = 0; i < w->origins.count; i++)
        w->origins.items[i].shift += wait->from.first_line - block->first_line;
    block->file_offset -= wait->bytes.length;
    block->valid = 0;
    block->owner = NULL;
    wait->from = *block;
    wait->turned = false;
}

bool wait_join(struct work *w, struct csv_block *block)
{
    struct waiting *wait = &w->waiting;
    struct err ignored = {0};
    const struct csv_block next = *block;
    if (wait->turned)
        turn(w, block);
    else
        fill_lines(w, block);
    text_add(&wait->bytes, next.bytes, next.size);
    *block = wait->from;
    block->bytes = wait->bytes.data;
    block->size = wait->bytes.length;
    wait->used = 0;
    return csv_cells_parse(&w->t->dialect, block, w->t->binding.cells, &wait->cells, &ignored);
}
