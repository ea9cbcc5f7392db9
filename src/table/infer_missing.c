/* infer_missing.c - the decimal sign of a file, and the texts that mean missing. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "table/infer_survey.h"

/* True if 99 % of the cells are numbers with either sign, or may mean missing. */
static bool is_numeric(const struct watch *w)
{
    return (w->others + w->dates) * 100 <= w->whole + w->points + w->commas;
}

/* A column proves its decimal sign if a number cannot have a thousands separator: 1,5 but not
 * 1,234. Numeric columns decide if they prove only one sign. Otherwise the sign with more cells in
 * columns that prove one wins. *sure: numeric columns proved it. */
char infer_decimal(const struct survey *s, bool *sure)
{
    uint64_t points = 0, commas = 0;
    bool point = false, comma = false;
    for (size_t i = 0; i < s->count; i++) {
        const struct watch *w = &s->watches[i];
        points += w->odd_points ? w->points : 0;
        commas += w->odd_commas ? w->commas : 0;
        point |= w->odd_points && is_numeric(w);
        comma |= w->odd_commas && is_numeric(w);
    }
    *sure = point != comma;
    for (size_t i = 0; i < s->count && !point && !comma; i++) {
        const struct infer_amounts *a = &s->watches[i].amounts;
        point |= a->proofs[0] && a->read[0] == a->cells;
        comma |= a->proofs[1] && a->read[1] == a->cells;
    }
    if (point != comma)
        return comma ? ',' : '.';
    return commas > points ? ',' : '.';
}

/* True if all cells are numbers, or all are dates, or in the list of missing texts: those then mean
 * missing. */
static bool is_clean(const struct watch *w, char decimal)
{
    uint64_t numbers = w->whole + (decimal == ',' ? w->commas : w->points);
    uint64_t wrong = w->others + (decimal == ',' ? w->points : w->commas);
    return !wrong && (numbers ? !w->dates : w->dates > 0);
}

static bool listed(const struct opt_strings *list, const char *text)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->items[i], text) == 0)
            return true;
    return false;
}

/* True for codes of two capital letters: EU, AS, NA. NA is then a code. */
bool infer_is_of_codes(const struct watch *w)
{
    return w->others && w->codes == w->others && w->distinct >= 4 &&
           !(w->whole + w->points + w->commas + w->dates);
}

static bool means_nothing(const struct survey *s, int i, char decimal)
{
    for (size_t c = 0; c < s->count; c++) {
        const struct watch *w = &s->watches[c];
        if (w->absent[i] && (i < INFER_ANYWHERE ? !(i == INFER_NA && infer_is_of_codes(w))
                                                : is_clean(w, decimal)))
            return true;
    }
    return false;
}

/* "" and NA always, as in the default of data.missing: a later file may have an NA. */
void infer_missing(const struct infer_request *r, const struct survey *s, char decimal,
                   bool *means_missing, struct opt_strings *out)
{
    const size_t given = r->missing ? r->missing->count : 0;
    bool na = false; /* somewhere */
    for (size_t c = 0; c < s->count; c++)
        na |= s->watches[c].absent[INFER_NA] > 0;
    for (int i = 0; i < INFER_MISSING; i++)
        means_missing[i] = r->missing ? listed(r->missing, infer_missing_texts[i])
                                      : i == 0 || (i == INFER_NA && !na) ||
                                            means_nothing(s, i, decimal);
    out->items = mem_zero(given + INFER_MISSING, sizeof *out->items);
    for (size_t i = 0; i < given; i++)
        out->items[out->count++] = mem_string(r->missing->items[i]);
    for (int i = 0; i < INFER_MISSING && !r->missing; i++)
        if (means_missing[i])
            out->items[out->count++] = mem_string(infer_missing_texts[i]);
}

void infer_missing_note(const struct infer_request *r, const struct survey *s,
                        const bool *means_missing, char *out, size_t size)
{
    struct text list = {0};
    for (int i = INFER_NA + 1; i < INFER_MISSING && !r->missing; i++) {
        uint64_t cells = 0, most = 0;
        size_t columns = 0, first = 0;
        for (size_t c = 0; means_missing[i] && c < s->count; c++) {
            uint64_t of = s->watches[c].absent[i];
            if (!of || (r->target && strcmp(s->names[c], r->target) == 0))
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
        snprintf(out, size, "taken as missing: %s; data.missing lists them; a text that is a "
                 "value is taken out there", list.data);
    text_free(&list);
}
