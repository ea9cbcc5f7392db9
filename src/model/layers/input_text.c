/* input_text.c - texts as hashed terms (op_text). A first hidden layer that takes pairs (dense)
 * adds the rows of text.weight [buckets][units] for the terms of a row; before any other,
 * text.weight [buckets][TEXT_DIM] makes columns of x (the sum of a row's word vectors: Joulin et
 * al., "Bag of tricks for efficient text classification", 2017). One more column a text says that
 * it has no term. */
#include "base/mem.h"
#include "model/layers/inputs.h"

enum { TEXT_DIM = 32 };
/* A text has length 1. Weights of the first hidden layer begin small: a term counts little before
 * rows with it were trained on. Columns of x begin as large as the others. */
#define FIRST_LIMIT 0.02
#define COLUMN_LIMIT 1.0

struct text_spec {
    struct layer_texts texts;
    uint32_t units, at; /* at: the first column of x, if the terms make columns */
};

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    struct text_spec *s = l->spec;
    struct layer_texts *texts = &s->texts;
    const struct features *f = p->features;
    (void)e;
    texts->count = features_tokens(f) ? 0 : f->text_count;
    texts->buckets = f->bucket_count;
    l->skipped = texts->count == 0;
    if (l->skipped)
        return true;
    struct text_column *columns = mem_zero(texts->count, sizeof *columns);
    uint64_t slots = 0;
    for (uint32_t i = 0; i < texts->count; i++) {
        const struct feature_text *t = &f->texts[i];
        columns[i] = (struct text_column){.slot = t->slot,
                                          .slots = t->slots,
                                          .at = plan_columns(p, 1),
                                          .first = t->first,
                                          .count = t->buckets,
                                          .weighted = t->weighted};
        slots += t->slots;
    }
    bool direct = p->first.takes_ids && p->first.pair_units; /* a dense layer is first */
    s->units = direct ? p->first.pair_units : TEXT_DIM;
    if (!direct)
        s->at = plan_columns(p, s->units);
    texts->table = plan_table(p, columns, texts->count * sizeof *columns);
    mem_free(columns);
    texts->weights = plan_table(p, f->text_weights, f->bucket_count * sizeof *f->text_weights);
    texts->scales = plan_reals(p, (uint64_t)p->rows * texts->count);
    texts->weight = plan_param_whole(p, "weight", SHAPE2(f->bucket_count, s->units), PARAM_WEIGHT);
    p->flops += 2 * slots * s->units;
    if (direct)
        l->texts = *texts;
    return true;
}

static void init(const struct layer *l, const struct first_values *v)
{
    const struct text_spec *s = l->spec;
    uint64_t weight = s->texts.weight;
    init_uniform(v, weight, (uint64_t)s->texts.buckets * s->units,
                 l->texts.count ? FIRST_LIMIT : COLUMN_LIMIT, weight);
}

void texts_forward(const struct layer_texts *t, struct pass *p, struct text_place y)
{
    op_text_dense(p->m, &(struct op_text_dense){.y = y.act,
                                                .ids = p->ids,
                                                .scales = reals_at(p->reals, t->scales),
                                                .w = reals_at(p->params, t->weight),
                                                .column = pass_table(p, t->table),
                                                .weights = pass_table(p, t->weights),
                                                .dims = pass_dims(p, y.units),
                                                .columns = t->count,
                                                .ldy = y.ld,
                                                .ids_ld = p->ids_ld,
                                                .at = y.at,
                                                .set = y.set});
}

void texts_backward(const struct layer_texts *t, struct pass *p, struct text_place dy)
{
    op_text_dense_back(p->m, &(struct op_text_dense_back){.dw = reals_at(p->grads, t->weight),
                                                          .dy = dy.act,
                                                          .ids = p->ids,
                                                          .scales = reals_at(p->reals, t->scales),
                                                          .column = pass_table(p, t->table),
                                                          .weights = pass_table(p, t->weights),
                                                          .dims = pass_dims(p, dy.units),
                                                          .columns = t->count,
                                                          .lddy = dy.ld,
                                                          .ids_ld = p->ids_ld,
                                                          .at = dy.at,
                                                          .buckets = t->buckets,
                                                          .more = p->more});
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct text_spec *s = l->spec;
    const struct layer_texts *t = &s->texts;
    struct act row = pass_act(p, l->y);
    (void)x;
    op_text(p->m, &(struct op_text){.scales = reals_at(p->reals, t->scales),
                                    .x = row,
                                    .ids = p->ids,
                                    .column = pass_table(p, t->table),
                                    .weights = pass_table(p, t->weights),
                                    .dims = pass_dims(p, t->count),
                                    .ld = l->in,
                                    .ids_ld = p->ids_ld});
    if (!l->texts.count)
        texts_forward(t, p, (struct text_place){row, s->units, l->in, s->at, true});
    return row;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    const struct text_spec *s = l->spec;
    (void)x, (void)dx, (void)add;
    texts_backward(&s->texts, p, (struct text_place){dy, s->units, l->in, s->at, false});
}

const struct layer_type input_text = {
    .name = "text",
    .summary = "The hashed terms of texts.",
    .spec_size = sizeof(struct text_spec),
    .plan = plan,
    .init = init,
    .forward = forward,
    .backward = backward,
};
