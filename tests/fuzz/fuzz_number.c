/* fuzz_number.c - any bytes as a number and as a date: what the grammar takes has the bits that
 * strtod gives, and nothing else is taken. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "table/encoder/cell_run.h"
#include "csv/form/date.h"
#include "csv/form/number.h"

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
    at += *at == '-' || *at == '+';
    const char *from = at;
    at = digits(at);
    bool any = at != from;
    if (*at == decimal) {
        from = at + 1;
        at = digits(from);
        any |= at != from;
    }
    if (!any)
        return false;
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

/* The text as a cell among others: what the readers of runs take has the float of number_parse. */
static void check_run(cell_run_fn *read, const char *text, size_t size, char decimal)
{
    enum { CELLS = 11 };
    struct csv_cell cells[CELLS];
    double offsets[CELLS] = {0};
    int32_t cell_of[CELLS];
    float out[CELLS];
    char *alone = mem_copy(text, size), usual[] = {'-', '1', '2', decimal, '5'};
    for (int32_t i = 0; i < CELLS; i++) {
        bool own = i % 4 == (int32_t)(size % 4);
        cells[i] = (struct csv_cell){.text = own ? alone : usual,
                                     .length = own ? (uint32_t)size : sizeof usual};
        cell_of[i] = i;
    }
    const struct cell_run r = {cell_of, cells, offsets, CELLS, true, decimal,
                               (unsigned char *)out};
    uint64_t bad = read(&r);
    for (int32_t i = 0; i < CELLS; i++) {
        double v = -12.5;
        if (bad >> i & 1) {
            if (cells[i].text == usual)
                abort();
            continue;
        }
        if (cells[i].text == alone && number_parse(text, size, decimal, &v) != NUMBER_OK)
            abort();
        float want = (float)v;
        if (memcmp(&want, &out[i], sizeof want) != 0)
            abort();
    }
    mem_free(alone);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 2000)
        return 0;
    const char *text = (const char *)data;
    check_number(text, size, '.');
    check_number(text, size, ',');
    check_run(cell_run_choose(), text, size, '.');
    check_run(cell_run_plain, text, size, ',');
    check_run(cell_run_choose(), text, size, ',');
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
