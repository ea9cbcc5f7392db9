/* thresholds.c - the section of a report about thresholds for the probabilities of two labels:
 * round steps, and the likeliest rows. */
#include <math.h>
#include <string.h>

#include "cli/report/page.h"

static void put_row(const struct report *r, const struct threshold_row *t, bool costs,
                    struct text *out)
{
    bool now = fabs(t->threshold - r->value.serve.decision.threshold) <= 0;
    text_put(out, now ? "<tr class=\"now\">" : "<tr>");
    html_cells(out, "%g %f %f %f", t->threshold, t->flagged, t->precision, t->recall);
    if (costs)
        html_cells(out, "%g", evaluate_cost(&r->value, t));
    html_row_end(out);
}

static void put_steps(const struct report *r, struct text *out)
{
    static const char *const names[] = {"threshold", "rows flagged", "of these right",
                                        "positive rows found", "cost", NULL};
    const char *shown[6];
    const struct answers_kept *k = &r->answers;
    const bool costs = r->value.fp > 0 && r->value.fn > 0;
    struct threshold_table table;
    threshold_table_round(&table, r->value.serve.decision.threshold);
    for (uint64_t i = 0; i < k->rows; i++)
        if (k->label[i] >= 0)
            threshold_table_add(&table, k->score[2 * i + 1], k->label[i] == 1,
                                (double)k->weight[i]);
    memcpy(shown, names, sizeof names);
    if (!costs)
        shown[4] = NULL;
    html_note(out, "A row is answered positive from the threshold on. The model's own is bold.");
    html_table(out, "Thresholds", shown, 0);
    for (uint32_t i = 0; i < table.count; i++) {
        const struct threshold_row t = threshold_table_row(&table, i);
        put_row(r, &t, costs, out);
        if (!(t.flagged > 0) && t.threshold >= r->value.serve.decision.threshold)
            break; /* from here on no row is flagged */
    }
    html_table_end(out);
}

static void put_lift(const struct report *r, struct text *out)
{
    static const char *const names[] = {"likeliest rows", "of these positive",
                                        "positive rows found", "lift", NULL};
    text_put(out, "<h3>Top 5, 10 and 20 %</h3>\n");
    html_note(out, "The rows with the highest probabilities: how many of them are positive, how "
                   "many of all positive rows are among them, and how many times more often they "
                   "are positive than all rows (lift).");
    html_table(out, "Lift", names, 0);
    for (int i = 0; i < LIFT_CUTS; i++) {
        const struct lift *l = &r->value.lift[i];
        html_row(out, "%f %f %f %g", l->top, l->precision, l->found, l->lift);
    }
    html_table_end(out);
}

void report_thresholds(const struct report *r, struct text *out)
{
    if (r->answers.classes != 2 || !r->value.table.count)
        return;
    html_section(out, "Threshold");
    put_steps(r, out);
    put_lift(r, out);
    html_section_end(out);
}
