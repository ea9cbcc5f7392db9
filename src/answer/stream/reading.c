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

void reading_apply(const struct reading *r, struct schema *s)
{
    if (r->delimiter) {
        s->dialect.delimiter = r->delimiter;
        s->dialect.tsv = false;
    }
    if (r->encoding)
        s->dialect.encoding = r->encoding - 1;
    if (r->quote) {
        s->dialect.quote = r->quote - 1;
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
