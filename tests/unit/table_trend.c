/* table_trend.c - whether a target changes with time. The expected figures are those of scipy 1.x:
 * stats.chi2_contingency and stats.kruskal of ten blocks, z = stats.norm.isf(p). */
#include <math.h>

#include "base/mem.h"
#include "table/schema/column_name.h"
#include "table/fit/trend.h"
#include "tap.h"

/* Values from 0 to 999 plus `shift` from the first to the last time; classes: cut into as many. */
static struct trend_row *make_rows(uint32_t n, uint32_t shift, uint32_t classes)
{
    struct trend_row *rows = mem_alloc(n, sizeof *rows);
    uint64_t seed = 12345;
    for (uint32_t i = 0; i < n; i++) {
        seed = (seed * 1103515245 + 12345) % 2147483648;
        const uint64_t time = (uint64_t)i * 7919 % n;
        uint64_t value = seed / 65536 % 1000 + shift * time / n;
        if (classes)
            value = value * classes / (1000 + shift);
        rows[i] = (struct trend_row){(double)time, (double)value};
    }
    return rows;
}

static void is_trend(uint32_t n, uint32_t shift, uint32_t classes, double share, double z,
                     double from, double to)
{
    struct trend_row *rows = make_rows(n, shift, classes);
    const struct trend t = trend_of(rows, n, classes);
    is_int(t.blocks, TREND_BLOCKS, "blocks");
    is_near(t.share, share, 1e-8, "the share of the variance");
    is_near(t.z, z, 0.03 + 0.055 * fabs(z), "as rare as by chance"); /* the tail is estimated */
    is_near(t.from, from, 1e-8, "the first block");
    is_near(t.to, to, 1e-8, "the last block");
    mem_free(rows);
}

/* High in the middle of the time: the ends are alike. */
static void test_season(void)
{
    struct trend_row *rows = mem_alloc(1000, sizeof *rows);
    for (uint32_t i = 0; i < 1000; i++)
        rows[i] = (struct trend_row){i, i >= 400 && i < 600 ? 1 : 0};
    const struct trend t = trend_of(rows, 1000, 2);
    ok(t.z > 10 && t.share > 0.5, "a season is a change");
    ok(!(t.from > 0) && !(t.to > 0) && !(t.low > 0) && t.high >= 1, "from 0 over 1 to 0");
    mem_free(rows);
}

static void test_edges(void)
{
    struct trend_row *rows = make_rows(1000, 400, 0);
    for (uint32_t i = 0; i < 1000; i++)
        rows[i].time = i < 900 ? 1 : 2; /* rows of one time stay together */
    struct trend t = trend_of(rows, 1000, 0);
    is_int(t.blocks, 2, "two times are two blocks");
    for (uint32_t i = 0; i < 1000; i++)
        rows[i].time = 1;
    is_int(trend_of(rows, 1000, 0).blocks, 1, "one time is one block");
    ok(!(trend_of(rows, 1000, 0).share > 0), "which tells nothing");
    for (uint32_t i = 0; i < 1000; i++)
        rows[i] = (struct trend_row){i, 7};
    t = trend_of(rows, 1000, 0);
    ok(!(t.share > 0) && !(t.z > 0), "equal values");
    ok(!(trend_of(rows, 15, 0).share > 0), "few rows");
    ok(!(trend_of(rows, 0, 0).share > 0), "no rows");
    for (uint32_t i = 0; i < 1000; i++)
        rows[i].value = 1;
    ok(!(trend_of(rows, 1000, 2).z > 0), "one class");
    mem_free(rows);
}

int main(void)
{
    is_trend(1000, 0, 0, 0, -1.1938, 495.54, 501.6);
    is_trend(1000, 400, 0, 0.095049049, 8.6589, 514.94, 881);
    is_trend(1003, 300, 3, 0.042049520, 4.6202, 0.13, 0.396039604);
    is_trend(1000, 0, 2, 0, -0.0031, 0.53, 0.51);
    is_trend(1000, 250, 2, 0.004762296, 1.1215, 0.4, 0.6);
    test_season();
    test_edges();
    ok(column_names_birth("date_of_birth") && column_names_birth("DOB") &&
           column_names_birth("birthDate") && !column_names_birth("date"),
       "names of dates of birth");
    return done();
}
