/* field.c - see field.h. */
#include "csv/field.h"

#include <string.h>

static bool blank(char c)
{
    return c == ' ' || c == '\t';
}

static bool needs_quotes(const char *bytes, size_t length, char delimiter)
{
    if (length == 0)
        return false;
    if (blank(bytes[0]) || blank(bytes[length - 1]))
        return true;
    for (size_t i = 0; i < length; i++) {
        char c = bytes[i];
        if (c == delimiter || c == '"' || c == '\n' || c == '\r')
            return true;
    }
    return false;
}

char *field_write(char *to, const char *bytes, size_t length, char delimiter)
{
    if (!needs_quotes(bytes, length, delimiter)) {
        if (length)
            memcpy(to, bytes, length);
        return to + length;
    }
    *to++ = '"';
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"')
            *to++ = '"';
        *to++ = bytes[i];
    }
    *to++ = '"';
    return to;
}

void field_put(struct text *out, const char *bytes, size_t length)
{
    text_room(out, FIELD_BYTES(length) + 1);
    char *end = field_write(out->data + out->length, bytes, length, ',');
    *end = '\0';
    out->length = (size_t)(end - out->data);
}
