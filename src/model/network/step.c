/* step.c - see step.h. */
#include "model/network/step.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/process/profile.h"
#include "model/network/lanes.h"

enum { ROUTINES_MOST = 64, PLAYS_MEASURED = 8 };
/* A device hangs if it takes TIMES_SLOWER times as long as the slowest of the first plays, and at
 * least HANGS_LEAST seconds. */
static const double TIMES_SLOWER = 50, HANGS_LEAST = 10;
/* A device computes a step of this many seconds in parts, and is asked in between. */
static const double STEP_LONG = 0.5;

struct stepper {
    struct network *network;
    struct machine *machine;
    uint32_t traced; /* steps */
    bool (*stop)(void);
    double part_by_part; /* seconds that the last step took which was issued so; 0: none was */
    struct entry {
        machine_issuer *issuer; /* the key: function, argument, steps of sequences */
        void *context;
        uint32_t most;
        bool seen; /* it has been run once */
        struct routine *routine;
        uint32_t measured; /* plays */
        double slowest;    /* seconds of a round in these plays */
    } entries[ROUTINES_MOST];
};

struct stepper *step_open(struct network *n, struct machine *m)
{
    struct stepper *s = mem_zero(1, sizeof *s);
    s->network = n;
    s->machine = m;
    return s;
}

void step_stop_when(struct stepper *s, bool (*stop)(void))
{
    s->stop = stop;
}

bool step_path(const struct stepper *s, bool answers, struct machine_path *path)
{
    machine_issuer *issuer = answers ? network_issue_answer : network_issue_step;
    for (unsigned i = 0; i < ROUTINES_MOST; i++)
        if (s->entries[i].routine && s->entries[i].issuer == issuer)
            return machine_path_of(s->entries[i].routine, path);
    return false;
}

void step_close(struct stepper *s)
{
    if (!s)
        return;
    for (unsigned i = 0; i < ROUTINES_MOST; i++)
        routine_drop(s->machine, s->entries[i].routine);
    mem_free(s);
}

static struct entry *entry_of(struct stepper *s, machine_issuer *issuer, void *context)
{
    const uint32_t most = network_max_steps(s->network, issuer == network_issue_answer);
    unsigned i = 0;
    while (s->entries[i].issuer &&
           (s->entries[i].issuer != issuer || s->entries[i].context != context ||
            s->entries[i].most != most))
        i++;
    assert(i < ROUTINES_MOST - 1);
    s->entries[i].issuer = issuer;
    s->entries[i].context = context;
    s->entries[i].most = most;
    return &s->entries[i];
}

/* Seconds: a multiple of the slowest play measured; before any, MACHINE_PATIENCE. */
static double longest(const struct entry *entry, uint32_t times)
{
    return entry->measured ? TIMES_SLOWER * entry->slowest * times : MACHINE_PATIENCE;
}

static double patience(const struct entry *entry, uint32_t times)
{
    double most = longest(entry, times);
    return most > HANGS_LEAST ? most : HANGS_LEAST;
}

/* The caller waits for the end, and passes the time to note_duration. */
static struct entry *play_routine(struct stepper *s, machine_issuer *issuer, void *context,
                                  uint32_t times)
{
    struct entry *entry = entry_of(s, issuer, context);
    machine_expect(s->machine, patience(entry, times));
    if (!entry->seen && times) {
        issuer(context, s->machine); /* loads code that is loaded at first use */
        entry->seen = true;
        times--;
    }
    if (times && !entry->routine)
        entry->routine = machine_record(s->machine, issuer, context);
    machine_play(s->machine, entry->routine, times);
    return entry;
}

static void note_duration(struct entry *entry, double seconds, uint32_t times)
{
    if (!entry->routine || !times || entry->measured == PLAYS_MEASURED)
        return;
    entry->measured++;
    if (entry->slowest < seconds / times)
        entry->slowest = seconds / times;
}

/* Operations that follow one another in one layer are one span. */
static void trace_layers(struct stepper *s, const struct traced *ops, uint32_t count, double began)
{
    for (uint32_t i = 0, next; i < count; i = next) {
        const struct layer *l = ops[i].owner;
        for (next = i + 1; l && next < count && ops[next].owner == l;)
            next++;
        double from = machine_marked(s->machine, 2 * i);
        double to = machine_marked(s->machine, 2 * next - 1);
        profile_work(PROFILE_LAYERS, l ? l->type->name : op_name(ops[i].op), l ? l->position : 0,
                     began + from, to - from);
    }
}

/* Plays the operations of one step plainly, one by one, and traces them. */
static bool trace_step(struct stepper *s, struct err *e)
{
    struct traced *ops = mem_alloc(MACHINE_MARKS / 2, sizeof *ops);
    double began = clock_now();
    machine_expect(s->machine, MACHINE_PATIENCE);
    network_feed(s->network, 1);
    machine_trace(s->machine, ops);
    network_issue_step(s->network, s->machine);
    uint32_t count = machine_trace(s->machine, NULL);
    bool good = machine_wait(s->machine, MACHINE_PATIENCE, e);
    for (uint32_t i = 0; good && i < count; i++) {
        double from = machine_marked(s->machine, 2 * i), to = machine_marked(s->machine, 2 * i + 1);
        profile_work(PROFILE_OPERATIONS, op_name(ops[i].op), 0, began + from, to - from);
    }
    if (good)
        trace_layers(s, ops, count, began);
    mem_free(ops);
    s->traced++;
    if (good)
        profile_span(PROFILE_STEP, 0, began);
    return good;
}

/* True: the step is played in parts. A machine that computes in the caller's thread asks for
 * signals itself. The first step shows whether steps are long; it is issued plainly anyhow. */
static bool by_parts(const struct stepper *s, const struct entry *entry)
{
    return s->stop && !machine_in_place(s->machine) && network_micros(s->network) > 1 &&
           (!entry->seen || s->part_by_part >= STEP_LONG);
}

static bool play_parts(struct stepper *s, struct entry *entry, struct err *e)
{
    double began = clock_now();
    uint32_t micros = network_micros(s->network);
    network_feed(s->network, 1);
    for (uint32_t part = 0; part <= micros; part++) {
        if (s->stop())
            return false;
        machine_expect(s->machine, MACHINE_PATIENCE);
        if (part < micros)
            network_issue_gradients(s->network, s->machine, part);
        else
            network_issue_update(s->network, s->machine);
        if (!machine_wait(s->machine, MACHINE_PATIENCE, e))
            return false;
    }
    entry->seen = true;
    s->part_by_part = clock_now() - began;
    return true;
}

static bool play_steps(struct stepper *s, uint32_t steps, struct err *e)
{
    struct entry *entry = entry_of(s, network_issue_step, s->network);
    bool marks = profile_on();
    double began = clock_now();
    if (marks)
        machine_mark(s->machine, 0);
    uint32_t done = 0;
    for (; done < steps && by_parts(s, entry); done++)
        if (!play_parts(s, entry, e))
            return false;
    machine_interrupt(s->machine, s->stop);
    for (uint32_t now; done < steps; done += now) {
        now = network_feed(s->network, steps - done);
        entry = play_routine(s, network_issue_step, s->network, now);
    }
    if (marks)
        machine_mark(s->machine, 1);
    machine_expect(s->machine, patience(entry, steps));
    network_fetch_step(s->network);
    bool good = machine_wait(s->machine, MACHINE_PATIENCE, e) && !machine_broken_off(s->machine);
    machine_interrupt(s->machine, NULL);
    if (good) /* else fewer were done */
        note_duration(entry, clock_now() - began, steps);
    if (good && marks) {
        profile_work(PROFILE_STRETCHES, "steps", steps, began, machine_marked(s->machine, 1));
        profile_span("steps", steps, began);
    }
    return good;
}

bool step_train(struct stepper *s, uint32_t steps, struct err *e)
{
    for (; profile_on() && steps && s->traced < PROFILE_STEPS; steps--)
        if (!trace_step(s, e))
            return false;
    return !steps || play_steps(s, steps, e);
}

static bool answer(struct stepper *s, uint64_t row0, uint64_t count, real *logits, struct err *e)
{
    const struct model *m = network_model(s->network);
    uint32_t outputs = m->outputs * m->tags, most;
    for (uint64_t done = 0, rows; done < count; done += rows) {
        struct netshape *shape = network_shape(s->network, count - done, &most);
        double began = clock_now();
        network_answer_from(s->network, shape, row0 + done);
        struct entry *entry = play_routine(s, network_issue_answer, shape, 1);
        rows = count - done < most ? count - done : most;
        network_logits(shape, (uint32_t)rows, logits + done * outputs);
        if (!machine_wait(s->machine, MACHINE_PATIENCE, e)) /* on the way back as well */
            return false;
        note_duration(entry, clock_now() - began, 1);
    }
    return true;
}

/* All batches without a wait in between, then their logits and sums at once. */
static bool queue_answers(struct stepper *s, uint64_t row0, uint64_t count, struct answers *what,
                real *logits, struct err *e)
{
    double began = clock_now(), most_s = 0;
    struct entry *used[ROUTINES_MOST];
    uint32_t used_count = 0, most = 0, times = 0, plays = 0;
    network_answers_begin(s->network, row0, count, what, logits != NULL);
    for (uint64_t done = 0, left; done < count; done += (uint64_t)times * most) {
        left = count - done;
        struct netshape *shape = network_shape(s->network, left, &most);
        times = network_answers_feed(s->network, shape, row0 + done,
                                     left < most ? 1 : left / most);
        struct entry *entry = play_routine(s, network_issue_answer, shape, times);
        most_s += longest(entry, times);
        plays += times;
        if (used_count < ROUTINES_MOST && (!used_count || used[used_count - 1] != entry))
            used[used_count++] = entry; /* once, however often it was fed */
    }
    most_s = most_s > HANGS_LEAST ? most_s : HANGS_LEAST;
    machine_expect(s->machine, most_s < MACHINE_PATIENCE ? most_s : MACHINE_PATIENCE);
    if (!network_answers_wait(s->network, what, logits, e))
        return false;
    for (uint32_t i = 0; i < used_count; i++)
        note_duration(used[i], clock_now() - began, plays);
    return true;
}

/* Answers in parts of at most the kept logits and the queued rows, and looks for signals after
 * each. The end of a part follows from the rows alone, as its sum does. */
static bool answer_in_parts(struct stepper *s, uint64_t row0, uint64_t count, struct answers *what,
                    real *logits, struct err *e)
{
    uint64_t kept = network_room(s->network);
    uint64_t room = logits && kept < STEP_ASKED ? kept : STEP_ASKED;
    struct answers part = {0}, sum = {0};
    for (uint64_t done = 0; done < count; done += room) {
        uint64_t rows = count - done < room ? count - done : room;
        real *to = logits ? logits + done * network_model(s->network)->outputs : NULL;
        if (done && s->stop && s->stop())
            return false;
        if (what)
            part = *what;
        if (!queue_answers(s, row0 + done, rows, what ? &part : NULL, to, e))
            return false;
        sum.sum += part.sum;
        sum.weight += part.weight;
    }
    if (what) {
        what->sum = sum.sum;
        what->weight = sum.weight;
    }
    return true;
}

uint64_t step_room(const struct stepper *s)
{
    return network_room(s->network);
}

bool step_measure(struct stepper *s, const struct source *from, uint64_t row0, uint64_t count,
                  struct answers *what, real *logits, struct err *e)
{
    return network_answer_hold(s->network, from, e) &&
           answer_in_parts(s, row0, count, what, logits, e);
}

/* Windows in lanes, batch by batch; logits in the order of the source. */
static bool answer_carried(struct stepper *s, const struct source *from, uint64_t row0,
                           uint64_t count, real *logits, struct err *e)
{
    const struct model *m = network_model(s->network);
    const size_t each = (size_t)m->outputs * m->tags;
    struct source dealt = *from;
    struct lanes l;
    uint32_t most;
    network_shape(s->network, lanes_chains(from->begins + row0, count), &most);
    lanes_answer(&l, from, row0, count, most);
    dealt.index = l.index;
    dealt.begins = l.begins;
    dealt.count = l.batches * l.count;
    real *batch = mem_alloc(l.count * each, sizeof *batch);
    bool good = network_answer_source(s->network, &dealt, e);
    for (uint64_t i = 0; good && i < l.batches; i++) {
        good = answer(s, i * l.count, l.count, batch, e);
        for (uint32_t k = 0; good && k < l.count; k++)
            if (l.from[i * l.count + k] != UINT64_MAX)
                memcpy(logits + (l.from[i * l.count + k] - row0) * each, batch + k * each,
                       each * sizeof *logits);
    }
    network_answer_release(s->network);
    mem_free(batch);
    lanes_free(&l);
    return good;
}

bool step_answer(struct stepper *s, const struct source *from, uint64_t row0, uint64_t count,
                 real *logits, struct err *e)
{
    if (from->begins && count)
        return answer_carried(s, from, row0, count, logits, e);
    bool good = network_answer_source(s->network, from, e) &&
                (network_room(s->network) ? answer_in_parts(s, row0, count, NULL, logits, e)
                                          : answer(s, row0, count, logits, e));
    network_answer_release(s->network);
    return good;
}
