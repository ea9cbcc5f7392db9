/* table_scan.c - sixteen slots scanned at once, and numbers of records as columns: every vector
 * code against plain loops. */
#include <math.h>

#include "base/rng.h"
#include "table/encoder/columns.h"
#include "table/fit/fit_scan.h"
#include "tap.h"

enum { COLUMNS = 21, ROWS = 133, ROOM = ROWS + 1 };

static unsigned char records[ROWS][4 * COLUMNS];
static const unsigned char *rows[ROWS];

static int draw(uint32_t below)
{
    static uint64_t drawn;
    return (int)(rng_bits(3, drawn++, 0, 0, RNG_INIT) % below);
}

static void fill(void)
{
    static const float odd[] = {NAN, -0.0f, 0.0f, -INFINITY, INFINITY, 1e-40f, -1};
    for (int i = 0; i < ROWS; i++) {
        rows[i] = records[i];
        for (int k = 0; k < COLUMNS; k++) {
            float v = draw(3) ? (float)(draw(2001) - 1000) / 16 : odd[draw(7)];
            memcpy(records[i] + 4 * k, &v, sizeof v);
        }
    }
}

static void scan(scan_rows_fn *f, const struct scan_window *w, uint32_t count,
                 struct scan_found *found, float values[SCAN_SLOTS][ROOM])
{
    memset(found, 0, sizeof *found);
    for (int k = 0; k < SCAN_SLOTS; k++) {
        found->least[k] = INT32_MAX;
        found->most[k] = INT32_MIN;
        found->values[k] = values[k];
    }
    f(w, rows, count, found);
    f(w, rows, 0, found);
}

/* The numbers of one slot, by the words of encoder_scan.h. */
static bool right(const struct scan_window *w, uint32_t count, uint32_t k,
                  const struct scan_found *found)
{
    uint32_t here = 0, below = 0, kept = 0;
    int32_t least = INT32_MAX, most = INT32_MIN;
    bool same = true;
    for (uint32_t i = 0; (w->wanted >> k & 1) && i < count; i++) {
        float v = record_number(rows[i], w->first + k);
        int32_t order = scan_order(v);
        if (v != v)
            continue;
        here++;
        below += order < w->from[k];
        least = order < least ? order : least;
        most = order > most ? order : most;
        if (order >= w->from[k] && order <= w->to[k])
            same &= memcmp(&found->values[k][kept++], &v, sizeof v) == 0;
    }
    return same && found->count[k] == here && found->below[k] == below && found->kept[k] == kept &&
           found->least[k] == least && found->most[k] == most;
}

static void test_scan(const char *name, scan_rows_fn *f)
{
    static float values[SCAN_SLOTS][ROOM];
    struct scan_found found;
    bool same = true;
    for (uint32_t first = 0; first < COLUMNS; first++) {
        uint32_t inside = COLUMNS - first < SCAN_SLOTS ? COLUMNS - first : SCAN_SLOTS;
        struct scan_window w = {first, (uint32_t)draw(1u << inside), {0}, {0}};
        for (int k = 0; k < SCAN_SLOTS; k++) {
            w.from[k] = k ? scan_order((float)(draw(100) - 50)) : INT32_MIN;
            w.to[k] = k ? scan_order((float)draw(100)) : INT32_MAX;
        }
        scan(f, &w, ROWS - first, &found, values);
        for (uint32_t k = 0; k < SCAN_SLOTS; k++)
            same &= right(&w, ROWS - first, k, &found);
    }
    ok(same, "%s: counts, range and values of windows at every slot", name);
}

static void test_columns(void)
{
    static float to[COLUMNS * ROOM];
    static unsigned char copies[ROWS][4 * COLUMNS];
    unsigned char *at[ROWS];
    bool same = true;
    for (int i = 0; i < ROWS; i++)
        at[i] = copies[i];
    for (uint32_t n = 1; n < 10; n++)
        for (size_t count = 1; count < 12; count++) {
            uint32_t first = COLUMNS - n;
            columns_read(rows, count, 4 * (size_t)first, n, to, ROOM);
            memset(copies, 0, sizeof copies);
            columns_write(at, count, 4 * (size_t)first, n, to, ROOM);
            for (size_t i = 0; i < count; i++) {
                for (uint32_t k = 0; k < n; k++)
                    same &= memcmp(&to[k * ROOM + i], rows[i] + 4 * (first + k), 4) == 0;
                same &= memcmp(copies[i] + 4 * first, rows[i] + 4 * first, 4 * n) == 0;
            }
            for (size_t b = 0; b < 4 * (size_t)first; b++)
                same &= copies[0][b] == 0;
        }
    ok(same, "records to columns and back, 1 to 9 columns of 1 to 11 rows");
}

int main(void)
{
    fill();
    test_scan("plain C", scan_rows_plain);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f"))
        test_scan("avx512", scan_rows_avx512);
    else
        tap_skip("avx512", "not on this processor");
#endif
    test_columns();
    return done();
}
