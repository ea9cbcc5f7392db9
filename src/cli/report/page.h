/* page.h - the page of `dnn report`, from the content in answer/report.h: one file a section. */
#ifndef DNN_CLI_REPORT_PAGE_H
#define DNN_CLI_REPORT_PAGE_H

#include "answer/evaluate/curves.h"
#include "answer/report.h"
#include "check/data_look.h"
#include "cli/report/chart.h"
#include "cli/report/html.h"

void report_page(const struct report_request *q, const struct report *r, struct text *out);

/* Shared by the sections. */
const char *report_file(const char *path); /* its name without the folders */
/* The title of the page of a model or of data: the file's name and the kind. */
void report_title(const char *path, bool data, struct text *out);
/* A label of the model. */
const char *report_label(const struct report *r, uint32_t class_number);
/* NaN: the whole is 0. */
double report_share(double part, double whole);
/* The task whose metrics count (metric_belongs). */
int report_task(const struct report *r);
/* The metric of the loss that the training minimised. */
const struct metric_type *report_counts(const struct report *r);
/* "test", or "valid" if the training had no test rows. */
const char *report_stored_part(const struct report *r);
/* A number of the training's metrics, NaN: there is none. part: "test", "valid", "baseline",
 * "rows"; NULL: beside them. */
double report_stored(const struct report *r, const char *part, const char *name);
/* A value of a metric, in percent if it is a share. high NaN: low alone. */
void report_value(const struct metric_type *t, double low, double high, struct text *out);
void report_cell(const struct metric_type *t, double low, double high, struct text *out);

/* Begins a chart of histograms of one range, a series each: their rows, or, if c->y_percent, their
 * shares. A dashed line stands at mark (NaN: none). */
void report_histograms(struct chart *c, struct text *out, const char *heading, const char *x_title,
                       const struct histogram *all, unsigned count, double mark);

/* A row of a table of two columns, name and value; the value is user text. */
void report_fact(struct text *out, const char *name, const char *value);

/* A page about data. name: the file's; note, date: the page's, NULL: none. */
void report_data_page(const struct data_look *l, const char *name, const char *note,
                      const char *date, struct text *out);
/* The section with the values of each column; a number or a date of a column; the target of a
 * value: a share or a mean. */
void report_data_values(const struct data_look *l, struct text *out);
void data_put_number(const struct look_column *c, double value, struct text *out);
void data_put_target(const struct data_look *l, double target, struct text *out);

/* The sections in the order of the page. Each writes itself, or nothing without content. */
void report_summary(const struct report_request *q, const struct report *r, struct text *out);
void report_scores(const struct report *r, struct text *out);
void report_results(const struct report *r, struct text *out);
void report_classes(const struct report *r, struct text *out);   /* inside of Results */
void report_residuals(const struct report *r, struct text *out); /* inside of Results */
void report_groups(const struct report *r, struct text *out);
void report_thresholds(const struct report *r, struct text *out);
void report_importance(const struct report *r, struct text *out);
void report_effects(const struct report *r, struct text *out);
void report_calibration(const struct report *r, struct text *out);
void report_regions(const struct report *r, struct text *out);
void report_errors(const struct report_request *q, const struct report *r, struct text *out);
void report_drift(const struct report *r, struct text *out);
void report_training(const struct report *r, struct text *out);
void report_card(const struct report_request *q, const struct report *r, struct text *out);

#endif
