/* infer_missing.c - the decimal sign of a file, and the texts that mean missing. */
#include <string.h>

#include "base/mem.h"
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
