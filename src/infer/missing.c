/* missing.c - the decimal sign of a file, and the texts that mean missing. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "infer/survey.h"

/* True if 99 % of the cells are numbers with either sign, or may mean missing. */
static bool is_numeric(const struct column_profile *w)
{
    return (w->others + w->dates) * 100 <= infer_all_numbers(w);
}

/* A column proves its decimal sign if a number cannot have a thousands separator: 1,5 but not
 * 1,234. Numeric columns decide if they prove only one sign. Otherwise the sign with more cells in
 * columns that prove one wins. *sure: numeric columns proved it. */
char infer_decimal(const struct survey *s, bool *sure)
{
    uint64_t cells[2] = {0, 0}; /* a point, a comma */
    bool proved[2] = {false, false};
    for (size_t i = 0; i < s->count; i++)
        for (int k = 0; k < 2; k++) {
            const struct infer_sign *sign = &s->profiles[i].signs[k];
            cells[k] += sign->odd ? sign->cells : 0;
            proved[k] |= sign->odd && is_numeric(&s->profiles[i]);
        }
    *sure = proved[0] != proved[1];
    for (size_t i = 0; i < s->count && !proved[0] && !proved[1]; i++) {
        const struct form_amounts *a = &s->profiles[i].amounts;
        for (int k = 0; k < 2; k++)
            proved[k] = a->proofs[k] && a->read[k] == a->cells;
    }
    if (proved[0] != proved[1])
        return proved[1] ? ',' : '.';
    return cells[1] > cells[0] ? ',' : '.';
}

/* True if all cells are numbers, or all are dates, or in the list of missing texts: those then mean
 * missing. */
static bool is_clean(const struct column_profile *w, char decimal)
{
    uint64_t numbers = w->whole + w->signs[decimal == ','].cells;
    uint64_t wrong = w->others + w->signs[decimal != ','].cells;
    return !wrong && (numbers ? !w->dates : w->dates > 0);
}

/* True for codes of two capital letters: EU, AS, NA. NA is then a code. */
bool infer_is_of_codes(const struct column_profile *w)
{
    return w->others && w->codes == w->others && w->distinct >= 4 &&
           !(infer_all_numbers(w) + w->dates);
}

enum meaning { NOT_THERE, NO_VALUE, A_VALUE };

/* The meaning of one of infer_missing_texts in a column. */
static enum meaning meaning_of(const struct column_profile *w, int i, char decimal)
{
    if (!w->absent[i].cells)
        return NOT_THERE;
    const bool missing = i < INFER_ANYWHERE ? !(i == INFER_NA && infer_is_of_codes(w))
                                            : is_clean(w, decimal);
    return missing ? NO_VALUE : A_VALUE;
}

/* "" and NA always, as in the default of data.missing: a later file may have an NA. A text that
 * means missing in one column and is a value of another one is in the list of the former alone. */
void infer_missing(const struct infer_request *r, const struct survey *s, char decimal,
                   struct infer *out)
{
    if (r->missing)
        out->missing = opt_strings_copy(r->missing);
    for (size_t c = 0; c < s->count; c++)
        if (s->profiles[c].own)
            out->columns[c].none = opt_strings_copy(s->profiles[c].own);
    for (int i = 0; i < INFER_MISSING; i++) {
        const char *text = infer_missing_texts[i];
        bool seen[] = {false, false, false};
        for (size_t c = 0; c < s->count; c++)
            seen[meaning_of(&s->profiles[c], i, decimal)] = true;
        const bool all = r->missing ? opt_strings_has(r->missing, text, strlen(text))
                                    : i == 0 || (seen[NO_VALUE] && !seen[A_VALUE]) ||
                                          (i == INFER_NA && !seen[A_VALUE]);
        if (all && !r->missing)
            opt_strings_add(&out->missing, text);
        for (size_t c = 0; c < s->count; c++) {
            struct column_profile *w = &s->profiles[c];
            const bool own = !all && !r->missing && meaning_of(w, i, decimal) == NO_VALUE;
            w->absent[i].missing = all || own;
            if (own)
                opt_strings_add(&out->columns[c].none, text);
        }
    }
}

void infer_missing_note(const struct infer_request *r, const struct survey *s,
                        char *out, size_t size)
{
    struct text list = {0};
    for (int i = INFER_NA + 1; i < INFER_MISSING && !r->missing; i++) {
        uint64_t cells = 0, most = 0;
        size_t columns = 0, first = 0;
        for (size_t c = 0; c < s->count; c++) {
            const struct infer_absent *a = &s->profiles[c].absent[i];
            const uint64_t of = a->missing ? a->cells : 0;
            if (!of || c == s->target)
                continue;
            first = of > most ? c : first;
            most = of > most ? of : most;
            cells += of;
            columns++;
        }
        if (!cells || list.length > 160)
            continue;
        char name[60];
        snprintf(name, sizeof name, "%.50s", text_quote_z(s->names[first]));
        text_printf(&list, "%s\"%s\" in column \"%s\"", list.length ? ", " : "",
                    text_quote_z(infer_missing_texts[i]), name);
        if (columns > 1)
            text_printf(&list, " and %zu more", columns - 1);
        text_printf(&list, " (%llu cell%s)", (unsigned long long)cells, cells == 1 ? "" : "s");
    }
    if (list.length)
        snprintf(out, size, "taken as missing: %s; data.missing lists them, or the column's "
                 "missing; a text that is a value is taken out there", list.data);
    text_free(&list);
}
