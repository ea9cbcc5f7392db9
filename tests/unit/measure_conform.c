/* measure_conform.c - intervals and sets: the rank of the score counted by hand, weights, the rule
 * that is chosen, and coverage over many draws. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/conform.h"
#include "tap.h"

enum { ROWS = 4000, CLASSES = 4 };

static double value[ROWS], target[ROWS], spread[ROWS], probability[ROWS * CLASSES];
static int32_t label[ROWS];
static float weight[ROWS];
static const struct calibration unlimited = {0};
static const struct target_coding plain = {.scale = 1};

static struct conform_rows rows_of(uint64_t count)
{
    return (struct conform_rows){.count = count,
                                 .value = value,
                                 .target = target,
                                 .weight = weight,
                                 .limits = &unlimited,
                                 .coding = &plain,
                                 .folds = 1};
}

/* Errors 1, 2, .. count, in another order, of both signs. */
static void count_errors(uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        double error = (double)((i * 7) % count + 1); /* count is prime to 7 */
        value[i] = 100;
        target[i] = 100 + (i % 2 ? error : -error);
        weight[i] = 1;
    }
}

static void ranks(void)
{
    static const struct { uint64_t rows; double level, reach; bool enough; } cases[] = {
        {9, 0.9, 9, true},    /* ceil(10 * 0.9) = 9 */
        {8, 0.9, 8, false},   /* ceil(9 * 0.9) = 9: one too few */
        {19, 0.9, 18, true},  {20, 0.9, 19, true}, /* ceil(18.9) */
        {99, 0.9, 90, true},  {100, 0.9, 91, true}, {100, 0.5, 51, true},
        {99, 0.99, 99, true}, {1000, 0.8, 801, true}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct conform_rows r = rows_of(cases[k].rows);
        struct conformal c;
        count_errors(r.count);
        bool enough = conform_fit(&r, cases[k].level, &c, NULL);
        ok(enough == cases[k].enough, "enough rows or not");
        is_near(c.reach, cases[k].reach, 1e-12, "the score with that rank");
        ok(c.rule == CONFORMAL_VALUE, "around the value");
    }
    is_int((long long)conform_least(0.9), 9, "0.9 needs 9 rows");
    is_int((long long)conform_least(0.99), 99, "0.99 needs 99");
    is_int((long long)conform_least(0.5), 1, "0.5 needs one");
}

/* Equal weights of any size are none; a row of weight 0 is not there. */
static void weights(void)
{
    struct conform_rows r = rows_of(100);
    struct conformal c, same;
    count_errors(100);
    conform_fit(&r, 0.9, &c, NULL);
    for (int i = 0; i < 100; i++)
        weight[i] = 0.25f;
    conform_fit(&r, 0.9, &same, NULL);
    is_near(same.reach, c.reach, 0, "equal weights are none");
    for (int i = 0; i < 100; i++)
        weight[i] = fabs(target[i] - 100) > 50 ? 0 : 1;
    conform_fit(&r, 0.9, &c, NULL);
    is_near(c.reach, 46, 1e-12, "rows of weight 0 are not there: ceil(51 * 0.9)");
    /* small errors weigh 3, large ones 1: 200 in all, and 0.9 (200 + 500 / 200) = 182.25 */
    for (int i = 0; i < 100; i++)
        weight[i] = fabs(target[i] - 100) > 50 ? 1 : 3;
    conform_fit(&r, 0.9, &c, NULL);
    is_near(c.reach, 50 + 33, 1e-12, "the share of the weight counts: 150 + 33 reach 182.25");
    memset(weight, 0, sizeof weight);
    ok(!conform_fit(&r, 0.9, &c, NULL) && c.rule == CONFORMAL_NONE, "no weight, no interval");
}

/* Groups of equal rows are as their rows alone. */
static void groups(void)
{
    enum { GROUPS = 20, EACH = 5 };
    static uint64_t group[GROUPS * EACH];
    struct conform_rows r = rows_of(GROUPS);
    struct conformal c, same;
    count_errors(GROUPS);
    conform_fit(&r, 0.9, &c, NULL);
    is_near(c.reach, 19, 1e-12, "20 rows: ceil(18.9)");
    for (uint64_t i = 0; i < GROUPS * EACH; i++) {
        uint64_t of = i % GROUPS;
        value[i] = value[of];
        target[i] = target[of];
        weight[i] = 1;
        group[i] = of * 0x9E3779B97F4A7C15u;
    }
    r = rows_of(GROUPS * EACH);
    r.group = group;
    ok(conform_fit(&r, 0.9, &same, NULL), "groups are enough");
    is_near(same.reach, c.reach, 0, "each five times, in groups");
    r.count = 8 * EACH;
    for (uint64_t i = 0; i < r.count; i++)
        group[i] = i % 8;
    ok(!conform_fit(&r, 0.9, &same, NULL), "eight groups are too few");
}

static double draw(uint64_t i, uint64_t kind)
{
    return rng_normal(5, i, (uint32_t)kind, 0, RNG_TEST);
}

/* Errors that grow with the spread. */
static void by_spread(void)
{
    struct conform_rows r = rows_of(ROWS);
    struct conform_widths w;
    struct conformal c;
    uint64_t inside = 0;
    for (uint64_t i = 0; i < ROWS; i++) {
        spread[i] = exp(draw(i, 0));
        value[i] = draw(i, 1);
        target[i] = value[i] + spread[i] * draw(i, 2);
        weight[i] = 1;
    }
    r.spread = spread;
    ok(conform_fit(&r, 0.9, &c, &w) && c.rule == CONFORMAL_SPREAD, "errors as wide as the spread");
    ok(w.of[CONFORMAL_SPREAD] < 0.9 * w.of[CONFORMAL_VALUE], "are told so, narrower");
    for (uint64_t i = 0; i < ROWS; i++) {
        double ends[2];
        conformal_interval(&c, &unlimited, &plain, value[i], spread[i], ends);
        inside += ends[0] <= target[i] && target[i] <= ends[1];
    }
    is_int((long long)inside, (long long)ceil((ROWS + 1) * 0.9), "the rows themselves are held");
    for (uint64_t i = 0; i < ROWS; i++)
        target[i] = value[i] + draw(i, 2);
    ok(conform_fit(&r, 0.9, &c, NULL) && c.rule == CONFORMAL_VALUE, "a spread that tells nothing");
}

static void learnt(void)
{
    const struct target_coding of_log = {.transform = TARGET_LOG, .center = 1, .scale = 2};
    const struct calibration limits = {.limited = true, .low = 0.5, .high = 40};
    struct conform_rows r = rows_of(ROWS);
    struct conformal c;
    double ends[2];
    for (uint64_t i = 0; i < ROWS; i++) {
        value[i] = exp(0.1 * draw(i, 0) + 4.0 * (double)(i % 4 == 0));
        target[i] = value[i] * exp(0.3 * draw(i, 1));
    }
    r.coding = &of_log;
    ok(conform_fit(&r, 0.9, &c, NULL) && c.rule == CONFORMAL_LEARNT, "errors in ratios");
    conformal_interval(&c, &unlimited, &of_log, 10, 0, ends);
    is_near(log(ends[1] / 10), 0.3 * 1.645, 0.03, "the upper ratio");
    is_near(ends[0] * ends[1], 100, 1e-9, "and the lower one");
    conformal_interval(&c, &limits, &of_log, 39, 0, ends);
    is_near(ends[1], 40, 0, "inside the limits of the target");
}

/* Of many draws of few rows, the mean coverage of new rows is the level. */
static void coverage(void)
{
    enum { DRAWS = 2000, FEW = 29 };
    double held = 0;
    for (uint64_t d = 0; d < DRAWS; d++) {
        struct conform_rows r = rows_of(FEW);
        struct conformal c;
        for (uint64_t i = 0; i < FEW; i++) {
            value[i] = 0;
            target[i] = draw(d * FEW + i, 3);
            weight[i] = 1;
        }
        conform_fit(&r, 0.9, &c, NULL);
        held += erf(c.reach / sqrt(2));
    }
    is_near(held / DRAWS, 0.9, 0.004, "coverage over draws of 29 rows: 27 / 30");
}

static const struct decision plain_decision = {.threshold = DECISION_HALF};

/* Rows whose label is in the set, and *least of them with a reach a little higher. */
static uint64_t held_rows(const struct conform_rows *r, const struct conformal *c, uint64_t from,
                          uint64_t to, uint64_t *least)
{
    uint64_t inside = 0;
    struct conformal higher = *c;
    higher.reach = nextafter(c->reach, 2);
    *least = 0;
    for (uint64_t i = from; i < to; i++) {
        const double *p = r->probability + i * r->classes;
        uint32_t answer = decision_label(r->decision, p, r->classes);
        inside += conformal_holds(c, p, answer, (uint32_t)r->label[i]);
        *least += conformal_holds(&higher, p, answer, (uint32_t)r->label[i]);
    }
    return inside;
}

/* Two labels, one rare, decided by a threshold as class weights ask for: half of the rows fit the
 * sets, which hold the level of the other half. Without the decided label in the scores they held
 * more. */
static void weighted_sets(void)
{
    static const struct { double threshold, level; } cases[] = {
        {0.1, 0.9}, {0.5, 0.95}, {0.2, 0.95}, {0.05, 0.8}};
    struct conform_rows r = rows_of(ROWS / 2);
    r.classes = 2;
    r.probability = probability;
    r.label = label;
    for (uint64_t i = 0; i < ROWS; i++) {
        double p = 1 / (1 + exp(2 - 1.5 * draw(i, 3)));
        probability[2 * i] = 1 - p;
        probability[2 * i + 1] = p;
        label[i] = (double)(rng_bits(11, i, 0, 0, RNG_TEST) % 1000000) / 1e6 < p;
        weight[i] = 1;
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const struct decision d = {.threshold = cases[k].threshold};
        struct conformal c;
        uint64_t least, right = 0;
        r.decision = &d;
        ok(conform_fit(&r, cases[k].level, &c, NULL), "sets by a threshold of %g", d.threshold);
        for (uint64_t i = ROWS / 2; i < ROWS; i++)
            right += decision_label(&d, probability + 2 * i, 2) == (uint32_t)label[i];
        double held = (double)held_rows(&r, &c, ROWS / 2, ROWS, &least) / (ROWS / 2);
        ok(fabs(held - cases[k].level) < 0.02, "hold %g of new rows: %g (right: %g)",
           cases[k].level, held, (double)right / (ROWS / 2));
    }
    /* right more often than the level: the answer alone */
    const struct decision half = {.threshold = 0.5};
    struct conformal c;
    r.decision = &half;
    ok(conform_fit(&r, 0.6, &c, NULL) && c.reach == 1, "an answer that is right more often");
}

/* Probabilities p and the label's. */
static void sets(void)
{
    struct conform_rows r = rows_of(ROWS);
    struct conformal c;
    uint64_t inside = 0, least = 0;
    r.classes = CLASSES;
    r.probability = probability;
    r.label = label;
    r.decision = &plain_decision;
    for (uint64_t i = 0; i < ROWS; i++) {
        double sum = 0, *p = probability + i * CLASSES;
        for (int k = 0; k < CLASSES; k++)
            sum += p[k] = exp(draw(i, (uint64_t)k));
        double at = (double)(rng_bits(9, i, 0, 0, RNG_TEST) % 1000000) / 1e6 * sum;
        label[i] = -1;
        for (int k = 0; k < CLASSES; k++) {
            if (label[i] < 0 && (at -= p[k]) < 0)
                label[i] = k;
            p[k] /= sum;
        }
        label[i] = label[i] < 0 ? CLASSES - 1 : label[i];
    }
    for (uint64_t i = 0; i < ROWS; i++)
        weight[i] = 1;
    ok(conform_fit(&r, 0.9, &c, NULL) && c.rule == CONFORMAL_SETS, "sets");
    inside = held_rows(&r, &c, 0, ROWS, &least);
    is_int((long long)inside, (long long)ceil((ROWS + 1) * 0.9), "the rows are held");
    ok(least < inside, "by the least probability that does");
    const double sure[] = {0, 0, 1, 0};
    ok(conformal_holds(&c, sure, 2, 2) && !conformal_holds(&c, sure, 2, 1), "one label");
    ok(conformal_holds(&c, sure, 1, 1), "the answer is always in the set");
    r.count = 5;
    ok(!conform_fit(&r, 0.9, &c, NULL) && conformal_holds(&c, sure, 2, 1),
       "of too few rows: every label");
}

int main(void)
{
    ranks();
    weights();
    groups();
    by_spread();
    learnt();
    coverage();
    sets();
    weighted_sets();
    return done();
}
