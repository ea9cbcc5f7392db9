/* Unit tests of backend/toolkit.h. */
#include <string.h>

#include "backend/toolkit.h"
#include "tap.h"

int main(void)
{
    const struct toolkit *t;
    unsigned behind = 0;
    for (size_t i = 0; (t = toolkit_at(i)); i++) {
        ok(behind < t->first && t->first <= t->last, "row %zu: releases follow each other", i);
        ok(t->least <= t->most && t->least == 75, "row %zu: cards from Turing on", i);
        ok(toolkit_of(t->first) == t && toolkit_of(t->last) == t, "row %zu is found by release", i);
        behind = t->last;
    }
    ok(toolkit_of(110) == NULL, "an older toolkit: none");
    ok(toolkit_of(990) == toolkit_of(behind), "a newer one is taken for the last row's kin");
    ok(toolkit_of(118) && strcmp(toolkit_of(118)->driver, "520.61.05") == 0, "11.8's driver");
    ok(toolkit_for(90) == toolkit_of(118), "Hopper: from 11.8 on");
    ok(toolkit_for(120) == toolkit_of(128), "Blackwell: from 12.8 on");
    ok(toolkit_for(61) == NULL, "Pascal: none");
    return done();
}
