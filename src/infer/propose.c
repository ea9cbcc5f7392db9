/* propose.c - types a column whose cells are all numbers or dates in another form than dnn's
 * own, with the keys that read them. */
#include <string.h>

#include "base/process/shell.h"
#include "base/text.h"
#include "infer/survey.h"

const char infer_two_readings[] = "thousands or decimals";

/* One letter: 12a beside 12 is the number of a house. */
static bool is_short_word(const struct form_amounts *a)
{
    for (unsigned i = 0; i < a->unit_count; i++)
        if (form_unit(a->units[i], strlen(a->units[i])) == UNIT_WORD && !a->units[i][1])
            return true;
    return false;
}

/* 12% beside 0.12: one of them is a hundred times the other. */
static bool mixes_scales(const struct column_profile *w, bool comma)
{
    const double high = infer_high(w, comma);
    return w->amounts.share[comma] > 1 && high > 0 && high <= 1 && infer_low(w, comma) >= -1;
}

/* True if these other cells, and the numbers with the other sign, read as numbers. *between: what
 * groups digits, or NULL. *proved: no other reading fits all cells. */
static bool are_amounts(const struct column_profile *w, uint64_t present, bool comma,
                        const char **between, bool *proved)
{
    const struct form_amounts *a = &w->amounts;
    uint64_t foreign = w->signs[!comma].cells, odd = w->signs[!comma].odd;
    const char *other = comma ? "." : ",";
    *between = foreign ? other : a->between[comma];
    bool closed = !*between && !a->unit_count && a->closed && a->closed == a->cells;
    if (closed && infer_all_numbers(w))
        *between = comma ? "." : ","; /* beside plain numbers: (1.50) is -1.50 */
    *proved = closed || a->proofs[comma] || w->signs[comma].odd || !*between ||
              !strchr(",.", **between);
    return (*between || a->unit_count) && a->read[comma] == a->cells && a->cells == w->others &&
           !(foreign && odd) &&
           !(foreign && a->between[comma] && strcmp(a->between[comma], other) != 0) &&
           !(a->words && a->with_words * 2 < present) && /* a word stands in most cells */
           !(a->words && a->with_words < present && is_short_word(a)) &&
           !(a->before && !a->proofs[comma]); /* Size 3.5, and not Room 101 */
}

/* The first number with a comma, else with a point. */
static const struct infer_first *first_with_sign(const struct column_profile *w)
{
    return &w->signs[w->signs[1].cells > 0].first;
}

static void propose_number(const struct column_profile *w, uint64_t present, bool comma,
                           const char *between, struct infer_column *c)
{
    const struct form_amounts *a = &w->amounts;
    const bool brackets = between && a->closed && !a->between[0] && !a->between[1] &&
                          !a->unit_count && a->closed == a->cells;
    char *units[FORM_UNITS];
    struct text list = {0};
    for (unsigned i = 0; i < w->amounts.unit_count; i++) {
        units[i] = (char *)(uintptr_t)w->amounts.units[i];
        text_printf(&list, "%s\"%s\"", i ? ", " : "", text_quote_z(units[i]));
    }
    c->form = form_new(between, units, w->amounts.unit_count, NULL);
    const bool differ = form_units_differ(a), some = a->words && a->with_words < present;
    const struct infer_first *first = w->other.text ? &w->other : first_with_sign(w);
    const uint64_t cells = w->others + w->signs[!comma].cells;
    infer_set(c, COLUMN_NUMERIC, "numbers such as \"%.40s\" (line %lld) in %llu cell%s:",
              text_quote_z(first->text ? first->text : ""), (long long)first->line,
              (unsigned long long)cells, cells == 1 ? "" : "s");
    if (between)
        infer_more(c->reason, sizeof c->reason, " \"thousands\": \"%s\"%s", between,
                   list.data ? "," : "");
    if (list.data)
        infer_more(c->reason, sizeof c->reason, " \"unit\": %s", list.data);
    infer_more(c->reason, sizeof c->reason, "%s",
               differ           ? "; amounts of different units count as equal: convert them to "
                                  "one, or leave the column out with --ignore"
               : a->with_limits ? "; < and > are left out: such a cell counts as the limit"
               : some           ? "; cells without the unit count as those with it"
               : !brackets      ? ""
               : first->text && strchr(first->text, '(')
                   ? " (brackets are a minus, and this key reads them)"
                   : " (its sign is a minus, and this key reads it)");
    c->unread = differ || some || a->with_limits; /* a warning */
    if (c->unread)
        c->kind = "numbers of two units";
    text_free(&list);
}

/* 21k is 21000 and not 21. */
static void leave_scaled(const struct column_profile *w, struct infer_column *c)
{
    const char *letter = w->other.text + strlen(w->other.text);
    while (letter > w->other.text && !strchr("0123456789 .,", letter[-1]))
        letter--;
    infer_set(c, COLUMN_IGNORE,
              "numbers such as \"%.40s\" (line %lld) in %llu cells, whose letters may multiply "
              "them (k: thousands), which dnn does not do: write them out, such as 21000; where "
              "it is a unit (m: metres), --set %s",
              text_quote_z(w->other.text), (long long)w->other.line,
              (unsigned long long)w->amounts.scaled,
              shell_word("data.columns.%s={\"type\": \"numeric\", \"unit\": %s}",
                         shell_key(c->name), shell_json(letter)));
    c->unread = true;
}

/* Shares as percents and as fractions. */
static void leave_scales(const struct column_profile *w, bool comma, struct infer_column *c)
{
    infer_set(c, COLUMN_IGNORE,
              "percents such as \"%.40s\" (line %lld) in %llu cells beside fractions up to %.4g: "
              "which are a hundred times the others? Write all in one way, and run init again",
              text_quote_z(w->other.text), (long long)w->other.line,
              (unsigned long long)w->others, infer_high(w, comma));
    c->unread = true;
}

/* Numbers that two readings fit. */
static void leave_number(const struct column_profile *w, const char *between,
                         struct infer_column *c)
{
    const char *first = first_with_sign(w)->text ? first_with_sign(w)->text : w->other.text;
    struct text units = {0};
    for (unsigned i = 0; i < w->amounts.unit_count; i++)
        text_printf(&units, "%s%s", i ? ", " : ", \"unit\": [", shell_json(w->amounts.units[i]));
    if (units.length)
        text_put(&units, "]");
    infer_set(c, COLUMN_IGNORE,
              "nothing proves whether the \"%s\" in \"%.40s\" groups digits or is the decimal "
              "sign; if it groups them, --set %s", between, text_quote_z(first ? first : ""),
              shell_word("data.columns.%s={\"type\": \"numeric\", \"thousands\": %s%s}",
                         shell_key(c->name), shell_json(between),
                         units.length ? units.data : ""));
    c->kind = infer_two_readings;
    c->unread = true;
    text_free(&units);
}

static bool propose_date(const struct column_profile *w, struct infer_column *c)
{
    const char *other, *format = form_dates_format(&w->date_forms, &other);
    if (!format || w->date_forms.cells != w->others)
        return false;
    c->unread = other != NULL;
    if (other) {
        infer_set(c, COLUMN_IGNORE,
                  "nothing proves whether dates such as \"%.40s\" are %s or %s: no day is above "
                  "12; say it, as in --set %s", text_quote_z(w->other.text), format, other,
                  shell_word("data.columns.%s={\"type\": \"datetime\", \"format\": %s}",
                             shell_key(c->name), shell_json(format)));
        return true;
    }
    c->form = form_new(NULL, NULL, 0, format);
    infer_set(c, COLUMN_DATETIME,
              "dates such as \"%.40s\" (line %lld) in %llu cells: \"format\": \"%s\"",
              text_quote_z(w->other.text), (long long)w->other.line, (unsigned long long)w->others,
              format);
    return true;
}

bool infer_propose(const struct column_profile *w, const struct infer_counts *n,
                   struct infer_column *c)
{
    const uint64_t present = n->present, read = n->numbers;
    const bool comma = n->comma;
    const uint64_t foreign = w->signs[!comma].cells;
    const char *between;
    bool proved;
    if (w->others == present && w->others && propose_date(w, c))
        return true;
    if (w->amounts.with_limits * 2 >= present) /* < 20 yrs, > 20 yrs: classes */
        return false;
    const bool marked = w->amounts.unit_count && !w->amounts.words && !w->amounts.between[comma];
    const bool amounts = are_amounts(w, present, comma, &between, &proved);
    if (w->others + foreign + read != present ||
        ((w->others + foreign) * 100 <= present && !marked &&
         !(amounts && between && proved))) /* a slip, but for one ~2.8, or 1,200 beside 0.25 */
        return false;
    if (w->amounts.scaled && w->amounts.scaled + w->amounts.read[comma] == w->others) {
        leave_scaled(w, c);
        return true;
    }
    if (!amounts)
        return false;
    if (mixes_scales(w, comma)) {
        leave_scales(w, comma, c);
        return true;
    }
    /* $1,200 beside 0.25 in another column; the target is never set aside */
    if (proved || (n->sure && (n->target || w->amounts.unit_count)))
        propose_number(w, present, comma, between, c);
    else
        leave_number(w, between, c);
    return true;
}
