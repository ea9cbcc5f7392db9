/* What a network issues is the same at each call, and so may be recorded, and its memory is the
 * machine's: trainings and answers on a machine that calls the function again at each play and
 * compares, and whose memory nobody on the host can touch. That machine also shows that a function
 * which reads what changes is caught, and that the door leads to more than one machine. */
#include <unistd.h>

#include "base/process/thread.h"
#include "listing.h"
#include "netcase.h"
#include "tap.h"

static void opened(struct netcase *c, const char *backend)
{
    *c = case_everything(backend);
    ok(case_ready(c), "opened on %s", backend);
}

/* The kernel is asked whether it can read there: this process would die. */
static void out_of_reach(void)
{
    struct err e = {0};
    int ends[2];
    struct machine *m = machine_open(&(struct machine_options){.backend = "listing"}, &e);
    int here[2] = {7, 8}, back[2] = {0};
    int *there = machine_alloc(m, sizeof here, &e);
    const int *lent = machine_map_host(m, here, sizeof here, &e);
    ok(pipe(ends) == 0, "a pipe");
    ok(write(ends[1], there, 1) == -1 && write(ends[1], lent, 1) == -1,
       "its memory cannot be read from the host, nor what it was lent there");
    machine_upload(m, there, here, sizeof here);
    machine_download(m, back, there, sizeof back);
    ok(back[1] == 8, "but through the door");
    close(ends[0]);
    close(ends[1]);
    machine_unmap_host(m, lent);
    machine_close(m);
}

static void compared(void)
{
    struct netcase a, b;
    opened(&a, "cpu");
    opened(&b, "listing");
    is_string(b.machine->type->name, "listing", "another machine behind the door");
    is_string(b.plan.backend, "cpu", "with the plan of the one it stands for");
    struct netcase *both[] = {&a, &b};
    real *logits[2];
    for (int i = 0; i < 2; i++) {
        struct netcase *c = both[i];
        ok(case_train(c, 3, 0.01, 0.01), "three epochs");
        c->source.count = 700;
        ok(network_source(c->network, &c->source, &c->e) && case_train(c, 2, 0.02, 0),
           "with fewer rows, the same routine");
        logits[i] = mem_alloc(700 * 3, sizeof *logits[i]);
        ok(case_answer(c, c->network, &c->source, 0, 700, logits[i]), "answers: %s", c->e.what);
        network_get(c->network, &c->state, &c->e);
    }
    const struct model *m = network_model(a.network);
    ok(memcmp(a.state.params, b.state.params, m->params * sizeof(real)) == 0, "the same weights");
    ok(memcmp(logits[0], logits[1], 700 * 3 * sizeof(real)) == 0, "the same answers");
    ok(listing_compared >= 6, "%llu plays were issued again and compared",
       (unsigned long long)listing_compared);
    for (int i = 0; i < 2; i++) {
        mem_free(logits[i]);
        case_close(both[i]);
    }
}

/* --- functions that must not be recorded --- */

struct changing {
    real x[8], y[8];
    uint32_t width, times;
};

static void issue_changing(void *context, struct machine *m)
{
    struct changing *c = context;
    for (uint32_t i = 0; i < c->times; i++)
        op_act(m, &(struct op_act){.y = {.at = c->y},
                                   .x = {.at = c->x},
                                   .rows = 1,
                                   .steps = 1,
                                   .shards = 1,
                                   .width = c->width,
                                   .ldx = 8,
                                   .ldy = 8,
                                   .act = ACT_RELU});
}

static void caught(uint32_t width, uint32_t times, const char *says)
{
    struct err e = {0};
    struct changing c = {.x = {1, 2, 3, 4, 5, 6, 7, 8}, .width = 4, .times = 2};
    struct machine *m = machine_open(&(struct machine_options){.backend = "listing"}, &e);
    struct routine *r = machine_record(m, issue_changing, &c);
    machine_play(m, r, 2);
    ok(machine_wait(m, 1, &e) && (int)c.y[3] == 4, "a function that reads what stays: played");
    c.width = width;
    c.times = times;
    c.y[0] = -1;
    machine_play(m, r, 1);
    ok(!machine_wait(m, 1, &e) && e.id == ERR_BUG && strstr(e.what, says),
       "one that reads what changes is caught: %s", e.what);
    issue_changing(&c, m);
    ok((int)c.y[0] == -1, "and after a failure nothing more is run");
    ok(machine_record(m, issue_changing, &c) == NULL, "nor recorded");
    struct err again = {0};
    ok(machine_alloc(m, 8, &again) == NULL && again.id == ERR_BUG, "nor is memory given");
    double back = 5;
    machine_download(m, &back, c.x, sizeof back);
    ok(back <= 0 && back >= 0, "and what comes back is zeros");
    routine_drop(m, r);
    machine_close(m);
}

/* --- machines that have no more memory, or do not answer --- */

static int64_t allocations_left;
static bool none_left(struct err *e)
{
    return allocations_left-- <= 0 && !err_set(e, ERR_MEMORY, "the machine's memory is full");
}
static void *scarce_alloc(struct machine *m, size_t bytes, struct err *e)
{
    return none_left(e) ? NULL : listing_alloc(m, bytes, e);
}
static void *scarce_host_alloc(struct machine *m, size_t bytes, struct err *e)
{
    return none_left(e) ? NULL : listing_host_alloc(m, bytes, e);
}
static const void *scarce_map_host(struct machine *m, const void *host, size_t bytes, struct err *e)
{
    return none_left(e) ? NULL : listing_map_host(m, host, bytes, e);
}

static void scarce(void)
{
    static struct machine_type type;
    type = machine_listing;
    type.name = "scarce";
    type.alloc = scarce_alloc;
    type.host_alloc = scarce_host_alloc;
    type.map_host = scarce_map_host;
    machine_register(&type);
    int64_t room = 0, refused = 0;
    for (bool good = false; !good && room < 100; room++) {
        uint64_t before = mem_in_use();
        struct netcase c = case_everything("scarce");
        case_make(&c);
        case_fill(&c);
        allocations_left = room;
        good = case_open(&c);
        allocations_left = 100;
        refused += !good && c.e.id == ERR_MEMORY;
        case_close(&c);
        if (mem_in_use() != before)
            ok(false, "everything is given back when allocation %d fails", (int)room + 1);
    }
    ok(refused > 25 && refused == room - 1, "each of %d allocations fails cleanly", (int)refused);
    struct netcase c = case_everything("scarce");
    real logits[6];
    ok(case_ready(&c), "with room enough it opens");
    allocations_left = 0;
    ok(!case_answer(&c, c.network, &c.source, 0, 2, logits) && c.e.id == ERR_MEMORY,
       "rows that cannot be lent are an error");
    allocations_left = 100;
    err_clear(&c.e);
    ok(case_answer(&c, c.network, &c.source, 0, 2, logits), "and can be lent later");
    case_close(&c);
}

static bool never(struct machine *m, double seconds)
{
    (void)m;
    (void)seconds;
    return false;
}

static void hangs(void)
{
    static struct machine_type type;
    struct err e = {0};
    type = machine_listing;
    type.name = "asleep";
    type.wait = never;
    machine_register(&type);
    struct machine *m = machine_open(&(struct machine_options){.backend = "asleep"}, &e);
    ok(!machine_wait(m, 3, &e) && e.id == ERR_MACHINE_FAULT && strstr(e.what, "for 3 seconds"),
       "a machine that does not answer in time: %s", e.what);
    ok(!machine_wait(m, 3, &e), "has failed for good");
    machine_close(m);
}

static int fetches_left;

static void fails(struct machine *m, uint32_t slot, void *to, const void *from, size_t bytes)
{
    struct err e = {0};
    if (fetches_left-- > 0) {
        listing_download(m, slot, to, from, bytes);
        return;
    }
    err_set(&e, ERR_MACHINE_FAULT, "the cable is loose");
    machine_fail(m, &e);
}

/* What a machine that fails on the way gives back is not taken for the network's state. */
static void loose(void)
{
    static struct machine_type type;
    type = machine_listing;
    type.name = "loose";
    type.download = fails;
    machine_register(&type);
    struct netcase c = case_everything("loose");
    case_make(&c);
    case_fill(&c);
    fetches_left = 1000;
    ok(case_open(&c) && network_get(c.network, &c.state, &c.e), "a state is fetched");
    fetches_left = 1;
    ok(!network_get(c.network, &c.state, &c.e) && strstr(c.e.what, "cable"),
       "the machine fails in the middle of it: %s", c.e.what);
    case_close(&c);
}

int main(void)
{
    struct err e = {0};
    ok(!machine_open(&(struct machine_options){.backend = "listing"}, &e) &&
           e.id == ERR_BACKEND_UNKNOWN,
       "a machine that this build has not: %s, %s", e.what, e.expected);
    listing_register();
    listing_register();
    threads_start(2);
    uint64_t before = mem_in_use();
    out_of_reach();
    compared();
    caught(5, 2, "operation 1 of a routine (act)");
    caught(4, 3, "one too many");
    caught(4, 1, "operation 2 of a routine (act)");
    scarce();
    hangs();
    loose();
    is_int((int64_t)mem_in_use(), (int64_t)before, "everything is given back");
    threads_stop();
    return done();
}
