/* infer.c - the steps of infer_file: dialect, cells, types, target. */
#include "infer/infer.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "base/unicode.h"
#include "csv/first_lines.h"
#include "infer/survey.h"

static bool check_name(const struct infer_request *r, const struct survey *s, const char *what,
                       const char *name, struct err *e)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->names[i], name) == 0)
            return true;
    err_set(e, ERR_INFER_TARGET, "%s: the file has no column \"%s\"", what, text_quote_z(name));
    if (s->names[0][0] == '\'' && text_ends(s->names[0] + 1, "'"))
        return err_help(e, "single quotes are characters in CSV, and here they stand around names: "
                        "%s makes double ones",
                        shell_remedy(r->path, ".mended.csv", "tr \"'\" '\"' < FILE"));
    const char *near = text_nearest(name, s->names, s->count);
    if (near)
        return err_help(e, "did you mean \"%s\"?", text_quote_z(near));
    struct text list = {0};
    for (size_t i = 0; i < s->count && list.length < 300; i++)
        text_printf(&list, "%s\"%s\"", i ? ", " : "", text_quote_z(s->names[i]));
    err_help(e, "its columns are %s%s", list.data, list.length < 300 ? "" : ", ...");
    text_free(&list);
    return false;
}

static bool check_names(const struct infer_request *r, const struct survey *s, struct err *e)
{
    bool good = !r->target || check_name(r, s, "--target", r->target, e);
    for (size_t i = 0; i < r->id_count && good; i++)
        good = check_name(r, s, "--id", r->ids[i], e);
    for (size_t i = 0; i < r->ignored_count && good; i++)
        good = check_name(r, s, "--ignore", r->ignored[i], e);
    return good;
}

/* Refuses a target that no row has, as training would. */
static bool check_target(const struct infer_request *r, const struct infer *i, struct err *e)
{
    struct text list = {0};
    if (i->target == i->count || i->columns[i->target].missing < i->rows)
        return true;
    for (size_t k = 0; k < i->missing.count; k++)
        text_printf(&list, "%s\"%s\"", k ? ", " : "", text_quote_z(i->missing.items[k]));
    err_at(e, ERR_CSV_LABEL_MISSING, r->path, 0, 0,
           "target \"%s\" is missing in every row, %llu in all", text_quote_z(r->target),
           (unsigned long long)i->rows);
    err_help(e, "name another column with --target, or, if one of %s is a class, list what means "
             "missing, as with --set 'data.missing=[\"\"]'", list.data);
    text_free(&list);
    return false;
}

/* Inputs beside texts: networks with many weights for inputs too are slow. */
static bool has_other_inputs(const struct infer *i)
{
    for (size_t c = 0; c < i->count; c++)
        if (c != i->target && infer_is_input(&i->columns[c]))
            return true;
    return false;
}

static void conclude(const struct infer_request *r, const struct survey *s,
                     const struct csv_notes *notes, struct infer *i)
{
    i->dialect = s->dialect;
    infer_types(r, s, i);
    infer_twins(s, i);
    infer_far(r, s, i);
    if (has_other_inputs(i))
        for (size_t c = 0; c < i->count; c++)
            i->columns[c].buckets = 0;
    if (i->target < i->count)
        infer_target(s, i);
    infer_groups(r, s, i);
    infer_time(r, s, i);
    infer_footer(s, i);
    infer_primes(r, s, i);
    csv_notes_text(notes, i->note, sizeof i->note);
}

/* False, without an error of its own: most cells that begin with a quote end with one. */
static bool allows_none(const struct survey *s)
{
    return 2 * s->closed <= s->opened;
}

struct csv *infer_open(const struct infer_request *r, const struct csv_dialect *d, struct err *e)
{
    const char **paths = mem_zero(r->more_count + 1, sizeof *paths);
    paths[0] = r->path;
    for (size_t i = 0; i < r->more_count; i++)
        paths[i + 1] = r->more[i];
    struct csv *c = csv_open(d, (char *const *)(const void *)paths, r->more_count + 1, e);
    mem_free((void *)(uintptr_t)paths);
    return c;
}

static bool is_composed(const char *name, const struct text *composed)
{
    struct text other = {0};
    unicode_map(&other, name, strlen(name), 0);
    const bool same = other.length == composed->length &&
                      memcmp(other.data, composed->data, other.length) == 0;
    text_free(&other);
    return same;
}

char *infer_composed(const struct infer_request *r, const char *name)
{
    struct err e = {0};
    struct csv_dialect d;
    const char *const *names;
    char *found = NULL;
    size_t count = 0;
    struct csv *c = infer_dialect(r, &d, &e) ? infer_open(r, &d, &e) : NULL;
    if (!c || !csv_header(c, &names, &count, &e))
        count = 0;
    struct text composed = {0};
    unicode_map(&composed, name, strlen(name), 0);
    bool exact = false;
    for (size_t i = 0; i < count; i++) {
        exact = exact || strcmp(names[i], name) == 0;
        if (!found && is_composed(names[i], &composed))
            found = mem_string(names[i]);
    }
    text_free(&composed);
    csv_close(c);
    if (exact)
        mem_free(found);
    return exact ? NULL : found;
}

/* Reads the files once with the dialect of s. */
static struct infer *infer_read(const struct infer_request *r, struct survey *s, struct err *e)
{
    struct csv *c = infer_open(r, &s->dialect, e);
    struct infer *i = NULL;
    if (c && csv_header(c, &s->names, &s->count, e) && check_names(r, s, e) &&
        infer_scan(r, c, s, e)) {
        struct csv_notes notes = csv_notes(c);
        s->profiles[0].unnamed = notes.unnamed;
        if (!allows_none(s)) {
            err_at(e, ERR_CSV_QUOTE, r->path, 0, 0, "quotes stand around cells");
        } else if (s->rows || !r->target) {
            i = mem_zero(1, sizeof *i);
            conclude(r, s, &notes, i);
            struct text foreign = {0};
            if (csv_looks_foreign(c, &foreign))
                snprintf(i->page_note, sizeof i->page_note, "%s", foreign.data);
            text_free(&foreign);
            if (!check_target(r, i, e)) {
                infer_free(i);
                i = NULL;
            }
        } else {
            err_at(e, ERR_CSV_NO_ROWS, r->path, 0, 0, "0 data rows%s",
                   s->weight < s->count ? " with a weight above 0" : "");
        }
    }
    if (!i && r->target && (e->id == ERR_INFER_TARGET || e->id == ERR_CSV_HEADER_NAME ||
                            e->id == ERR_CSV_HEADER_DUPLICATE || e->id == ERR_CSV_DELIMITER ||
                            (e->id == ERR_CSV_QUOTE && e->line == 1)))
        first_lines_help(r->path, &(struct csv_dialect){.header = r->header != 0}, &r->target, 1,
                         e);
    infer_scan_free(s);
    csv_close(c);
    return i;
}

/* Reads the file with the quoting of r, and with another encoding if it is not UTF-8. guessed: the
 * quoting is. */
static struct infer *infer_quoted(const struct infer_request *r, bool guessed, struct err *e)
{
    struct survey s = {.guessed = guessed};
    if (!infer_dialect(r, &s.dialect, e))
        return NULL;
    struct csv_dialect dialect = s.dialect;
    struct infer *i = infer_read(r, &s, e);
    if (i || r->encoding >= 0 || e->id != ERR_CSV_ENCODING)
        return i;
    struct err first = *e;
    err_clear(e);
    if (!infer_encoding(r, &dialect.encoding, e))
        return NULL;
    if (dialect.encoding == ENCODING_UTF8) {
        *e = first;
        err_expected(e, "UTF-8, as most of the file's other characters beyond ASCII are");
        err_help(e, "mend the place; or say what the whole file is, as in --set "
                 "data.encoding=cp1252");
        return NULL;
    }
    s = (struct survey){.dialect = dialect, .guessed = guessed};
    i = infer_read(r, &s, e);
    if (i)
        snprintf(i->encoding_note, sizeof i->encoding_note,
                 "line %lld, byte %lld: %.100s, so the file is read as %s", (long long)first.line,
                 (long long)first.column, first.what, csv_encoding_names[dialect.encoding]);
    return i;
}

/* True for errors that a wrong reading of quotes may cause. */
static bool may_be_quotes(const struct err *e)
{
    return e->id == ERR_CSV_QUOTE || e->id == ERR_CSV_UNTERMINATED || e->id == ERR_CSV_RAGGED ||
           e->id == ERR_CSV_LIMIT;
}

struct infer *infer_file(const struct infer_request *r, struct err *e)
{
    static const int others[] = {QUOTE_BACKSLASH, QUOTE_LENIENT, QUOTE_NONE};
    struct infer *i = infer_quoted(r, false, e);
    if (i || r->quote >= 0 || !may_be_quotes(e))
        return i;
    /* the next quoting that reads every line to the same width */
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        struct infer_request other = *r;
        struct err why = {0};
        const int quote = other.quote = others[k];
        i = infer_quoted(&other, true, &why);
        if (i)
            snprintf(i->quote_note, sizeof i->quote_note,
                     "line %lld: %.160s%s; all %llu rows have %zu cells with \"quote\": \"%s\", "
                     "which is written down", (long long)e->line, e->what,
                     e->id == ERR_CSV_UNTERMINATED && quote != QUOTE_BACKSLASH
                         ? ": likely a fault there; if it is, mend it and run init again"
                         : "",
                     (unsigned long long)i->rows, i->count, csv_quote_names[quote]);
        if (i || why.id == ERR_NONE) {
            err_clear(e);
            return i;
        }
    }
    return NULL;
}

void infer_free(struct infer *i)
{
    if (!i)
        return;
    for (size_t c = 0; c < i->count; c++) {
        mem_free(i->columns[c].name);
        form_free(i->columns[c].form);
        opt_strings_free(&i->columns[c].none);
        for (size_t k = 0; k < sizeof i->columns[c].examples / sizeof *i->columns[c].examples; k++)
            mem_free(i->columns[c].examples[k]);
        mem_free(i->columns[c].twins);
    }
    opt_strings_free(&i->missing);
    mem_free(i->columns);
    mem_free(i->positive);
    mem_free(i);
}

void infer_write_dialect(const struct infer *i, struct json_out *out)
{
    const char delimiter[2] = {i->dialect.delimiter, '\0'}, decimal[2] = {i->decimal, '\0'};
    json_put_string(out, "delimiter", delimiter);
    json_put_string(out, "decimal", decimal);
    json_put_string(out, "quote", csv_quote_names[i->dialect.quote]);
    json_put_string(out, "encoding", csv_encoding_names[i->dialect.encoding]);
    json_put_bool(out, "header", i->dialect.header);
}
