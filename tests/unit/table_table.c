/* table_table.c - files to a finished table: the same bytes whatever the threads, the first bad
 * record whoever met it, parts, provisional ids, samples. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/process/thread.h"
#include "table/schema/record.h"
#include "table_help.h"

static char folder[64];
static const char *const made[] = {"t.csv", "v.csv", "e.csv"};

static const char *path_of(const char *name)
{
    static char path[4][128];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", folder, name);
    return p;
}

static void write_string(const char *name, const char *string)
{
    FILE *f = fopen(path_of(name), "wb");
    fwrite(string, 1, strlen(string), f);
    fclose(f);
}

static void write_text(const char *name, const struct text *t)
{
    write_string(name, t->data);
}

struct loaded {
    struct schema *s;
    struct table *t;
    struct err e;
};

/* members: of "data", behind "train" ("t.csv" in the folder). */
static struct loaded load(const char *members, int task, unsigned threads,
                          const struct stopper *stop)
{
    struct loaded l = {0};
    struct text config = {0};
    struct data_options o = {0};
    threads_start(threads);
    text_printf(&config, "{\"data\": {\"train\": \"%s\", %s}}", path_of("t.csv"), members);
    struct json_doc *doc = json_parse(config.data, config.length, "c.json", &l.e);
    if (doc &&
        opt_read(data_options_table, doc, json_path(json_root(doc), "data"), "data", &o, &l.e)) {
        if (data_options_settle(&o, task, doc, &l.e))
            l.s = schema_declare(&o, task, doc, &l.e);
        o.split.seed = 3;
        if (l.s)
            l.t = table_load(l.s, &o, 0, stop, &l.e);
        opt_release(data_options_table, &o);
    }
    json_free(doc);
    text_free(&config);
    threads_stop();
    return l;
}

static void drop(struct loaded *l)
{
    table_free(l->t);
    schema_free(l->s);
    *l = (struct loaded){0};
}

/* --- the same bytes --- */

static uint32_t draw(uint64_t i, uint32_t below)
{
    return rng_bits(5, i, 0, 0, RNG_TEST) % below;
}

/* About 5 MB: numbers, categories that come up late, dates, missing cells, quoted line ends, blank
 * lines. */
static void write_large(int rows, int bad_row, const char *bad)
{
    struct text t = {0};
    text_put(&t, "id,x,city,when,y,w,k\n");
    for (int i = 0; i < rows; i++) {
        uint64_t at = (uint64_t)i * 8;
        if (i == bad_row)
            text_put(&t, bad);
        if (draw(at, 50) == 0)
            text_put(&t, "\n");
        text_printf(&t, "%d,", i);
        if (draw(at + 1, 9))
            text_printf(&t, "%.*f,", (int)draw(at + 2, 7), (double)draw(at + 3, 1000000) / 997);
        else
            text_put(&t, "NA,");
        text_printf(&t, draw(at + 4, 30) ? "c%u," : "\"c\n%u\",",
                    draw(at + 5, 20 + (uint32_t)i / 500));
        text_printf(&t, "20%02u-0%u-1%u,", draw(at + 6, 24), 1 + draw(at + 6, 9), draw(at + 6, 9));
        text_printf(&t, "%s,%u,k%d\n", draw(at + 7, 3) ? "yes" : "no", 1 + draw(at, 3), i / 7);
    }
    write_text("t.csv", &t);
    text_free(&t);
}

#define LARGE(split)                                                                               \
    "\"target\": \"y\", \"columns\": {\"id\": \"id\", \"x\": \"numeric\", \"city\": "              \
    "\"categorical\", "                                                                            \
    "\"when\": \"datetime\", \"w\": \"weight\", \"k\": \"group\"}, \"split\": {" split "}"

static void test_same_bytes(void)
{
    static const char *const splits[] = {
        LARGE("\"method\": \"stratified\""), LARGE("\"method\": \"group\""),
        LARGE("\"method\": \"time\""), LARGE("\"method\": \"hash\""),
        LARGE("\"method\": \"random\"")};
    write_large(120000, -1, "");
    for (size_t k = 0; k < sizeof splits / sizeof *splits; k++) {
        struct loaded one = load(splits[k], TASK_BINARY, 1, NULL);
        ok(one.t && table_rows(one.t)->count == 120000, "split %d: read: %s", (int)k, one.e.what);
        if (!one.t)
            return;
        for (unsigned threads = 2; threads <= (k ? 2 : 3); threads++) {
            struct loaded more = load(splits[k], TASK_BINARY, threads, NULL);
            ok(more.t && strcmp(more.t->sha256, one.t->sha256) == 0,
               "split %d: %u threads, the same table", (int)k, threads);
            drop(&more);
        }
        const uint64_t *count = one.t->split.record_count;
        is_int(count[0] + count[1] + count[2], 120000, "each row has a part");
        ok(count[PART_VALID] > 10000 && count[PART_TEST] > 10000, "no part is small");
        if (k == 0) {
            ok(one.t->data->blank_lines > 1000, "blank lines are counted");
            is_int(one.t->data->sample.rows, TABLE_SAMPLE_ROWS, "the first rows are kept as text");
            ok(vocab_count(one.t->encoder->columns[2].vocab) > 400, "categories of training rows");
        }
        drop(&one);
    }
    ok(mem_in_use() == 0, "nothing is left: %u bytes", (unsigned)mem_in_use());
}

/* --- errors --- */

static void test_first_error(void)
{
    static const struct {
        const char *name, *row;
        enum err_id id;
    } all[] = {
        {"a number", "5,12x,c1,2020-01-01,yes,1,k\n", ERR_CSV_NUMBER},
        {"a stray quote", "5,1,c\"1,2020-01-01,yes,1,k\n", ERR_CSV_QUOTE},
        {"a short row", "5,1,c1\n", ERR_CSV_RAGGED},
        {"a byte that is no text", "5,1,c\xff,2020-01-01,yes,1,k\n", ERR_CSV_ENCODING},
    };
    int64_t line[4] = {0};
    for (size_t k = 0; k < 4; k++)
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            write_large(60000, 30000 + (int)k, all[k].row);
            FILE *f = fopen(path_of("t.csv"), "a"); /* a second one, much later */
            fputs("6,zzz,c1,2020-01-01,yes,1,k\n", f);
            fclose(f);
            struct loaded l = load(LARGE("\"method\": \"random\""), TASK_BINARY, threads, NULL);
            bool same = threads == 1 || l.e.line == line[k];
            line[k] = l.e.line;
            ok(!l.t && l.e.id == all[k].id && l.e.line > 30000 && l.e.line < 40000 && same,
               "%s: E%d in line %d with %u threads", all[k].name, (int)l.e.id, (int)l.e.line,
               threads);
            drop(&l);
        }
}

static const struct {
    const char *name, *text, *members;
    int task;
    enum err_id id;
    int line, column;
    const char *what, *help;
} bad[] = {
#define AB "\"target\": \"b\", \"columns\": {\"a\": \"numeric\"}"
    {"C02 header only", "a,b\n", AB, TASK_REGRESSION, ERR_CSV_NO_ROWS, 0, 0, "0 data rows", ""},
    {"C12 short", "a,b\n1,2\n3\n", AB, TASK_REGRESSION, ERR_CSV_RAGGED, 3, 0,
     "1 field, header has 2", ""},
    {"C12 long", "a,b\n1,2,3\n", AB, TASK_REGRESSION, ERR_CSV_RAGGED, 2, 0,
     "3 fields, header has 2", "delimiter"},
    {"C16 text in the first cell alone", "a,b\n1,2\n3,4\n",
     "\"target\": \"c2\", \"header\": false, \"columns\": {\"c1\": \"numeric\"}", TASK_REGRESSION,
     ERR_CSV_NUMBER, 1, 1, "column \"c1\": \"a\" is not a number", "\"header\": true"},
    {"C18 decimal comma", "a;b\n12,5;1\n", AB ", \"delimiter\": \";\"", TASK_REGRESSION,
     ERR_CSV_NUMBER, 2, 1, "column \"a\": \"12,5\" is not a number", "\"decimal\": \",\""},
    {"C18 1.234,5", "a;b\n1.234,5;1\n", AB ", \"delimiter\": \";\"", TASK_REGRESSION,
     ERR_CSV_NUMBER, 2, 1, "\"1.234,5\"", "thousands"},
    {"C18 1,234.5", "a,b\n\"1,234.5\",1\n", AB, TASK_REGRESSION, ERR_CSV_NUMBER, 2, 1,
     "\"1,234.5\"", "thousands"},
    {"C18 1_000", "a,b\n1_000,1\n", AB, TASK_REGRESSION, ERR_CSV_NUMBER, 2, 1, "\"1_000\"",
     "thousands"},
    {"C19 nan", "a,b\nnan,1\n", AB, TASK_REGRESSION, ERR_CSV_NUMBER, 2, 1, "\"nan\"",
     "data.missing"},
    {"C19 in the target", "a,b\n1,x\n", AB, TASK_REGRESSION, ERR_CSV_NUMBER, 2, 3,
     "column \"b\": \"x\"", ""},
    {"C20 range", "a,b\n1,2\n1e39,1\n", AB, TASK_REGRESSION, ERR_CSV_RANGE, 3, 1,
     "outside float32 range", ""},
    {"C23 no label", "a,b\n1,\n3,NA\n4,\n", AB, TASK_REGRESSION,
     ERR_CSV_LABEL_MISSING, 2, 0, "missing in every row, 3 in all", ""},
    {"C24 no value", "a,b\n1,2\n,2\n",
     "\"target\": \"b\", \"columns\": {\"a\": {\"type\": \"numeric\", \"impute\": \"error\"}}",
     TASK_REGRESSION, ERR_CSV_MISSING_VALUE, 3, 1, "column \"a\"", "\"impute\""},
    {"a date", "a,b\n2020-02-30,2\n", "\"target\": \"b\", \"columns\": {\"a\": \"datetime\"}",
     TASK_REGRESSION, ERR_CSV_DATE, 2, 1, "\"2020-02-30\" is not a date", ""},
    {"a negative weight", "a,b,w\n1,2,-1\n",
     "\"target\": \"b\", \"columns\": {\"a\": \"numeric\", \"w\": \"weight\"}", TASK_REGRESSION,
     ERR_CSV_WEIGHT, 2, 5, "\"-1\" is not a weight", ""},
    {"a weight that runs over", "a,b,w\n1,2,1e20\n1,2,1.1e20\n",
     "\"target\": \"b\", \"columns\": {\"a\": \"numeric\", \"w\": \"weight\"}", TASK_REGRESSION,
     ERR_CSV_WEIGHT, 3, 5, "\"1.1e20\" is not a weight", ""},
    {"no weight", "a,b,w\n1,2,\n",
     "\"target\": \"b\", \"columns\": {\"a\": \"numeric\", \"w\": \"weight\"}", TASK_REGRESSION,
     ERR_CSV_WEIGHT, 2, 5, "is not a weight", ""},
    {"no part", "a,b,p\n1,2,train\n1,2,dev\n",
     AB ", \"split\": {\"method\": \"column\", \"column\": \"p\"}", TASK_REGRESSION, ERR_CSV_PART,
     3, 5, "\"dev\" is no part", ""},
    {"no time", "a,b,p\n1,2,2020-01-01\n1,2,soon\n",
     AB ", \"split\": {\"method\": \"time\", \"column\": \"p\"}", TASK_REGRESSION, ERR_CSV_DATE, 3,
     5, "\"soon\"", ""},
    {"a column that is not there", "a,c\n1,2\n", AB, TASK_REGRESSION, ERR_MODEL_COLUMN, 0, 0,
     "\"b\"", ""},
};

static void test_errors(void)
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_string("t.csv", bad[i].text);
        struct loaded l = load(bad[i].members, bad[i].task, 1, NULL);
        bool same = !l.t && l.e.id == bad[i].id && l.e.line == bad[i].line &&
                    l.e.column == bad[i].column && strstr(l.e.what, bad[i].what) &&
                    strstr(l.e.help, bad[i].help);
        ok(same, "%s: E%d at %d:%d", bad[i].name, (int)bad[i].id, bad[i].line, bad[i].column);
        if (!same)
            printf("#   got E%d at %d:%d: %s; help: %s\n", (int)l.e.id, (int)l.e.line,
                   (int)l.e.column, l.e.what, l.e.help);
        drop(&l);
    }
}

/* --- what a record holds --- */

#define number_of(t, row, slot) (double)record_number(rows_at(table_rows(t), row), slot)
#define int_of(t, row, at) record_int(rows_at(table_rows(t), row), at)

static const char *sample_cell(const struct table *t, uint32_t row, uint32_t cell)
{
    static char out[64];
    const struct table_sample *s = &t->data->sample;
    uint64_t from = s->offsets[row * s->cells + cell];
    uint64_t to = s->offsets[row * s->cells + cell + 1];
    snprintf(out, sizeof out, "%.*s", (int)(to - from), s->text + from);
    return out;
}

static void test_records(void)
{
    write_string("t.csv", "i,n,c,y,w\n1,-999,b,3.5,2\n"
                          "2, 7 ,\"a\",4.5,1\n9,8,idle,9.5,0\n"
                          "3,?,,5.5,1\n"
                          "4,16777217,\"a\"\"\",6.5,1\n"
                          "5,0.5,b,7.5,1\n");
    struct loaded l =
        load("\"target\": \"y\", \"missing\": [\"\", \"-999\", \"?\"], \"columns\": {\"i\": "
             "\"id\", \"n\": {\"type\": \"numeric\", \"scale\": \"none\"}, \"c\": "
             "\"categorical\", \"w\": \"weight\"}, \"split\": {\"valid\": 0, \"test\": 0}",
             TASK_REGRESSION, 1, NULL);
    ok(l.t != NULL, "read: %s", l.e.what);
    if (!l.t)
        return;
    is_int(table_rows(l.t)->count, 5, "a row of weight 0 is left out");
    const struct rowfmt *f = &table_rows(l.t)->format;
    uint32_t missing[5];
    for (uint64_t i = 0; i < 5; i++)
        memcpy(&missing[i], rows_at(table_rows(l.t), i) + f->at_missing, 4);
    ok(missing[0] == 1 && missing[1] == 0 && missing[2] == 1 && missing[3] == 0,
       "-999 and ? are missing");
    is_near(number_of(l.t, 1, 0), 7, 0, "blanks around a number are cut off");
    is_near(number_of(l.t, 3, 0), 16777216, 0, "a float32 is what it is");
    ok(int_of(l.t, 0, f->at_category) == 4 && int_of(l.t, 1, f->at_category) == 2 &&
           int_of(l.t, 2, f->at_category) == 0 && int_of(l.t, 3, f->at_category) == 3,
       "categories are in order, a missing one is 0");
    is_near(l.t->data->target[4], 7.5, 0, "the target as it stands");
    float weight;
    memcpy(&weight, rows_at(table_rows(l.t), 0) + f->at_weight, 4);
    is_near((double)weight, 2, 0, "a weight");
    is_int(l.t->data->sample.rows, 5, "the sample has what there is");
    is_int(l.t->data->sample.cells, 4, "a cell for each column but the target");
    is_string(sample_cell(l.t, 3, 2), "a\"", "a cell of the sample without its quotes");
    is_string(sample_cell(l.t, 3, 0), "", "an id is left out");
    is_string(sample_cell(l.t, 4, 1), "0.5", "a number as text");
    drop(&l);
}

/* Timestamps differ by seconds that a float32 has not: the offset keeps them. */
static void test_offsets(void)
{
    struct text t = {0};
    text_put(&t, "t,d,y\n");
    for (int i = 0; i < 100; i++)
        text_printf(&t, "%d,2024-01-01T00:00:%02d,%d\n", 1700000000 + i, i % 60, i % 3);
    write_text("t.csv", &t);
    text_free(&t);
    struct loaded l =
        load("\"target\": \"y\", \"columns\": {\"t\": {\"type\": \"numeric\", \"scale\": "
             "\"minmax\"}, \"d\": \"datetime\"}, \"split\": {\"valid\": 0, \"test\": 0}",
             TASK_REGRESSION, 1, NULL);
    ok(l.t != NULL, "timestamps are read: %s", l.e.what);
    if (!l.t)
        return;
    double step = number_of(l.t, 51, 0) - number_of(l.t, 50, 0);
    double other = number_of(l.t, 2, 0) - number_of(l.t, 1, 0);
    ok(fabs(step) > 0.005 && fabs(step - other) < 1e-5, "a second is a second: %g", step);
    ok(number_of(l.t, 2, 1) > number_of(l.t, 1, 1), "so it is in a date");
    drop(&l);
}

/* What is taken off a column of large values leaves no room for one at the other end. */
static void test_too_far(void)
{
    struct text t = {0};
    text_put(&t, "a,b\n");
    for (int i = 0; i < 1500; i++)
        text_printf(&t, "-3.3%02de38,%d\n", i % 90, i % 3);
    text_put(&t, "3e38,1\n");
    write_text("t.csv", &t);
    text_free(&t);
    struct loaded l = load(AB, TASK_REGRESSION, 1, NULL);
    ok(!l.t && l.e.id == ERR_CSV_RANGE && l.e.line == 1502 &&
           strstr(l.e.what, "too far from the first values"),
       "C20 the offset leaves no room: E%d %s", (int)l.e.id, l.e.what);
    drop(&l);
}

static void test_parts(void)
{
    write_string("t.csv", "a,b\n1,x\n2,y\n3,x\n4,y\n5,x\n6,y\n");
    write_string("v.csv", "b,z,a\nx,0,7\ny,0,8\n");
    write_string("e.csv", "b,a\ny,9\n");
    struct text members = {0};
    text_printf(&members,
                "\"valid\": \"%s\", \"test\": [\"%s\"], \"target\": \"b\", \"columns\": {\"a\": "
                "{\"type\": \"numeric\", \"scale\": \"none\"}}",
                path_of("v.csv"), path_of("e.csv"));
    struct loaded l = load(members.data, TASK_BINARY, 1, NULL);
    ok(l.t != NULL, "files of their own: %s", l.e.what);
    if (l.t) {
        const uint64_t *count = l.t->split.record_count;
        ok(count[PART_TRAIN] == 6 && count[PART_VALID] == 2 && count[PART_TEST] == 1,
           "each file is its part, columns in any order");
        is_near(number_of(l.t, l.t->split.list[PART_VALID].index[1], 0), 8, 0,
                "the second row of validation");
        is_near(number_of(l.t, l.t->split.list[PART_TEST].index[0], 0), 9, 0, "the row of test");
    }
    drop(&l);
    text_free(&members);
    write_string("t.csv", "a,b,p\n1,x,train\n2,y,valid\n3,x,test\n4,y,train\n5,x,valid\n");
    l = load(
        "\"target\": \"b\", \"columns\": {\"a\": \"numeric\"}, \"split\": {\"method\": \"column\", "
        "\"column\": \"p\"}",
        TASK_BINARY, 1, NULL);
    ok(l.t && l.t->split.part[1] == PART_VALID && l.t->split.part[2] == PART_TEST &&
           l.t->split.part[3] == PART_TRAIN,
       "the file says the part: %s", l.e.what);
    drop(&l);
}

/* A part with its own file gets no rows from the column that says the parts of the others, and
 * needs none. */
static void test_own_file(void)
{
    struct text members = {0};
    write_string("t.csv",
                 "a,b,p\n1,x,train\n9,q,test\n2,y,valid\nzz,,test\n4,y,train\n5,x,train\n");
    write_string("e.csv", "a,b\n6,x\n7,y\n8,x\n");
    text_printf(&members,
                "\"test\": \"%s\", \"target\": \"b\", \"columns\": {\"a\": {\"type\": "
                "\"numeric\", \"scale\": \"none\"}}, \"split\": {\"method\": \"column\", "
                "\"column\": \"p\"}",
                path_of("e.csv"));
    struct loaded l = load(members.data, TASK_BINARY, 1, NULL);
    const uint64_t *count = l.t ? l.t->split.record_count : NULL;
    ok(l.t && count[PART_TRAIN] == 3 && count[PART_VALID] == 1 && count[PART_TEST] == 3 &&
           table_rows(l.t)->count == 7,
       "rows that say a part with its own file are left out, whatever they hold: %s", l.e.what);
    if (l.t)
        is_near(number_of(l.t, l.t->split.list[PART_TEST].index[0], 0), 6, 0,
                "its file is that part");
    drop(&l);
    write_string("t.csv", "a,b,p\n1,x,train\n9,x,test\n2,y,train\n3,z,valid\n4,y,train\n");
    l = load(members.data, TASK_MULTICLASS, 1, NULL);
    ok(!l.t && l.e.id == ERR_LABEL_UNSEEN && l.e.line == 5, "they count in the lines of errors: %d",
       (int)l.e.line);
    drop(&l);
    write_string("t.csv", "a,b,p\n1,x,test\n2,y,test\n");
    l = load(members.data, TASK_BINARY, 1, NULL);
    ok(!l.t && l.e.id == ERR_SPLIT_EMPTY && strstr(l.e.what, "\"train\""),
       "nothing is left to train on: %s", l.e.what);
    drop(&l);
    text_free(&members);
}

/* A group on both sides: no split can keep it from a file of its own, but it can be said. */
static void test_shared_groups(void)
{
    struct text members = {0};
    write_string("t.csv", "a,b,g\n1,x,k\n2,y,k\n3,x,l\n4,y,l\n5,x,m\n6,y,m\n7,x,n\n8,y,n\n");
    write_string("e.csv", "a,b,g\n91,x,k\n92,y,l\n93,x,m\n94,y,n\n95,x,o\n96,y,k\n");
    text_printf(&members,
                "\"test\": \"%s\", \"target\": \"b\", \"columns\": {\"a\": \"numeric\", \"g\": "
                "\"group\"}, \"split\": {\"method\": \"group\", \"valid\": 0}",
                path_of("e.csv"));
    struct loaded l = load(members.data, TASK_BINARY, 1, NULL);
    ok(l.t && l.t->remarks.count == 1 &&
           strstr(l.t->remarks.items[0].text, "5 of 6 test rows are of a group"),
       "rows whose group training has are counted: %s",
       l.t ? l.t->remarks.items[0].text : l.e.what);
    drop(&l);
    write_string("e.csv", "a,b\n91,x\n92,y\n");
    l = load(members.data, TASK_BINARY, 1, NULL);
    ok(l.t && !l.t->remarks.count, "a file without groups is read: %s", l.e.what);
    drop(&l);
    text_free(&members);
}

/* A column of groups that the split does not go by is of no use, and is told of. */
static void test_idle_groups(void)
{
    static const struct {
        const char *split;
        bool told;
    } splits[] = {{"\"method\": \"group\"", false},
                  {"\"method\": \"random\"", true},
                  {"\"method\": \"hash\"", true},
                  {"\"method\": \"hash\", \"column\": \"g\"", false},
                  {"\"method\": \"random\", \"valid\": 0, \"test\": 0", false}};
    struct text rows = {0}, members = {0};
    text_put(&rows, "a,b,g\n");
    for (int i = 0; i < 400; i++)
        text_printf(&rows, "%d,%d,g%d\n", i % 7, i, i % 100);
    write_string("t.csv", rows.data);
    for (size_t i = 0; i < sizeof splits / sizeof *splits; i++) {
        text_clear(&members);
        text_printf(&members,
                    "\"target\": \"b\", \"columns\": {\"a\": \"numeric\", \"g\": \"group\"}, "
                    "\"split\": {%s}", splits[i].split);
        struct loaded l = load(members.data, TASK_REGRESSION, 1, NULL);
        bool told = l.t && l.t->remarks.count == 1 &&
                    strstr(l.t->remarks.items[0].text, "\"g\" of type group has no effect");
        ok(l.t && told == splits[i].told && (told || !l.t->remarks.count),
           "a group column with %s: %s", splits[i].split, l.e.what);
        drop(&l);
    }
    text_free(&rows);
    text_free(&members);
}

static int polls;
static bool stop_after(const void *most)
{
    return ++polls > *(const int *)most;
}
static void test_stop(void)
{
    write_large(120000, -1, "");
    struct loaded l = load(LARGE("\"method\": \"random\""), TASK_BINARY, 2,
                           &(struct stopper){stop_after, &(int){0}});
    ok(!l.t && l.e.id == ERR_NONE, "stopped at once, and it is no error");
    drop(&l);
    polls = 0;
    l = load(LARGE("\"method\": \"random\""), TASK_BINARY, 1,
             &(struct stopper){stop_after, &(int){3}});
    ok(!l.t && l.e.id == ERR_NONE && polls < 8, "stopped between two blocks");
    drop(&l);
}

int main(void)
{
    snprintf(folder, sizeof folder, "/tmp/dnn_table_%ld", (long)getpid());
    mkdir(folder, 0700);
    log_setup(0, false);
    test_errors();
    test_records();
    test_offsets();
    test_too_far();
    test_parts();
    test_own_file();
    test_shared_groups();
    test_idle_groups();
    test_first_error();
    test_stop();
    test_same_bytes();
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(path_of(made[i]));
    rmdir(folder);
    return done();
}
