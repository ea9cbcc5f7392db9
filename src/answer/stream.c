/* stream.c - see stream.h. The cells of some blocks are found at a time; what becomes
 * of their rows is stream_work.c's. */
#include "answer/stream.h"

#include <stdio.h>
#include <string.h>

#include "answer/ahead.h"
#include "answer/drift_note.h"
#include "answer/stream_work.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/name_list.h"
#include "base/stop.h"
#include "base/thread.h"

#define GROUP_MOST 4096u
#define GROUP_LEAST 64u
#define TILES 32u                       /* of a full group */
#define GROUP_BYTES ((uint64_t)8 << 20) /* records, logits and probabilities of a group */

/* --- opening --- */

static bool read_given(struct stream *t, const char *columns, struct err *e)
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

/* The model was trained and measured with weights: without them it is another measure. */
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

static const char *input_name(const struct stream *t)
{
    const struct stream_request *q = &t->request;
    bool named = q->input_count && strcmp(q->inputs[t->at], "-") != 0;
    return named ? q->inputs[t->at] : "standard input";
}

/* The message was made by who does not know the file's name. */
static bool name_file(struct err *e, const char *path)
{
    struct err was = *e;
    err_clear(e);
    err_at(e, was.id, path, 0, 0, "%s", was.what);
    e->more = was.more;
    if (was.expected[0])
        err_expected(e, "%s", was.expected);
    if (was.help[0])
        err_help(e, "%s", was.help);
    return false;
}

/* Where rows that cannot be read have no answer, the first one may be such a row too. Such rows are
 * answered before it is known whether the target, which is last, is there: they fit neither way.
 * The reader looks ahead for it only where the answers' header tells, and where a blank line is a
 * row of one cell. */
static void tell_widths(struct stream *t)
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

/* A model without header knows its columns by number, whatever the input holds. */
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
    const char *path = input_name(t);
    uint32_t extra = t->at ? t->extra : UINT32_MAX;
    size_t count;
    if (!csv_header(t->csv, &found, &count, e)) {
        /* known columns and not a byte: no rows, as of a filter that let nothing through */
        if (e->id != ERR_CSV_EMPTY || q->input_count > 1 || !names_known(t))
            return false;
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
    enum bind_need need = q->labelled ? BIND_TARGET : BIND_FEATURES;
    if (!schema_bind(t->schema, t->names, t->name_count, need, &t->binding, e)) {
        if (q->no_header && !t->given)
            err_help(e,
                     "an input without header needs --columns a,b,c with the names of its columns");
        else if (t->given && strncmp(e->help, "did you mean", 12) != 0)
            err_help(e, "columns are matched by the names that --columns gives; `dnn inspect "
                        "MODEL` lists those of the model");
        return name_file(e, path);
    }
    t->bound = true;
    if (q->again)
        return true;
    t->extra = t->binding.extra;
    if (t->extra != extra) /* a later file's are the same, mostly */
        note_ignored(t);
    if (q->labelled)
        note_weightless(t, path);
    return true;
}

/* The input at t->at, whose columns may stand in an order of their own. */
static bool open_input(struct stream *t, struct err *e)
{
    static char standard_input[] = "-";
    static char *const only_standard_input[] = {standard_input};
    const struct stream_request *q = &t->request;
    t->csv = csv_open(&t->dialect, q->input_count ? q->inputs + t->at : only_standard_input, 1, e);
    if (t->csv && q->idle)
        csv_live(t->csv, q->idle, q->idle_context);
    if (t->csv)
        tell_widths(t);
    return t->csv && bind(t, e);
}

static void close_input(struct stream *t)
{
    if (t->csv && csv_looks_utf8(t->csv))
        t->in_utf8 = true;
    if (t->bound)
        binding_free(&t->binding);
    if (t->csv)
        csv_close(t->csv);
    t->bound = false;
    t->csv = NULL;
}

bool stream_open(struct stream *t, struct serve *s, const struct stream_request *q, struct err *e)
{
    *t = (struct stream){
        .serve = s, .schema = s->schema, .request = *q, .dialect = s->schema->dialect};
    if (q->csv)
        t->dialect.delimiter = ',';
    if (q->tsv) {
        t->dialect.delimiter = '\t';
        t->dialect.tsv = true;
    }
    if (q->no_header)
        t->dialect.header = false;
    t->dialect.said = q->labelled         ? CSV_SAID_BY_MODEL
                      : q->csv || q->tsv ? CSV_SAID_BY_IO
                                         : CSV_SAID_BY_MODEL_OR_IO;
    t->dialect.trained = s->schema->dialect.delimiter;
    t->drift = drift_new(t->schema);
    uint64_t row_bytes =
        t->schema->format.stride + (uint64_t)s->outputs * (sizeof(real) + sizeof(double));
    t->group = GROUP_MOST;
    while (t->group > GROUP_LEAST && t->group * row_bytes > GROUP_BYTES)
        t->group /= 2;
    t->tile = t->group / TILES;
    if (q->columns && !read_given(t, q->columns, e))
        return false;
    if (!open_input(t, e))
        return false;
    if (q->rejects) {
        t->reject = reject_open(q->rejects, q->input_count > 1, e);
        if (!t->reject)
            return false;
    }
    return true;
}

bool stream_stopped(struct err *e)
{
    if (!stop_wanted())
        return false;
    stop_error("the end of the input", e);
    return true;
}

/* --- the stream --- */

static void part_new(const struct stream *t, struct part *p, size_t room)
{
    p->records = mem_zero(room, t->schema->format.stride);
    p->logits = mem_zero(room * t->serve->outputs, sizeof *p->logits);
    p->bad = mem_zero(room, sizeof *p->bad);
}

static void part_free(struct part *p)
{
    mem_free(p->records);
    mem_free(p->logits);
    mem_free(p->bad);
}

/* The first rows: how many there are decides what is started, and how large things are. Of what
 * comes bit by bit the first bit tells little: as many are meant as fill a block. */
static void begin_work(struct work *w, const struct csv_block *block, size_t records)
{
    struct stream *t = w->t;
    uint64_t size = t->request.input_count > 1 ? 0 : csv_size(t->csv);
    size_t bytes = block->size;
    if (t->request.idle && csv_waits(t->csv) && csv_more(t->csv) && bytes < CSV_BLOCK_BYTES / 2) {
        records = (records ? records : 1) * (CSV_BLOCK_BYTES / bytes);
        bytes = CSV_BLOCK_BYTES;
    }
    serve_threads(t->serve, records, size ? size : bytes,
                  csv_size(t->csv) == 0);
    size_t room = records < t->group ? records + 1 : t->group;
    if (size == 0 || size > block->size)
        room = t->group;
    t->serve->expected = records < room ? records : room;
    unsigned threads = threads_count();
    part_new(t, &w->now, room);
    if (serve_overlaps(t->serve) && (size == 0 || size > block->size || records > room))
        part_new(t, &w->before, room);
    w->error = mem_zero(threads, sizeof *w->error);
    w->drift = mem_zero(threads, sizeof(struct drift *));
    for (unsigned i = 0; i < threads; i++)
        w->drift[i] = drift_new(t->schema);
    w->undone = drift_new(t->schema);
    t->room = room;
}

static bool answer_groups(struct work *w, const struct stream_sink *sink, struct err *e)
{
    size_t count = w->cells->record_count, room = w->t->room;
    for (size_t at = 0, rows; at < count; at += rows) {
        w->now.first = at;
        w->now.rows = rows = count - at < room ? count - at : room;
        if (!work_group(w, sink, e))
            return false;
    }
    return work_finish(w, sink, e); /* the block is soon the reader's again */
}

/* The first row that has one of two widths says which one rows have. */
static bool settle_width(struct stream *t, const struct csv_cells *cells, struct err *e)
{
    for (size_t i = 0; i < cells->record_count && t->least; i++) {
        size_t width = cells->records[i].cells;
        if (width == t->least) {
            binding_free(&t->binding);
            t->name_count = width;
            t->bound = schema_bind(t->schema, t->names, width, BIND_FEATURES, &t->binding, e);
        }
        if (width == t->name_count)
            t->least = 0;
    }
    return t->bound;
}

/* A record that cannot be cut into cells ends its part of the block: the rest is cut anew. */
static bool answer_block(struct work *w, struct ahead_block *now, const struct stream_sink *sink,
                         struct err *e)
{
    struct stream *t = w->t;
    const struct csv_block *block = &now->block;
    struct csv_cells *cells = &now->cells;
    struct csv_block rest = *block;
    w->cells = cells;
    for (bool more = true, good = now->good; more;) {
        t->blank_lines += cells->blank_lines;
        w->block = &rest;
        if (!w->now.logits)
            begin_work(w, block, cells->record_count);
        if (!settle_width(t, cells, e) || !answer_groups(w, sink, e) ||
            (!good && !work_broken(w, sink, e)))
            return false;
        struct csv_block next;
        more = !good && csv_rest(&rest, cells, &next);
        if (more) {
            struct err syntax = {0};
            rest = next;
            good = csv_cells_parse(&t->dialect, &rest, t->binding.cells, cells, &syntax);
        }
    }
    return true;
}

/* Rows of which none can be read are mostly of another kind than the model's: why is told, and
 * loudly, as whoever asked for quiet gets no answer and exit 0. */
static void note_bad_rows(const struct stream *t)
{
    const char *fate = t->request.on_bad_row == BAD_ROW_SKIP ? "left out" : "no answer";
    unsigned long long bad = t->bad_rows, rows = t->rows;
    const struct err *why = t->alike && t->other_form.id ? &t->other_form : &t->first_bad;
    if (bad < rows) {
        log_note("%llu of %llu rows cannot be read: %s", bad, rows, fate);
        return;
    }
    struct text place = {0};
    if (why->file[0])
        text_printf(&place, "%s:%lld: ", text_quote_z(why->file), (long long)why->line);
    log_loud("%llu of %llu rows cannot be read: %s; %s: %s%s (E%d)%s%s", bad, rows, fate,
             t->alike && bad > 1 ? "all for one reason, as the first" : "the first one",
             place.data ? place.data : "", why->what, (int)why->id, *why->help ? "; " : "",
             why->help);
    text_free(&place);
}

static void note_rows(const struct stream *t)
{
    drift_note(t->drift, t->schema, t->rows);
    if (t->blank_lines)
        log_note("%llu blank line%s left out", (unsigned long long)t->blank_lines,
                 t->blank_lines == 1 ? "" : "s");
    if (t->bad_rows)
        note_bad_rows(t);
}

static bool answer_input(struct work *w, const struct stream_sink *sink, struct err *e)
{
    struct stream *t = w->t;
    struct ahead ahead;
    struct ahead_block *now;
    bool good = true;
    ahead_start(&ahead, t->csv, &t->dialect, t->binding.cells);
    while (good && !t->empty && !stream_stopped(e) && (now = ahead_next(&ahead, e)))
        good = answer_block(w, now, sink, e);
    ahead_end(&ahead);
    good = good && e->id == ERR_NONE;
    return good && !stream_stopped(e); /* it may have come while the last rows were waited for */
}

bool stream_run(struct stream *t, const struct stream_sink *sink, struct err *e)
{
    struct work w = {.t = t};
    bool good = answer_input(&w, sink, e);
    while (good && t->at + 1 < t->request.input_count) {
        close_input(t);
        t->at++;
        good = open_input(t, e) &&
               (!sink->turn || sink->turn(sink->context, e) || name_file(e, input_name(t))) &&
               answer_input(&w, sink, e);
    }
    t->in_utf8 = t->in_utf8 || (t->csv && csv_looks_utf8(t->csv));
    for (unsigned i = 0; w.drift && i < threads_count(); i++) {
        drift_add(t->drift, w.drift[i], t->schema->column_count);
        drift_free(w.drift[i]);
    }
    drift_free(w.undone);
    mem_free(w.drift);
    mem_free(w.error);
    part_free(&w.now);
    part_free(&w.before);
    if (good && !t->request.again)
        note_rows(t);
    if (good && !t->request.again && t->in_utf8)
        log_warning("all text beyond ASCII in the input is valid UTF-8, and the model reads it as "
                    "%s: its categories will not be found; convert the input: iconv -f UTF-8 -t %s",
                    csv_encoding_names[t->dialect.encoding],
                    csv_encoding_names[t->dialect.encoding]);
    return good;
}

bool stream_prepare(struct stream *t, struct err *e)
{
    return !t->reject || reject_prepare(t->reject, e);
}

bool stream_commit(struct stream *t, struct err *e)
{
    struct reject *r = t->reject;
    t->reject = NULL;
    return !r || reject_commit(r, e);
}

void stream_close(struct stream *t)
{
    if (t->reject)
        reject_abort(t->reject);
    close_input(t);
    for (size_t i = 0; t->given && i < t->name_count; i++)
        mem_free(t->given[i]);
    mem_free(t->given);
    drift_free(t->drift);
    memset(t, 0, sizeof *t);
}
