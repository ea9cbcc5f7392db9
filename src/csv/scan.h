/* scan.h - scans 64 bytes at a time into bit masks, for the parser and for cutting blocks. Bit i is
 * byte i. Private to src/csv and src/table.
 *
 * The parity of the quotes tells which bytes are quoted. In a valid file every quote is the
 * first or last of a cell, or one of a pair inside it; scan_quotes finds the others by their
 * neighbours. */
#ifndef DNN_CSV_SCAN_H
#define DNN_CSV_SCAN_H

#include "csv/csv.h"

struct scan_masks {
    uint64_t quote, delimiter, feed, cr;
    uint64_t blank; /* space and tab; not a tab that is the delimiter */
};
/* Computes the masks of `blocks` times 64 bytes. One function for each kind of processor, equal
 * results. */
typedef void scan_masks_fn(const unsigned char *bytes, size_t blocks, char delimiter,
                           struct scan_masks *out);
scan_masks_fn scan_masks_plain, scan_masks_sse2, scan_masks_avx2, scan_masks_avx512;

#define SCAN_WINDOW 64 /* blocks processed together */

/* State for QUOTE_LENIENT and QUOTE_BACKSLASH, from window to window; zero at first. */
struct scan_open {
    bool inside;  /* a quoted cell is open */
    size_t after; /* quotes before this place are decided */
};
/* True: with QUOTE_BACKSLASH, the byte at `at` inside quotes makes the next one a character. */
static inline bool scan_is_escape(const struct csv_dialect *d, const char *at, const char *end)
{
    return d->quote == QUOTE_BACKSLASH && *at == '\\' && at + 1 < end &&
           (at[1] == '"' || at[1] == '\\');
}
/* Computes the masks of up to SCAN_WINDOW blocks at bytes + at; `size` may cut the last one short.
 * Returns the number of blocks. Quotes that are characters are not in the masks. Windows must
 * follow one another from 0 on. */
size_t scan_window(const struct csv_dialect *d, const char *bytes, size_t size, size_t at,
                   struct scan_open *open, struct scan_masks out[SCAN_WINDOW]);

/* Writes the positions of the bits of `blocks` masks, ascending; bit 0 of the first is `base`.
 * Returns their number. `out` needs room for 64 for each block plus SCAN_PLACES_BEYOND, which may
 * be overwritten. */
#define SCAN_PLACES_BEYOND 64
typedef size_t scan_places_fn(const uint64_t *masks, size_t blocks, uint32_t base, uint32_t *out);
scan_places_fn scan_places_plain, scan_places_avx512;
scan_places_fn *scan_places_choose(void);
#if defined(__x86_64__)
/* True if this processor can run scan_places_avx512. */
static inline bool scan_places_has_avx512(void)
{
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi2");
}
#endif

/* Sets bit i to the parity of bits 0..i. */
static inline uint64_t scan_parity(uint64_t x)
{
    x ^= x << 1;
    x ^= x << 2;
    x ^= x << 4;
    x ^= x << 8;
    x ^= x << 16;
    return x ^ x << 32;
}

/* Finds the misplaced quotes of a block at `base`. inside: scan_parity of the quotes from the start
 * of the bytes (set from an opening quote to the byte before the closing one). Before the first
 * byte and after the last one is a line end. */
uint64_t scan_quotes(const struct csv_dialect *d, const struct scan_masks *m, uint64_t inside,
                     const char *bytes, size_t size, size_t base);

/* Counts the leading ASCII bytes without NUL; the result may be up to 63 too small. */
size_t scan_ascii(const char *bytes, size_t size);

/* Counts the bytes equal to `end`. */
int64_t scan_lines(const char *bytes, size_t size, char end);

/* Finds the end of a block of whole records: after the last record that ends within `most` bytes,
 * else after the first record that ends later, else 0. last: the file ends with these bytes. Then
 * an unfinished record ends with the file; with an open quote it is a bad record of one line. */
size_t cut_find(const struct csv_dialect *d, bool cr, const char *bytes, size_t size, size_t most,
                bool last);
/* As cut_find for live files, whose blocks end by chance. Never cuts between the first line of a
 * bad record and the later quote that explains it: the error message must not depend on the cut. */
size_t cut_reasons(const struct csv_dialect *d, bool cr, const char *bytes, size_t size,
                   size_t most, bool last);
/* Finds the end of the first record that is not blank, line end included; 0: not within these
 * bytes. After the line of a bad record, the quote that explains it is within the bytes too. */
size_t cut_first(const struct csv_dialect *d, bool cr, const char *bytes, size_t size);

/* Parses a block as csv_cells_parse does. SCAN_REFUSED: libcsv must decide (libcsv_parse,
 * csv_reader.h). */
enum scan_result { SCAN_DONE, SCAN_REFUSED };
enum scan_result scan_parse(const struct csv_dialect *d, const struct csv_block *b, size_t columns,
                            struct csv_cells *out);

#endif
