/* reading.c - see reading.h. */
#include "answer/stream/reading.h"

#include <string.h>

#include "base/text.h"

bool reading_delimiter(const char *text, char *delimiter, struct err *e)
{
    static const struct { const char *text; char is; } words[] = {
        {",", ','}, {";", ';'}, {"|", '|'}, {"\t", '\t'}, {"\\t", '\t'}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i].text) == 0) {
            *delimiter = words[i].is;
            return true;
        }
    err_set(e, ERR_OPTION_VALUE, "--delimiter: \"%s\" delimits no file", text_quote_z(text));
    return err_expected(e, "one of , ; | \\t (in quotes: ';')");
}

/* The place of a word in a list that has it. */
static int place_of(const char *word, const char *const *words)
{
    int at = 0;
    while (strcmp(words[at], word) != 0)
        at++;
    return at;
}

void reading_apply(const struct reading *r, struct schema *s)
{
    if (r->delimiter) {
        s->dialect.delimiter = r->delimiter;
        s->dialect.tsv = false;
    }
    if (r->encoding)
        s->dialect.encoding = place_of(r->encoding, csv_encoding_names);
    if (r->quote) {
        s->dialect.quote = place_of(r->quote, csv_quote_names);
        s->dialect.tsv = false;
    }
    if (r->decimal)
        s->decimal = r->decimal;
    for (size_t i = 0; r->decimal && i < s->column_count; i++) {
        struct form *f = s->columns[i].form;
        if (f && f->thousands && f->thousands[0] == r->decimal && !f->thousands[1])
            f->thousands[0] = r->decimal == ',' ? '.' : ',';
    }
}
