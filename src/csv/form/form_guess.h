/* form_guess.h - how a cell is written that is no plain number and no ISO date: `init` proposes
 * keys by it, and errors name them. */
#ifndef DNN_CSV_FORM_GUESS_H
#define DNN_CSV_FORM_GUESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers and dates in a form that dnn does not read. */
enum form_kind {
    FORM_NONE,
    FORM_PERCENT,  /* 12.3% */
    FORM_COMMA,    /* 1,5 in a file with decimal points; set by infer/type.c */
    FORM_POINT,    /* 1.5 in a file with decimal commas; set by infer/type.c */
    FORM_GROUPED,  /* 1,234.5 */
    FORM_CURRENCY, /* $12.34 */
    FORM_DATE,     /* 12/31/2024 */
    FORMS
};

#define FORM_UNITS 4
/* The meaning of a text beside a number. */
enum form_unit {
    UNIT_MONEY, /* $ R$ Rs. */
    UNIT_SHARE, /* % */
    UNIT_MARK,  /* ~ =" */
    UNIT_LIMIT, /* < */
    UNIT_WORD   /* km */
};
/* Cells as numbers with groups and units, by the decimal sign: 0 point, 1 comma. */
struct form_amounts {
    uint64_t cells, read[2], proofs[2]; /* proofs: cells that no other sign could read so */
    const char *between[2];             /* the mark between groups of digits; NULL: none */
    char units[FORM_UNITS][12];
    unsigned unit_count, words;         /* words: units of kind UNIT_WORD */
    bool before;                        /* a word stands before the number: Size 3.5 */
    uint64_t with_words, with_limits;   /* cells with a word, with a limit */
    double share[2];                    /* the greatest number with a percent sign, without it */
    bool cut[2];                        /* a number is not whole */
    uint64_t closed;                    /* cells in brackets */
    uint64_t scaled;                    /* numbers with k, M, bn, .. after them: not read */
};
#define FORM_CELL 40u /* bytes; longer cells are texts */
#define FORM_FORMAT 32
/* Cells as dates, by up to two formats that the first cell has, the day first; "": none. */
struct form_dates {
    uint64_t cells, read[2], either; /* cells that each format reads; one of both */
    uint64_t unreal;                 /* of others: written as dates, of days that do not exist */
    char format[2][FORM_FORMAT];
    char unreal_day[FORM_CELL + 1]; /* the first of them */
};

/* The form of a cell that is not a number or an ISO date. */
int form_guess(const char *text, size_t length);
/* Writes the reason for such a form. decimal: the file's. Returns the name of the form. */
const char *form_reason(int form, char decimal, char *out, size_t size);
enum form_unit form_unit(const char *text, size_t length);
/* True: the units are two currencies, or a currency and a share, .. */
bool form_units_differ(const struct form_amounts *a);
/* Take one more cell. */
void form_amounts_add(struct form_amounts *a, const char *text, size_t length);
void form_dates_add(struct form_dates *d, const char *text, size_t length);
/* The format that reads all cells, or NULL; *other: a second one that does, or NULL. */
const char *form_dates_format(const struct form_dates *d, const char **other);

#endif
