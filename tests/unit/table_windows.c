/* table_windows.c - order of steps, windows of a group, rows that have an answer. */
#include "base/mem.h"
#include "table/sequence/windows.h"
#include "tap.h"

static void one(int label, uint64_t rows, uint64_t k, struct window want)
{
    const struct windows w = {.window = 4, .stride = 3, .label = label};
    const struct window got = window_at(&w, rows, k);
    ok(got.first == want.first && got.length == want.length && got.answer == want.answer &&
           got.line == want.line,
       "label %d, window %d of %d rows: %d, %d rows, step %d answers row %d", label, (int)k,
       (int)rows, (int)got.first, (int)got.length, (int)got.answer, (int)got.line);
}

static void windows(void)
{
    const struct windows w = {.window = 4, .stride = 3};
    const uint64_t rows[] = {0, 1, 4, 5, 7, 8}, count[] = {0, 1, 1, 2, 2, 3};
    for (int i = 0; i < 6; i++)
        ok(windows_count(&w, rows[i]) == count[i], "%d rows have %d windows", (int)rows[i],
           (int)count[i]);
    one(LABEL_ROW, 8, 0, (struct window){0, 4, 0, 0});
    one(LABEL_ROW, 8, 2, (struct window){6, 2, 0, 6});
    one(LABEL_LAST, 8, 1, (struct window){3, 4, 3, 6});
    one(LABEL_LAST, 8, 2, (struct window){6, 2, 1, 7});
    one(LABEL_GROUP, 8, 0, (struct window){0, 4, 3, 7});
}

static void same(const uint32_t *got, const uint32_t *want, uint32_t count, const char *what)
{
    for (uint32_t i = 0; i < count; i++)
        ok(got[i] == want[i], "%s %d: %d", what, (int)i, (int)got[i]);
}

/* Rows of two groups, which stand apart and fall. */
static void order(void)
{
    const struct series_step step[] = {{7, 2}, {9, 1}, {7, 1}, {7, 1}, {9, 0}, {9, -1}};
    const enum disorder want[] = {IN_ORDER,    IN_ORDER,    GROUP_APART,
                                  IN_ORDER,    GROUP_APART, ORDER_FALLS};
    const uint32_t rows[] = {2, 3, 0, 5, 4, 1};
    struct row_places p;
    row_places_begin(&p, 7);
    for (int i = 0; i < 6; i++) {
        p.why = IN_ORDER;
        row_places_add(&p, &step[i]);
        ok(p.why == want[i], "row %d stands as it does", i);
    }
    row_places_part(&p);
    p.why = IN_ORDER;
    row_places_add(&p, &step[5]);
    ok(p.why == IN_ORDER, "the group of a further part is another one");
    ok(row_places_sort(&p), "rows moved");
    for (int i = 0; i < 6; i++)
        ok(p.at[i].row == rows[i], "place %d has row %d", i, (int)p.at[i].row);
    ok(row_places_end(&p, 0) == 3 && row_places_end(&p, 3) == 6 && row_places_end(&p, 6) == 7,
       "three groups");
    row_places_free(&p);
}

static void lines(void)
{
    const uint32_t none = SAMPLE_NONE;
    const struct windows w = {.window = 3, .stride = 2, .label = LABEL_ROW};
    const struct row_place at[] = {{0, 0, 5}, {1, 0, 2}, {2, 0, 0}, {3, 0, 3}};
    struct window_list l = {0};
    for (uint64_t k = 0; k < windows_count(&w, 4); k++) {
        const struct window x = window_at(&w, 4, k);
        window_list_add(&l, &w, &x, at, 0);
    }
    ok(l.count == 2 && l.begins[0] == 1 && l.begins[1] == 0, "two windows, the first begins");
    const uint32_t rows[] = {5, 2, 0, 0, 3, none};
    same(l.rows, rows, 6, "row");
    same(l.line, rows, 6, "line");
    const bool wanted[] = {true, true, false, true, true, true};
    const uint32_t number[] = {2, none, 0, 0, 1, none}, row_of[] = {0, 3, 5};
    uint32_t row[6];
    ok(lines_number(l.line, 6, 6, wanted, row) == 3, "three lines: row 2 is not wanted");
    same(l.line, number, 6, "number");
    same(row, row_of, 3, "row of line");
    window_list_free(&l);
}

/* Groups of 5 rows and 1. */
static void answered(void)
{
    const uint64_t first[] = {0, 5, 6};
    const struct samples s = {.count = 2, .first = first};
    const char *const want[] = {[LABEL_LAST] = "001011", [LABEL_ROW] = "111111",
                                [LABEL_GROUP] = "000011"};
    for (int label = 0; label < 3; label++) {
        const struct windows w = {.window = 3, .stride = 2, .label = label};
        bool *has = lines_of(&w, &s, 6);
        for (int i = 0; i < 6; i++)
            ok(has[i] == (want[label][i] == '1'), "label %d, row %d: %d", label, i, has[i]);
        ok(line_of(&w, &s, 2) == (label == LABEL_GROUP ? 4u : 2u), "label %d: the line of row 2",
           label);
        mem_free(has);
    }
}

int main(void)
{
    windows();
    order();
    lines();
    answered();
    return done();
}
