#include <stdlib.h>

#include "base/text.h"
#include "tap.h"

static const char *number(double v)
{
    static char out[8][32];
    static unsigned turn;
    char *o = out[turn++ % 8];
    size_t n = text_number(o, v);
    return strlen(o) == n ? o : "wrong length";
}

static bool is_number(const char *s, double want)
{
    double v = 0;
    return text_to_double(s, &v) && v == want;
}

/* Seconds of a duration; -1: none. */
static double seconds(const char *s)
{
    double v;
    return text_to_seconds(s, &v) ? v : -1;
}

int main(void)
{
    struct text t = {0};
    for (int i = 0; i < 1000; i++)
        text_printf(&t, "%d,", i);
    is_int(t.length, 3890, "1000 numbers and commas");
    ok(t.data[t.length] == '\0' && strncmp(t.data, "0,1,2,", 6) == 0, "ends in NUL");
    text_clear(&t);
    ok(t.length == 0 && t.room > 0 && t.data[0] == '\0', "clear keeps the room");
    char big[700];
    memset(big, 'x', sizeof big - 1);
    big[sizeof big - 1] = '\0';
    text_printf(&t, "<%s>", big);
    ok(t.length == 701 && t.data[0] == '<' && t.data[700] == '>', "a long printf");
    text_char(&t, 'c');
    text_add(&t, "a\0b", 3);
    ok(t.length == 705 && memcmp(t.data + 701, "ca\0b", 5) == 0, "bytes with a NUL");
    text_free(&t);
    ok(t.data == NULL && t.room == 0, "free leaves an empty text");
    text_put(&t, "");
    ok(t.data && t.data[0] == '\0', "adding nothing makes it a string");
    text_free(&t);

    is_near(seconds("90"), 90, 0, "a duration: seconds");
    is_near(seconds("1.5s"), 1.5, 0, "1.5s");
    is_near(seconds("5m"), 300, 0, "5m");
    is_near(seconds("2H"), 7200, 0, "2H");
    is_near(seconds("1h30m"), 5400, 0, "1h30m");
    is_near(seconds("1d"), 86400, 0, "1d");
    is_near(seconds("250ms"), 0.25, 1e-12, "250ms");
    is_near(seconds("10min"), 600, 0, "10min");
    static const char *const no_duration[] = {"", "m", "5x", "30m1h", "5m5m", "5 m", "1.2.3s"};
    for (size_t i = 0; i < sizeof no_duration / sizeof *no_duration; i++)
        is_near(seconds(no_duration[i]), -1, 0, "no duration");

    is_string(text_quote_z("plain"), "plain", "plain text stays");
    is_string(text_quote("a\"b\n\0\x7f", 6), "a\\\"b\\x0a\\x00\\x7f", "quotes and control bytes");
    is_string(text_quote_z("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
              "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80", "valid UTF-8 stays");
    is_string(text_quote_z("\xc3(\xff\xed\xa0\x80"), "\\xc3(\\xff\\xed\\xa0\\x80",
              "invalid UTF-8 is escaped");
    is_string(text_quote_z("\xc2\x9b" "31m"), "\\xc2\\x9b31m", "C1 control characters");
    is_string(text_quote_z("a\xe2\x80\xae" "b"), "a\\xe2\\x80\\xaeb", "a bidirectional override");
    is_string(text_quote_z("a\xe2\x80\x8b" "b"), "a\\xe2\\x80\\x8bb", "a blank without a width");
    const char *cut = text_quote(big, sizeof big - 1);
    ok(strlen(cut) == 83 && strcmp(cut + 80, "...") == 0, "cut at 80 bytes");
    for (int i = 0; i < 40; i++)
        memcpy(big + 3 * i, "\xe2\x82\xac", 3);
    cut = text_quote(big, 120);
    is_int(strlen(cut), 81, "cut between characters");
    const char *first = text_quote_z("first");
    for (int i = 0; i < 7; i++)
        text_quote_z("later");
    is_string(first, "first", "eight can be used in one message");
    is_string(text_quote_z(NULL), "", "NULL is empty");
    char small[12];
    text_escape(small, sizeof small, "0123456789abc", 13);
    is_string(small, "01234567...", "escape cut to the room");

    static const char *const known[] = {"learning_rate", "batch_size", "epochs",
                                        "seed",          "task",       "data"};
    is_string(text_nearest("learning_rat", known, 6), "learning_rate", "a letter is missing");
    is_string(text_nearest("EPOCH", known, 6), "epochs", "case does not count");
    is_string(text_nearest("bacth_size", known, 6), "batch_size", "two letters swapped");
    is_string(text_nearest("taks", known, 6), "task", "swapped in a short word");
    is_string(text_nearest("date", known, 6), "data", "one replaced");
    is_string(text_nearest("lear", known, 6), "learning_rate", "the beginning of a longer one");
    ok(text_nearest("momentum", known, 6) == NULL, "nothing near");
    ok(text_nearest("x", known, 6) == NULL && text_nearest("", known, 6) == NULL,
       "too short to tell");
    static const char *const words[] = {"auc", "accuracy", "standard", "robust", "quantile"};
    is_string(text_nearest("acc", words, 5), "accuracy", "the only one that begins so");
    is_string(text_nearest("std", words, 5), "standard", "letters left out");
    static const char *const cities[] = {"City", "city_name"};
    is_string(text_nearest("city", cities, 2), "City", "equal but for case, before a longer one");
    ok(text_nearest("sxd", words, 5) == NULL, "but none put in");
    memset(big, 'q', 200);
    big[200] = '\0';
    ok(text_nearest(big, known, 6) == NULL, "far too long");

    is_string(number(-0.0), "0", "never -0");
    is_string(number(0.1f), "0.100000001", "nine digits");
    is_string(number(1e-30), "1e-30", "small");
    is_string(number(-123456789.0), "-123456789", "nine whole digits");
    is_string(number(1.5), "1.5", "no zeros at the end");
    size_t differ = 0, count = 0;
    for (uint32_t bits = 0x38000000u; bits < 0x4F000000u; bits += 397) { /* 3e-5 to 2e9 */
        float v;
        memcpy(&v, &bits, sizeof v);
        char want[32];
        snprintf(want, sizeof want, "%.9g", (double)v);
        differ += strcmp(number((double)v), want) != 0;
        snprintf(want, sizeof want, "%.9g", -(double)v);
        differ += strcmp(number(-(double)v), want) != 0;
        count++;
    }
    static const float edges[] = {1e-4f,      0.001f,         0.01f,       0.1f,       1,
                                  10,         1e8f,           1e9f,        0.5f,       999999936,
                                  99999992,   0.00099999993f, 0.99999994f, 9.9999990f, 0.0001f,
                                  1.0000001f, 123456792};
    for (size_t k = 0; k < sizeof edges / sizeof edges[0]; k++)
        for (int step = -2; step <= 2; step++) {
            float v = edges[k];
            for (int i = 0; i < abs(step); i++)
                v = nextafterf(v, step < 0 ? 0 : INFINITY);
            char want[32];
            snprintf(want, sizeof want, "%.9g", (double)v);
            differ += strcmp(number((double)v), want) != 0;
        }
    ok(differ == 0 && count > 900000, "%zu floats as printf writes them, %zu differ", count,
       differ);
    static const struct { double value; int digits; const char *want; } figures[] = {
        {34512.9, 4, "34513"},       {34512.9, 6, "34512.9"},    {9999.7, 4, "10000"},
        {0.123456, 4, "0.1235"},     {1, 4, "1"},                {0, 4, "0"},
        {-1234567.8, 4, "-1234568"}, {1e15, 4, "1000000000000000"}, {1e16, 4, "1e+16"},
        {99.96, 3, "100"},           {0.00001234, 3, "1.23e-05"},   {(double)NAN, 4, "nan"}};
    for (size_t k = 0; k < sizeof figures / sizeof *figures; k++)
        is_string(text_figure(figures[k].value, figures[k].digits), figures[k].want, "a figure");
    is_string(text_bytes(0), "0 B", "no bytes");
    is_string(text_bytes(1023), "1023 B", "below a KiB");
    is_string(text_bytes(640 * 1024), "640 KiB", "KiB");
    is_string(text_bytes((uint64_t)1288490189), "1.2 GiB", "GiB");
    is_string(text_bytes(1048575), "1 MiB", "rounded up into the next unit");
    is_string(text_bytes(UINT64_MAX), "16 EiB", "the most");

    int64_t i;
    ok(text_to_int("-9223372036854775808", &i) && i == INT64_MIN, "the least integer");
    ok(text_to_int("9223372036854775807", &i) && i == INT64_MAX, "the greatest");
    static const char *const not_ints[] = {
        "9223372036854775808", "", "-", "+1", " 1", "1 ", "0x10", "1.0", "1e3"};
    for (size_t k = 0; k < sizeof not_ints / sizeof not_ints[0]; k++)
        ok(!text_to_int(not_ints[k], &i), "\"%s\" is no integer", not_ints[k]);
    ok(is_number("-1.5e3", -1500) && is_number("0", 0) && is_number("007", 7) &&
           is_number("1E-2", 0.01) && is_number(".5", 0.5) && is_number("5.", 5) &&
           is_number("-.5e1", -5) && is_number("+1", 1),
       "numbers");
    static const char *const not_numbers[] = {"",      "-",   ".",     "-.",   "1e", "1e+",
                                              "inf",   "nan", "0x1p3", "1 ",   " 1", "1,5",
                                              "1e999", "--1", "+-1",   "1.2.3"};
    double v;
    for (size_t k = 0; k < sizeof not_numbers / sizeof not_numbers[0]; k++)
        ok(!text_to_double(not_numbers[k], &v), "\"%s\" is no number", not_numbers[k]);
    ok(text_ends("a.json", ".json") && !text_ends("json", ".json") && text_ends("x", ""),
       "endings");
    return done();
}
