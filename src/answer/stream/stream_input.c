/* stream_input.c - see stream_work.h. */
#include "answer/stream/stream_work.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/name_list.h"

bool input_columns(struct stream *t, const char *columns, struct err *e)
{
    size_t room = 1;
    for (const char *c = columns; *c; c++)
        room += *c == ',';
    t->given = mem_zero(room, sizeof *t->given);
    for (const char *from = columns; from;) {
        size_t i = t->in.name_count;
        t->given[i] = name_list_next(&from, "--columns", e);
        if (!t->given[i])
            return false;
        t->in.name_count++;
        if (!t->given[i][0])
            return err_set(e, ERR_OPTION_VALUE, "--columns: name %zu is empty", i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(t->given[k], t->given[i]) == 0)
                return err_set(e, ERR_OPTION_VALUE, "--columns: \"%s\" stands twice",
                               text_quote_z(t->given[i]));
    }
    t->in.names = (const char *const *)t->given;
    return true;
}

static void note_ignored(const struct stream *t)
{
    if (t->in.binding.extra == 0)
        return;
    struct text names = {0};
    for (uint32_t i = 0; i < t->in.binding.extra && i < BINDING_EXTRA; i++)
        text_printf(&names, "%s\"%s\"", i ? ", " : "",
                    text_quote_z(t->in.names[t->in.binding.extra_cells[i]]));
    if (t->in.binding.extra > BINDING_EXTRA)
        text_put(&names, ", ...");
    log_note("%u column%s of the input that the model does not know %s ignored: %s",
             t->in.binding.extra, t->in.binding.extra == 1 ? "" : "s",
             t->in.binding.extra == 1 ? "is" : "are", names.data);
    text_free(&names);
}

/* An id that the input lacks is in no line of the output. */
static void note_no_ids(const struct stream *t)
{
    struct text names = {0};
    unsigned lacking = 0;
    for (size_t i = 0; i < t->schema->column_count; i++)
        if (t->schema->columns[i].type == COLUMN_ID && t->in.binding.cell_of[i] < 0)
            text_printf(&names, "%s\"%s\"", lacking++ ? ", " : "",
                        text_quote_z(t->schema->columns[i].name));
    if (lacking)
        log_note("the input lacks the id column%s %s: left out of the output",
                 lacking == 1 ? "" : "s", names.data);
    text_free(&names);
}

/* Warns of a labelled input that lacks the column of weights. */
static void note_weightless(const struct stream *t, const char *path)
{
    for (size_t i = 0; i < t->schema->column_count; i++)
        if (t->schema->columns[i].type == COLUMN_WEIGHT && t->in.binding.cell_of[i] < 0) {
            char name[128];
            snprintf(name, sizeof name, "%s", text_quote_z(t->schema->columns[i].name));
            log_warning("\"%s\" lacks the column of weights \"%s\": every row weighs 1, and these "
                        "metrics do not compare with those of the training",
                        text_quote_z(path), name);
        }
}

const char *input_name(const struct stream *t, size_t at)
{
    const struct rows_request *q = &t->request;
    bool named = q->input_count && strcmp(q->inputs[at], "-") != 0;
    return named ? q->inputs[at] : "standard input";
}

/* Tells the reader which widths a row can have, for an input without header. The target may be
 * absent if it is the last column; then the first good row decides (t->in.least). Rows that cannot
 * be read may come before it. */
static void set_widths(struct stream *t)
{
    const struct rows_request *q = &t->request;
    const struct schema *s = t->schema;
    t->in.least = 0;
    if (t->dialect.header || q->on_bad_row == BAD_ROW_STOP)
        return;
    if (t->given) {
        csv_widths(t->in.csv, t->in.name_count, t->in.name_count);
    } else if (!s->dialect.header) {
        bool less = !q->labelled && schema_target_last(s);
        size_t most = s->file_columns, least = most - less;
        bool ahead = q->passthrough || least == 1;
        csv_widths(t->in.csv, ahead ? least : most, most);
        t->in.least = ahead || !less ? 0 : least;
    }
}

/* True: the columns are known without reading a row, by --columns or by their numbers. */
static bool names_known(struct stream *t)
{
    const struct schema *s = t->schema;
    if (t->given || t->dialect.header || s->dialect.header)
        return t->given;
    t->in.name_count = s->file_columns;
    t->given = mem_zero(t->in.name_count, sizeof *t->given);
    for (size_t i = 0; i < t->in.name_count; i++)
        t->given[i] = mem_string(csv_numbered(i).text);
    t->in.names = (const char *const *)t->given;
    return true;
}

bool stream_width(const struct stream *t, const char *path, int64_t line, size_t count,
                  struct err *e)
{
    const char *plural = count == 1 ? "" : "s";
    if (t->request.columns) {
        err_at(e, ERR_FILE_WIDTH, path, line, 0,
               "the first row has %zu field%s, and --columns names %zu", count, plural,
               t->in.name_count);
        return err_help(e, "name every column of the input, the unused ones too");
    }
    if (t->dialect.header || t->schema->dialect.header)
        return false;
    err_at(e, ERR_FILE_WIDTH, path, line, 0,
           "the first row has %zu field%s, and the model was trained on %u without header", count,
           plural, t->schema->file_columns);
    return err_help(e, "give a file with the same columns in the same order, or name them with "
                       "--columns a,b,c");
}

static bool bind(struct stream *t, struct err *e)
{
    const struct rows_request *q = &t->request;
    const char *const *found;
    const char *path = input_name(t, t->in.at);
    uint32_t extra = t->in.at ? t->extra : UINT32_MAX;
    size_t count;
    if (!csv_header(t->in.csv, &found, &count, e)) {
        /* known columns and an empty file: no rows */
        if (e->id != ERR_CSV_EMPTY || q->input_count > 1 || !names_known(t)) {
            schema_help_header(t->schema, BIND_FEATURES, &t->dialect, path, e);
            return false;
        }
        err_clear(e);
        t->empty = true;
        count = t->in.name_count;
    }
    if (!t->given) {
        t->in.names = found;
        t->in.name_count = count;
    } else if (count && count != t->in.name_count) {
        return stream_width(t, path, 1, count, e);
    }
    csv_hold_records(t->in.csv);
    enum bind_need need = q->labelled ? BIND_TARGET : BIND_FEATURES;
    if (!schema_bind(t->schema, t->in.names, t->in.name_count, need, &t->in.binding, e)) {
        if (q->no_header && !t->given)
            err_help(e,
                     "an input without header needs --columns a,b,c with the names of its columns");
        else if (t->given && strncmp(e->help, "did you mean", 12) != 0)
            err_help(e, "columns are matched by the names that --columns gives; `dnn inspect "
                        "MODEL` lists those of the model");
        schema_help_header(t->schema, BIND_FEATURES, &t->dialect, path, e);
        return err_in_file(e, path);
    }
    t->in.bound = true;
    if (q->again)
        return true;
    t->extra = t->in.binding.extra;
    if (t->extra != extra) /* a later file with the same number is not noted again */
        note_ignored(t);
    if (q->labelled)
        note_weightless(t, path);
    else if (!t->in.at)
        note_no_ids(t);
    return true;
}

bool input_open(struct stream *t, struct err *e)
{
    static char standard_input[] = "-";
    static char *const only_standard_input[] = {standard_input};
    const struct rows_request *q = &t->request;
    t->in.csv = csv_open(&t->dialect, q->input_count ? q->inputs + t->in.at : only_standard_input,
                         1, e);
    if (t->in.csv && t->choice.count)
        csv_choose(t->in.csv, &t->choice);
    if (t->in.csv && t->sink.idle)
        csv_live(t->in.csv, t->sink.idle, t->sink.context);
    if (t->in.csv)
        set_widths(t);
    return t->in.csv && bind(t, e);
}

void stream_look(struct stream *t, const struct csv *csv)
{
    if (!csv)
        return;
    t->in_utf8 = t->in_utf8 || csv_looks_utf8(csv);
    if (!t->foreign.length)
        csv_looks_foreign(csv, &t->foreign);
}

void input_close(struct stream *t, struct input *in)
{
    stream_look(t, in->csv);
    if (in->bound)
        binding_free(&in->binding);
    if (in->csv)
        csv_close(in->csv);
    in->bound = false;
    in->csv = NULL;
}

bool input_alike(const struct input *a, const struct input *b)
{
    bool alike = !a->least && a->name_count == b->name_count;
    for (size_t i = 0; alike && i < a->name_count; i++)
        alike = strcmp(a->names[i], b->names[i]) == 0;
    return alike;
}
