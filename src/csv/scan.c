/* scan.c - the fast parser: delimiters and line ends outside quotes by bit masks. One pass; only
 * cells with escapes are copied. It refuses blocks that may have an error, and libcsv writes the
 * message. */
#include "csv/scan.h"

#include <string.h>

#include "base/mem.h"

/* State carried from mask to mask. */
struct scan {
    const struct csv_dialect *d;
    const char *bytes;
    size_t size, columns;
    struct csv_cells *out;
    char end; /* line end */
    uint64_t carry; /* all ones: inside quotes */
    bool cr_before; /* the last byte was a CR outside quotes */
    bool pairs; /* the window or the unfinished cell has a "" pair */
    size_t cell, record; /* their first bytes */
    size_t first_cell;
    int64_t line, record_line;
    size_t unescaped;
    uint64_t marks[SCAN_WINDOW]; /* plain window: its delimiters and line ends */
    uint32_t mark_at[64 * SCAN_WINDOW + SCAN_PLACES_BEYOND];
};

/* Grows the arrays for the cells and records of a window. The first growth estimates the whole
 * block, because growing copies. */
static inline void make_room(struct csv_cells *c, size_t block_size)
{
    const size_t most = 64 * SCAN_WINDOW + 1;
    if (c->cell_room - c->cell_count < most) {
        size_t room = c->cell_room ? c->cell_room + c->cell_room / 2 : block_size / 8;
        c->cells = mem_grow(c->cells, room + 2 * most, sizeof *c->cells);
        c->cell_room = room + 2 * most;
    }
    if (c->record_room - c->record_count < most) {
        size_t room = c->record_room + c->record_room / 2 + 2 * most;
        c->records = mem_grow(c->records, room, sizeof *c->records);
        c->record_room = room;
    }
}

/* Copies a quoted cell without its escapes: a pair "" as one quote, of QUOTE_BACKSLASH also \" and
 * \\ as their second byte. */
static void unescape(struct scan *s, struct csv_cell *cell)
{
    struct csv_cells *out = s->out;
    if (out->unescaped_room < s->size) {
        /* no cell points into it yet: allocate for all */
        mem_free(out->unescaped);
        out->unescaped = mem_alloc(s->size, 1);
        out->unescaped_room = s->size;
    }
    char *to = out->unescaped + s->unescaped, *from = to;
    const char *at = cell->text, *end = at + cell->length;
    while (at < end) {
        if (s->d->quote == QUOTE_BACKSLASH) {
            at += *at == '"' || scan_is_escape(s->d, at, end);
            *to++ = *at++;
            continue;
        }
        const char *quote = memchr(at, '"', (size_t)(end - at));
        size_t piece = (size_t)((quote ? quote + 1 : end) - at);
        memcpy(to, at, piece);
        to += piece;
        at += piece + (quote != NULL);
    }
    cell->text = from;
    cell->length = (uint32_t)(to - from);
    cell->escaped = cell->length && memchr(from, '"', cell->length);
    s->unescaped += cell->length;
}

static bool is_blank(const struct csv_dialect *d, char c)
{
    return (c == ' ' || c == '\t') && c != d->delimiter;
}

/* Trims a cell that begins or ends with a blank or quote. The quotes are valid. */
static __attribute__((noinline)) void uncommon_cell(struct scan *s, struct csv_cell *cell)
{
    const char *text = cell->text, *end = text + cell->length;
    while (text < end && is_blank(s->d, *text))
        text++;
    while (text < end && is_blank(s->d, end[-1]))
        end--;
    bool quoted = text < end && *text == '"' && !csv_unquoted(s->d);
    if (quoted) {
        text++;
        end--;
    }
    cell->text = text;
    cell->length = (uint32_t)(end - text);
    cell->quoted = quoted;
    bool slash = quoted && s->d->quote == QUOTE_BACKSLASH && memchr(text, '\\', cell->length);
    if (slash || (quoted && s->pairs && memchr(text, '"', cell->length)))
        unescape(s, cell);
}

static inline void append_cell(struct scan *s, struct csv_cell *cell, size_t end)
{
    const char *text = s->bytes + s->cell;
    size_t length = end - s->cell;
    *cell = (struct csv_cell){.text = text, .length = (uint32_t)length};
    /* bytes above '"' begin a plain cell, bytes above ' ' end one; quoted cells begin with a
     * quote */
    if (length && ((unsigned char)text[0] <= '"' || (unsigned char)text[length - 1] <= ' '))
        uncommon_cell(s, cell);
}

/* Ends a record after its last cell. False: it may be above a limit. */
static inline bool append_record(struct scan *s, size_t end)
{
    struct csv_cells *out = s->out;
    size_t cells = out->cell_count - s->first_cell;
    const struct csv_cell *first = out->cells + s->first_cell;
    if (end - s->record > CSV_MOST_FIELD)
        return false; /* libcsv measures its fields */
    if (cells == 1 && first->length == 0 && !first->quoted && s->columns != 1) {
        out->cell_count--;
        out->blank_lines++;
        return true;
    }
    if (cells > CSV_MOST_COLUMNS)
        return false;
    out->records[out->record_count++] = (struct csv_record){.first_cell = (uint32_t)s->first_cell,
                                                            .cells = (uint32_t)cells,
                                                            .offset = s->record,
                                                            .bytes = (uint32_t)(end - s->record),
                                                            .line = s->record_line};
    s->first_cell = out->cell_count;
    return true;
}

/* Appends the cells that end in one block. marks: delimiters and line ends outside quotes. hidden:
 * line ends inside quotes. */
static inline bool parse_marks(struct scan *s, uint64_t marks, uint64_t line_ends, uint64_t hidden,
                               size_t base)
{
    for (; marks; marks &= marks - 1) {
        uint64_t mark = marks & -marks;
        size_t at = base + (size_t)__builtin_ctzll(marks);
        struct csv_cell *cell = s->out->cells + s->out->cell_count++;
        if (!(mark & line_ends)) {
            append_cell(s, cell, at);
            s->cell = at + 1;
            continue;
        }
        size_t end = at;
        end -= s->end == '\n' && end > s->cell && s->bytes[end - 1] == '\r';
        append_cell(s, cell, end);
        if (!append_record(s, end))
            return false;
        if (hidden) {
            s->line += __builtin_popcountll(hidden & (mark - 1));
            hidden &= -mark;
        }
        s->line++;
        s->cell = s->record = at + 1;
        s->record_line = s->line;
    }
    if (hidden)
        s->line += __builtin_popcountll(hidden);
    return true;
}

static bool parse_window(struct scan *s, const struct scan_masks *masks, size_t blocks, size_t at)
{
    bool feeds = s->end == '\n';
    for (size_t i = 0; i < blocks; i++) {
        const struct scan_masks *m = masks + i;
        size_t base = at + 64 * i;
        uint64_t inside = s->carry, ends = feeds ? m->feed : m->cr, other = feeds ? m->cr : m->feed;
        if (m->quote) {
            inside ^= scan_parity(m->quote);
            if (scan_quotes(s->d, m, inside, s->bytes, s->size, base))
                return false;
            uint64_t closes = m->quote & ~inside, opens = m->quote & inside;
            bool before = base && (s->carry == 0) && s->bytes[base - 1] == '"';
            s->pairs |= (opens & (closes << 1 | before)) != 0;
            s->carry = -(inside >> 63);
        }
        other &= ~inside;
        if (other | s->cr_before) {
            /* LF must follow CR; files with CR line ends have no LF */
            if (!feeds || (other << 1 | s->cr_before) & ~m->feed)
                return false;
            s->cr_before = other >> 63;
        }
        uint64_t hidden = ends & inside;
        ends &= ~inside;
        if (!parse_marks(s, (m->delimiter & ~inside) | ends, ends, hidden, base))
            return false;
    }
    return true;
}

/* True if the window has no quotes and no blanks beside a mark: cells are the bytes between marks.
 * Does not check the first and last byte. */
static bool is_plain(struct scan *s, const struct scan_masks *masks, size_t blocks)
{
    bool feeds = s->end == '\n';
    uint64_t odd = s->carry | s->cr_before, mark_before = 0, blank_before = 0, cr_before = 0;
    for (size_t i = 0; i < blocks; i++) {
        const struct scan_masks *m = masks + i;
        uint64_t ends = feeds ? m->feed : m->cr, marks = m->delimiter | ends;
        uint64_t all = marks | m->cr;
        odd |= m->quote;
        odd |= m->blank & (all << 1 | mark_before);
        odd |= all & (m->blank << 1 | blank_before);
        odd |= feeds ? (m->cr << 1 | cr_before) & ~m->feed : m->feed;
        mark_before = all >> 63;
        blank_before = m->blank >> 63;
        cr_before = m->cr >> 63;
        s->marks[i] = marks;
    }
    return !(odd | (cr_before & feeds));
}

/* Appends the cells that end in a plain window. The first cell may begin before the window, and the
 * last of a record may end with a CR: these are trimmed. */
static bool parse_plain(struct scan *s, size_t blocks, size_t at)
{
    scan_places_fn *places = scan_places_choose();
    const uint32_t *mark = s->mark_at;
    const uint32_t *last = mark + places(s->marks, blocks, (uint32_t)at, s->mark_at);
    struct csv_cells *out = s->out;
    if (mark < last && s->bytes[*mark] != s->end) {
        append_cell(s, out->cells + out->cell_count++, *mark);
        s->cell = *mark++ + 1;
    }
    while (mark < last) {
        struct csv_cell *cell = out->cells + out->cell_count;
        uint32_t from = (uint32_t)s->cell;
        for (; mark < last && s->bytes[*mark] != s->end; from = *mark++ + 1)
            *cell++ = (struct csv_cell){.text = s->bytes + from, .length = *mark - from};
        s->cell = from;
        out->cell_count = (size_t)(cell - out->cells);
        if (mark == last)
            break;
        size_t stop = *mark;
        stop -= s->end == '\n' && stop > s->cell && s->bytes[stop - 1] == '\r';
        append_cell(s, out->cells + out->cell_count++, stop);
        if (!append_record(s, stop))
            return false;
        s->record_line = ++s->line;
        s->cell = s->record = (size_t)*mark++ + 1;
    }
    return true;
}

static bool parse_rest(struct scan *s)
{
    if (s->carry || s->cr_before)
        return false;
    if (s->record == s->size)
        return true;
    make_room(s->out, s->size);
    append_cell(s, s->out->cells + s->out->cell_count++, s->size);
    return append_record(s, s->size);
}

enum scan_result scan_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                            struct csv_cells *out)
{
    struct scan s = {.d = d,
                     .bytes = b->bytes,
                     .size = b->size,
                     .columns = columns,
                     .out = out,
                     .end = b->cr ? '\r' : '\n',
                     .line = b->first_line,
                     .record_line = b->first_line};
    struct scan_masks masks[SCAN_WINDOW];
    struct scan_open open = {0};
    out->cell_count = out->record_count = 0;
    out->blank_lines = 0;
    out->has_error = false;
    for (size_t at = 0, blocks; at < b->size; at += 64 * blocks) {
        blocks = scan_window(d, b->bytes, b->size, at, &open, masks);
        s.pairs = s.pairs && s.cell < at;
        make_room(out, b->size);
        bool good = is_plain(&s, masks, blocks) ? parse_plain(&s, blocks, at)
                                                : parse_window(&s, masks, blocks, at);
        if (!good)
            return SCAN_REFUSED;
    }
    return parse_rest(&s) ? SCAN_DONE : SCAN_REFUSED;
}
