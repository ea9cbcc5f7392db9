/* table_twins.c - values that differ in the way they are written alone; codes of one number. */
#include <string.h>

#include "csv/form/number.h"
#include "table/schema/label.h"
#include "table/schema/twins.h"
#include "tap.h"

static struct vocab *values_of(const char *const *values)
{
    struct vocab *v = vocab_new();
    for (; *values; values++)
        vocab_add(v, *values, strlen(*values));
    return v;
}

static void is_list(const char *const *values, unsigned count, const char *want, const char *name)
{
    struct vocab *v = values_of(values);
    struct text list = {0};
    is_int(twins_list(v, &list), count, name);
    is_string(list.data ? list.data : "", want, name);
    text_free(&list);
    vocab_free(v);
}

static void lists(void)
{
    is_list((const char *const[]){"a", "b", "ab", "1", "2", NULL}, 0, "", "no twins");
    is_list((const char *const[]){"NYC", "Rom", "nyc", NULL}, 1, "\"NYC\" and \"nyc\" (case)",
            "case");
    is_list((const char *const[]){"a b", " a  b", "a\xc2\xa0" "b", NULL}, 2,
            "\"a b\" and \" a  b\" (blanks), \"a b\" and \"a\xc2\xa0" "b\" (blanks)", "blanks");
    is_list((const char *const[]){"Lie\xcc\x80ge", "Li\xc3\xa8ge", NULL}, 1,
            "\"Lie\xcc\x80ge\" and \"Li\xc3\xa8ge\" (accents apart from their letter)", "accents");
    is_list((const char *const[]){"ab", "a\xe2\x80\x8d" "b", NULL}, 1,
            "\"ab\" and \"a\xe2\x80\x8d" "b\" (a character without a width)", "no width");
    is_list((const char *const[]){"1", "1.0", "True", "0", "FALSE", "01", "1.5", NULL}, 3,
            "\"1\" and \"1.0\" (one number), \"1\" and \"True\" (one number), "
            "\"0\" and \"FALSE\" (one number)", "numbers and truth; 01 is a code");
    is_list((const char *const[]){"a", "A", "b", "B", "c", "C", "d", "D", "e", "E", NULL}, 5,
            "\"a\" and \"A\" (case), \"b\" and \"B\" (case), \"c\" and \"C\" (case) and 2 more",
            "many");
}

static void finds(void)
{
    struct vocab *v = values_of((const char *const[]){"Rom", "\xc3\x96L", "1", NULL});
    is_int(twins_find(v, "o\xcc\x88l ", 5), 1, "the twin of a new value");
    is_int(twins_find(v, "1.0", 3), 2, "a number");
    ok(twins_find(v, "Paris", 5) == UINT32_MAX, "none");
    vocab_free(v);
}

static void codes(void)
{
    uint32_t one, other;
    struct vocab *v = values_of((const char *const[]){"7", "110E1", "5E3", "11E2", NULL});
    ok(twins_codes(v, &one, &other) && one == 1 && other == 3, "codes that are one number");
    vocab_free(v);
    v = values_of((const char *const[]){"110E1", "1100", NULL});
    ok(twins_codes(v, &one, &other), "a code and a number");
    vocab_free(v);
    v = values_of((const char *const[]){"1e3", "1000", "1E+3", "1.0E3", "2E5", NULL});
    ok(!twins_codes(v, &one, &other), "numbers of programs");
    vocab_free(v);
    ok(number_is_code("1E1", 3) && !number_is_code("1e1", 3) && !number_is_code("1E", 2) &&
           !number_is_code("E1", 2) && !number_is_code("1E1a", 4) && !number_is_code("11", 2),
       "what is a code");
    double value;
    ok(!label_number("110E1", 5, '.', &value) && label_number("1e0", 3, '.', &value),
       "a code is no number among labels");
}

int main(void)
{
    lists();
    finds();
    codes();
    return done();
}
