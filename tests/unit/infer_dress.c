/* infer_dress.c - numbers beside units, marks and letters, and durations: the keys that read
 * them, or a warning that names the first cell; and what is no number stays what it was. */
#include <string.h>

#include "infer_help.h"

enum { ROWS = 120 };

/* @: a number with a fraction; #: digits of two to four places; &: four digits; !: 0 to 59; !!:
 * with two digits. */
static const struct {
    const char *cells[3];
    int type;
    const char *unit, *reason; /* unit: the first one; reason NULL: none */
    bool warned;
} cases[] = {
    {{"\xe2\x82\xb9@", "\xe2\x82\xb9@", "\xe2\x82\xb9@"}, COLUMN_NUMERIC, "\xe2\x82\xb9",
     "numbers such as", false},
    {{"Rs. @", "Rs.#", "Rs. @"}, COLUMN_NUMERIC, "Rs.", "\"unit\": \"Rs.\"", false},
    {{"R$ @", "R$ @", "@"}, COLUMN_NUMERIC, "R$", "in 80 cells", false},
    {{"A$@", "A$@", "A$@"}, COLUMN_NUMERIC, "A$", "\"A$\"", false},
    {{"@ kr", "# kr.", "@ kr"}, COLUMN_NUMERIC, "kr", "\"kr\", \"kr.\"", false},
    {{"$@", "@ USD", "$@"}, COLUMN_NUMERIC, "$", "\"$\", \"USD\"", false},
    {{"$@", "\xe2\x82\xac@", "$@"}, COLUMN_NUMERIC, "$", "of different units", true},
    {{"Rs. @", "$@", "Rs. @"}, COLUMN_NUMERIC, "Rs.", "of different units", true},
    {{"~@", "@", "~@"}, COLUMN_NUMERIC, "~", "\"~\"", false},
    {{"ca. @", "ca. @", "@"}, COLUMN_NUMERIC, "ca.", "\"ca.\"", false},
    {{"=\"@\"", "=\"#\"", "=\"@\""}, COLUMN_NUMERIC, "=\"", "in 120 cells", false},
    {{"<@", "@", "@"}, COLUMN_NUMERIC, "<", "such a cell counts as the limit", true},
    {{"< 20 yrs", "> 50 yrs", "< 20 yrs"}, COLUMN_CATEGORICAL, NULL, "", false},
    {{"<6m", ">6m", "<6m"}, COLUMN_CATEGORICAL, NULL, "", false},
    {{"@ kg", "@ kg", "@ kg"}, COLUMN_NUMERIC, "kg", "\"kg\"", false},
    {{"@ kg", "@", "@ kg"}, COLUMN_NUMERIC, "kg", "cells without the unit", true},
    {{"Size @", "Size #", "Size @"}, COLUMN_NUMERIC, "Size", "\"Size\"", false},
    {{"@%", "@%", "@%"}, COLUMN_NUMERIC, "%", "\"%\"", false},
    {{"@%", "@", "@%"}, COLUMN_NUMERIC, "%", "\"%\"", false},
    {{"@%", "0.&", "@%"}, COLUMN_IGNORE, NULL, "beside fractions up to 0.", true},
    {{"@S", "@N", "@N"}, COLUMN_IGNORE, NULL, "such as \"1.37S\" (line 2) and \"2.74N\" (line 3)",
     true},
    {{"#KB", "@MB", "#KB"}, COLUMN_IGNORE, NULL, "numbers in a form that no key reads", true},
    {{"#-#", "#-#", "#-#"}, COLUMN_IGNORE, NULL, "numbers in a form that no key reads", true},
    {{"@x#", "@x#", "@x#"}, COLUMN_IGNORE, NULL, "that no key reads", true},
    {{"C&", "C&", "C&"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"INV-#", "INV-#", "ORD-#"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"555-&", "555-&", "555-&"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"1.#.&", "2.#.&", "3.#.&"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"$@ million", "$# million", "$@ million"}, COLUMN_NUMERIC, "$", "in 120 cells", false},
    {{"R$ #,50", "R$ #,75", "R$ #,50"}, COLUMN_IGNORE, NULL,
     "a decimal comma in a file whose others have points", true},
    {{"#k", "@M", "Varies"}, COLUMN_IGNORE, NULL, "that no key reads", true},
    {{"No #", "No #", "No #"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"#-A", "#-B", "#-A"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"#A", "#B", "#C"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"A@", "B@", "C@"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"Room &", "Room &", "Room &"}, COLUMN_ID, NULL, "every cell is different", false},
    {{"Mar 2024", "April 2023", "May 1999"}, COLUMN_DATETIME, NULL, "\"format\": \"%b %Y\"", false},
    {{"3/2024", "12/2023", "4/1999"}, COLUMN_DATETIME, NULL, "\"format\": \"%m/%Y\"", false},
    {{"1/1000", "1/2000", "3/1000"}, COLUMN_CATEGORICAL, NULL, "", false},
    {{"#h !m", "#h", "#h !m"}, COLUMN_NUMERIC, NULL, "\"format\": \"duration\"", false},
    {{"#:!!:!!", "0:!!:!!", "#:!!:!!"}, COLUMN_NUMERIC, NULL, "\"format\": \"duration\"", false},
};

static void put_cell(struct text *t, const char *cell, uint32_t row)
{
    const uint32_t r = row + 1;
    for (; *cell; cell++)
        if (*cell == '@')
            text_printf(t, "%u.%02u", r * 137 / 100, r * 137 % 100);
        else if (*cell == '#')
            text_printf(t, "%u", 10 + r * 37);
        else if (*cell == '&')
            text_printf(t, "%u", 1000 + r * 37);
        else if (cell[0] == '!' && cell[1] == '!')
            text_printf(t, "%02u", r * 7 % 60), cell++;
        else if (*cell == '!')
            text_printf(t, "%u", r % 60);
        else
            text_printf(t, *cell == '"' ? "\"\"" : "%c", *cell);
}

int main(void)
{
    enum { CASES = sizeof cases / sizeof *cases };
    struct err e = {0};
    struct text t = {0};
    for (size_t c = 0; c < CASES; c++)
        text_printf(&t, "case%zu,", c);
    text_put(&t, "y\n");
    for (uint32_t row = 0; row < ROWS; row++) {
        for (size_t c = 0; c < CASES; c++) {
            text_put(&t, "\"");
            put_cell(&t, cases[c].cells[row % 3], row);
            text_put(&t, "\",");
        }
        text_printf(&t, "%s\n", row % 2 ? "yes" : "no");
    }
    struct infer *i = look(&t, "y", &e);
    ok(i != NULL, "the file is read: %s", e.what);
    for (size_t c = 0; i && c < CASES; c++) {
        const struct infer_column *found = &i->columns[c];
        const char *unit = found->form && found->form->unit_count ? found->form->units[0] : "none";
        ok(found->type == cases[c].type && found->unread == cases[c].warned &&
               strcmp(unit, cases[c].unit ? cases[c].unit : "none") == 0 &&
               strstr(found->reason, cases[c].reason),
           "%s: %s, unit %s: %s", cases[c].cells[0], type_names[found->type], unit, found->reason);
    }
    infer_free(i);
    text_free(&t);
    return done();
}
