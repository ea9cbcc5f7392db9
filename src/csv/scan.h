/* scan.h - sixty-four bytes at a time as bit masks: what the scanner and the cutter of blocks see
 * of a file. Bit i stands for byte i. Private to src/csv and src/table.
 *
 * Quotes are followed by their parity: in a file that keeps the rules every quote is the first or
 * the last of a cell, or one of a pair inside; scan_quotes finds those that are not, by their
 * neighbours alone. */
#ifndef DNN_CSV_SCAN_H
#define DNN_CSV_SCAN_H

#include "csv/csv.h"

struct scan_masks {
    uint64_t quote, delimiter, feed, cr;
    uint64_t blank; /* space and tab, but for a tab that delimits */
};
/* Masks of `blocks` times 64 bytes. One function a kind of processor; all give the same. */
typedef void scan_masks_fn(const unsigned char *bytes, size_t blocks, char delimiter,
                           struct scan_masks *out);
scan_masks_fn scan_masks_plain, scan_masks_sse2, scan_masks_avx2, scan_masks_avx512;
/* The best one that this processor runs. */
scan_masks_fn *scan_masks_choose(void);

#define SCAN_WINDOW 64 /* blocks looked at together */

/* Masks of up to SCAN_WINDOW blocks at bytes + at; the last one may be cut short by size. Returns
 * their number. Without quoting (tsv) the quote masks are empty. */
size_t scan_window(const struct csv_dialect *d, const char *bytes, size_t size, size_t at,
                   struct scan_masks out[SCAN_WINDOW]);

/* Where the bits of `blocks` masks stand, ascending, bit 0 of the first at `base`; returns how many
 * there are. `out` has room for 64 a block and SCAN_PLACES_BEYOND more, which may be written. */
#define SCAN_PLACES_BEYOND 64
typedef size_t scan_places_fn(const uint64_t *masks, size_t blocks, uint32_t base, uint32_t *out);
scan_places_fn scan_places_plain, scan_places_avx512;
scan_places_fn *scan_places_choose(void);
#if defined(__x86_64__)
/* Can this processor do what scan_places_avx512 does? */
static inline bool scan_places_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

/* Bit i becomes the parity of bits 0..i. */
static inline uint64_t scan_parity(uint64_t x)
{
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    return x ^ x << 32;
}

/* Quotes of a block at `base` that stand where none can be. inside: scan_parity of the quotes from
 * the start of the bytes on (set from an opening quote to the byte before the closing one).
 * Neighbours before the first byte and behind the last one count as line ends. */
uint64_t scan_quotes(const struct csv_dialect *d, const struct scan_masks *m, uint64_t inside,
                     const char *bytes, size_t size, size_t base);

/* How many bytes in front are ASCII and no NUL; may be fewer by less than 64. */
size_t scan_ascii(const char *bytes, size_t size);

/* Physical line ends: every `end` byte of bytes. */
int64_t scan_lines(const char *bytes, size_t size, char end);

/* Where a block of whole records is to end: behind the last record that ends within `most` bytes,
 * else behind the first that ends later, else 0. last: the file ends with these bytes. Then a
 * record that does not end is ended: by the end of the file, or, when a quote is open, as a bad
 * record by the end of its first line. */
size_t cut_find(const struct csv_dialect *d, bool cr, const char *bytes, size_t size, size_t most,
                bool last);
/* The same where blocks are cut by chance, and what is said of a bad record must not depend on it:
 * never between its first line and the quote, lines later, that shows what is wrong. */
size_t cut_reasons(const struct csv_dialect *d, bool cr, const char *bytes, size_t size,
                   size_t most, bool last);
/* Behind the line end of the first record that is not blank; 0 when it is not among these bytes.
 * Behind a bad record's line there is the quote that shows what is wrong. */
size_t cut_first(const struct csv_dialect *d, bool cr, const char *bytes, size_t size);

/* The cells of a block as csv_cells_parse gives them; refused when libcsv must decide
 * (libcsv_parse, csv_room.h). */
enum scan_result { SCAN_DONE, SCAN_REFUSED };
enum scan_result scan_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                            struct csv_cells *out);

#endif
