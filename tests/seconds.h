/* seconds.h - texts that are read as seconds: each is parsed from memory of its own length, so that
 * a read beyond its end is seen. */
#ifndef DNN_TESTS_SECONDS_H
#define DNN_TESTS_SECONDS_H

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

struct seconds_case {
    const char *text;
    double seconds; /* NaN: not read */
};

static inline void are_seconds(bool (*parse)(const char *, size_t, double *),
                               const struct seconds_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        double seconds = 0;
        size_t length = strlen(cases[i].text);
        char *copy = malloc(length ? length : 1);
        memcpy(copy, cases[i].text, length);
        bool good = parse(copy, length, &seconds);
        free(copy);
        ok(good == !isnan(cases[i].seconds) &&
               (!good || fabs(seconds - cases[i].seconds) < 1e-6),
           "\"%s\" is %.3f", cases[i].text, good ? seconds : (double)NAN);
    }
}

#endif
