/* model_optim.c - twenty steps of every optimiser against the formulas written out in double: one
 * linear layer, one output, squared error, so that the reference is a few lines. Factors of groups,
 * clipping, bad steps. */
#include "netcase.h"
#include "tap.h"

enum { ROWS = 6, NUMBERS = 3, STEPS = 20 };

struct reference {
    double p[NUMBERS + 1], m[NUMBERS + 1], v[NUMBERS + 1]; /* weights, then the bias */
    double lr_factor[NUMBERS + 1], wd_factor[NUMBERS + 1];
};

static const float weights[ROWS] = {1, 2, 0.5f, 1, 0, 3};

static void make(struct netcase *c, const char *optim, double clip, bool ntk)
{
    *c = (struct netcase){.model = ntk ? "{\"layers\": [{\"type\": \"ntk_dense\", \"units\": 1}]}"
                                       : "{\"preset\": \"linear\"}",
                          .optim = optim,
                          .stored = ntk,
                          .numbers = NUMBERS,
                          .outputs = 1,
                          .rows = ROWS,
                          .micro = 1,
                          .count = ROWS,
                          .seed = 6,
                          .clip = clip};
    ok(case_make(c), "%s: made", optim);
    case_fill(c);
    for (unsigned row = 0; row < ROWS; row++)
        case_put_float(c, row, c->features.format.at_weight, weights[row]);
    ok(case_open(c), "%s: opened", optim);
}

/* Of a weight; of the bias behind them. */
static uint64_t place(const struct model *m, int i)
{
    return i < NUMBERS ? param_find(&m->list, "layers.0.weight")->at + (uint64_t)i
                       : param_find(&m->list, "layers.0.bias")->at;
}

static void reference_begin(const struct netcase *c, struct reference *r)
{
    const struct model *m = network_model(c->network);
    *r = (struct reference){0};
    for (int i = 0; i <= NUMBERS; i++) {
        r->p[i] = (double)c->state.params[place(m, i)];
        r->lr_factor[i] = 1;
        r->wd_factor[i] = i < NUMBERS;
    }
}

static void gradient(struct netcase *c, const double *p, double *g)
{
    double all = 0;
    memset(g, 0, (NUMBERS + 1) * sizeof *g);
    for (unsigned row = 0; row < ROWS; row++) {
        float target;
        memcpy(&target, c->records + row * c->features.format.stride + c->features.format.at_target,
               4);
        double y = p[NUMBERS], w = (double)weights[row];
        for (uint32_t i = 0; i < NUMBERS; i++)
            y += p[i] * (double)*case_number(c, row, i);
        for (uint32_t i = 0; i <= NUMBERS; i++)
            g[i] +=
                w * 2 * (y - (double)target) * (i < NUMBERS ? (double)*case_number(c, row, i) : 1);
        all += w;
    }
    for (int i = 0; i <= NUMBERS; i++)
        g[i] /= all;
}

static void clip(double *g, double most)
{
    double square = 0;
    for (int i = 0; i <= NUMBERS; i++)
        square += g[i] * g[i];
    for (int i = 0; i <= NUMBERS && most > 0 && sqrt(square) > most; i++)
        g[i] *= most / sqrt(square);
}

static void update(const struct optim_options *o, struct reference *r, double *g, int t, double lr,
                   double wd)
{
    double b1 = o->betas.items[0], b2 = o->betas.items[1];
    for (int i = 0; i <= NUMBERS; i++) {
        double rate = lr * r->lr_factor[i], decay = wd * r->wd_factor[i];
        if (o->kind == OPTIM_ADAMW)
            r->p[i] -= rate * decay * r->p[i];
        else
            g[i] += decay * r->p[i];
        switch ((enum optim_kind)o->kind) {
        case OPTIM_SGD:
            r->m[i] = t == 1 ? g[i] : o->momentum * r->m[i] + g[i];
            r->p[i] -= rate * (o->momentum <= 0 ? g[i]
                               : o->nesterov    ? g[i] + o->momentum * r->m[i]
                                                : r->m[i]);
            break;
        case OPTIM_RMSPROP:
            r->v[i] = o->decay * r->v[i] + (1 - o->decay) * g[i] * g[i];
            r->p[i] -= rate * g[i] / (sqrt(r->v[i]) + o->epsilon);
            break;
        case OPTIM_ADAM:
        case OPTIM_ADAMW:
            r->m[i] = b1 * r->m[i] + (1 - b1) * g[i];
            r->v[i] = b2 * r->v[i] + (1 - b2) * g[i] * g[i];
            r->p[i] -= rate * (r->m[i] / (1 - pow(b1, t))) /
                       (sqrt(r->v[i] / (1 - pow(b2, t))) + o->epsilon);
            break;
        }
    }
}

static double distance(struct netcase *c, const struct reference *r)
{
    const struct model *m = network_model(c->network);
    network_get(c->network, &c->state, &c->e);
    double worst = 0;
    for (int i = 0; i <= NUMBERS; i++) {
        double p = (double)c->state.params[place(m, i)];
        worst = fmax(worst, fabs(p - r->p[i]) / fmax(1, fabs(r->p[i])));
    }
    return worst;
}

static void trajectory(const char *optim, double most)
{
    struct netcase c;
    make(&c, optim, most, false);
    struct reference r;
    reference_begin(&c, &r);
    const struct optim_factors *f = c.optim_options.factors;
    r.lr_factor[0] = f[PARAM_WEIGHT].learning_rate;
    r.wd_factor[0] = f[PARAM_WEIGHT].weight_decay;
    for (int i = 1; i < NUMBERS; i++) {
        r.lr_factor[i] = r.lr_factor[0];
        r.wd_factor[i] = r.wd_factor[0];
    }
    r.lr_factor[NUMBERS] = f[PARAM_BIAS].learning_rate;
    r.wd_factor[NUMBERS] = f[PARAM_BIAS].weight_decay;
    struct hyper table[STEPS];
    for (int i = 0; i < STEPS; i++)
        table[i] = (struct hyper){.lr = 0.05 / (1 + i), .weight_decay = 0.1};
    bool good = true;
    double g[NUMBERS + 1];
    for (int epoch = 0; epoch < STEPS; epoch++) { /* one step each, as the batch holds all rows */
        network_epoch(c.network, (uint32_t)epoch, &table[epoch], 1, &c.e);
        good = good && case_steps(&c, 1);
        gradient(&c, r.p, g);
        clip(g, most);
        update(&c.optim_options, &r, g, epoch + 1, table[epoch].lr, 0.1);
    }
    double worst = distance(&c, &r);
    ok(good && worst < 2e-6, "%s, clip %g: %d steps, off by %.1e", optim, most, STEPS, worst);
    case_close(&c);
}

/* ntk_dense: the reference moves v = w sqrt(in), whose gradient is that of w divided by it. The
 * learning rate of the bias is a tenth. */
static void parametrised(const char *optim)
{
    struct netcase c;
    struct reference r;
    make(&c, optim, 0, true);
    reference_begin(&c, &r);
    r.lr_factor[NUMBERS] = 0.1;
    const double root = sqrt(NUMBERS);
    bool good = true;
    for (int step = 0; step < STEPS; step++) {
        const struct hyper rate = {.lr = 0.05 / (1 + step), .weight_decay = 0.1};
        double g[NUMBERS + 1];
        network_epoch(c.network, (uint32_t)step, &rate, 1, &c.e);
        good = good && case_steps(&c, 1);
        gradient(&c, r.p, g);
        for (int i = 0; i < NUMBERS; i++) {
            g[i] /= root;
            r.p[i] *= root;
        }
        update(&c.optim_options, &r, g, step + 1, rate.lr, rate.weight_decay);
        for (int i = 0; i < NUMBERS; i++)
            r.p[i] /= root;
    }
    double worst = distance(&c, &r);
    ok(good && worst < 2e-6, "ntk_dense, %s: off by %.1e", optim, worst);
    case_close(&c);
}

/* Counters and rates within an epoch of more steps than rows, and at the start of the next. */
static void counters(void)
{
    struct netcase c;
    make(&c, "{\"type\": \"sgd\", \"momentum\": 0}", 0, false);
    struct hyper rates[4] = {{0.1, 0, 0}, {0.05, 0, 0}, {0.02, 0, 0}, {0.01, 0, 0}};
    struct step now;
    network_epoch(c.network, 0, rates, 4, &c.e);
    ok(case_steps(&c, 2), "two steps");
    network_step(c.network, &now);
    is_near(now.epoch_weight, 7.5, 0, "the epoch's weight is that of its rows");
    is_near(now.weight, 0, 0, "a step past the data weighs nothing");
    ok(case_steps(&c, 2), "two more");
    network_step(c.network, &now);
    is_int(now.tried, 4, "four steps were tried");
    is_int((int64_t)now.row0, 4 * ROWS, "the position has moved on");
    network_epoch(c.network, 1, rates, 2, &c.e);
    network_step(c.network, &now);
    is_int((int64_t)now.row0, 0, "an epoch begins at its first row");
    is_near(now.epoch_loss, 0, 0, "and with empty sums");
    case_close(&c);
}

static void has_factors(const struct optim_options *o, int kind, double rate, double decay,
                        const char *name)
{
    const struct optim_factors *f = &o->factors[kind];
    ok(f->learning_rate == rate && f->weight_decay == decay, "factors: %s", name);
}

static void factors(void)
{
    struct err e = {0};
    struct optim_options o;
    const char *text = "{\"groups\": {\"bias\": {\"learning_rate\": 2}, \"norm\": "
                       "{\"weight_decay\": 0.5}, \"embedding\": {}}}";
    struct json_doc *doc = json_parse(text, strlen(text), "case", &e);
    ok(opt_read(optim_options_table, doc, json_root(doc), "train.optimizer", &o, &e) &&
           optim_read(&o, doc, &e),
       "groups");
    has_factors(&o, PARAM_WEIGHT, 1, 1, "a kind without an entry");
    has_factors(&o, PARAM_BIAS, 2, 0, "biases have no weight decay");
    has_factors(&o, PARAM_NORM, 1, 0.5, "norms get what is said");
    has_factors(&o, PARAM_EMBEDDING, 1, 1, "an empty entry");
    struct optim_options usual = o;
    usual.groups = NULL;
    ok(optim_read(&usual, doc, &e), "without groups");
    for (int kind = 0; kind < PARAM_KINDS; kind++)
        has_factors(&usual, kind, 1, kind == PARAM_BIAS || kind == PARAM_NORM ? 0 : 1,
                    param_kind_names[kind]);
    opt_release(optim_options_table, &o);
    json_free(doc);
}

static void refused(const char *text, enum err_id id, const char *part)
{
    struct err e = {0};
    struct optim_options o;
    struct json_doc *doc = json_parse(text, strlen(text), "case", &e);
    bool good = opt_read(optim_options_table, doc, json_root(doc), "train.optimizer", &o, &e);
    if (good) {
        good = optim_read(&o, doc, &e);
        opt_release(optim_options_table, &o);
    }
    ok(!good && e.id == id && strstr(e.what, part), "%s: %s", text, e.what);
    json_free(doc);
}

/* A row of infinity makes the step a bad one: weights, moments and counters of applied steps stay.
 */
static void bad_step(void)
{
    struct netcase c;
    make(&c, "{\"type\": \"adam\"}", 0, false);
    const struct model *m = network_model(c.network);
    real *before = mem_copy(c.state.params, m->params * sizeof(real));
    *case_number(&c, 2, 1) = INFINITY;
    network_source(c.network, &c.source, &c.e); /* lent anew: it is not what it was */
    struct step now;
    ok(case_train(&c, 1, 0.1, 0), "a step with an infinite number");
    network_get(c.network, &c.state, &c.e);
    network_step(c.network, &now);
    ok(memcmp(before, c.state.params, m->params * sizeof(real)) == 0, "the weights stay");
    is_int(now.bad_steps, 1, "the step is counted as bad");
    is_int(now.applied, 0, "and not as applied");
    is_int(now.tried, 1, "but as tried");
    mem_free(before);
    case_close(&c);
}

int main(void)
{
    static const char *const all[] = {
        "{\"type\": \"sgd\", \"momentum\": 0}",
        "{\"type\": \"sgd\"}",
        "{\"type\": \"sgd\", \"nesterov\": true, \"momentum\": 0.8}",
        "{\"type\": \"rmsprop\"}",
        "{\"type\": \"rmsprop\", \"decay\": 0.8, \"epsilon\": 0.001}",
        "{\"type\": \"adam\"}",
        "{\"type\": \"adam\", \"betas\": [0.8, 0.95], \"epsilon\": 0.01}",
        "{\"type\": \"adamw\"}",
        "{\"type\": \"adamw\", \"groups\": {\"bias\": {\"learning_rate\": 3, \"weight_decay\": 1}, "
        "\"weight\": "
        "{\"learning_rate\": 0.5, \"weight_decay\": 2}}}",
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        trajectory(all[i], 0);
        trajectory(all[i], 0.3);
    }
    for (size_t i = 0; i < 8; i++)
        if (i != 4 && i != 6) /* epsilon is relative to the gradients, which differ in size */
            parametrised(all[i]);
    counters();
    factors();
    refused("{\"betas\": [0.9]}", ERR_CONFIG_RANGE, "two");
    refused("{\"betas\": [0.9, 1]}", ERR_CONFIG_RANGE, "betas");
    refused("{\"type\": \"sgd\", \"momentum\": 0, \"nesterov\": true}", ERR_CONFIG_CONFLICT,
            "momentum");
    refused("{\"type\": \"sdg\"}", ERR_CONFIG_WORD, "sdg");
    refused("{\"learning_rate\": 0}", ERR_CONFIG_RANGE, "learning_rate");
    refused("{\"epsilon\": 1e-21}", ERR_CONFIG_RANGE, "epsilon");
    refused("{\"groups\": 3}", ERR_CONFIG_TYPE, "groups");
    refused("{\"groups\": {\"biass\": {}}}", ERR_CONFIG_KEY, "biass");
    refused("{\"groups\": {\"bias\": {\"lr\": 1}}}", ERR_CONFIG_KEY, "groups.bias.lr");
    refused("{\"groups\": {\"bias\": {\"learning_rate\": -1}}}", ERR_CONFIG_RANGE, "learning_rate");
    bad_step();
    return done();
}
