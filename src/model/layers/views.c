/* views.c - k networks that share their layers, each with a view of its own on the rows (TabM:
 * Gorishniy et al., 2025). "views" holds the layers: a batch becomes rows x k rows, and each layer
 * computes them as one batch. "view_scale" multiplies the numbers of each view by weights of its
 * own; the first layer inside is one, and makes the k views of a row. */
#include <math.h>
#include <stddef.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/layer.h"

/* --- view_scale --- */

enum scale_init { SCALE_AUTO, SCALE_ONE, SCALE_SIGN, SCALE_NORMAL };
struct scale_spec {
    int type;
    bool bias;
    int init; /* enum scale_init */
    /* planned */
    bool first;       /* the first inside views */
    bool shared;      /* x has one row for all views */
    int drawn;        /* init, without auto */
    uint32_t views;   /* 1 outside */
    double limit;     /* of the first bias; 0: none */
    uint64_t weight, bias_at;
    uint32_t *ends, end_count; /* owned: inputs that come from one column begin with one weight */
};

static const char *const init_words[] = {"auto", "one", "sign", "normal", NULL};
static const struct option scale_options[] = {
    LAYER_TYPE_ROW("view_scale"),
    {OPT_ROW(struct scale_spec, bias, OPT_BOOL, "false"),
     .help = "Adds a bias to every number, of each view's own."},
    {OPT_ROW(struct scale_spec, init, OPT_WORD, "\"auto\""), .flags = OPT_TRAINING,
     .words = init_words,
     .help = "The initial weights: 1, 1 or -1 at random, or normal numbers. Inputs that come from "
             "one column get the same. auto: one, but for the first layer inside views normal "
             "where numbers have bins, else sign."},
    {0},
};
static const char *const scale_examples[] = {
    "{\"type\": \"view_scale\"}",
    "{\"type\": \"view_scale\", \"bias\": true, \"init\": \"normal\"}",
    NULL,
};

static bool has_bins(const struct features *f)
{
    bool bins = false;
    for (uint32_t i = 0; f->numbers && i < f->format.numbers; i++)
        bins |= f->numbers[i].bins > 0;
    return bins;
}

static bool scale_plan(struct layer *l, struct planner *p, struct err *e)
{
    struct scale_spec *s = l->spec;
    (void)e;
    s->views = p->at.steps;
    s->drawn = s->init != SCALE_AUTO      ? s->init
               : !s->first                ? SCALE_ONE
               : has_bins(p->features) ? SCALE_NORMAL
                                          : SCALE_SIGN;
    if (p->x.end_count && p->x.read_by == l->position) {
        s->ends = mem_copy(p->x.ends, p->x.end_count * sizeof *s->ends);
        s->end_count = p->x.end_count;
    }
    s->weight = plan_param_whole(p, "weight", SHAPE2(s->views, l->in), PARAM_WEIGHT);
    if (s->bias)
        s->bias_at = plan_param_whole(p, "bias", SHAPE2(s->views, l->in), PARAM_BIAS);
    l->y = plan_acts(p, l->in);
    p->flops += (uint64_t)l->in * (s->bias ? 2 : 1);
    return true;
}

/* The first value of stream `element`. */
static double draw(const struct scale_spec *s, uint64_t seed, uint32_t key, uint64_t element)
{
    if (s->drawn == SCALE_ONE)
        return 1;
    if (s->drawn == SCALE_NORMAL)
        return rng_normal(seed, element, key, 0, RNG_INIT);
    return rng_bits(seed, element, key, 0, RNG_INIT) & 1 ? 1 : -1;
}

static void scale_init(const struct layer *l, const struct first_values *v)
{
    const struct scale_spec *s = l->spec;
    uint64_t all = (uint64_t)s->views * l->in;
    uint32_t key = l->position | v->model << 16;
    for (uint32_t j = 0; j < s->views; j++)
        for (uint32_t i = 0, chunk = 0; i < l->in; i++) {
            while (s->ends && i >= s->ends[chunk])
                chunk++;
            uint64_t element = (uint64_t)j * l->in + (s->ends ? chunk : i);
            v->params[s->weight + (uint64_t)j * l->in + i] = (real)draw(s, v->seed, key, element);
        }
    /* all views begin with one bias */
    for (uint32_t j = 0; j < s->views && s->bias && s->limit > 0; j++)
        init_uniform(v, s->bias_at + (uint64_t)j * l->in, l->in, s->limit, all);
}

static struct act scale_forward(const struct layer *l, struct pass *p, struct act x)
{
    const struct scale_spec *s = l->spec;
    struct op_view_scale op = {.y = pass_act(p, l->y),
                                 .x = x,
                                 .w = reals_at(p->params, s->weight),
                                 .b = s->bias ? reals_at(p->params, s->bias_at) : NULL,
                                 .dims = pass_dims(p, l->in),
                                 .views = s->views,
                                 .shared = s->shared};
    op.dims.steps = 1;
    op_view_scale(p->m, &op);
    return op.y;
}

static void scale_backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                           struct act dx, bool add)
{
    const struct scale_spec *s = l->spec;
    struct op_view_scale_back op = {.dx = dx,
                                      .dw = reals_at(p->grads, s->weight),
                                      .db = s->bias ? reals_at(p->grads, s->bias_at) : NULL,
                                      .dy = dy,
                                      .x = x,
                                      .w = reals_at(p->params, s->weight),
                                      .dims = pass_dims(p, l->in),
                                      .views = s->views,
                                      .shared = s->shared,
                                      .add_dx = add,
                                      .more = p->more};
    op.dims.steps = 1;
    op_view_scale_back(p->m, &op);
}

static void scale_release(struct layer *l)
{
    struct scale_spec *s = l->spec;
    mem_free(s->ends);
}

const struct layer_type layer_view_scale = {
    .name = "view_scale",
    .summary = "Multiplies every number by a weight; inside views each view has its own weights.",
    .options = scale_options,
    .examples = scale_examples,
    .spec_size = sizeof(struct scale_spec),
    .of = LAYER_OF_ROWS,
    .plan = scale_plan,
    .init = scale_init,
    .forward = scale_forward,
    .backward = scale_backward,
    .release = scale_release,
};

/* --- views --- */

struct views_spec {
    int type;
    int64_t k;
    bool share_batches;
    const struct json *layers; /* read into children; not looked at afterwards */
};

static const struct option options[] = {
    LAYER_TYPE_ROW("views"),
    {OPT_ROW(struct views_spec, k, OPT_INT, "32"), .low = 1, .high = VIEWS_MOST,
     .help = "The number of networks."},
    {OPT_ROW(struct views_spec, share_batches, OPT_BOOL, "true"), .flags = OPT_TRAINING,
     .help = "In training all networks read the same rows. false: each reads all rows of an epoch "
             "in an order of its own; views is then the last of the layers, with at most an "
             "embed_numbers before it."},
    {OPT_ROW(struct views_spec, layers, OPT_CUSTOM, NULL),
     .schema = "{\"type\":\"array\",\"minItems\":1,\"items\":{\"$ref\":\"#/$defs/layer\"}}",
     .help = "The layers that the networks share. The first is a view_scale. The output is that "
             "of all networks side by side; where no layer follows, each gets an output layer of "
             "its own (view_dense)."},
    {0},
};
static const char *const examples[] = {
    "{\"type\": \"views\", \"k\": 3, \"layers\": [{\"type\": \"view_scale\"}, {\"type\": "
    "\"dense\", \"units\": 4, \"init\": \"uniform\"}, {\"type\": \"tanh\"}]}",
    "{\"type\": \"views\", \"k\": 2, \"layers\": [{\"type\": \"view_scale\", \"init\": "
    "\"normal\"}, {\"type\": \"dense\", \"units\": 3, \"bias\": false}, {\"type\": "
    "\"view_scale\", \"bias\": true}, {\"type\": \"silu\"}, {\"type\": \"dropout\"}, "
    "{\"type\": \"layer_norm\"}]}",
    NULL,
};

/* A layer inside that has whole_rows, NULL: none. */
static const struct layer *unfit(const struct layer *l)
{
    for (uint32_t i = 0; i < l->child_count; i++) {
        const struct layer *c = l->children[i], *inside = unfit(c);
        if (inside || c->type->whole_rows)
            return inside ? inside : c;
    }
    return NULL;
}

static bool check(const struct layer *l, const struct json_doc *doc, const struct json *at,
                  const char *path, struct err *e)
{
    const struct json *list = json_get(at, "layers");
    const struct layer *bad = unfit(l);
    if (bad)
        return json_fail(doc, list, e, ERR_CONFIG_CONFLICT,
                         "`%s.layers`: %s cannot stand inside views", path, bad->type->name);
    if (l->child_count && l->children[0]->type == &layer_view_scale)
        return true;
    json_fail(doc, list, e, l->child_count ? ERR_CONFIG_CONFLICT : ERR_CONFIG_EMPTY,
              "`%s.layers` does not begin with a view_scale", path);
    return err_help(e, "write {\"type\": \"view_scale\"} first: without it all views are equal");
}

/* The bias after a dense layer is initialised as that layer's own bias. */
static void set_limits(struct layer *const *layers, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct scale_spec *s = layers[i]->spec;
        if (layers[i]->type == &layer_view_scale && layers[i - 1]->type == &layer_dense)
            s->limit = 1 / sqrt((double)layers[i - 1]->in);
    }
}

static bool plan(struct layer *l, struct planner *p, struct err *e)
{
    const struct views_spec *s = l->spec;
    uint32_t k = (uint32_t)s->k, out = 0;
    struct scale_spec *first = l->children[0]->spec;
    first->first = true;
    first->shared = p->own_rows <= 1;
    p->x.read_by += p->x.read_by == l->position; /* the first inside reads the same */
    p->at.steps = k;
    p->in_views = true;
    bool good = layer_list_plan(l->children, l->child_count, l->in, p, &out, e);
    p->at.steps = 1;
    p->in_views = false;
    if (!good)
        return false;
    set_limits(l->children, l->child_count);
    if ((uint64_t)p->rows * k > UINT32_MAX)
        plan_refuse(p, "2^32 rows of views in a batch");
    if ((uint64_t)out * k > LAYER_MOST_UNITS)
        plan_refuse(p, "%d outputs of a layer", (int)LAYER_MOST_UNITS);
    l->out = out * k;
    for (uint32_t i = 0; i < l->child_count; i++)
        if (!l->children[i]->skipped)
            l->y = l->children[i]->y;
    return true;
}

static uint32_t views_of(const struct layer *l)
{
    const struct views_spec *s = l->spec;
    return (uint32_t)s->k;
}

static bool own_rows(const struct layer *l)
{
    const struct views_spec *s = l->spec;
    return !s->share_batches && s->k > 1;
}

static struct act forward(const struct layer *l, struct pass *p, struct act x)
{
    p->dims.steps = views_of(l);
    struct act y = layer_list_forward(l->children, l->child_count, p, x);
    p->dims.steps = 1;
    return y;
}

static void backward(const struct layer *l, struct pass *p, struct act x, struct act dy,
                     struct act dx, bool add)
{
    p->dims.steps = views_of(l);
    layer_list_backward(l->children, l->child_count, p, x, dy, dx, add, l->in);
    p->dims.steps = 1;
}

const struct layer_type layer_views = {
    .name = "views",
    .summary = "Several networks that share these layers, each on a view of its own of the input "
               "(TabM).",
    .options = options,
    .examples = examples,
    .spec_size = sizeof(struct views_spec),
    .nests = true,
    .of = LAYER_OF_ROWS,
    .whole_rows = true,
    .views = views_of,
    .own_rows = own_rows,
    .check = check,
    .plan = plan,
    .forward = forward,
    .backward = backward,
};
