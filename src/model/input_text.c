/* input_text.c - texts as hashed terms (op_text). A first hidden layer that takes pairs (dense)
 * adds the rows of text.weight [buckets][units] for the terms of a row; before any other,
 * text.weight [buckets][TEXT_DIM] makes columns of x (the sum of a row's word vectors: Joulin et
 * al., "Bag of tricks for efficient text classification", 2017). One more column a text says that
 * it has no term. */
#include "base/mem.h"
#include "model/init.h"
#include "model/inputs.h"

enum { TEXT_DIM = 32 };
/* A text has length 1. Weights of the first hidden layer begin small: none has a say before rows
 * with its terms were seen. Columns of x begin as large as the others. */
#define FIRST_LIMIT 0.02
#define COLUMN_LIMIT 1.0

struct text_spec {
    struct text_column *columns; /* [count], owned */
    uint32_t count, units, at;   /* at: the first column of x, where the terms make columns */
    uint64_t table, weights;     /* in machine memory */
    uint64_t weight, scales;     /* a parameter; of a batch, in the reals */
};
static const struct option options[] = {{0}};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct text_spec *s = l->spec;
    const struct features *f = p->features;
    (void)e;
    s->count = f->text_count;
    l->skipped = s->count == 0;
    if (l->skipped)
        return true;
    s->columns = mem_zero(s->count, sizeof *s->columns);
    uint64_t slots = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        const struct feature_text *t = &f->texts[i];
        s->columns[i] = (struct text_column){.slot = t->slot,
                                             .slots = t->slots,
                                             .first = t->first,
                                             .count = t->buckets,
                                             .weighted = t->weighted};
        slots += t->slots;
        if (!plan_columns(p, 1, &s->columns[i].at))
            return true;
    }
    bool direct = p->takes_ids && p->pair_units; /* a dense layer is first */
    s->units = direct ? p->pair_units : TEXT_DIM;
    if (!direct && !plan_columns(p, s->units, &s->at))
        return true;
    s->table = plan_table(p, s->columns, s->count * sizeof *s->columns);
    s->weights = plan_table(p, f->text_weights, f->bucket_count * sizeof *f->text_weights);
    s->scales = plan_reals(p, (uint64_t)p->rows * s->count);
    s->weight = plan_param_whole(p, "weight", SHAPE2(f->bucket_count, s->units), PARAM_WEIGHT);
    p->flops += 2 * slots * s->units;
    if (direct)
        l->texts = (struct layer_texts){.table = s->table,
                                        .weights = s->weights,
                                        .weight = s->weight,
                                        .scales = s->scales,
                                        .count = s->count,
                                        .buckets = f->bucket_count};
    return true;
}

static void init(const struct layer *l, uint64_t seed, uint32_t model, real *params, real *buffers)
{
    const struct text_spec *s = l->spec;
    uint64_t buckets = 0;
    (void)buffers;
    for (uint32_t i = 0; i < s->count; i++)
        buckets += s->columns[i].count;
    init_uniform(params + s->weight, buckets * s->units,
                 l->texts.count ? FIRST_LIMIT : COLUMN_LIMIT, seed, model, 0, s->weight);
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct text_spec *s = l->spec;
    struct act row = pass_act(p, l->y);
    (void)x;
    op_text(p->m, &(struct op_text){.scales = reals_at(p->reals, s->scales),
                                    .x = row,
                                    .ids = p->ids,
                                    .column = pass_table(p, s->table),
                                    .weights = pass_table(p, s->weights),
                                    .dims = pass_dims(p, s->count),
                                    .ld = l->in,
                                    .ids_ld = p->ids_ld});
    if (!l->texts.count)
        op_text_dense(p->m, &(struct op_text_dense){.y = row,
                                                    .ids = p->ids,
                                                    .scales = reals_at(p->reals, s->scales),
                                                    .w = reals_at(p->params, s->weight),
                                                    .column = pass_table(p, s->table),
                                                    .weights = pass_table(p, s->weights),
                                                    .dims = pass_dims(p, s->units),
                                                    .columns = s->count,
                                                    .ldy = l->in,
                                                    .ids_ld = p->ids_ld,
                                                    .at = s->at,
                                                    .set = 1});
    return row;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct text_spec *s = l->spec;
    uint32_t buckets = s->columns[s->count - 1].first + s->columns[s->count - 1].count;
    (void)x, (void)dx, (void)add;
    op_text_dense_back(p->m, &(struct op_text_dense_back){.dw = reals_at(p->grads, s->weight),
                                                          .dy = dy,
                                                          .ids = p->ids,
                                                          .scales = reals_at(p->reals, s->scales),
                                                          .column = pass_table(p, s->table),
                                                          .weights = pass_table(p, s->weights),
                                                          .dims = pass_dims(p, s->units),
                                                          .columns = s->count,
                                                          .lddy = l->in,
                                                          .ids_ld = p->ids_ld,
                                                          .at = s->at,
                                                          .buckets = buckets,
                                                          .more = p->more});
}

static void release(struct layer *l)
{
    struct text_spec *s = l->spec;
    mem_free(s->columns);
}

const struct layer_type input_text = {
    .name = "text",
    .summary = "The hashed terms of texts.",
    .options = options,
    .spec_size = sizeof(struct text_spec),
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
    .release = release,
};
