/* dates.c - what to say of a column whose cells are dates that no one format reads. */
#include <stdio.h>

#include "base/process/shell.h"
#include "base/text.h"
#include "infer/survey.h"

enum { LEAST = 20 }; /* cells, and different ones, of a column that is a date and not a category */

bool infer_mostly_dates(const struct column_profile *w, uint64_t present, struct infer_column *c)
{
    const struct form_dates *d = &w->date_forms;
    const int best = d->read[1] > d->read[0];
    const bool iso = w->dates >= d->read[best];
    const uint64_t dates = iso ? w->dates : d->read[best], wrong = present - dates;
    if (dates * 2 <= present || !wrong || present < LEAST || c->distinct <= LEAST)
        return false;
    const struct infer_words *words = &w->words_only;
    char first[48], format[2 * FORM_FORMAT + 20] = "";
    int64_t line = words->cells ? words->line : iso ? w->other.line : 0;
    const char *text = words->cells ? words->text[0] : iso && w->other.text ? w->other.text : NULL;
    if (text)
        snprintf(first, sizeof first, "%.40s", text_quote_z(text));
    else
        snprintf(first, sizeof first, "%.15g", w->low[0]); /* numbers among ISO dates */
    if (!iso)
        snprintf(format, sizeof format, "\"format\": \"%.*s\", ", 2 * FORM_FORMAT,
                 text_quote_z(d->format[best]));
    infer_set(c, COLUMN_IGNORE, "dates but for %llu of %llu cells", (unsigned long long)wrong,
              (unsigned long long)present);
    c->unread = true;
    if (text && line)
        infer_more(c->reason, sizeof c->reason, ", the first \"%s\" at line %lld", first,
                   (long long)line);
    else if (w->whole)
        infer_more(c->reason, sizeof c->reason, ", such as \"%s\"", first);
    infer_more(c->reason, sizeof c->reason,
               ": mend %s and run init again, or list what means missing: --set %s",
               wrong == 1 ? "it" : "them",
               shell_word("data.columns.%s={\"type\": \"datetime\", %s\"missing\": [%s]}",
                          shell_key(c->name), format,
                          shell_json(text ? text : w->whole ? first : "..")));
    return true;
}

const char *infer_date_reason(const struct form_dates *d, const char *column, char *out,
                              size_t size)
{
    if (d->unreal) {
        snprintf(out, size, "dates, and %llu of the cells %s that %s not exist, the first \"%s\": "
                 "mend %s and run init again, or list %s under data.missing",
                 (unsigned long long)d->unreal, d->unreal == 1 ? "is a day" : "are days",
                 d->unreal == 1 ? "does" : "do", text_quote_z(d->unreal_day),
                 d->unreal == 1 ? "it" : "them", d->unreal == 1 ? "it" : "them");
        return "days that do not exist";
    }
    if (d->either == d->cells && d->read[0] && d->read[1] && d->read[0] < d->cells &&
        d->read[1] < d->cells) {
        snprintf(out, size, "dates of a mixed order, which no one format reads: %llu cells can "
                 "only be %s and %llu only %s: mend them and run init again",
                 (unsigned long long)(d->cells - d->read[1]), d->format[0],
                 (unsigned long long)(d->cells - d->read[0]), d->format[1]);
        return "dates of a mixed order";
    }
    snprintf(out, size, "dates in no one form that init proposes: dnn reads 2024-12-31");
    const int best = d->read[0] < d->read[1];
    if (d->read[best])
        infer_more(out, size, "; if one format reads them all, --set %s (`dnn help dates`)",
                   shell_word("data.columns.%s={\"type\": \"datetime\", \"format\": %s}",
                              shell_key(column), shell_json(d->format[best])));
    return "dates in no one form";
}
