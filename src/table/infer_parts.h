/* infer_parts.h - the pieces of infer_file. Private to infer*.c and cell_error.c. */
#ifndef DNN_TABLE_INFER_PARTS_H
#define DNN_TABLE_INFER_PARTS_H

#include "table/infer.h"
#include "table/leak.h"

/* Texts that usually mean "no value". The first INFER_ANYWHERE of them do so in every column;
 * the others only in one whose remaining cells are all numbers or all dates. */
extern const char *const infer_missing_texts[];
enum { INFER_NA = 1, INFER_ANYWHERE = 13, INFER_MISSING = 32 };

/* distinct is exact up to here; less in wide files: INFER_HASHES in all */
#define INFER_DISTINCT 1048576u
#define INFER_HASHES ((size_t)1 << 26)
#define INFER_TEXTS 1024u       /* values whose text is kept, for labels */

/* How a cell that is no number differs from one; infer_form.c. */
enum infer_form {
    FORM_NONE,
    FORM_NEARLY,   /* +1, .5, 5. */
    FORM_INFINITE, /* inf, -nan */
    FORM_BEYOND,   /* 1e400 */
    FORM_PERCENT,  /* 12.3% */
    FORM_BLANK,    /* " 484", or with a no-break space */
    FORM_MINUS,    /* a minus sign that is not '-' */
    FORM_COMMA,    /* 1,5 where the file's decimal sign is the point; FORM_POINT: 1.5 where the */
    FORM_POINT,    /* comma is: by infer_type.c, as both are numbers to one cell alone */
    FORM_GROUPED,  /* 1,234.5 */
    FORM_CURRENCY, /* $12.34 */
    FORM_HEX,      /* 0x1F */
    FORM_DATE,     /* 12/31/2024 */
    FORMS
};

/* What is known of one column. */
struct watch {
    uint64_t cells;             /* all of them */
    uint64_t absent[INFER_MISSING]; /* cells by text that may mean missing */
    int64_t absent_line[INFER_MISSING]; /* where the first of each stands */
    uint64_t given, given_seen; /* cells in the user's list; which of its first 64 texts */
    uint64_t whole, points, commas; /* numbers without and with a decimal point or comma */
    uint64_t dates, day_numbers;    /* ISO dates; of `whole`: numbers that read YYYYMMDD */
    uint64_t times, months;         /* of dates: hh:mm alone, YYYY-MM */
    uint64_t others;            /* no number, no date, not in the list */
    uint64_t forms[FORMS];      /* of others: by the form of number or date they have */
    int64_t other_line, point_line, comma_line; /* where the first of each stands */
    uint64_t words, bytes;      /* of cells that are others */
    uint64_t codes;             /* of others: two capital letters */
    uint64_t odd_commas, odd_points; /* of them: not three digits behind it, so no thousands */
    bool steps;                 /* each whole number is one more than the one before */
    bool rises, falls;          /* each whole number is beyond, or below, the one before */
    uint64_t padded, serials;   /* of `whole`: with a zero in front; of more digits than 2^53 has */
    char *pad;                  /* the first one with a zero in front */
    double last, low, high, fraction; /* fraction: largest distance of a number from a whole one */
    double comma_low, comma_high;
    char *example[5], *other;   /* first distinct cells; the first of `others` */
    char *comma, *point;        /* the first of `commas`, of `points` */
    uint64_t *hashes;           /* set of distinct cells, 0 free */
    size_t places, distinct, most;
    bool capped;
    struct vocab *texts;        /* up to INFER_TEXTS values in order of arrival; counts beside it */
    uint64_t *text_counts;
    uint32_t *sample_hash;      /* of the sampled rows; NULL without a target */
    float *sample_number;
};

struct survey {
    struct csv_dialect dialect;
    const char *const *names;   /* owned by csv */
    size_t count;
    struct watch *watches;
    uint64_t rows;
    const struct opt_strings *missing; /* the user's list; NULL: to be found out */
    uint32_t sample_most, samples; /* every sample_step-th row */
    uint64_t sample_step;
};

/* infer_dialect.c: delimiter and header from the first bytes; what the request fixes is kept. */
bool infer_dialect(const struct infer_request *r, struct csv_dialect *d, struct err *e);
/* Of a file with bytes that are not UTF-8: cp1252, or latin1 when it has bytes that cp1252 lacks;
 * utf-8 when most of its characters beyond ASCII are, and the others are damage. */
bool infer_encoding(const char *path, int *encoding, struct err *e);
/* infer_scan.c: the whole file, once. */
bool infer_scan(const struct infer_request *r, struct csv *c, struct survey *s, struct err *e);
void infer_scan_free(struct survey *s);
/* infer_form.c: the form of a cell that is neither a number nor an ISO date, and what is said of a
 * column of such cells (cell: the first of them, or NULL) in a file with this decimal sign;
 * returns its kind (infer_column). */
int infer_form(const char *text, size_t length);
const char *infer_form_reason(int form, const char *cell, char decimal, char *out, size_t size);
/* infer_name.c: what the name of a column says: an identifier (customerID), or something that is
 * one when its values are (order_no, account). */
enum infer_name { NAME_OTHER, NAME_NUMBER, NAME_ID };
int infer_name(const char *name);
/* infer_type.c: types, missing texts, decimal; then the task of the target. */
void infer_types(const struct infer_request *r, const struct survey *s, struct infer *i);
void infer_target(const struct survey *s, size_t target, struct infer *i);

#endif
