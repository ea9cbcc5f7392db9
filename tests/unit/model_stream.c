/* Rows that pass through the machine in parts: the same bits as of rows that lie there, in training
 * and in answers, also when a pass begins in its middle. */
#include "netcase.h"
#include "tap.h"

static void begin(struct netcase *c, bool streams, uint64_t count, uint32_t rows)
{
    *c = case_everything(NULL);
    c->streams = streams;
    c->count = count;
    c->rows = rows;
    ok(case_ready(c), "%s: %llu records, %u a micro-batch", streams ? "parts" : "all there",
       (unsigned long long)count, rows);
}

static bool same_weights(struct netcase *a, struct netcase *b)
{
    network_get(a->network, &a->state, &a->e);
    network_get(b->network, &b->state, &b->e);
    const struct model *m = network_model(a->network);
    return memcmp(a->state.params, b->state.params, m->params * sizeof(real)) == 0 &&
           memcmp(a->state.buffers, b->state.buffers, m->buffers * sizeof(real)) == 0 &&
           memcmp(&a->state.now, &b->state.now, sizeof a->state.now) == 0;
}

static bool same_answers(struct netcase *a, struct netcase *b, const struct source *from,
                         uint64_t row0, uint64_t count)
{
    real *x = mem_zero(count * a->outputs, sizeof *x), *y = mem_zero(count * a->outputs, sizeof *y);
    bool same = case_answer(a, a->network, from, row0, count, x) &&
                case_answer(b, b->network, from, row0, count, y) &&
                memcmp(x, y, count * a->outputs * sizeof *x) == 0;
    mem_free(x);
    mem_free(y);
    return same;
}

static void streamed(uint64_t count, uint32_t rows)
{
    struct netcase there, parts;
    begin(&there, false, count, rows);
    begin(&parts, true, count, rows);
    ok(network_streams(there.network) == 0 && network_streams(parts.network) > 0, "  one of both");
    ok(case_train(&there, 3, 0.01, 0.001) && case_train(&parts, 3, 0.01, 0.001), "  three epochs");
    ok(same_weights(&there, &parts), "  the same bits");
    ok(same_answers(&there, &parts, &there.source, 0, count), "  the same answers");
    ok(same_answers(&there, &parts, &there.source, count / 3, count / 2), "  from the middle");
    uint32_t *index = mem_alloc(count, sizeof *index);
    for (uint64_t i = 0; i < count; i++)
        index[i] = (uint32_t)(count - 1 - i);
    struct source backward = there.source;
    backward.index = index;
    ok(same_answers(&there, &parts, &backward, 0, count), "  in another order");
    ok(case_train(&there, 1, 0.01, 0) && case_train(&parts, 1, 0.01, 0) &&
           same_weights(&there, &parts),
       "  training goes on");
    mem_free(index);
    case_close(&there);
    case_close(&parts);
}

/* In the middle of an epoch, with answers between two steps, and in another network. */
static void resumed(void)
{
    struct netcase there, parts, later;
    struct hyper table[8];
    for (int i = 0; i < 8; i++)
        table[i] = (struct hyper){.lr = 0.01 / (1 + i)};
    begin(&there, false, 2500, 160);
    begin(&parts, true, 2500, 160);
    begin(&later, true, 2500, 160);
    network_epoch(there.network, 0, table, 8, &there.e);
    network_epoch(parts.network, 0, table, 8, &parts.e);
    ok(case_steps(&there, 5) && case_steps(&parts, 5), "five steps");
    ok(same_answers(&there, &parts, &there.source, 100, 900), "answers in between");
    network_get(parts.network, &parts.state, &parts.e);
    network_set(later.network, &parts.state);
    network_epoch(later.network, 0, table + 5, 3, &later.e);
    network_set(later.network, &parts.state);
    ok(case_steps(&there, 3) && case_steps(&parts, 3) && case_steps(&later, 3), "three more");
    ok(same_weights(&there, &parts), "the same bits");
    ok(same_weights(&there, &later), "and in another network that went on");
    case_close(&there);
    case_close(&parts);
    case_close(&later);
}

int main(void)
{
    streamed(1000, 160);
    streamed(7000, 160);
    streamed(5000, 23);
    streamed(100, 64);
    resumed();
    return done();
}
