/* html.h - the pages that reports are: HTML 5 that is well-formed XML as well, one file with its
 * style, without script, nothing from elsewhere. */
#ifndef DNN_CLI_HTML_H
#define DNN_CLI_HTML_H

#include "base/text.h"

/* User text. Control bytes and bytes that are not UTF-8 are shown as \x1b; markup is escaped. */
void html_text(struct text *out, const char *bytes, size_t length);
void html_text_z(struct text *out, const char *string);
/* Appends our text. %s is user text (NULL: nothing), %.60s cut between characters at 60 bytes, %g a
 * number as html_number writes it, %f a share as html_percent writes it, %u and %% as printf. */
void html_printf(struct text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* How a page of this title begins, then the rest of its head. */
void html_title(struct text *out, const char *title);
void html_begin(struct text *out, const char *title);
void html_end(struct text *out);
/* A chapter with its heading, and a paragraph of ours (no user text). */
void html_section(struct text *out, const char *heading);
void html_section_end(struct text *out);
void html_note(struct text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A table. In a narrow window a table of many columns has a line for each cell. It scrolls if it
 * does not fit. Names of columns are ours, the metric that counts with a star in front; columns
 * from `numbers` on hold numbers. label: for readers that do not see it. */
void html_table(struct text *out, const char *label, const char *const *names, unsigned numbers);
void html_table_end(struct text *out);
void html_row_begin(struct text *out);
void html_row_end(struct text *out);
/* A cell for each directive of the format, and a whole row of such cells. */
void html_cells(struct text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_row(struct text *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Three digits, before the point all of them, with a comma at each thousand; no exponent below
 * 1e15. NaN: a dash. */
void html_number(struct text *out, double value);
/* With the decimals that `largest` needs: a number far smaller becomes 0. */
void html_number_near(struct text *out, double value, double largest);
void html_percent(struct text *out, double share); /* of a share: "26.5 %" */
/* "low to high", or a dash; high NaN: low alone. */
void html_range(struct text *out, double low, double high);
void html_percents(struct text *out, double low, double high);
void html_day(struct text *out, double seconds); /* since 1970: "2024-12-31" */
void html_cell_range(struct text *out, double low, double high);
void html_cell_near(struct text *out, double low, double high, double largest);

#endif
