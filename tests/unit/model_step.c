/* A network at work: run once plainly, recorded at the second time, played from then on, each
 * function and shape by itself; the results are the same in every way. On a machine that issues
 * every routine again and compares. */
#include "backend/machine.h"
#include "base/process/thread.h"
#include "listing.h"
#include "model/network/step.h"
#include "netcase.h"
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
    ok(case_ready(c), "opened");
    ok(network_epoch(c->network, 0, &(struct hyper){0.01, 0, 0}, 1, &c->e), "an epoch");
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

/* Asked to stop at the Nth question, from whichever thread it comes. */
static _Atomic int questions;
static bool stop_now(void)
{
    return --questions <= 0;
}

static bool same_state(struct netcase *a, const struct netcase *b)
{
    const struct model *m = network_model(a->network);
    network_get(a->network, &a->state, &a->e);
    return memcmp(a->state.params, b->state.params, m->params * sizeof(real)) == 0 &&
           memcmp(a->state.buffers, b->state.buffers, m->buffers * sizeof(real)) == 0 &&
           memcmp(a->state.m1, b->state.m1, m->params * sizeof(real)) == 0 &&
           memcmp(a->state.m2, b->state.m2, m->params * sizeof(real)) == 0;
}

/* A machine of the host is asked between strips, a device between the parts of a step that may be
 * long. What is left is the state of a whole step: the others go on from it to the same bytes. */
static void stopped(const char *backend)
{
    enum { STEPS = 4 };
    struct netcase whole[STEPS + 1], c;
    uint32_t ends = 0, inside = 0, good = 0;
    for (int i = 0; i <= STEPS; i++) {
        whole[i] = small();
        whole[i].backend = backend;
        whole[i].micro = 3;
        case_ready(&whole[i]);
        network_epoch(whole[i].network, 0, &(struct hyper){0.01, 0, 0}, 1, &whole[i].e);
        struct stepper *s = step_open(whole[i].network, whole[i].machine);
        step_train(s, (uint32_t)i, &whole[i].e);
        network_get(whole[i].network, &whole[i].state, &whole[i].e);
        step_close(s);
    }
    for (int n = 1; n <= 60; n++) {
        c = small();
        c.backend = backend;
        c.micro = 3;
        case_ready(&c);
        network_epoch(c.network, 0, &(struct hyper){0.01, 0, 0}, 1, &c.e);
        struct stepper *s = step_open(c.network, c.machine);
        questions = n;
        step_stop_when(s, stop_now);
        bool all = step_train(s, STEPS, &c.e);
        network_get(c.network, &c.state, &c.e);
        int64_t tried = c.state.now.tried;
        ends += !all && c.e.id == ERR_NONE;
        inside += tried > 0 && tried < STEPS;
        good += tried >= 0 && tried <= STEPS && same_state(&c, &whole[tried]);
        step_stop_when(s, NULL);
        good += step_train(s, (uint32_t)(STEPS - tried), &c.e) && same_state(&c, &whole[STEPS]);
        step_close(s);
        case_close(&c);
    }
    ok(good == 120, "%s: the state of a whole step, and from there the same bytes", backend);
    ok(ends >= 4, "%s: ended at %u moments, %u behind the first step", backend, ends, inside);
    for (int i = 0; i <= STEPS; i++)
        case_close(&whole[i]);
}

/* Answers that stay on the device are queued without a wait, though not all of them at once:
 * between two parts it is asked, and what comes of all parts does not depend on how often. */
static void many_answers(void)
{
    struct netcase c = small();
    struct answers what = {.measure = MEASURE_CLASS}, again = what, none = what;
    c.backend = "device";
    c.count = 2 * STEP_ASKED + 1000;
    c.answers = c.count + 1;
    ok(case_ready(&c) && network_room(c.network) > 0, "a machine that keeps answers");
    struct stepper *s = step_open(c.network, c.machine);
    ok(step_measure(s, &c.source, 0, c.count, &what, NULL, &c.e), "nobody asks: all are measured");
    step_stop_when(s, stop_now);
    questions = 1000;
    ok(step_measure(s, &c.source, 0, c.count, &again, NULL, &c.e) && questions == 998,
       "three parts, asked twice");
    ok(memcmp(&what.sum, &again.sum, sizeof what.sum) == 0, "the same sum");
    questions = 1;
    ok(!step_measure(s, &c.source, 0, c.count, &none, NULL, &c.e) && c.e.id == ERR_NONE &&
           questions == 0,
       "asked to stop, it ends with the first part, without an error");
    real *logits = mem_alloc(c.count * 2, sizeof *logits);
    questions = 2;
    ok(!step_answer(s, &c.source, 0, c.count, logits, &c.e) && c.e.id == ERR_NONE &&
           questions == 0,
       "and with the second, where logits are wanted");
    mem_free(logits);
    step_close(s);
    case_close(&c);
}

int main(void)
{
    static struct machine_type device;
    device = machine_cpu;
    device.name = "device";
    device.in_place = false;
    device.interrupt = NULL;
    device.broken_off = NULL;
    machine_register(&device);
    listing_register();
    threads_start(2);
    uint64_t before = mem_in_use();
    steps();
    answers();
    stopped("cpu");
    stopped("device");
    many_answers();
    ok(listing_compared > 5, "%llu plays were compared", (unsigned long long)listing_compared);
    is_int((int64_t)mem_in_use(), (int64_t)before, "everything is given back");
    threads_stop();
    return done();
}
