/* Guests: bound all or nothing, the first name that opens, not too old, and why not. The library is
 * the C library's own, which is everywhere. */
#include "tap.h"

#include "base/process/guest.h"

struct calls {
    double (*cos)(double x);
    int (*no_such_function)(void);
};
static const struct guest_symbol whole[] = {GUEST_SYMBOL(calls, cos, false)
                                            GUEST_SYMBOL(calls, no_such_function, true)};
static const struct guest_symbol lacking[] = {GUEST_SYMBOL(calls, cos, false)
                                              GUEST_SYMBOL(calls, no_such_function, false)};
static const char *const here[] = {"libno-such-library.so.1", "libm.so.6", NULL};
static const char *const nowhere[] = {"libno-such-library.so.2", "libno-such-library.so.1", NULL};

static const char *const both[] = {"libc.so.6", "libm.so.6", NULL};
static const struct guest_symbol either[] = {GUEST_SYMBOL(calls, cos, true)};

static unsigned version(const void *functions)
{
    const struct calls *c = functions;
    return c->cos(0) > 0.5 ? 120304 : 0;
}

int main(void)
{
    struct guest g;
    struct calls c = {0};
    struct guest_library l = {.name = "m", .files = here, .symbols = whole, .count = 2};
    ok(guest_open(&g, &l, &c) && g.library && c.cos && c.cos(0) > 0.5 && !c.no_such_function,
       "what may be missing is NULL, the rest is there");
    ok(strcmp(g.file, "libm.so.6") == 0 && !g.why[0] && g.version == 0, "the name that opened");
    guest_close(&g);
    ok(!g.library, "closed");
    guest_close(&g);

    l.symbols = lacking;
    ok(!guest_open(&g, &l, &c) && !g.library && !c.cos, "one function is missing: none is bound");
    is_string(g.why, "libm.so.6 has no no_such_function", "and which it is");

    l.symbols = whole;
    l.version = version;
    l.least = 120304;
    ok(guest_open(&g, &l, &c) && g.version == 120304, "its version is old enough");
    guest_close(&g);
    l.least = 120305;
    ok(!guest_open(&g, &l, &c) && !c.cos, "or not");
    is_string(g.why, "libm.so.6 is of version 12.3.4, older than 12.3.5", "and which is wanted");

    /* one behind another */
    l = (struct guest_library){.name = "m", .files = both, .symbols = lacking, .count = 1};
    ok(guest_open(&g, &l, &c) && strcmp(g.file, "libm.so.6") == 0 && c.cos(0) > 0.5,
       "the first that has all functions");
    guest_close(&g);
    l.symbols = either; /* libc has none, and may */
    ok(guest_open(&g, &l, &c) && strcmp(g.file, "libc.so.6") == 0, "the first of two");
    guest_close(&g);

    l = (struct guest_library){.name = "m", .files = nowhere, .symbols = whole, .count = 2};
    ok(!guest_open(&g, &l, &c) && !g.library, "a library that is not there");
    is_string(g.why, "libno-such-library.so.2 is not found", "is told by its newest name");
    return done();
}
