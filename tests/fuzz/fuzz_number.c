/* fuzz_number.c - any bytes as a number and as a date: what the grammar takes has the bits that
 * strtod gives, and nothing else is taken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/date.h"
#include "data/number.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=32";
}

static const char *digits(const char *at)
{
    while (*at >= '0' && *at <= '9')
        at++;
    return at;
}

/* The grammar of number.h, over again and slowly. */
static bool fits(const char *at, char decimal)
{
    at += *at == '-';
    const char *from = at;
    if ((at = digits(at)) == from)
        return false;
    if (*at == decimal) {
        from = at + 1;
        if ((at = digits(from)) == from)
            return false;
    }
    if (*at == 'e' || *at == 'E') {
        from = at + 1 + (at[1] == '-' || at[1] == '+');
        if ((at = digits(from)) == from)
            return false;
    }
    return *at == '\0';
}

static void check_number(const char *text, size_t size, char decimal)
{
    char *alone = mem_copy(text, size), *string = mem_string_n(text, size);
    double mine = 0;
    enum number_result r = number_parse(alone, size, decimal, &mine);
    bool good = strlen(string) == size && fits(string, decimal);
    for (char *c = string; decimal != '.' && *c; c++)
        *c = *c == decimal ? '.' : *c;
    double theirs = good ? strtod(string, NULL) : 0;
    enum number_result want = !good                            ? NUMBER_BAD
                              : fabs(theirs) >= 0x1.ffffffp127 ? NUMBER_RANGE
                                                               : NUMBER_OK;
    if (r != want || (r == NUMBER_OK && memcmp(&mine, &theirs, sizeof mine) != 0))
        abort();
    mem_free(alone);
    mem_free(string);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 2000)
        return 0;
    const char *text = (const char *)data;
    check_number(text, size, '.');
    check_number(text, size, ',');
    double seconds, parts[DATE_PARTS];
    char *alone = mem_copy(text, size);
    if (date_parse(alone, size, &seconds)) {
        date_parts(seconds, parts);
        for (int i = 0; i < DATE_PARTS; i++)
            if (!isfinite(parts[i]) || (i && fabs(parts[i]) > 1))
                abort();
    }
    mem_free(alone);
    return 0;
}
