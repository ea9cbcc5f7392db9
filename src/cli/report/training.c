/* training.c - the section of a report about the training: rows, settings, the members of an
 * ensemble, learning curves. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/report/page.h"
#include "table/schema/part.h"

enum { MEMBERS_MOST = 100 };

void report_fact(struct text *out, const char *name, const char *value)
{
    html_printf(out, "<tr><td>%s</td><td class=\"t\">%s</td></tr>\n", name, value);
}

static void put_count(struct text *out, const char *name, double value)
{
    if (!isnan(value))
        html_printf(out, "<tr><td>%s</td><td>%g</td></tr>\n", name, value);
}

static void put_setting(const struct report *r, struct text *out, const char *name, const char *key)
{
    const struct json_doc *config = r->file->config;
    const struct json *v = config ? json_path(json_root(config), key) : NULL;
    struct text value = {0};
    if (!v || json_kind(v) == JSON_NULL)
        return;
    if (json_kind(v) == JSON_STRING)
        text_put(&value, json_string(v));
    else
        json_write(&value, v, 0);
    report_fact(out, name, value.data ? value.data : "");
    text_free(&value);
}

/* The members of an ensemble of several, as its metrics list them; NULL: one network, or the runs
 * of one kind. */
static const struct json *members_of(const struct report *r)
{
    const struct json *list =
        r->stored ? json_get(json_root(r->stored), "members") : NULL;
    return list && json_kind(list) == JSON_LIST && json_count(list) > 1 ? list : NULL;
}

static void put_facts(const struct report *r, struct text *out)
{
    static const char *const names[] = {"", "", NULL};
    const bool one = !members_of(r); /* else settings are the members' own */
    html_table(out, "Facts of the training", names, 9);
    for (int p = 0; p < PARTS; p++) {
        char name[32];
        double rows = report_stored(r, "rows", part_words[p]);
        snprintf(name, sizeof name, "%s rows", part_names[p]);
        if (rows > 0) /* an ensemble has other validation rows for each network */
            put_count(out, name, rows);
    }
    for (int p = PART_VALID; p < PARTS; p++) {
        char name[48];
        double rows = report_stored(r, "judged", part_words[p]);
        snprintf(name, sizeof name, "%s rows that the time limit left time for", part_names[p]);
        if (rows > 0)
            put_count(out, name, rows);
    }
    put_setting(r, out, "split", "data.split.method");
    if (one)
        put_setting(r, out, "preset", "model.preset");
    put_count(out, "networks", r->file->member_count);
    put_count(out, "epochs", report_stored(r, NULL, "epochs"));
    put_count(out, "best epoch", report_stored(r, NULL, "best_epoch"));
    put_setting(r, out, "loss", "train.loss.type");
    if (one) {
        put_setting(r, out, "optimizer", "train.optimizer.type");
        put_setting(r, out, "learning rate", "train.optimizer.learning_rate");
        put_setting(r, out, "batch size", "train.batch_size");
    }
    put_setting(r, out, "seed", "train.seed");
    report_fact(out, "trained with", r->file->plan.backend);
    html_table_end(out);
}

/* --- members --- */

static double number_of(const struct json *object, const char *name)
{
    const struct json *v = object ? json_get(object, name) : NULL;
    return v && json_kind(v) == JSON_NUMBER ? json_number(v) : (double)NAN;
}

static void put_members(const struct report *r, const struct json *list, struct text *out)
{
    const struct metric_type *shown[2] = {report_counts(r)};
    const char *names[7] = {"member", "", "weight", "networks", shown[0]->name};
    int count = 1;
    for (const struct metric_type *t = metric_types; t->name && count < 2; t++)
        if (metric_belongs(t, report_task(r)) && strcmp(t->name, "pr_auc") != 0 &&
            strcmp(t->name, "accuracy") != 0 && strcmp(t->name, shown[0]->name) != 0) {
            shown[count] = t;
            names[4 + count++] = t->name;
        }
    text_put(out, "<h3>Members</h3>\n");
    html_note(out, "The answer is the mean of the members with these weights. Metrics of rows that "
                   "a member's networks were not trained on.");
    html_table(out, "Members", names, 2);
    for (size_t i = 0; i < json_count(list) && i < MEMBERS_MOST; i++) {
        const struct json *m = json_at(list, i), *name = json_get(m, "name");
        const double weight = number_of(m, "weight");
        html_row_begin(out);
        html_cells(out, "%s", name && json_kind(name) == JSON_STRING ? json_string(name) : "");
        chart_cell(out, fmax(weight, 0), (double)NAN, (double)NAN, 0, 1);
        html_cells(out, "%f %g", weight, number_of(m, "folds"));
        for (int k = 0; k < count; k++)
            report_cell(shown[k], number_of(json_get(m, "valid"), shown[k]->name), (double)NAN,
                        out);
        html_row_end(out);
    }
    html_table_end(out);
}

/* --- learning curves --- */

static void curve_chart(const struct report *r, unsigned column, const char *heading,
                        const char *y_title, const char *note, struct text *out)
{
    struct chart c = {.x0 = INFINITY, .x1 = 1, .y0 = INFINITY, .y1 = -INFINITY};
    const uint32_t most = CHART_SERIES;
    for (uint32_t m = 0; m < r->file->member_count && m < most; m++)
        for (uint32_t i = 0; i < r->file->members[m].epochs; i++) {
            const double *row = r->file->members[m].history + (size_t)i * HISTORY_COLUMNS;
            chart_hold(&c, row[HISTORY_EPOCH], row[column]);
        }
    if (!(c.y1 >= c.y0))
        return;
    chart_begin(&c, out, heading, "epoch", y_title, false);
    for (uint32_t m = 0; m < r->file->member_count && m < most; m++) {
        const struct member *member = &r->file->members[m];
        double *px = mem_alloc((size_t)member->epochs + 1, sizeof *px);
        double *py = mem_alloc((size_t)member->epochs + 1, sizeof *py);
        for (uint32_t i = 0; i < member->epochs; i++) {
            px[i] = member->history[(size_t)i * HISTORY_COLUMNS + HISTORY_EPOCH];
            py[i] = member->history[(size_t)i * HISTORY_COLUMNS + column];
        }
        chart_line(&c, m, px, py, member->epochs, false);
        if (r->file->member_count > 1) {
            char name[32];
            snprintf(name, sizeof name, "network %u", m + 1);
            chart_key(&c, m, name);
        }
        mem_free(px);
        mem_free(py);
    }
    chart_end(&c, note);
}

static void put_curves(const struct report *r, struct text *out)
{
    const struct json *metric = r->stored ? json_get(json_root(r->stored), "metric") : NULL;
    const char *name = metric && json_kind(metric) == JSON_STRING ? json_string(metric) : "metric";
    struct text heading = {0};
    bool any = false;
    for (uint32_t m = 0; m < r->file->member_count; m++)
        any = any || r->file->members[m].epochs;
    if (!any) {
        html_note(out, "The model file holds no history of its epochs.");
        return;
    }
    text_printf(&heading, "Validation %s", name);
    const char *note = r->file->member_count > CHART_SERIES ? "the first eight" : NULL;
    text_put(out, "<div class=\"charts\">\n");
    curve_chart(r, HISTORY_LOSS, "Training loss", "loss", note, out);
    curve_chart(r, HISTORY_METRIC, heading.data, name, note, out);
    text_put(out, "</div>\n");
    text_free(&heading);
}

void report_training(const struct report *r, struct text *out)
{
    const struct json *members = members_of(r);
    html_section(out, "Training");
    put_facts(r, out);
    if (members)
        put_members(r, members, out);
    else
        put_curves(r, out);
    html_section_end(out);
}
