/* infer.h - guesses the config for `dnn init`: no other code guesses. Reads a whole file once and
 * proposes a type for every column, the dialect, the task, the positive label, and a reason for
 * each column that is not used as an input. */
#ifndef DNN_INFER_INFER_H
#define DNN_INFER_INFER_H

#include "csv/csv.h"
#include "csv/form/form.h"
#include "table/schema/options.h"
#include "table/schema/schema.h"

struct infer_column {
    char *name;
    int type;               /* enum column_type */
    char reason[560];       /* why it is ignored, an id, not a number; or "" */
    const char *kind;       /* equal for reasons that differ only in numbers; or NULL */
    uint64_t missing, distinct; /* distinct is exact up to 1,048,576 */
    bool distinct_capped;
    bool numbers;           /* its cells are numbers, and it is not numeric for another reason */
    bool answers;           /* predictions have a column of this name: it cannot be an id */
    double low, high;       /* range of its numbers; NaN: none */
    char *examples[5];      /* first distinct cells, raw text; NULL: fewer */
    struct form *form;      /* how its cells are written; NULL: plain */
    struct opt_strings none; /* texts that mean missing in this column, in addition to the file's */
    uint32_t buckets;       /* of a text, the only kind of input: how many its terms want; 0: as
                               usual */
    bool repeats;           /* it names things that have several rows each: the reason is a warning
                               for splits by chance */
    bool unread;            /* the reason is a warning: set aside for its form, or units differ */
    double alone;           /* how much of the target it alone explains (leak.h); NaN: not known */
    char far[700];          /* values and words that may stand for "none"; or "" */
    char *twins;            /* values that are twins (twins.h): "a" and "A", ..; or NULL */
    char note[640];         /* e.g. it nearly determines the target; or "" */
};
/* Sequences with a row a step. */
struct infer_series {
    size_t group, order;      /* columns */
    uint64_t groups, longest; /* 0: none; rows of the longest group */
    bool varies;              /* rows of a group have several labels, or only some have one */
    /* groups 0: the reason against `group` and `order`, which have fitting names; NULL: no columns
     * have. unordered: the order of the rows is the reason. */
    const char *against;
    bool unordered;
};
struct infer {
    struct csv_dialect dialect;
    char decimal;
    struct infer_column *columns;
    size_t count, target;   /* target: the column; count: none */
    uint64_t rows;
    int task;               /* from the target, if the request names one */
    char *positive;         /* binary: the positive label */
    struct opt_strings missing; /* texts that mean missing in every column: "", NA, ?, .. */
    char positive_note[560]; /* why that one; or "" */
    bool positive_guessed;   /* no known pair: the note is a warning */
    char same_note[300];     /* labels that are equal as numbers; or "" */
    char label_note[500], footer_note[300]; /* what looks wrong; or "" */
    char nothing_note[400];  /* a label that may stand for "none"; or "" */
    char time_note[500];     /* the rows are in the order of a date; or "" */
    uint64_t looked, copies; /* rows of a sample; those equal to another in every column used */
    char note[200];         /* about the header line; or "" */
    char encoding_note[200]; /* encoding guessed: the first byte that is not UTF-8; or "" */
    char missing_note[400];  /* marks of missing guessed, beside "" and NA; or "" */
    char page_note[500];     /* a note if the letters look like another encoding; or "" */
    char quote_note[400];    /* quoting other than strict guessed: the first line; or "" */
    char prime_note[800];    /* columns whose cells stand in single quotes; or "" */
    struct infer_series series; /* infer_series */
};
/* The texts of --set data.columns.COLUMN.missing. */
struct infer_own {
    char *column;
    struct opt_strings texts;
};
/* target NULL: types only, for `inspect`. ids, ignored: from the command line. delimiter 0, decimal
 * 0, encoding, header, quote -1: to be guessed. */
struct infer_request {
    const char *path, *target;
    const char *const *more; /* files after the first one, with the same columns */
    size_t more_count;
    const char *weight; /* the column of weights: a row of weight 0 is not looked at; NULL: none */
    const char *const *ids, *const *ignored;
    size_t id_count, ignored_count;
    char delimiter, decimal;
    int encoding, header, quote; /* quote as encoding */
    const struct opt_strings *missing; /* NULL: to be guessed */
    const struct infer_own *own;       /* of columns */
    size_t own_count;
    bool (*stop)(void);                /* polled at each block; may be NULL */
    int progress;                      /* enum progress_style */
};
/* A number, a category or a date. */
static inline bool infer_is_input(const struct infer_column *c)
{
    return c->type == COLUMN_NUMERIC || c->type == COLUMN_CATEGORICAL || c->type == COLUMN_DATETIME;
}
static inline bool infer_is_target(const struct infer *i, const struct infer_column *c)
{
    return c == i->columns + i->target;
}
/* True if the text means missing in that column. */
static inline bool infer_is_missing(const struct infer *i, size_t column, const char *text,
                                    size_t length)
{
    return opt_strings_has(&i->missing, text, length) ||
           opt_strings_has(&i->columns[column].none, text, length);
}
/* Opens all files of the request. Caller: csv_close. NULL on an error. */
struct csv *infer_open(const struct infer_request *r, const struct csv_dialect *d, struct err *e);
/* The name of a column that is equal to `name` once both are composed (NFC), and not before;
 * mem_free. NULL: there is none, or the file cannot be read, which infer_file will tell. */
char *infer_composed(const struct infer_request *r, const char *name);
/* Text of a note about columns that may determine the target. */
extern const char infer_leak_words[];
/* Reads the file and guesses. Caller: infer_free. NULL on an error, or with e->id == ERR_NONE if
 * `stop` returned true. */
struct infer *infer_file(const struct infer_request *r, struct err *e);
void infer_free(struct infer *i);
/* Writes the keys "delimiter" to "header" of the config's "data". */
void infer_write_dialect(const struct infer *i, struct json_out *out);
/* Looks for sequences with a row a step in the file that infer_file has read, if names of columns
 * speak of them; sets i->series. given: [i->count] columns that are something else. False on an
 * error, or with e->id == ERR_NONE if `stop` returned true. */
bool infer_series(const struct infer_request *r, const bool *given, struct infer *i, struct err *e);

#endif
