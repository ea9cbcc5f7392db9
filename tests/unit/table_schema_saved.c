/* table_schema_saved.c - a fitted schema in a model file: exact round trip, and no trust in what
 * is read. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/rng.h"
#include "table/schema_saved.h"
#include "table_help.h"

static const char config[] =
    "{\"data\": {\"train\": \"a\", \"target\": \"y\", \"delimiter\": \";\", \"decimal\": \",\","
    "\"encoding\": \"cp1252\", \"missing\": [\"\", \"?\", \"k. A.\"], \"columns\": {"
    "\"id\": \"id\", \"n\": {\"type\": \"numeric\", \"scale\": \"quantile\"}, \"m\": \"numeric\","
    "\"d\": \"datetime\", \"c\": {\"type\": \"categorical\", \"dim\": 3, \"unknown\": \"error\"},"
    "\"k\": {\"type\": \"categorical\", \"min_count\": 2}, \"w\": \"weight\", \"\xc3\xa4\": "
    "\"ignore\"}}}";

static struct schema *fitted(int task)
{
    struct err e = {0};
    struct schema *s = schema_of(config, task, &e);
    if (!s)
        return NULL;
    vocab_add(s->columns[4].vocab, "", 0);
    vocab_add(s->columns[4].vocab, "x, \"y\"", 6);
    vocab_add(s->columns[5].vocab, "K\xc3\xb6ln", 5);
    if (s->labels) {
        vocab_add(s->labels, "no", 2);
        vocab_add(s->labels, "yes", 3);
        s->positive = mem_string("yes");
    }
    for (uint32_t i = 0; i < s->number_count; i++)
        s->numbers[i] = (struct number_slot){.offset = 1.7e9 + 0.1,
                                             .scale = SCALE_STANDARD,
                                             .center = 1.0 / 3,
                                             .factor = 1e-7 / 3,
                                             .impute = 0.1f,
                                             .indicator = i == 1,
                                             .low = -1e30f,
                                             .high = 3e38f,
                                             .least = -2.5,
                                             .most = 1.0 / 3};
    s->numbers[0].scale = SCALE_QUANTILE;
    s->numbers[0].quantile_count = 3;
    s->numbers[0].quantiles = mem_alloc(3, sizeof(float));
    memcpy(s->numbers[0].quantiles, (const float[]){-0.1f, 0.7f, 0.7f}, 3 * sizeof(float));
    s->columns[1].missing = 17;
    s->target_center = task == TASK_REGRESSION ? 12.25 : 0;
    s->target_scale = task == TASK_REGRESSION ? 0.1 : 1;
    s->file_columns = 12;
    s->fitted = true;
    return s;
}

static char *path;

static bool write_schema(const struct schema *s)
{
    struct err e = {0};
    struct tensor_writer *w = tensor_writer_new();
    tensor_meta(w, "kind", "model");
    struct schema_saved *k = schema_save(s, w);
    bool good = tensor_write(w, path, NULL, &e);
    schema_saved_free(k);
    tensor_writer_free(w);
    return ok(good, "written: %s", e.what);
}

static bool same_vocab(const struct vocab *a, const struct vocab *b)
{
    if (!a || !b)
        return a == b;
    bool same = vocab_count(a) == vocab_count(b);
    for (uint32_t i = 0; same && i < vocab_count(a); i++) {
        size_t m, n;
        const char *x = vocab_text(a, i, &m), *y = vocab_text(b, i, &n);
        same = m == n && memcmp(x, y, m) == 0;
    }
    return same;
}

static bool same_column(const struct column *a, const struct column *b)
{
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->scale == b->scale &&
           a->impute == b->impute && a->unknown == b->unknown && a->encode == b->encode &&
           a->min_count == b->min_count && a->dim == b->dim && a->number == b->number &&
           a->category == b->category && a->missing == b->missing && same_vocab(a->vocab, b->vocab);
}

static bool same_number(const struct number_slot *a, const struct number_slot *b)
{
    return memcmp(&a->offset, &b->offset, sizeof a->offset) == 0 && a->scale == b->scale &&
           memcmp(&a->center, &b->center, sizeof a->center) == 0 &&
           memcmp(&a->factor, &b->factor, sizeof a->factor) == 0 &&
           memcmp(&a->impute, &b->impute, sizeof a->impute) == 0 && a->indicator == b->indicator &&
           a->quantile_count == b->quantile_count && memcmp(&a->low, &b->low, sizeof a->low) == 0 &&
           memcmp(&a->high, &b->high, sizeof a->high) == 0 &&
           memcmp(&a->least, &b->least, sizeof a->least) == 0 &&
           memcmp(&a->most, &b->most, sizeof a->most) == 0 &&
           (!a->quantile_count ||
            memcmp(a->quantiles, b->quantiles, a->quantile_count * sizeof *a->quantiles) == 0);
}

static void test_round_trip(int task)
{
    struct err e = {0};
    struct schema *s = fitted(task);
    if (!ok(s, "a schema of task %d", task) || !write_schema(s))
        return;
    struct tensor_file *f = tensor_open(path, &e);
    struct schema *l = f ? schema_load(f, &e) : NULL;
    if (ok(l, "read back: %s", e.what)) {
        bool same = l->column_count == s->column_count && l->number_count == s->number_count;
        for (size_t i = 0; same && i < s->column_count; i++)
            same = same_column(&s->columns[i], &l->columns[i]);
        ok(same, "the columns are the same");
        for (uint32_t i = 0; same && i < s->number_count; i++)
            same = same_number(&s->numbers[i], &l->numbers[i]);
        ok(same, "the numbers are the same");
        ok(same_vocab(s->labels, l->labels), "the labels");
        ok(l->task == s->task && l->dialect.delimiter == ';' && l->decimal == ',' &&
               l->dialect.encoding == ENCODING_CP1252 && l->dialect.header && !l->dialect.tsv &&
               l->target == s->target && l->file_columns == 12 && l->fitted,
           "the settings");
        ok(l->missing.count == 3 && strcmp(l->missing.items[2], "k. A.") == 0, "texts for missing");
        ok(l->target_center == s->target_center && l->target_scale == s->target_scale,
           "the target's scale");
        ok(task != TASK_BINARY || strcmp(l->positive, "yes") == 0, "the positive label");
        ok(memcmp(&l->format, &s->format, sizeof l->format) == 0, "the format of a record");
    }
    schema_free(l);
    tensor_close(f);
    schema_free(s);
}

/* --- hostile files: one element of one tensor changed --- */

struct change {
    const char *tensor;
    uint64_t at; /* element; bytes for U8 */
    double value;
    const char *name;
};

/* Copies every tensor of the file, with one element changed, cut short (at UINT64_MAX), or left
 * out (value NaN). */
static bool load_changed(const struct tensor_file *f, const struct change *c, struct err *e)
{
    struct tensor_writer *w = tensor_writer_new();
    struct arena *a = arena_new(65536);
    tensor_meta(w, "kind", "model");
    for (size_t i = 0; i < tensor_file_count(f); i++) {
        const struct tensor *t = tensor_file_at(f, i);
        size_t size = dtype_bytes(t->type);
        char *data = arena_alloc(a, t->count + 1, size);
        memcpy(data, t->data, t->count * size);
        uint64_t dims[4];
        memcpy(dims, t->dims, sizeof dims);
        if (strcmp(t->name, c->tensor) == 0) {
            if (c->value != c->value)
                continue;
            if (c->at == UINT64_MAX) {
                dims[0] = 1;
            } else if (t->type == DTYPE_F64) {
                memcpy(data + c->at * size, &c->value, size);
            } else if (t->type == DTYPE_F32) {
                float v = (float)c->value;
                memcpy(data + c->at * size, &v, size);
            } else if (t->type == DTYPE_I64) {
                int64_t v = (int64_t)c->value;
                memcpy(data + c->at * size, &v, size);
            } else {
                data[c->at] = (char)c->value;
            }
        }
        tensor_add(w, t->name, t->type, t->rank, dims, data);
    }
    bool wrote = tensor_write(w, path, NULL, e);
    tensor_writer_free(w);
    arena_free(a);
    struct tensor_file *changed = wrote ? tensor_open(path, e) : NULL;
    struct schema *s = changed ? schema_load(changed, e) : NULL;
    bool loaded = s;
    if (s) { /* what was read can be used */
        unsigned char *records = mem_zero(3, s->format.stride);
        column_apply(s, records, 3);
        features_free(schema_features(s));
        mem_free(records);
    }
    schema_free(s);
    tensor_close(changed);
    return loaded;
}

#define COLUMN(column, what) ((column)*SAVED_COLUMN + (what))
#define NUMBER(number, what) ((number)*SAVED_NUMBER + (what))

static const struct change changes[] = {
    {"schema.settings", UINT64_MAX, 0, "settings cut short"},
    {"schema.settings", 0, NAN, "no settings"},
    {"schema.settings", SAVED_LAYOUT, SAVED_LAYOUT_NOW + 1, "a layout of the future"},
    {"schema.settings", SAVED_LAYOUT, SAVED_LAYOUT_FIRST, "numbers of another layout"},
    {"schema.settings", SAVED_LAYOUT, SAVED_LAYOUT_FIRST - 1, "a layout that never was"},
    {"schema.settings", SAVED_TASK, 3, "an unknown task"},
    {"schema.settings", SAVED_TASK, -1, "a negative task"},
    {"schema.settings", SAVED_DELIMITER, 'x', "an unknown delimiter"},
    {"schema.settings", SAVED_HEADER, 2, "a header that is neither"},
    {"schema.settings", SAVED_TSV, 7, "tsv"},
    {"schema.settings", SAVED_ENCODING, 3, "an unknown encoding"},
    {"schema.settings", SAVED_DECIMAL, 'x', "an unknown decimal point"},
    {"schema.settings", SAVED_TARGET, 9, "a target behind the last column"},
    {"schema.settings", SAVED_TARGET, -1, "a negative target"},
    {"schema.settings", SAVED_TARGET, 1, "a target that is a feature"},
    {"schema.settings", SAVED_FILE_COLUMNS, 0, "no columns in the file"},
    {"schema.settings", SAVED_FILE_COLUMNS, 1e9, "too many columns in the file"},
    {"schema.settings", SAVED_TASK, TASK_REGRESSION, "a regression with labels"},
    {"schema.columns", UINT64_MAX, 0, "columns cut short"},
    {"schema.columns", 0, NAN, "no columns"},
    {"schema.columns", COLUMN(1, SAVED_TYPE), 9, "an unknown type"},
    {"schema.columns", COLUMN(1, SAVED_TYPE), COLUMN_TARGET, "two targets"},
    {"schema.columns", COLUMN(1, SAVED_TYPE), COLUMN_WEIGHT, "two weights"},
    {"schema.columns", COLUMN(1, SAVED_TYPE), COLUMN_DATETIME, "more numbers than are there"},
    {"schema.columns", COLUMN(1, SAVED_TYPE), COLUMN_IGNORE, "fewer numbers than are there"},
    {"schema.columns", COLUMN(4, SAVED_TYPE), COLUMN_IGNORE, "values of a column without any"},
    {"schema.columns", COLUMN(1, SAVED_SCALE), 6, "an unknown scale"},
    {"schema.columns", COLUMN(1, SAVED_IMPUTE), 4, "an unknown impute"},
    {"schema.columns", COLUMN(1, SAVED_UNKNOWN), 3, "an unknown unknown"},
    {"schema.columns", COLUMN(1, SAVED_ENCODE), 3, "an unknown encode"},
    {"schema.columns", COLUMN(1, SAVED_MIN_COUNT), 0, "min_count 0"},
    {"schema.columns", COLUMN(4, SAVED_DIM), 1e9, "a huge embedding"},
    {"schema.columns", COLUMN(1, SAVED_MISSING), -1, "a negative count"},
    {"schema.columns", COLUMN(4, SAVED_VALUES), 3, "more values than texts"},
    {"schema.columns", COLUMN(4, SAVED_VALUES), 1, "fewer values than texts"},
    {"schema.columns", COLUMN(4, SAVED_VALUES), 1e15, "too many values"},
    {"schema.names_offsets", UINT64_MAX, 0, "names cut short"},
    {"schema.names_offsets", 0, 1, "names that begin late"},
    {"schema.names_offsets", 1, 0, "an empty name"},
    {"schema.names_offsets", 1, 1e15, "a name beyond all"},
    {"schema.names_offsets", 1, -1, "a name before all"},
    {"schema.names_offsets", 9, 1e15, "an end beyond the bytes"},
    {"schema.names_bytes", 2, 'm', "two columns of one name"},
    {"schema.names_bytes", 2, 0, "a NUL byte in a name"},
    {"schema.names_bytes", 2, -1, "a byte that is not UTF-8"},
    {"schema.names_bytes", 0, NAN, "no names"},
    {"schema.labels_offsets", UINT64_MAX, 0, "labels cut short"},
    {"schema.labels_offsets", 0, NAN, "no labels"},
    {"schema.categories_offsets", 2, 8, "a value that ends inside a character"},
    {"schema.categories_bytes", UINT64_MAX, 0, "values cut short"},
    {"schema.missing_bytes", 0, 0, "a NUL byte in a text for missing"},
    {"schema.numbers", UINT64_MAX, 0, "numbers cut short"},
    {"schema.numbers", 0, NAN, "no numbers"},
    {"schema.numbers", NUMBER(1, SAVED_OFFSET), INFINITY, "an infinite offset"},
    {"schema.numbers", NUMBER(1, SAVED_NUMBER_SCALE), SCALE_AUTO, "a scale that is not fitted"},
    {"schema.numbers", NUMBER(1, SAVED_NUMBER_SCALE), 2.5, "half a scale"},
    {"schema.numbers", NUMBER(1, SAVED_NUMBER_SCALE), SCALE_QUANTILE, "quantiles without knots"},
    {"schema.numbers", NUMBER(1, SAVED_LEAST), 1, "least above most"},
    {"schema.numbers", NUMBER(1, SAVED_MOST), NAN, "a limit that is none"},
    {"schema.numbers", NUMBER(1, SAVED_MOST), 1e7, "a limit that is too far"},
    {"schema.numbers", NUMBER(1, SAVED_LEAST), -INFINITY, "an infinite limit"},
    {"schema.numbers", NUMBER(1, SAVED_FACTOR), -1, "a negative factor"},
    {"schema.numbers", NUMBER(1, SAVED_FACTOR), INFINITY, "an infinite factor"},
    {"schema.numbers", NUMBER(1, SAVED_CENTER), -INFINITY, "an infinite center"},
    {"schema.numbers", NUMBER(1, SAVED_FILL), 1e300, "an imputed value beyond float32"},
    {"schema.numbers", NUMBER(1, SAVED_FILL), 0.1, "an imputed value that is no float32"},
    {"schema.numbers", NUMBER(1, SAVED_INDICATOR), 2, "an indicator that is neither"},
    {"schema.numbers", NUMBER(1, SAVED_KNOTS), 2, "knots of a scale without"},
    {"schema.numbers", NUMBER(0, SAVED_KNOTS), 4, "more knots than are there"},
    {"schema.numbers", NUMBER(0, SAVED_KNOTS), 2, "fewer knots than are there"},
    {"schema.numbers", NUMBER(0, SAVED_KNOTS), 1e18, "knots beyond all"},
    {"schema.numbers", NUMBER(1, SAVED_LOW), INFINITY, "an infinite low"},
    {"schema.numbers", NUMBER(1, SAVED_HIGH), -INFINITY, "a range upside down"},
    {"schema.quantiles", 1, -1, "knots that descend"},
    {"schema.quantiles", 1, INFINITY, "an infinite knot"},
    {"schema.quantiles", UINT64_MAX, 0, "knots cut short"},
    {"schema.quantiles", 0, NAN, "no knots"},
    {"schema.target", 0, INFINITY, "an infinite target center"},
    {"schema.target", 1, 0, "target scale 0"},
    {"schema.target", 0, NAN, "no target scale"},
};

static void test_hostile(void)
{
    struct err e = {0};
    struct schema *s = fitted(TASK_BINARY);
    if (!write_schema(s))
        return;
    struct tensor_file *f = tensor_open(path, &e);
    const struct change none = {"", 0, 0, ""};
    ok(load_changed(f, &none, &e), "an unchanged copy is read: %s", e.what);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        err_clear(&e);
        bool loaded = load_changed(f, &changes[i], &e);
        ok(!loaded && err_exit(&e) == EXIT_FORMAT, "%s: refused with 76 (%s)", changes[i].name,
           e.what);
    }
    tensor_close(f);
    schema_free(s);
}

/* What a config may say, and what data may teach: known before the training, not behind it. */
static void test_holds(void)
{
    struct err e = {0};
    struct schema *s = fitted(TASK_REGRESSION);
    ok(schema_holds(s, &e), "a model file takes it: %s", e.what);
    size_t count = s->missing.count, most = SAVED_MISSING_MOST;
    char **was = s->missing.items, **many = mem_zero(most + 1, sizeof *many);
    static char text[] = "-";
    for (size_t i = 0; i <= most; i++)
        many[i] = text;
    s->missing.items = many;
    s->missing.count = most;
    ok(schema_holds(s, &e), "as many data.missing as a config has room for: %s", e.what);
    s->missing.count++;
    ok(!schema_holds(s, &e) && e.id == ERR_CSV_LIMIT && strstr(e.what, "missing"), "one more: %s",
       e.what);
    s->missing.items = was;
    s->missing.count = count;
    mem_free(many);
    float high = s->numbers[1].high;
    s->numbers[1].high = INFINITY;
    err_clear(&e);
    ok(!schema_holds(s, &e) && e.id == ERR_CSV_LIMIT, "a value that cannot be: %s", e.what);
    s->numbers[1].high = high;
    schema_free(s);
}

/* Any element of any tensor, any value: refused or usable, never a crash. */
static void test_random_changes(void)
{
    static const double values[] = {0,   1,     -1,  2,    3,     6,     7,  44,
                                    255, 65536, 1e9, 9e18, -9e18, 1e300, 0.5};
    struct err e = {0};
    struct schema *s = fitted(TASK_MULTICLASS);
    if (!write_schema(s))
        return;
    struct tensor_file *f = tensor_open(path, &e);
    size_t tensors = tensor_file_count(f), loaded = 0, refused = 0;
    for (uint32_t k = 0; k < 300; k++) {
        const struct tensor *t = tensor_file_at(f, rng_bits(1, k, 0, 0, RNG_TEST) % tensors);
        struct change c = {t->name, rng_bits(2, k, 0, 0, RNG_TEST) % t->count,
                           values[rng_bits(3, k, 0, 0, RNG_TEST) % 15], ""};
        err_clear(&e);
        bool good = load_changed(f, &c, &e);
        loaded += good;
        refused += !good && err_exit(&e) == EXIT_FORMAT;
    }
    ok(loaded + refused == 300 && refused > 100, "300 random changes: %d read, %d refused with 76",
       (int)loaded, (int)refused);
    tensor_close(f);
    schema_free(s);
}

int main(void)
{
    char folder[] = "/tmp/dnn-schema-XXXXXX";
    if (!mkdtemp(folder))
        return 1;
    struct text t = {0};
    text_printf(&t, "%s/x.dnn", folder);
    path = mem_string(t.data);
    text_free(&t);
    test_round_trip(TASK_BINARY);
    test_round_trip(TASK_MULTICLASS);
    test_round_trip(TASK_REGRESSION);
    test_hostile();
    test_holds();
    test_random_changes();
    unlink(path);
    rmdir(folder);
    mem_free(path);
    return done();
}
