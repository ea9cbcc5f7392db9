/* table_dataset.c - one dataset, several encoders and views: each is what a load of its own gives.
 * */
#include <unistd.h>

#include "base/rng.h"
#include "base/process/thread.h"
#include "table_help.h"

enum { ROWS = 3000 };
static char path[64];

/* A row is of list 1 by the column "one", of list 2 by "two". */
static bool listed(uint32_t row, int list)
{
    return list == 1 ? row % 3 != 0 : row < 2 * ROWS / 3;
}

static void write_file(void)
{
    snprintf(path, sizeof path, "/tmp/dnn-dataset-%d.csv", (int)getpid());
    FILE *f = fopen(path, "w");
    fputs("x,z,city,when,y,w,one,two\n", f);
    for (uint32_t i = 0; i < ROWS; i++) {
        if (rng_bits(1, i, 0, 0, RNG_TEST) % 9)
            fprintf(f, "%.3f,", rng_normal(1, i, 1, 0, RNG_TEST) * (1 + i / 100));
        else
            fputs(",", f);
        fprintf(f, "%u,c%u,20%02u-01-0%u,", i % 70, i % 3 + (i > ROWS / 2 ? 5 : 0) + i / 900,
                i % 30, i % 9 + 1);
        fprintf(f, "%s,%u,%s,%s\n", i % 7 < 3 ? "yes" : "no", 1 + i % 3,
                listed(i, 1) ? "train" : "valid", listed(i, 2) ? "train" : "valid");
    }
    fclose(f);
}

struct loaded {
    struct schema *s;
    struct data_options o;
    struct json_doc *doc;
};

static struct loaded declare(int list, struct err *e)
{
    struct loaded l = {0};
    struct text config = {0};
    text_printf(&config,
                "{\"data\": {\"train\": \"%s\", \"target\": \"y\", \"columns\": {\"x\": "
                "\"numeric\","
                " \"z\": {\"type\": \"numeric\", \"scale\": \"none\"}, \"city\": \"categorical\","
                " \"when\": \"datetime\", \"w\": \"weight\"}, \"split\": {\"method\": \"column\","
                " \"column\": \"%s\"}}}", path, list == 1 ? "one" : "two");
    l.doc = json_parse(config.data, config.length, "c.json", e);
    if (l.doc && opt_read(data_options_table, l.doc, json_path(json_root(l.doc), "data"), "data",
                          &l.o, e) &&
        data_options_settle(&l.o, TASK_BINARY, l.doc, e))
        l.s = schema_declare(&l.o, TASK_BINARY, l.doc, e);
    text_free(&config);
    return l;
}

static void drop(struct loaded *l)
{
    schema_free(l->s);
    opt_release(data_options_table, &l->o);
    json_free(l->doc);
}

static bool same_rows(const struct rows *a, const struct rows *b)
{
    bool same = a->count == b->count && a->format.stride == b->format.stride;
    for (uint64_t i = 0; same && i < a->count; i++)
        same = memcmp(rows_at(a, i), rows_at(b, i), a->format.stride) == 0;
    return same;
}

static bool same_encoder(const struct encoder *a, const struct encoder *b)
{
    struct json_out x = {0}, y = {0};
    json_open(&x, NULL, '{');
    encoder_write_json(a, &x);
    json_open(&y, NULL, '{');
    encoder_write_json(b, &y);
    bool same = x.text.length == y.text.length &&
                memcmp(x.text.data, y.text.data, x.text.length) == 0;
    text_free(&x.text);
    text_free(&y.text);
    return same;
}

/* The encoder and the view of one list over d, beside a load whose split is that list. */
static void check_list(struct dataset *d, int list, bool give)
{
    static uint32_t rows[ROWS];
    struct err e = {0};
    uint64_t count = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        if (listed(i, list))
            rows[count++] = i;
    struct encoder *c = encoder_fit(d, rows, count, &e);
    struct loaded other = declare(list, &e);
    struct table *t = table_load(other.s, &other.o, 0, NULL, &e);
    if (ok(c && t, "list %d is fitted: %s", list, e.what)) {
        struct view *v = view_make(d, c, give);
        is_int(t->split.record_count[PART_TRAIN], count, "a load whose split is that list");
        const struct schema *s = t->encoder->schema;
        for (size_t i = 0; i < s->column_count; i++) /* it read another split column */
            if (s->columns[i].type == COLUMN_SPLIT)
                memcpy(s->columns[i].name, c->schema->columns[i].name, 4);
        ok(same_encoder(c, t->encoder), "the encoder learned what the load learned");
        ok(same_rows(&v->rows, table_rows(t)), "the view has the rows of the load");
        view_free(v);
    }
    encoder_free(c);
    table_free(t);
    drop(&other);
}

static void test_two_encoders(void)
{
    struct err e = {0};
    struct loaded l = declare(1, &e);
    struct dataset *d = dataset_load(l.s, &l.o, NULL, &e);
    if (ok(d && !vocab_count(l.s->columns[2].values), "a dataset has a schema of its own: %s",
           e.what)) {
        is_int(d->samples.count, ROWS, "a sample a row");
        ok(sample_first(&d->samples, 7) == 7 && sample_records(&d->samples, 7) == 1,
           "sample 7 is record 7");
        check_list(d, 1, false);
        check_list(d, 2, false);
        check_list(d, 1, false);
        check_list(d, 2, true);
        ok(!d->rows.chunks, "given rows are the view's");
    }
    dataset_free(d);
    drop(&l);
}

/* data.reader: libcsv for every byte reads the same rows. */
static void test_readers(void)
{
    struct err e = {0};
    struct loaded one = declare(1, &e), other = declare(1, &e);
    other.s->dialect.libcsv = true;
    struct table *a = table_load(one.s, &one.o, 0, NULL, &e);
    struct table *b = table_load(other.s, &other.o, 0, NULL, &e);
    if (ok(a && b, "two readers: %s", e.what)) {
        ok(same_rows(table_rows(a), table_rows(b)), "the same rows");
        is_string(a->sha256, b->sha256, "the same digest");
    }
    table_free(a);
    table_free(b);
    drop(&one);
    drop(&other);
}

static void test_spans(void)
{
    const uint64_t first[] = {0, 3, 4};
    const struct samples s = {.count = 2, .first = first};
    ok(sample_first(&s, 1) == 3 && sample_records(&s, 0) == 3 && sample_records(&s, 1) == 1,
       "samples of several records");
}

int main(void)
{
    write_file();
    test_two_encoders();
    test_readers();
    threads_start(2);
    test_two_encoders();
    threads_stop();
    ok(mem_in_use() == 0, "nothing is left: %u bytes", (unsigned)mem_in_use());
    test_spans();
    unlink(path);
    return done();
}
