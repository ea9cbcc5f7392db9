/* csv_field.c - cells as they are written, by hand from RFC 4180. */
#include "csv/field.h"

#include <string.h>

#include "tap.h"

static const struct {
    const char *cell, *written;
} cells[] = {
    {"plain", "plain"}, {"", ""},           {"a,b", "\"a,b\""},       {"a\"b", "\"a\"\"b\""},
    {"\"", "\"\"\"\""}, {"a\nb", "\"a\nb\""}, {"a\r", "\"a\r\""},     {" a", "\" a\""},
    {"a\t", "\"a\t\""}, {"a b;c", "a b;c"}, {",\"", "\",\"\"\""},
};

int main(void)
{
    struct text out = {0};
    char bytes[FIELD_BYTES(2)];
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        text_clear(&out);
        text_put(&out, "1,");
        field_put(&out, cells[i].cell, strlen(cells[i].cell));
        ok(strcmp(out.data + 2, cells[i].written) == 0 && out.length == strlen(out.data),
           "cell %zu, of %zu bytes", i, strlen(cells[i].cell));
    }
    text_free(&out);
    ok(field_write(bytes, "\"\"", 2, ';') - bytes == (ptrdiff_t)sizeof bytes, "the most bytes");
    ok(field_write(bytes, ";", 1, ';') - bytes == 3 && field_write(bytes, ",", 1, ';') - bytes == 1,
       "another delimiter");
    return done();
}
