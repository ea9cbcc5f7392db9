/* stream_wait.c - see stream_work.h: records that wait for further ones of their group, or to be
 * sorted. */
#include <string.h>

#include "answer/stream/stream_work.h"
#include "base/mem.h"

/* The piece that a record of p->cells is of. Sorted records keep the places of their cells. */
static const struct piece *piece_of(const struct pieces *p, const struct csv_record *r)
{
    size_t low = 0, high = p->count;
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        if (p->items[middle].first_cell <= r->first_cell)
            low = middle;
        else
            high = middle;
    }
    return &p->items[low];
}

const struct csv_block *joined_block(const struct work *w, size_t record)
{
    return &piece_of(w->joined, &w->cells->records[record])->block;
}

static size_t place_of(const struct stream *t, const struct pieces *joined,
                       const struct csv_record *r, int64_t *line)
{
    *line = r->line;
    return joined ? piece_of(joined, r)->input : t->in.at;
}

size_t work_place(const struct work *w, size_t record, int64_t *line)
{
    return place_of(w->t, w->joined, &w->cells->records[record], line);
}

size_t stream_place(const struct stream *t, const struct stream_group *g, uint64_t i,
                    int64_t *line)
{
    return place_of(t, g->pieces, &g->cells->records[g->first + i], line);
}

void pieces_add(struct pieces *p, const struct stream *t, const struct csv_block *block,
                size_t input)
{
    struct piece *last = p->count ? &p->items[p->count - 1] : NULL;
    text_add(&p->bytes, block->bytes, block->size);
    if (last && last->input == input && !t->choice.count &&
        last->block.file_offset + last->block.size == block->file_offset &&
        last->block.size + block->size <= CSV_BLOCK_BYTES) {
        last->block.size += block->size;
        return;
    }
    p->items = mem_more(p->items, p->count, sizeof *p->items);
    last = &p->items[p->count++];
    *last = (struct piece){.block = *block, .input = input};
    last->block.path = input_name(t, input); /* it lasts */
    last->block.owner = NULL;
    last->block.valid = 0;
}

/* Appends the records of a piece to those before. */
static bool add_cells(struct csv_cells *all, struct piece *p, struct err *e)
{
    const struct csv_cells *own = &p->cells;
    const size_t cells = all->cell_count + own->cell_count;
    const size_t records = all->record_count + own->record_count;
    if (cells > UINT32_MAX || records >= UINT32_MAX)
        return err_at(e, ERR_CSV_LIMIT, p->block.path, p->block.first_line, 0,
                      "there are too many cells to be sorted: at most %u", UINT32_MAX);
    if (cells > all->cell_room) {
        all->cell_room = 2 * cells;
        all->cells = mem_grow(all->cells, all->cell_room, sizeof *all->cells);
    }
    if (records > all->record_room) {
        all->record_room = 2 * records;
        all->records = mem_grow(all->records, all->record_room, sizeof *all->records);
    }
    if (cells > all->cell_count)
        memcpy(all->cells + all->cell_count, own->cells, own->cell_count * sizeof *own->cells);
    p->first_cell = (uint32_t)all->cell_count;
    for (size_t i = 0; i < own->record_count; i++) {
        all->records[all->record_count + i] = own->records[i];
        all->records[all->record_count + i].first_cell += p->first_cell;
    }
    all->cell_count = cells;
    all->record_count = records;
    all->blank_lines += own->blank_lines;
    return true;
}

bool pieces_parse(struct pieces *p, const struct stream *t, struct err *e)
{
    struct csv_cells *all = &p->cells;
    bool good = true;
    all->cell_count = all->record_count = 0;
    all->blank_lines = 0;
    all->has_error = false;
    size_t at = 0;
    for (size_t i = 0; good && i < p->count; i++) {
        struct piece *piece = &p->items[i];
        struct csv_cells *own = &piece->cells;
        piece->block.bytes = p->bytes.data + at;
        at += piece->block.size;
        good = csv_cells_parse(&t->dialect, &piece->block, t->in.binding.cells, own, e);
        all->dialect = own->dialect;
        if (!add_cells(all, piece, e))
            return false;
        if (!good) {
            all->has_error = true;
            all->error = own->error;
            all->error_offset = own->error_offset;
            all->resume_offset = own->resume_offset;
            all->valid = own->valid;
        }
        mem_free(own->cells);
        mem_free(own->records);
        own->cells = NULL;
        own->records = NULL;
        own->cell_room = own->record_room = 0;
    }
    return good;
}

void pieces_free(struct pieces *p)
{
    for (size_t i = 0; i < p->count; i++)
        csv_cells_free(&p->items[i].cells);
    mem_free(p->items);
    csv_cells_free(&p->cells);
    text_free(&p->bytes);
    *p = (struct pieces){.count = 0};
}

void wait_for_more(struct work *w, size_t first)
{
    if (first == w->cells->record_count)
        return;
    const struct csv_record *r = &w->cells->records[first];
    const struct piece *piece = w->joined ? piece_of(w->joined, r) : NULL;
    struct csv_block tail = piece ? piece->block : w->block;
    struct err ignored = {0};
    tail.bytes += r->offset;
    tail.size -= (size_t)r->offset;
    tail.file_offset += r->offset;
    tail.first_line = r->line;
    pieces_add(&w->waiting, w->t, &tail, piece ? piece->input : w->t->in.at);
    while (piece && ++piece < w->joined->items + w->joined->count)
        pieces_add(&w->waiting, w->t, &piece->block, piece->input);
    pieces_parse(&w->waiting, w->t, &ignored);
    w->t->blank_lines -= w->waiting.cells.blank_lines; /* counted again with the next block */
}
