/* infer_column.c - what `init` guesses of cells: damaged text, identifiers, numbers and dates
 * that are not read as such, texts for missing. */
#include "base/rng.h"
#include "infer/survey.h"
#include "infer_help.h"

static void encoding_of(const char *name, const char *bytes, int want, const char *note)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t, bytes);
    struct infer *i = look(&t, NULL, &e);
    if (want == ENCODING_UTF8 && note)
        ok(!i && e.id == ERR_CSV_ENCODING && e.line == 4 && strstr(e.expected, note),
           "%s: line %d: %s; %s", name, (int)e.line, e.what, e.expected);
    else
        ok(i && i->dialect.encoding == want && strcmp(i->encoding_note, note ? note : "") == 0,
           "%s: %s%s", name, e.what, i ? i->encoding_note : "");
    infer_free(i);
    text_free(&t);
}

/* Some bytes that are not UTF-8 among many that are: damage, and no other encoding. */
static void test_damage(void)
{
    const char *most = "as most of the file's other characters beyond ASCII are";
    encoding_of("one bad byte", "a,n\nk\xc3\xb6ln,1\nz\xc3\xbc,2\n\xe9t,3\n", ENCODING_UTF8, most);
    encoding_of("as many bad ones", "a,n\nk\xc3\xb6ln,1\nx,2\n\xe9t,3\n", ENCODING_UTF8, most);
    encoding_of("cut within a character", "a,n\nk\xc3\xb6ln,1\nx,2\n3,\xc3", ENCODING_UTF8, most);
    encoding_of("a byte-order mark",
                "\xef\xbb\xbf"
                "a,n\nx,1\nx,2\n\xe9,\xe9\n",
                ENCODING_UTF8, most);
    encoding_of("no character of UTF-8", "a,n\nx,1\nk\xf6ln,1\n\xdf,2\n", ENCODING_CP1252,
                "line 3, byte 2: the byte \\xf6 is not valid UTF-8, so the file is read as cp1252");
    encoding_of("by chance one", "a,n\nx,1\n\xc3\xb6,1\n\xdf,2\n\xf6,\xe4\n", ENCODING_CP1252,
                "line 4, byte 1: the byte \\xdf is not valid UTF-8, so the file is read as cp1252");
    encoding_of("all of it", "a,n\nk\xc3\xb6ln,1\n", ENCODING_UTF8, NULL);
}

/* What looks like a number or a date and is not read as one; what looks like one and is a name. */
static void test_forms(void)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t, "climb,big,bigcode,zip,inf,huge,percent,usd,eur,thousand,german,hex,us,few,bad,"
                 "badcode,badid_id,baddate,hour,month,mixed,y\n");
    for (uint32_t k = 0; k < 400; k++) {
        uint32_t r = rng_bits(9, k, 0, 0, RNG_TEST) % 100000;
        char number[24];
        snprintf(number, sizeof number, "%u.5", r);
        text_printf(&t, "%u,9%05u0000000%05u,1234567890123456789%u,%05u,%s,%s,%u.5%%,$%u.25,",
                    5 + 7 * k, r, k, k % 3, k % 4 ? 501u : 10001u, k % 3 ? number : "-inf",
                    k % 5 ? number : "1e400", r, r);
        text_printf(&t,
                    "%u.5 \xe2\x82\xac,\"1,%03u.5\",\"1.%03u,5\",0x%X,%02u/%02u/2024,1.2.2024,%s,",
                    r, k, k, r, k % 12 + 1, r % 28 + 1, k == 389 ? "oops" : "1.25");
        text_printf(&t, "%s,%s%u,%s,%02u:30,2024-%02u,%s%u,%u\n", k == 9 ? "n.v." : "7",
                    k ? "" : "A", r, k == 3 ? "soon" : "2024-01-05", k % 24, k % 12 + 1,
                    k % 9 ? "" : "ab", k, k % 2);
    }
    struct infer *i = look(&t, "y", &e);
    if (!ok(i, "looked: %s", e.what))
        return;
    is_type(i, "climb", COLUMN_NUMERIC,
            "in ascending order: if it names the row, say --id climb");
    is_type(i, "big", COLUMN_ID, "more than 16 digits");
    is_type(i, "bigcode", COLUMN_CATEGORICAL, "more than 16 digits are codes");
    is_type(i, "zip", COLUMN_CATEGORICAL, "zeros in front, as in \"00501\"");
    is_type(i, "inf", COLUMN_IGNORE,
            "266 of 400 cells are numbers, 134 are not, the first \"-inf\" at line 2");
    is_type(i, "huge", COLUMN_IGNORE,
            "320 of 400 cells are numbers, 80 are not, the first \"1e400\" at line 2");
    is_type(i, "percent", COLUMN_NUMERIC, "in 400 cells: \"unit\": \"%\"");
    is_type(i, "usd", COLUMN_NUMERIC, "\"unit\": \"$\"");
    is_type(i, "eur", COLUMN_NUMERIC, "\"unit\": \"\xe2\x82\xac\"");
    is_type(i, "thousand", COLUMN_NUMERIC, "\"thousands\": \",\"");
    is_type(i, "german", COLUMN_IGNORE, "decimal comma in a file whose others have points");
    is_type(i, "hex", COLUMN_ID, "every cell is different");
    is_type(i, "us", COLUMN_DATETIME, "\"format\": \"%m/%d/%Y\"");
    is_type(i, "few", COLUMN_IGNORE, "the same value");
    is_type(i, "bad", COLUMN_NUMERIC,
            "1 of 400 cells is no number, the first \"oops\" at line 391");
    is_type(i, "badcode", COLUMN_CATEGORICAL,
            "399 of 400 cells are numbers, 1 is not, the first \"n.v.\" at line 11");
    is_type(i, "badid_id", COLUMN_ID, "identifier");
    is_type(i, "baddate", COLUMN_DATETIME,
            "1 of 400 cells is no date, the first \"soon\" at line 5");
    is_type(i, "hour", COLUMN_DATETIME, NULL);
    is_type(i, "month", COLUMN_DATETIME, NULL);
    is_type(i, "mixed", COLUMN_IGNORE,
            "355 of 400 cells are numbers, 45 are not, the first \"ab0\" at line 2");
    infer_free(i);
    text_free(&t);
}

/* Whole numbers, all different: by the column's name an identifier or not. */
static void test_identifiers(void)
{
    static const struct {
        const char *name;
        int type;
    } names[] = {{"customer", COLUMN_ID},          {"account_number", COLUMN_ID},
                 {"order_no", COLUMN_ID},          {"invoiceRef", COLUMN_ID},
                 {"customerid", COLUMN_ID},        {"USERID", COLUMN_ID},
                 {"client_uuid_a", COLUMN_ID},     {"Id2", COLUMN_ID},
                 {"income", COLUMN_NUMERIC},       {"order_value", COLUMN_NUMERIC},
                 {"number_of_order", COLUMN_NUMERIC}, {"days_to_order", COLUMN_NUMERIC},
                 {"PAID", COLUMN_NUMERIC},         {"avg_account", COLUMN_NUMERIC},
                 {"customers", COLUMN_NUMERIC},    {"numbering", COLUMN_NUMERIC}};
    enum { NAMES = sizeof names / sizeof *names, ROWS = 150 };
    struct err e = {0};
    struct text t = {0};
    for (size_t c = 0; c < NAMES; c++)
        text_printf(&t, "%s,", names[c].name);
    text_put(&t, "dense,below_no,again_id,y\n");
    for (uint32_t k = 0; k < ROWS; k++) {
        for (size_t c = 0; c < NAMES; c++)
            text_printf(&t, "%u,", 100000 + k * 7919 % 10007 * 89 + (uint32_t)c);
        text_printf(&t, "%u,%d,%u,%u\n", k * 7 % 151, (int)(k * 7919 % 10007) - 5000, k * 7 % 40,
                    k % 2);
    }
    struct infer *i = look(&t, "y", &e);
    for (size_t c = 0; c < NAMES; c++)
        is_type(i, names[c].name, names[c].type,
                names[c].type == COLUMN_ID ? "all different, are those of an identifier" : NULL);
    is_type(i, "dense", COLUMN_NUMERIC, "every row has another whole number: if it names the row");
    ok(column(i, "below_no")->type == COLUMN_NUMERIC, "numbers below 0 are no identifier's");
    is_type(i, "again_id", COLUMN_NUMERIC, "its name is that of an identifier, and its 40 values "
                                           "come again");
    infer_free(i);
    text_free(&t);
}

/* Numbers that are not read as such, beside columns whose decimal sign is the point. */
static void test_numbers_aside(void)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t, "p,q,whole,both,blank,comma,few,one,y\n");
    for (uint32_t k = 0; k < 400; k++) {
        uint32_t r = rng_bits(9, k, 0, 0, RNG_TEST) % 90000;
        text_printf(&t, "%u.25,%u.5,\"%u,%03u\",\"%u,%03u%s\",", r, k % 9, r / 1000 + 1, r % 1000,
                    r / 1000 + 1, r % 1000, k % 3 ? "" : ".5");
        text_printf(&t, "\" %u\",\"%u,%02u\",\"%u,5\",", r, r, r % 100, k % 3);
        text_printf(&t, "%s,$%u\n", k == 7 ? "\"1,250\"" : "2.5", r);
    }
    struct infer *i = look(&t, "y", &e);
    ok(i && i->decimal == '.', "thousands have no voice on the decimal sign: %s", e.what);
    is_type(i, "whole", COLUMN_IGNORE, "\"thousands\": \",\"}");
    is_type(i, "both", COLUMN_NUMERIC, "\"thousands\": \",\"");
    is_type(i, "blank", COLUMN_IGNORE, "write plain numbers");
    is_type(i, "comma", COLUMN_IGNORE, "a decimal comma in a file whose others have points");
    is_type(i, "few", COLUMN_CATEGORICAL, "taken as categories");
    is_type(i, "one", COLUMN_NUMERIC, "\"1,250\" (line 9) in 1 cell: \"thousands\": \",\"");
    ok(i && i->task == TASK_REGRESSION && column(i, "y")->form, "a target that is money is read");
    infer_free(i);
    i = look(&t, "whole", &e);
    ok(i && i->task == TASK_REGRESSION && strstr(column(i, "whole")->reason, "--set"),
       "so is one with thousands: %s", i ? column(i, "whole")->reason : "");
    infer_free(i);
    text_free(&t);
}

/* One odd cell among numbers, or a few, in a table of few rows: the column is no number any more,
 * and the reason is that cell. */
static void small_table(uint32_t rows, const char *odd, int type)
{
    struct err e = {0};
    struct text t = {0};
    char want[80];
    text_put(&t, "n,level,pad,y\n");
    for (uint32_t k = 0; k < rows; k++) {
        uint32_t r = rng_bits(9, k, 0, 0, RNG_TEST) % 90000;
        text_printf(&t, "%s", k == 7 ? odd : "");
        if (k != 7)
            text_printf(&t, "%u.%u", r / 1000, r % 1000);
        text_printf(&t, ",%u%s,%05u,%u\n", k % 4, k == 5 ? "+" : "", k == 7 ? 12345 : r / 100,
                    k % 2);
    }
    struct infer *i = look(&t, "y", &e);
    snprintf(want, sizeof want,
             "%u of %u cells are numbers, 1 is not, the first \"%s\" at line 9: mend it",
             rows - 1, rows, odd);
    is_type(i, "n", type, want);
    if (rows >= 20)
        is_type(i, "level", COLUMN_CATEGORICAL, "the first \"1+\" at line 7");
    is_type(i, "pad", COLUMN_CATEGORICAL, "make codes of its numbers");
    infer_free(i);
    text_free(&t);
}

static void test_small_tables(void)
{
    static const char *const odd[] = {"12.5x", "1.2.3", "-1/2"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        small_table(40, odd[i], COLUMN_IGNORE);
    small_table(12, "n.d.", COLUMN_CATEGORICAL);
}

/* Dates that are not read, and what is none. */
static void test_dates_aside(void)
{
    static const struct {
        const char *cell;
        bool date;
    } cells[] = {{"2021-11-7", true},        {"2021-1-07 7:05", true}, {"Mar 30, 2019", true},
                 {"30-Mar-19", true},        {"30 march 2019 8", true}, {"1/2/24", true},
                 {"2019-248", false},        {"Mard 30, 2019", false}, {"2021-11-123", false},
                 {"Mar 30", false},          {"30 12 Mar", false},
                 {"1.2.3", false},           {"2021-13-32", false},   {"May 5, 2019x", false}};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        ok((form_guess(cells[i].cell, strlen(cells[i].cell)) == FORM_DATE) == cells[i].date,
           "\"%s\" is %s", cells[i].cell, cells[i].date ? "a date" : "none");
}

/* 1,234 in a file of semicolons: a fraction where another column of numbers proves the decimal
 * comma and none the point, else a thousand that is set aside. */
static void test_three_places(void)
{
    static const struct {
        const char *behind; /* the numbers of the other column */
        int type;
        const char *note;
    } files[] = {{",5", COLUMN_NUMERIC, ""}, {"", COLUMN_IGNORE, "nothing proves"},
                 {".5", COLUMN_IGNORE, "nothing proves"}};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct err e = {0};
        struct text t = {0};
        text_put(&t, "three;other;version;y\n");
        for (uint32_t k = 0; k < 200; k++) {
            uint32_t r = rng_bits(11, k, 0, 0, RNG_TEST);
            text_printf(&t, "%u,%03u;", 1 + r % 900, r / 900 % 1000);
            if (k % 4 == 0) /* fewer than the versions that read as numbers */
                text_printf(&t, "%u%s", r % 77, files[i].behind);
            text_printf(&t, k % 3 ? ";1.%u;%u\n" : ";1.%u.2;%u\n", r % 9, k % 2);
        }
        struct infer *found = look(&t, "y", &e);
        is_type(found, "three", files[i].type, files[i].note);
        infer_free(found);
        text_free(&t);
    }
}

/* $1,200 has groups where another column proves the point, else either reading fits. */
static void test_amounts_of_three_places(void)
{
    static const int types[] = {COLUMN_NUMERIC, COLUMN_IGNORE};
    for (size_t i = 0; i < 2; i++) {
        struct err e = {0};
        struct text t = {0};
        text_put(&t, "price;other;y\n");
        for (uint32_t k = 0; k < 200; k++) {
            text_printf(&t, "$%u,%03u;", 1 + k % 9, k * 37 % 1000);
            text_printf(&t, i ? "%u" : "%u.25", k * 7 % 83);
            text_printf(&t, ";%u\n", k % 2);
        }
        struct infer *found = look(&t, "y", &e);
        is_type(found, "price", types[i], i ? "nothing proves" : "\"thousands\": \",\"");
        infer_free(found);
        text_free(&t);
    }
}

/* What dnn would read instead is written with the file's own decimal sign. */
static void test_comma_examples(void)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t, "price;share;cost;weight;y\n");
    for (uint32_t k = 0; k < 200; k++) {
        uint32_t r = rng_bits(12, k, 0, 0, RNG_TEST) % 9000;
        text_printf(&t, "%u.%03u,%02u;%u,5 %%;€%u,25;%u,75;%u\n", r / 1000 + 1, r % 1000, k % 100,
                    r, r, r, k % 2);
    }
    struct infer *i = look(&t, "y", &e);
    ok(i && i->decimal == ',', "a file of decimal commas: %s", e.what);
    is_type(i, "price", COLUMN_NUMERIC, "\"thousands\": \".\"");
    is_type(i, "share", COLUMN_NUMERIC, "\"unit\": \"%\"");
    is_type(i, "cost", COLUMN_NUMERIC, "\"unit\": \"\xe2\x82\xac\"");
    is_type(i, "weight", COLUMN_NUMERIC, "");
    infer_free(i);
    text_free(&t);
}

/* Dates of several forms: what the shorter ones become is said. */
static void test_dates(void)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t, "time,month,times,stamp\n");
    for (uint32_t k = 0; k < 40; k++)
        text_printf(&t, "%s,%s,%02u:30,2024/01/%02u 10:00Z\n", k % 9 ? "2024-01-02" : "10:30",
                    k % 20 ? "2024-01-02" : "2024-03", k % 24, k % 28 + 1);
    struct infer *i = look(&t, NULL, &e);
    is_type(i, "time", COLUMN_DATETIME, "5 of 40 cells are a time without a date");
    is_type(i, "month", COLUMN_DATETIME, "2 of 40 cells are a month without a day");
    is_type(i, "times", COLUMN_DATETIME, NULL);
    is_type(i, "stamp", COLUMN_DATETIME, NULL);
    infer_free(i);
    text_free(&t);
}

static void has_missing(const char *name, const char *bytes, const char *want)
{
    struct infer *i = look_z(bytes, NULL);
    char list[200] = "";
    size_t at = 0;
    for (size_t k = 0; i && k < i->missing.count; k++)
        at += (size_t)snprintf(list + at, sizeof list - at, "[%s]", i->missing.items[k]);
    is_string(list, want, name);
    infer_free(i);
}

/* The texts that mean missing in one column alone. */
static void has_own(const struct infer *i, const char *name, const char *want)
{
    const struct infer_column *c = column(i, name);
    char list[200] = "";
    size_t at = 0;
    for (size_t k = 0; c && k < c->none.count; k++)
        at += (size_t)snprintf(list + at, sizeof list - at, "[%s]", c->none.items[k]);
    is_string(list, want, name);
}

static void test_missing(void)
{
    has_missing("the empty text and NA always", "a,b\n1,2\n3,4\n", "[][NA]");
    has_missing("NA and ? anywhere", "a,b\n1,x\nNA,?\n2,y\n", "[][NA][?]");
    has_missing("a dash among numbers", "a,b\n1,x\n-,y\n2,x\n", "[][NA][-]");
    has_missing("a dash among words is a word", "a,b\n1,x\n3,-\n2,x\n", "[][NA]");
    has_missing("unknown among words is a word", "a,b\n1,unknown\n3,y\n2,x\n", "[][NA]");
    has_missing("unknown among dates", "a,b\n1,2024-01-01\n3,unknown\n2,2024-02-01\n",
                "[][NA][unknown]");
    has_missing("a quoted blank", "a,b\n1,\" \"\n3,4\n", "[][NA][ ]");
    const char *codes = "a,b\n1,EU\n2,NA\n3,AS\n4,OC\n5,AF\n";
    has_missing("NA among codes of two letters is one", codes, "[]");
    struct infer *i = look_z(codes, NULL);
    is_type(i, "b", COLUMN_CATEGORICAL, "\"NA\" is taken as one of its codes of two letters, not");
    infer_free(i);
    const char *both = "a,b\n1,EU\nNA,NA\n3,AS\n4,OC\n5,AF\n";
    has_missing("also where NA means missing in another column", both, "[]");
    i = look_z(both, NULL);
    is_type(i, "b", COLUMN_CATEGORICAL, "\"NA\" is taken as one of its codes of two letters, not");
    has_own(i, "a", "[NA]");
    has_own(i, "b", "");
    infer_free(i);
    const char *jobs = "a,b,y\n1,unknown,1\nunknown,clerk,0\n3,clerk,unknown\n4,cook,1\n5,cook,0\n";
    has_missing("a mark that is a value elsewhere", jobs, "[][NA]");
    i = look_z(jobs, "y");
    has_own(i, "a", "[unknown]");
    has_own(i, "b", "");
    has_own(i, "y", "[unknown]");
    infer_free(i);
    i = look_z("x,y\n1,yes\n2,NA\n3,?\n4,\n", "y");
    is_string(i ? column(i, "y")->note : "",
              "3 of 4 rows have no target: training leaves them out; "
              "they are empty or say \"NA\", \"?\": if that "
              "is a class, --set 'data.missing=[\"\"]'", "a target that says NA");
    infer_free(i);
}

/* Columns that rise by one a row: t from 1 on, year, row_no; each row has another code. order: how
 * the target follows the rows. */
enum target_order { BY_CHANCE, LATER_MORE, IN_SEASONS, SORTED };
static struct infer *rising(enum target_order order)
{
    enum { ROWS = 400 };
    struct err e = {0};
    struct text t = {0};
    text_put(&t, "t,year,row_no,token,long,x,y\n");
    for (uint32_t k = 0; k < ROWS; k++) {
        const uint32_t r = rng_bits(3, k, 0, 0, RNG_TEST) % 100, x = rng_bits(4, k, 0, 0, RNG_TEST);
        const uint32_t at = order == LATER_MORE  ? 30 + 40 * k / ROWS
                            : order == IN_SEASONS ? k / 80 % 2 * 40 + 30
                                                  : 50;
        const bool y = order == SORTED ? k < 150 : r < at;
        text_printf(&t, "%u,%u,%u,%06x-%u,made-of-%u-%064u,%u,%s\n", k + 1, 1500 + k, 900 + k,
                    x % 1000000, k, k, k, x % 50, y ? "a" : "b");
    }
    struct infer *i = look(&t, "y", &e);
    text_free(&t);
    return i;
}

static void test_rising(void)
{
    static const char number[] = "it numbers the rows, from 1 on; to learn from it, --set "
                                 "data.columns.t=numeric",
                      tells[] = "it rises by one a row, and tells of the target";
    const struct {
        enum target_order order;
        int type;
        const char *reason;
    } cases[] = {{BY_CHANCE, COLUMN_ID, number},
                 {LATER_MORE, COLUMN_NUMERIC, tells},
                 {IN_SEASONS, COLUMN_NUMERIC, tells},
                 {SORTED, COLUMN_ID, "it numbers the rows, which are sorted by the target"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct infer *i = rising(cases[k].order);
        is_type(i, "t", cases[k].type, cases[k].reason);
        is_type(i, "year", COLUMN_NUMERIC, NULL);
        is_type(i, "row_no", COLUMN_ID, "it numbers the rows");
        is_type(i, "token", COLUMN_ID, "--set data.columns.token=categorical");
        is_type(i, "long", COLUMN_IGNORE, "every cell is different");
        infer_free(i);
    }
}

int main(void)
{
    scratch_make();
    test_rising();
    test_damage();
    test_forms();
    test_identifiers();
    test_numbers_aside();
    test_small_tables();
    test_dates_aside();
    test_three_places();
    test_amounts_of_three_places();
    test_comma_examples();
    test_dates();
    test_missing();
    return done();
}
