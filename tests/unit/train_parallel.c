/* train_parallel.c - items side by side: each is done once, in order of the turns; the first error
 * and a signal end all. */
#include "train/parallel.h"

#include <string.h>

#include "tap.h"

enum { ITEMS = 40 };

struct shared {
    struct parallel_jobs *jobs;
    uint32_t asked, done[ITEMS], least;
    int broken, stopping; /* items that fail and stop; -1: none */
    uint32_t last;        /* items from here on are left */
};

static enum parallel_turn turn(void *owner, uint32_t item)
{
    struct shared *s = owner;
    s->asked += item >= s->least;
    s->least = item;
    return item >= s->last ? PARALLEL_END : item % 4 == 3 ? PARALLEL_PASS : PARALLEL_DO;
}

static bool work(void *owner, uint32_t item, struct machine *m, struct err *e)
{
    struct shared *s = owner;
    parallel_lock(s->jobs);
    s->done[item] += m != NULL;
    parallel_unlock(s->jobs);
    if ((int)item == s->broken)
        return err_set(e, ERR_BUG, "item %u", item);
    return (int)item != s->stopping;
}

static bool run(struct shared *s, uint32_t threads, struct err *e)
{
    struct parallel_jobs jobs = {
        .owner = s, .count = ITEMS, .threads = threads, .turn = turn, .work = work};
    s->jobs = &jobs;
    return parallel_run(&jobs, e);
}

static uint32_t count_done(const struct shared *s, uint32_t from, uint32_t to)
{
    uint32_t count = 0;
    for (uint32_t i = from; i < to; i++)
        count += s->done[i];
    return count;
}

static void foretell(void)
{
    static const double each[] = {4, 1, 1, 1, 5};
    const double all[] = {parallel_seconds(each, 5, 1), parallel_seconds(each, 5, 2),
                          parallel_seconds(each, 5, 3), parallel_seconds(each, 5, 9)};
    ok(all[0] == 12 && all[1] == 8 && all[2] == 6 && all[3] == 5,
       "seconds of 1, 2, 3 and 9 at a time: %g, %g, %g, %g", all[0], all[1], all[2], all[3]);
}

int main(void)
{
    foretell();
    for (uint32_t threads = 0; threads < 5; threads += 2) {
        struct err e = {0};
        struct shared s = {.broken = -1, .stopping = -1, .last = ITEMS};
        bool good = run(&s, threads, &e);
        uint32_t wrong = 0;
        for (uint32_t i = 0; i < ITEMS; i++)
            wrong += s.done[i] != (i % 4 != 3);
        ok(good && e.id == ERR_NONE && !wrong, "each item is done once, those passed over never");
        ok(s.asked == ITEMS, "turns are asked in order");

        s = (struct shared){.broken = -1, .stopping = -1, .last = 10};
        ok(run(&s, threads, &e) && count_done(&s, 0, 10) == 8 && !count_done(&s, 10, ITEMS),
           "none is done behind the end");

        s = (struct shared){.broken = 5, .stopping = -1, .last = ITEMS};
        good = run(&s, threads, &e);
        ok(!good && e.id == ERR_BUG && strcmp(e.what, "item 5") == 0, "the first error comes back");
        ok(threads > 1 || count_done(&s, 0, ITEMS) == 5, "and ends the others");

        err_clear(&e);
        s = (struct shared){.broken = -1, .stopping = 6, .last = ITEMS};
        good = run(&s, threads, &e);
        ok(!good && e.id == ERR_NONE && s.done[6] == 1, "a signal ends all without an error");
    }
    return done();
}
