/* split.c - the six methods of a split. Their inputs: split_make.c. */
#include "table/split/split.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "base/process/thread.h"
#include "table/split/deal.h"
#include "table/split/shares.h"
#include "table/schema/vocab.h"

/* Gives each requested part at least one row, and leaves at least one for training. */
static void sizes(struct shares *s)
{
    const double fractions[PARTS] = {[PART_VALID] = s->valid, [PART_TEST] = s->test};
    uint32_t left = s->count ? s->count - 1 : 0;
    for (int p = PART_VALID; p < PARTS; p++) { /* validation first: it selects the best epoch */
        uint32_t rows = (uint32_t)llround(fractions[p] * s->count);
        uint32_t most = left - (p == PART_VALID && s->test > 0 && left > 1);
        rows = rows == 0 && fractions[p] > 0 ? 1 : rows;
        s->want[p] = rows < most ? rows : most;
        left -= s->want[p];
    }
    s->want[PART_TRAIN] = s->count ? left + 1 : 0;
}

/* --- random and stratified --- */

static uint8_t part_of(uint32_t place, uint32_t valid, uint32_t test)
{
    return place < valid ? PART_VALID : place < valid + test ? PART_TEST : PART_TRAIN;
}

#define TILE_ROWS 16384u

static unsigned tiles_of(const struct shares *s)
{
    return (s->count + TILE_ROWS - 1) / TILE_ROWS;
}

static uint32_t tile_end(const struct shares *s, unsigned tile)
{
    uint32_t from = tile * TILE_ROWS;
    return s->count - from < TILE_ROWS ? s->count : from + TILE_ROWS;
}

static void random_tile(void *context, unsigned tile, unsigned thread)
{
    const struct shares *s = context;
    (void)thread;
    for (uint32_t i = tile * TILE_ROWS, end = tile_end(s, tile); i < end; i++)
        s->part[s->rows[i]] = part_of(rng_permute(s->seed, SPLIT_STREAM, 0, s->count, i),
                                      s->want[PART_VALID], s->want[PART_TEST]);
}

static void split_random(struct shares *s)
{
    threads_run(tiles_of(s), random_tile, s);
}

struct claim {
    double lacking; /* rows */
    uint32_t class;
};

static int by_lacking(const void *one, const void *other, const void *context)
{
    (void)context;
    const struct claim *a = one, *b = other;
    return a->lacking > b->lacking ? -1 : a->lacking < b->lacking;
}

/* Divides `total` among classes by their rows: floors first, then one row at a time to the largest
 * remainder (a tie: the first). Every class keeps a row, so the sum may be smaller. */
static void share_out(const uint32_t *rows, uint32_t classes, uint32_t total, uint32_t *share)
{
    uint64_t all = 0, given = 0;
    for (uint32_t c = 0; c < classes; c++)
        all += rows[c];
    for (uint32_t c = 0; c < classes; c++) {
        uint32_t room = rows[c] ? rows[c] - 1 : 0;
        uint32_t exact = all ? (uint32_t)((uint64_t)rows[c] * total / all) : 0;
        share[c] = exact < room ? exact : room;
        given += share[c];
    }
    if (given == total)
        return;
    struct claim *claims = mem_alloc(classes, sizeof *claims);
    for (uint32_t c = 0; c < classes; c++)
        claims[c] = (struct claim){(double)rows[c] * total / (double)all - share[c], c};
    sort_stable(claims, classes, sizeof *claims, by_lacking, NULL);
    /* A remainder is between 0 and 1: after one more row it is the last. */
    for (bool any = true; any && given < total;) {
        any = false;
        for (uint32_t i = 0; i < classes && given < total; i++) {
            uint32_t c = claims[i].class;
            if (share[c] + 1 < rows[c]) {
                share[c]++;
                given++;
                any = true;
            }
        }
    }
    mem_free(claims);
}

/* Rows without a label are one class, the first. */
static uint32_t class_of(const struct shares *s, uint32_t i)
{
    int32_t label = s->in->label[s->rows[i]];
    return label < 0 ? 0 : (uint32_t)label + 1;
}

struct strata {
    const struct shares *shares;
    uint32_t classes;
    uint32_t *met;   /* [tiles][classes]: counts, then rows of the class before the tile */
    uint32_t *rows, *valid, *test, *half; /* [classes]; half: rng_half(rows) */
    deal_fn *deal;
};

static void count_tile(void *context, unsigned tile, unsigned thread)
{
    const struct strata *a = context;
    uint32_t *met = a->met + (size_t)tile * a->classes;
    (void)thread;
    for (uint32_t i = tile * TILE_ROWS, end = tile_end(a->shares, tile); i < end; i++)
        met[class_of(a->shares, i)]++;
}

static void deal_tile(void *context, unsigned tile, unsigned thread)
{
    const struct strata *a = context;
    const struct shares *s = a->shares;
    uint32_t *met = a->met + (size_t)tile * a->classes;
    (void)thread;
    struct deal d;
    uint32_t place[DEAL_ROWS];
    for (uint32_t i = tile * TILE_ROWS, end = tile_end(s, tile); i < end;) {
        uint32_t count = end - i < DEAL_ROWS ? end - i : DEAL_ROWS;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t c = d.class[k] = class_of(s, i + k);
            d.x[k] = met[c]++;
            d.rows[k] = a->rows[c];
            d.half[k] = a->half[c];
        }
        a->deal(&d, s->seed, SPLIT_STREAM, count, place);
        for (uint32_t k = 0; k < count; k++, i++) {
            uint32_t c = class_of(s, i);
            s->part[s->rows[i]] = part_of(place[k], a->valid[c], a->test[c]);
        }
    }
}

static uint32_t class_end(const struct shares *s)
{
    uint32_t classes = 1;
    for (uint32_t i = 0; i < s->count; i++)
        classes = class_of(s, i) >= classes ? class_of(s, i) + 1 : classes;
    return classes;
}

/* Many classes: tiles run one after another with one array of counts, to save memory. */
#define STRATA_MOST 1024u

static void split_stratified(struct shares *s)
{
    uint32_t classes = class_end(s), tiles = tiles_of(s), *total;
    bool alone = classes > STRATA_MOST;
    struct strata a = {.shares = s, .classes = classes};
    a.met = mem_zero((size_t)(alone ? 1 : tiles + 1) * classes, sizeof *a.met);
    a.rows = total = mem_zero(classes, sizeof *a.rows);
    a.half = mem_alloc(classes, sizeof *a.half);
    a.deal = deal_choose();
    a.valid = mem_zero(classes, sizeof *a.valid);
    a.test = mem_zero(classes, sizeof *a.test);
    if (alone)
        for (uint32_t i = 0; i < s->count; i++)
            total[class_of(s, i)]++;
    else
        threads_run(tiles, count_tile, &a);
    for (uint32_t t = 0; t < tiles && !alone; t++)
        for (uint32_t c = 0; c < classes; c++) {
            uint32_t *met = &a.met[(size_t)t * classes + c], here = *met;
            *met = total[c];
            total[c] += here;
        }
    for (uint32_t c = 0; c < classes; c++)
        a.half[c] = rng_half(total[c]);
    share_out(a.rows, classes, s->want[PART_VALID], a.valid);
    uint32_t *left = mem_zero(classes, sizeof *left);
    for (uint32_t c = 0; c < classes; c++)
        left[c] = a.rows[c] - a.valid[c];
    share_out(left, classes, s->want[PART_TEST], a.test);
    if (alone)
        for (uint32_t i = 0; i < s->count; i++) {
            uint32_t c = class_of(s, i);
            uint32_t place = rng_permute(s->seed, SPLIT_STREAM, c, a.rows[c], a.met[c]++);
            s->part[s->rows[i]] = part_of(place, a.valid[c], a.test[c]);
        }
    else
        threads_run(tiles, deal_tile, &a);
    mem_free(left);
    mem_free(a.met);
    mem_free(a.rows);
    mem_free(a.half);
    mem_free(a.valid);
    mem_free(a.test);
}

/* --- time --- */

static int by_time(const void *one, const void *other, const void *context)
{
    const double *time = context;
    double a = time[*(const uint32_t *)one], b = time[*(const uint32_t *)other];
    return a < b ? -1 : a > b;
}

/* Returns the cut nearest to `at`, from the first one on and below `end`. */
static uint32_t nearest(const uint32_t *cuts, uint32_t end, double at)
{
    uint32_t best = cuts[0];
    for (uint32_t i = 1; cuts[i] < end; i++)
        if (fabs(cuts[i] - at) < fabs(best - at))
            best = cuts[i];
    return best;
}

static bool split_time(struct shares *s, struct err *e)
{
    const double *time = s->in->time;
    for (uint32_t i = 0; i < s->count; i++)
        if (time[s->rows[i]] != time[s->rows[i]])
            return err_set(e, ERR_SPLIT_TIME, "data row %u has no time", s->rows[i] + 1) ||
                   err_help(e, "fill the cell, or choose another split.method");
    uint32_t *order = mem_copy(s->rows, (size_t)s->count * sizeof *order + !s->count);
    sort_stable(order, s->count, sizeof *order, by_time, time);
    /* rows of one time stay together: cuts are between two times and after the last */
    uint32_t *cuts = mem_alloc((size_t)s->count + 1, sizeof *cuts);
    s->moments = 0;
    for (uint32_t i = 1; i <= s->count; i++)
        if (i == s->count || time[order[i - 1]] < time[order[i]])
            cuts[s->moments++] = i;
    uint32_t test = s->count, valid = s->count;
    if (s->moments >= parts_wanted(s)) { /* enough times for each part */
        const uint32_t *want = s->want;
        if (want[PART_TEST])
            test = nearest(cuts + (want[PART_VALID] > 0), s->count, test - (double)want[PART_TEST]);
        valid = want[PART_VALID] ? nearest(cuts, test, test - (double)want[PART_VALID]) : test;
    }
    for (uint32_t i = 0; i < s->count; i++)
        s->part[order[i]] = i < valid ? PART_TRAIN : i < test ? PART_VALID : PART_TEST;
    mem_free(order);
    mem_free(cuts);
    return true;
}

/* --- hash --- */

/* Maps the key to [0, 1): below `test` is test, then validation. A row keeps its part as the file
 * grows. */
static void split_hash(const struct shares *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        uint64_t key = s->in->key[s->rows[i]];
        uint64_t hash = rng_hash(&key, sizeof key, s->seed ^ SPLIT_STREAM);
        double place = (double)(hash >> 11) * 0x1p-53;
        s->part[s->rows[i]] = place < s->test             ? PART_TEST
                              : place < s->test + s->valid ? PART_VALID
                                                           : PART_TRAIN;
    }
}

/* --- split_rows --- */

static uint32_t count_keys(const struct shares *s)
{
    struct vocab *keys = vocab_new();
    for (uint32_t i = 0; i < s->count; i++)
        vocab_add(keys, (const char *)&s->in->key[s->rows[i]], sizeof *s->in->key);
    uint32_t count = vocab_count(keys);
    vocab_free(keys);
    return count;
}

static uint32_t count_classes(const struct shares *s)
{
    uint32_t most = 0, count = 0;
    for (uint32_t i = 0; i < s->count; i++)
        most = class_of(s, i) > most ? class_of(s, i) : most;
    uint8_t *met = mem_zero((size_t)most + 1, 1);
    for (uint32_t i = 0; i < s->count; i++) {
        count += !met[class_of(s, i)];
        met[class_of(s, i)] = 1;
    }
    mem_free(met);
    return count;
}

/* Explains an empty part by the rows that the method keeps together. False: that is not the
 * reason. */
static bool kept_together(const struct shares *s, const struct split_options *o, struct err *e)
{
    uint32_t classes = o->method == SPLIT_STRATIFIED ? count_classes(s) : 0;
    if (s->count < 3)
        return false;
    if (classes * 2 > s->count)
        err_help(e,
                 "the target has %u classes in %u rows, and each keeps a row to train on: if it "
                 "is a number, set \"task\" to \"regression\", and mend its cells",
                 classes, s->count);
    else if (o->method == SPLIT_TIME && s->moments < parts_wanted(s))
        err_help(e, s->moments == 1
                        ? "all rows have the same time, and rows of one time stay together: choose "
                          "another split.method or column"
                        : "the rows have two times, and rows of one time stay together: choose "
                          "another split.method or column, or do without a part");
    else if (o->method == SPLIT_GROUP && count_keys(s) < parts_wanted(s))
        err_help(e, "the rows are of %u group%s, and a group stays together: choose another "
                 "split.method or column", count_keys(s), count_keys(s) == 1 ? "" : "s");
    else
        return false;
    return true;
}

static bool check_parts(const struct shares *s, const struct split_options *o, uint64_t rows,
                        struct err *e)
{
    static const char *const keys[PARTS] = {"", "split.valid", "split.test"};
    const double want[PARTS] = {1, s->valid, s->test};
    uint64_t have[PARTS] = {0};
    for (uint64_t i = 0; i < rows; i++)
        have[s->part[i]]++;
    for (int p = PART_TRAIN; p < PARTS; p++) {
        if (have[p] || !(want[p] > 0) || (p != PART_TRAIN && o->method == SPLIT_COLUMN))
            continue;
        if (o->method == SPLIT_COLUMN)
            return err_set(e, ERR_SPLIT_EMPTY, "no row says \"train\" in the column that "
                                               "data.split.column names");
        err_set(e, ERR_SPLIT_EMPTY,
                "the split of %u rows (method %s, valid %g, test %g) leaves no %s rows", s->count,
                split_method_names[o->method], s->valid, s->test, part_names[p]);
        if (p != PART_TRAIN)
            err_key(e, "data.%s", keys[p]);
        if (kept_together(s, o, e))
            return false;
        if (p == PART_TRAIN)
            return err_help(e, "give more rows, or smaller fractions");
        if (p == PART_VALID && want[PART_TEST] > 0 && !have[PART_TEST]) /* test would be the next
                                                                         * empty part */
            return err_help(e, "set %s and %s to 0, or give more rows", keys[p], keys[PART_TEST]);
        return err_help(e, "set %s to 0, or give more rows", keys[p]);
    }
    return true;
}

bool split_rows(const struct split_options *o, const struct split_input *in, uint8_t *part,
                uint32_t want[PARTS], struct err *e)
{
    assert(in->rows < UINT32_MAX);
    struct shares s = {.in = in, .seed = o->seed, .part = part, .want = want,
                       .valid = o->valid, .test = o->test};
    s.rows = mem_alloc(in->rows + 1, sizeof *s.rows);
    for (uint64_t i = 0; i < in->rows; i++) {
        uint8_t fixed = in->fixed ? in->fixed[i] : 0;
        if (fixed == PART_VALID + 1)
            s.valid = 0;
        if (fixed == PART_TEST + 1)
            s.test = 0;
        if (fixed)
            part[i] = (uint8_t)(fixed - 1);
        else
            s.rows[s.count++] = (uint32_t)i;
    }
    sizes(&s);
    bool good = true;
    switch ((enum split_method)o->method) {
    case SPLIT_RANDOM: split_random(&s); break;
    case SPLIT_STRATIFIED: split_stratified(&s); break;
    case SPLIT_GROUP: split_group(&s); break;
    case SPLIT_TIME: good = split_time(&s, e); break;
    case SPLIT_HASH: split_hash(&s); break;
    case SPLIT_COLUMN:
        for (uint32_t i = 0; i < s.count; i++)
            part[s.rows[i]] = in->said[s.rows[i]];
        break;
    }
    good = good && check_parts(&s, o, in->rows, e);
    mem_free(s.rows);
    return good;
}
