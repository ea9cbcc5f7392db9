/* model_tracks.c - micro-batches in tracks are the step of one batch: as many rows, the same loss,
 * the same gradient up to rounding; any number of threads leaves the same bytes. Ids: N15 N01. */
#include <math.h>

#include "base/process/thread.h"
#include "netcase.h"
#include "tap.h"

/* Every operation that has sums of its own over the rows, in the same net. */
#define NET                                                                                        \
    "{\"layers\": [{\"type\": \"conv1d\", \"units\": 8, \"kernel\": 3}, "                       \
    "{\"type\": \"position\"}, "                                                                 \
    "{\"type\": \"residual\", \"layers\": [{\"type\": \"layer_norm\"}, "                           \
    "{\"type\": \"attention\", \"heads\": 2}, {\"type\": \"dropout\", \"p\": 0.1}]}, "             \
    "{\"type\": \"dense\", \"units\": 12}, {\"type\": \"gelu\"}, "                                 \
    "{\"type\": \"pool\", \"kind\": \"attention\"}]}"
enum { WHOLE = 38, COUNT = 100 };

static struct netcase of(uint32_t rows, uint32_t micro, uint32_t tracks)
{
    return (struct netcase){.model = NET, .optim = "{\"type\": \"sgd\"}", .numbers = 27,
                            .steps = 9, .outputs = 3, .rows = rows,
                            .micro = micro, .whole = WHOLE, .tracks = tracks, .count = COUNT,
                            .seed = 7, .clip = 1, .shuffle = true};
}

static void trained(struct netcase *c)
{
    bool good = case_ready(c) && case_train(c, 3, 0.1, 0.01);
    ok(good, "%u micro-batches, %u tracks: trained %s",
       c->micro, c->tracks, c->e.what);
    network_get(c->network, &c->state, &c->e);
}

/* 38 rows in one batch, and in 10 of 4, the last one of 2, in 2, 3 and 10 tracks. */
static void same_step(void)
{
    struct netcase one = of(WHOLE, 1, 0);
    trained(&one);
    static const uint32_t tracks[] = {2, 3, 10};
    for (unsigned i = 0; i < 3; i++) {
        struct netcase c = of(4, 10, tracks[i]);
        trained(&c);
        is_int(c.state.now.tried, one.state.now.tried, "as many steps");
        is_near(c.state.now.epoch_weight, one.state.now.epoch_weight, 1e-9, "rows weigh as much");
        is_near(c.state.now.epoch_loss / one.state.now.epoch_loss, 1, 1e-5, "and lose as much");
        ok(case_apart(&one, &c) < 1e-5, "the weights differ by %.2g", case_apart(&one, &c));
        case_close(&c);
    }
    case_close(&one);
}

static void same_bytes(void)
{
    struct netcase c[4];
    for (unsigned i = 0; i < 4; i++) {
        threads_stop();
        threads_start(i + 1);
        c[i] = of(4, 10, 3);
        trained(&c[i]);
        ok(case_apart(&c[0], &c[i]) <= 0, "N15 %u threads: the bytes of one", i + 1);
    }
    for (unsigned i = 0; i < 4; i++)
        case_close(&c[i]);
}

/* Played at once, not recorded: a track after the other. */
static void plain(void)
{
    struct netcase c[2];
    for (int i = 0; i < 2; i++) {
        c[i] = of(4, 10, 3);
        ok(case_ready(&c[i]) &&
               network_epoch(c[i].network, 0, &(struct hyper){0.01, 0, 0}, 1, &c[i].e),
           "opened");
        network_feed(c[i].network, 1);
        if (i)
            ok(case_steps(&c[i], 1), "recorded");
        else
            network_issue_step(c[i].network, c[i].machine);
        network_get(c[i].network, &c[i].state, &c[i].e);
    }
    ok(case_apart(&c[0], &c[1]) <= 0, "the same bytes");
    case_close(&c[0]);
    case_close(&c[1]);
}

/* One sequence of the last track begins it; what an earlier step left in other tracks does not
 * count. */
static void named(void)
{
    struct netcase c = of(4, 10, 3);
    char text[160];
    c.shuffle = false;
    ok(case_make(&c), "made");
    case_fill(&c);
    *case_number(&c, WHOLE - 1, 1) = INFINITY;
    ok(case_open(&c) && network_epoch(c.network, 0, &(struct hyper){0.01, 0, 0}, 1, &c.e) &&
           case_steps(&c, 1), "a step");
    network_nonfinite(c.network, text, sizeof text);
    is_string(text, "the output of layer 1 of 10 (conv1d)", "N01 the layer is named");
    case_close(&c);
}

/* Which plans have tracks. */
static void chosen(void)
{
    static const struct {
        const char *model;
        uint32_t rows, batch, micro, tracks;
    } cases[] = {
        {NET, 64, 22, 3, 3},  /* 28 sequences of 9 steps have 256 */
        {NET, 30, 15, 2, 2},
        {NET, 28, 28, 1, 0},
        {NET, 1024, 28, 37, 8},
        {NET, 28000, 110, 255, 8},
        {"{\"preset\": \"gru\"}", 1024, 1024, 1, 0},
        {"{\"layers\": [{\"type\": \"conv1d\", \"units\": 4, \"kernel\": 3}, "
         "{\"type\": \"residual\", \"layers\": [{\"type\": \"lstm\", \"units\": 4}]}, "
         "{\"type\": \"pool\"}]}", 1024, 1024, 1, 0},
        {"{\"preset\": \"rocket\", \"features\": 100}", 1024, 1024, 1, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct netcase c = of(4, 10, 0);
        c.model = cases[i].model;
        ok(case_ready(&c), "opened");
        struct plan plan;
        network_plan(&c.features, c.machine, cases[i].rows, 1, &plan);
        network_plan_tracks(c.architecture, &c.features, c.machine, &plan);
        is_int(plan.batch, cases[i].batch, "rows of a micro-batch");
        is_int(plan.micro, cases[i].micro, "micro-batches");
        is_int(plan.tracks, cases[i].tracks, "tracks");
        ok(!plan.tracks || plan.shards == plan.tracks, "and as many gradients");
        case_close(&c);
    }
}

int main(void)
{
    same_step();
    same_bytes();
    plain();
    named();
    chosen();
    return done();
}
