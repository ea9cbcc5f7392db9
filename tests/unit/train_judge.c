/* train_judge.c - the rows that judge a run under a time limit: samples in order, each part of the
 * larger ones, whole windows and sequences; parts of two runs that keep their common rows. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "tap.h"
#include "train/part.h"
#include "train/run/run.h"

enum { ROWS = 1000, WINDOW = 4, WINDOWS = 50 };

/* Places rise, and each answer is the one at its place in the whole list. */
static bool in_order(const struct judged *j, const struct row_list *all)
{
    bool good = j->of == all->count;
    for (uint64_t i = 0; i < j->list.count; i++)
        good = good && j->at[i] < all->count && (!i || j->at[i - 1] < j->at[i]) &&
               j->list.index[i] == all->index[j->at[i]];
    return good;
}

static bool within(const struct judged *small, const struct judged *large)
{
    uint64_t k = 0;
    for (uint64_t i = 0; i < small->list.count; i++) {
        while (k < large->list.count && large->at[k] < small->at[i])
            k++;
        if (k == large->list.count || large->at[k] != small->at[i])
            return false;
    }
    return true;
}

static void test_rows(void)
{
    uint32_t index[ROWS];
    struct row_list all = {.index = index, .count = ROWS};
    struct judged j[3], other;
    const uint64_t wish[] = {1, 100, 999};
    bool good = true, nested = true;
    for (uint32_t i = 0; i < ROWS; i++)
        index[i] = 3 * i + 7;
    for (int k = 0; k < 3; k++) {
        judged_draw(&j[k], &all, wish[k], 5);
        good = good && j[k].list.count == wish[k] && in_order(&j[k], &all);
        nested = nested && (!k || within(&j[k - 1], &j[k]));
    }
    ok(good, "so many rows, in their order");
    ok(nested, "a smaller sample is part of a larger one");
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 100; i++)
        sum += j[1].at[i];
    ok(sum > 100 * 400 && sum < 100 * 600, "from all over the list: mean place %llu of 1000",
       (unsigned long long)sum / 100);
    judged_draw(&other, &all, 100, 6);
    ok(memcmp(other.at, j[1].at, 100 * sizeof *other.at) != 0, "another seed draws others");
    judged_free(&other);
    for (int k = 0; k < 3; k++)
        judged_free(&j[k]);
}

/* Windows of four records. each: all but the first of a window have an answer. begins: state passes
 * through five windows. */
static void test_windows(bool each, bool begins)
{
    uint32_t windows[WINDOWS * WINDOW], first[WINDOWS], index[WINDOWS * WINDOW];
    struct row_list all = {.index = index, .windows = windows, .begins = begins ? first : NULL,
                           .window_count = WINDOWS, .window = WINDOW, .each = each};
    for (uint32_t w = 0; w < WINDOWS; w++) {
        first[w] = w % 5 == 0;
        for (uint32_t i = 0; i < WINDOW; i++) {
            windows[w * WINDOW + i] = w * WINDOW + i;
            if (each ? i > 0 : i == WINDOW - 1)
                index[all.count++] = w * WINDOW + i;
        }
    }
    struct judged j;
    judged_draw(&j, &all, 10, 1);
    const uint64_t answers = each ? 3 : 1, unit = begins ? 5 : 1;
    bool good = in_order(&j, &all) && j.list.window == WINDOW && j.list.each == each &&
                j.list.count == j.list.window_count * answers && j.list.count >= 10 &&
                j.list.count < 10 + unit * answers && j.list.window_count % unit == 0;
    for (uint64_t w = 0; w < j.list.window_count; w++) {
        const uint32_t at = j.list.windows[w * WINDOW];
        good = good && at % WINDOW == 0 && j.list.windows[w * WINDOW + 3] == at + 3 &&
               j.list.index[(w + 1) * answers - 1] == at + 3 &&
               (!begins || (j.list.begins[w] == (w % 5 == 0) && (at / WINDOW) % 5 == w % 5));
    }
    ok(good, "windows, %s%s: %llu answers, of whole ones", each ? "three each" : "one each",
       begins ? ", state passes" : "", (unsigned long long)j.list.count);
    judged_free(&j);
}

static struct part_rows make_part(const uint64_t *at, uint64_t count, uint64_t of)
{
    struct part_rows r = {.count = count, .of = of};
    r.at = at ? mem_copy(at, count * sizeof *at) : NULL;
    r.weight = mem_alloc(count, sizeof *r.weight);
    r.label = mem_alloc(count, sizeof *r.label);
    r.logits = mem_alloc(2 * count, sizeof *r.logits);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t row = at ? at[i] : i;
        r.weight[i] = (float)row;
        r.label[i] = (int32_t)row;
        r.logits[2 * i] = r.logits[2 * i + 1] = (real)row;
    }
    return r;
}

static void test_common(void)
{
    const uint64_t two[] = {1, 4}, three[] = {1, 3, 4}, off[] = {1, 2, 3};
    struct part_rows as = make_part(two, 2, 6), all = make_part(NULL, 6, 0),
                     some = make_part(three, 3, 6), others = make_part(off, 3, 6);
    struct err e = {0};
    ok(part_rows_keep(&all, &as, 2, &e) && part_rows_keep(&some, &as, 2, &e) && all.count == 2 &&
           some.count == 2 && all.label[0] == 1 && all.label[1] == 4 && some.label[1] == 4 &&
           all.logits[3] > 3 && all.logits[3] < 5 && some.weight[1] > 3 && all.of == 6,
       "parts keep the rows that both have answered");
    ok(!part_rows_keep(&others, &as, 2, &e) && e.id == ERR_CHECKPOINT_OTHER,
       "no common sample: CHECKPOINT_OTHER");
    ok(part_rows_all(&all) == 6 && part_rows_all(&as) == 6, "all rows are known");
    part_rows_free(&as);
    part_rows_free(&all);
    part_rows_free(&some);
    part_rows_free(&others);
}

/* Of so many validation rows one has label 1. */
enum { VALID = 20000, MORE = 2900, LESS = 2450 };
static void set_labels(const struct row_list *valid, uint64_t seed, const struct rows *rows)
{
    struct judged more, less;
    judged_draw(&more, valid, MORE, seed);
    judged_draw(&less, valid, LESS, seed);
    uint64_t rare = 0;
    while (rare < LESS && more.at[rare] == less.at[rare])
        rare++;
    for (uint32_t i = 0; i < VALID; i++) {
        const int32_t label = i == more.at[rare];
        memcpy(rows_at(rows, i) + rows->format.at_target, &label, sizeof label);
    }
    judged_free(&more);
    judged_free(&less);
}

/* Judges with so many seconds left. Returns the rows that do. */
static uint64_t judge_in(struct run *r, double seconds)
{
    const double limit = r->config->train.time_limit_s;
    r->began = clock_now();
    r->used = limit * 1.02 + 0.5 - seconds;
    run_judge_end(r);
    return r->list[PART_VALID].count;
}

/* A metric with a value on the sample, but on none that is smaller. */
static void test_least(void)
{
    struct config c = {.train.time_limit_s = 1000, .data.split.seed = 3};
    struct schema s = {.task = TASK_BINARY};
    struct encoder of = {.schema = &s};
    struct features f = {.outputs = 2};
    uint32_t *index = mem_alloc(VALID, sizeof *index);
    unsigned char *records = mem_zero(VALID, rowfmt_make(0, 0).stride);
    for (uint32_t i = 0; i < VALID; i++)
        index[i] = i;
    const struct rows rows = {rowfmt_make(0, 0), &records, 20, VALID};
    const struct loss_options loss = {.kind = LOSS_CROSS_ENTROPY};
    const double counts[] = {0.5, 0.5};
    struct run r = {.config = &c, .features = &f, .row_seconds = 0.01,
                    .list[PART_VALID] = {.index = index, .count = VALID}};
    r.history.metric = metric_find("auc", TASK_BINARY);
    r.score = (struct score_job){.loss = &loss, .encoder = &of, .features = &f, .rows = rows,
                                 .class_counts = counts, .list[PART_VALID] = r.list[PART_VALID]};
    set_labels(&r.list[PART_VALID], c.data.split.seed, &rows);
    const uint64_t first = judge_in(&r, 60), then = judge_in(&r, 12);
    ok(first > MORE && first < 3100, "a sample that the time is enough for: %llu",
       (unsigned long long)first);
    ok(then == first, "a metric has no value on fewer: these go on judging, not all rows: %llu",
       (unsigned long long)then);
    judged_free(&r.judged[PART_VALID]);
    mem_free(index);
    mem_free(records);
}

int main(void)
{
    test_rows();
    test_windows(false, false);
    test_windows(false, true);
    test_windows(true, false);
    test_windows(true, true);
    test_common();
    test_least();
    return done();
}
