/* A network at work: run once plainly, recorded at the second time, played from then on, each
 * function and shape by itself; the results are the same in every way. On a machine that issues
 * every routine again and compares. */
#include "base/thread.h"
#include "listing.h"
#include "netcase.h"
#include "run/step.h"
#include "tap.h"

static struct netcase small(void)
{
    return (struct netcase){
        .backend = "listing",
        .model = "{\"layers\": [{\"type\": \"dense\", \"units\": 16}, {\"type\": \"batch_norm\"}, "
                 "{\"type\": \"relu\"}, {\"type\": \"dropout\", \"p\": 0.1}]}",
        .numbers = 4,
        .outputs = 2,
        .rows = 64,
        .micro = 1,
        .count = 640,
        .seed = 5,
        .shuffle = true};
}

static void opened(struct netcase *c)
{
    *c = small();
    ok(case_make(c), "made");
    case_fill(c);
    ok(case_open(c), "opened");
    ok(network_epoch(c->network, 0, &(struct hyper){0.01, 0}, 1, &c->e), "an epoch");
}

static void counts_are(struct machine *m, uint64_t routines, uint64_t plays, const char *name)
{
    struct machine_counts counts;
    machine_count(m, &counts);
    ok(counts.routines == routines && counts.plays == plays, "%s: %llu routines, %llu plays", name,
       (unsigned long long)counts.routines, (unsigned long long)counts.plays);
}

static void steps(void)
{
    struct netcase a, b;
    opened(&a);
    opened(&b);
    struct stepper *s = step_open(a.network, a.machine), *t = step_open(b.network, b.machine);
    ok(step_train(s, 1, &a.e), "a step");
    counts_are(a.machine, 0, 0, "the first step runs plainly");
    struct machine_counts first;
    machine_count(a.machine, &first);
    ok(first.operations > 8, "in %llu operations", (unsigned long long)first.operations);
    ok(step_train(s, 1, &a.e), "the second");
    counts_are(a.machine, 1, 1, "the second is recorded");
    ok(step_train(s, 5, &a.e) && step_train(s, 3, &a.e), "the next eight");
    counts_are(a.machine, 1, 3, "and played");
    ok(step_train(t, 10, &b.e), "ten steps at once");
    counts_are(b.machine, 1, 1, "one plainly, nine in one play");
    network_get(a.network, &a.state, &a.e);
    network_get(b.network, &b.state, &b.e);
    const struct model *m = network_model(a.network);
    ok(memcmp(a.state.params, b.state.params, m->params * sizeof(real)) == 0 &&
           memcmp(&a.state.now, &b.state.now, sizeof a.state.now) == 0,
       "the same bytes");
    step_close(s);
    step_close(t);
    case_close(&a);
    case_close(&b);
}

static void answers(void)
{
    struct netcase c;
    opened(&c);
    struct stepper *s = step_open(c.network, c.machine);
    real *logits[4];
    for (int i = 0; i < 4; i++) {
        logits[i] = mem_alloc(640 * 2, sizeof *logits[i]);
        ok(step_answer(s, &c.source, 0, 640, logits[i], &c.e), "answers");
        ok(i == 0 || memcmp(logits[i], logits[0], 640 * 2 * sizeof(real)) == 0, "are the same");
    }
    /* 640 rows are batches of 512, 64 and 64 */
    struct machine_counts before, after;
    machine_count(c.machine, &before);
    ok(before.routines == 2, "a routine for each shape: %llu",
       (unsigned long long)before.routines);
    ok(step_answer(s, &c.source, 600, 3, logits[1], &c.e) &&
           memcmp(logits[1], logits[0] + 600 * 2, 3 * 2 * sizeof(real)) == 0,
       "three rows by themselves");
    ok(step_train(s, 2, &c.e) && step_answer(s, &c.source, 0, 640, logits[2], &c.e) &&
           memcmp(logits[2], logits[0], 640 * 2 * sizeof(real)) != 0,
       "other weights, other answers, the same routines");
    machine_count(c.machine, &after);
    ok(after.routines <= before.routines + 2, "nothing is recorded twice");
    for (int i = 0; i < 4; i++)
        mem_free(logits[i]);
    step_close(s);
    case_close(&c);
}

int main(void)
{
    listing_register();
    threads_start(2);
    uint64_t before = mem_in_use();
    steps();
    answers();
    ok(listing_compared > 5, "%llu plays were compared", (unsigned long long)listing_compared);
    is_int((int64_t)mem_in_use(), (int64_t)before, "everything is given back");
    threads_stop();
    return done();
}
