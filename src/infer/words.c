/* words.c - the few words among the numbers or dates of a column: nil, n.a., TBD, 0000-00-00.
 * A column that is numbers or dates without them is one, and they mean missing there. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/process/shell.h"
#include "base/text.h"
#include "infer/survey.h"

/* bytes of a word; an infinite number that is rarer than one of FEW cells means missing */
enum { LONGEST = 24, FEW = 10 };

static bool is_infinite(const char *text, size_t length)
{
    static const char *const infinite[] = {"inf", "infinity", "\xe2\x88\x9e"};
    const size_t sign = length && (*text == '-' || *text == '+');
    for (size_t i = 0; i < sizeof infinite / sizeof *infinite; i++)
        if (strlen(infinite[i]) == length - sign &&
            strncasecmp(infinite[i], text + sign, length - sign) == 0)
            return true;
    return false;
}

bool infer_is_word(const char *text, size_t length)
{
    size_t zeros = 0, nines = 0, dates = 0, marks = 0;
    if (!length || length > LONGEST || infer_foreign_digit(text, length))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] >= '1' && text[i] <= '8')
            return false;
        zeros += text[i] == '0';
        nines += text[i] == '9';
        marks += strchr("-/.", text[i]) != NULL;
        dates += strchr("09-/.: T", text[i]) != NULL;
    }
    if (nines) /* 99/99/9999 */
        return !zeros && nines == 8 && marks == 2 && dates == length;
    if (zeros && *text != '#') /* 0000-00-00 and #DIV/0! are words, 0 km is none */
        return zeros >= 8 && dates == length;
    return true;
}

void infer_word(struct infer_words *w, const char *text, size_t length, int64_t line)
{
    if (!w->cells++)
        w->line = line;
    for (unsigned i = 0; i < w->count; i++)
        if (strlen(w->text[i]) == length && memcmp(w->text[i], text, length) == 0)
            return;
    if (w->count < INFER_WORDS)
        w->text[w->count++] = mem_string_n(text, length);
    else
        w->more = true;
}

bool infer_without_words(const struct column_profile *w, struct column_profile *plain,
                         struct opt_strings *words, uint64_t *cells, int64_t *line)
{
    *plain = *w;
    *words = (struct opt_strings){0};
    *cells = w->words_only.cells;
    *line = *cells ? w->words_only.line : INT64_MAX;
    if (w->words_only.more)
        return false;
    for (unsigned i = 0; i < w->words_only.count; i++) {
        const char *text = w->words_only.text[i];
        if (is_infinite(text, strlen(text)) && w->words_only.cells * FEW > w->cells) {
            opt_strings_free(words);
            return false;
        }
        opt_strings_add(words, text);
    }
    for (int i = 0; i < INFER_MISSING; i++) {
        if (!w->absent[i].cells || w->absent[i].missing)
            continue;
        plain->absent[i].missing = true;
        opt_strings_add(words, infer_missing_texts[i]);
        *cells += w->absent[i].cells;
        *line = w->absent[i].line < *line ? w->absent[i].line : *line;
    }
    plain->others -= w->words_only.cells;
    plain->cells -= w->words_only.cells;
    plain->other = w->formed;
    if (words->count && words->count <= INFER_WORDS)
        return true;
    opt_strings_free(words);
    return false;
}

void infer_tell_words(const struct opt_strings *words, uint64_t cells, uint64_t all, int64_t line,
                      bool target, struct infer_column *c)
{
    struct text list = {0};
    const bool many = words->count > 1;
    for (size_t i = 0; i < words->count; i++)
        text_printf(&list, "%s\"%s\"", i ? ", " : "", text_quote_z(words->items[i]));
    infer_more(c->far, sizeof c->far,
               "%s%s in %llu of %llu cells (%s line %lld) %s no %s: taken as missing, by the "
               "column's \"missing\"%s --set %s", c->far[0] ? "; " : "", list.data,
               (unsigned long long)cells, (unsigned long long)all,
               cells > 1 ? "the first at" : "at", (long long)line, many ? "are" : "is",
               c->type == COLUMN_DATETIME ? "date" : "number",
               target ? ", and the task is regression; for classes"
                      : "; to keep them as categories,",
               target ? shell_word("data.columns.%s={\"type\": \"categorical\", \"missing\": []}",
                                   shell_key(c->name))
                      : shell_word("data.columns.%s=categorical", shell_key(c->name)));
    text_free(&list);
}

void infer_words_free(struct infer_words *w)
{
    for (unsigned i = 0; i < w->count; i++)
        mem_free(w->text[i]);
}

/* --- labels --- */

bool infer_means_nothing(const char *text)
{
    static const char *const words[] = {
        "none", "null", "nil", "nan", "-", "--", "---", "?", "??", ".", "*", "_", "#", "unknown",
        "missing", "n/a", "na", "n.a.", "n.a", "tbd", "undefined", "unspecified", "not available",
        "not known", "no data", "no value", "not set", "empty", "blank", "unbekannt",
        "keine angabe", "k.a.", "inconnu", "desconocido", "sconosciuto", "onbekend", "nieznany",
        "#n/a", "(none)", "(null)", "(blank)", "(missing)", "<none>", "<null>"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(words[i], text) == 0)
            return true;
    return false;
}
