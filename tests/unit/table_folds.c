/* table_folds.c - folds: every row is left out once, sizes, classes and groups, blocks of time, the
 * same for the same seed and data. */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "table/split/folds.h"
#include "table/schema/vocab.h"
#include "tap.h"

enum { ROWS = 1000, FOLDS = 7 };

static struct dataset data;
static struct split split;
static struct schema schema;
static uint8_t part[ROWS];
static uint64_t key[ROWS];
static double moment[ROWS];
static unsigned char *chunk;

static uint32_t label_of(uint32_t i)
{
    return i % 10 == 0 ? 2 : i % 3 == 0;
}

/* Every eighth row is a test row; groups of 1 to 40 rows; some rows have equal times. */
static void make_data(void)
{
    static const char *const labels[] = {"a", "b", "c"};
    static uint32_t index[PARTS][ROWS];
    const struct rowfmt format = rowfmt_make(0, 0);
    chunk = mem_zero(ROWS, format.stride);
    schema.labels = vocab_new();
    for (int i = 0; i < 3; i++)
        vocab_add(schema.labels, labels[i], 1);
    data = (struct dataset){.schema = &schema, .key = key, .time = moment,
                            .samples = {.count = ROWS}};
    data.rows = (struct rows){.format = format, .chunks = &chunk, .shift = 63, .count = ROWS};
    split = (struct split){.part = part};
    for (uint32_t i = 0; i < ROWS; i++) {
        int32_t label = (int32_t)label_of(i);
        memcpy(rows_at(&data.rows, i) + format.at_target, &label, sizeof label);
        part[i] = i % 8 == 0 ? PART_TEST : i % 8 == 1 ? PART_VALID : PART_TRAIN;
        index[part[i]][split.count[part[i]]++] = i;
        key[i] = 1 + i % 40 * (i % 40) / 30;
        moment[i] = (double)(rng_bits(3, i, 0, 0, RNG_TEST) % 300);
    }
    for (int p = 0; p < PARTS; p++)
        split.index[p] = index[p];
}

static bool cut(int method, uint32_t count, uint64_t seed, struct folds *f, struct err *e)
{
    struct split_options o = {.method = method, .seed = seed};
    err_clear(e);
    return folds_make(f, count, &data, &split, &o, NULL, e);
}

/* Each row that is not test is left out once and trained on by the others; none is test. */
static void is_partition(const struct folds *f, const char *name)
{
    uint32_t left[ROWS] = {0}, trained[ROWS] = {0}, good = 0;
    bool ascending = true;
    for (uint32_t k = 0; k < f->count; k++) {
        const struct fold_rows *r = &f->rows[k];
        for (uint64_t i = 0; i < r->left_count; i++) {
            left[r->left[i]]++;
            ascending &= i == 0 || r->left[i - 1] < r->left[i];
        }
        for (uint64_t i = 0; i < r->train_count; i++) {
            trained[r->train[i]]++;
            ascending &= i == 0 || r->train[i - 1] < r->train[i];
        }
    }
    for (uint32_t i = 0; i < ROWS; i++) {
        bool test = part[i] == PART_TEST;
        good += left[i] == !test && trained[i] == (test ? 0 : f->count - 1);
    }
    ok(good == ROWS && ascending, "%s: every row is left out once: %u of %d", name, good, ROWS);
}

static uint64_t most_apart(const struct folds *f, int label)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        uint64_t count = 0;
        for (uint64_t i = 0; i < f->rows[k].left_count; i++)
            count += label < 0 || label_of(f->rows[k].left[i]) == (uint32_t)label;
        least = count < least ? count : least;
        most = count > most ? count : most;
    }
    return most - least;
}

static bool same(const struct folds *a, const struct folds *b)
{
    bool all = a->count == b->count;
    for (uint32_t k = 0; all && k < a->count; k++)
        all = a->rows[k].left_count == b->rows[k].left_count &&
              memcmp(a->rows[k].left, b->rows[k].left,
                     a->rows[k].left_count * sizeof *a->rows[k].left) == 0;
    return all;
}

static void test_methods(void)
{
    static const int methods[] = {SPLIT_RANDOM, SPLIT_STRATIFIED, SPLIT_GROUP, SPLIT_HASH,
                                  SPLIT_COLUMN};
    struct err e = {0};
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        const char *name = split_method_names[methods[i]];
        struct folds f, again, other;
        ok(cut(methods[i], FOLDS, 5, &f, &e), "%s: %s", name, e.what);
        is_partition(&f, name);
        cut(methods[i], FOLDS, 5, &again, &e);
        cut(methods[i], FOLDS, 6, &other, &e);
        ok(same(&f, &again), "%s: the same seed, the same folds", name);
        ok(!same(&f, &other), "%s: another seed, others", name);
        folds_free(&f);
        folds_free(&again);
        folds_free(&other);
    }
}

static void test_shares(void)
{
    struct err e = {0};
    struct folds f;
    cut(SPLIT_RANDOM, FOLDS, 5, &f, &e);
    ok(most_apart(&f, -1) <= 1, "random: sizes differ by at most a row");
    folds_free(&f);
    cut(SPLIT_STRATIFIED, FOLDS, 5, &f, &e);
    ok(most_apart(&f, 0) <= 1 && most_apart(&f, 1) <= 1 && most_apart(&f, 2) <= 1 &&
           most_apart(&f, -1) <= 1, "stratified: every class, and all, differ by at most a row");
    folds_free(&f);
    cut(SPLIT_GROUP, FOLDS, 5, &f, &e);
    int fold_of[64];
    bool whole = true;
    memset(fold_of, -1, sizeof fold_of);
    for (uint32_t k = 0; k < f.count; k++)
        for (uint64_t i = 0; i < f.rows[k].left_count; i++) {
            int *fold = &fold_of[key[f.rows[k].left[i]]];
            whole &= *fold < 0 || *fold == (int)k;
            *fold = (int)k;
        }
    ok(whole, "group: no group across folds");
    ok(most_apart(&f, -1) < ROWS / FOLDS, "group: no fold is empty or twice its share");
    folds_free(&f);
}

static void test_time(void)
{
    struct err e = {0};
    struct folds f;
    bool before = true, grows = true;
    uint64_t left = 0;
    ok(cut(SPLIT_TIME, 4, 5, &f, &e), "time: %s", e.what);
    for (uint32_t k = 0; k < f.count; k++) {
        const struct fold_rows *r = &f.rows[k];
        double latest = -1, first = 1e9;
        for (uint64_t i = 0; i < r->train_count; i++)
            latest = moment[r->train[i]] > latest ? moment[r->train[i]] : latest;
        for (uint64_t i = 0; i < r->left_count; i++)
            first = moment[r->left[i]] < first ? moment[r->left[i]] : first;
        before &= latest < first;
        grows &= k == 0 || r->train_count == f.rows[k - 1].train_count + f.rows[k - 1].left_count;
        left += r->left_count;
    }
    ok(before, "time: a run trains on rows before those left out alone");
    ok(grows, "each run on all rows before its block");
    ok(left > 420 && left < 455 && f.rows[0].train_count + left == 875,
       "the later half is left out: %llu rows", (unsigned long long)left);
    folds_free(&f);
}

static void test_ends(void)
{
    struct err e = {0};
    struct folds f;
    ok(cut(SPLIT_RANDOM, 1, 5, &f, &e) && f.rows[0].train_count == split.count[PART_TRAIN] &&
           f.rows[0].left_count == split.count[PART_VALID], "one fold is the split");
    folds_free(&f);
    for (uint32_t i = 0; i < ROWS; i++)
        key[i] = i % 2;
    ok(!cut(SPLIT_GROUP, 3, 5, &f, &e) && e.id == ERR_SPLIT_EMPTY && strstr(e.help, "group"),
       "two groups in three folds: %s; %s", e.what, e.help);
    is_int(err_exit(&e), EXIT_DATA, "exit 65");
    folds_free(&f);
}

int main(void)
{
    make_data();
    test_methods();
    test_shares();
    test_time();
    test_ends();
    vocab_free(schema.labels);
    mem_free(chunk);
    return done();
}
