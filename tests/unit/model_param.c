/* model_param.c - the parameters and buffers of a plan: names, shapes and places. */
#include "base/mem.h"
#include "model/network/model.h"
#include "tap.h"

static struct feature_category categories[2] = {
    {.count = 9, .encode = CATEGORY_EMBEDDING, .dim = 3}, {.count = 5, .encode = CATEGORY_ONEHOT}};

static struct model *plan(const char *text, bool training)
{
    struct err e = {0};
    struct features features = {
        .format = rowfmt_make(2, 2), .categories = categories, .outputs = 3};
    struct architecture *a = architecture_parse(text, "model.json", &e);
    struct model *m =
        model_plan(a, &features, training ? 100 : 1, training ? 3 : 1, training, &e);
    architecture_free(a);
    return m;
}

struct want {
    const char *name;
    bool buffer;
    uint32_t rank;
    uint64_t a, b;
};

static void is_param(const struct model *m, uint32_t i, const struct want *w)
{
    const struct param *p = &m->list.items[i];
    is_string(p->name, w->name, "its name");
    ok(p->buffer == w->buffer && p->shape.rank == w->rank && p->shape.dims[0] == w->a &&
           (w->rank < 2 || p->shape.dims[1] == w->b) && p->count == param_shape_count(&p->shape),
       "  its shape");
    ok(param_find(&m->list, w->name) == p, "  found by its name");
}

static void names(void)
{
    static const char text[] =
        "{\"layers\": [{\"type\": \"dense\", \"units\": 7}, {\"type\": \"relu\"}, "
        "{\"type\": \"batch_norm\"}, {\"type\": \"residual\", \"layers\": [{\"type\": "
        "\"layer_norm\"}, {\"type\": \"dense\", \"units\": 4, \"bias\": false}]}]}";
    static const struct want wants[] = {
        {"embedding.0.weight", false, 2, 9, 3},
        {"layers.0.weight", false, 2, 10, 7}, /* 2 numbers, 3 embedded, 5 one-hot */
        {"layers.0.bias", false, 1, 7, 0},
        {"layers.2.scale", false, 1, 7, 0},
        {"layers.2.shift", false, 1, 7, 0},
        {"layers.2.running_mean", true, 1, 7, 0},
        {"layers.2.running_var", true, 1, 7, 0},
        {"layers.3.layers.0.scale", false, 1, 7, 0},
        {"layers.3.layers.0.shift", false, 1, 7, 0},
        {"layers.3.layers.1.weight", false, 2, 7, 4},
        {"layers.3.weight", false, 2, 7, 4},
        {"layers.4.weight", false, 2, 4, 3},
        {"layers.4.bias", false, 1, 3, 0},
    };
    struct model *m = plan(text, false), *t = plan(text, true);
    const uint32_t count = sizeof wants / sizeof *wants;
    uint64_t end[2] = {0, 0}, trained = 0;
    bool sorted = true, same = true;
    is_int(m->list.count, count, "so many");
    for (uint32_t i = 0; i < count && i < m->list.count; i++) {
        const struct param *p = &m->list.items[i], *q = &t->list.items[i];
        is_param(m, i, &wants[i]);
        sorted = sorted && p->at >= end[p->buffer];
        same = same && q->at == p->at && q->count == p->count && q->buffer == p->buffer;
        end[p->buffer] = p->at + p->count;
        trained += p->buffer ? 0 : p->count;
    }
    ok(sorted && end[0] <= m->params && end[1] <= m->buffers, "they follow one another");
    ok(trained == m->trained, "all that is trained has a name");
    ok(same, "training changes nothing about them");
    ok(!param_find(&m->list, "layers.1.weight"), "relu has none");
    model_free(m);
    model_free(t);
}

static void shapes(void)
{
    struct param_shape none = {0}, huge = SHAPE3((uint64_t)1 << 40, (uint64_t)1 << 40, 2),
                       three = SHAPE3(2, 3, 4);
    ok(param_shape_count(&none) == 1 && param_shape_count(&three) == 24, "numbers in a shape");
    ok(param_shape_count(&huge) == UINT64_MAX, "more than fit");
}

int main(void)
{
    names();
    shapes();
    return done();
}
