/* reading.h - options for files in another form than the training file: they replace the
 * model's. */
#ifndef DNN_ANSWER_READING_H
#define DNN_ANSWER_READING_H

#include "table/schema/schema.h"

struct reading {
    char delimiter, decimal;      /* 0: as the training file */
    const char *encoding, *quote; /* of csv_encoding_names, csv_quote_names; NULL */
};

/* "," ";" "|" or a tab, which is also "\t". False: E10. */
bool reading_delimiter(const char *text, char *delimiter, struct err *e);
/* Changes how a model's schema reads files. If the thousands sign of a column becomes the decimal
 * sign, the other sign groups its digits. */
void reading_apply(const struct reading *r, struct schema *s);

#endif
