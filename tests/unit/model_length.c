/* Steps of sequences of like length: the order of an epoch, lengths on the host, and networks that
 * compute no further than the longest sequence of a batch. */
#include "model/network/length.h"
#include "model/network/step.h"
#include "netcase.h"
#include "tap.h"

enum { ROWS = 32, COUNT = 1500, STEPS = 14 };

/* Sequences of 3 channels, of 0 to 14 steps, most of them short; behind their end all is
 * missing. */
static uint32_t wished(uint64_t row)
{
    uint32_t bits = rng_bits(5, row, 8, 0, RNG_TEST);
    return bits % 8 ? bits / 8 % 6 : bits / 8 % (STEPS + 1);
}

static void begin(struct netcase *c, const char *model, const char *optim, bool streams)
{
    *c = (struct netcase){.model = model, .optim = optim, .numbers = 3 * STEPS, .outputs = 3,
                          .rows = ROWS, .micro = 1, .steps = STEPS, .count = COUNT, .seed = 9,
                          .shuffle = true, .streams = streams};
    case_make(c);
    case_fill(c);
    for (uint64_t row = 0; row < COUNT; row++)
        for (uint32_t i = 0; i < c->features.format.numbers; i++) {
            uint32_t t = i % STEPS, at = c->features.format.at_missing + i / 32 * 4;
            int32_t word;
            memcpy(&word, c->records + row * c->features.format.stride + at, sizeof word);
            uint32_t bit = 1u << i % 32, now = (uint32_t)word & ~bit;
            case_put(c, row, at, (int32_t)(t >= wished(row) ? now | bit : now));
        }
}

/* --- the order --- */

/* Every row once; as in `other`, which is then this epoch's. Returns the steps that are padding. */
static bool permuted(const struct source *from, uint32_t epoch, uint32_t *other, bool *same)
{
    struct step now = {.seed = 7, .epoch = epoch};
    uint8_t *met = mem_zero(from->count, 1);
    bool once = true;
    *same = true;
    for (uint32_t i = 0; i < from->count; i++) {
        uint32_t place = order_place(from, &now, 0, i);
        once = once && place < from->count && !met[place]++;
        *same &= other[i] == place;
        other[i] = place;
    }
    mem_free(met);
    return once;
}

/* Steps of an epoch, those of each batch's longest sequence times its rows; no batch has a longer
 * one than length_step tells. */
static uint64_t places(const struct netcase *c, uint32_t epoch, bool *told, uint32_t *lengths)
{
    uint64_t all = 0, seen = 0;
    *told = true;
    for (uint64_t row0 = 0; row0 < c->source.count; row0 += ROWS) {
        struct step now = {.seed = 7, .epoch = epoch, .row0 = row0};
        uint64_t end = row0 + ROWS < c->source.count ? row0 + ROWS : c->source.count;
        uint32_t longest = 0, most;
        most = length_step(&c->source, &c->features, &now, ROWS);
        for (uint64_t i = row0; i < end; i++) {
            uint32_t n = length_of(&c->source, &c->features,
                                   order_place(&c->source, &now, 0, (uint32_t)i));
            longest = n > longest ? n : longest;
        }
        *told &= !most || longest <= most;
        seen |= (uint64_t)1 << most;
        all += (most ? most : longest) * (end - row0);
    }
    *lengths = (uint32_t)__builtin_popcountll(seen);
    return all;
}

static void order(void)
{
    struct netcase c;
    begin(&c, "{\"layers\": [{\"type\": \"pool\"}]}", NULL, false);
    uint32_t *placed = mem_zero(COUNT, sizeof *placed), lengths, *sorted;
    uint64_t steps = 0, before, after;
    bool same, right = true, told;
    for (uint64_t row = 0; row < COUNT; row++) {
        right &= length_of(&c.source, &c.features, row) == wished(row);
        steps += wished(row);
    }
    ok(right, "lengths are found in the records");
    before = places(&c, 0, &told, &lengths);
    sorted = length_sort(&c.source, &c.features, ROWS);
    ok(sorted && c.source.by_length.runs == 5, "rows are sorted, in %u runs",
       c.source.by_length.runs);
    c.source.index = sorted;
    ok(permuted(&c.source, 0, placed, &same) && !same, "an epoch has each row once");
    ok(permuted(&c.source, 0, placed, &same) && same, "the same ones again");
    ok(permuted(&c.source, 1, placed, &same) && !same, "the next epoch has another order");
    after = places(&c, 1, &told, &lengths);
    ok(told, "no batch has a longer sequence than is told");
    ok(lengths <= 8, "batches have %u lengths", lengths);
    ok(after < before * 3 / 5, "%.2f places a step of a sequence, %.2f before",
       (double)after / (double)steps, (double)before / (double)steps);
    bool mixed = false; /* of one run, in one step */
    for (uint32_t i = 1; i < ROWS; i++)
        mixed |= placed[i] != placed[0] + i;
    ok(mixed, "the rows of a step are drawn");
    mem_free(sorted);

    struct features even = c.features;
    even.indicator_count = 0; /* all is there */
    even.steps = 0;
    ok(!length_sort(&c.source, &even, ROWS) && !c.source.by_length.runs,
       "rows of a table stay as they are");
    c.source.index = NULL;
    c.source.count = 7 * ROWS;
    ok(!length_sort(&c.source, &c.features, ROWS) && !c.source.by_length.runs,
       "and so do few rows");
    for (uint64_t row = 0; row < COUNT; row++)
        case_put(&c, row, c.features.format.at_missing, 0);
    c.source.count = COUNT;
    ok(!length_sort(&c.source, &c.features, ROWS) && !c.source.by_length.runs,
       "and sequences of one length");
    mem_free(placed);
    case_close(&c);
}

/* --- networks --- */

static const char ALL_KINDS[] =
    "{\"layers\": [{\"type\": \"dense\", \"units\": 8}, {\"type\": \"position\"}, "
    "{\"type\": \"conv1d\", \"units\": 8, \"kernel\": 3, \"stride\": 2}, "
    "{\"type\": \"residual\", \"layers\": [{\"type\": \"layer_norm\"}, "
    "{\"type\": \"attention\", \"heads\": 2, \"rotary\": true}]}, {\"type\": \"class_token\"}, "
    "{\"type\": \"gru\", \"units\": 6, \"bidirectional\": true}, {\"type\": \"relu\"}, "
    "{\"type\": \"pool\", \"kind\": \"attention\"}]}";

static double farthest(struct netcase *a, struct netcase *b)
{
    const struct model *m = network_model(a->network);
    double most = 0;
    network_get(a->network, &a->state, &a->e);
    network_get(b->network, &b->state, &b->e);
    for (uint64_t i = 0; i < m->params; i++) {
        double far = fabs((double)a->state.params[i] - (double)b->state.params[i]);
        most = far > most || isnan(far) ? far : most;
    }
    return most;
}

/* Sets least: the fewest steps of time that a training step has computed. */
static bool train(struct netcase *c, uint32_t steps, uint32_t *least)
{
    struct stepper *s = step_open(c->network, c->machine);
    bool good = network_epoch(c->network, 0, &(struct hyper){0.01, 0, 0}, 1, &c->e);
    *least = STEPS;
    for (; steps && good; steps--) {
        good = step_train(s, 1, &c->e);
        uint32_t most = network_max_steps(c->network, false);
        *least = most && most < *least ? most : *least;
    }
    step_close(s);
    return good;
}

/* The same rows in the same order, computed to their longest and to all steps. */
static void cut(const char *model, const char *optim, const char *name)
{
    struct netcase a, b;
    uint32_t cut_to, all;
    begin(&a, model, optim, false);
    begin(&b, model, optim, false);
    uint32_t *sorted = length_sort(&a.source, &a.features, ROWS);
    a.source.index = sorted;
    b.source = a.source;
    b.source.rows.chunks = b.chunks;
    for (uint32_t i = 0; i < SOURCE_RUNS; i++)
        b.source.by_length.longest[i] = STEPS;
    ok(case_open(&a) && case_open(&b) && train(&a, 20, &cut_to) &&
           train(&b, 20, &all), "%s: %s", name, a.e.what);
    ok(cut_to < 6 && all == STEPS, "  computed to %u steps, and to %u", cut_to, all);
    ok(farthest(&a, &b) < 1e-4, "  steps as long as their longest sequence train the same: %g",
       farthest(&a, &b));
    mem_free(sorted);
    case_close(&a);
    case_close(&b);
}

static void streamed(void)
{
    struct netcase there, parts;
    uint32_t least;
    begin(&there, ALL_KINDS, NULL, false);
    begin(&parts, ALL_KINDS, NULL, true);
    uint32_t *one = length_sort(&there.source, &there.features, ROWS);
    uint32_t *two = length_sort(&parts.source, &parts.features, ROWS);
    there.source.index = one;
    parts.source.index = two;
    ok(case_open(&there) && case_open(&parts) && train(&there, 47, &least) &&
           train(&parts, 47, &least),
       "an epoch, in parts too");
    ok(farthest(&there, &parts) <= 0, "  the same bits");
    mem_free(one);
    mem_free(two);
    case_close(&there);
    case_close(&parts);
}

/* A batch's longest sequence changes no answer of the others. */
static void answers(void)
{
    struct netcase c;
    uint32_t least;
    real *all = mem_zero(COUNT * 3, sizeof *all), *alone = mem_zero(COUNT * 3, sizeof *alone);
    begin(&c, ALL_KINDS, NULL, false);
    bool good = case_open(&c) && train(&c, 10, &least);
    good = good && case_answer(&c, c.network, &c.source, 0, COUNT, all);
    for (uint64_t i = 0; i < COUNT && good; i += 7)
        good = case_answer(&c, c.network, &c.source, i, 1, alone) &&
               memcmp(alone, all + i * 3, 3 * sizeof *alone) == 0;
    ok(good, "an answer has the same bits in any batch");
    mem_free(all);
    mem_free(alone);
    case_close(&c);
}

int main(void)
{
    order();
    cut(ALL_KINDS, "{\"type\": \"sgd\", \"momentum\": 0}", "layers of all kinds");
    cut("{\"layers\": [{\"type\": \"lstm\", \"units\": 8}, "
        "{\"type\": \"pool\", \"kind\": \"max\"}]}", NULL, "lstm");
    streamed();
    answers();
    return done();
}
