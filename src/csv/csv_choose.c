/* csv_choose.c - leaves the chosen records of a block: of the others only the line ends stay. */
#include <string.h>

#include "csv/csv_reader.h"

/* True: the next record is wanted. */
static bool wanted(struct csv_choice *c)
{
    const uint64_t at = c->met++;
    return at < c->count && (!c->wanted || (c->wanted[at >> 3] >> (at & 7) & 1));
}

struct keeping {
    struct csv_block *b;
    struct csv_choice *choice;
    char *bytes;  /* of the block */
    size_t kept;  /* bytes */
    int64_t line; /* of the next byte that is kept */
    bool any;     /* a record */
    bool blanks;  /* blank lines may stand between records */
};

/* Keeps bytes from .. end - 1 of `part`, the rest of the block: a record and its line end. The
 * lines before it since the last one become blank; they had at least a byte each. */
static void keep(struct keeping *k, const struct csv_block *part, size_t from, size_t end,
                 int64_t line)
{
    const char feed = k->b->cr ? '\r' : '\n';
    const size_t blank = k->any && k->blanks ? (size_t)(line - k->line) : 0;
    memset(k->bytes + k->kept, feed, blank);
    k->kept += blank;
    k->choice->blanked += blank;
    memmove(k->bytes + k->kept, part->bytes + from, end - from);
    k->line = line + (int64_t)scan_lines(k->bytes + k->kept, end - from, feed);
    k->kept += end - from;
    if (!k->any)
        k->b->first_line = line;
    k->any = true;
}

bool csv_keep_chosen(struct csv *c, struct csv_block *b)
{
    struct csv_buffer *buffer = b->owner;
    struct keeping k = {.b = b,
                        .choice = c->choice,
                        .bytes = buffer->bytes,
                        .blanks = c->name_count != 1};
    struct csv_block rest = *b;
    struct csv_cells *cells = &c->chosen;
    for (bool more = true; more;) {
        struct err ignored = {0}; /* told when the block is parsed */
        struct csv_block next;
        const bool good = csv_cells_parse(&c->dialect, &rest, c->name_count, cells, &ignored);
        const size_t end = good ? rest.size : (size_t)cells->error_offset;
        for (size_t i = 0; i < cells->record_count; i++) {
            const struct csv_record *r = &cells->records[i];
            size_t to = i + 1 < cells->record_count ? (size_t)r[1].offset : end;
            if (wanted(c->choice))
                keep(&k, &rest, (size_t)r->offset, to, r->line);
        }
        more = !good && csv_rest(&rest, cells, &next);
        if (!good && wanted(c->choice))
            keep(&k, &rest, end, more ? (size_t)(next.bytes - rest.bytes) : rest.size,
                 cells->error.line);
        if (more)
            rest = next;
    }
    b->size = k.kept;
    b->valid = 0;
    return k.any;
}
