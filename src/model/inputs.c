/* inputs.c - see inputs.h. */
#include "model/inputs.h"

#include "base/mem.h"

#define MOST_WIDTH ((uint64_t)1 << 24)

const struct layer_type *const input_types[] = {
    &input_numbers,
    &input_embedding,
    &input_one_hot,
    NULL,
};

static void *copy(const void *from, size_t count, size_t size)
{
    return count ? mem_copy(from, count * size) : NULL;
}

bool plan_columns(struct planner *p, uint64_t count, uint32_t *at)
{
    *at = (uint32_t)p->columns;
    if (p->columns <= MOST_WIDTH)
        p->columns += count;
    return p->columns <= MOST_WIDTH;
}

static bool plan_layers(struct model *m, struct planner *p, struct err *e)
{
    for (const struct layer_type *const *type = input_types; *type; type++) {
        struct layer *l = layer_new(*type);
        m->inputs = mem_grow(m->inputs, (size_t)m->input_count + 1, sizeof(struct layer *));
        m->inputs[m->input_count++] = l;
        p->path.length = 0;
        text_printf(&p->path, "%s.", l->type->name);
        uint64_t columns = p->columns, trained = p->trained;
        if (!l->type->plan(l, p, e))
            return false;
        l->out = (uint32_t)(p->columns - columns);
        l->params = p->trained - trained;
    }
    p->path.length = 0;
    return true;
}

static bool refuse(uint64_t width, struct err *e)
{
    if (width == 0)
        return err_set(e, ERR_CONFIG_EMPTY,
                       "there is no column to learn from: no number, date or category");
    return err_set(e, ERR_CONFIG_SIZE, "the features make a row of more than %llu numbers",
                   (unsigned long long)MOST_WIDTH);
}

/* Columns that stay ids are the last ones, and the first hidden layer's business. */
static void hand_over_ids(struct model *m)
{
    for (uint32_t i = 0; i < m->input_count; i++)
        if (m->inputs[i]->hot.count)
            m->layers[0]->hot = m->inputs[i]->hot;
    m->held = m->width - m->layers[0]->hot.width;
}

bool inputs_plan(struct model *m, const struct features *f, struct planner *p, struct err *e)
{
    m->features = *f;
    m->features.indicators = copy(f->indicators, f->indicator_count, sizeof *f->indicators);
    m->features.categories = copy(f->categories, f->format.categories, sizeof *f->categories);
    m->outputs = f->outputs;
    p->features = &m->features;
    p->takes_ids = m->layers[0]->type->takes_ids;
    if (!plan_layers(m, p, e))
        return false;
    if (p->columns == 0 || p->columns > MOST_WIDTH)
        return refuse(p->columns, e);
    m->width = (uint32_t)p->columns;
    hand_over_ids(m);
    m->front_params = p->params;
    m->x = plan_plain(p, m->held);
    if (p->training && m->front_params)
        m->dx = plan_plain(p, m->held);
    for (uint32_t i = 0; i < m->input_count; i++) {
        m->inputs[i]->in = m->held;
        m->inputs[i]->y = m->x;
    }
    return true;
}

void inputs_release(struct model *m)
{
    layer_list_free(m->inputs, m->input_count);
    mem_free(m->features.indicators);
    mem_free(m->features.categories);
}

void inputs_forward(const struct model *m, struct pass *p, const struct source *from, real *target)
{
    struct act *x = pass_act(p, m->x);
    op_gather(p->m, &(struct op_gather){.x = x,
                                        .ids = p->ids,
                                        .target = target,
                                        .weight = p->weight,
                                        .from = from,
                                        .now = p->now,
                                        .rows = p->rows,
                                        .ld = m->held,
                                        .micro = p->micro,
                                        .whole = p->whole});
    layer_list_forward(m->inputs, m->input_count, p, x);
}

void inputs_backward(const struct model *m, struct pass *p, struct act *dx)
{
    for (uint32_t i = 0; i < m->input_count; i++)
        if (m->inputs[i]->type->backward)
            m->inputs[i]->type->backward(m->inputs[i], p, NULL, dx, NULL, false);
}
