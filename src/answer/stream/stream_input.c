/* stream_input.c - see stream_input.h. */
#include "answer/stream/stream_input.h"

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
        size_t i = t->name_count;
        t->given[i] = name_list_next(&from, "--columns", e);
        if (!t->given[i])
            return false;
        t->name_count++;
        if (!t->given[i][0])
            return err_set(e, ERR_OPTION_VALUE, "--columns: name %zu is empty", i + 1);
        for (size_t k = 0; k < i; k++)
            if (strcmp(t->given[k], t->given[i]) == 0)
                return err_set(e, ERR_OPTION_VALUE, "--columns: \"%s\" stands twice",
                               text_quote_z(t->given[i]));
    }
    t->names = (const char *const *)t->given;
    return true;
}

static void note_ignored(const struct stream *t)
{
    if (t->binding.extra == 0)
        return;
    struct text names = {0};
    for (uint32_t i = 0; i < t->binding.extra && i < BINDING_EXTRA; i++)
        text_printf(&names, "%s\"%s\"", i ? ", " : "",
                    text_quote_z(t->names[t->binding.extra_cells[i]]));
    if (t->binding.extra > BINDING_EXTRA)
        text_put(&names, ", ...");
    log_note("%u column%s of the input that the model does not know %s ignored: %s",
             t->binding.extra, t->binding.extra == 1 ? "" : "s",
             t->binding.extra == 1 ? "is" : "are", names.data);
    text_free(&names);
}

/* An id that the input lacks is in no line of the output. */
static void note_no_ids(const struct stream *t)
{
    struct text names = {0};
    unsigned lacking = 0;
    for (size_t i = 0; i < t->schema->column_count; i++)
        if (t->schema->columns[i].type == COLUMN_ID && t->binding.cell_of[i] < 0)
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
        if (t->schema->columns[i].type == COLUMN_WEIGHT && t->binding.cell_of[i] < 0) {
            char name[128];
            snprintf(name, sizeof name, "%s", text_quote_z(t->schema->columns[i].name));
            log_warning("\"%s\" lacks the column of weights \"%s\": every row weighs 1, and these "
                        "metrics do not compare with those of the training",
                        text_quote_z(path), name);
        }
}

const char *input_name(const struct stream *t, size_t at)
{
    const struct stream_request *q = &t->request;
    bool named = q->input_count && strcmp(q->inputs[at], "-") != 0;
    return named ? q->inputs[at] : "standard input";
}

/* Tells the reader which widths a row can have, for an input without header. The target may be
 * absent if it is the last column; then the first good row decides (t->least). Rows that cannot be
 * read may come before it. */
static void set_widths(struct stream *t)
{
    const struct stream_request *q = &t->request;
    const struct schema *s = t->schema;
    t->least = 0;
    if (t->dialect.header || q->on_bad_row == BAD_ROW_STOP)
        return;
    if (t->given) {
        csv_widths(t->csv, t->name_count, t->name_count);
    } else if (!s->dialect.header) {
        bool less = !q->labelled && schema_target_last(s);
        size_t most = s->file_columns, least = most - less;
        bool ahead = q->passthrough || least == 1;
        csv_widths(t->csv, ahead ? least : most, most);
        t->least = ahead || !less ? 0 : least;
    }
}

/* True: the columns are known without reading a row, by --columns or by their numbers. */
static bool names_known(struct stream *t)
{
    const struct schema *s = t->schema;
    if (t->given || t->dialect.header || s->dialect.header)
        return t->given;
    t->name_count = s->file_columns;
    t->given = mem_zero(t->name_count, sizeof *t->given);
    for (size_t i = 0; i < t->name_count; i++)
        t->given[i] = mem_string(csv_numbered(i).text);
    t->names = (const char *const *)t->given;
    return true;
}

bool stream_width(const struct stream *t, const char *path, int64_t line, size_t count,
                  struct err *e)
{
    const char *plural = count == 1 ? "" : "s";
    if (t->request.columns) {
        err_at(e, ERR_FILE_WIDTH, path, line, 0,
               "the first row has %zu field%s, and --columns names %zu", count, plural,
               t->name_count);
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
    const struct stream_request *q = &t->request;
    const char *const *found;
    const char *path = input_name(t, t->at);
    uint32_t extra = t->at ? t->extra : UINT32_MAX;
    size_t count;
    if (!csv_header(t->csv, &found, &count, e)) {
        /* known columns and an empty file: no rows */
        if (e->id != ERR_CSV_EMPTY || q->input_count > 1 || !names_known(t)) {
            schema_help_header(t->schema, &t->dialect, path, e);
            return false;
        }
        err_clear(e);
        t->empty = true;
        count = t->name_count;
    }
    if (!t->given) {
        t->names = found;
        t->name_count = count;
    } else if (count && count != t->name_count) {
        return stream_width(t, path, 1, count, e);
    }
    csv_hold_records(t->csv);
    enum bind_need need = q->labelled ? BIND_TARGET : BIND_FEATURES;
    if (!schema_bind(t->schema, t->names, t->name_count, need, &t->binding, e)) {
        if (q->no_header && !t->given)
            err_help(e,
                     "an input without header needs --columns a,b,c with the names of its columns");
        else if (t->given && strncmp(e->help, "did you mean", 12) != 0)
            err_help(e, "columns are matched by the names that --columns gives; `dnn inspect "
                        "MODEL` lists those of the model");
        schema_help_header(t->schema, &t->dialect, path, e);
        return err_in_file(e, path);
    }
    t->bound = true;
    if (q->again)
        return true;
    t->extra = t->binding.extra;
    if (t->extra != extra) /* a later file with the same number is not noted again */
        note_ignored(t);
    if (q->labelled)
        note_weightless(t, path);
    else if (!t->at)
        note_no_ids(t);
    return true;
}

bool input_open(struct stream *t, struct err *e)
{
    static char standard_input[] = "-";
    static char *const only_standard_input[] = {standard_input};
    const struct stream_request *q = &t->request;
    t->csv = csv_open(&t->dialect, q->input_count ? q->inputs + t->at : only_standard_input, 1, e);
    if (t->csv && t->choice.count)
        csv_choose(t->csv, &t->choice);
    if (t->csv && q->idle)
        csv_live(t->csv, q->idle, q->idle_context);
    if (t->csv)
        set_widths(t);
    return t->csv && bind(t, e);
}

void stream_look(struct stream *t)
{
    if (!t->csv)
        return;
    t->in_utf8 = t->in_utf8 || csv_looks_utf8(t->csv);
    if (!t->foreign.length)
        csv_looks_foreign(t->csv, &t->foreign);
}

void input_close(struct stream *t)
{
    stream_look(t);
    if (t->bound)
        binding_free(&t->binding);
    if (t->csv)
        csv_close(t->csv);
    t->bound = false;
    t->csv = NULL;
}

/* --- two inputs --- */

void input_keep(struct stream *t, struct input *before)
{
    *before = (struct input){t->csv,     t->names,   t->name_count, t->least, t->at,
                             t->binding, t->bound};
    t->csv = NULL;
    t->bound = false;
}

void input_swap(struct stream *t, struct input *other)
{
    const struct input now = {t->csv,     t->names,   t->name_count, t->least, t->at,
                              t->binding, t->bound};
    t->csv = other->csv;
    t->names = other->names;
    t->name_count = other->name_count;
    t->least = other->least;
    t->at = other->at;
    t->binding = other->binding;
    t->bound = other->bound;
    *other = now;
}

bool input_alike(const struct stream *t, const struct input *before)
{
    bool alike = !t->least && t->name_count == before->name_count;
    for (size_t i = 0; alike && i < t->name_count; i++)
        alike = strcmp(t->names[i], before->names[i]) == 0;
    return alike;
}

void input_forget(struct stream *t, struct input *before)
{
    input_swap(t, before);
    input_close(t);
    input_swap(t, before);
}
