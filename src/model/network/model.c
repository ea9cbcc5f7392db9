/* model.c - plans: the place of everything of a network in the arenas, and its two ways through. */
#include "model/network/model.h"

#include "base/mem.h"
#include "model/init.h"

static bool refuse_size(const struct architecture *a, const struct planner *p, struct err *e)
{
    err_at(e, ERR_CONFIG_SIZE, a->file, a->line, a->column,
           "the network is too large: more than %s", p->too_large);
    err_key(e, "model");
    return err_help(e, "make the layers fewer or narrower");
}

static bool reads_own_rows(const struct layer *l)
{
    bool own = l->type->own_rows && l->type->own_rows(l);
    for (uint32_t i = 0; i < l->child_count && !own; i++)
        own = reads_own_rows(l->children[i]);
    return own;
}

/* Checks views with rows of their own: nothing may be shared before they differ, and nothing may
 * mix their rows after that. */
static bool check_own_rows(struct model *m, const struct features *f, bool training, struct err *e)
{
    const uint32_t last = m->layer_count - 2;
    m->own_rows = 1;
    for (uint32_t i = 0; i + 1 < m->layer_count; i++) {
        const struct layer *l = m->layers[i];
        if (!reads_own_rows(l))
            continue;
        if (!l->type->own_rows || i != last || i > 1 ||
            (i == 1 && (!m->layers[0]->type->takes_pairs || m->layers[0]->type->takes_ids))) {
            err_set(e, ERR_CONFIG_CONFLICT,
                    "`model.layers.%u`: views with share_batches false stand beside other layers",
                    i);
            return err_help(e, "write \"share_batches\": true, or leave only an embed_numbers "
                               "before them and nothing behind");
        }
        if (training && !f->window && !f->steps) /* which have no views */
            m->own_rows = l->type->views(l);
    }
    return true;
}

/* The first layer that reads several steps and has no state for the next window; NULL: none. */
static const struct layer *stateless(struct layer *const *layers, uint32_t count)
{
    const struct layer *found = NULL;
    for (uint32_t i = 0; i < count && !found; i++) {
        const struct layer_type *t = layers[i]->type;
        if (t->of == LAYER_OF_STEPS && !t->carries)
            found = layers[i];
        else
            found = stateless(layers[i]->children, layers[i]->child_count);
    }
    return found;
}

static bool check_carry(const struct model *m, const struct planner *p, struct err *e)
{
    const struct layer *other = stateless(m->layers, m->layer_count);
    if (!other && p->carried)
        return true;
    if (other)
        err_set(e, ERR_CONFIG_CONFLICT,
                "`data.sequence.carry_state`: a layer %s reads steps of a window and keeps nothing "
                "for the next", other->type->name);
    else
        err_set(e, ERR_CONFIG_CONFLICT,
                "`data.sequence.carry_state`: the network has no recurrent layer");
    err_key(e, "data.sequence.carry_state");
    err_other(e, "model");
    return err_help(e, "only the layers lstm and gru carry a state: use their presets, or leave "
                       "carry_state out");
}

static bool plan(struct model *m, const struct architecture *a, const struct features *f,
                 struct planner *p, struct err *e)
{
    uint32_t out;
    m->outputs = f->outputs;
    p->position = p->x.read_by = 1; /* the embedding tables are 0 */
    m->layers = architecture_layers(a, f->outputs, &m->layer_count);
    m->layers[m->layer_count - 1]->logits = true;
    if (!check_own_rows(m, f, p->training, e))
        return false;
    p->own_rows = m->own_rows;
    if (!inputs_plan(&m->inputs, f, m->layers[0], p, e) ||
        !layer_list_plan(m->layers, m->layer_count, m->inputs.width, p, &out, e))
        return false;
    if (out != m->outputs && !p->too_large[0])
        return err_set(e, ERR_MODEL_CONFIG, "the last layer has %u outputs, the task needs %u", out,
                       m->outputs);
    if (f->carry && !check_carry(m, p, e))
        return false;
    m->tags = features_answers(f);
    if (p->at.steps != m->tags && m->tags > 1) {
        err_set(e, ERR_CONFIG_CONFLICT,
                "`model.layers`: the layers make %u of %u steps of a sequence, and each has an "
                "answer (data.sequence.label \"row\")", p->at.steps, m->tags);
        return err_help(e, "leave out the pool layer, or what else makes fewer steps");
    }
    if (p->at.steps > 1 && m->tags == 1) {
        err_set(e, ERR_CONFIG_CONFLICT,
                "`model.layers`: the layers leave %u steps of a sequence, and a row has one answer",
                p->at.steps);
        return err_help(e, "put {\"type\": \"pool\"} behind the layers that read steps");
    }
    const struct layer *last = m->layers[m->layer_count - 1];
    m->logits = last->y;
    m->answers = last->answers ? last->answers : 1;
    if (p->training)
        m->dlogits = plan_plain(p, m->outputs * m->answers); /* of p->at.steps */
    return !p->too_large[0] || refuse_size(a, p, e);
}

struct model *model_plan(const struct architecture *a, const struct features *f, uint32_t rows,
                         uint32_t shards, bool training, struct err *e)
{
    return model_plan_on(NULL, a, f, rows, shards, training, false, e);
}

struct model *model_plan_on(const struct machine *machine, const struct architecture *a,
                            const struct features *f, uint32_t rows, uint32_t shards,
                            bool training, bool tracks, struct err *e)
{
    struct model *m = mem_zero(1, sizeof *m);
    struct planner p = {.rows = rows, .at.steps = 1, .shards = shards, .training = training,
                        .tracks = tracks, .machine = machine};
    bool good = plan(m, a, f, &p, e);
    m->rows = rows;
    m->shards = shards;
    m->training = training;
    m->params = p.params;
    m->buffers = p.buffers;
    m->trained = p.trained;
    m->narrow = p.narrow;
    m->all_steps = p.all_steps;
    m->acts = p.acts;
    m->reals = p.reals;
    m->carried = p.carried;
    m->flops = p.flops;
    m->groups = p.groups;
    m->list = p.list;
    m->tables = p.tables;
    text_free(&p.path);
    mem_free(p.x.ends);
    if (good)
        return m;
    model_free(m);
    return NULL;
}

void model_free(struct model *m)
{
    if (!m)
        return;
    layer_list_free(m->layers, m->layer_count);
    inputs_release(&m->inputs);
    mem_free(m->groups.items);
    mem_free(m->groups.kinds);
    mem_free(m->groups.rates);
    text_free(&m->tables);
    param_list_free(&m->list);
    mem_free(m);
}

void model_init(const struct model *m, uint64_t seed, uint32_t model_number, real *params,
                real *buffers)
{
    init_constant(params, m->params, 0);
    init_constant(buffers, m->buffers, 0);
    const struct first_values v = {
        .params = params, .buffers = buffers, .seed = seed, .model = model_number};
    layer_list_init(m->inputs.layers, m->inputs.count, v);
    layer_list_init(m->layers, m->layer_count, v);
}

uint64_t model_unsound(const struct model *m, const real *buffers)
{
    return layer_list_unsound(m->layers, m->layer_count, buffers);
}

struct dims model_dims(const struct model *m)
{
    return (struct dims){.rows = m->rows,
                         .steps = 1,
                         .shards = m->shards,
                         .shard_stride = m->params - m->inputs.params};
}

struct act model_forward(const struct model *m, struct pass *p, real *target)
{
    inputs_forward(&m->inputs, p, target);
    return layer_list_forward(m->layers, m->layer_count, p, inputs_given(&m->inputs, p));
}

void model_backward(const struct model *m, struct pass *p)
{
    const struct inputs *in = &m->inputs;
    struct act dx = in->back ? pass_act(p, in->dx) : no_act();
    layer_list_backward(m->layers, m->layer_count, p, inputs_given(in, p), pass_act(p, m->dlogits),
                        dx, false, in->width);
    if (in->back)
        inputs_backward(in, p, dx);
}

bool model_stacks(const struct model *m)
{
    if (m->layers[0]->pairs.count || m->layers[0]->texts.count)
        return false;
    for (uint32_t i = 0; i < m->layer_count; i++)
        if (!m->layers[i]->type->stacks)
            return false;
    return true;
}

void model_describe(const struct model *m, struct json_out *out)
{
    json_put_int(out, "inputs", m->inputs.width);
    json_put_int(out, "outputs", m->outputs);
    json_put_int(out, "parameters", (int64_t)m->trained);
    json_open(out, "embeddings", '[');
    for (uint32_t i = 0; i < m->list.count; i++) {
        const struct param *p = &m->list.items[i];
        if (p->kind != PARAM_EMBEDDING)
            continue;
        json_open(out, NULL, '{');
        json_put_int(out, "values", (int64_t)p->shape.dims[0]);
        json_put_int(out, "dim", (int64_t)p->shape.dims[1]);
        json_close(out, '}');
    }
    json_close(out, ']');
    layer_list_describe(m->layers, m->layer_count, "layers", out);
}
