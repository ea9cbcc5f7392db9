/* table_distribution.c - the places of numbers, and the stability index against numbers worked out
 * by hand. */
#include <math.h>
#include <string.h>

#include "table/encoder/distribution.h"
#include "tap.h"

static void make(struct distribution *d, const int32_t *rows, uint32_t places)
{
    distribution_new(d, places);
    memcpy(d->rows, rows, places * sizeof *rows);
}

int main(void)
{
    struct distribution d;
    double chance;
    distribution_new(&d, 4);
    d.edges = 2;
    d.edge[0] = 1;
    d.edge[1] = 2;
    is_int(distribution_place(&d, NAN), 0, "missing");
    is_int(distribution_place(&d, -INFINITY), 1, "below all edges");
    is_int(distribution_place(&d, 1), 1, "an edge is of the bin below");
    is_int(distribution_place(&d, 1.5f), 2, "between edges");
    is_int(distribution_place(&d, 99), 3, "above the last");
    distribution_free(&d);

    make(&d, (const int32_t[]){0, 50, 50}, 3);
    is_near(distribution_index(&d, false, (const uint64_t[]){0, 25, 75}, &chance),
            0.26735325223906364, 1e-12, "half a row in each place");
    is_near(chance, 2 * (0.01 + 0.01), 1e-12, "what chance gives");
    is_near(distribution_index(&d, false, (const uint64_t[]){0, 50, 50}, &chance), 0, 1e-12,
            "the same shares: 0");
    ok(isnan(distribution_index(&d, false, (const uint64_t[]){0, 0, 0}, &chance)) &&
           isnan(chance), "no rows: no index");
    distribution_free(&d);

    make(&d, (const int32_t[]){10, 0, 500, 490, 4, 5}, 6);
    is_near(distribution_index(&d, true, (const uint64_t[]){10, 20, 400, 590, 0, 0}, &chance),
            0.13899528778997494, 1e-12, "rare categories are one place");
    distribution_free(&d);
    return done();
}
