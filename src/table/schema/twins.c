/* twins.c - see twins.h. */
#include "table/schema/twins.h"

#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/unicode.h"
#include "csv/form/number.h"

enum { NAMED = 3 };

/* "1.00" is "1". */
static void drop_zeros(char *key)
{
    char *point = strchr(key, '.');
    if (!point || point == key || strspn(key + (*key == '-'), "0123456789.") !=
                                      strlen(key + (*key == '-')))
        return;
    const size_t zeros = strspn(point + 1, "0");
    if (zeros && !point[1 + zeros] && text_is_digit(point[-1]))
        *point = '\0';
}

/* The text without what makes twins differ; mem_free. */
static char *key_of(const char *text)
{
    char *key = text_fold(text, false);
    drop_zeros(key);
    if (strcmp(key, "true") == 0 || strcmp(key, "false") == 0) {
        key[0] = *key == 't' ? '1' : '0';
        key[1] = '\0';
    }
    return key;
}

static bool same_mapped(const char *a, const char *b, unsigned how)
{
    struct text x = {0}, y = {0};
    unicode_map(&x, a, strlen(a), how);
    unicode_map(&y, b, strlen(b), how);
    const bool same = x.length == y.length &&
                      (!x.length || memcmp(x.data, y.data, x.length) == 0);
    text_free(&x);
    text_free(&y);
    return same;
}

/* In what two twins differ. */
static const char *difference(const char *a, const char *b)
{
    if (same_mapped(a, b, 0))
        return "accents apart from their letter";
    if (same_mapped(a, b, UNICODE_CASE))
        return "case";
    if (same_mapped(a, b, UNICODE_CASE | UNICODE_CLEAN))
        return "a character without a width";
    char *x = text_fold(a, false), *y = text_fold(b, false);
    const bool same = strcmp(x, y) == 0;
    mem_free(x);
    mem_free(y);
    return same ? "blanks" : "one number";
}

static uint32_t looked_at(const struct vocab *values)
{
    const uint32_t count = vocab_count(values);
    return count < TWINS_MOST ? count : TWINS_MOST;
}

unsigned twins_list(const struct vocab *values, struct text *out)
{
    const uint32_t count = looked_at(values);
    struct vocab *keys = vocab_new();
    uint32_t *first = mem_alloc((size_t)count + 1, sizeof *first);
    unsigned found = 0;
    for (uint32_t i = 0; i < count; i++) {
        char *key = key_of(vocab_text(values, i, NULL));
        const uint32_t known = vocab_count(keys), at = vocab_add(keys, key, strlen(key));
        mem_free(key);
        if (at == known) {
            first[at] = i;
        } else if (found++ < NAMED) {
            text_printf(out, "%s\"%s\" and ", found > 1 ? ", " : "",
                        text_quote_z(vocab_text(values, first[at], NULL)));
            text_printf(out, "\"%s\" (%s)", text_quote_z(vocab_text(values, i, NULL)),
                        difference(vocab_text(values, first[at], NULL),
                                   vocab_text(values, i, NULL)));
        }
    }
    if (found > NAMED)
        text_printf(out, " and %u more", found - NAMED);
    mem_free(first);
    vocab_free(keys);
    return found;
}

uint32_t twins_find(const struct vocab *values, const char *text, size_t length)
{
    const uint32_t count = looked_at(values);
    uint32_t found = UINT32_MAX;
    char *own = mem_string_n(text, length), *want = key_of(own);
    for (uint32_t i = 0; i < count && found == UINT32_MAX; i++) {
        char *key = key_of(vocab_text(values, i, NULL));
        if (strcmp(key, want) == 0)
            found = i;
        mem_free(key);
    }
    mem_free(own);
    mem_free(want);
    return found;
}

bool twins_codes(const struct vocab *values, uint32_t *one, uint32_t *other)
{
    const uint32_t count = looked_at(values);
    size_t length;
    for (uint32_t i = 0; i < count; i++) {
        double value, with;
        const char *text = vocab_text(values, i, &length);
        if (!number_is_code(text, length) ||
            number_parse(text, length, '.', &value) != NUMBER_OK)
            continue;
        for (uint32_t k = 0; k < count; k++) {
            text = vocab_text(values, k, &length);
            if (k == i || number_parse(text, length, '.', &with) != NUMBER_OK || with < value ||
                with > value)
                continue;
            *one = i < k ? i : k;
            *other = i < k ? k : i;
            return true;
        }
    }
    return false;
}
