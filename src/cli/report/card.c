/* card.c - the section of a report that goes with the model to whom it is handed over: what it
 * answers, from which columns, by which config, and the hashes that name its file. */
#include "cli/report/page.h"

enum { COLUMNS_SHOWN = 80, FILES_SHOWN = 20 };

static void put_labels(const struct schema *s, struct text *out)
{
    struct text list = {0};
    uint32_t count = s->labels ? vocab_count(s->labels) : 0;
    for (uint32_t i = 0; i < count && i < 30; i++)
        text_printf(&list, "%s%s", i ? ", " : "", vocab_text(s->labels, i, NULL));
    if (count > 30)
        text_printf(&list, " and %u more", count - 30);
    if (count)
        report_fact(out, s->task == TASK_BINARY ? "labels, the positive one last" : "labels",
                 list.data);
    text_free(&list);
}

static void put_facts(const struct report_request *q, const struct report *r, struct text *out)
{
    static const char *const names[] = {"", "", NULL};
    const struct schema *s = r->file->schema;
    struct text format = {0};
    html_table(out, "Facts of the model", names, 9);
    report_fact(out, "model", report_file(q->rows.model));
    report_fact(out, "task", task_names[s->task]);
    report_fact(out, "target", s->columns[s->target].name);
    const int transform = r->file->encoders[0]->coding.transform;
    if (transform)
        report_fact(out, "learnt through", target_transform_names[transform]);
    put_labels(s, out);
    text_printf(&format, "%d", r->file->format);
    report_fact(out, "version of the model file", format.data);
    report_fact(out, "version of dnn that made this page", DNN_VERSION);
    report_fact(out, "sha256 of the model", r->sha256);
    for (size_t i = 0; r->data_sha256 && i < q->rows.input_count && i < FILES_SHOWN; i++) {
        html_printf(out, "<tr><td>sha256 of %s</td>", report_file(q->rows.inputs[i]));
        html_cells(out, "%s", r->data_sha256[i]);
        html_row_end(out);
    }
    html_table_end(out);
    text_free(&format);
}

static const char *encoding_of(const struct encoder *e, size_t column)
{
    const struct column *c = &e->schema->columns[column];
    if (c->number != UINT32_MAX)
        return c->type == COLUMN_DATETIME ? "parts of a date"
                                          : column_scale_names[e->numbers[c->number].scale];
    if (c->category == UINT32_MAX)
        return "";
    if (c->type == COLUMN_TEXT)
        return column_is_tokens(c) ? "tokens" : "hashed terms";
    switch (encoder_category(e, column).encode) {
    case CATEGORY_ONEHOT: return "one-hot";
    case CATEGORY_EMBEDDING: return "embedding";
    default: return "target statistics";
    }
}

static void put_range(const struct encoder *e, size_t column, struct text *out)
{
    const struct column *c = &e->schema->columns[column];
    const struct number_slot *n = c->type == COLUMN_NUMERIC ? &e->numbers[c->number] : NULL;
    if (n)
        html_cell_range(out, (double)n->low + n->offset, (double)n->high + n->offset);
    else if (c->category != UINT32_MAX && c->type != COLUMN_TEXT)
        text_printf(out, "<td class=\"n\">%u values</td>", vocab_count(e->columns[column].vocab));
    else
        text_put(out, "<td class=\"n\">\u2013</td>");
}

static void put_columns(const struct encoder *e, struct text *out)
{
    const struct schema *s = e->schema;
    static const char *const names[] = {"column", "type", "encoding", "range or values",
                                        "missing in training", NULL};
    text_put(out, "<h3>Columns</h3>\n");
    html_table(out, "Columns", names, 3);
    for (size_t i = 0; i < s->column_count && i < COLUMNS_SHOWN; i++) {
        const struct column *c = &s->columns[i];
        bool input = c->number != UINT32_MAX || c->category != UINT32_MAX;
        html_row_begin(out);
        html_cells(out, "%s", c->name);
        text_printf(out, "<td>%s</td><td>%s</td>", column_role_names[c->type], encoding_of(e, i));
        if (input) {
            put_range(e, i, out);
            html_cells(out, "%g", (double)e->columns[i].missing);
        } else {
            text_put(out, "<td></td><td></td>");
        }
        html_row_end(out);
    }
    html_table_end(out);
    if (s->column_count > COLUMNS_SHOWN)
        html_note(out, "%zu more columns: `dnn inspect` lists them all.",
                  s->column_count - COLUMNS_SHOWN);
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

void report_card(const struct report_request *q, const struct report *r, struct text *out)
{
    html_section(out, "Model card");
    if (q->note)
        html_printf(out, "<p class=\"note\">%s</p>\n", q->note);
    put_facts(q, r, out);
    put_columns(r->file->encoders[0], out);
    put_config(r, out);
    html_section_end(out);
}
