/* csv_duration.c - the forms of durations, and numbers as columns write them: groups of two, blanks
 * and typographic marks. */
#include <math.h>
#include <string.h>

#include "csv/form/duration.h"
#include "csv/form/form.h"
#include "seconds.h"

static const struct seconds_case durations[] = {
    {"0:46:08", 2768},
    {"9:05", 32700},
    {"27:30:00", 99000},
    {"100:00:00.5", 360000.5},
    {"0:00:01,25", 1.25},
    {"-1:30", -5400},
    {"PT1H5M", 3900},
    {"P1DT2H", 93600},
    {"P2W", 1209600},
    {"PT0.5S", 0.5},
    {"-PT90S", -90},
    {"1h 20m", 4800},
    {"1h20m30s", 4830},
    {"1 h 20 min", 4800},
    {"90 min", 5400},
    {"1.5 hours", 5400},
    {"1,5 Std.", 5400},
    {"2 days, 3 hours", 183600},
    {"2 hours and 5 minutes", 7500},
    {"9h05", 32700},
    {"5m30", 330},
    {"250ms", 0.25},
    {"0 days 00:00:01", 1},
    {"1 day, 2:03:04", 93784},
    {"-1 days +23:59:59", -1},
    {"3 days", 259200},
    {"1.02:03:04", 93784},
    {" 0:05 ", 300},
    {"", NAN},
    {"5", NAN},
    {"1.5", NAN},
    {"9:5", NAN},
    {"9:60", NAN},
    {"1:00:60", NAN},
    {":30", NAN},
    {"P", NAN},
    {"PT", NAN},
    {"P1DT", NAN},
    {"P1Y", NAN},
    {"P1M", NAN},
    {"PT1M1H", NAN},
    {"20m 1h", NAN},
    {"1h 1h", NAN},
    {"3 apples", NAN},
    {"h", NAN},
    {"1h x", NAN},
    {"2 days 2024-01-01", NAN},
    {"1.25:00:00", NAN},
    {"9999999999999999:00", NAN},
};

static void is_amount(const char *thousands, const char *unit, const char *text, double want)
{
    char *units[] = {(char *)(uintptr_t)unit};
    struct form *f = thousands || unit ? form_new(thousands, units, unit ? 1 : 0, NULL) : NULL;
    double value = NAN;
    bool good = form_read_number(f, text, strlen(text), '.', &value) == NUMBER_OK;
    ok(good == !isnan(want) && (!good || !(fabs(value - want) > 0)), "\"%s\" is %.9g", text,
       good ? value : (double)NAN);
    form_free(f);
}

static void test_amounts(void)
{
    is_amount(",", NULL, "3,04,025", 304025);
    is_amount(",", NULL, "12,34,56,789.5", 123456789.5);
    is_amount(",", NULL, "304,025", 304025);
    is_amount(",", NULL, "1,234,567", 1234567);
    is_amount(",", NULL, "1,23", NAN);
    is_amount(",", NULL, "123,45,678", NAN);
    is_amount(",", NULL, "1,234,56,789", NAN);
    is_amount(",", NULL, "1,23,456,789", NAN);
    is_amount("\xe2\x80\x99", NULL, "28\xe2\x80\x99" "133.81", 28133.81);
    is_amount("\xe2\x80\x89", NULL, "28\xe2\x80\x89" "133", 28133);
    is_amount(NULL, "~", "~2.8", 2.8);
    is_amount(NULL, "\xe2\x82\xb9", "\xe2\x82\xb9" "28.13", 28.13);
    is_amount(NULL, NULL, "\xc2\xa0" "2.81", 2.81);
    is_amount(NULL, NULL, " 484 ", NAN); /* plain blanks within quotes */
    is_amount(NULL, NULL, "4 84", NAN);
    is_amount(NULL, NULL, " ", NAN);
}

int main(void)
{
    are_seconds(duration_parse, durations, sizeof durations / sizeof *durations);
    test_amounts();
    return done();
}
