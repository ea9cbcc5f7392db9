/* cell_error.c - error messages for cells. */
#include "table/encoder/cell_error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/process/shell.h"
#include "base/text.h"
#include "csv/first_lines.h"
#include "csv/form/form_guess.h"
#include "table/schema/twins.h"

static const char *name_of(const struct cell_where *w, size_t column)
{
    return text_quote_z(w->s->columns[column].name);
}

/* Sets the error `column "NAME": ` and the sentence, with the cell's place. */
static __attribute__((format(printf, 4, 5))) bool report(const struct cell_where *w, size_t column,
                                                         enum err_id id, const char *format, ...)
{
    const struct csv_record *r = w->cells->records + w->record;
    int32_t cell = w->b->cell_of[column];
    int64_t line = r->line, place = 0;
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (cell >= 0)
        csv_place(w->block, r, w->cells, (uint32_t)cell, &line, &place);
    err_at(w->e, id, w->block->path, line, place, "column \"%s\": %s", name_of(w, column), what);
    err_excerpt(w->e, w->block->bytes + r->offset, r->bytes);
    return false;
}

/* Writes a list of texts as JSON: ["", "NA"]. */
static void add_missing(const struct opt_strings *missing, struct text *out)
{
    text_char(out, '[');
    for (size_t i = 0; i < missing->count && i < 8; i++)
        text_printf(out, "%s\"%s\"", i ? ", " : "", text_quote_z(missing->items[i]));
    text_put(out, missing->count > 8 ? ", ...]" : "]");
}

static bool expect(const struct cell_where *w, size_t column, const char *what)
{
    const struct opt_strings *own = &w->s->columns[column].none;
    struct text missing = {0};
    add_missing(&w->s->missing, &missing);
    if (own->count)
        text_put(&missing, ", or of the column's missing ");
    if (own->count)
        add_missing(own, &missing);
    err_expected(w->e, "%s, or one of data.missing %s", what, missing.data);
    text_free(&missing);
    return false;
}

bool cell_report_ragged(const struct cell_where *w)
{
    const struct csv_record *r = w->cells->records + w->record;
    const char *other = w->cells->dialect.header ? "header has"
                        : w->encoder             ? "a row has to have"
                                                 : "the first row has";
    err_at(w->e, ERR_CSV_RAGGED, w->block->path, r->line, 0, "%u field%s, %s %zu", r->cells,
           r->cells == 1 ? "" : "s", other, w->b->cells);
    err_excerpt(w->e, w->block->bytes + r->offset, r->bytes);
    if (r->cells > w->b->cells && w->cells->dialect.tsv)
        return err_help(w->e, "--io tsv knows no quoting: a cell cannot hold a tab");
    if (w->cells->dialect.tsv)
        return err_help(w->e, "was the line cut off, or does a cell contain a line end?");
    if (first_lines_row_names(&w->cells->dialect, w->block->path, r,
                              w->cells->cells + r->first_cell, w->b->cells, w->e))
        return false;
    if (r->cells > w->b->cells)
        return err_help(w->e, "quote the cell that contains the delimiter");
    return err_help(w->e, "was the line cut off, does a cell contain a line end that is not "
                          "quoted, or is it a sum below the table, to take out?");
}

/* True for three words or more. */
static bool is_sentence(const struct csv_cell *cell)
{
    unsigned blanks = 0;
    for (uint32_t i = 1; cell && i < cell->length; i++)
        blanks += cell->text[i] == ' ' && cell->text[i - 1] != ' ';
    return blanks > 1;
}

/* General help for a cell. With a model the config cannot change. */
static bool help_cell(const struct cell_where *w, size_t column)
{
    bool first = !w->cells->dialect.header && w->cells->records[w->record].line == 1;
    if (first && w->encoder)
        return err_help(w->e, "if the first line holds names, take it out: %s; else mend the cell",
                        shell_remedy(w->block->path, ".mended.csv", "tail -n +2 FILE"));
    if (first)
        return err_help(w->e, "if the first line holds names, set \"header\": true in the config");
    if (w->encoder)
        return err_help(w->e, "mend the cell");
    if (column == w->s->target)
        return err_help(w->e, "mend the cell; if the target holds words for classes, set \"task\" "
                        "to \"binary\" or \"multiclass\"");
    return err_help(
        w->e, "list the text under data.missing, or give column \"%s\" the type \"%s\"",
        name_of(w, column),
        is_sentence(cell_at(w->b, w->cells, w->record, column)) ? "text" : "categorical");
}

/* A cell in another form than the column's entry says. */
static bool help_form(const struct cell_where *w, size_t column, const char *key)
{
    if (w->encoder)
        return err_help(w->e, "mend the cell; the model was trained with that \"%s\"", key);
    return err_help(w->e,
                    "mend the cell, list the text under data.missing, or change \"%s\" in the "
                    "entry of \"%s\" in data.columns", key, name_of(w, column));
}

bool cell_report_missing(const struct cell_where *w, size_t column)
{
    report(w, column, ERR_CSV_MISSING_VALUE, "the value is missing, and its `impute` is error");
    if (w->encoder)
        return err_help(w->e, "fill the cell");
    return err_help(
        w->e, "set \"impute\" of the column to \"median\", \"mean\" or \"zero\", or fill the cell");
}

/* True if the text is a number without the character `drop`. */
static bool reads_without(const char *text, size_t length, char drop, char decimal)
{
    char kept[64];
    size_t n = 0;
    double v;
    for (size_t i = 0; i < length && n < sizeof kept; i++)
        if (text[i] != drop)
            kept[n++] = text[i];
    return n < length && n < sizeof kept && number_parse(kept, n, decimal, &v) == NUMBER_OK;
}

/* True if `sign` is the last of the two signs in the text. In "1,234.5" the point is the last, so
 * it is the decimal sign. */
static bool ends_with_sign(const struct csv_cell *cell, char sign, char other)
{
    for (uint32_t i = cell->length; i-- > 0;)
        if (cell->text[i] == sign || cell->text[i] == other)
            return cell->text[i] == sign;
    return false;
}

/* True for 93,094: a thousands separator or a decimal comma. */
static bool may_be_thousands(const struct csv_cell *cell, char sign)
{
    const char *at = memchr(cell->text, sign, cell->length);
    const char *from = cell->text + (cell->text[0] == '-');
    return at && *from != '0' && at - from <= 3 && cell->text + cell->length - at == 4;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* False, and no help: no key of the column reads the cell. */
static bool key_help(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    const int which = w->s->decimal == ',';
    struct form_amounts a = {.cells = 0};
    struct text key = {0};
    form_amounts_add(&a, cell->text, cell->length);
    const char *between = a.between[which] ? a.between[which] : a.closed ? which ? "." : "," : NULL;
    if (!a.read[which] || a.words || !(between || a.unit_count) ||
        !(a.proofs[which] || !a.between[which] || !strchr(".,", *between)))
        return false;
    if (between)
        text_printf(&key, "\"thousands\": \"%s\"", between);
    for (unsigned i = 0; i < a.unit_count; i++)
        text_printf(&key, "%s\"%s\"", i ? ", " : key.length ? ", \"unit\": [" : "\"unit\": [",
                    a.units[i]);
    err_help(w->e, "%s%s in the entry of \"%s\" in data.columns reads such cells%s", key.data,
             a.unit_count ? "]" : "", name_of(w, column),
             w->encoder ? "; this model was trained without it" : "");
    text_free(&key);
    return true;
}

static bool number_help(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    char decimal = w->s->decimal, other = decimal == '.' ? ',' : '.';
    double v;
    if (key_help(w, column, cell))
        return false;
    if (w->encoder && (number_parse(cell->text, cell->length, other, &v) == NUMBER_OK ||
                       reads_without(cell->text, cell->length, decimal, other)))
        return err_help(w->e, "the model reads numbers with a decimal %s: write the cell so",
                        decimal == ',' ? "comma" : "point");
    if (number_parse(cell->text, cell->length, other, &v) == NUMBER_OK &&
        may_be_thousands(cell, other))
        return err_help(w->e,
                        "if the %s is the decimal sign of the file, set \"decimal\": \"%c\" in the "
                        "config; if it separates thousands, --set %s",
                        other == ',' ? "comma" : "point", other,
                        shell_word("data.columns.%s={\"type\": \"numeric\", \"thousands\": "
                                   "\"%c\"}", shell_key(name_of(w, column)), other));
    if (number_parse(cell->text, cell->length, other, &v) == NUMBER_OK)
        return err_help(w->e,
                        "if the file uses a decimal %s, set \"decimal\": \"%c\" in the config",
                        other == ',' ? "comma" : "point", other);
    if (cell->length && (is_blank(cell->text[0]) || is_blank(cell->text[cell->length - 1])))
        return err_help(w->e,
                        "take the blanks out of the quotes; outside of quotes they do not count");
    bool thousands = reads_without(cell->text, cell->length, other, decimal) ||
                     reads_without(cell->text, cell->length, '_', decimal) ||
                     reads_without(cell->text, cell->length, ' ', decimal) ||
                     reads_without(cell->text, cell->length, '\'', decimal);
    if (!(thousands && ends_with_sign(cell, decimal, other)) &&
        reads_without(cell->text, cell->length, decimal, other))
        return err_help(
            w->e, "take the thousands separators out, and set \"decimal\": \"%c\" in the config",
            other);
    if (thousands)
        return err_help(w->e, "take the thousands separators out of the numbers");
    int form = form_guess(cell->text, cell->length);
    char reason[200];
    if (form != FORM_NONE && form_reason(form, decimal, reason, sizeof reason))
        return err_help(w->e, "%s", reason);
    return help_cell(w, column);
}

bool cell_report_number(const struct cell_where *w, size_t column, const struct csv_cell *cell,
                        enum number_result why)
{
    const char *text = text_quote(cell->text, cell->length);
    double value;
    if (why == NUMBER_RANGE &&
        number_parse(cell->text, cell->length, w->s->decimal, &value) == NUMBER_OK) {
        report(w, column, ERR_CSV_RANGE, "\"%s\" is too far from the first values of the column",
               text);
        err_expected(w->e, "a number within 3.4028235e38 of %.9g",
                     w->s->offsets[w->s->columns[column].number]);
        return err_help(w->e, w->encoder ? "mend the cell" : "scale the column");
    }
    if (why == NUMBER_RANGE) {
        report(w, column, ERR_CSV_RANGE, "\"%s\" is outside float32 range", text);
        err_expected(w->e, "a number of at most 3.4028235e38");
        return err_help(w->e, w->encoder ? "mend the cell"
                                           : "scale the column, or list the text under "
                                             "data.missing");
    }
    report(w, column, ERR_CSV_NUMBER, "\"%s\" is not a number", text);
    const struct form *form = w->s->columns[column].form;
    if (form_is_duration(form)) {
        expect(w, column, "a duration such as 1:20:00, PT1H20M or 1h 20m");
        return help_form(w, column, "format");
    }
    if (form && (form->thousands || form->unit_count)) {
        struct text amounts = {0};
        text_put(&amounts, "an amount");
        if (form->thousands)
            text_printf(&amounts, ", thousands \"%s\"", text_quote_z(form->thousands));
        for (size_t i = 0; i < form->unit_count; i++)
            text_printf(&amounts, "%s\"%s\"", i ? ", " : ", unit ", text_quote_z(form->units[i]));
        expect(w, column, amounts.data);
        text_free(&amounts);
        return help_form(w, column, !form->unit_count ? "thousands"
                                    : form->thousands ? "thousands\" and \"unit" : "unit");
    }
    expect(w, column, "a decimal number");
    return number_help(w, column, cell);
}

bool cell_report_date(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    report(w, column, ERR_CSV_DATE, "\"%s\" is not a date", text_quote(cell->text, cell->length));
    const struct form *form = w->s->columns[column].form;
    if (form && form->format) {
        char dates[160];
        snprintf(dates, sizeof dates, "a date as \"%s\", the column's format",
                 text_quote_z(form->format));
        expect(w, column, dates);
        return help_form(w, column, "format");
    }
    expect(w, column,
           "YYYY-MM-DD, YYYY/MM/DD or YYYYMMDD, and hh:mm[:ss] behind it; YYYY-MM; hh:mm[:ss]");
    struct form_dates d = {.cells = 0};
    form_dates_add(&d, cell->text, cell->length);
    const char *other, *format = form_dates_format(&d, &other);
    if (!format)
        return help_cell(w, column);
    return err_help(w->e, "\"format\": \"%s\"%s%s%s in the entry of \"%s\" in data.columns reads "
                          "such cells%s", format, other ? " (or \"" : "", other ? other : "",
                    other ? "\")" : "", name_of(w, column),
                    w->encoder ? "; this model was trained without it" : "");
}

bool cell_report_timeless(const struct cell_where *w, size_t column)
{
    report(w, column, ERR_SPLIT_TIME, "the row has no time to split by");
    return err_help(w->e, "fill the cell, or choose another split.method");
}

bool cell_report_placeless(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    report(w, column, ERR_SERIES_ORDER,
           "\"%s\" does not say where the row stands in its sequence",
           text_quote(cell->text, cell->length));
    err_expected(w->e, "a number, or a date");
    return err_help(w->e, "mend the cell, or name another column with data.sequence.order");
}

bool cell_report_unknown(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    report(w, column, ERR_CSV_UNKNOWN_CATEGORY,
           "\"%s\" was not seen in training, and its `unknown` is error",
           text_quote(cell->text, cell->length));
    return err_help(w->e, "train with \"unknown\": \"bucket\" or \"missing\" for this column");
}

bool cell_report_weight(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    report(w, column, ERR_CSV_WEIGHT, "\"%s\" is not a weight",
           text_quote(cell->text, cell->length));
    err_expected(w->e, "a number from 0 to 1e20");
    return err_help(w->e, "mend the cell; a row that is not to count has the weight 0");
}

bool cell_report_unlabelled(const struct cell_where *w, size_t column)
{
    report(w, column, ERR_CSV_LABEL_MISSING, "the target is missing");
    return err_help(w->e, "take the row out, or fill the cell");
}

bool cell_report_domain(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    report(w, column, ERR_CSV_DOMAIN, "\"%s\" has no logarithm (`target_transform` is \"log\")",
           text_quote(cell->text, cell->length));
    err_expected(w->e, "a number above 0");
    err_key(w->e, "target_transform");
    return err_help(w->e, "set `target_transform` to \"cbrt\" or \"quantile\", which take every "
                          "number, or leave the row out");
}

bool cell_report_label(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    struct text known = {0};
    uint32_t count = vocab_count(w->s->labels);
    for (uint32_t i = 0; i < count && i < 6; i++) {
        size_t length;
        const char *label = vocab_text(w->s->labels, i, &length);
        text_printf(&known, "%s\"%s\"", i ? ", " : "", text_quote(label, length));
    }
    report(w, column, ERR_LABEL_UNSEEN, "the label \"%s\" is none of the model's",
           text_quote(cell->text, cell->length));
    err_expected(w->e, "one of %s%s", known.data ? known.data : "none", count > 6 ? ", ..." : "");
    text_free(&known);
    const uint32_t twin = twins_find(w->s->labels, cell->text, cell->length);
    if (twin == UINT32_MAX)
        return false;
    size_t length;
    const char *label = vocab_text(w->s->labels, twin, &length);
    return err_help(w->e, "it differs from \"%s\" in the way it is written alone: write it as "
                          "the training file does", text_quote(label, length));
}

bool cell_report_part(const struct cell_where *w, size_t column, const struct csv_cell *cell)
{
    report(w, column, ERR_CSV_PART, "\"%s\" is no part", text_quote(cell->text, cell->length));
    err_expected(w->e, "train, valid or test");
    return err_help(w->e, "mend the cell, or name the column that says the part of a row");
}
