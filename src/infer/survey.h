/* survey.h - statistics of a file's columns, and the steps of infer_file. Private to src/infer. */
#ifndef DNN_INFER_SURVEY_H
#define DNN_INFER_SURVEY_H

#include "csv/form/form_guess.h"
#include <math.h>

#include "infer/infer.h"
#include "table/schema/column_name.h"
#include "table/fit/leak.h"
#include "table/schema/terms.h"

/* Texts that usually mean missing. The first INFER_ANYWHERE do in every column; the others only if
 * the remaining cells are all numbers or all dates. */
extern const char *const infer_missing_texts[];
enum { INFER_NA = 1, INFER_ANYWHERE = 14, INFER_MISSING = 33 };

/* distinct is exact up to here; less in wide files: INFER_HASHES for all columns */
#define INFER_DISTINCT 1048576u
#define INFER_HASHES ((size_t)1 << 26)
#define INFER_TEXTS 1024u       /* distinct values kept as text, for labels */

/* Cells as durations. */
struct infer_spans {
    uint64_t read;
    uint64_t long_ones; /* words, negative numbers, or longer than a day: no times of a day */
    uint64_t clocks[2]; /* written as h:mm, h:mm:ss */
    char first[FORM_CELL + 1];
    int64_t line; /* of the first */
};

/* dress.c: bytes of a digit of another script at the beginning; 0: there is none. */
size_t infer_foreign_digit(const char *text, size_t length);
/* The patterns of cells, in which 0 stands for a number. */
enum { INFER_PATTERNS = 8, INFER_PATTERN = 24 };
struct infer_dress {
    uint64_t cells, cut;  /* cells; cells with a decimal fraction */
    unsigned fewest, most; /* digits of a cell */
    unsigned count;
    bool more;            /* there are more patterns, or cells without a pattern */
    bool foreign;         /* digits other than 0 to 9 */
    char pattern[INFER_PATTERNS][INFER_PATTERN], first[INFER_PATTERNS][FORM_CELL + 1];
    int64_t line[INFER_PATTERNS]; /* of the first cell of each */
};

/* group.c: what a cell looks like that is no number. */
enum infer_shape {
    SHAPE_NONE,
    SHAPE_CODE, /* C1000, AB-12-x: a word with a digit */
    SHAPE_NAME, /* a hash, a uuid, an address: it names one thing */
    SHAPES
};

/* terms.c: the different terms of the first texts of three words or more. */
struct infer_terms {
    struct terms terms;
    uint64_t *seen; /* a bit a hash; NULL: none yet */
    uint32_t texts;
};

/* words.c: the first different words among the cells that are no number and no date. */
enum { INFER_WORDS = 4 };
struct infer_words {
    char *text[INFER_WORDS];
    unsigned count;
    bool more;      /* more than these exist */
    uint64_t cells; /* all cells with a word */
    int64_t line;   /* of the first */
};

/* The first cell of a kind, and its line; text NULL: none. */
struct infer_first {
    const char *text;
    int64_t line;
};

/* Numbers with a decimal point, or with a decimal comma. */
struct infer_sign {
    uint64_t cells, odd; /* odd: not three digits after the sign, so it groups no thousands */
    struct infer_first first;
};

/* Cells with a text that may mean missing. */
struct infer_absent {
    uint64_t cells;
    int64_t line; /* of the first */
    bool missing; /* it does so here; missing.c */
};

/* Statistics of one column. */
struct column_profile {
    const struct opt_strings *own; /* the user's list for this column; NULL: none */
    uint64_t cells;             /* all cells */
    struct infer_absent absent[INFER_MISSING]; /* by text that may mean missing */
    uint64_t given, given_seen; /* cells in the user's list; bits: which of its texts */
    uint64_t whole;             /* numbers without a decimal sign */
    struct infer_sign signs[2]; /* with a point, with a comma */
    uint64_t dates, day_numbers;    /* ISO dates; of `whole`: YYYYMMDD */
    uint64_t stamps;                /* of `whole`: YYYYMMDDhhmm[ss] */
    uint64_t times, months;         /* of dates: hh:mm alone, YYYY-MM */
    uint64_t others;            /* not a number, a date or in the list */
    uint64_t forms[FORMS];      /* of others: cells of each form */
    struct infer_words words_only; /* of others */
    struct form_amounts amounts; /* of others, but for words */
    struct form_dates date_forms;
    struct infer_spans spans;   /* of others and of times */
    struct infer_dress dress;   /* of others */
    uint64_t alike;             /* of others: equal to the first */
    uint64_t primed;            /* of others: in single quotes, '..' */
    uint64_t words, bytes;      /* total of `others` */
    uint64_t syllables;         /* characters of scripts without blanks */
    struct infer_terms terms;   /* of others */
    uint64_t shapes[SHAPES];    /* of others: cells of each enum infer_shape */
    uint64_t codes;             /* of others: two capital letters */
    bool unnamed;               /* it has no name in the header: the number of a row */
    bool steps;                 /* each whole number is the previous one + 1 */
    bool minutes;               /* each number is a multiple of 60 */
    bool rises, falls;          /* each whole number is larger, or smaller, than the previous one */
    uint64_t padded, serials;   /* of `whole`: with a leading zero; with more digits than 2^53 */
    char *pad;                  /* the first one with a leading zero */
    double last, fraction;      /* fraction: largest distance of a number from an integer */
    double low[2], high[2];     /* of numbers without a comma; of those with a comma */
    char *example[5];           /* first distinct cells */
    struct infer_first other, formed; /* of others; of others that are no words */
    struct vocab *values;       /* the first distinct cells, up to INFER_TEXTS */
    uint64_t *hashes;           /* hash set of the distinct cells; 0: free */
    size_t places, distinct, most;
    bool capped;
    struct vocab *texts;        /* up to INFER_TEXTS values in order of arrival, with counts */
    uint64_t *text_counts;
    uint32_t *sample_hash;      /* [sample_most] of the sampled rows; NULL without a target */
    struct text sample_text;    /* of the same rows: cells that may be numbers or dates */
    uint32_t *sample_at;        /* [sample_most + 1] begin of each; empty: other cells */
};

/* All numbers of a column, and their range if commas are decimal or are not. */
static inline uint64_t infer_all_numbers(const struct column_profile *w)
{
    return w->whole + w->signs[0].cells + w->signs[1].cells;
}
static inline double infer_low(const struct column_profile *w, bool comma)
{
    return comma ? fmin(w->low[0], w->low[1]) : w->low[0];
}
static inline double infer_high(const struct column_profile *w, bool comma)
{
    return comma ? fmax(w->high[0], w->high[1]) : w->high[0];
}

/* The cells of one column, given the texts that mean missing. */
struct infer_counts {
    uint64_t present, missing, numbers, texts, distinct;
    bool comma;              /* the decimal sign of the file is a comma, else a point */
    bool sure;               /* numbers of other columns prove it */
    bool target;
    struct infer_first word; /* the first text of the missing list that counts as text */
};

struct survey {
    struct csv_dialect dialect;
    /* the quoting was guessed; "none" is no guess if quoted cells end in quotes */
    bool guessed;
    uint64_t opened, closed;    /* with `guessed`: cells that begin with a quote; end with one */
    const char *const *names;   /* owned by csv */
    size_t count;
    struct column_profile *profiles;
    uint64_t rows;              /* rows of weight 0 do not count */
    size_t weight, target;      /* the column of weights, and the target; count: none */
    const struct opt_strings *missing; /* the user's list; NULL: to be guessed */
    uint32_t sample_most, samples; /* samples of every sample_step-th row */
    uint64_t sample_step;
    int64_t last_line;          /* of the last record */
    char last_cell[64];         /* its first cell, as much as fits */
    bool last_unlabelled;       /* its target is empty */
    struct err short_line;      /* the last line, if it has too few cells; else no error */
};

/* dialect.c: guesses delimiter and header from the first bytes. Values set in the request are
 * kept. */
bool infer_dialect(const struct infer_request *r, struct csv_dialect *d, struct err *e);
/* Guesses the encoding of files that are not valid UTF-8: cp1252, or latin1 if they have bytes that
 * cp1252 lacks; utf-8 if most of its characters beyond ASCII are valid, so the others are
 * damage. */
bool infer_encoding(const struct infer_request *r, int *encoding, struct err *e);
/* Counts cells in s->opened and s->closed. */
void infer_quoted_cells(struct survey *s, const struct csv_cells *cells);
/* Writes i->prime_note. */
void infer_primes(const struct infer_request *r, const struct survey *s, struct infer *i);
/* scan.c: reads the whole file once into s->profiles. */
bool infer_scan(const struct infer_request *r, struct csv *c, struct survey *s, struct err *e);
void infer_scan_free(struct survey *s);
/* True if most cells are dates of one format: the column is set aside with a warning. */
struct column_profile;
bool infer_mostly_dates(const struct column_profile *w, uint64_t present, struct infer_column *c);
/* Why no format of a column reads all of its dates, and what reads them. Returns the reason's
 * kind. */
const char *infer_date_reason(const struct form_dates *d, const char *column, char *out,
                              size_t size);
void infer_terms_add(struct infer_terms *t, const char *text, size_t length);
/* 0: the usual number is enough. */
uint32_t infer_terms_buckets(const struct infer_terms *t);
void infer_terms_free(struct infer_terms *t);
/* group.c: enum infer_shape of a cell; columns whose values name things with several rows
 * each get a warning as their reason. After infer_sample. */
int infer_id_shape(const char *text, size_t length);
void infer_groups(const struct infer_request *r, const struct survey *s, struct infer *i);
/* time.c: notes that the file is in the order of a date, or that dates repeat. After the
 * types. */
void infer_time(const struct infer_request *r, const struct survey *s, struct infer *i);
/* propose.c: true if all cells are numbers, or dates, in another form: the column is typed,
 * or set aside with the key that would read it. */
extern const char infer_two_readings[]; /* the kind of numbers that need a word of the user */
bool infer_propose(const struct column_profile *w, const struct infer_counts *n,
                   struct infer_column *c);
/* dress.c: takes one more of the other cells. */
void infer_dressed(struct infer_dress *d, const char *text, size_t length, int64_t line);
/* True if all cells are numbers between letters and signs, in a few patterns: the column, which
 * would be lost, is set aside with a warning. */
bool infer_is_dressed(const struct column_profile *w, uint64_t present, struct infer_column *c);
/* True if all texts are digits and signs in a few patterns: 2022-06, 10.0.17.3, +49 170 1234567.
 * letters: letters may be among them, without blanks: 2022-W06. */
bool infer_has_patterns(const struct column_profile *w, bool letters);
/* clock.c: seconds, milliseconds, .. since 1970 of the years 2000 to 2039, by the column's
 * name, or because all are whole minutes; or dates of digits alone: the column is typed. */
bool infer_is_stamp(const char *text, size_t length); /* YYYYMMDDhhmm[ss] */
bool infer_epoch(const struct column_profile *w, uint64_t present, struct infer_column *c);
void infer_span(struct infer_spans *s, const char *text, size_t length, int64_t line);
/* True if all cells are durations, and not times of a day (which a target may have): the column is
 * typed, or set aside with a warning. */
bool infer_propose_span(const struct column_profile *w, const struct infer_counts *n,
                        struct infer_column *c);
/* missing.c: the decimal sign; which of infer_missing_texts mean missing in each column; the
 * lists for data.missing and for columns. */
char infer_decimal(const struct survey *s, bool *sure);
bool infer_is_of_codes(const struct column_profile *w); /* EU, AS, NA: two capital letters */
void infer_missing(const struct infer_request *r, const struct survey *s, char decimal,
                   struct infer *out);
/* Names the marks of missing that were guessed, beside "" and NA, outside the target; "": none. */
void infer_missing_note(const struct infer_request *r, const struct survey *s,
                        char *out, size_t size);
/* type.c, target.c: types; then the task. infer_set sets a type and its reason; reasons
 * of one format are of one kind. infer_more appends to a note of `size` bytes. */
__attribute__((format(printf, 3, 4))) void infer_set(struct infer_column *c, int type,
                                                     const char *format, ...);
__attribute__((format(printf, 3, 4))) void infer_more(char *note, size_t size,
                                                      const char *format, ...);
/* True: an --id or --ignore names the column. */
bool infer_asked(const struct infer_request *r, const char *name);
void infer_types(const struct infer_request *r, const struct survey *s, struct infer *i);
void infer_target(const struct survey *s, struct infer *i);
/* id.c: types a column of whole or other numbers. */
void infer_numbers(const struct column_profile *w, const struct infer_counts *n,
                   struct infer_column *c);
/* The reason, and the kind, of a column that only its values make an id: it rises by one a row. */
extern const char infer_counts[];
/* Whether the order of the rows tells of their target, more than nine other orders do; SORTED: the
 * rows are sorted by class. */
enum infer_order { ORDER_CHANCE, ORDER_TELLS, ORDER_SORTED };
enum infer_order infer_order(const struct leak_target *of);
/* Adds to an id's reason how to learn from it. */
void infer_way_back(struct infer_column *c, bool numbers);
/* sample.c: what each column alone explains of the target, and equal rows. */
void infer_sample(const struct survey *s, struct infer *i);
/* The text of a sampled cell that may be a number or a date; NULL: another one, or missing. */
const char *infer_sampled(const struct survey *s, const struct infer *i, size_t column,
                          uint32_t row, size_t *size);
/* The number, or the seconds of a date, in a sampled cell. False: it has none. */
bool infer_sampled_value(const struct survey *s, const struct infer *i, size_t column,
                         uint32_t row, double *value);
/* words.c: a text without digits, e.g. a mark of missing; 0000-00-00 counts as one. */
bool infer_is_word(const char *text, size_t length);
void infer_word(struct infer_words *w, const char *text, size_t length, int64_t line);
void infer_words_free(struct infer_words *w);
/* The column as if its words meant missing: *plain, which borrows from w. Sets the words (caller:
 * opt_strings_free), their cells and the line of the first. False: there are none, or too many. */
bool infer_without_words(const struct column_profile *w, struct column_profile *plain,
                         struct opt_strings *words, uint64_t *cells, int64_t *line);
void infer_tell_words(const struct opt_strings *words, uint64_t cells, uint64_t all, int64_t line,
                      bool target, struct infer_column *c);
bool infer_means_nothing(const char *text); /* a label that names no value: unknown, None, - */
/* far.c: values of numbers and dates that stand for "none": adds them to the columns'
 * missing, and tells. After the types. */
void infer_far(const struct infer_request *r, const struct survey *s, struct infer *i);
static inline uint32_t infer_hash32(uint64_t hash) /* of a sampled cell */
{
    return (uint32_t)(hash ^ hash >> 32);
}
/* positive.c: which of two labels is the affirmative one: 0, 1; -1: they are no known
 * pair. */
int infer_affirmative(const char *one, const char *other);
/* Sets the positive label, and the reason. rows: of the first two labels. */
void infer_positive(const struct vocab *labels, const uint64_t *rows, struct infer *i);
/* twins.c: columns of codes that are equal as numbers become categories; categories that are
 * twins get a note (twins.h). After the types. */
void infer_twins(const struct survey *s, struct infer *i);
/* labels.c. Joins labels of the target's texts that are equal as numbers in w, whose sample has
 * `samples` rows; returns how many became another one. */
uint32_t infer_join_labels(struct column_profile *w, const struct vocab *labels, uint32_t samples,
                           struct infer *i);
/* The positive label, and notes about labels and the last line. */
void infer_labels(const struct survey *s, const struct vocab *labels, struct infer *i);
void infer_footer(const struct survey *s, struct infer *i);

#endif
