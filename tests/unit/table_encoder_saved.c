/* table_encoder_saved.c - an encoder in a model file: exact round trip, and no trust in what
 * is read. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/rng.h"
#include "table/encoder/encoder_saved.h"
#include "table_help.h"

static const char config[] =
    "{\"data\": {\"train\": \"a\", \"target\": \"y\", \"delimiter\": \";\", \"decimal\": \",\","
    "\"encoding\": \"cp1252\", \"missing\": [\"\", \"?\", \"k. A.\"], \"columns\": {"
    "\"id\": \"id\", \"n\": {\"type\": \"numeric\", \"scale\": \"quantile\"}, \"m\": \"numeric\","
    "\"d\": \"datetime\", \"c\": {\"type\": \"categorical\", \"dim\": 3, \"unknown\": \"error\"},"
    "\"k\": {\"type\": \"categorical\", \"min_count\": 2}, \"w\": \"weight\", \"\xc3\xa4\": "
    "\"ignore\"}}}";

static struct encoder *fitted(int task)
{
    struct err e = {0};
    struct schema *s = schema_of(config, task, &e);
    if (!s)
        return NULL;
    struct encoder *c = encoder_new(s);
    vocab_add(c->columns[4].vocab, "", 0);
    vocab_add(c->columns[4].vocab, "x, \"y\"", 6);
    vocab_add(c->columns[5].vocab, "K\xc3\xb6ln", 5);
    if (s->labels) {
        vocab_add(s->labels, "no", 2);
        vocab_add(s->labels, "yes", 3);
        s->positive = mem_string("yes");
    }
    for (uint32_t i = 0; i < c->number_count; i++)
        c->numbers[i] = (struct number_slot){.offset = 1.7e9 + 0.1,
                                             .scale = SCALE_STANDARD,
                                             .center = 1.0 / 3,
                                             .factor = 1e-7 / 3,
                                             .impute = 0.1f,
                                             .indicator = i == 1,
                                             .low = -1e30f,
                                             .high = 3e38f,
                                             .least = -2.5,
                                             .most = 1.0 / 3};
    c->numbers[0].scale = SCALE_QUANTILE;
    c->numbers[0].quantile_count = 3;
    c->numbers[0].quantiles = mem_alloc(3, sizeof(float));
    memcpy(c->numbers[0].quantiles, (const float[]){-0.1f, 0.7f, 0.7f}, 3 * sizeof(float));
    c->columns[1].missing = 17;
    struct distribution *d = &c->columns[1].spread;
    distribution_new(d, 4);
    d->edges = 2;
    memcpy(d->edge, (const float[]){-1.5f, 0.25f}, 2 * sizeof *d->edge);
    memcpy(d->rows, (const int32_t[]){1, 5, 0, 6}, 4 * sizeof *d->rows);
    distribution_new(&c->columns[4].spread, 4);
    c->columns[4].spread.rows[3] = 12;
    c->coding.center = task == TASK_REGRESSION ? 12.25 : 0;
    c->coding.scale = task == TASK_REGRESSION ? 0.1 : 1;
    if (task == TASK_REGRESSION) {
        c->coding.transform = TARGET_QUANTILE;
        coding_fit_knots(&c->coding, (const double[]){-1e300, 0.1, 0.1, 7}, 4);
    }
    s->file_columns = 12;
    return c;
}

static char *path;

static bool write_encoder(const struct encoder *c)
{
    struct err e = {0};
    struct tensor_writer *w = tensor_writer_new();
    tensor_meta(w, "kind", "model");
    struct encoder_saved *k = encoder_save(c, 0, w);
    bool good = tensor_write(w, path, NULL, &e);
    encoder_saved_free(k);
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

/* m was read: "auto" has become what it was decided to be, and the scale is the number's. */
static bool same_column(const struct encoder *l, const struct encoder *m, size_t i)
{
    const struct column *a = &l->schema->columns[i], *b = &m->schema->columns[i];
    const struct column_fit *c = &l->columns[i], *d = &m->columns[i];
    bool categorical = a->type == COLUMN_CATEGORICAL;
    struct feature_category x = {0}, y = {0};
    if (categorical) {
        x = encoder_category(l, i);
        y = encoder_category(m, i);
    }
    return strcmp(a->name, b->name) == 0 && a->type == b->type && a->impute == b->impute &&
           a->unknown == b->unknown && x.encode == y.encode && x.dim == y.dim &&
           x.count == y.count && (!categorical || b->encode != ENCODE_AUTO) &&
           c->min_count == d->min_count && a->number == b->number &&
           a->category == b->category && c->missing == d->missing && same_vocab(c->vocab, d->vocab);
}

static bool same_spread(const struct distribution *a, const struct distribution *b)
{
    return a->places == b->places && a->edges == b->edges &&
           memcmp(a->edge, b->edge, a->places ? sizeof a->edge : 0) == 0 &&
           (!a->places || memcmp(a->rows, b->rows, a->places * sizeof *a->rows) == 0);
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
    struct encoder *c = fitted(task);
    if (!ok(c, "a schema of task %d", task) || !write_encoder(c))
        return;
    const struct schema *s = c->schema;
    struct tensor_file *f = tensor_open(path, &e);
    struct encoder *m = f ? encoder_load(f, 0, &e) : NULL;
    if (ok(m, "read back: %s", e.what)) {
        const struct schema *l = m->schema;
        bool same = l->column_count == s->column_count && l->number_count == s->number_count;
        for (size_t i = 0; same && i < s->column_count; i++)
            same = same_column(c, m, i) &&
                   same_spread(&c->columns[i].spread, &m->columns[i].spread);
        ok(same, "the columns are the same");
        for (uint32_t i = 0; same && i < s->number_count; i++)
            same = same_number(&c->numbers[i], &m->numbers[i]);
        ok(same, "the numbers are the same");
        ok(same_vocab(s->labels, l->labels), "the labels");
        ok(l->task == s->task && l->dialect.delimiter == ';' && l->decimal == ',' &&
               l->dialect.encoding == ENCODING_CP1252 && l->dialect.header && !l->dialect.tsv &&
               l->target == s->target && l->file_columns == 12,
           "the settings");
        ok(l->missing.count == 3 && strcmp(l->missing.items[2], "k. A.") == 0, "texts for missing");
        ok(m->coding.center == c->coding.center && m->coding.scale == c->coding.scale &&
               m->coding.transform == c->coding.transform &&
               m->coding.knot_count == c->coding.knot_count &&
               (!m->coding.knot_count ||
                memcmp(m->coding.knots, c->coding.knots, 4 * sizeof(double)) == 0),
           "the target's coding");
        ok(task != TASK_BINARY || strcmp(l->positive, "yes") == 0, "the positive label");
        ok(memcmp(&m->format, &c->format, sizeof m->format) == 0, "the format of a record");
    }
    encoder_free(m);
    tensor_close(f);
    encoder_free(c);
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
    struct encoder *read = changed ? encoder_load(changed, 0, e) : NULL;
    bool loaded = read;
    if (read) { /* what was read can be used */
        unsigned char *records = mem_zero(3, read->format.stride);
        encoder_apply(read, records, 3);
        features_free(encoder_features(read));
        mem_free(records);
    }
    encoder_free(read);
    tensor_close(changed);
    return loaded;
}

static const struct change changes[] = {
    {"schema", UINT64_MAX, 0, "a head cut short"},
    {"schema", 0, NAN, "no head"},
    {"schema", 0, '[', "a head that is no JSON"},
    {"schema.types", UINT64_MAX, 0, "types cut short"},
    {"schema.types", 0, NAN, "no types"},
    {"schema.types", 1, 200, "a type without a word"},
    {"schema.types", 1, COLUMN_TARGET, "two targets"},
    {"schema.types", 1, COLUMN_WEIGHT, "two weights"},
    {"schema.types", 1, COLUMN_DATETIME, "more numbers than are there"},
    {"schema.types", 1, COLUMN_IGNORE, "fewer numbers than are there"},
    {"schema.types", 4, COLUMN_IGNORE, "values of a column without any"},
    {"encoders.0.scale", 1, 7, "a scale without a word"},
    {"encoders.0.scale", 1, SCALE_AUTO, "a scale that is not fitted"},
    {"encoders.0.scale", 1, SCALE_QUANTILE, "quantiles without knots"},
    {"encoders.0.scale", 0, SCALE_STANDARD, "knots of a scale without"},
    {"encoders.0.impute", 1, 4, "an unknown impute"},
    {"encoders.0.unknown", 4, 3, "an unknown unknown"},
    {"encoders.0.encode", 4, 3, "an unknown encode"},
    {"encoders.0.dim", 4, 1e9, "a huge embedding"},
    {"encoders.0.dim", 4, 0, "an embedding without a width"},
    {"encoders.0.dim", 5, 1, "a one-hot column with a width"},
    {"encoders.0.values.first", 5, 4, "more values than texts"},
    {"encoders.0.values.first", 6, 1, "values that go backwards"},
    {"encoders.0.values.first", 5, 1e15, "too many values"},
    {"encoders.0.values.first", 5, -1, "values before all"},
    {"encoders.0.values.first", 0, 1, "values that begin late"},
    {"encoders.0.values.first", UINT64_MAX, 0, "values cut short"},
    {"schema.names.offsets", UINT64_MAX, 0, "names cut short"},
    {"schema.names.offsets", 0, 1, "names that begin late"},
    {"schema.names.offsets", 1, 0, "an empty name"},
    {"schema.names.offsets", 1, 1e15, "a name beyond all"},
    {"schema.names.offsets", 1, -1, "a name before all"},
    {"schema.names.offsets", 9, 1e15, "an end beyond the bytes"},
    {"schema.names", 2, 'm', "two columns of one name"},
    {"schema.names", 2, 0, "a NUL byte in a name"},
    {"schema.names", 2, -1, "a byte that is not UTF-8"},
    {"schema.names", 0, NAN, "no names"},
    {"schema.labels.offsets", UINT64_MAX, 0, "labels cut short"},
    {"schema.labels.offsets", 0, NAN, "no labels"},
    {"encoders.0.values.offsets", 2, 8, "a value that ends inside a character"},
    {"encoders.0.values", UINT64_MAX, 0, "values cut short"},
    {"schema.missing", 0, 0, "a NUL byte in a text for missing"},
    {"encoders.0.center", UINT64_MAX, 0, "numbers cut short"},
    {"encoders.0.center", 0, NAN, "no numbers"},
    {"encoders.0.offset", 1, INFINITY, "an infinite offset"},
    {"encoders.0.least", 1, 1, "least above most"},
    {"encoders.0.most", 1, 1e7, "a limit that is too far"},
    {"encoders.0.least", 1, -INFINITY, "an infinite limit"},
    {"encoders.0.factor", 1, -1, "a negative factor"},
    {"encoders.0.factor", 1, INFINITY, "an infinite factor"},
    {"encoders.0.center", 1, -INFINITY, "an infinite center"},
    {"encoders.0.fill", 1, 1e300, "an imputed value beyond float32"},
    {"encoders.0.fill", 1, 0.1, "an imputed value that is no float32"},
    {"encoders.0.indicator", 1, 2, "an indicator that is neither"},
    {"encoders.0.quantiles.offsets", 1, 4, "more knots than are there"},
    {"encoders.0.quantiles.offsets", 1, 2, "knots of a scale without"},
    {"encoders.0.quantiles.offsets", 1, 9e18, "knots beyond all"},
    {"encoders.0.quantiles.offsets", 1, -1, "knots before all"},
    {"encoders.0.quantiles.offsets", 0, 1, "knots that begin late"},
    {"encoders.0.low", 1, INFINITY, "an infinite low"},
    {"encoders.0.high", 1, -INFINITY, "a range upside down"},
    {"encoders.0.quantiles", 1, -1, "knots that descend"},
    {"encoders.0.quantiles", 1, INFINITY, "an infinite knot"},
    {"encoders.0.quantiles", UINT64_MAX, 0, "knots cut short"},
    {"encoders.0.quantiles", 0, NAN, "no knots"},
    {"encoders.0.spread.offsets", 0, 1, "a spread that begins late"},
    {"encoders.0.spread.offsets", 1, 1, "a spread of an id"},
    {"encoders.0.spread.offsets", 2, 100, "more places than a number has"},
    {"encoders.0.spread.offsets", 5, 7, "fewer places than categories"},
    {"encoders.0.spread.offsets", 8, 9e18, "places beyond all"},
    {"encoders.0.spread", 3, -1, "fewer rows than none"}, /* the byte of the sign */
    {"encoders.0.spread", UINT64_MAX, 0, "places cut short"},
    {"encoders.0.spread.edges", 1, -2, "edges that descend"},
    {"encoders.0.spread.edges", 0, INFINITY, "an infinite edge"},
    {"encoders.0.spread.edges", 0, NAN, "no edges"},
    {"encoders.0.target", 0, INFINITY, "an infinite target center"},
    {"encoders.0.target", 1, 0, "target scale 0"},
    {"encoders.0.target", 0, NAN, "no target scale"},
};

static void test_hostile(void)
{
    struct err e = {0};
    struct encoder *made = fitted(TASK_BINARY);
    if (!write_encoder(made))
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
    encoder_free(made);
}

/* What a config may say, and what data may teach: known before the training, not behind it. */
static void test_holds(void)
{
    struct err e = {0};
    struct encoder *made = fitted(TASK_REGRESSION);
    struct schema *s = made->schema;
    ok(encoder_holds(made, &e), "a model file takes it: %s", e.what);
    size_t count = s->missing.count, most = SAVED_MISSING_MOST;
    char **was = s->missing.items, **many = mem_zero(most + 1, sizeof *many);
    static char text[] = "-";
    for (size_t i = 0; i <= most; i++)
        many[i] = text;
    s->missing.items = many;
    s->missing.count = most;
    ok(encoder_holds(made, &e), "as many data.missing as a config has room for: %s", e.what);
    s->missing.count++;
    ok(!encoder_holds(made, &e) && e.id == ERR_CSV_LIMIT && strstr(e.what, "missing"),
       "one more: %s", e.what);
    s->missing.items = was;
    s->missing.count = count;
    mem_free(many);
    float high = made->numbers[1].high;
    made->numbers[1].high = INFINITY;
    err_clear(&e);
    ok(!encoder_holds(made, &e) && e.id == ERR_CSV_LIMIT, "a value that cannot be: %s", e.what);
    made->numbers[1].high = high;
    encoder_free(made);
}

/* Any element of any tensor, any value: refused or usable, never a crash. */
static void test_random_changes(void)
{
    static const double values[] = {0,   1,     -1,  2,    3,     6,     7,  44,
                                    255, 65536, 1e9, 9e18, -9e18, 1e300, 0.5};
    struct err e = {0};
    struct encoder *made = fitted(TASK_MULTICLASS);
    if (!write_encoder(made))
        return;
    struct tensor_file *f = tensor_open(path, &e);
    size_t tensors = tensor_file_count(f), loaded = 0, refused = 0;
    for (uint32_t k = 0; k < 300; k++) {
        const struct tensor *t = tensor_file_at(f, rng_bits(1, k, 0, 0, RNG_TEST) % tensors);
        struct change c = {t->name, t->count ? rng_bits(2, k, 0, 0, RNG_TEST) % t->count : 0,
                           values[rng_bits(3, k, 0, 0, RNG_TEST) % 15], ""};
        err_clear(&e);
        bool good = load_changed(f, &c, &e);
        loaded += good;
        refused += !good && err_exit(&e) == EXIT_FORMAT;
    }
    ok(loaded + refused == 300 && refused > 100, "300 random changes: %d read, %d refused with 76",
       (int)loaded, (int)refused);
    tensor_close(f);
    encoder_free(made);
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
