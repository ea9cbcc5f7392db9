/* stats_parts.h - the pieces of stats_fit. Private to stats*.c and leak_check.c. */
#ifndef DNN_TABLE_STATS_PARTS_H
#define DNN_TABLE_STATS_PARTS_H

#include <string.h>

#include "base/text.h"
#include "csv/date.h"
#include "table/stats.h"

enum { STATS_NAMED = 4 }; /* columns or labels that one warning names */

/* stats_number.c: every number_slot but its offset. E12: a column without values. */
bool stats_fit_numbers(struct schema *s, struct table *t, struct err *e);
/* stats_category.c: vocabularies of training values, ids of all rows rewritten. */
bool stats_fit_categories(struct schema *s, struct table *t, struct err *e);
/* stats_category.c: the labels in order, class numbers of all rows rewritten. */
bool stats_fit_labels(struct schema *s, struct table *t, struct err *e);

static inline float stats_number_at(const unsigned char *record, uint32_t slot)
{
    float v;
    memcpy(&v, record + 4 * (size_t)slot, sizeof v);
    return v;
}

static inline int32_t stats_int_at(const unsigned char *record, uint32_t at)
{
    int32_t v;
    memcpy(&v, record + at, sizeof v);
    return v;
}

#endif
