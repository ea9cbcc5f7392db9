/* report_page.h - the page of `dnn report`, from the content in answer/report.h. */
#ifndef DNN_CLI_REPORT_PAGE_H
#define DNN_CLI_REPORT_PAGE_H

#include "answer/report.h"

void report_page(const struct report_request *q, const struct report *r, struct text *out);

/* report_charts.c: the part about labelled rows */
void report_answers(const struct report *r, struct text *out);
void report_groups(const struct report *r, struct text *out); /* report_groups.c */
void report_importance(const struct report *r, struct text *out);
void report_regions(const struct report *r, struct text *out); /* report_regions.c */
void report_effects(const struct report *r, struct text *out); /* report_effects.c */
void report_drift(const struct report *r, struct text *out); /* report_drift.c */

#endif
