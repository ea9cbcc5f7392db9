/* mlp_match.cu - finds a stack of small dense layers at the front of a list of operations, and lays
 * out its shared memory. */
#include "backend/backend.h"
#include "epilogue.cuh"
#include "ops/lnorm.cuh"
#include "ops/loss.cuh"
#include "ops/mlp.cuh"

/* A reader of the list. */
struct front { const struct kernel_op *ops; uint32_t count, at; };

/* The arguments of the next operation if it is `op`, and moves on; else NULL. */
static const void *next_if(struct front *o, enum op_id op)
{
    return o->at < o->count && o->ops[o->at].op == op ? o->ops[o->at++].arguments : nullptr;
}

/* --- places in the block's memory --- */

static uint32_t place(uint32_t *at, uint32_t numbers)
{
    uint32_t before = *at;
    *at += (numbers + 3) / 4 * 4;
    return before;
}

static uint32_t place_rows(uint32_t *at, uint32_t rows, uint32_t width)
{
    return place(at, rows * ((width + 3) / 4 * 4));
}

static void place_layer(struct mlp_layer *l, const struct mlp *f, uint32_t *at)
{
    bool two = !f->answers && l->act != ACT_NONE && (act_needs_z(l->act) || l->scale != 0);
    l->at_by = place_rows(at, f->tile, l->out);
    l->at_y = two ? place_rows(at, f->tile, l->out) : l->at_by;
    if (l->gamma) {
        l->at_sum = place_rows(at, f->tile, l->out);
        l->at_stats = place(at, 2 * f->tile);
    }
    if (l->scale != 0)
        l->at_kept = place(at, (l->first + f->tile * l->out + 15) / 16);
}

/* Numbers of a piece: the largest of all products there and back. */
static uint32_t half_of(const struct mlp *f, uint32_t depth)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t out = f->layer[i].out * depth, in = f->layer[i].in * (depth + MLP_SKEW);
        most = most > out ? most : out;
        if (!f->answers && (i > 0 || f->dx))
            most = most > in ? most : in;
    }
    return (most + 3) / 4 * 4;
}

/* Places everything after the pieces. True: a block has that much memory. */
static bool place_rest(struct mlp *f, uint32_t at, size_t most)
{
    f->at_x = place_rows(&at, f->tile, f->layer[0].in);
    for (uint32_t i = 0; i < f->count; i++)
        place_layer(&f->layer[i], f, &at);
    f->bytes = at * sizeof(float);
    return f->bytes + BESIDE_DYNAMIC <= most;
}

/* Room for all weights. A step is an odd number of fours, so that backward reads use all banks. */
static bool place_staying(struct mlp *f, size_t most)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        struct mlp_layer *l = &f->layer[i];
        l->w_step = (l->out + 3) / 4 * 4 | 4;
        l->at_w = place(&at, l->in * l->w_step);
    }
    return place_rest(f, at, most);
}

static void choose_lanes(struct mlp *f)
{
    f->lanes = MLP_NARROW;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->layer[i].out > MLP_NARROW || f->layer[i].in > MLP_NARROW)
            f->lanes = MLP_LANES;
}

/* Weights, or their pieces, come first. If each block has a multiprocessor, it uses all lanes
 * there. False: a block has no such memory. */
static bool place_all(struct mlp *f, size_t most, unsigned alone)
{
    f->stays = true;
    for (f->tile = MLP_TILE / 2; f->tile <= MLP_TILE; f->tile *= 2) {
        f->lanes = MLP_LANES;
        if ((f->rows + f->tile - 1) / f->tile <= alone && place_staying(f, most))
            return true;
    }
    f->stays = false;
    f->tile = MLP_TILE;
    choose_lanes(f);
    for (f->depth = MLP_DEPTH; f->depth >= MLP_DEPTH / 2; f->depth /= 2) {
        uint32_t at = 0;
        f->half = half_of(f, f->depth);
        place(&at, 2 * f->half);
        if (place_rest(f, at, most))
            return true;
    }
    return false;
}

/* --- forward --- */

/* Adds the norm of the last output, and the activation after it. */
static bool add_norm(struct mlp *f, struct mlp_layer *l, struct front *o, const struct op_lnorm *n)
{
    const struct op_act *a = (const struct op_act *)next_if(o, OP_act);
    if (l->act != ACT_NONE || n->rows != f->rows || n->width != l->out || n->ldx != l->out ||
        n->ldy != l->out || (const float *)n->x.at != l->y ||
        (f->answers != 0) == (n->mean != NULL))
        return false;
    l->sum = l->y;
    l->y = (float *)n->y.at;
    l->gamma = (const float *)n->gamma;
    l->beta = (const float *)n->beta;
    l->mean = (float *)n->mean;
    l->inv = (float *)n->inv;
    l->epsilon = (float)n->epsilon;
    l->wide = lnorm_is_wide(n);
    if (!a)
        return true;
    if (a->rows != f->rows || a->width != l->out || a->ldx != l->out || a->ldy != l->out ||
        (const float *)a->x.at != l->y || a->exact != f->answers)
        return false;
    l->normed = l->y;
    l->y = (float *)a->y.at;
    l->act = a->act;
    l->slope = (float)a->slope;
    return true;
}

static bool add_dropout(struct mlp *f, struct mlp_layer *l, const struct op_dropout *d)
{
    uint64_t before = (uint64_t)d->micro * d->rows * d->width;
    if (f->answers || d->rows != f->rows || d->width != l->out || d->ldx != l->out ||
        d->ldy != l->out || (const float *)d->x.at != l->y || d->add || d->kept_known ||
        (float)d->scale == 0 || (f->now && f->now != d->now))
        return false;
    f->now = d->now;
    f->schedule = d->schedule;
    l->y = (float *)d->y.at;
    l->scale = (float)d->scale;
    l->threshold = d->threshold;
    l->position = d->layer;
    l->first = (uint32_t)(before % 4);
    l->counter = before / 4;
    return true;
}

/* Adds a dense layer, and the layers fused after it. */
static bool add_layer(struct mlp *f, struct front *o, const struct op_dense *a)
{
    struct mlp_layer *l = &f->layer[f->count];
    if (f->count == MLP_LAYERS || a->out > MLP_WIDTH || a->in > MLP_WIDTH || !a->out ||
        (f->count && (a->in != l[-1].out || (const float *)a->x.at != l[-1].y)) ||
        (f->count && (a->onehot.column_count || a->rows != f->rows)) || a->ldx != a->in ||
        a->ldy != a->out || a->exact != f->answers ||
        (a->exact ? a->z.at != NULL : a->z.at ? a->ldz != a->out : act_needs_z(a->act)))
        return false;
    l->w = (const float *)a->w;
    l->b = (const float *)a->b;
    l->y = (float *)a->y.at;
    l->by = (const float *)(act_needs_z(a->act) ? a->z.at : a->y.at);
    l->in = a->in;
    l->out = a->out;
    l->act = a->act;
    l->slope = (float)a->slope;
    f->count++;
    const struct op_lnorm *norm = (const struct op_lnorm *)next_if(o, OP_lnorm);
    if (norm && !add_norm(f, l, o, norm))
        return false;
    const struct op_dropout *dropout = (const struct op_dropout *)next_if(o, OP_dropout);
    return !dropout || add_dropout(f, l, dropout);
}

static bool has_loss(struct mlp *f, struct front *o)
{
    struct mlp_layer *last = &f->layer[f->count - 1];
    const struct op_loss_class *c = (const struct op_loss_class *)next_if(o, OP_loss_class);
    const struct op_loss_value *v = (const struct op_loss_value *)next_if(o, OP_loss_value);
    if (last->act != ACT_NONE || last->gamma || last->scale != 0)
        return false;
    if (c) {
        f->of_classes = *c;
        f->levels = class_levels_of(*c);
        f->classes = c->classes;
        last->dz = (float *)c->dlogits.at;
        return c->dlogits.at && c->rows == f->rows && c->classes == last->out &&
               c->classes <= MANY_CLASSES && c->ld == c->classes && c->ldd == c->classes &&
               (const float *)c->logits.at == last->y;
    }
    if (!v)
        return false;
    f->of_values = *v;
    last->dz = (float *)v->dy.at;
    return v->dy.at && v->rows == f->rows && last->out == 1 && v->ld == 1 && v->ldd == 1 &&
           (const float *)v->y.at == last->y;
}

/* --- back. d: the gradient of the last output, on its way through a layer to its dz --- */

static bool back_dropout(const struct mlp *f, const struct mlp_layer *l,
                         const struct op_dropout *b, float **d)
{
    bool good = (float *)b->x.at == *d && b->now == f->now && b->rows == f->rows &&
                b->width == l->out && b->ldx == l->out && b->ldy == l->out &&
                (float)b->scale == l->scale && b->threshold == l->threshold &&
                b->layer == l->position && !b->add &&
                (uint64_t)b->micro * b->rows * b->width == 4 * l->counter + l->first;
    *d = (float *)b->y.at;
    return good;
}

static bool back_act(const struct mlp *f, const struct mlp_layer *l, const struct op_act_back *b,
                     float **d)
{
    bool good = (float *)b->dy.at == *d && b->rows == f->rows && b->width == l->out &&
                b->ldx == l->out && b->lddx == l->out && b->lddy == l->out && b->act == l->act &&
                !b->add_dx && (float)b->slope == l->slope && (const float *)b->x.at == l->normed;
    *d = (float *)b->dx.at;
    return good;
}

static bool back_norm(const struct mlp *f, struct mlp_layer *l, const struct op_lnorm_back *b,
                      float **d)
{
    bool good = (float *)b->dy.at == *d && b->dx.at && b->rows == f->rows && b->width == l->out &&
                b->ldx == l->out && b->lddx == l->out && b->lddy == l->out && !b->add_dx &&
                (const float *)b->x.at == l->sum && (const float *)b->gamma == l->gamma &&
                (float *)b->mean == l->mean && (float *)b->inv == l->inv;
    l->dnormed = *d;
    l->wide_back = lnorm_back_is_wide(b);
    *d = (float *)b->dx.at;
    return good;
}

/* Matches the way back through the layers fused after the product of layer l. */
static bool back_through(const struct mlp *f, struct mlp_layer *l, struct front *o,
                         struct mlp_rest *rest, float *d)
{
    if (l->scale != 0) {
        const struct op_dropout *b = (const struct op_dropout *)next_if(o, OP_dropout);
        if (!b || !back_dropout(f, l, b, &d))
            return false;
    }
    if (l->normed) {
        const struct op_act_back *b = (const struct op_act_back *)next_if(o, OP_act_back);
        if (!b || !back_act(f, l, b, &d))
            return false;
    }
    if (l->gamma) {
        const struct op_lnorm_back *b = (const struct op_lnorm_back *)next_if(o, OP_lnorm_back);
        if (!b || !back_norm(f, l, b, &d))
            return false;
        rest->norm[rest->norms++] = b;
    }
    l->dz = d;
    return true;
}

/* The way back of layer i. */
static bool goes_back(struct mlp *f, uint32_t i, const struct op_dense_back *b)
{
    const struct mlp_layer *l = &f->layer[i];
    const float *x = i ? l[-1].y : f->x;
    uint32_t act = l->gamma ? (uint32_t)ACT_NONE : l->act;
    if (b->rows != f->rows || b->in != l->in || b->out != l->out || b->act != act ||
        (float *)b->dy.at != l->dz || (const float *)b->x.at != x || (const float *)b->w != l->w ||
        b->ldx != b->in || b->lddy != b->out || (!l->gamma && (float)b->slope != l->slope) ||
        (const float *)(act_needs_z(act) ? b->z.at : b->y.at) != l->by ||
        (act_needs_z(act) ? b->ldz : b->ldy) != l->out || !b->dw ||
        (b->dx.at && b->lddx != b->in) ||
        (i > 0 && (!b->dx.at || b->add_dx || b->onehot.column_count)))
        return false;
    if (i > 0)
        return true;
    f->dx = b->in ? (float *)b->dx.at : nullptr;
    f->add_dx = b->add_dx;
    return b->onehot.column_count == f->onehot.column_count && b->onehot.ids == f->onehot.ids &&
           b->onehot.columns == f->onehot.columns && b->onehot.ids_ld == f->onehot.ids_ld;
}

static bool all_back(struct mlp *f, struct mlp_rest *rest, struct front *o)
{
    for (uint32_t i = f->count; i-- > 0;) {
        const struct op_dense_back *b = (const struct op_dense_back *)next_if(o, OP_dense_back);
        if (!b || !goes_back(f, i, b) ||
            (i > 0 && !back_through(f, &f->layer[i - 1], o, rest, (float *)b->dx.at)))
            return false;
        rest->dense[f->count - 1 - i] = b;
    }
    return true;
}

/* --- all of it --- */

uint32_t mlp_match(struct mlp *f, struct mlp_rest *rest, const struct kernel_op *ops,
                   uint32_t count, size_t most, unsigned alone, void *scratch)
{
    struct front o = {ops, count, 0};
    const struct op_gather *g = (const struct op_gather *)next_if(&o, OP_gather);
    if (o.at == count || ops[o.at].op != OP_dense)
        return 0;
    const struct op_dense *a = (const struct op_dense *)ops[o.at].arguments;
    if (a->rows == 0 || a->rows > MLP_ROWS ||
        (g && (g->x.at != a->x.at || g->ld != a->ldx || g->rows != a->rows || g->steps > 1)))
        return 0;
    *f = mlp{};
    *rest = mlp_rest{};
    if (g)
        f->gather = *g;
    f->rows = a->rows;
    f->shards = a->shards;
    f->x = (const float *)a->x.at;
    f->onehot = a->onehot;
    f->answers = a->exact;
    while ((a = (const struct op_dense *)next_if(&o, OP_dense)))
        if (!add_layer(f, &o, a))
            return 0;
    if (f->answers ? f->count < 2 : !has_loss(f, &o) || !all_back(f, rest, &o))
        return 0;
    if (!place_all(f, most, alone))
        return 0;
    f->counter = (uint32_t *)scratch;
    f->parts = (double *)(void *)((char *)scratch + SCRATCH_HEAD);
    return o.at;
}
