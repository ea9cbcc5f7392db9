/* tap.h - a test program is a list of checks in TAP, run by prove. A logged warning that was not
 * expected fails the program; one that is not linked with base defines TAP_ALONE.
 *
 *     int main(void) { ok(1 + 1 == 2, "addition"); is_int(f(), 3, "f gives 3"); return done(); }
 */
#ifndef DNN_TAP_H
#define DNN_TAP_H

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#ifndef TAP_ALONE
#include "base/log.h"
#endif

static int tap_number, tap_failed;

static inline bool tap_result(bool passed, const char *file, int line, const char *format,
                              va_list args)
{
    printf("%sok %d - ", passed ? "" : "not ", ++tap_number);
    vprintf(format, args);
    printf("\n");
    if (!passed) {
        tap_failed++;
        printf("#   at %s:%d\n", file, line);
    }
    fflush(stdout);
    return passed;
}
__attribute__((format(printf, 4, 5))) static inline bool tap_ok(bool passed, const char *file,
                                                                int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    tap_result(passed, file, line, format, args);
    va_end(args);
    return passed;
}
static inline bool tap_is_int(int64_t got, int64_t want, const char *file, int line,
                              const char *name)
{
    bool same = tap_ok(got == want, file, line, "%s", name);
    if (!same)
        printf("#   got %lld, expected %lld\n", (long long)got, (long long)want);
    return same;
}
static inline bool tap_is_string(const char *got, const char *want, const char *file, int line,
                                 const char *name)
{
    bool same = tap_ok(got && want && strcmp(got, want) == 0, file, line, "%s", name);
    if (!same)
        printf("#   got      \"%s\"\n#   expected \"%s\"\n", got ? got : "(null)",
               want ? want : "(null)");
    return same;
}
static inline bool tap_is_near(double got, double want, double most, const char *file, int line,
                               const char *name)
{
    bool near = fabs(got - want) <= most; /* false for NaN */
    tap_ok(near, file, line, "%s", name);
    if (!near)
        printf("#   got %.17g, expected %.17g within %g\n", got, want, most);
    return near;
}
#define ok(condition, ...) tap_ok((condition), __FILE__, __LINE__, __VA_ARGS__)
#define is_int(got, want, name)                                                                    \
    tap_is_int((int64_t)(got), (int64_t)(want), __FILE__, __LINE__, name)
#define is_string(got, want, name) tap_is_string(got, want, __FILE__, __LINE__, name)
#define is_near(got, want, most, name) tap_is_near(got, want, most, __FILE__, __LINE__, name)

static inline void tap_skip(const char *name, const char *reason)
{
    printf("ok %d - %s # SKIP %s\n", ++tap_number, name, reason);
}
#ifndef TAP_ALONE
static unsigned tap_warnings;
/* So many more of the warnings this process logs are meant to be there. */
static inline void expect_warnings(unsigned count)
{
    tap_warnings += count;
}
#endif
static inline int done(void)
{
#ifndef TAP_ALONE
    is_int(log_warnings(), tap_warnings, "warnings: those that were expected");
#endif
    printf("1..%d\n", tap_number);
    return tap_failed ? 1 : 0;
}

#endif
