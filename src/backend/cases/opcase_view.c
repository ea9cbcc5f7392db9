/* opcase_view.c - the cases of views: `out` of them, rows `in` wide. CASE_SECOND: all views
 * have the same row of x, CASE_BARE: without b, db and dx; of view_mean: values. */
#include "backend/cases/opcase.h"

#define SCALE(r, i, o, f) {.op = OP_view_scale, .rows = r, .in = i, .out = o, .flags = f,        \
                           .gate = 1e-6}
static const struct opcase cases_view_scale[] = {
    SCALE(256, 20, 32, CASE_SECOND), SCALE(64, 96, 8, 0), SCALE(7, 5, 3, CASE_BARE),
    SCALE(1, 1, 1, CASE_SECOND | CASE_BARE), SCALE(33, 67, 4, CASE_SECOND)};

static real *weights_of(struct opdata *d, const struct opcase *c, const char *name)
{
    return opdata_input(d, name, BUFFER_REAL, c->out, c->in, 0, 1);
}

static uint32_t width_of(const struct opcase *c)
{
    return c->flags & CASE_SECOND ? c->in : c->in * c->out;
}

static void make_view_scale(const struct opcase *c, struct opdata *d)
{
    d->arguments.view_scale = (struct op_view_scale){
        .y = opdata_act_output(d, "y", c, c->in * c->out, false),
        .x = opdata_act_input(d, "x", c, width_of(c), 1),
        .w = weights_of(d, c, "w"),
        .b = c->flags & CASE_BARE ? NULL : weights_of(d, c, "b"),
        .rows = c->rows,
        .width = c->in,
        .views = c->out,
        .shared = c->flags & CASE_SECOND ? 1 : 0};
    d->flops = 2.0 * c->rows * c->in * c->out;
}
OPCASES(view_scale);

#define BACK(r, i, o, f) {.op = OP_view_scale_back, .rows = r, .in = i, .out = o, .flags = f,    \
                          .gate = 1e-4}
static const struct opcase cases_view_scale_back[] = {
    BACK(256, 20, 32, CASE_SECOND | CASE_BARE), BACK(64, 96, 8, 0),
    BACK(7, 5, 3, CASE_MORE | CASE_ADD), BACK(1, 1, 1, CASE_SECOND),
    BACK(33, 67, 4, CASE_SECOND | CASE_MORE | CASE_ADD), BACK(40, 9, 2, CASE_BARE)};

static void make_view_scale_back(const struct opcase *c, struct opdata *d)
{
    bool bare = c->flags & CASE_BARE;
    d->arguments.view_scale_back = (struct op_view_scale_back){
        .dx = bare ? no_act() : opdata_act_output(d, "dx", c, width_of(c), true),
        .dw = opdata_output(d, "dw", BUFFER_REAL, c->out, c->in, 0, true),
        .db = bare ? NULL : opdata_output(d, "db", BUFFER_REAL, c->out, c->in, 0, true),
        .dy = opdata_act_input(d, "dy", c, c->in * c->out, 1),
        .x = opdata_act_input(d, "x", c, width_of(c), 1),
        .w = weights_of(d, c, "w"),
        .rows = c->rows,
        .width = c->in,
        .views = c->out,
        .shared = c->flags & CASE_SECOND ? 1 : 0,
        .add_dx = c->flags & CASE_ADD ? 1 : 0,
        .more = c->flags & CASE_MORE ? 1 : 0};
    d->flops = 5.0 * c->rows * c->in * c->out;
}
OPCASES(view_scale_back);

#define MEAN(r, i, o, f) {.op = OP_view_mean, .rows = r, .in = i, .out = o, .flags = f,          \
                          .gate = 1e-5}
static const struct opcase cases_view_mean[] = {
    MEAN(256, 2, 32, 0), MEAN(70, 9, 5, 0), MEAN(300, 1, 32, CASE_BARE), MEAN(1, 3, 1, 0),
    MEAN(3, 700, 4, 0)};

static void make_view_mean(const struct opcase *c, struct opdata *d)
{
    d->arguments.view_mean =
        (struct op_view_mean){.y = opdata_act_output(d, "y", c, c->in, false),
                                .x = opdata_act_input(d, "x", c, c->in * c->out, 3),
                                .rows = c->rows,
                                .outputs = c->in,
                                .views = c->out,
                                .values = c->flags & CASE_BARE ? 1 : 0};
    d->flops = 20.0 * c->rows * c->in * c->out;
}
OPCASES(view_mean);
