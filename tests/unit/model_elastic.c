/* model_elastic.c - the elastic net: conditions of an optimum on columns of every kind, computed
 * here from their definitions; the path's first penalty; standardised columns. */
#include "tap.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/solve/elastic.h"

enum { ROWS = 303, NUMBERS = 3, VALUES = 5, BINS = 4 };

/* Three numbers, the first missing in some rows and with bins, and a category. */
struct toy {
    struct features f;
    struct rows rows;
    unsigned char *block;
    uint32_t index[ROWS];
    double weight[ROWS], target[ROWS];
    int32_t label[ROWS];
    struct feature_category category;
    struct feature_number numbers[NUMBERS];
    float edges[BINS + 1];
    uint32_t indicator;
};

static double draw(uint32_t i, uint32_t k)
{
    return rng_uniform(5, i, k, 0, RNG_TEST);
}

static void put(unsigned char *at, const void *value)
{
    memcpy(at, value, 4);
}

static void fill(struct toy *t, uint32_t classes)
{
    double sum = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        unsigned char *r = t->block + (size_t)i * t->f.format.stride;
        double score = 0;
        for (uint32_t k = 0; k < NUMBERS; k++) {
            float x = (float)(4 * draw(i, k) - 2 + 10 * k);
            score += (1.0 - k) * (double)x;
            put(r + 4 * (size_t)k, &x);
        }
        uint32_t missing = i % 7 == 0;
        int32_t id = (int32_t)(VALUES * draw(i, 8));
        put(r + t->f.format.at_missing, &missing);
        put(r + t->f.format.at_category, &id);
        score += 19 + id + 3 * draw(i, 9);
        t->label[i] = score < 1.5 ? 0 : score < 4 ? 1 : 2;
        t->label[i] = classes == 2 ? t->label[i] > 0 : t->label[i];
        t->target[i] = score;
        t->weight[i] = 0.5 + draw(i, 10);
        t->index[i] = i;
        sum += t->weight[i];
    }
    for (uint32_t i = 0; i < ROWS; i++)
        t->weight[i] /= sum;
}

static void toy_open(struct toy *t, uint32_t classes)
{
    *t = (struct toy){.category = {.count = VALUES, .encode = CATEGORY_ONEHOT},
                      .numbers = {{.bins = BINS}},
                      .edges = {-2, -1, 0, 0.5f, 2}};
    t->f = (struct features){.format = rowfmt_make(NUMBERS, 1),
                             .indicator_count = 1,
                             .indicators = &t->indicator,
                             .categories = &t->category,
                             .outputs = classes ? classes : 1,
                             .numbers = t->numbers,
                             .edges = t->edges,
                             .edge_count = BINS + 1};
    t->block = mem_zero(ROWS, t->f.format.stride);
    t->rows = (struct rows){t->f.format, &t->block, 63, ROWS};
    fill(t, classes);
}

/* The value of a column in a row, from the definition of its kind. */
static double value_of(const struct toy *t, const struct design_column *c, uint32_t i)
{
    const unsigned char *r = t->block + (size_t)i * t->f.format.stride;
    const struct rowfmt *f = &t->f.format;
    float x;
    int32_t id;
    uint32_t missing;
    memcpy(&missing, r + f->at_missing, 4);
    memcpy(&id, r + f->at_category, 4);
    memcpy(&x, r + 4 * (c->kind == DESIGN_NUMBER ? c->row : 0), 4);
    double v = (double)x;
    if (c->kind == DESIGN_SPARSE)
        v = c->row == NUMBERS ? missing & 1 : (uint32_t)id == c->row - NUMBERS - 1;
    if (c->kind == DESIGN_COMPONENT) {
        double low = (double)t->edges[c->row], high = (double)t->edges[c->row + 1];
        v = missing & 1 ? 0 : fmin(1, fmax(0, ((double)x - low) / (high - low)));
    }
    return (v - c->center) * c->factor;
}

/* Row i's weighted slope of the loss by answer k, negated, by the weights alone. */
static double slope_of(const struct toy *t, const struct elastic *s, uint32_t k, uint32_t i)
{
    const struct design *d = s->problem.x;
    double eta[3] = {0}, sum = s->outputs == 1 ? 1 : 0;
    for (uint32_t o = 0; o < s->outputs; o++) {
        eta[o] = s->intercept[o];
        for (uint32_t j = 0; j < d->columns; j++)
            eta[o] += s->beta[o * d->columns + j] * value_of(t, &d->column[j], i);
        sum += exp(eta[o]);
    }
    if (!s->problem.classes)
        return t->weight[i] * (t->target[i] - eta[0]);
    int32_t class = s->outputs == 1 ? 1 : (int32_t)k;
    return t->weight[i] * ((t->label[i] == class) - exp(eta[k]) / sum);
}

/* The largest breach of the conditions of an optimum. */
static double breach(const struct toy *t, const struct elastic *s, double penalty, double l1)
{
    const struct design *d = s->problem.x;
    double worst = 0, own[ROWS];
    for (uint32_t k = 0; k < s->outputs; k++) {
        double sum = 0;
        for (uint32_t i = 0; i < ROWS; i++)
            sum += own[i] = slope_of(t, s, k, i);
        worst = fmax(worst, fabs(sum));
        for (uint32_t j = 0; j < d->columns; j++) {
            double b = s->beta[k * d->columns + j], slope = -penalty * (1 - l1) * b;
            for (uint32_t i = 0; i < ROWS; i++)
                slope += own[i] * value_of(t, &d->column[j], i);
            worst = fmax(worst, fabs(b) > 0 ? fabs(slope - copysign(penalty * l1, b))
                                            : fabs(slope) - penalty * l1);
        }
    }
    return worst;
}

static void optimum(uint32_t classes, double l1, const char *what)
{
    struct toy t;
    toy_open(&t, classes);
    struct design *d = design_new(&t.f, &t.rows, t.index, ROWS, t.weight);
    ok(d->columns == NUMBERS + 1 + VALUES + BINS, "%s: %u columns", what, d->columns);
    struct elastic *s = elastic_new(&(struct elastic_problem){
        .x = d, .weight = t.weight, .classes = classes, .label = t.label, .target = t.target});
    double most = elastic_most(s, l1), last = most, used = 0, worst = 0;
    elastic_solve(s, most * 1.0001, most, l1);
    for (uint32_t j = 0; j < s->outputs * d->columns; j++)
        used += fabs(s->beta[j]);
    ok(!(used > 0), "  at the first penalty all weights are 0");
    bool good = true;
    for (double penalty = most; penalty > 1e-3 * most; last = penalty, penalty *= 0.7) {
        good &= elastic_solve(s, penalty, last, l1);
        worst = fmax(worst, breach(&t, s, penalty, l1) / most);
    }
    ok(good, "  each penalty is solved for");
    ok(worst < 1e-3, "  and fulfils the conditions of an optimum: %g", worst);
    ok(s->loss < 0.6 * s->constant, "  the loss falls: %g to %g", s->constant, s->loss);
    elastic_free(s);
    design_free(d);
    mem_free(t.block);
}

/* Says stop from the ask number `from` on. */
struct asked {
    uint32_t *count, from;
};

static bool ask(const void *asked)
{
    const struct asked *a = asked;
    return ++*a->count >= a->from;
}

/* Many classes: the end comes with the class at work, and what is there is on its way. */
static void stops_at_a_class(void)
{
    enum { CLASSES = 100 };
    struct toy t;
    toy_open(&t, CLASSES);
    uint32_t count = 0;
    struct asked a = {&count, UINT32_MAX};
    const struct stopper stop = {ask, &a};
    struct design *d = design_new(&t.f, &t.rows, t.index, ROWS, t.weight);
    struct elastic *s = elastic_new(&(struct elastic_problem){
        .x = d, .weight = t.weight, .classes = CLASSES, .label = t.label, .stop = &stop});
    double most = elastic_most(s, 0.5);
    count = 0;
    bool solved = elastic_solve(s, most / 50, most, 0.5);
    ok(solved && count > CLASSES, "%d classes: it asks after each: %u times", CLASSES, count);
    elastic_reset(s);
    double constant = s->constant;
    count = 0;
    a.from = CLASSES;
    solved = elastic_solve(s, most / 50, most, 0.5);
    ok(!solved && count < CLASSES + 20, "  and ends when told so: %u more", count - CLASSES);
    ok(s->loss < constant && s->loss > 0, "  with weights so far: loss %g, of the constant %g",
       s->loss, constant);
    double again = s->loss;
    a.from = UINT32_MAX;
    ok(elastic_solve(s, most / 50, most, 0.5) && s->loss < again, "  from which it can go on");
    elastic_free(s);
    a.from = 0;
    s = elastic_new(&(struct elastic_problem){
        .x = d, .weight = t.weight, .classes = CLASSES, .label = t.label, .stop = &stop});
    ok(!elastic_solve(s, 0, 0, 0.5) && s->loss >= s->constant && s->loss <= s->constant,
       "  no time at all: a constant answer");
    elastic_free(s);
    design_free(d);
    mem_free(t.block);
}

int main(void)
{
    stops_at_a_class();
    optimum(0, 1, "regression, l1");
    optimum(0, 0.5, "regression, half");
    optimum(2, 1, "two classes, l1");
    optimum(2, 0.1, "two classes, a tenth");
    optimum(3, 0.5, "three classes, half");
    return done();
}
