/* infer_file.c - what `init` guesses: dialect, header, decimal, encoding, types, task, leaks. */
#include "base/rng.h"
#include "base/text.h"
#include "base/process/thread.h"
#include "infer_help.h"

/* --- dialect --- */

static void dialect(const char *name, const char *bytes, const char *target, char delimiter,
                    bool header, char decimal, size_t columns)
{
    struct infer *i = look_z(bytes, target);
    ok(i && i->dialect.delimiter == delimiter && i->dialect.header == header &&
           i->decimal == decimal && i->count == columns,
       "%s: '%c' header %d decimal '%c' columns %d", name, i ? i->dialect.delimiter : '?',
       i ? i->dialect.header : 9, i ? i->decimal : '?', i ? (int)i->count : 0);
    infer_free(i);
}

static void test_dialect(void)
{
    dialect("commas", "a,b,c\n1,2,3\n4,5,6\n", NULL, ',', true, '.', 3);
    dialect("semicolons", "a;b;c\n1;2;3\n4;5;6\n", NULL, ';', true, '.', 3);
    dialect("tabs", "a\tb\tc\n1\t2\t3\n", NULL, '\t', true, '.', 3);
    dialect("bars", "a|b|c\n1|2|3\n", NULL, '|', true, '.', 3);
    dialect("one column", "a\n1\n2\n", NULL, ',', true, '.', 1);
    dialect("a decimal comma", "a;b;c\n1,5;2,5;3\n4;5,25;6,1\n", NULL, ';', true, ',', 3);
    dialect("without a header too", "1,5;2,5;3,5\n4,25;5,25;6,1\n", NULL, ';', false, ',', 3);
    dialect("a decimal comma with three places", "a;b\n0,001;x\n0,284;y\n", NULL, ';', true, ',',
            2);
    dialect("thousands are no decimals", "a;b\n\"1,500\";x\n\"2,000\";y\n", NULL, ';', true, '.',
            2);
    dialect("thousands, until a column of numbers proves the comma",
            "a;b;c\n1,234;0,5;x\n2,345;12,34;y\n", NULL, ';', true, ',', 3);
    dialect("codes that read as numbers have no voice where numbers have",
            "a;b;c\n1,234;0,5;1.5\n2,345;;1.5.2\n3,456;;2.25\n", NULL, ';', true, ',', 3);
    dialect("nor have they against points", "a;b;c\n1.234;0.5;1,5\n2.345;;x\n3.456;;2,25\n", NULL,
            ';', true, '.', 3);
    dialect("numbers that prove one sign each: the more of them",
            "a;b;c\n1,234;0,5;1.5\n2,345;;1.5\n3,456;;2.25\n", NULL, ';', true, '.', 3);
    dialect("quoted delimiters", "a;b\n\"x,y,z\";\"1,2\"\n\"p,q,r\";\"3,4\"\n", NULL, ';', true,
            ',', 2);
    dialect("commas in some texts", "a;b\nx, y;1\nz;2\nu, v, w;3\n", NULL, ';', true, '.', 2);
    dialect("a byte-order mark",
            "\xef\xbb\xbf"
            "a,b\n1,2\n",
            "a", ',', true, '.', 2);
    dialect("CRLF", "a,b\r\n1,2\r\n", NULL, ',', true, '.', 2);
    dialect("bare CR", "a,b\r1,2\r3,4\r", NULL, ',', true, '.', 2);
    dialect("a blank line first", "\na,b\n1,2\n", NULL, ',', true, '.', 2);
    dialect("no header: numbers first", "1,2,x\n3,4,y\n", NULL, ',', false, '.', 3);
    dialect("no header: the word comes again", "A11,B2\nA12,B2\nA11,B3\n", NULL, ',', false, '.',
            2);
    dialect("a header of words over words", "kind,place\nA11,B2\nA12,B2\n", NULL, ',', true, '.',
            2);
    dialect("the target is a number in the header", "2019,2020\n1,2\n3,4\n", "2020", ',', true, '.',
            2);
    dialect("the target is a place", "a,b\nc,d\n", "c2", ',', false, '.', 2);
    dialect("a row with a gap first", ",2,x\n3,4,y\n", NULL, ',', false, '.', 3);
    dialect("no line end", "a,b\n1,2", NULL, ',', true, '.', 2);
}

static void test_fixed(void)
{
    struct err e = {0};
    scratch_put("in.csv", "a;b\n1,5;2\n", 10);
    struct infer_request q = {
        .path = scratch("in.csv"), .encoding = -1, .header = 0, .delimiter = ',', .decimal = '.'};
    struct infer *i = infer_file(&q, &e);
    ok(i == NULL && e.id == ERR_CSV_DELIMITER, "a delimiter that was given is kept: %s", e.what);
    infer_free(i);
    err_clear(&e);
    struct opt_strings none = {0};
    scratch_put("in.csv", "a,b\n1,2\nNA,3\n", 13);
    q = (struct infer_request){
        .path = scratch("in.csv"), .encoding = -1, .header = 1, .missing = &none};
    i = infer_file(&q, &e);
    ok(i && i->columns[0].type == COLUMN_CATEGORICAL && i->missing.count == 0,
       "so are the texts for missing");
    infer_free(i);
    const char *ids[] = {"b"}, *ignored[] = {"a"};
    q = (struct infer_request){.path = scratch("in.csv"),
                               .encoding = -1,
                               .header = -1,
                               .quote = -1,
                               .ids = ids,
                               .id_count = 1,
                               .ignored = ignored,
                               .ignored_count = 1};
    i = infer_file(&q, &e);
    ok(i && i->columns[0].type == COLUMN_IGNORE && i->columns[1].type == COLUMN_ID,
       "and the columns that were named");
    infer_free(i);
}

static void test_encoding(void)
{
    struct infer *i = look_z("stra\xdf"
                             "e,n\nk\xf6ln,1\n",
                             NULL);
    ok(i && i->dialect.encoding == ENCODING_CP1252, "not UTF-8: cp1252");
    is_string(i ? i->columns[0].name : "",
              "stra\xc3\x9f"
              "e",
              "and read so");
    infer_free(i);
    i = look_z("a,n\nk\x81ln,1\n", NULL);
    ok(i && i->dialect.encoding == ENCODING_LATIN1, "a byte that cp1252 lacks: latin1");
    infer_free(i);
    i = look_z("stra\xc3\x9f"
               "e,n\nx,1\n",
               NULL);
    ok(i && i->dialect.encoding == ENCODING_UTF8, "UTF-8");
    infer_free(i);
}

/* --- types --- */

static void test_types(void)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t,
             "PassengerId,user_id,num,code,city,day,stamp,yyyymmdd,same,half,empty,rare,note,token,"
             "mixed,account,order_no,store_id,steps,gap,flag,y\n");
    for (uint32_t k = 0; k < 300; k++) {
        uint32_t r = rng_bits(1, k, 0, 0, RNG_TEST);
        text_printf(
            &t, "%u,u-%u,%u.5,%u,%s,2024-%02u-%02u,2024-01-%02uT%02u:00:00Z,202401%02u,k,%s,,%s,",
            900 - 3 * k, k * 7919, r % 500, r % 4, r % 3 ? "Rome" : "Oslo", r % 12 + 1, r % 28 + 1,
            r % 28 + 1, r % 24, r % 28 + 1, r % 2 ? "x" : "", k < 4 ? "3" : "");
        text_printf(&t, "the row number %u is good,t%ux,%s%u,AC%05u,%u-B,%u,%u,%s,%s,%u\n", k, r,
                    k % 9 ? "" : "ab", k, 7919 * k % 100000, 7919 * k % 100003, r % 7,
                    k + 5, k % 10 ? "7.25" : "-", k % 5 ? "yes" : "no", r % 2);
    }
    struct infer *i = look(&t, "y", &e);
    if (!ok(i, "looked: %s", e.what))
        return;
    is_int(i->rows, 300, "rows");
    is_type(i, "PassengerId", COLUMN_ID, "identifier");
    is_type(i, "user_id", COLUMN_ID, "identifier");
    is_type(i, "num", COLUMN_NUMERIC, NULL);
    is_type(i, "code", COLUMN_NUMERIC, NULL);
    is_type(i, "city", COLUMN_CATEGORICAL, NULL);
    is_type(i, "day", COLUMN_DATETIME, NULL);
    is_type(i, "stamp", COLUMN_DATETIME, NULL);
    is_type(i, "yyyymmdd", COLUMN_DATETIME, NULL);
    is_type(i, "same", COLUMN_IGNORE, "the same value");
    is_type(i, "half", COLUMN_CATEGORICAL, NULL);
    is_type(i, "empty", COLUMN_IGNORE, "missing");
    is_type(i, "rare", COLUMN_IGNORE, "only 4 of 300");
    is_type(i, "note", COLUMN_TEXT, "free text");
    is_type(i, "token", COLUMN_ID, "every cell is different");
    is_type(i, "mixed", COLUMN_IGNORE, "266 of 300 cells are numbers, 34 are not");
    is_type(i, "account", COLUMN_ID, "its values, all different");
    is_type(i, "order_no", COLUMN_ID, "its values, all different");
    is_type(i, "store_id", COLUMN_NUMERIC, "its 7 values come again");
    is_type(i, "steps", COLUMN_NUMERIC, NULL); /* from 5 on: ages, years */
    is_type(i, "gap", COLUMN_CATEGORICAL, NULL); /* one number or none: a word */
    is_type(i, "flag", COLUMN_CATEGORICAL, NULL);
    const struct infer_column *c = column(i, "num");
    is_int(c->missing, 0, "nothing missing");
    ok(c->low >= 0.5 && c->high <= 499.5 && c->low < 20 && c->high > 480, "range");
    ok(c->examples[4] && strcmp(c->examples[0], c->examples[1]) != 0, "examples");
    is_int(column(i, "city")->distinct, 2, "distinct");
    is_int(column(i, "gap")->missing, 30, "missing");
    infer_free(i);
    text_free(&t);
}

static bool stop_at_once(void)
{
    return true;
}

static void test_stop(void)
{
    struct err e = {0};
    scratch_put("in.csv", "a,b\n1,2\n3,4\n", 12);
    struct infer_request q = {
        .path = scratch("in.csv"), .encoding = -1, .header = -1, .quote = -1, .stop = stop_at_once};
    ok(!infer_file(&q, &e) && e.id == ERR_NONE, "stopped: no answer, and no error of the file");
}

/* --- target --- */

static void task(const char *name, const char *values, int want, const char *positive)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t, "x,y\n");
    size_t n = strlen(values);
    for (uint32_t k = 0; k < 60; k++) {
        size_t from = 0, at = 0, fields = 1;
        for (size_t i = 0; i < n; i++)
            fields += values[i] == '|';
        for (size_t i = 0; i < n && at < k % fields; i++)
            if (values[i] == '|') {
                at++;
                from = i + 1;
            }
        text_printf(&t, "%u,%.*s\n", rng_bits(2, k, 0, 0, RNG_TEST) % 1000,
                    (int)strcspn(values + from, "|"), values + from);
    }
    struct infer *i = look(&t, "y", &e);
    ok(i && i->task == want, "%s: task %s", name, i ? task_names[i->task] : e.what);
    if (positive)
        is_string(i && i->positive ? i->positive : "none", positive, name);
    else
        ok(i && !i->positive, "%s: no positive label", name);
    infer_free(i);
    text_free(&t);
}

static void test_target(void)
{
    task("yes and no", "yes|no|no", TASK_BINARY, "yes");
    task("numbers", "9|10|9|9", TASK_BINARY, "10");
    task("three words", "a|b|c", TASK_MULTICLASS, NULL);
    task("few whole numbers", "1|2|3|4", TASK_MULTICLASS, NULL);
    task("few fractions", "1.5|2|3|4", TASK_REGRESSION, NULL);
    task("two fractions", "1.5|2", TASK_BINARY, "2");
    task("many whole numbers", "1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16|17|18|19|20",
         TASK_REGRESSION, NULL);
    task("a missing target", "yes|no|", TASK_BINARY, "yes");
    struct infer *i = look_z("x,y\n1,a\n2,\n3,b\n", "y");
    ok(i && strstr(column(i, "y")->note, "1 of 3 rows"), "rows without a target: %s",
       i ? column(i, "y")->note : "");
    infer_free(i);
    i = look_z("x,y\n1,a\n2,a\n3,a\n", "y");
    ok(i && strstr(column(i, "y")->note, "one value"), "one value: %s",
       i ? column(i, "y")->note : "");
    infer_free(i);
}

static void leaks(const char *name, int classes)
{
    struct err e = {0};
    struct text t = {0};
    text_put(&t, "copy,word,noise,other,y\n");
    for (uint32_t k = 0; k < 30000; k++) { /* more than the sample takes */
        uint32_t r = rng_bits(3, k, 0, 0, RNG_TEST), s = rng_bits(4, k, 0, 0, RNG_TEST);
        uint32_t y = classes ? r % (uint32_t)classes : r % 10000;
        text_printf(&t, "%u.5,w%u,%u,%c,%u.%u\n", y * 2, y, s % 977, 'a' + (int)(s % 5), y,
                    classes ? 0 : r % 7);
    }
    struct infer *i = look(&t, "y", &e);
    ok(i, "%s: %s", name, e.what);
    ok(i && strstr(column(i, "copy")->note, "gives the target away"), "%s: a number", name);
    if (classes)
        ok(i && strstr(column(i, "word")->note, "gives the target away"), "%s: a word", name);
    ok(i && !column(i, "noise")->note[0] && !column(i, "other")->note[0], "%s: nothing else", name);
    infer_free(i);
    text_free(&t);
}

static void test_leaks(void)
{
    leaks("two classes", 2);
    leaks("five classes", 5);
    leaks("values", 0);
    struct err e = {0}; /* a number of a series: the classes change within any range of rows */
    struct text t = {0};
    text_put(&t, "series,x,y\n");
    for (uint32_t k = 0; k < 4000; k++)
        text_printf(&t, "%u,%s%u,c%u\n", k / 15, k == 70 ? "0" : "", k % 7, k / 15 / 3 % 8);
    struct infer *i = look(&t, "y", &e);
    is_type(i, "x", COLUMN_NUMERIC, NULL);
    ok(i && strstr(column(i, "series")->note, "gives the target away"), "a series of one class");
    infer_free(i);
    text_free(&t);
}

/* --- failures --- */

static void fails(const char *name, const char *bytes, size_t length, const char *target, int id)
{
    struct err e = {0};
    scratch_put("in.csv", bytes, length);
    struct infer *i = look_at(scratch("in.csv"), target, &e);
    ok(!i && (int)e.id == id, "%s: %d %s", name, (int)e.id, e.what);
    infer_free(i);
}

static void test_failures(void)
{
    struct err e = {0};
    fails("an empty file", "", 0, NULL, ERR_CSV_EMPTY);
    fails("a header only", "a,b\n", 4, "a", ERR_CSV_NO_ROWS);
    fails("an unknown target", "abc,b\n1,2\n", 10, "abd", ERR_INFER_TARGET);
    fails("a ragged row", "a,b\n1,2\n1,2,3\n", 14, "a", ERR_CSV_RAGGED);
    fails("an open quote", "a,b\n1,\"2\n", 9, "a", ERR_CSV_UNTERMINATED);
    fails("UTF-16",
          "\xff\xfe"
          "a\0,\0b\0\n\0",
          10, "a", ERR_CSV_UTF16);
    fails("gzip, cut", "\x1f\x8b\x08\0\0\0\0", 7, "a", ERR_CSV_GZIP);
    ok(!look_at(scratch("nothing.csv"), NULL, &e) && err_exit(&e) == EXIT_NOINPUT, "no file: %s",
       e.what);
    fails("an equal name", "a,a\n1,2\n", 8, NULL, ERR_CSV_HEADER_DUPLICATE);
    struct infer *i = look_z("a,b\n", NULL);
    ok(i && i->rows == 0 && i->count == 2, "a header only can be inspected");
    infer_free(i);
}

/* The same answer whatever the threads. */
static void test_threads(void)
{
    struct text t = {0};
    struct err e = {0};
    text_put(&t, "a,b,c,d,y\n");
    for (uint32_t k = 0; k < 50000; k++)
        text_printf(&t, "%u,%u,x%u,%u,%u\n", rng_bits(5, k, 0, 0, RNG_TEST) % 50000, k % 7,
                    rng_bits(6, k, 0, 0, RNG_TEST) % 100, k, k % 3);
    struct infer *one = look(&t, "y", &e);
    threads_start(3);
    struct infer *three = look(&t, "y", &e);
    threads_stop();
    bool same = one && three && one->rows == three->rows;
    for (size_t c = 0; same && c < one->count; c++)
        same = one->columns[c].type == three->columns[c].type &&
               one->columns[c].distinct == three->columns[c].distinct &&
               strcmp(one->columns[c].note, three->columns[c].note) == 0 &&
               strcmp(one->columns[c].examples[4] ? one->columns[c].examples[4] : "",
                      three->columns[c].examples[4] ? three->columns[c].examples[4] : "") == 0;
    ok(same, "one thread and three see the same");
    infer_free(one);
    infer_free(three);
    text_free(&t);
}

/* --- real files, where there are any --- */

static void real(const char *folder, const char *name, const char *target, int want,
                 const char *aside)
{
    struct err e = {0};
    struct text path = {0};
    text_printf(&path, "%s/%s", folder, name);
    if (access(path.data, R_OK) != 0) {
        tap_skip(name, "the file is not there");
        text_free(&path);
        return;
    }
    struct infer *i = look_at(path.data, target, &e);
    ok(i && i->task == want, "%s: %s %s", name, i ? task_names[i->task] : "", e.what);
    const struct infer_column *c = aside ? column(i, aside) : NULL;
    ok(!aside || (c && (c->type == COLUMN_ID || c->type == COLUMN_IGNORE)), "%s: %s is set aside",
       name, aside ? aside : "nothing");
    infer_free(i);
    text_free(&path);
}

static void test_real(void)
{
    const char *folder = getenv("DNN_SHARED_DATA");
    if (!folder || !*folder) {
        tap_skip("real files", "DNN_SHARED_DATA does not name their folder");
        return;
    }
    real(folder, "bank-marketing/bank-full.csv", "y", TASK_BINARY, NULL);
    real(folder, "adult/adult_train.csv", "income", TASK_BINARY, NULL);
    real(folder, "telco-churn/Telco-Customer-Churn.csv", "Churn", TASK_BINARY, "customerID");
    real(folder, "credit-g/german.csv", "c21", TASK_BINARY, NULL);
    real(folder, "credit-g/GermanCredit_named.csv", "credit_risk", TASK_BINARY, NULL);
    real(folder, "titanic/titanic.csv", "Survived", TASK_BINARY, "Name");
    real(folder, "california-housing/housing.csv", "median_house_value", TASK_REGRESSION, NULL);
    real(folder, "diamonds/diamonds.csv", "price", TASK_REGRESSION, NULL);
    real(folder, "otto/train.csv", "target", TASK_MULTICLASS, "id");
    real(folder, "covertype/covtype.20k.csv", "c55", TASK_MULTICLASS, "c21");
    real(folder, "covertype/kaggle_train_15120.csv", "Cover_Type", TASK_MULTICLASS, "Id");
    real(folder, "text-trec/train.csv", "coarse", TASK_MULTICLASS, "text");
}

int main(void)
{
    scratch_make();
    test_dialect();
    test_fixed();
    test_encoding();
    test_types();
    test_stop();
    test_target();
    test_leaks();
    test_failures();
    test_threads();
    test_real();
    return done();
}
