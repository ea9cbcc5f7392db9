/* table_fingerprint.c - a model knows its training rows: each of them, few others, by values and
 * not by the order of rows or columns; the share among other rows; very many rows; the file. */
#include <math.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/process/thread.h"
#include "table/split/fingerprint.h"
#include "table/dataset/row_key.h"
#include "table_help.h"

static const char config[] =
    "{\"data\": {\"train\": \"t\", \"target\": \"y\", \"columns\": {\"a\": \"numeric\", "
    "\"c\": \"categorical\", \"n\": \"text\"}}}";

/* Raw rows without a file: a in steps of a thousandth, c of 4 values, y of 2. */
static struct dataset *rows_make(struct schema *s, uint64_t rows, uint64_t first)
{
    struct dataset *d = mem_zero(1, sizeof *d);
    unsigned char **chunk = mem_zero(1, sizeof *chunk);
    chunk[0] = mem_zero(rows + 1, s->raw.stride);
    d->schema = s;
    d->rows = (struct rows){.format = s->raw, .chunks = chunk, .shift = 63, .count = rows};
    d->samples.count = rows;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t id = first + i;
        unsigned char *r = rows_at(&d->rows, i);
        const float a = (float)id / 1000;
        const int32_t c = (int32_t)(id % 5 ? 1 + id % 5 : 0), n = 2, y = (int32_t)(id % 2);
        memcpy(r, &a, sizeof a);
        memcpy(r + s->raw.at_category + 4 * s->columns[1].category, &c, sizeof c);
        memcpy(r + s->raw.at_category + 4 * s->columns[2].category, &n, sizeof n);
        memcpy(r + s->raw.at_target, &y, sizeof y);
    }
    return d;
}

static void rows_drop(struct dataset *d)
{
    mem_free((void *)(uintptr_t)d->rows.chunks[0]);
    mem_free((void *)(uintptr_t)d->rows.chunks);
    mem_free(d);
}

static struct schema *words(void)
{
    struct schema *s = schema_need(config, TASK_BINARY);
    for (int i = 0; i < 4; i++)
        vocab_add(s->columns[1].values, &"wxyz"[i], 1);
    vocab_add(s->columns[2].values, "some text", 9);
    vocab_add(s->labels, "no", 2);
    vocab_add(s->labels, "yes", 3);
    return s;
}

/* The first `train` rows are training rows, the others test rows; backwards: listed from the last
 * one on. */
static struct fingerprint *print_from(const struct dataset *d, uint64_t train, bool backwards,
                                      const struct fingerprint *start)
{
    struct split s = {0};
    uint64_t count[PARTS] = {train, 0, d->rows.count - train};
    for (int p = 0, at = 0; p < PARTS; at += (int)count[p++]) {
        s.records[p] = mem_alloc(count[p] + 1, sizeof *s.records[p]);
        s.record_count[p] = count[p];
        for (uint64_t i = 0; i < count[p]; i++)
            s.records[p][i] = (uint32_t)((uint64_t)at + (backwards ? count[p] - 1 - i : i));
    }
    threads_start(2);
    struct fingerprint *f = fingerprint_make(d, &s, start);
    threads_stop();
    for (int p = 0; p < PARTS; p++)
        mem_free(s.records[p]);
    return f;
}

static struct fingerprint *print_of(const struct dataset *d, uint64_t train, bool backwards)
{
    return print_from(d, train, backwards, NULL);
}

/* Looks rows up, as far as the dataset goes. */
static struct row_lookups look(const struct fingerprint *f, const struct dataset *d, uint64_t from,
                               uint64_t to)
{
    struct row_lookups l = {0};
    struct row_keys *k = row_keys_of(d);
    uint64_t key;
    for (uint64_t i = from; i < to; i++)
        if (row_key_of(k, d, i, &key))
            fingerprint_look(f, key, &l);
    row_keys_free(k);
    return l;
}

static void rows_are_known(struct schema *s)
{
    struct dataset *d = rows_make(s, 60000, 0);
    struct fingerprint *f = print_of(d, 20000, false), *other = print_of(d, 20000, true);
    bool sure;
    struct row_lookups own = look(f, d, 0, 20000), new = look(f, d, 20000, 60000),
                       mixed = look(f, d, 10000, 30000);
    is_int((int64_t)own.known, 20000, "every training row is known");
    double wrong = (double)new.known / (double)new.looked;
    ok(new.looked == 40000 && wrong > 0.007 && wrong < 0.013, "one new row in a hundred, too: %.4f",
       wrong);
    is_near(f->errors, wrong, 0.002, "the filter knows that share");
    is_near(fingerprint_share(f, &own, &sure), 1, 1e-9, "all are training rows");
    ok(sure, "that is sure");
    is_near(fingerprint_share(f, &mixed, &sure), 0.5, 0.005, "half of them");
    ok(fingerprint_share(f, &new, &sure) < 0.003 && !sure, "none of them");
    ok(f->filter.bytes == 24001 && f->filter.bytes == other->filter.bytes && f->twins < 0.003,
       "9.6 bits a row");
    ok(memcmp(f->filter.bits, other->filter.bits, f->filter.bytes) == 0 &&
           memcmp(f->numbers, other->numbers, sizeof f->numbers) == 0,
       "the order of rows does not matter");
    fingerprint_free(f);
    fingerprint_free(other);
    rows_drop(d);
}

/* 1.5 million rows: a part of them is kept and looked up. */
static void many_rows(struct schema *s)
{
    struct dataset *d = rows_make(s, 1600000, 0);
    struct fingerprint *f = print_of(d, 1500000, false);
    struct row_lookups own = look(f, d, 0, 400000), new = look(f, d, 1500000, 1600000);
    bool sure;
    ok(f->filter.bytes == BLOOM_BYTES, "256 KiB at most");
    is_near((double)own.looked / 400000, (double)f->filter.bytes * 8 / 9.6 / 1500000, 0.003,
            "as many rows are looked up as have room");
    ok(own.known == own.looked, "each of them is known");
    is_near((double)new.known / (double)new.looked, f->errors, 0.005, "few others are");
    ok(f->errors > 0.007 && f->errors < 0.013, "one in a hundred: %.4f", f->errors);
    is_near(fingerprint_share(f, &own, &sure), 1, 1e-9, "the share of all of them");
    fingerprint_free(f);
    rows_drop(d);
}

/* A row in three equals another one: new rows are known by chance, and that is no leak. */
static void twins(struct schema *s)
{
    struct dataset *d = rows_make(s, 30000, 0);
    const size_t stride = s->raw.stride;
    for (uint64_t i = 0; i < 30000; i += 3) /* of the first 5000 */
        memcpy(rows_at(&d->rows, i), rows_at(&d->rows, 3 * (i * 7 % 5000) + 1), stride);
    struct fingerprint *f = print_of(d, 20000, false), *alone = print_of(d, 30000, false);
    struct row_lookups own = look(f, d, 0, 20000), new = look(f, d, 20000, 30000);
    bool sure;
    is_near(f->twins, 1. / 3, 0.01, "the held-out rows tell it");
    ok(alone->twins > 0.33 && alone->twins < 0.67, "without such, the training rows: %.3f",
       alone->twins);
    ok(fingerprint_share(f, &new, &sure) < 0.02 && !sure, "new rows are no training rows");
    is_near(fingerprint_share(f, &own, &sure), 1, 1e-9, "training rows are");
    ok(sure, "for sure");
    fingerprint_free(f);
    fingerprint_free(alone);
    rows_drop(d);
}

static double share_of(const struct fingerprint *f, const struct dataset *d, bool *sure)
{
    struct row_lookups l = look(f, d, 0, d->rows.count);
    return fingerprint_share(f, &l, sure);
}

/* A training that starts from a model knows that model's rows too, and so does the next one. */
static void starts(struct schema *s)
{
    struct dataset *a = rows_make(s, 10000, 0), *b = rows_make(s, 10000, 5000),
                   *c = rows_make(s, 10000, 40000), *new = rows_make(s, 10000, 70000);
    struct fingerprint *first = print_of(a, 8000, false); /* rows 0 .. 7999 */
    struct fingerprint *second = print_from(b, 2000, false, first), /* 5000 .. 6999 */
                       *third = print_from(c, 8000, false, second),
                       *same = print_from(a, 6000, false, first);
    bool sure;
    /* of 7000 .. 14999 the first one was trained on 7000 .. 7999 */
    is_near(second->held[PART_TEST], 1000. / 8000, 0.005, "an eighth of the held-out rows");
    ok(third->held[PART_TEST] == 0, "none of rows that are in no start");
    ok(second->starts.count == 1 && third->starts.count == 2, "the filters of starts are kept");
    is_near(share_of(second, a, &sure), 0.8, 0.005, "the second knows the rows of the first one");
    ok(sure, "for sure");
    is_near(share_of(third, a, &sure), 0.8, 0.005, "the third, too");
    ok(share_of(third, new, &sure) < 0.005 && !sure, "it knows no others");
    is_near(third->errors, 0.03, 0.006, "each filter has its errors");
    /* the file holds all rows of the start: its held-out rows are added, and no filter kept */
    ok(same->starts.count == 0, "a start whose rows are all here");
    is_near((double)same->filter.bytes, 9601, 20, "room for them");
    is_near(same->held[PART_TEST], 0.5, 0.005, "half of the held-out rows");
    is_near(share_of(same, a, &sure), 0.8, 0.005, "they are known");
    struct fingerprint *line[10] = {print_of(a, 8000, false)};
    for (int i = 1; i < 10; i++) {
        struct dataset *d = rows_make(s, 3000, 100000 + 3000 * (uint64_t)i);
        line[i] = print_from(d, 3000, false, line[i - 1]);
        rows_drop(d);
    }
    is_int((int64_t)line[9]->starts.count, FINGERPRINT_STARTS, "the newest of them are kept");
    ok(share_of(line[7], a, &sure) > 0.79 && share_of(line[8], a, &sure) < 0.02,
       "the oldest is forgotten");
    for (int i = 0; i < 10; i++)
        fingerprint_free(line[i]);
    struct fingerprint *all[] = {first, second, third, same};
    struct dataset *of[] = {a, b, c, new};
    for (int i = 0; i < 4; i++) {
        fingerprint_free(all[i]);
        rows_drop(of[i]);
    }
}

/* The key of cells is that of the record, whatever stands beside them. */
static void cells_have_the_key(struct schema *s)
{
    static const char *const names[] = {"y", "id", "n", "a", "c"};
    static const char text[] = "yes,17,some text,0.0010,w\nno,18,some text,2e-3,x\n"
                               "yes,9,some text,.003,\n";
    static const uint64_t id[] = {1, 2, 3};
    struct dataset *d = rows_make(s, 6, 0);
    struct schema *own = schema_copy(s);
    vocab_add(own->labels, "no", 2);
    vocab_add(own->labels, "yes", 3);
    struct encoder *c = encoder_new(own);
    struct row_keys *k = row_keys_of(d), *reading = row_keys_reading(c);
    struct terms terms = {0};
    struct csv_dialect dialect = s->dialect;
    struct csv_block block = {.bytes = text, .size = sizeof text - 1, .path = "t"};
    struct csv_cells cells = {0};
    struct binding b = {0};
    struct err e = {0};
    unsigned char *raw = mem_zero(1, s->raw.stride);
    bool good = schema_bind(s, names, 5, BIND_TARGET, &b, &e) &&
                csv_cells_parse(&dialect, &block, 5, &cells, &e);
    ok(good, "three rows are read: %s", e.what);
    for (uint64_t i = 0; good && i < 3; i++) {
        uint64_t want, key = 0;
        int32_t missing = 0;
        if (i == 2) /* its category */
            memcpy(rows_at(&d->rows, 3) + s->raw.at_category, &missing, sizeof missing);
        row_key_of(k, d, id[i], &want);
        good = cell_parse(c, &b, &block, &cells, i, true, NULL, raw, NULL, &terms, &e) &&
               row_key_read(reading, &b, &cells, i, raw, &key);
        ok(good && key == want, "row %d, in another order of columns: %s", (int)i, e.what);
    }
    mem_free(raw);
    csv_cells_free(&cells);
    binding_free(&b);
    row_keys_free(k);
    row_keys_free(reading);
    terms_free(&terms);
    encoder_free(c);
    rows_drop(d);
}

static void in_a_file(struct schema *s)
{
    struct dataset *d = rows_make(s, 300, 0), *others = rows_make(s, 100, 1000);
    struct fingerprint *before = print_of(others, 100, false),
                       *f = print_from(d, 200, false, before), *again = NULL;
    struct err e = {0};
    f->pooled = bloom_make(30);
    bloom_add(&f->pooled, 7);
    for (int spoilt = 0; spoilt < 6; spoilt++) {
        struct tensor_writer *w = tensor_writer_new();
        struct text bytes = {0};
        if (spoilt == 1)
            f->numbers[FINGERPRINT_LIMIT] = -1;
        if (spoilt == 2) {
            f->numbers[FINGERPRINT_LIMIT] = 1;
            f->twins = NAN;
        }
        if (spoilt == 3) {
            f->twins = 0;
            bloom_free(&f->pooled);
            f->pooled = (struct bloom){mem_zero(BLOOM_BYTES + 1, 1), BLOOM_BYTES + 1};
        }
        if (spoilt > 3) {
            bloom_free(&f->pooled);
            f->starts.numbers[spoilt - 4] = spoilt == 4 ? 1 : -1;
        }
        tensor_meta(w, "kind", "model");
        fingerprint_save(f, w);
        tensor_write_bytes(w, "m", &bytes, &e);
        tensor_writer_free(w);
        err_clear(&e);
        struct tensor_file *file = tensor_open_bytes(bytes.data, bytes.length, "m", &e);
        bool good = file && fingerprint_load(file, &again, &e);
        if (spoilt)
            ok(!good && e.id == ERR_MODEL_TENSOR, "one that cannot be is refused");
        else
            ok(good && again->filter.bytes == f->filter.bytes && again->errors == f->errors &&
                   memcmp(again->filter.bits, f->filter.bits, f->filter.bytes) == 0 &&
                   memcmp(again->numbers, f->numbers, sizeof f->numbers) == 0 &&
                   again->pooled.bytes == 37 && bloom_has(&again->pooled, 7) &&
                   !bloom_has(&again->pooled, 8) && again->limit == f->limit &&
                   again->starts.count == 1 && again->starts.bytes == f->starts.bytes &&
                   memcmp(again->starts.bits, f->starts.bits, f->starts.bytes) == 0 &&
                   again->starts.numbers[1] == f->starts.numbers[1],
               "read as it was written");
        fingerprint_free(again);
        again = NULL;
        tensor_close(file);
        text_free(&bytes);
    }
    fingerprint_free(f);
    fingerprint_free(before);
    rows_drop(others);
    rows_drop(d);
}

int main(void)
{
    struct schema *s = words();
    starts(s);
    cells_have_the_key(s);
    rows_are_known(s);
    twins(s);
    many_rows(s);
    in_a_file(s);
    schema_free(s);
    return done();
}
