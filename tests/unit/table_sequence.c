/* table_sequence.c - patterns of columns, and the scale of a channel. */
#include "table/schema/sequence.h"
#include "tap.h"

static void matches(const char *pattern, const char *name, bool want)
{
    ok(sequence_matches(pattern, name) == want, "\"%s\" %s \"%s\"", pattern,
       want ? "means" : "does not mean", name);
}

int main(void)
{
    matches("ch1_*", "ch1_0", true);
    matches("ch1_*", "ch1_", true);
    matches("ch1_*", "ch11_0", false);
    matches("ch1_*", "Ch1_0", false);
    matches("t*_c1", "t0_c1", true);
    matches("t*_c1", "t0_c11", false);
    matches("t*_c1", "t0_c1_c1", true);
    matches("*", "", true);
    matches("*", "anything", true);
    matches("", "", true);
    matches("", "a", false);
    matches("a", "a", true);
    matches("a", "ab", false);
    matches("ab", "a", false);
    matches("*a*b", "xaxxab", true);
    matches("*a*b", "xaxxac", false);
    matches("a**", "a", true);
    return done();
}
