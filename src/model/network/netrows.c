/* netrows.c - the rows of a network: in the machine's memory, or streamed if it has no room. */
#include "model/network/length.h"
#include "model/network/netarena.h"

/* The lists of positions of all parts together have one entry a row; there is one list of chunks
 * for the rows to train on, and one for the rows to answer. */
uint64_t network_source_bytes(const struct network_options *o, const struct source *from)
{
    const struct rows *r = &from->rows;
    uint32_t part = o->whole ? o->whole : o->micro * o->rows, shift = 0;
    while (o->streams && (uint64_t)1 << shift < part)
        shift++;
    uint64_t count = o->streams ? from->count : r->count;
    uint64_t chunks = count ? ((count - 1) >> (o->streams ? shift : r->shift)) + 1 : 0;
    uint64_t lists = 2 * chunks * sizeof(void *) + from->classes * sizeof *from->class_weight;
    uint64_t index = from->steps > 1 ? from->count * from->steps : r->count;
    return lists + (o->streams ? 0 : r->count * r->format.stride + index * sizeof(uint32_t));
}

static bool has_room(const struct network *n, const struct source *from)
{
    struct network_options there = n->o;
    uint64_t left = machine_bytes_free(n->m);
    there.streams = false;
    return !left || network_source_bytes(&there, from) <= left;
}

uint32_t net_part_rows(const struct network *n)
{
    uint32_t rows = n->answers.shapes[0].model->rows;
    return n->step.model && net_step_rows(n) > rows ? net_step_rows(n) : rows;
}

/* Through the stream, which takes the memory that is left. */
static bool stream_rows(struct network *n, struct netsource *to, const struct source *from,
                        struct err *e)
{
    struct netstream *s = &n->rows.stream;
    if (!netstream_is_open(s) &&
        !netstream_open(s, n->m, net_part_rows(n), from->count, from->rows.format.stride, e))
        return false;
    n->rows.carries = STREAM_NONE;
    return netsource_put_ring(to, n->m, from, n->weights.features, s->ring, STREAM_RING, s->shift,
                              e);
}

/* Sets the rows on the machine; without room, through the stream if they may stream. */
static bool set_rows(struct network *n, struct netrows_of *to, const struct source *from,
                     struct err *e)
{
    if (!to->streams && netsource_put(&to->there, n->m, from, n->weights.features, e))
        return true;
    bool may = n->o.own_memory && !n->o.features->window;
    if (!to->streams && (!may || e->id != ERR_GPU_MEMORY))
        return false;
    err_clear(e);
    netsource_end(&to->there, n->m);
    to->streams = true;
    return stream_rows(n, &to->there, from, e);
}

/* --- rows to train on --- */

bool network_source(struct network *n, const struct source *from, struct err *e)
{
    struct netrows_of *train = &n->rows.train;
    bool there = train->there.mapped && train->from.rows.chunks == from->rows.chunks;
    bool room = !n->o.own_memory || there || has_room(n, from); /* there: only an index is new */
    train->from = *from;
    train->streams = n->o.own_memory && !n->o.stays && (n->o.streams || !room);
    if (!n->o.stays)
        return set_rows(n, train, from, e);
    if (!room)
        return err_set(e, ERR_GPU_MEMORY, "the GPU has no room for all rows beside the network");
    return netsource_put(&train->there, n->m, from, n->weights.features, e);
}

uint64_t network_streams(const struct network *n)
{
    return n->rows.train.streams ? netstream_bytes(&n->rows.stream) : 0;
}

/* The steps of time that this training step computes; 0: all. */
static uint32_t step_most(const struct network *n, const struct step *now)
{
    const struct model *m = n->step.model;
    if (m->all_steps)
        return 0;
    return length_step(&n->rows.train.from, &m->inputs.features, now, net_step_rows(n));
}

/* How many of the next training steps have sequences of the same padded length as the first. */
static uint32_t alike(struct network *n, uint32_t steps)
{
    struct step next = n->rows.next;
    uint32_t count = 1;
    n->step.most = step_most(n, &next);
    if (features_steps(&n->step.model->inputs.features) == 1)
        return steps;
    for (; count < steps; count++) {
        next.row0 += net_step_rows(n);
        if (step_most(n, &next) != n->step.most)
            break;
    }
    return count;
}

uint32_t network_feed(struct network *n, uint32_t steps)
{
    struct netrows *r = &n->rows;
    uint64_t each = net_step_rows(n), row = r->next.row0;
    n->step.now_known = false;
    steps = alike(n, steps);
    if (!r->train.streams || row >= r->train.from.count) {
        r->next.row0 += steps * each;
        return steps;
    }
    if (r->carries != STREAM_TRAIN)
        netstream_begin(&r->stream, n->m, &r->train.from, &r->next);
    r->carries = STREAM_TRAIN;
    uint64_t end = ((row >> r->stream.shift) + 1) << r->stream.shift; /* of the part */
    uint64_t now = (end - row + each - 1) / each;
    if (now > steps)
        now = steps;
    uint64_t left = r->train.from.count - row, wanted = now * each;
    netstream_have(&r->stream, n->m, row, wanted < left ? wanted : left);
    r->next.row0 += wanted;
    return (uint32_t)now;
}

void net_feed_again(struct network *n, const struct step *again)
{
    struct step next = n->rows.next;
    net_next_step(n, again);
    network_feed(n, 1);
    net_next_step(n, &next);
}

/* --- rows to answer for --- */

/* The longest sequence of a batch; 0 if the logits of each step are kept, so that all steps have
 * them. */
uint32_t net_answer_most(const struct network *n, uint64_t row0, uint32_t batch)
{
    const struct source *from = &n->rows.answer.from;
    const struct model *m = n->answers.shapes[0].model;
    return m->tags > 1 ? 0 : length_most(from, &m->inputs.features, row0, row0 + batch);
}

bool network_answer_source(struct network *n, const struct source *from, struct err *e)
{
    struct netrows_of *answer = &n->rows.answer;
    answer->from = *from;
    answer->from.shuffle = 0;
    answer->streams = n->o.own_memory && (n->o.streams || n->rows.train.streams);
    n->rows.held = false;
    n->rows.carries = STREAM_NONE;
    return set_rows(n, answer, &answer->from, e);
}

bool network_answer_hold(struct network *n, const struct source *from, struct err *e)
{
    const struct source *is = &n->rows.answer.from;
    if (n->rows.held && is->index == from->index && is->count == from->count &&
        is->class_weight == from->class_weight && is->rows.chunks == from->rows.chunks &&
        is->rows.count == from->rows.count)
        return true;
    bool good = network_answer_source(n, from, e);
    n->rows.held = good && !n->rows.answer.streams;
    return good;
}

void network_answer_release(struct network *n)
{
    n->rows.held = false;
    netsource_end(&n->rows.answer.there, n->m);
}

void net_feed_answers(struct network *n, uint64_t row0, uint32_t batch)
{
    struct netrows *r = &n->rows;
    struct step now = {.row0 = row0};
    uint64_t left = r->answer.from.count - row0, rows = n->answers.shapes[0].model->rows;
    n->answers.most = net_answer_most(n, row0, batch);
    if (!r->answer.streams)
        return;
    if (r->carries != STREAM_ANSWER)
        netstream_begin(&r->stream, n->m, &r->answer.from, &now);
    r->carries = STREAM_ANSWER;
    netstream_have(&r->stream, n->m, row0, rows < left ? rows : left);
}
