/* report_page.c - see report_page.h: the head of the page, the metrics, the training. */
#include "cli/report_page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/chart.h"
#include "cli/html.h"
#include "table/part.h"

enum { COLUMNS_SHOWN = 80, CARDS = 4 };

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

/* --- the head --- */

static void put_card(struct text *out, const char *name, double value, const struct interval *i)
{
    text_printf(out, "<div><span>%s</span><b>", name);
    html_number(out, value);
    text_put(out, "</b>");
    if (i && !isnan(i->low)) {
        text_put(out, "<span>95 %: ");
        html_number(out, i->low);
        text_put(out, " to ");
        html_number(out, i->high);
        text_put(out, "</span>");
    }
    text_put(out, "</div>\n");
}

static const struct json *stored(const struct json_doc *metrics, const char *path)
{
    return metrics ? json_path(json_root(metrics), path) : NULL;
}

static double stored_number(const struct json_doc *metrics, const char *part, const char *name)
{
    const struct json *list = part ? stored(metrics, part) : metrics ? json_root(metrics) : NULL;
    const struct json *v = list ? json_get(list, name) : NULL;
    return v && json_kind(v) == JSON_NUMBER ? json_number(v) : (double)NAN;
}

/* The task whose metrics count. */
static int task_of(const struct report *r)
{
    const struct criterion c = {.loss = modelfile_loss(r->file),
                                .classes = r->file->schema->task != TASK_REGRESSION,
                                .class_weight = r->file->class_weight};
    return metric_task(&c, (int)r->file->schema->task, r->file->conformal.rule != 0);
}

static void put_cards(const struct report *r, const struct json_doc *metrics, struct text *out)
{
    static const char *const wanted[] = {"pinball", "coverage", "auc", "accuracy", "rmse", "r2",
                                         "logloss", "macro_f1", "f1", "mae", NULL};
    const char *part = stored(metrics, "test") ? "test" : "valid";
    int count = 0;
    text_put(out, "<div class=\"cards\">\n");
    for (const char *const *name = wanted; *name && count < CARDS; name++) {
        double value = stored_number(metrics, part, *name);
        const struct interval *range = NULL;
        for (uint32_t i = 0; r->measured && i < r->value.metrics.count; i++)
            if (strcmp(r->value.metrics.m[i].type->name, *name) == 0) {
                value = r->value.metrics.m[i].value;
                range = &r->value.metrics.m[i].interval;
            }
        if (isnan(value) || !metric_find(*name, task_of(r)))
            continue;
        put_card(out, *name, value, range);
        count++;
    }
    if (r->measured)
        put_card(out, "rows measured", (double)r->value.rows, NULL);
    text_put(out, "</div>\n");
}

static void put_head(const struct report_request *q, const struct report *r,
                     const struct json_doc *metrics, struct text *out)
{
    const struct schema *s = r->file->schema;
    text_put(out, "<header>\n<h1>");
    html_text_z(out, base_name(q->model));
    text_put(out, "</h1>\n<p>");
    text_printf(out, "A %s model of <b>", task_names[s->task]);
    html_text_z(out, s->columns[s->target].name);
    text_put(out, "</b>");
    for (uint32_t k = 0; k < s->quantile_count; k++)
        text_printf(out, k ? ", %.4g" : ", its quantiles %.4g", s->quantiles[k]);
    if (!s->quantile_count && modelfile_quantile(r->file) > 0)
        text_printf(out, ", its %.4g quantile", modelfile_quantile(r->file));
    if (r->file->member_count > 1)
        text_printf(out, ", the mean of %u networks", r->file->member_count);
    if (r->measured) {
        text_put(out, ", measured on");
        for (size_t i = 0; i < q->input_count; i++) {
            text_put(out, i ? ", <b>" : " <b>");
            html_text_z(out, base_name(q->inputs[i]));
            text_put(out, "</b>");
        }
        text_put(out, ".</p>\n");
    } else {
        text_put(out, ". The figures are those of its training: no other rows were given.</p>\n");
    }
    put_cards(r, metrics, out);
    text_put(out, "</header>\n<main>\n");
}

/* --- metrics --- */

static void put_metric(const struct report *r, const struct json_doc *metrics,
                       const struct metric_type *type, struct text *out)
{
    html_row(out);
    text_printf(out, "<td class=\"t\"><b>%s</b><br /><span class=\"dim\">%s</span></td>",
                type->name, type->help);
    for (uint32_t i = 0; r->measured && i < r->value.metrics.count; i++)
        if (r->value.metrics.m[i].type == type) {
            html_cell_number(out, r->value.metrics.m[i].value);
            html_cell_range(out, r->value.metrics.m[i].interval.low,
                            r->value.metrics.m[i].interval.high);
        }
    html_cell_number(out, stored_number(metrics, "test", type->name));
    html_cell_number(out, stored_number(metrics, "valid", type->name));
    html_cell_number(out, stored_number(metrics, "baseline", type->name));
    html_row_end(out);
}

static void put_metrics(const struct report *r, const struct json_doc *metrics, struct text *out)
{
    static const char *const with[] = {"metric", "these rows", "95 % interval", "test rows",
                                       "validation rows", "a constant answer", NULL};
    static const char *const without[] = {"metric", "test rows", "validation rows",
                                          "a constant answer", NULL};
    html_section(out, "How good it is");
    if (r->measured)
        html_note(out, "Test and validation rows are those of the training's own split. An "
                       "interval says where the metric would lie on other rows of this kind.");
    html_table(out, "Metrics", r->measured ? with : without, 1);
    for (const struct metric_type *t = metric_types; t->name; t++)
        if (metric_belongs(t, task_of(r)))
            put_metric(r, metrics, t, out);
    if (metric_find(metric_loss.name, task_of(r)))
        put_metric(r, metrics, &metric_loss, out);
    html_table_end(out);
    if (r->measured && (r->value.unlabelled || r->value.bad))
        html_note(out, "Left out: %llu rows without a target, %llu that cannot be read.",
                  (unsigned long long)r->value.unlabelled, (unsigned long long)r->value.bad);
    html_section_end(out);
}

/* --- the training --- */

static void put_fact(struct text *out, const char *name, const char *value)
{
    html_row(out);
    text_printf(out, "<td>%s</td>", name);
    html_cell(out, value);
    html_row_end(out);
}

static void put_count(struct text *out, const char *name, double value)
{
    if (isnan(value))
        return;
    html_row(out);
    text_printf(out, "<td>%s</td><td>", name);
    html_number(out, value);
    text_put(out, "</td>");
    html_row_end(out);
}

static void put_setting(const struct report *r, struct text *out, const char *name,
                        const char *key)
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
    put_fact(out, name, value.data ? value.data : "");
    text_free(&value);
}

static void put_labels(const struct schema *s, struct text *out)
{
    struct text list = {0};
    uint32_t count = s->labels ? vocab_count(s->labels) : 0;
    for (uint32_t i = 0; i < count && i < 30; i++)
        text_printf(&list, "%s%s", i ? ", " : "", vocab_text(s->labels, i, NULL));
    if (count > 30)
        text_printf(&list, " and %u more", count - 30);
    if (count)
        put_fact(out, s->task == TASK_BINARY ? "labels, the positive one last" : "labels",
                 list.data);
    text_free(&list);
}

static void put_facts(const struct report *r, const struct json_doc *metrics, struct text *out)
{
    static const char *const names[] = {"", "", NULL};
    const struct schema *s = r->file->schema;
    html_table(out, "Facts of the training", names, 9);
    put_fact(out, "target", s->columns[s->target].name);
    if (s->coding.transform)
        put_fact(out, "learnt through", target_transform_names[s->coding.transform]);
    put_labels(s, out);
    for (int p = 0; p < PARTS; p++) {
        char name[32];
        double rows = stored_number(metrics, "rows", part_words[p]);
        snprintf(name, sizeof name, "%s rows", part_names[p]);
        if (rows > 0) /* an ensemble has other validation rows for each network */
            put_count(out, name, rows);
    }
    put_setting(r, out, "split", "data.split.method");
    put_setting(r, out, "preset", "model.preset");
    put_count(out, "networks", r->file->member_count);
    put_count(out, "epochs", stored_number(metrics, NULL, "epochs"));
    put_count(out, "best epoch", stored_number(metrics, NULL, "best_epoch"));
    put_setting(r, out, "loss", "train.loss.type");
    put_setting(r, out, "optimizer", "train.optimizer.type");
    put_setting(r, out, "learning rate", "train.optimizer.learning_rate");
    put_setting(r, out, "batch size", "train.batch_size");
    put_setting(r, out, "seed", "train.seed");
    put_fact(out, "trained on", r->file->plan.backend);
    put_fact(out, "sha256 of the model", r->sha256);
    html_table_end(out);
}

/* --- learning curves --- */

struct range {
    double low, high;
};
static void take(struct range *range, double value)
{
    if (isfinite(value)) {
        range->low = fmin(range->low, value);
        range->high = fmax(range->high, value);
    }
}

static void curve_chart(const struct report *r, unsigned column, const char *heading,
                        const char *y_title, const char *note, struct text *out)
{
    struct range x = {INFINITY, 1}, y = {INFINITY, -INFINITY};
    const uint32_t most = CHART_SERIES;
    for (uint32_t m = 0; m < r->file->member_count && m < most; m++)
        for (uint32_t i = 0; i < r->file->members[m].epochs; i++) {
            const double *row = r->file->members[m].history + (size_t)i * HISTORY_COLUMNS;
            take(&x, row[HISTORY_EPOCH]);
            take(&y, row[column]);
        }
    if (!(y.high >= y.low))
        return;
    struct chart c = {.x0 = x.low, .x1 = x.high, .y0 = y.low, .y1 = y.high};
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
        mem_free(px);
        mem_free(py);
    }
    chart_end(&c, note);
}

static void put_curves(const struct report *r, const struct json_doc *metrics, struct text *out)
{
    const struct json *metric = stored(metrics, "metric");
    struct text heading = {0};
    bool any = false;
    for (uint32_t m = 0; m < r->file->member_count; m++)
        any = any || r->file->members[m].epochs;
    if (!any) {
        html_note(out, "The model file holds no history of its epochs.");
        return;
    }
    text_printf(&heading, "Validation %s", metric ? json_string(metric) : "metric");
    const char *note = r->file->member_count == 1 ? NULL
                       : r->file->member_count > CHART_SERIES
                           ? "a line a network; the first eight"
                           : "a line a network";
    text_put(out, "<div class=\"charts\">\n");
    curve_chart(r, HISTORY_LOSS, "Training loss", "loss", note, out);
    curve_chart(r, HISTORY_METRIC, heading.data, metric ? json_string(metric) : "metric", note,
                out);
    curve_chart(r, HISTORY_RATE, "Learning rate", "learning rate", note, out);
    text_put(out, "</div>\n");
    text_free(&heading);
}

/* --- columns --- */

static const char *encoding_of(const struct schema *s, const struct column *c)
{
    if (c->number != UINT32_MAX)
        return c->type == COLUMN_DATETIME ? "parts of a date"
                                          : column_scale_names[s->numbers[c->number].scale];
    if (c->category == UINT32_MAX)
        return "";
    if (c->type == COLUMN_TEXT)
        return column_is_tokens(c) ? "tokens" : "hashed terms";
    switch (column_category(c).encode) {
    case CATEGORY_ONEHOT: return "one-hot";
    case CATEGORY_EMBEDDING: return "embedding";
    default: return "target statistics";
    }
}

static void put_range(const struct schema *s, const struct column *c, struct text *out)
{
    const struct number_slot *n = c->type == COLUMN_NUMERIC ? &s->numbers[c->number] : NULL;
    if (n)
        html_cell_range(out, (double)n->low + n->offset, (double)n->high + n->offset);
    else if (c->category != UINT32_MAX && c->type != COLUMN_TEXT)
        text_printf(out, "<td class=\"n\">%u values</td>", vocab_count(c->vocab));
    else
        text_put(out, "<td class=\"n\">\u2013</td>");
}

static void put_columns(const struct schema *s, struct text *out)
{
    static const char *const names[] = {"column", "type", "encoding", "range or values",
                                        "missing in training", NULL};
    size_t shown = 0, left = 0;
    text_put(out, "<h3>Columns</h3>\n");
    html_table(out, "Columns", names, 3);
    for (size_t i = 0; i < s->column_count; i++) {
        const struct column *c = &s->columns[i];
        bool input = c->number != UINT32_MAX || c->category != UINT32_MAX;
        if (shown == COLUMNS_SHOWN) {
            left++;
            continue;
        }
        shown++;
        html_row(out);
        html_cell(out, c->name);
        text_printf(out, "<td>%s</td><td>%s</td>", column_role_names[c->type], encoding_of(s, c));
        if (input) {
            put_range(s, c, out);
            html_cell_number(out, (double)c->missing);
        } else {
            text_put(out, "<td></td><td></td>");
        }
        html_row_end(out);
    }
    html_table_end(out);
    if (left)
        html_note(out, "%zu more columns: `dnn inspect` lists them all.", left);
    if (s->steps)
        html_note(out, "The rows are sequences of %u steps, %zu channels.", s->steps,
                  s->channels.count);
}

static void put_config(const struct report *r, struct text *out)
{
    struct text json = {0};
    if (!r->file->config)
        return;
    json_write(&json, json_root(r->file->config), 2);
    text_put(out, "<details><summary>The config of the training</summary>\n<pre>");
    html_text(out, json.data, json.length);
    text_put(out, "</pre></details>\n");
    text_free(&json);
}

static void put_training(const struct report *r, const struct json_doc *metrics, struct text *out)
{
    html_section(out, "What was trained on what");
    put_facts(r, metrics, out);
    put_curves(r, metrics, out);
    put_columns(r->file->schema, out);
    put_config(r, out);
    html_section_end(out);
}

void report_page(const struct report_request *q, const struct report *r, struct text *out)
{
    struct err ignored = {0};
    struct text title = {0};
    const char *stored_text = r->file->metrics_text ? r->file->metrics_text : "{}";
    struct json_doc *metrics =
        json_parse_own(stored_text, strlen(stored_text), "metrics", &ignored);
    text_printf(&title, "%s: report", base_name(q->model));
    html_begin(out, title.data);
    put_head(q, r, metrics, out);
    put_metrics(r, metrics, out);
    if (r->measured) {
        report_answers(r, out);
        report_groups(r, out);
        report_regions(r, out);
        report_importance(r, out);
        report_effects(r, out);
        report_drift(r, out);
    }
    put_training(r, metrics, out);
    text_put(out, "</main>\n<footer>\n");
    html_note(out, "Made by dnn. The same model and rows give the same page.");
    text_put(out, "</footer>\n");
    html_end(out);
    json_free(metrics);
    text_free(&title);
}
