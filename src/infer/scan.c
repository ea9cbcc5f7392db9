/* scan.c - reads the whole file once and collects the statistics of each column. One thread
 * does a column at a time: the result does not depend on threads. */
#include "infer/survey.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/progress.h"
#include "base/rng.h"
#include "base/process/thread.h"
#include "csv/form/date.h"
#include "csv/first_lines.h"
#include "csv/form/number.h"
#include "table/encoder/header_row.h"
#include "table/schema/words.h"

const char *const infer_missing_texts[INFER_MISSING] = {
    "",     "NA",  "N/A",  "#N/A",    "<NA>",    "NaN",     "nan",     "null",
    "NULL", "Null", "\\N",  "?",       " ",       "  ",      "-",       "--",
    ".",    "..",  "n/a",  "na",      "none",    "None",    "NONE",    "NAN",
    "Nan",  "unknown", "Unknown", "missing", "Missing", "*", "#VALUE!", "N.A.", "_"};

/* --- the set of distinct cells --- */

static void hash_insert(uint64_t *hashes, size_t places, uint64_t hash)
{
    size_t at = hash & (places - 1);
    while (hashes[at])
        at = (at + 1) & (places - 1);
    hashes[at] = hash;
}

/* Adds a hash. False: it was present, or the set is full. */
static bool hash_add(struct column_profile *w, uint64_t hash)
{
    size_t at = hash & (w->places - 1);
    for (; w->hashes[at]; at = (at + 1) & (w->places - 1))
        if (w->hashes[at] == hash)
            return false;
    if (w->distinct == w->most) {
        w->capped = true;
        return false;
    }
    w->hashes[at] = hash;
    if (++w->distinct * 2 > w->places) {
        size_t places = w->places * 2;
        uint64_t *hashes = mem_zero(places, sizeof *hashes);
        for (size_t i = 0; i < w->places; i++)
            if (w->hashes[i])
                hash_insert(hashes, places, w->hashes[i]);
        mem_free(w->hashes);
        w->hashes = hashes;
        w->places = places;
    }
    return true;
}

static void keep_example(struct column_profile *w, const char *text, size_t length)
{
    if (w->distinct <= INFER_TEXTS && 64 * w->distinct <= w->most)
        vocab_add(w->values, text, length);
    for (size_t i = 0; i < sizeof w->example / sizeof *w->example; i++)
        if (!w->example[i]) {
            w->example[i] = mem_string_n(text, length);
            return;
        }
}

static void keep_text(struct column_profile *w, const char *text, size_t length)
{
    if (!w->texts)
        return;
    uint32_t at = vocab_count(w->texts) < INFER_TEXTS ? vocab_add(w->texts, text, length)
                                                      : vocab_find(w->texts, text, length);
    if (at != UINT32_MAX)
        w->text_counts[at]++;
}

static void keep_first(struct infer_first *first, const char *text, size_t length, int64_t line)
{
    if (!first->text)
        *first = (struct infer_first){mem_string_n(text, length), line};
}

static void free_first(struct infer_first *first)
{
    mem_free((void *)(uintptr_t)first->text);
}

/* --- one cell --- */

static bool is_day(double value)
{
    return (value >= 19000101 && value <= 21001231) || value >= 99990101;
}

/* Counts the signs of codes in a whole number: leading zeros, too many digits. */
static void inspect_digits(struct column_profile *w, const char *text, size_t length, double value)
{
    double seconds;
    bool plain = !memchr(text, 'e', length) && !memchr(text, 'E', length);
    if (w->whole && value - w->last != 1)
        w->steps = false;
    w->rises &= !w->whole || value > w->last;
    w->falls &= !w->whole || value < w->last;
    w->last = value;
    w->whole++;
    w->serials += length > 16 && plain;
    w->day_numbers += length == 8 && is_day(value) && date_parse(text, length, &seconds);
    w->stamps += infer_is_stamp(text, length);
    if (length > 1 && text[0] == '0' && text[1] >= '0' && text[1] <= '9') {
        if (!w->padded++)
            w->pad = mem_string_n(text, length);
    }
}

static void inspect_number(struct column_profile *w, const char *text, size_t length, double value,
                           bool comma, int64_t line)
{
    const char *sign = memchr(text, comma ? ',' : '.', length);
    const char *digit = text + (*text == '-');
    w->low[comma] = value < w->low[comma] ? value : w->low[comma];
    w->high[comma] = value > w->high[comma] ? value : w->high[comma];
    w->minutes = w->minutes && fmod(value, 60) == 0;
    const double off = fabs(value - rint(value));
    w->fraction = off > w->fraction ? off : w->fraction;
    if (!sign) {
        inspect_digits(w, text, length, value);
        return;
    }
    w->signs[comma].cells++;
    w->signs[comma].odd += text + length - sign != 4 || *digit == '0' || sign - digit > 3;
    keep_first(&w->signs[comma].first, text, length, line);
}

static void inspect_other(struct column_profile *w, const char *text, size_t length, int64_t line)
{
    bool inside = false;
    unsigned char high = 0;
    uint64_t before = w->words;
    w->others++;
    keep_first(&w->other, text, length, line);
    const bool word = infer_is_word(text, length);
    if (word)
        infer_word(&w->words_only, text, length, line);
    else
        keep_first(&w->formed, text, length, line);
    w->alike += strlen(w->other.text) == length && memcmp(w->other.text, text, length) == 0;
    w->primed += length > 1 && text[0] == '\'' && text[length - 1] == '\'';
    w->forms[form_guess(text, length)]++;
    if (!word) {
        form_amounts_add(&w->amounts, text, length);
        form_dates_add(&w->date_forms, text, length);
        infer_span(&w->spans, text, length, line);
        infer_dressed(&w->dress, text, length, line);
    }
    w->shapes[infer_id_shape(text, length)]++;
    w->bytes += length;
    w->codes += length == 2 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'A' && text[1] <= 'Z';
    for (size_t i = 0; i < length; i++) {
        bool blank = text[i] == ' ' || text[i] == '\t' || text[i] == '\n';
        w->words += !blank && !inside;
        inside = !blank;
        high |= (unsigned char)text[i];
    }
    if (high & 0x80) {
        const size_t syllables = words_syllables(text, length);
        w->syllables += syllables;
        w->words += syllables / 2;
    }
    if (w->words - before >= 3)
        infer_terms_add(&w->terms, text, length);
}

static int missing_index(const char *text, size_t length)
{
    if (length > 8)
        return -1;
    for (int i = 0; i < INFER_MISSING; i++)
        if (strlen(infer_missing_texts[i]) == length &&
            memcmp(infer_missing_texts[i], text, length) == 0)
            return i;
    return -1;
}

/* True if this text is in the user's list of missing texts; bit: of the list's first text. */
static bool is_given(struct column_profile *w, const struct opt_strings *missing, const char *text,
                     size_t length, size_t bit)
{
    for (size_t i = 0; i < missing->count; i++)
        if (strlen(missing->items[i]) == length && memcmp(missing->items[i], text, length) == 0) {
            w->given++;
            w->given_seen |= bit + i < 64 ? UINT64_C(1) << (bit + i) : 0;
            return true;
        }
    return false;
}

/* False: the cell is no number with this decimal sign. */
static bool take_number(struct column_profile *w, const char *text, size_t length, bool comma,
                        int64_t line)
{
    const char *end = text + length;
    double value;
    if (form_read_number(NULL, text, length, comma ? ',' : '.', &value) != NUMBER_OK)
        return false;
    if ((unsigned char)*text > 'z' || (unsigned char)end[-1] > 'z') /* no-break blanks */
        form_trim(&text, &end);
    inspect_number(w, text, (size_t)(end - text), value, comma, line);
    return true;
}

static void inspect_cell(struct column_profile *w, const struct opt_strings *missing,
                          const struct csv_cell *cell, int64_t line, uint64_t hash)
{
    const char *text = cell->text;
    size_t length = cell->length;
    double value;
    w->cells++;
    if (hash_add(w, hash))
        keep_example(w, text, length);
    keep_text(w, text, length);
    if ((missing && missing->count && is_given(w, missing, text, length, 0)) ||
        (w->own && is_given(w, w->own, text, length, 32)))
        return;
    if (take_number(w, text, length, false, line))
        return;
    int absent = missing_index(text, length);
    if (absent >= 0) {
        if (!w->absent[absent].cells++)
            w->absent[absent].line = line;
        return;
    }
    if (take_number(w, text, length, true, line))
        return;
    if (date_parse(text, length, &value)) {
        w->dates++;
        if (length > 3 && (text[1] == ':' || text[2] == ':' || text[3] == ':')) {
            w->times++;
            infer_span(&w->spans, text, length, line);
        }
        w->months += length == 7 && text[4] == '-';
        return;
    }
    inspect_other(w, text, length, line);
}

/* Keeps a sampled cell: its hash, and its text if it may be a number or a date. */
static void keep_sample(struct column_profile *w, uint32_t at, const struct csv_cell *cell,
                        uint64_t hash)
{
    bool digit = false;
    for (uint32_t i = 0; i < cell->length && cell->length <= FORM_CELL && !digit; i++)
        digit = cell->text[i] >= '0' && cell->text[i] <= '9';
    w->sample_hash[at] = infer_hash32(hash);
    if (digit)
        text_add(&w->sample_text, cell->text, cell->length);
    w->sample_at[at + 1] = (uint32_t)w->sample_text.length;
}

/* --- blocks --- */

struct block_task {
    struct survey *survey;
    const struct csv_cells *cells;
    uint32_t *sampled; /* by record of the block: its place in the sample, UINT32_MAX: none */
};

enum { COLUMNS_A_TILE = 16 };

static void inspect_tile(void *context, unsigned tile, unsigned thread)
{
    (void)thread;
    struct block_task *t = context;
    size_t first = (size_t)tile * COLUMNS_A_TILE, end = first + COLUMNS_A_TILE;
    end = end < t->survey->count ? end : t->survey->count;
    for (size_t r = 0; r < t->cells->record_count; r++) {
        const struct csv_cell *cells = t->cells->cells + t->cells->records[r].first_cell;
        for (size_t c = first; c < end; c++) {
            struct column_profile *w = &t->survey->profiles[c];
            uint64_t hash = rng_hash(cells[c].text, cells[c].length, 0);
            inspect_cell(w, t->survey->missing, &cells[c], t->cells->records[r].line,
                         hash ? hash : 1);
            if (w->sample_hash && t->sampled[r] != UINT32_MAX)
                keep_sample(w, t->sampled[r], &cells[c], hash);
        }
    }
}

/* Removes every second sampled row, in all columns. */
static void thin_out(struct survey *s)
{
    for (size_t c = 0; c < s->count; c++) {
        struct column_profile *w = &s->profiles[c];
        for (uint32_t i = 0; w->sample_hash && i < s->sample_most / 2; i++) {
            uint32_t from = w->sample_at[2 * i], size = w->sample_at[2 * i + 1] - from;
            w->sample_hash[i] = w->sample_hash[2 * i];
            if (size)
                memmove(w->sample_text.data + w->sample_at[i], w->sample_text.data + from, size);
            w->sample_at[i + 1] = w->sample_at[i] + size;
        }
        if (w->sample_hash)
            w->sample_text.length = w->sample_at[s->sample_most / 2];
    }
    s->samples = s->sample_most / 2;
    s->sample_step *= 2;
}

/* Chooses sampled rows; returns the end of the rows that fit the sample. The block is processed in
 * pieces of this kind. */
static size_t choose_samples(struct survey *s, uint32_t *sampled, size_t from, size_t count)
{
    for (size_t r = from; r < count; r++) {
        sampled[r] = UINT32_MAX;
        if ((s->rows + (r - from)) % s->sample_step)
            continue;
        if (s->samples == s->sample_most)
            return r;
        sampled[r] = s->samples++;
    }
    return count;
}

/* A line of fewer cells may be the last one: it is taken out of the block and kept for a warning
 * (infer_footer). */
static bool check_ragged(struct survey *s, const struct csv_block *b, struct csv_cells *cells,
                         struct err *e)
{
    enum { LEAST = 10 }; /* rows above it */
    const size_t count = s->count;
    if (cells->record_count && s->short_line.id != ERR_NONE) {
        *e = s->short_line; /* it was not the last one */
        return false;
    }
    for (size_t r = 0; r < cells->record_count; r++) {
        const struct csv_record *record = &cells->records[r];
        if (record->cells == count)
            continue;
        bool last = r + 1 == cells->record_count && record->cells < count && s->rows + r >= LEAST;
        struct err *to = last ? &s->short_line : e;
        err_at(to, ERR_CSV_RAGGED, b->path, record->line, 0,
               "line %lld has %u field%s, the first line has %zu", (long long)record->line,
               record->cells, record->cells == 1 ? "" : "s", count);
        const struct csv_cell *first = cells->cells + record->first_cell;
        if (!first_lines_row_names(&s->dialect, b->path, record, first, count, to))
            err_help(to, record->cells < count
                         ? "is the delimiter another one, or is this no row but a line below "
                           "the table, such as a sum? Take it out"
                         : "is a cell with a delimiter not quoted, or the delimiter another one?");
        if (!last)
            return false;
        cells->record_count--;
    }
    return true;
}

/* The weight is a number, with either decimal sign, and it is 0. */
static bool is_weightless(const struct csv_cell *cell)
{
    double v;
    return (number_parse(cell->text, cell->length, '.', &v) == NUMBER_OK ||
            number_parse(cell->text, cell->length, ',', &v) == NUMBER_OK) &&
           v >= 0 && (float)v <= 0;
}

/* Rows of weight 0 are as if the file did not have them, as in training. */
static void drop_weightless(const struct survey *s, struct csv_cells *cells)
{
    size_t kept = 0;
    for (size_t r = 0; r < cells->record_count; r++)
        if (!is_weightless(cells->cells + cells->records[r].first_cell + s->weight))
            cells->records[kept++] = cells->records[r];
    cells->record_count = kept;
}

static bool inspect_block(struct survey *s, const struct csv_block *b, struct csv_cells *cells,
                          struct err *e)
{
    if (!csv_cells_parse(&s->dialect, b, s->count, cells, e) ||
        !check_ragged(s, b, cells, e) || !header_row_none(s->names, s->count, b, cells, e))
        return false;
    if (s->weight < s->count)
        drop_weightless(s, cells);
    if (s->guessed && s->dialect.quote == QUOTE_NONE)
        infer_quoted_cells(s, cells);
    size_t records = cells->record_count;
    uint32_t *sampled = mem_alloc(records + 1, sizeof *sampled);
    struct csv_cells piece = *cells;
    for (size_t from = 0; from < records;) {
        size_t end = choose_samples(s, sampled, from, records);
        if (end == from) {
            thin_out(s);
            continue;
        }
        piece.records = cells->records + from;
        piece.record_count = end - from;
        struct block_task task = {s, &piece, sampled + from};
        threads_run((unsigned)((s->count + COLUMNS_A_TILE - 1) / COLUMNS_A_TILE), inspect_tile,
                    &task);
        s->rows += end - from;
        from = end;
    }
    if (records) {
        const struct csv_record *last = &cells->records[records - 1];
        const struct csv_cell *cell = cells->cells + last->first_cell;
        s->last_line = last->line;
        snprintf(s->last_cell, sizeof s->last_cell, "%.*s", (int)cell->length, cell->text);
        s->last_unlabelled = s->target < s->count && cell[s->target].length == 0;
    }
    mem_free(sampled);
    return true;
}

/* name NULL, or of no column: count. */
static size_t column_named(const struct survey *s, const char *name)
{
    size_t c = 0;
    while (c < s->count && !(name && strcmp(s->names[c], name) == 0))
        c++;
    return c;
}

static void begin_survey(const struct infer_request *r, struct survey *s)
{
    s->missing = r->missing;
    s->weight = column_named(s, r->weight);
    s->target = column_named(s, r->target);
    size_t most = INFER_HASHES / s->count, rows = ((size_t)1 << 23) / s->count;
    most = most < 4096 ? 4096 : most;
    s->profiles = mem_zero(s->count, sizeof *s->profiles);
    s->sample_most = rows < 1000 ? 1000 : rows > LEAK_ROWS ? LEAK_ROWS : (uint32_t)rows & ~1u;
    s->sample_step = 1;
    for (size_t c = 0; c < s->count; c++) {
        struct column_profile *w = &s->profiles[c];
        w->steps = w->minutes = w->rises = w->falls = true;
        for (size_t i = 0; i < r->own_count; i++)
            if (strcmp(r->own[i].column, s->names[c]) == 0)
                w->own = &r->own[i].texts;
        w->low[0] = w->low[1] = INFINITY;
        w->high[0] = w->high[1] = -INFINITY;
        w->most = most < INFER_DISTINCT ? most : INFER_DISTINCT;
        w->hashes = mem_zero(w->places = 64, sizeof *w->hashes);
        w->values = vocab_new();
        if (!r->target)
            continue;
        w->sample_hash = mem_zero(s->sample_most, sizeof *w->sample_hash);
        w->sample_at = mem_zero((size_t)s->sample_most + 1, sizeof *w->sample_at);
        if (c == s->target) {
            w->texts = vocab_new();
            w->text_counts = mem_zero(INFER_TEXTS, sizeof *w->text_counts);
        }
    }
}

bool infer_scan(const struct infer_request *r, struct csv *c, struct survey *s, struct err *e)
{
    struct csv_cells cells = {0};
    struct csv_block b;
    bool good = true;
    struct progress_amount progress;
    begin_survey(r, s);
    progress_amount_open(&progress, (enum progress_style)r->progress, "reading", NULL);
    for (double bytes = 0; good && csv_next(c, &b, e);) {
        progress_amount(&progress, bytes += (double)b.size, (double)csv_size(c));
        good = !(r->stop && r->stop()) && inspect_block(s, &b, &cells, e);
        csv_release(c, &b);
    }
    progress_amount_close(&progress);
    csv_cells_free(&cells);
    return good && e->id == ERR_NONE;
}

void infer_scan_free(struct survey *s)
{
    for (size_t c = 0; s->profiles && c < s->count; c++) {
        struct column_profile *w = &s->profiles[c];
        for (size_t i = 0; i < sizeof w->example / sizeof *w->example; i++)
            mem_free(w->example[i]);
        free_first(&w->other);
        free_first(&w->formed);
        infer_words_free(&w->words_only);
        free_first(&w->signs[0].first);
        free_first(&w->signs[1].first);
        mem_free(w->pad);
        mem_free(w->hashes);
        vocab_free(w->texts);
        vocab_free(w->values);
        mem_free(w->text_counts);
        infer_terms_free(&w->terms);
        mem_free(w->sample_hash);
        text_free(&w->sample_text);
        mem_free(w->sample_at);
    }
    mem_free(s->profiles);
    s->profiles = NULL;
}
