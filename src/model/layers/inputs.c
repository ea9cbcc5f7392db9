/* inputs.c - see inputs.h. */
#include "model/layers/inputs.h"

#include "base/mem.h"

static const struct layer_type *const types[] = {
#define INPUT(name) &input_##name,
#include "model/layers/layers.def"
    NULL,
};

static void *copy(const void *from, size_t count, size_t size)
{
    return count ? mem_copy(from, count * size) : NULL;
}

static bool plan_layers(struct inputs *in, struct planner *p, struct err *e)
{
    for (const struct layer_type *const *type = types; *type; type++) {
        struct layer *l = layer_new(*type);
        in->layers = mem_grow(in->layers, (size_t)in->count + 1, sizeof(struct layer *));
        in->layers[in->count++] = l;
        p->path.length = 0;
        text_printf(&p->path, "%s.", l->type->name);
        uint64_t columns = p->x.count, trained = p->trained;
        if (!l->type->plan(l, p, e))
            return false;
        l->out = (uint32_t)(p->x.count - columns);
        l->params = p->trained - trained;
    }
    p->path.length = 0;
    return true;
}

static bool refuse(uint64_t width, struct err *e)
{
    if (width == 0)
        return err_set(e, ERR_CONFIG_EMPTY,
                       "there is no column to learn from: no number, date, category or text");
    return err_set(e, ERR_CONFIG_SIZE, "the features make a row of more than %llu numbers",
                   (unsigned long long)FIRST_MOST_WIDTH);
}

/* True: it takes the gradient of x. Texts that the first hidden layer reads are its business. */
static bool goes_back(const struct layer *l)
{
    return l->type->backward && !l->skipped && !l->texts.count;
}

/* Columns that stay ids are the last ones. They and pairs are the first hidden layer's business. */
static void hand_over(struct inputs *in, struct layer *first)
{
    for (uint32_t i = 0; i < in->count; i++) {
        const struct layer *l = in->layers[i];
        if (l->onehot.count)
            first->onehot = l->onehot;
        if (l->pairs.count)
            first->pairs = l->pairs;
        if (l->texts.count)
            first->texts = l->texts;
        in->back |= goes_back(l);
    }
}

/* Rows that the input layers make of one of the batch, at most. */
static uint32_t row_steps(const struct inputs *in)
{
    return in->tokens ? in->steps : in->each;
}

/* The steps of sequences in this batch. */
static uint32_t batch_steps(const struct inputs *in, const struct pass *p)
{
    return p->most && p->most < in->steps ? p->most : in->steps;
}

/* The steps of sequences. p->at.steps is theirs from here on. */
static bool plan_series(struct inputs *in, const struct features *f, struct planner *p,
                        struct err *e)
{
    in->steps = in->records ? f->window : f->steps;
    if (!in->steps)
        return true;
    p->sequences = true;
    p->at.steps = in->steps;
    p->at.divide = 1;
    plan_lengths(p, 0, 1);
    in->length = p->at.length;
    if (in->records && f->carry)
        in->begins = plan_kept(p, (uint64_t)p->rows * sizeof(int32_t));
    if (in->records)
        return true;
    if (in->tokens) {
        in->series = plan_plain(p, in->width);
        in->dx = p->training ? plan_plain(p, in->width) : in->dx;
        return true;
    }
    if (f->indicator_count != f->format.numbers || f->format.numbers % f->steps ||
        p->x.count != 2 * (uint64_t)f->format.numbers)
        return err_set(e, ERR_MODEL_CONFIG, "the columns of a sequence are not channels x steps");
    in->width = f->format.numbers / f->steps;
    in->series = plan_plain(p, in->width);
    return true;
}

bool inputs_plan(struct inputs *in, const struct features *f, struct layer *first,
                 struct planner *p, struct err *e)
{
    in->features = *f;
    in->features.indicators = copy(f->indicators, f->indicator_count, sizeof *f->indicators);
    in->features.categories = copy(f->categories, f->format.categories, sizeof *f->categories);
    in->features.numbers =
        f->numbers ? copy(f->numbers, f->format.numbers, sizeof *f->numbers) : NULL;
    in->features.edges = copy(f->edges, f->edge_count, sizeof *f->edges);
    in->features.texts = copy(f->texts, f->text_count, sizeof *f->texts);
    in->features.text_weights = copy(f->text_weights, f->bucket_count, sizeof *f->text_weights);
    const uint32_t rows = p->rows;
    in->records = f->window > 0;
    in->tokens = features_tokens(f) != NULL;
    in->each = in->records ? f->window : p->own_rows;
    if ((uint64_t)rows * in->each > UINT32_MAX)
        plan_refuse(p, "2^32 steps of a batch");
    else
        p->rows = rows * in->each; /* a record is a row of x */
    p->features = &in->features;
    p->first.takes_ids = first->type->takes_ids && !in->records;
    p->first.pair_rate = 1;
    p->first.pair_units = first->type->takes_pairs && !in->records
                        ? first->type->takes_pairs(first, &p->first.pair_rate)
                        : 0;
    if (!plan_layers(in, p, e))
        return false;
    hand_over(in, first);
    uint64_t width =
        in->tokens ? features_tokens(f)->dim : p->x.count + first->pairs.components;
    if (width == 0 || width > FIRST_MOST_WIDTH)
        return refuse(width, e);
    in->width = (uint32_t)width;
    in->held = (uint32_t)p->x.count - first->onehot.width;
    in->params = p->params;
    in->x = plan_plain(p, in->held);
    if (p->training && in->back)
        in->dx = plan_plain(p, in->held);
    p->rows = rows;
    p->at.steps = p->own_rows;
    p->in_views = p->own_rows > 1;
    if (!plan_series(in, f, p, e))
        return false;
    for (uint32_t i = 0; i < in->count; i++) {
        in->layers[i]->in = in->tokens ? in->width : in->held;
        in->layers[i]->y = in->tokens ? in->series : in->x;
        in->layers[i]->from.steps = row_steps(in);
        in->layers[i]->from.length = in->length;
        in->layers[i]->from.divide = in->tokens || in->records;
    }
    return true;
}

void inputs_release(struct inputs *in)
{
    layer_list_free(in->layers, in->count);
    mem_free(in->features.indicators);
    mem_free(in->features.categories);
    mem_free(in->features.numbers);
    mem_free(in->features.edges);
    mem_free(in->features.texts);
    mem_free(in->features.text_weights);
}

void inputs_forward(const struct inputs *in, struct pass *p, real *target)
{
    struct act x = pass_act(p, in->x);
    const bool views = in->each > 1 && !in->records;
    int32_t *begins = in->features.carry ? lengths_at(p, in->begins) : NULL;
    p->state.begins = begins;
    p->dims.steps = in->records ? batch_steps(in, p) : in->each;
    op_gather(p->m, &(struct op_gather){.x = x,
                                        .ids = p->ids,
                                        .target = target,
                                        .weight = p->weight,
                                        .length = in->records ? lengths_at(p, in->length) : NULL,
                                        .begins = begins,
                                        .from = p->from,
                                        .now = p->now,
                                        .dims = pass_dims(p, in->held),
                                        .ld = in->held,
                                        .micro = p->micro,
                                        .whole = p->whole,
                                        .each = in->features.each || views,
                                        .views = views,
                                        .categories = in->features.format.categories});
    p->length = in->tokens ? lengths_at(p, in->length) : p->length;
    layer_list_forward(in->layers, in->count, p, x);
    if (!in->steps || in->records || in->tokens)
        return;
    struct dims dims = pass_dims(p, in->width);
    dims.steps = batch_steps(in, p);
    op_series(p->m, &(struct op_series){.y = pass_act(p, in->series),
                                        .length = lengths_at(p, in->length),
                                        .x = x,
                                        .dims = dims,
                                        .ldx = in->held,
                                        .x_steps = in->steps});
}

struct act inputs_given(const struct inputs *in, struct pass *p)
{
    p->length = in->steps ? lengths_at(p, in->length) : NULL;
    return pass_act(p, in->steps && !in->records ? in->series : in->x);
}

void inputs_backward(const struct inputs *in, struct pass *p, struct act dx)
{
    p->dims.steps = in->tokens || in->records ? batch_steps(in, p) : in->each;
    for (uint32_t i = 0; i < in->count; i++)
        if (goes_back(in->layers[i]))
            layer_run_backward(in->layers[i], p, no_act(), dx, no_act(), false);
}
