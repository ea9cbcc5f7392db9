/* cut.c - finds misplaced quotes, ends of records, and the end of a block. */
#include <string.h>

#include "csv/scan.h"

static bool is_blank(const struct csv_dialect *d, char c)
{
    return (c == ' ' || c == '\t') && c != d->delimiter;
}

static bool ends_cell(const struct csv_dialect *d, char c)
{
    return c == d->delimiter || c == '\n' || c == '\r';
}

/* True if a quote with blanks beside it is valid: after the blanks is the end of a cell or of the
 * bytes. */
static bool opens_cell(const struct csv_dialect *d, const char *bytes, size_t at)
{
    while (at && is_blank(d, bytes[at - 1]))
        at--;
    return at == 0 || ends_cell(d, bytes[at - 1]);
}

static bool closes_cell(const struct csv_dialect *d, const char *bytes, size_t size, size_t at)
{
    for (at++; at < size && is_blank(d, bytes[at]); at++)
        ;
    return at == size || ends_cell(d, bytes[at]);
}

uint64_t scan_quotes(const struct csv_dialect *d, const struct scan_masks *m, uint64_t inside,
                     const char *bytes, size_t size, size_t base)
{
    uint64_t opens = m->quote & inside, closes = m->quote & ~inside;
    uint64_t beyond = size - base < 64 ? ~UINT64_C(0) << (size - base) : 0;
    uint64_t neighbour = m->delimiter | m->feed | m->cr | m->blank | beyond;
    char before = base ? bytes[base - 1] : '\n', after = base + 64 < size ? bytes[base + 64] : '\n';
    bool blank_before = is_blank(d, before), blank_after = is_blank(d, after);
    bool good_before = blank_before || ends_cell(d, before) || before == '"';
    bool good_after = blank_after || ends_cell(d, after) || after == '"';
    uint64_t bad = opens & ~((neighbour | closes) << 1 | good_before);
    bad |= closes & ~((neighbour | m->quote) >> 1 | (uint64_t)good_after << 63);

    uint64_t beside = opens & (m->blank << 1 | blank_before);
    for (; beside; beside &= beside - 1)
        if (!opens_cell(d, bytes, base + (size_t)__builtin_ctzll(beside)))
            bad |= beside & -beside;
    beside = closes & (m->blank >> 1 | (uint64_t)blank_after << 63);
    for (; beside; beside &= beside - 1)
        if (!closes_cell(d, bytes, size, base + (size_t)__builtin_ctzll(beside)))
            bad |= beside & -beside;
    return bad;
}

/* --- the walk from record to record --- */

struct walk {
    const struct csv_dialect *d;
    char end;
    const char *bytes;
    size_t size, most;
    size_t cut; /* best result so far */
    size_t any; /* last end of a record, even if an error follows */
    bool reasons;  /* no cut between a bad record's line and the quote that explains it */
    size_t reason; /* first byte after that quote */
    size_t record; /* start of the current record */
};

/* A record ends before `next`. False: the result is final. */
static bool ends(struct walk *w, size_t next)
{
    if (next > w->most && w->cut)
        return false;
    w->any = w->record = next;
    if (next >= w->reason)
        w->cut = next;
    return next < w->most || !w->cut;
}

/* Returns the start of the line after `at`, 0 if there is none. */
static size_t line_end(const struct walk *w, size_t at)
{
    const char *p = memchr(w->bytes + at, w->end, w->size - at);
    return p ? (size_t)(p - w->bytes) + 1 : 0;
}

enum walked { WALK_DONE, WALK_BAD, WALK_OPEN };

/* Continues at w->record until the result is final, a quote is misplaced, or the bytes end. */
static enum walked walk(struct walk *w)
{
    uint64_t carry = 0;
    struct scan_masks m[SCAN_WINDOW];
    struct scan_open open = {0};
    /* restart after a bad record: ignore the quotes before w->record */
    const char *bytes = w->bytes + w->record;
    size_t start = w->record, size = w->size - start;
    for (size_t at = 0, blocks; at < size; at += 64 * blocks) {
        blocks = scan_window(w->d, bytes, size, at, &open, m);
        for (size_t i = 0; i < blocks; i++) {
            size_t base = at + 64 * i;
            uint64_t line_ends = w->end == '\n' ? m[i].feed : m[i].cr, inside = carry, bad = 0;
            if (m[i].quote) {
                inside ^= scan_parity(m[i].quote);
                bad = scan_quotes(w->d, &m[i], inside, bytes, size, base);
                carry = -(inside >> 63);
            }
            line_ends &= ~inside;
            if (bad)
                line_ends &= (bad & -bad) - 1;
            for (; line_ends; line_ends &= line_ends - 1)
                if (!ends(w, start + base + (size_t)__builtin_ctzll(line_ends) + 1))
                    return WALK_DONE;
            if (bad) {
                size_t quote = start + base + (size_t)__builtin_ctzll(bad);
                w->reason = w->reasons && quote >= w->reason ? quote + 1 : w->reason;
                return WALK_BAD;
            }
        }
    }
    return carry ? WALK_OPEN : WALK_DONE;
}

static bool no_quotes(const struct csv_dialect *d, const char *bytes, size_t size)
{
    return csv_unquoted(d) || !memchr(bytes, '"', size);
}

static size_t find(const struct csv_dialect *d, bool cr, const char *bytes, size_t size,
                   size_t most, bool last, bool reasons)
{
    if (last && size <= most)
        return size;
    struct walk w = {.d = d,
                     .end = cr ? '\r' : '\n',
                     .bytes = bytes,
                     .size = size,
                     .most = most,
                     .reasons = reasons};
    if (no_quotes(d, bytes, size < most ? size : most)) {
        const char *p = memrchr(bytes, w.end, size < most ? size : most);
        if (p)
            return (size_t)(p - bytes) + 1;
    }
    for (;;) {
        enum walked how = walk(&w);
        /* An open quote makes a bad record only if nothing can close it. */
        bool bad = how == WALK_BAD || (how == WALK_OPEN && !w.cut && last);
        size_t next = bad ? line_end(&w, w.record) : 0;
        if (!next || !ends(&w, next))
            return w.cut ? w.cut : last && w.any ? w.any : last ? size : 0;
    }
}

size_t cut_find(const struct csv_dialect *d, bool cr, const char *bytes, size_t size, size_t most,
                bool last)
{
    return find(d, cr, bytes, size, most, last, false);
}

size_t cut_reasons(const struct csv_dialect *d, bool cr, const char *bytes, size_t size,
                   size_t most, bool last)
{
    return find(d, cr, bytes, size, most, last, true);
}

static bool all_blank(const struct csv_dialect *d, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!is_blank(d, bytes[i]) && bytes[i] != '\n' && bytes[i] != '\r')
            return false;
    return true;
}

size_t cut_first(const struct csv_dialect *d, bool cr, const char *bytes, size_t size)
{
    for (size_t at = 0, next; at < size; at += next) {
        next = find(d, cr, bytes + at, size - at, 1, false, true);
        if (!next)
            break;
        if (!all_blank(d, bytes + at, next))
            return at + next;
    }
    return 0;
}
