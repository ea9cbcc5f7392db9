/* finding.cc - what is found wrong: counted, printed, remembered. And the seed of the order. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "emulate.h"

static unsigned counts[FIND_COUNT], printed;
static char last[640];
static bool quiet;

static const char *const names[FIND_COUNT] = {
    "diverged", "race", "uninitialised", "early", "bounds", "launch", "host"};

void emulate_find(enum finding kind, const char *format, ...)
{
    int head = snprintf(last, sizeof last, "%s: ", names[kind]);
    if (emulate.kernel)
        head += snprintf(last + head, sizeof last - (size_t)head, "kernel %s, order %u: ",
                         emulate.kernel, emulate.order);
    va_list args;
    va_start(args, format);
    vsnprintf(last + head, sizeof last - (size_t)head, format, args);
    va_end(args);
    counts[kind]++;
    if (!quiet && ++printed <= 40)
        printf("# %s\n", last);
}

void emulate_find_again(enum finding kind)
{
    counts[kind]++;
}

unsigned emulate_found(enum finding kind)
{
    unsigned n = counts[kind];
    counts[kind] = 0;
    return n;
}

unsigned emulate_findings(void)
{
    unsigned sum = 0;
    for (int i = 0; i < FIND_COUNT; i++)
        sum += counts[i];
    return sum;
}

const char *emulate_last(void)
{
    return last;
}

void emulate_quiet(bool on)
{
    quiet = on;
}

void emulate_order(unsigned order)
{
    emulate.order = order;
    emulate.seed = 0x9E3779B9u * (order + 1);
}

uint32_t emulate_draw(void)
{
    /* Marsaglia's xorshift of 32 bits */
    uint32_t x = emulate.seed ? emulate.seed : 1;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    emulate.seed = x;
    return x * 0x9E3779B1u >> 8;
}
