/* errors.c - the section of a report that shows the rows which are answered worst, with their ids
 * and their cells in the most important columns. */
#include "cli/report/page.h"

enum { IDS = 3, CELLS = 3 };

/* Columns of the schema. */
struct shown {
    size_t columns[IDS + CELLS];
    uint32_t count, ids;
};

/* The ids, else the group; then the most important columns. */
static struct shown choose(const struct report *r)
{
    const struct schema *s = r->file->schema;
    struct shown w = {.count = 0};
    for (size_t k = 0; k < s->column_count && w.count < IDS; k++)
        if (s->columns[k].type == COLUMN_ID)
            w.columns[w.count++] = k;
    if (!w.count && schema_group_column(s) != UINT32_MAX)
        w.columns[w.count++] = schema_group_column(s);
    w.ids = w.count;
    for (uint32_t i = 0; i < r->columns.column_count && w.count < w.ids + CELLS; i++)
        if (r->columns.columns[i].unit->count == 1)
            w.columns[w.count++] = r->columns.columns[i].unit->columns[0];
    return w;
}

static void put_row(const struct report_request *q, const struct report *r,
                    const struct hard_row *h, const struct shown *w, struct text *out)
{
    text_put(out, "<tr><td>");
    if (q->rows.input_count > 1)
        html_printf(out, "%s:", report_file(q->rows.inputs[h->file]));
    text_printf(out, "%lld</td>", (long long)h->line);
    for (uint32_t k = 0; k < w->ids; k++)
        html_cells(out, "%.80s", h->cells[w->columns[k]]);
    if (r->answers.classes)
        html_cells(out, "%.80s %.80s %f", report_label(r, h->label), report_label(r, h->answer),
                   h->probability);
    else
        html_cells(out, "%g %g %g", h->truth, h->value, h->value - h->truth);
    for (uint32_t k = w->ids; k < w->count; k++)
        html_cells(out, "%.80s", h->cells[w->columns[k]]);
    html_row_end(out);
}

/* Names of columns are user text: escaped into `names`, which html_table takes unescaped. */
static void put_table(const struct report_request *q, const struct report *r,
                      const struct shown *w, uint32_t count, struct text *out)
{
    static const char *const labels[3] = {"label", "answer", "its label has"},
                            *const values[3] = {"truth", "answer", "error"};
    const char *const *three = r->answers.classes ? labels : values;
    struct text escaped[IDS + CELLS] = {{0}};
    const char *names[IDS + CELLS + 5] = {"line"};
    uint32_t n = 1;
    for (uint32_t k = 0; k <= w->count; k++) {
        for (int i = 0; k == w->ids && i < 3; i++)
            names[n++] = three[i];
        if (k == w->count)
            break;
        text_put(&escaped[k], "");
        html_text_z(&escaped[k], r->file->schema->columns[w->columns[k]].name);
        names[n++] = escaped[k].data;
    }
    html_table(out, "Errors", names, 99);
    for (uint32_t i = 0; i < count; i++)
        put_row(q, r, &r->hard.rows[i], w, out);
    html_table_end(out);
    for (uint32_t k = 0; k < w->count; k++)
        text_free(&escaped[k]);
}

void report_errors(const struct report_request *q, const struct report *r, struct text *out)
{
    const struct shown w = choose(r);
    uint32_t count = 0;
    while (count < r->hard.count &&
           (!r->answers.classes || r->hard.rows[count].label != r->hard.rows[count].answer))
        count++;
    html_section(out, "Errors");
    if (!count) {
        html_note(out, "None of the %u rows that it is least sure of is answered wrong.",
                  r->hard.count);
    } else {
        html_note(out, r->answers.classes
                           ? "The wrong answers whose true label has the lowest probability. Look "
                             "here for labels that are wrong in the file, and for what the "
                             "columns do not say."
                           : "The answers that are farthest from the truth. Look here for values "
                             "that are wrong in the file, and for what the columns do not say.");
        put_table(q, r, &w, count, out);
    }
    html_section_end(out);
}
