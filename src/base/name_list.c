/* name_list.c - see name_list.h. */
#include "base/name_list.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"

/* The byte after the closing quote; NULL: no closing quote. */
static const char *read_quoted(const char *at, struct text *name)
{
    while (*++at) {
        if (*at == '"' && *++at != '"')
            return at;
        text_char(name, *at);
    }
    return NULL;
}

char *name_list_next(const char **from, const char *option, struct err *e)
{
    struct text name = {0};
    const char *end = *from + strcspn(*from, ",");
    char *given = NULL;
    if (**from == '"')
        end = read_quoted(*from, &name);
    else
        text_add(&name, *from, (size_t)(end - *from));
    if (!end || (*end && *end != ',')) {
        err_set(e, ERR_OPTION_VALUE, "%s: the quote that opens at \"%s\" %s", option,
                text_quote_z(*from), end ? "does not end at a comma" : "does not end");
        err_help(e, "a name with a comma stands in quotes, a quote in it twice, as in CSV: "
                    "\"a,b\",c");
    } else {
        given = mem_string_n(name.length ? name.data : "", name.length);
        *from = *end ? end + 1 : NULL;
    }
    text_free(&name);
    return given;
}
