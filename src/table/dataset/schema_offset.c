/* schema_offset.c - chooses the number that is subtracted from a column before it is rounded to
 * float32. */
#include <math.h>

#include "csv/form/date.h"
#include "csv/form/number.h"
#include "table/encoder/cell.h"

/* Rows examined. They are parsed twice, so they must be few. */
#define OFFSET_ROWS 1000u

struct span {
    double first, low, high;
    bool any, exact; /* exact: each value is a float32 */
};

static void span_add(struct span *s, double value)
{
    if (!s->any)
        *s = (struct span){value, value, value, true, true};
    s->low = value < s->low ? value : s->low;
    s->high = value > s->high ? value : s->high;
    s->exact = s->exact && (double)(float)value == value;
}

/* A float32 has 24 bits. If values are 32 times larger than their spread, 5 bits are constant;
 * subtracting the first value in double recovers them. Values that fit are unchanged. */
static double offset_of(const struct span *s, bool always)
{
    double size = fmax(fabs(s->low), fabs(s->high));
    if (!s->any || (!always && (s->exact || size <= 32 * (s->high - s->low))))
        return 0;
    return s->first;
}

void schema_offsets_decide(struct schema *s, const struct binding *b,
                           const struct csv_cells *cells)
{
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        if (c->number == UINT32_MAX || b->cell_of[i] < 0)
            continue;
        struct span span = {0};
        for (size_t r = 0; r < cells->record_count && r < OFFSET_ROWS; r++) {
            const struct csv_record *record = &cells->records[r];
            if ((uint32_t)b->cell_of[i] >= record->cells || cell_left_out(s, b, cells, r))
                continue;
            const struct csv_cell *cell =
                &cells->cells[record->first_cell + (uint32_t)b->cell_of[i]];
            double value;
            if (cell_is_missing(s, i, cell->text, cell->length))
                continue;
            bool read = c->type == COLUMN_DATETIME
                            ? column_date(s, i, cell->text, cell->length, &value)
                            : column_number(s, i, cell->text, cell->length, &value) == NUMBER_OK;
            if (read)
                span_add(&span, value);
        }
        s->offsets[c->number] = offset_of(&span, c->type == COLUMN_DATETIME);
    }
}
