/* opcase_attend.c - the cases of attention: `in` columns, `out` steps. */
#include "backend/cases/opcase.h"

static uint32_t places(const struct opcase *c)
{
    return c->rows * c->out;
}

static struct act input(struct opdata *d, const char *name, size_t rows, uint32_t width)
{
    return (struct act){.at = opdata_input(d, name, BUFFER_ACT, rows, width, 0, 1),
                        .form = d->form};
}
static struct act output(struct opdata *d, const char *name, size_t rows, uint32_t width,
                         bool fill)
{
    return (struct act){.at = opdata_output(d, name, BUFFER_ACT, rows, width, 0, fill),
                        .form = d->form};
}

/* kind: by how much steps move, and in which direction; CASE_BARE: no vectors */
#define POSITION(r, i, o, k, f)                                                                    \
    {.op = OP_position, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .gate = 1e-6}
static const struct opcase cases_position[] = {
    POSITION(64, 32, 16, 0, 0), POSITION(33, 17, 5, 1, 0),
    POSITION(9, 3, 4, 2, CASE_ADD | CASE_BARE), POSITION(1, 1, 1, 0, CASE_ADD)};

static void make_position(const struct opcase *c, struct opdata *d)
{
    uint32_t x_steps = c->kind == 1 ? c->out - 1 : c->kind ? c->out + 1 : c->out;
    d->arguments.position = (struct op_position){
        .y = output(d, "y", places(c), c->in, true),
        .x = input(d, "x", (size_t)c->rows * x_steps, c->in),
        .p = c->flags & CASE_BARE ? NULL : opdata_input(d, "p", BUFFER_REAL, c->out, c->in, 0, 1),
        .rows = c->rows,
        .steps = c->out,
        .width = c->in,
        .x_steps = x_steps,
        .count = c->kind ? 1 : c->out,
        .add = c->flags & CASE_ADD ? 1 : 0,
        .shift = c->kind == 1 ? -1 : c->kind ? 1 : 0};
}
OPCASES(position);

/* kind: steps of dp beyond the batch's */
#define POSITION_BACK(r, i, o, k, f)                                                               \
    {.op = OP_position_back, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .gate = 1e-5}
static const struct opcase cases_position_back[] = {
    POSITION_BACK(64, 32, 16, 3, 0), POSITION_BACK(33, 17, 5, 2, CASE_MORE),
    POSITION_BACK(1, 1, 1, 0, 0)};

static void make_position_back(const struct opcase *c, struct opdata *d)
{
    d->arguments.position_back = (struct op_position_back){
        .dp = opdata_output(d, "dp", BUFFER_REAL, c->out + c->kind, c->in, 0, true),
        .dy = input(d, "dy", places(c), c->in),
        .rows = c->rows,
        .steps = c->out,
        .width = c->in,
        .count = c->out + c->kind,
        .more = c->flags & CASE_MORE ? 1 : 0};
}
OPCASES(position_back);

static const struct opcase cases_lengths[] = {
    {.op = OP_lengths, .rows = 64, .in = 1, .out = 16, .kind = 1},
    {.op = OP_lengths, .rows = 33, .in = 1, .out = 5, .kind = 3}};

static void make_lengths(const struct opcase *c, struct opdata *d)
{
    d->arguments.lengths = (struct op_lengths){
        .to = opdata_output(d, "to", BUFFER_INT, c->rows, 1, 0, false),
        .from = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .width = 1,
        .more = c->kind == 1,
        .divide = c->kind};
}
OPCASES(lengths);

/* in: pairs of a part; kind: parts; a line has room for one more */
#define ROTARY(r, i, o, k, f)                                                                      \
    {.op = OP_rotary, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .gate = 1e-6}
static const struct opcase cases_rotary[] = {ROTARY(64, 8, 16, 4, 0),
                                             ROTARY(33, 3, 5, 2, CASE_SECOND),
                                             ROTARY(1, 1, 1, 1, 0)};

static void make_rotary(const struct opcase *c, struct opdata *d)
{
    uint32_t ld = 2 * c->in * (c->kind + 1);
    size_t count = (size_t)c->out * 2 * c->in;
    real *turn = opdata_host(d, count, sizeof *turn);
    for (size_t i = 0; i < count; i++)
        turn[i] = (real)opdata_random(d, 2001) / 1000 - 1;
    d->arguments.rotary = (struct op_rotary){
        .x = output(d, "x", places(c), ld, true),
        .turn = opdata_values(d, "turn", BUFFER_REAL, turn, count, false),
        .rows = c->rows,
        .steps = c->out,
        .width = 2 * c->in * c->kind,
        .ld = ld,
        .half = c->in,
        .back = c->flags & CASE_SECOND ? 1 : 0};
}
OPCASES(rotary);

/* in: columns of a head; kind: heads; CASE_SECOND: causal. One step; steps of several tiles, whole
 * and not, of whole fours of columns and not; a head of several tiles. */
#define ATTENTION(OP, r, i, o, k, f)                                                               \
    {.op = OP, .rows = r, .in = i, .out = o, .kind = k, .flags = f, .gate = 1e-5}
#define ATTENTIONS(OP)                                                                             \
    ATTENTION(OP, 6, 8, 16, 4, 0), ATTENTION(OP, 5, 33, 7, 2, CASE_SECOND),                        \
        ATTENTION(OP, 3, 3, 70, 1, CASE_SECOND), ATTENTION(OP, 2, 40, 40, 1, 0),                   \
        ATTENTION(OP, 1, 1, 1, 1, 0), ATTENTION(OP, 7, 12, 1, 2, 0),                               \
        ATTENTION(OP, 2, 4, 135, 1, CASE_SECOND), ATTENTION(OP, 2, 16, 64, 2, 0),                  \
        ATTENTION(OP, 1, 70, 97, 1, 0), ATTENTION(OP, 2, 100, 9, 1, CASE_SECOND)
static const struct opcase cases_attention[] = {ATTENTIONS(OP_attention)};

static void make_attention(const struct opcase *c, struct opdata *d)
{
    uint32_t width = c->in * c->kind;
    d->arguments.attention = (struct op_attention){
        .y = output(d, "y", places(c), width, false),
        .x = input(d, "x", places(c), 3 * width),
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .width = width,
        .heads = c->kind,
        .causal = c->flags & CASE_SECOND ? 1 : 0};
    d->flops = 4.0 * places(c) * c->out * width;
}
OPCASES(attention);

static const struct opcase cases_attention_back[] = {ATTENTIONS(OP_attention_back)};

static void make_attention_back(const struct opcase *c, struct opdata *d)
{
    uint32_t width = c->in * c->kind;
    d->arguments.attention_back = (struct op_attention_back){
        .dx = output(d, "dx", places(c), 3 * width, false),
        .room = opdata_input(d, "room", BUFFER_REAL, places(c), 2 * (size_t)c->kind, 0, 1),
        .dy = input(d, "dy", places(c), width),
        .x = input(d, "x", places(c), 3 * width),
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .width = width,
        .heads = c->kind,
        .causal = c->flags & CASE_SECOND ? 1 : 0};
    d->flops = 10.0 * places(c) * c->out * width;
}
OPCASES(attention_back);

#define WEIGH(OP, r, i, o, f) {.op = OP, .rows = r, .in = i, .out = o, .flags = f, .gate = 1e-5}
static const struct opcase cases_weigh[] = {WEIGH(OP_weigh, 64, 32, 16, 0),
                                            WEIGH(OP_weigh, 33, 17, 40, 0),
                                            WEIGH(OP_weigh, 1, 1, 1, 0)};

static void make_weigh(const struct opcase *c, struct opdata *d)
{
    d->arguments.weigh = (struct op_weigh){
        .y = output(d, "y", c->rows, c->in, false),
        .share = opdata_output(d, "share", BUFFER_REAL, places(c), 1, 0, false),
        .x = input(d, "x", places(c), c->in),
        .score = input(d, "score", places(c), 1),
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .width = c->in};
}
OPCASES(weigh);

static const struct opcase cases_weigh_back[] = {WEIGH(OP_weigh_back, 64, 32, 16, 0),
                                                 WEIGH(OP_weigh_back, 33, 17, 40, CASE_ADD),
                                                 WEIGH(OP_weigh_back, 5, 3, 4, CASE_BARE)};

static void make_weigh_back(const struct opcase *c, struct opdata *d)
{
    real *share = opdata_host(d, places(c), sizeof *share);
    for (uint32_t i = 0; i < places(c); i++)
        share[i] = (real)opdata_random(d, 1001) / 1000;
    d->arguments.weigh_back = (struct op_weigh_back){
        .dx = c->flags & CASE_BARE ? no_act() : output(d, "dx", places(c), c->in, true),
        .dscore = output(d, "dscore", places(c), 1, false),
        .dy = input(d, "dy", c->rows, c->in),
        .x = input(d, "x", places(c), c->in),
        .share = opdata_values(d, "share", BUFFER_REAL, share, places(c), false),
        .length = opdata_lengths(d, c),
        .rows = c->rows,
        .steps = c->out,
        .width = c->in,
        .add_dx = c->flags & CASE_ADD ? 1 : 0};
}
OPCASES(weigh_back);
