/* Of the catalogue: N08 N15.
 * model_network.c - small problems that a network must learn, each within about a second; the same
 * bytes whatever the number of threads; every awkward shape of a batch. */
#include "backend/machine.h"
#include "base/process/thread.h"
#include "netcase.h"
#include "tap.h"

/* Share of records whose largest logit is the label; for numbers the root mean square error. */
static double score(struct netcase *c)
{
    real *logits = mem_alloc(c->count * c->outputs, sizeof *logits);
    ok(case_answer(c, c->network, &c->source, 0, c->count, logits), "answers");
    double sum = 0;
    for (uint64_t row = 0; row < c->count; row++) {
        const real *y = logits + row * c->outputs;
        const unsigned char *target =
            c->records + row * c->features.format.stride + c->features.format.at_target;
        int32_t label;
        float value;
        memcpy(&label, target, 4);
        memcpy(&value, target, 4);
        uint32_t best = 0;
        for (uint32_t k = 1; k < c->outputs; k++)
            if (y[k] > y[best])
                best = k;
        if (c->outputs > 1)
            sum += best == (uint32_t)label;
        else
            sum += ((double)y[0] - (double)value) * ((double)y[0] - (double)value);
    }
    mem_free(logits);
    sum /= (double)c->count;
    return c->outputs > 1 ? sum : sqrt(sum);
}

static void exclusive_or(void)
{
    struct netcase c = {
        .model =
            "{\"preset\": \"mlp\", \"hidden\": [8], \"activation\": \"tanh\", \"dropout\": 0}",
        .numbers = 2,
        .outputs = 2,
        .rows = 4,
        .micro = 1,
        .count = 4,
        .seed = 1};
    ok(case_make(&c), "xor: made");
    for (unsigned row = 0; row < 4; row++) {
        *case_number(&c, row, 0) = row & 1 ? 1 : -1;
        *case_number(&c, row, 1) = row & 2 ? 1 : -1;
        case_target(&c, row, (row & 1) ^ (row >> 1));
    }
    ok(case_open(&c) && case_train(&c, 500, 0.02, 0), "xor: trained");
    is_near(score(&c), 1, 0, "xor: all four are right");
    case_close(&c);
}

static void spirals(void)
{
    struct netcase c = {.model = "{\"preset\": \"mlp\", \"hidden\": [64, 64], \"dropout\": 0}",
                        .numbers = 2,
                        .outputs = 3,
                        .rows = 64,
                        .micro = 1,
                        .count = 600,
                        .seed = 3,
                        .shuffle = true};
    ok(case_make(&c), "spirals: made");
    for (unsigned row = 0; row < 600; row++) {
        double t = (row / 3) / 200.0,
               angle = 6 * t + (row % 3) * 2.0943951 + 0.1 * rng_normal(5, row, 0, 0, RNG_TEST);
        *case_number(&c, row, 0) = (float)(2 * t * cos(angle));
        *case_number(&c, row, 1) = (float)(2 * t * sin(angle));
        case_target(&c, row, row % 3);
    }
    ok(case_open(&c) && case_train(&c, 120, 0.005, 0.001), "spirals: trained");
    double right = score(&c);
    ok(right > 0.97, "spirals: %.3f of the rows are right", right);
    case_close(&c);
}

static void sine(void)
{
    struct netcase c = {
        .model =
            "{\"preset\": \"mlp\", \"hidden\": [32, 32], \"activation\": \"silu\", \"dropout\": 0}",
        .numbers = 1,
        .outputs = 1,
        .rows = 32,
        .micro = 2,
        .count = 500,
        .seed = 4,
        .shuffle = true};
    ok(case_make(&c), "sine: made");
    for (unsigned row = 0; row < 500; row++) {
        double x = 4 * row / 500.0 - 2;
        *case_number(&c, row, 0) = (float)x;
        case_target(&c, row, sin(3 * x));
    }
    ok(case_open(&c) && case_train(&c, 200, 0.005, 0), "sine: trained");
    double error = score(&c);
    ok(error < 0.03, "sine: root mean square error %.4f", error);
    case_close(&c);
}

static void begin(struct netcase *c)
{
    *c = case_everything(NULL);
    ok(case_ready(c), "opened");
}

static bool same_state(struct netcase *a, struct netcase *b)
{
    const struct model *m = network_model(a->network);
    network_get(a->network, &a->state, &a->e);
    network_get(b->network, &b->state, &b->e);
    return memcmp(a->state.params, b->state.params, m->params * sizeof(real)) == 0 &&
           memcmp(a->state.buffers, b->state.buffers, m->buffers * sizeof(real)) == 0 &&
           memcmp(a->state.m1, b->state.m1, m->params * sizeof(real)) == 0 &&
           memcmp(a->state.m2, b->state.m2, m->params * sizeof(real)) == 0 &&
           memcmp(&a->state.now, &b->state.now, sizeof(struct step)) == 0;
}

static void threads(void)
{
    struct netcase cases[3];
    for (unsigned i = 0; i < 3; i++) {
        threads_stop();
        threads_start(i + 1);
        begin(&cases[i]);
        ok(case_train(&cases[i], 3, 0.01, 0.01), "three epochs with %u threads", i + 1);
        ok(same_state(&cases[0], &cases[i]), "N15 %u threads leave the same bytes as one", i + 1);
    }
    for (unsigned i = 0; i < 3; i++)
        case_close(&cases[i]);
}

/* The answer to a row is the same wherever it stands: alone, in any batch, from a network that
 * trains or one that does not. */
static void answers(void)
{
    struct netcase c;
    begin(&c);
    const uint64_t count = c.count;
    const uint32_t outputs = c.outputs;
    ok(case_train(&c, 2, 0.01, 0), "trained");
    real *all = mem_alloc(count * outputs, sizeof *all),
         *some = mem_alloc(count * outputs, sizeof *some);
    ok(case_answer(&c, c.network, &c.source, 0, count, all), "all at once");
    bool same = true;
    for (uint64_t row = 0; row < count; row += 37)
        same = same && case_answer(&c, c.network, &c.source, row, 1, some) &&
               memcmp(some, all + row * outputs, outputs * sizeof *some) == 0;
    ok(same, "one by one");
    for (uint64_t row = 0, step = 1; row < count; row += step, step = step * 2 + 1) {
        uint64_t n = count - row < step ? count - row : step;
        same = same && case_answer(&c, c.network, &c.source, row, n, some) &&
               memcmp(some, all + row * outputs, n * outputs * sizeof *some) == 0;
    }
    ok(same, "in pieces of 1, 3, 7, ..");
    network_get(c.network, &c.state, &c.e);
    static const uint32_t batches[] = {1, 5, 64, 1024};
    for (size_t i = 0; i < sizeof batches / sizeof batches[0]; i++) {
        struct network_options o = {.architecture = c.architecture,
                                    .features = &c.features,
                                    .rows = batches[i]};
        struct network *n = network_new(&o, c.machine, NULL, &c.e);
        network_set(n, &c.state);
        memset(some, 0, count * outputs * sizeof *some);
        ok(case_answer(&c, n, &c.source, 0, count, some) &&
               memcmp(some, all, count * outputs * sizeof *some) == 0,
           "a network for answers alone, in batches of %u", batches[i]);
        network_free(n);
    }
    uint32_t *index = mem_alloc(count, sizeof *index);
    for (uint64_t i = 0; i < count; i++)
        index[i] = (uint32_t)(count - 1 - i);
    struct source backward = c.source;
    backward.index = index;
    ok(case_answer(&c, c.network, &backward, 0, count, some), "in another order");
    for (uint64_t row = 0; row < count; row++)
        same = same && memcmp(some + row * outputs, all + (count - 1 - row) * outputs,
                              outputs * sizeof *some) == 0;
    ok(same, "  each row's answer goes with it");
    network_get(c.network, &c.state, &c.e);
    ok(case_train(&c, 1, 0.01, 0), "and training goes on");
    mem_free(index);
    mem_free(all);
    mem_free(some);
    case_close(&c);
}

/* Networks that answer in turns share the memory of a batch where it is large enough. */
static void beside(void)
{
    struct netcase c;
    begin(&c);
    ok(case_train(&c, 1, 0.01, 0), "trained");
    const uint64_t numbers = c.count * c.outputs;
    real *all = mem_alloc(numbers, sizeof *all), *some = mem_alloc(numbers, sizeof *some);
    ok(case_answer(&c, c.network, &c.source, 0, c.count, all), "answers");
    network_get(c.network, &c.state, &c.e);
    static const uint32_t rows[] = {64, 32, 128, 100};
    struct network *n[4] = {NULL};
    uint64_t used[4];
    for (size_t i = 0; i < 4; i++) {
        struct network_options o = {.architecture = c.architecture,
                                    .features = &c.features,
                                    .rows = rows[i],
                                    .beside = i ? n[i - 1] : NULL};
        uint64_t before = mem_in_use();
        n[i] = network_new(&o, c.machine, NULL, &c.e);
        used[i] = mem_in_use() - before;
        network_set(n[i], &c.state);
    }
    ok(used[1] < used[0] && used[3] < used[2], "two have no batch of their own");
    ok(used[2] > used[1], "one needs a larger one");
    bool same = true;
    for (size_t turn = 0; turn < 8; turn++)
        same = same && case_answer(&c, n[turn * 3 % 4], &c.source, 0, c.count, some) &&
               memcmp(some, all, numbers * sizeof *some) == 0;
    ok(same, "each answers as before, in turns");
    for (size_t i = 0; i < 4; i++)
        network_free(n[i]);
    mem_free(all);
    mem_free(some);
    case_close(&c);
}

/* State put into another network goes on as if nothing had happened, also in the middle of an
 * epoch. */
static void resumed(void)
{
    struct netcase a, b, c;
    begin(&a);
    begin(&b);
    begin(&c);
    struct hyper table[4] = {{0.01, 0, 0}, {0.008, 0, 0}, {0.006, 0, 0}, {0.004, 0, 0}};
    network_epoch(a.network, 0, table, 4, &a.e);
    ok(case_steps(&a, 4), "four steps at once");
    network_epoch(b.network, 0, table, 4, &b.e);
    ok(case_steps(&b, 2), "two steps");
    network_get(b.network, &b.state, &b.e);
    struct network_state kept = c.state;
    network_set(c.network, &b.state);
    network_epoch(c.network, 0, table + 2, 2, &c.e);
    network_set(c.network, &b.state);
    ok(case_steps(&c, 2), "two more in another network");
    c.state = kept;
    ok(same_state(&a, &c), "the same bytes");
    case_close(&a);
    case_close(&b);
    case_close(&c);
}

/* A step takes no memory, and what a network takes was foretold. */
static void memory(void)
{
    uint64_t before = mem_in_use();
    struct netcase c = case_everything(NULL);
    ok(case_make(&c), "made");
    case_fill(&c);
    c.machine = machine_open(&(struct machine_options){.backend = "cpu"}, &c.e);
    machine_plan(c.machine, c.rows, c.micro, &c.plan);
    machine_set_plan(c.machine, &c.plan);
    c.options = (struct network_options){.architecture = c.architecture,
                                         .features = &c.features,
                                         .rows = c.rows,
                                         .micro = c.micro,
                                         .training = true,
                                         .loss = &c.loss_options,
                                         .optim = &c.optim_options};
    struct network_bytes need;
    ok(network_need(&c.options, c.machine, &need, &c.e), "foretold: %llu bytes",
       (unsigned long long)need.total);
    uint64_t start = mem_in_use();
    c.network = network_new(&c.options, c.machine, &c.plan, &c.e);
    const struct model *m = network_model(c.network);
    c.state.params = mem_zero(m->params, sizeof(real));
    c.state.buffers = mem_zero(m->buffers, sizeof(real));
    c.state.now.seed = 1;
    model_init(m, 1, 0, c.state.params, c.state.buffers);
    network_set(c.network, &c.state);
    ok(network_source(c.network, &c.source, &c.e), "the rows");
    network_epoch(c.network, 0, &(struct hyper){0.01, 0, 0}, 1, &c.e);
    ok(case_steps(&c, 1), "the first step");
    uint64_t steady = mem_in_use();
    double took = (double)(steady - start - (m->params + m->buffers) * sizeof(real));
    ok(took >= (double)need.total && took < (double)need.total + 65536,
       "taken: %.0f, with plans and small blocks", took);
    struct machine_counts before_them, after;
    machine_count(c.machine, &before_them);
    ok(case_steps(&c, 10) && mem_in_use() == steady, "further steps take nothing");
    c.source.count = 500;
    ok(network_source(c.network, &c.source, &c.e) && case_steps(&c, 1), "nor do fewer rows");
    machine_count(c.machine, &after);
    ok(after.allocations == before_them.allocations && after.routines == before_them.routines &&
           after.plays == before_them.plays + 2,
       "the machine was asked for no memory and recorded nothing again");
    case_close(&c);
    is_int((int64_t)mem_in_use(), (int64_t)before, "everything is given back");
}

/* A CPU that adds up what it is asked for. */
static struct machine_type adding;
static uint64_t asked;

static void *adding_alloc(struct machine *m, size_t bytes, struct err *e)
{
    asked += bytes;
    return machine_cpu.alloc(m, bytes, e);
}

static void foretold(struct netcase *c, bool training)
{
    struct network_bytes need;
    struct network_options o = {.architecture = c->architecture,
                                .features = &c->features,
                                .rows = c->rows,
                                .micro = c->micro,
                                .steps = 7,
                                .training = training,
                                .loss = &c->loss_options,
                                .optim = &c->optim_options};
    struct machine *m = machine_open(&(struct machine_options){.backend = "adding"}, &c->e);
    machine_plan(m, c->rows, c->micro, &c->plan);
    machine_set_plan(m, &c->plan);
    asked = 0;
    ok(network_need(&o, m, &need, &c->e) && asked == 0, "asking for the bytes takes none");
    struct network *n = network_new(&o, m, &c->plan, &c->e);
    is_int(asked, need.total - need.scratch,
           training ? "foretold to the byte, for training" : "foretold to the byte, for answers");
    network_free(n);
    machine_close(m);
}

static void to_the_byte(void)
{
    adding = machine_cpu;
    adding.name = "adding";
    adding.alloc = adding.host_alloc = adding_alloc;
    machine_register(&adding);
    struct netcase c = case_everything(NULL);
    ok(case_make(&c), "made");
    case_fill(&c);
    foretold(&c, true);
    foretold(&c, false);
    case_close(&c);
}

/* What dropout keeps is the machine's affair: a plan without one has no room for it. */
static void kept(void)
{
    struct netcase c = case_everything(NULL);
    c.model = "{\"layers\": [{\"type\": \"dense\", \"units\": 32}, {\"type\": \"dropout\"}]}";
    ok(case_make(&c) && case_open(&c), "made and opened");
    struct model *plain = model_plan(c.architecture, &c.features, c.rows, 1, true, &c.e);
    struct model *whole = model_plan_on(c.machine, c.architecture, &c.features, c.rows, 1, true,
                                        false, &c.e);
    ok(plain && whole && whole->reals > plain->reals && whole->params == plain->params,
       "this machine keeps %llu numbers for the way back",
       (unsigned long long)(whole->reals - plain->reals));
    model_free(plain);
    model_free(whole);
    case_close(&c);
}

/* Another number of rows, other rates, fewer steps: what was recorded stays right. */
static void other_rows(void)
{
    struct netcase a, b;
    begin(&a);
    begin(&b);
    ok(case_train(&a, 1, 0.01, 0), "all rows");
    a.source.count = 300;
    ok(network_source(a.network, &a.source, &a.e), "the rows");
    network_set(a.network, &b.state);
    b.source.count = 300;
    ok(network_source(b.network, &b.source, &b.e), "the rows");
    for (int i = 0; i < 2; i++) {
        network_epoch(i ? b.network : a.network, 0, &(struct hyper){0.01, 0, 0}, 1, &a.e);
        ok(case_steps(i ? &b : &a, 1), "300 rows");
    }
    ok(same_state(&a, &b), "the same bytes as a network that never saw more");
    case_close(&a);
    case_close(&b);
}

/* A step of rows that no micro-batch divides is the same step: as many rows, each of them once. */
static void uneven(void)
{
    struct netcase c[2];
    struct step at[2];
    for (int i = 0; i < 2; i++) {
        c[i] = case_everything(NULL);
        c[i].model = "{\"preset\": \"mlp\", \"hidden\": [24, 9], \"dropout\": 0.2}";
        c[i].rows = i ? 86 : 257;
        c[i].micro = i ? 3 : 1;
        c[i].whole = i ? 257 : 0;
        ok(case_ready(&c[i]) && case_train(&c[i], 3, 0.01, 0), "trained");
        network_step(c[i].network, &at[i]);
        network_get(c[i].network, &c[i].state, &c[i].e);
    }
    is_int(at[1].tried, at[0].tried, "as many steps");
    is_near(at[1].epoch_weight, at[0].epoch_weight, 1e-9, "of rows that weigh as much");
    is_near(at[1].epoch_loss / at[0].epoch_loss, 1, 1e-5, "and lose as much");
    double most = 0;
    for (uint64_t k = 0; k < network_model(c[0].network)->params; k++)
        most = fmax(most, fabs((double)(c[0].state.params[k] - c[1].state.params[k])));
    ok(most < 1e-3, "257 rows in 86, 86 and 85: the weights differ by %.2g", most);
    case_close(&c[0]);
    case_close(&c[1]);
}

/* Fewer rows than a batch, a last batch of one row, one row in all: the loss is finite and falls.
 */
static void awkward(void)
{
    static const struct {
        uint32_t rows, micro;
        uint64_t count;
    } shapes[] = {{64, 1, 5}, {4, 1, 5}, {4, 3, 13}, {1, 1, 1}, {1, 4, 3}, {1000, 2, 1}};
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct netcase c = case_everything(NULL);
        c.rows = shapes[i].rows;
        c.micro = shapes[i].micro;
        c.count = shapes[i].count;
        ok(case_ready(&c), "opened");
        struct step first, last;
        bool good = case_train(&c, 1, 0.01, 0);
        network_step(c.network, &first);
        good = good && case_train(&c, 60, 0.01, 0);
        network_step(c.network, &last);
        ok(good && last.bad_steps == 0 && last.epoch_weight > 0 && isfinite(last.epoch_loss) &&
               last.epoch_loss < first.epoch_loss,
           "N08 %u rows, %u micro-batches, %llu in all: the loss falls from %.3f to %.3f", c.rows,
           c.micro, (unsigned long long)c.count, first.epoch_loss, last.epoch_loss);
        real *logits = mem_alloc(c.count * c.outputs, sizeof *logits);
        good = case_answer(&c, c.network, &c.source, 0, c.count, logits);
        for (uint64_t k = 0; k < c.count * c.outputs; k++)
            good = good && isfinite(logits[k]);
        ok(good, "  and its answers are finite");
        mem_free(logits);
        case_close(&c);
    }
}

/* The three parts of a step: its gradients and the exchange leave weights, state and counters as
 * they are; with the update behind them they are what a whole step gives. */
static void in_parts(void)
{
    struct netcase whole = case_everything(NULL), c = whole;
    ok(case_ready(&whole) && case_ready(&c), "two networks");
    const struct hyper hyper = {0.01, 0.1, 0};
    network_epoch(whole.network, 0, &hyper, 1, &whole.e);
    network_epoch(c.network, 0, &hyper, 1, &c.e);
    network_get(c.network, &c.state, &c.e);
    case_steps(&whole, 1);
    network_get(whole.network, &whole.state, &whole.e);
    const struct model *m = network_model(c.network);
    real *before = mem_copy(c.state.params, m->params * sizeof *before);
    network_feed(c.network, 1);
    for (uint32_t micro = 0; micro < network_micros(c.network); micro++)
        network_issue_gradients(c.network, c.machine, micro);
    ok(network_get(c.network, &c.state, &c.e) && c.state.now.tried == 0 &&
           memcmp(before, c.state.params, m->params * sizeof *before) == 0,
       "gradients change no weight");
    network_issue_update(c.network, c.machine);
    ok(network_get(c.network, &c.state, &c.e) && c.state.now.tried == 1 &&
           memcmp(whole.state.params, c.state.params, m->params * sizeof *before) == 0 &&
           memcmp(whole.state.m2, c.state.m2, m->params * sizeof *before) == 0 &&
           memcmp(whole.state.buffers, c.state.buffers, m->buffers * sizeof *before) == 0,
       "with the update they are a whole step");
    mem_free(before);
    case_close(&whole);
    case_close(&c);
}

int main(void)
{
    threads_start(2);
    exclusive_or();
    spirals();
    sine();
    threads();
    answers();
    beside();
    resumed();
    memory();
    to_the_byte();
    kept();
    other_rows();
    awkward();
    uneven();
    in_parts();
    threads_stop();
    return done();
}
