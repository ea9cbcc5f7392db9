/* layer_list.c - lists of layers: made, planned, run forward and backward, written. A layer whose
 * type has takes_act computes the activation after it as well. */
#include "model/layer.h"

#include <string.h>

#include "base/mem.h"

void layer_free(struct layer *l)
{
    if (!l)
        return;
    if (l->spec && l->type->release)
        l->type->release(l);
    if (l->spec && l->type->options)
        opt_release(l->type->options, l->spec);
    mem_free(l->spec);
    layer_list_free(l->children, l->child_count);
    mem_free(l);
}

struct layer *layer_new(const struct layer_type *type)
{
    struct layer *l = mem_zero(1, sizeof *l);
    l->type = type;
    l->spec = mem_zero(1, type->spec_size ? type->spec_size : 1);
    return l;
}

struct layer *layer_copy(const struct layer *l)
{
    struct layer *c = layer_new(l->type);
    opt_copy(l->type->options, l->spec, l->type->spec_size, c->spec);
    c->child_count = l->child_count;
    if (l->children)
        c->children = mem_alloc((size_t)l->child_count + 1, sizeof *c->children);
    for (uint32_t i = 0; i < l->child_count; i++)
        c->children[i] = layer_copy(l->children[i]);
    return c;
}

struct layer *layer_copy_wide(const struct layer *l, uint32_t units)
{
    struct layer *c = layer_copy(l);
    const struct option *row = opt_find(l->type->options, "units");
    const int64_t wide = units;
    memcpy((char *)c->spec + row->offset, &wide, sizeof wide);
    return c;
}

void layer_list_free(struct layer **layers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        layer_free(layers[i]);
    mem_free(layers);
}

/* --- planning --- */

/* The first activation after layer i. Norms and dropout in between do not change which initial
 * weights it needs. */
static uint32_t next_act(struct layer *const *layers, uint32_t count, uint32_t i)
{
    for (i++; i < count; i++) {
        if (layers[i]->type->act != ACT_NONE)
            return layers[i]->type->act;
        if (layers[i]->type->takes_act || layers[i]->type->nests)
            break;
    }
    return ACT_NONE;
}

/* True: the layer ends in a linear one: the mean of its outputs is the output of a mean. */
static bool takes_pool(const struct layer *l)
{
    return l->type->takes_pool && !l->onehot.count && !l->pairs.count && !l->texts.count &&
           (!l->type->nests || takes_pool(l->children[l->child_count - 1]));
}

/* inside: a residual block, where a pool is refused. */
static void fuse(struct layer *const *layers, uint32_t count, uint32_t i, const struct planner *p,
                 bool inside)
{
    struct layer *l = layers[i], *next = i + 1 < count ? layers[i + 1] : NULL;
    l->next_act = next_act(layers, count, i);
    if (next && !inside && p->at.steps > 1 && !p->in_views && takes_pool(l) &&
        pool_commutes(next, &l->pooled.kind))
        l->pooled.on = next->skipped = true;
    if (!l->type->takes_act || l->pairs.count || l->texts.count || !next ||
        next->type->act == ACT_NONE)
        return;
    l->fused_act = next->type->act;
    l->fused_slope = act_slope(next);
    next->skipped = true;
}

bool layer_refuse(const struct layer *l, const struct planner *p, struct err *e, const char *what,
                  const char *hint)
{
    err_set(e, ERR_CONFIG_CONFLICT, "`model.%.*s`: %s %s", (int)p->path.length - 1, p->path.data,
            l->type->name, what);
    return err_help(e, "%s", hint);
}

/* True: the layer can read the planned number of steps. */
static bool check_steps(const struct layer *l, const struct planner *p, struct err *e)
{
    if (l->type->of == LAYER_OF_STEPS && p->at.steps == 1)
        return p->sequences
                   ? layer_refuse(l, p, e, "reads the steps of a sequence, and there is one step "
                                           "here", "leave out the pool layer before it")
                   : layer_refuse(l, p, e, "reads the steps of a sequence, and there are none",
                                  "say with data.sequence which columns are steps");
    if (l->type->of == LAYER_OF_ROWS && p->at.steps > 1 && !p->in_views)
        return layer_refuse(l, p, e, "does not work on steps of a sequence",
                            "put it behind a pool layer, or use layer_norm or dense");
    return true;
}

/* A block's answer is added to its input: step by step. */
static bool check_nested(const struct layer *l, const struct planner *p, struct err *e)
{
    return !p->sequences || p->in_views || p->at.steps == l->from.steps || l->pooled.on ||
           layer_refuse(l, p, e, "gives another number of steps, and stands inside a residual "
                                 "block", "put it before or behind the block");
}

bool layer_list_plan(struct layer **layers, uint32_t count, uint32_t in, struct planner *p,
                     uint32_t *out, struct err *e)
{
    struct layer *before = NULL;
    const struct layer *outside = p->layer;
    size_t path = p->path.length;
    for (uint32_t i = 0; i < count; i++) {
        struct layer *l = layers[i];
        p->path.length = path;
        text_printf(&p->path, "layers.%u.", i);
        p->layer = l;
        fuse(layers, count, i, p, outside != NULL);
        l->in = l->out = in;
        l->position = p->position++;
        if (l->position >= LAYER_MOST)
            plan_refuse(p, "%d layers", LAYER_MOST);
        l->from = p->at;
        uint64_t trained = p->trained, flops = p->flops, room = p->acts;
        if (!l->skipped &&
            (!check_steps(l, p, e) || !l->type->plan(l, p, e) ||
             (outside && !check_nested(l, p, e))))
            return false;
        if (!l->type->nests) /* else its layers have */
            p->flops = flops + (p->flops - flops) * (l->pooled.on ? 1 : l->from.steps);
        l->params = p->trained - trained;
        l->room = p->acts - room;
        l->to = p->at;
        in = l->out;
        if (l->skipped)
            continue;
        if (before && p->training) {
            room = p->acts;
            before->dy = plan_back(p, before->out, l->from.steps);
            before->room += p->acts - room;
        }
        before = l;
    }
    p->layer = outside;
    p->path.length = path;
    if (p->path.data)
        p->path.data[path] = '\0';
    *out = in;
    return true;
}

void layer_list_init(struct layer *const *layers, uint32_t count, struct first_values v)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct layer *l = layers[i];
        v.position = l->position;
        if (l->type->init && !l->skipped)
            l->type->init(l, &v);
        layer_list_init(l->children, l->child_count, v);
    }
}

uint64_t layer_list_unsound(struct layer *const *layers, uint32_t count, const real *buffers)
{
    uint64_t found = UINT64_MAX;
    for (uint32_t i = 0; i < count && found == UINT64_MAX; i++) {
        const struct layer *l = layers[i];
        if (l->type->unsound)
            found = l->type->unsound(l, buffers);
        if (found == UINT64_MAX)
            found = layer_list_unsound(l->children, l->child_count, buffers);
    }
    return found;
}

/* --- running: a trace names the layer of each operation --- */

static struct act run_forward(const struct layer *l, struct pass *p, struct act x)
{
    const void *outside = machine_owner(p->m, l);
    struct act y = l->type->forward(l, p, x);
    machine_owner(p->m, outside);
    return y;
}

void layer_run_backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                        struct act dx, bool add)
{
    const void *outside = machine_owner(p->m, l);
    l->type->backward(l, p, x, dy, dx, add);
    machine_owner(p->m, outside);
}

static void stand_at(struct pass *p, const struct layer *l)
{
    p->dims.steps = pass_steps(p, &l->from);
    if (p->length)
        p->length = lengths_at(p, l->from.length);
}

struct act layer_list_forward(struct layer *const *layers, uint32_t count, struct pass *p,
                               struct act x)
{
    for (uint32_t i = 0; i < count; i++) {
        if (layers[i]->skipped)
            continue;
        stand_at(p, layers[i]);
        if (p->before)
            p->before(layers[i], p, x);
        x = run_forward(layers[i], p, x);
    }
    return x; /* an empty list gives back its input */
}

/* The layer before i that does something, or `count`. */
static uint32_t previous(struct layer *const *layers, uint32_t count, uint32_t i)
{
    while (i-- > 0)
        if (!layers[i]->skipped)
            return i;
    return count;
}

void layer_list_backward(struct layer *const *layers, uint32_t count, struct pass *p,
                         struct act x, struct act dy, struct act dx, bool add,
                         uint32_t width)
{
    uint32_t i = previous(layers, count, count);
    if (i == count) {
        if (dx.at)
            op_add(p->m, &(struct op_add){.y = dx,
                                          .a = dy,
                                          .b = add ? dx : no_act(),
                                          .dims = pass_dims(p, width),
                                          .ldy = width,
                                          .lda = width,
                                          .ldb = width});
        return;
    }
    while (i != count) {
        const struct layer *l = layers[i];
        uint32_t before = previous(layers, count, i);
        stand_at(p, l);
        if (before == count) {
            layer_run_backward(l, p, x, dy, dx, add);
            return;
        }
        const struct layer *b = layers[before];
        struct act between = pass_act(p, b->dy);
        layer_run_backward(l, p, pass_act(p, b->y), dy, between, false);
        dy = between;
        i = before;
    }
}

/* --- writing --- */

void layer_list_write(struct layer *const *layers, uint32_t count, const char *key, bool training,
                      struct json_out *out)
{
    json_open(out, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct layer *l = layers[i];
        json_open(out, NULL, '{');
        for (const struct option *row = l->type->options; row->key; row++)
            if (row->type != OPT_CUSTOM && (training || !(row->flags & OPT_TRAINING)))
                opt_write_value(row, l->spec, row->key, out);
        if (l->type->nests)
            layer_list_write(l->children, l->child_count, "layers", training, out);
        json_close(out, '}');
    }
    json_close(out, ']');
}

void layer_list_describe(struct layer *const *layers, uint32_t count, const char *key,
                         struct json_out *out)
{
    json_open(out, key, '[');
    for (uint32_t i = 0; i < count; i++) {
        const struct layer *l = layers[i];
        json_open(out, NULL, '{');
        json_put_string(out, "type", l->type->name);
        json_put_int(out, "in", l->in);
        json_put_int(out, "out", l->out);
        json_put_int(out, "parameters", (int64_t)l->params);
        json_put_int(out, "activation_bytes", (int64_t)(l->room * sizeof(real)));
        if (l->type->nests)
            layer_list_describe(l->children, l->child_count, "layers", out);
        json_close(out, '}');
    }
    json_close(out, ']');
}
