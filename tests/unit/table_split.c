/* table_split.c - six ways to set rows apart: exact sizes, nothing on both sides, the same for
 * the same seed and data. */
#include "base/mem.h"
#include "table/split/split.h"
#include "table/table.h"
#include "tap.h"

enum { MOST = 2000 };

static uint8_t part[MOST];
static uint64_t counts[PARTS];
static uint32_t want[PARTS];

static bool split(int method, double valid, double test, uint64_t seed,
                  const struct split_input *in, struct err *e)
{
    struct split_options o = {.method = method, .valid = valid, .test = test, .seed = seed};
    memset(part, 77, sizeof part);
    memset(counts, 0, sizeof counts);
    err_clear(e);
    if (!split_rows(&o, in, part, want, e))
        return false;
    for (uint64_t i = 0; i < in->rows; i++)
        counts[part[i]]++;
    return true;
}

static void sizes(const char *name, uint64_t train, uint64_t valid, uint64_t test)
{
    ok(counts[PART_TRAIN] == train && counts[PART_VALID] == valid && counts[PART_TEST] == test,
       "%s: %d %d %d, wanted %d %d %d", name, (int)counts[0], (int)counts[1], (int)counts[2],
       (int)train, (int)valid, (int)test);
}

static void test_random(void)
{
    struct err e = {0};
    struct split_input in = {.rows = 1000};
    uint8_t first[MOST];
    ok(split(SPLIT_RANDOM, 0.15, 0.2, 7, &in, &e), "random: %s", e.what);
    sizes("exact sizes", 650, 150, 200);
    memcpy(first, part, sizeof first);
    split(SPLIT_RANDOM, 0.15, 0.2, 7, &in, &e);
    ok(memcmp(first, part, 1000) == 0, "the same seed gives the same split");
    split(SPLIT_RANDOM, 0.15, 0.2, 8, &in, &e);
    ok(memcmp(first, part, 1000) != 0, "another seed another one");
    int half = 0;
    for (int i = 0; i < 500; i++)
        half += part[i] == PART_TEST;
    ok(half > 70 && half < 130, "rows of both halves are drawn: %d", half);
    split(SPLIT_RANDOM, 0, 0, 7, &in, &e);
    sizes("no parts", 1000, 0, 0);
    in.rows = 5;
    split(SPLIT_RANDOM, 0.05, 0.05, 7, &in, &e);
    sizes("a part that is asked for has a row", 3, 1, 1);
    in.rows = 3;
    ok(split(SPLIT_RANDOM, 0.5, 0.4, 7, &in, &e), "three rows, three parts: %s", e.what);
    sizes("validation leaves a row for test", 1, 1, 1);
    in.rows = 2;
    ok(split(SPLIT_RANDOM, 0.15, 0, 7, &in, &e), "two rows, two parts: %s", e.what);
    sizes("one each", 1, 1, 0);
    ok(!split(SPLIT_RANDOM, 0.15, 0.15, 7, &in, &e) && e.id == ERR_SPLIT_EMPTY,
       "two rows, three parts: %s", e.what);
    in.rows = 1;
    ok(!split(SPLIT_RANDOM, 0.15, 0, 7, &in, &e) && e.id == ERR_SPLIT_EMPTY &&
           strstr(e.what, "validation") && strstr(e.help, "split.valid"),
       "one row, two parts: %s; %s", e.what, e.help);
    is_int(err_exit(&e), EXIT_DATA, "exit 65");
}

static void test_fixed(void)
{
    struct err e = {0};
    uint8_t fixed[100] = {0};
    for (int i = 80; i < 100; i++)
        fixed[i] = PART_VALID + 1;
    struct split_input in = {.rows = 100, .fixed = fixed};
    split(SPLIT_RANDOM, 0.5, 0.25, 1, &in, &e);
    sizes("a part with its own file gets nothing from the split", 60, 20, 20);
    bool kept = true;
    for (int i = 80; i < 100; i++)
        kept &= part[i] == PART_VALID;
    ok(kept, "and keeps its rows");
    for (int i = 0; i < 80; i++)
        fixed[i] = PART_TRAIN + 1;
    split(SPLIT_RANDOM, 0.5, 0, 1, &in, &e);
    sizes("rows that are fixed to training stay there", 80, 20, 0);
}

static void test_stratified(void)
{
    struct err e = {0};
    int32_t label[MOST];
    struct split_input in = {.rows = 1000, .label = label};
    for (int i = 0; i < 1000; i++)
        label[i] = i < 30 ? 2 : i % 2;
    ok(split(SPLIT_STRATIFIED, 0.1, 0.2, 3, &in, &e), "stratified: %s", e.what);
    sizes("exact sizes", 700, 100, 200);
    int of[3][PARTS] = {{0}};
    for (int i = 0; i < 1000; i++)
        of[label[i]][part[i]]++;
    ok(of[2][PART_VALID] == 3 && of[2][PART_TEST] == 6, "the small class has its share: %d %d",
       of[2][PART_VALID], of[2][PART_TEST]);
    ok(of[0][PART_VALID] + of[1][PART_VALID] == 97 && of[0][PART_VALID] >= 48 &&
           of[0][PART_VALID] <= 49,
       "so have the large ones: %d %d", of[0][PART_VALID], of[1][PART_VALID]);

    for (int i = 0; i < 20; i++)
        label[i] = i < 18 ? i % 2 : i;
    in.rows = 20;
    ok(split(SPLIT_STRATIFIED, 0.2, 0.2, 3, &in, &e), "classes of one row: %s", e.what);
    ok(part[18] == PART_TRAIN && part[19] == PART_TRAIN, "stay in training");
    sizes("and the sizes stay exact", 12, 4, 4);
    for (int i = 0; i < 20; i++)
        label[i] = i;
    ok(!split(SPLIT_STRATIFIED, 0.2, 0, 3, &in, &e) && e.id == ERR_SPLIT_EMPTY,
       "only classes of one row: %s", e.what);
    for (int i = 0; i < 20; i++)
        label[i] = i < 10 ? -1 : 0;
    ok(split(SPLIT_STRATIFIED, 0.2, 0.2, 3, &in, &e), "rows without a label: %s", e.what);
    sizes("are a class too", 12, 4, 4);
}

static void test_group(void)
{
    struct err e = {0};
    uint64_t key[MOST];
    struct split_input in = {.rows = 1000, .key = key};
    for (uint64_t i = 0; i < 1000; i++)
        key[i] = i / 7 * 1000003;
    ok(split(SPLIT_GROUP, 0.2, 0.2, 5, &in, &e), "group: %s", e.what);
    bool whole = true;
    for (int i = 1; i < 1000; i++)
        whole &= key[i] != key[i - 1] || part[i] == part[i - 1];
    ok(whole, "no group on both sides");
    ok(counts[PART_VALID] >= 193 && counts[PART_VALID] <= 207 && counts[PART_TEST] >= 193 &&
           counts[PART_TEST] <= 207,
       "sizes to a group: %d %d", (int)counts[PART_VALID], (int)counts[PART_TEST]);
    for (uint64_t i = 0; i < 1000; i++)
        key[i] = i < 900 ? 1 : i < 960 ? 2 : 3;
    ok(split(SPLIT_GROUP, 0.01, 0.01, 5, &in, &e), "groups larger than their part: %s", e.what);
    sizes("the smallest ones are taken", 900, 40, 60);
    for (uint64_t i = 0; i < 1000; i++)
        key[i] = 1;
    ok(!split(SPLIT_GROUP, 0.2, 0, 5, &in, &e) && e.id == ERR_SPLIT_EMPTY, "one group: %s", e.what);
}

/* Groups that do not fit: as long as each part can have one, none is refused. */
static void test_giant_group(void)
{
    struct err e = {0};
    uint64_t key[MOST];
    struct split_input in = {.rows = 1000, .key = key};
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (uint64_t i = 0; i < 1000; i++)
            key[i] = i < 880 ? 1 : 2 + i % 12;
        ok(split(SPLIT_GROUP, 0.15, 0.15, seed, &in, &e), "a giant and twelve: %s", e.what);
        sizes("six each", 880, 60, 60);
        for (uint64_t i = 0; i < 1000; i++)
            key[i] = i < 998 ? 1 : i;
        ok(split(SPLIT_GROUP, 0.15, 0.15, seed, &in, &e), "a giant and two: %s", e.what);
        sizes("one each", 998, 1, 1);
        ok(split(SPLIT_GROUP, 0.15, 0, seed, &in, &e), "and two parts: %s", e.what);
        sizes("both", 998, 2, 0);
        for (uint64_t i = 0; i < 1000; i++)
            key[i] = i < 300 ? 1 : i < 600 ? 2 : 3;
        ok(split(SPLIT_GROUP, 0.6, 0.35, seed, &in, &e), "hardly any training: %s", e.what);
        sizes("has a group", 300, 400, 300);
        for (uint64_t i = 0; i < 1000; i++)
            key[i] = i < 999;
        ok(split(SPLIT_GROUP, 0.15, 0, seed, &in, &e), "two groups, two parts: %s", e.what);
        sizes("one each", 999, 1, 0);
        ok(!split(SPLIT_GROUP, 0.15, 0.15, seed, &in, &e) && e.id == ERR_SPLIT_EMPTY &&
               strstr(e.help, "the rows are of 2 groups"), "two groups, three parts: %s", e.help);
    }
}

/* A few large groups: in these cases no part has less than half of its share where another deal
 * gives it more. The deal is a greedy one, so there are others, with a warning each. */
static void test_few_groups(void)
{
    static const struct {
        int groups[6];
        double valid, test;
        bool enough;
    } few[] = {{{350, 350, 350, 339, 3}, 0.45, 0.45, true},
               {{700, 350, 300, 39, 3}, 0.45, 0.45, true},
               {{400, 400, 400, 180, 9, 3}, 0.45, 0.3, true},
               {{450, 440, 300, 9}, 0.3, 0.3, true},
               {{30, 500, 500, 2}, 0.02, 0.48, true},
               {{700, 689, 3}, 0.45, 0.45, false},
               {{1380, 6, 6}, 0.45, 0.45, false}};
    struct err e = {0};
    uint64_t key[MOST];
    for (size_t k = 0; k < sizeof few / sizeof *few; k++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            struct split_input in = {.key = key};
            for (uint64_t g = 0; g < 6; g++)
                for (int i = 0; i < few[k].groups[g]; i++)
                    key[in.rows++] = g + 1;
            ok(split(SPLIT_GROUP, few[k].valid, few[k].test, seed, &in, &e), "few groups: %s",
               e.what);
            bool enough = true;
            for (int p = PART_TRAIN; p < PARTS; p++)
                enough &= counts[p] && (double)counts[p] >= SPLIT_SHORT * want[p];
            ok(enough == few[k].enough, "case %d, seed %d: %d %d %d of %d %d %d", (int)k, (int)seed,
               (int)counts[0], (int)counts[1], (int)counts[2], (int)want[0], (int)want[1],
               (int)want[2]);
            ok(k != 5 || counts[PART_TRAIN] == 3, "the part that wants least has the least");
        }
}

static void test_time(void)
{
    struct err e = {0};
    double time[MOST];
    struct split_input in = {.rows = 1000, .time = time};
    for (int i = 0; i < 1000; i++)
        time[i] = (i * 389) % 1000;
    ok(split(SPLIT_TIME, 0.1, 0.2, 5, &in, &e), "time: %s", e.what);
    sizes("exact sizes", 700, 100, 200);
    bool right = true;
    for (int i = 0; i < 1000; i++)
        right &= part[i] == (time[i] >= 800 ? PART_TEST : time[i] >= 700 ? PART_VALID : PART_TRAIN);
    ok(right, "the latest rows are the test, those before it validation");
    for (int i = 0; i < 1000; i++)
        time[i] = i / 30;
    split(SPLIT_TIME, 0.1, 0.2, 5, &in, &e);
    right = true;
    for (int i = 1; i < 1000; i++)
        right &= part[i] == part[i - 1] || time[i] > time[i - 1];
    ok(right, "rows of one moment stay together: %d %d", (int)counts[1], (int)counts[2]);
    static const struct {
        int days[4];
        double valid, test;
        uint64_t want[PARTS];
    } uneven[] = {{{90, 5, 5}, 0.15, 0.15, {90, 5, 5}},     {{5, 5, 90}, 0.15, 0.15, {5, 5, 90}},
                  {{5, 90, 5}, 0.15, 0.15, {5, 90, 5}},     {{95, 5}, 0, 0.3, {95, 0, 5}},
                  {{5, 95}, 0.01, 0, {5, 95, 0}},           {{1, 1, 97, 1}, 0.5, 0.4, {2, 97, 1}},
                  {{40, 30, 10, 20}, 0.1, 0.2, {70, 10, 20}}};
    for (size_t k = 0; k < sizeof uneven / sizeof *uneven; k++) {
        in.rows = 0;
        for (int d = 0; d < 4; d++)
            for (int i = 0; i < uneven[k].days[d]; i++)
                time[in.rows++] = d;
        ok(split(SPLIT_TIME, uneven[k].valid, uneven[k].test, 5, &in, &e), "uneven days: %s",
           e.what);
        sizes("each part has a day", uneven[k].want[0], uneven[k].want[1], uneven[k].want[2]);
    }
    ok(!split(SPLIT_TIME, 0.15, 0.15, 5, &(struct split_input){.rows = 30, .time = time + 50}, &e)
           && strstr(e.help, "stay together"),
       "two days, three parts: %s; %s", e.what, e.help);
    in.rows = 1000;
    for (int i = 0; i < 1000; i++)
        time[i] = i / 30;
    time[17] = (double)NAN;
    ok(!split(SPLIT_TIME, 0.1, 0.2, 5, &in, &e) && e.id == ERR_SPLIT_TIME && strstr(e.what, "18"),
       "a row without a time: %s", e.what);
    for (int i = 0; i < 1000; i++)
        time[i] = 4;
    ok(!split(SPLIT_TIME, 0.1, 0, 5, &in, &e) && e.id == ERR_SPLIT_EMPTY, "one moment only: %s",
       e.what);
}

static void test_hash(void)
{
    struct err e = {0};
    uint64_t key[MOST];
    uint8_t first[MOST];
    struct split_input in = {.rows = 1500, .key = key};
    for (uint64_t i = 0; i < MOST; i++)
        key[i] = i * i + 13;
    split(SPLIT_HASH, 0.2, 0.2, 9, &in, &e);
    memcpy(first, part, sizeof first);
    ok(counts[PART_VALID] > 240 && counts[PART_VALID] < 360 && counts[PART_TEST] > 240 &&
           counts[PART_TEST] < 360,
       "shares to chance: %d %d", (int)counts[PART_VALID], (int)counts[PART_TEST]);
    in.rows = MOST;
    split(SPLIT_HASH, 0.2, 0.2, 9, &in, &e);
    ok(memcmp(first, part, 1500) == 0, "a row keeps its side as the file grows");
    in.rows = 1000;
    in.key = key + 500;
    split(SPLIT_HASH, 0.2, 0.2, 9, &in, &e);
    ok(memcmp(first + 500, part, 1000) == 0, "and wherever it stands");
}

static void test_column(void)
{
    struct err e = {0};
    uint8_t said[10] = {0, 1, 2, 0, 1, 0, 0, 0, 0, 0};
    struct split_input in = {.rows = 10, .said = said};
    ok(split(SPLIT_COLUMN, 0.15, 0.15, 9, &in, &e), "column: %s", e.what);
    ok(memcmp(said, part, 10) == 0, "the file says the part");
    said[2] = PART_TRAIN;
    ok(split(SPLIT_COLUMN, 0.15, 0.15, 9, &in, &e), "no test row is no error: %s", e.what);
    said[1] = said[4] = PART_TEST;
    ok(split(SPLIT_COLUMN, 0.15, 0.15, 9, &in, &e), "nor is no validation row: %s", e.what);
    memset(said, PART_VALID, sizeof said);
    ok(!split(SPLIT_COLUMN, 0.15, 0.15, 9, &in, &e) && strstr(e.what, "says \"train\"") &&
           !strstr(e.what, "0.15"),
       "no training row is one, and no share is to blame: %s", e.what);
}

/* Labels that are as good as names: the rows that the floors leave are many, and so are the classes
 * that lack them. Looking for each among all would take minutes. */
static void test_many_classes(void)
{
    enum { CLASSES = 200000, ROWS = 2 * CLASSES };
    struct err e = {0};
    struct split_options o = {.method = SPLIT_STRATIFIED, .valid = 0.15, .test = 0.1};
    int32_t *label = mem_alloc(ROWS, sizeof *label);
    uint8_t *parts = mem_zero(ROWS, 1), *train = mem_zero(CLASSES, 1);
    uint64_t count[PARTS] = {0}, without = 0;
    for (int i = 0; i < ROWS; i++)
        label[i] = i % CLASSES;
    struct split_input in = {.rows = ROWS, .label = label};
    ok(split_rows(&o, &in, parts, want, &e), "two rows of each of 200000 classes: %s", e.what);
    for (int i = 0; i < ROWS; i++) {
        count[parts[i]]++;
        train[label[i]] |= parts[i] == PART_TRAIN;
    }
    for (int c = 0; c < CLASSES; c++)
        without += !train[c];
    ok(count[PART_VALID] == 60000 && count[PART_TEST] == 40000 && without == 0,
       "exact sizes, and each keeps one to train on: %d %d, %d without", (int)count[PART_VALID],
       (int)count[PART_TEST], (int)without);
    mem_free(label);
    mem_free(parts);
    mem_free(train);
}

/* Samples of one to five records: each goes to one part, with all its records. */
static void test_samples(void)
{
    enum { RECORDS = 900 };
    static const int methods[] = {SPLIT_RANDOM, SPLIT_STRATIFIED, SPLIT_GROUP, SPLIT_TIME,
                                  SPLIT_HASH, SPLIT_COLUMN};
    static char name[] = "part";
    struct column column = {.name = name, .type = COLUMN_SPLIT};
    uint32_t split_column = 0;
    struct schema schema = {.task = TASK_MULTICLASS,
                            .columns = &column,
                            .column_count = 1,
                            .split_columns = &split_column,
                            .split_column_count = 1};
    struct dataset d = {.schema = &schema};
    uint64_t key[RECORDS], first[RECORDS + 1], n = 0;
    double time[RECORDS];
    uint8_t said[RECORDS];
    unsigned char *chunk = mem_zero(1024, 64);
    unsigned char *chunks[] = {chunk};
    d.rows = (struct rows){.format = rowfmt_make(1, 0), .chunks = chunks, .shift = 10};
    d.rows.count = RECORDS;
    d.rows_of[PART_TRAIN] = RECORDS;
    for (uint64_t i = 0; i < RECORDS; i++) {
        if (i == 0 || rng_bits(4, i, 0, 0, RNG_TEST) % 5 < 2 || i - first[n - 1] == 5)
            first[n++] = i;
        int32_t label = (int32_t)(n % 3);
        memcpy(rows_at(&d.rows, i) + d.rows.format.at_target, &label, sizeof label);
        key[i] = n / 2 + 1;
        time[i] = (double)i;
        said[i] = (uint8_t)(n % 10 == 0 ? PART_VALID : n % 10 == 1 ? PART_TEST : PART_TRAIN);
    }
    first[n] = RECORDS;
    d.samples = (struct samples){.count = n, .first = first};
    for (size_t m = 0; m < sizeof methods / sizeof *methods; m++) {
        struct split_options o = {.method = methods[m], .valid = 0.2, .test = 0.2, .seed = 5};
        struct remarks remarks = {0};
        struct rare rare;
        struct split s;
        struct err e = {0};
        d.key = methods[m] == SPLIT_GROUP || methods[m] == SPLIT_HASH ? key : NULL;
        d.time = methods[m] == SPLIT_TIME ? time : NULL;
        d.said = methods[m] == SPLIT_COLUMN ? said : NULL;
        bool good = split_make(&s, &d, &o, false, &rare, &remarks, &e), whole = good, apart = good;
        uint64_t met = 0, samples = 0;
        for (int p = PART_TRAIN; good && p < PARTS; p++) {
            uint64_t at = 0;
            samples += s.count[p];
            for (uint64_t i = 0; i < s.count[p]; i++)
                for (uint64_t r = first[s.index[p][i]]; r < first[s.index[p][i] + 1]; r++, met++)
                    whole &= at < s.record_count[p] && s.records[p][at++] == r;
            whole &= at == s.record_count[p] && at > 0;
        }
        for (uint64_t i = 1; good && i < n; i++) {
            apart &= methods[m] != SPLIT_GROUP || key[first[i]] != key[first[i - 1]] ||
                     s.part[i] == s.part[i - 1];
            apart &= methods[m] != SPLIT_TIME || s.part[i] >= s.part[i - 1];
        }
        ok(whole && apart && met == RECORDS && samples == n, "%s by sample: %d samples, %d records",
           split_method_names[methods[m]], (int)samples, (int)met);
        split_free(&s);
        remarks_free(&remarks);
    }
    mem_free(chunk);
}

int main(void)
{
    test_samples();
    test_random();
    test_fixed();
    test_stratified();
    test_group();
    test_giant_group();
    test_few_groups();
    test_time();
    test_hash();
    test_column();
    test_many_classes();
    return done();
}
