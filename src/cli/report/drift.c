/* report_drift.c - the part of a report about the difference of the rows from the training rows. */
#include <math.h>

#include "base/mem.h"
#include "cli/report/page.h"
#include "table/encoder/drift.h"

enum { DRIFT_SHOWN = 40, HISTOGRAMS = 6, PLACES_SHOWN = 12, VERDICT_NAMES = 5 };
/* The end of the bars: never so near that a small index looks large, never beyond an index that
 * could not be larger in practice. */
#define BAR_LEAST 0.3
#define BAR_MOST 1.0

struct moved {
    uint32_t column;
    double index, chance;
};

/* The columns that have an index, the most drifted first. */
static uint32_t list_moved(const struct report *r, struct moved *list)
{
    const struct encoder *e = r->file->encoders[0];
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->schema->column_count; i++) {
        struct moved m = {.column = i};
        m.index = drift_index(r->drift, e, i, &m.chance);
        if (isnan(m.index))
            continue;
        uint32_t k = count++;
        for (; k && list[k - 1].index < m.index; k--)
            list[k] = list[k - 1];
        list[k] = m;
    }
    return count;
}

static const char *verdict_of(const struct moved *m)
{
    return drift_moved(m->index, m->chance, DRIFT_MUCH)   ? "changed"
           : drift_moved(m->index, m->chance, DRIFT_SOME) ? "changed somewhat"
                                                          : "";
}

static void put_moved(const struct report *r, const struct moved *m, double most, struct text *out)
{
    const struct drift *d = r->drift;
    const struct column *c = &r->file->schema->columns[m->column];
    static const double marks[] = {DRIFT_SOME, DRIFT_MUCH};
    html_row_begin(out);
    html_cells(out, "%s", c->name);
    text_printf(out, "<td>%s</td>", verdict_of(m));
    html_cell_near(out, m->index, (double)NAN, DRIFT_SOME);
    html_cell_near(out, m->chance, (double)NAN, DRIFT_SOME);
    html_cells(out, "%g %g", (double)(d->unknown[m->column] + d->outside[m->column]),
               (double)d->missing[m->column]);
    chart_cell_marked(out, m->index, fmin(fmax(most, BAR_LEAST), BAR_MOST), marks, 2);
    html_row_end(out);
}

/* --- histograms --- */

/* The value of an edge, of a date as one. */
static void put_edge(const struct schema *s, const struct column *c, float edge, struct text *out)
{
    (c->type == COLUMN_DATETIME ? html_day : html_number)(
        out, (double)edge + s->offsets[c->number]);
}

/* The content of a place: a category, or a range of numbers. */
static void put_place(const struct encoder *e, uint32_t column, uint32_t place, struct text *out)
{
    const struct column *c = &e->schema->columns[column];
    const struct distribution *d = &e->columns[column].spread;
    if (place == 0) {
        text_put(out, "(missing)");
    } else if (c->type == COLUMN_CATEGORICAL) {
        if (place == 1)
            text_put(out, "(new or rare)");
        else
            html_text_z(out, vocab_text(e->columns[column].vocab, place - 2, NULL));
    } else if (!d->edges) {
        text_put(out, "(all values)");
    } else {
        text_put(out, place == 1 ? "up to " : "above ");
        put_edge(e->schema, c, d->edge[place == 1 ? 0 : place - 2], out);
        if (place > 1 && place <= d->edges) {
            text_put(out, ", to ");
            put_edge(e->schema, c, d->edge[place - 1], out);
        }
    }
}

/* The places with the largest shares, in their order; to: room for `most`. Returns their number. */
static uint32_t choose_places(const double *before, const double *now, uint32_t places,
                              uint32_t most, uint32_t *to)
{
    uint32_t count = 0;
    for (uint32_t k = 0; k < places; k++) {
        if (!(before[k] > 0 || now[k] > 0))
            continue;
        uint32_t larger = 0;
        for (uint32_t i = 0; larger < most && i < places; i++) {
            const double a = fmax(before[i], now[i]), b = fmax(before[k], now[k]);
            larger += a > b || (a >= b && i < k);
        }
        if (larger < most)
            to[count++] = k;
    }
    return count;
}

static void put_histogram(const struct report *r, uint32_t column, struct text *out)
{
    static const char *const names[] = {"value", "", "training", "now", NULL};
    const struct encoder *e = r->file->encoders[0];
    const struct distribution *spread = &e->columns[column].spread;
    const uint32_t places = spread->places;
    double *before = mem_zero(places, sizeof *before), *now = mem_zero(places, sizeof *now);
    double old_rows = 0, new_rows = 0, most = 0;
    uint32_t shown[PLACES_SHOWN];
    for (uint32_t k = 0; k < places; k++) {
        old_rows += spread->rows[k];
        new_rows += (double)r->drift->places[column][k];
    }
    for (uint32_t k = 0; k < places; k++) {
        before[k] = old_rows > 0 ? spread->rows[k] / old_rows : 0;
        now[k] = new_rows > 0 ? (double)r->drift->places[column][k] / new_rows : 0;
        most = fmax(most, fmax(before[k], now[k]));
    }
    const uint32_t count = choose_places(before, now, places, PLACES_SHOWN, shown);
    html_printf(out, "<figure>\n<h3>%s</h3>\n", e->schema->columns[column].name);
    html_table(out, "Training and now", names, 2);
    for (uint32_t i = 0; i < count; i++) {
        text_put(out, "<tr><td class=\"t\">");
        put_place(e, column, shown[i], out);
        text_put(out, "</td>");
        chart_cell_pair(out, before[shown[i]], now[shown[i]], most);
        html_cells(out, "%f %f", before[shown[i]], now[shown[i]]);
        html_row_end(out);
    }
    html_table_end(out);
    text_put(out, "</figure>\n");
    mem_free(before);
    mem_free(now);
}

static void put_histograms(const struct report *r, const struct moved *list, uint32_t count,
                           struct text *out)
{
    text_put(out, "<h3>The columns that changed most</h3>\n<p class=\"dim\">"
                  "<span class=\"key s7\"><i></i>training</span><span class=\"key s0\"><i></i>"
                  "now</span></p>\n<div class=\"charts\">\n");
    for (uint32_t i = 0; i < count && i < HISTOGRAMS; i++)
        put_histogram(r, list[i].column, out);
    text_put(out, "</div>\n");
}

/* The number of changed columns, and their names. */
static void put_verdict(const struct report *r, const struct moved *list, uint32_t count,
                        struct text *out)
{
    uint32_t much = 0, some = 0;
    for (uint32_t i = 0; i < count; i++)
        if (drift_moved(list[i].index, list[i].chance, DRIFT_MUCH))
            much++;
        else if (drift_moved(list[i].index, list[i].chance, DRIFT_SOME))
            some++;
    text_printf(out, "<p>Of %u columns <b>%u</b> changed much and %u somewhat", count, much, some);
    const char *before = much + some ? ": " : "";
    for (uint32_t i = 0, named = 0; i < count && named < VERDICT_NAMES; i++)
        if (*verdict_of(&list[i])) {
            html_printf(out, "%s<b>%s</b>", before,
                        r->file->schema->columns[list[i].column].name);
            before = ", ";
            named++;
        }
    if (much + some > VERDICT_NAMES)
        text_put(out, ", ..");
    text_put(out, ".</p>\n");
}

void report_drift(const struct report *r, struct text *out)
{
    static const char *const names[] = {"column", "", "stability index", "by chance",
                                        "unseen values", "missing", "", NULL};
    struct moved *list = mem_alloc(r->file->schema->column_count + 1, sizeof *list);
    uint32_t count = r->drift ? list_moved(r, list) : 0;
    html_section(out, "Drift");
    if (!count) {
        html_note(out, "The model file does not say how its training values are spread.");
    } else {
        put_verdict(r, list, count, out);
        html_note(out, "The population stability index compares the values of a column with those "
                       "of the training rows: below %.2g nothing of note, from %.2g on much (the "
                       "dashed marks). Few rows differ by chance alone: a column has changed if "
                       "its index is above %d times the index by chance as well. Unseen: new "
                       "categories, or numbers outside the training range.",
                  DRIFT_SOME, DRIFT_MUCH, DRIFT_CHANCE);
        html_table(out, "Drift", names, 2);
        for (uint32_t i = 0; i < count && i < DRIFT_SHOWN; i++)
            put_moved(r, &list[i], list[0].index, out);
        html_table_end(out);
        if (count > DRIFT_SHOWN)
            html_note(out, "%u more columns: `dnn evaluate --json` has all.", count - DRIFT_SHOWN);
        put_histograms(r, list, count, out);
    }
    html_section_end(out);
    mem_free(list);
}
