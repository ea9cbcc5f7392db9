/* reading.h - what a command reads: a model, the files whose rows it answers, and their form. */
#ifndef DNN_ANSWER_READING_H
#define DNN_ANSWER_READING_H

#include "base/process/progress.h"
#include "config/overrides.h"
#include "table/schema/schema.h"

/* Options for files in another form than the training file: they replace the model's. */
struct reading {
    char delimiter, decimal;      /* 0: as the training file */
    int encoding, quote; /* 1 + enum csv_encoding, 1 + enum csv_quote; 0: likewise */
};

enum bad_row { BAD_ROW_STOP, BAD_ROW_NULL, BAD_ROW_SKIP };

struct rows_request {
    const char *model;
    char *const *inputs; /* "-" is standard input; none: standard input */
    size_t input_count;
    const char *part; /* the rows of a part of the training file (held.h) alone; NULL: every row */
    struct reading reading;
    struct overrides overrides;
    enum progress_style progress;
    /* the target is read; rows without a target get no answer, and are not bad rows */
    bool labelled;
    bool weighed;  /* rows of weight 0 have no answer, and are not bad rows; their cells are not
                    * read, but for rows that are context of a sequence. `labelled` sets it */
    bool again;    /* read before: the notes about these rows were given */
    bool strict;   /* the command has no --on-bad-row to name in help */
    bool passthrough; /* the input's columns are named before the first answer */
    bool no_header;
    bool tsv, csv; /* --io; neither: the training file's delimiter */
    const char *columns; /* names "a,b,c"; NULL: the header, or c1, c2, .. of a model without */
    enum bad_row on_bad_row;
    const char *rejects;
    int64_t max_bad_rows; /* unless on_bad_row is BAD_ROW_STOP; -1: no limit */
    uint64_t limit;       /* the first records alone; 0: all */
};
/* The first file, for messages. */
static inline const char *rows_path(const struct rows_request *q)
{
    return q->input_count ? q->inputs[0] : "-";
}

/* "," ";" "|" or a tab, which is also "\t". False: E10. */
bool reading_delimiter(const char *text, char *delimiter, struct err *e);
/* Changes how a model's schema reads files. If the thousands sign of a column becomes the decimal
 * sign, the other sign groups its digits. */
void reading_apply(const struct reading *r, struct schema *s);

#endif
