/* infer_propose.c - types a column whose cells are all numbers or dates in another form than dnn's
 * own, with the keys that read them. */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "table/infer_survey.h"

/* True if these other cells, and the numbers with the other sign, read as numbers. *between: what
 * groups digits, or NULL. *proved: no other reading fits all cells. */
static bool are_amounts(const struct watch *w, uint64_t present, bool comma, const char **between,
                        bool *proved)
{
    const struct infer_amounts *a = &w->amounts;
    uint64_t foreign = comma ? w->points : w->commas, odd = comma ? w->odd_points : w->odd_commas;
    const char *other = comma ? "." : ",";
    *between = foreign ? other : a->between[comma];
    bool closed = !*between && !a->unit_count && a->closed && a->closed == a->cells;
    if (closed && w->whole + w->points + w->commas)
        *between = comma ? "." : ","; /* beside plain numbers: (1.50) is -1.50 */
    *proved = closed || a->proofs[comma] || (comma ? w->odd_commas : w->odd_points) ||
              !*between || !strchr(",.", **between);
    return (*between || a->unit_count) && a->read[comma] == a->cells && a->cells == w->others &&
           !(foreign && odd) &&
           !(foreign && a->between[comma] && strcmp(a->between[comma], other) != 0) &&
           !(a->words && a->with_words < present); /* a word must stand in every cell */
}

static void propose_number(const struct watch *w, const char *between, struct infer_column *c)
{
    char *units[INFER_UNITS];
    struct text list = {0};
    for (unsigned i = 0; i < w->amounts.unit_count; i++) {
        units[i] = (char *)(uintptr_t)w->amounts.units[i];
        text_printf(&list, "%s\"%s\"", i ? ", " : "", text_quote_z(units[i]));
    }
    c->type = COLUMN_NUMERIC;
    c->form = form_new(between, units, w->amounts.unit_count, NULL);
    c->kind = "numbers in another form";
    const char *first = w->other ? w->other : w->comma ? w->comma : w->point;
    int64_t line = w->other ? w->other_line : w->comma ? w->comma_line : w->point_line;
    snprintf(c->reason, sizeof c->reason,
             "numbers such as \"%.40s\" (line %lld) in %llu cells:%s%s%s%s%s",
             text_quote_z(first ? first : ""), (long long)line,
             (unsigned long long)(w->others + w->commas), between ? " \"thousands\": \"" : "",
             between ? between : "", between ? "\"" : "",
             list.data ? between ? ", \"unit\": " : " \"unit\": " : "",
             list.data ? list.data : "");
    text_free(&list);
}

/* Numbers that two readings fit. */
static void leave_number(const struct watch *w, const char *between, struct infer_column *c)
{
    const char *first = w->comma ? w->comma : w->point ? w->point : w->other;
    c->type = COLUMN_IGNORE;
    c->kind = "thousands or decimals";
    c->unread = true;
    snprintf(c->reason, sizeof c->reason,
             "nothing proves whether the \"%s\" in \"%.40s\" groups digits or is the decimal sign; "
             "if it groups them, --set 'data.columns.%s={\"type\": \"numeric\", \"thousands\": "
             "\"%s\"}'", between, text_quote_z(first ? first : ""), text_quote_z(c->name), between);
}

static bool propose_date(const struct watch *w, struct infer_column *c)
{
    const char *format = w->date_forms.format[0], *other = w->date_forms.format[1];
    if (!format[0] || w->date_forms.cells != w->others)
        return false;
    c->kind = other[0] ? "dates of two readings" : "dates in another form";
    c->type = other[0] ? COLUMN_IGNORE : COLUMN_DATETIME;
    c->unread = other[0];
    if (other[0]) {
        snprintf(c->reason, sizeof c->reason,
                 "nothing proves whether dates such as \"%.40s\" are %s or %s: no day is above 12; "
                 "say it, as in --set 'data.columns.%s={\"type\": \"datetime\", \"format\": "
                 "\"%s\"}'", text_quote_z(w->other), format, other, text_quote_z(c->name), format);
        return true;
    }
    c->form = form_new(NULL, NULL, 0, format);
    snprintf(c->reason, sizeof c->reason,
             "dates such as \"%.40s\" (line %lld) in %llu cells: \"format\": \"%s\"",
             text_quote_z(w->other), (long long)w->other_line, (unsigned long long)w->others,
             format);
    return true;
}

bool infer_propose(const struct watch *w, const struct infer_cells *n, struct infer_column *c)
{
    const uint64_t present = n->present, read = n->numbers;
    bool comma = n->decimal == ',', proved;
    uint64_t foreign = comma ? w->points : w->commas;
    const char *between;
    if (w->others == present && w->others && propose_date(w, c))
        return true;
    if (w->others + foreign + read != present || (w->others + foreign) * 100 <= present ||
        !are_amounts(w, present, comma, &between, &proved))
        return false;
    /* $1,200 beside 0.25 in another column */
    if (proved || (n->sure && w->amounts.unit_count))
        propose_number(w, between, c);
    else
        leave_number(w, between, c);
    return true;
}
