/* measure_threshold.c - the choice of a threshold against a search over all cuts, the rules as the
 * config has them, and the table of thresholds. */
#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "measure/probability.h"
#include "measure/threshold.h"
#include "tap.h"

enum { ROWS = 300 };

static float score[ROWS], weight[ROWS];
static bool positive[ROWS];

/* Scores with ties; from a third of the rows on weights other than 1. */
static void make_rows(uint64_t seed)
{
    for (uint32_t i = 0; i < ROWS; i++) {
        double p = (double)(rng_bits(seed, i, 0, 0, RNG_TEST) % 64) / 64;
        score[i] = (float)p;
        positive[i] = (double)(rng_bits(seed, i, 1, 0, RNG_TEST) % 1000) / 1000 < p * p;
        weight[i] = i < ROWS / 3 ? 1 : (float)(rng_bits(seed, i, 2, 0, RNG_TEST) % 3);
    }
}

static void add(struct rank *r, double p, bool is_positive, float w)
{
    rank_add(r, answer_odds(p, 1 - p), is_positive, w, 0);
}

static struct rank ranked(void)
{
    struct rank r = {0};
    for (uint32_t i = 0; i < ROWS; i++)
        add(&r, (double)score[i], positive[i], weight[i]);
    return r;
}

struct counts {
    double hits, alarms, missed;
};
static struct counts count_at(double threshold)
{
    struct counts c = {0, 0, 0};
    for (uint32_t i = 0; i < ROWS; i++) {
        bool flagged = (double)score[i] >= threshold;
        *(flagged ? positive[i] ? &c.hits : &c.alarms : positive[i] ? &c.missed : &(double){0}) +=
            (double)weight[i];
    }
    return c;
}

/* How good a cut is by the rule; NaN: not allowed. */
static double worth(const struct counts *c, const struct threshold_rule *r)
{
    double precision = c->hits / (c->hits + c->alarms), recall = c->hits / (c->hits + c->missed);
    switch ((enum threshold_kind)r->kind) {
    case THRESHOLD_F1: return 2 * c->hits / (2 * c->hits + c->alarms + c->missed);
    case THRESHOLD_RECALL_AT_PRECISION: return precision >= r->at ? recall : (double)NAN;
    case THRESHOLD_PRECISION_AT_RECALL: return recall >= r->at ? precision : (double)NAN;
    case THRESHOLD_COSTS: return -r->fp * c->alarms - r->fn * c->missed;
    case THRESHOLD_NONE:
    case THRESHOLD_FIXED: break;
    }
    return (double)NAN;
}

static void test_choice(void)
{
    static const struct threshold_rule rules[] = {
        {.kind = THRESHOLD_F1},
        {.kind = THRESHOLD_RECALL_AT_PRECISION, .at = 0.7},
        {.kind = THRESHOLD_PRECISION_AT_RECALL, .at = 0.8},
        {.kind = THRESHOLD_COSTS, .fp = 1, .fn = 5},
        {.kind = THRESHOLD_COSTS, .fp = 50, .fn = 1},
    };
    for (uint64_t seed = 1; seed <= 5; seed++) {
        make_rows(seed);
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
            struct rank r = ranked();
            struct threshold_point p;
            double best = -(double)INFINITY;
            bool reached = threshold_choose(&r, &rules[k], &p);
            for (int cut = 0; cut <= 65; cut++) { /* between all scores, and beyond them */
                struct counts c = count_at((cut - 0.5) / 64);
                best = fmax(best, worth(&c, &rules[k]));
            }
            struct counts c = count_at(p.threshold);
            ok(reached && p.threshold > 0, "seed %d, rule %zu: %g", (int)seed, k, p.threshold);
            is_near(worth(&c, &rules[k]), best, 1e-12, "no cut is better");
            if (c.hits > 0)
                is_near(p.recall, c.hits / (c.hits + c.missed), 1e-12, "its recall");
            rank_free(&r);
        }
    }
    make_rows(1);
    struct rank r = ranked();
    const struct threshold_rule never = {.kind = THRESHOLD_RECALL_AT_PRECISION, .at = 1};
    struct threshold_point p;
    positive[0] = false;
    add(&r, 1, false, 1); /* the highest score is no positive: precision 1 is out of reach */
    ok(!threshold_choose(&r, &never, &p) && p.precision < 1 && p.precision > 0.5,
       "what cannot be reached: the nearest, precision %g", p.precision);
    ok(isnan(threshold_best_at(&r, THRESHOLD_RECALL_AT_PRECISION, 1)),
       "no recall at such a precision");
    is_near(threshold_best_at(&r, THRESHOLD_RECALL_AT_PRECISION, 1e-9), 1, 0, "all of it at none");
    rank_free(&r);
    for (int i = 0; i < 3; i++)
        add(&r, 0.5, false, 1);
    ok(!threshold_choose(&r, &never, &p) && isnan(p.recall), "no positive row");
    is_near(p.threshold, 0.5, 0, "one half then");
    rank_free(&r);
}

/* Where all scores are 1 or 0 a threshold can still flag none or all. */
static void test_ends(void)
{
    struct rank r = {0};
    const struct threshold_rule costs = {.kind = THRESHOLD_COSTS, .fp = 9, .fn = 1};
    const struct threshold_rule f1 = {.kind = THRESHOLD_F1};
    struct threshold_point p;
    add(&r, 1, false, 1);
    add(&r, 1, true, 1);
    ok(threshold_choose(&r, &costs, &p) && p.threshold > 1, "none is flagged: %.17g", p.threshold);
    rank_free(&r);
    add(&r, 0, true, 1);
    add(&r, 1, true, 1);
    ok(threshold_choose(&r, &f1, &p) && p.threshold > 0 && p.threshold < 1e-300,
       "all are flagged that are above 0: %g", p.threshold);
    rank_free(&r);
}

static void test_table(void)
{
    struct threshold_table t;
    make_rows(3);
    threshold_table_begin(&t, 0.3);
    for (uint32_t i = 0; i < ROWS; i++)
        threshold_table_add(&t, (double)score[i], positive[i], (double)weight[i]);
    is_int(t.count, THRESHOLD_ROWS, "rows around a threshold");
    bool right = true, rising = true;
    for (uint32_t i = 0; i < t.count; i++) {
        struct threshold_row row = threshold_table_row(&t, i);
        struct counts c = count_at(t.at[i]);
        right &= row.false_positives == c.alarms && row.false_negatives == c.missed &&
                 row.recall == c.hits / (c.hits + c.missed) &&
                 fabs(row.f1 - 2 * c.hits / (2 * c.hits + c.alarms + c.missed)) < 1e-12;
        rising &= i == 0 || t.at[i] > t.at[i - 1];
    }
    ok(right, "each as counted");
    ok(rising && t.at[THRESHOLD_ROWS / 2] == 0.3, "ascending, itself in the middle");
    threshold_table_round(&t, 0.37);
    is_int(t.count, 14, "round steps and one's own");
    ok(t.at[0] == 0.01 && t.at[5] == 0.3 && t.at[6] == 0.37 && t.at[7] == 0.4 && t.at[13] == 0.95,
       "in order");
    threshold_table_round(&t, 0.5);
    is_int(t.count, 13, "its own is a round step");
    threshold_table_round(&t, 0.99);
    ok(t.count == 14 && t.at[13] == 0.99, "its own is the last");
    const double ends[] = {0, 1, 1e-12, 1.0000001};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        bool there = false;
        threshold_table_begin(&t, ends[i]);
        for (uint32_t k = 0; k < t.count; k++) {
            there |= t.at[k] == ends[i];
            rising &= k == 0 || t.at[k] > t.at[k - 1];
        }
        ok(there && rising && t.count > 1, "around %g", ends[i]);
    }
}

static void test_rule(const char *text, enum err_id id, int kind)
{
    struct err e = {0};
    struct json_doc *doc = json_parse(text, strlen(text), "c.json", &e);
    struct threshold_rule r;
    bool good = doc && threshold_read(doc, json_get(json_root(doc), "t"), &r, &e);
    ok(good == (id == ERR_NONE) && e.id == id && (!good || r.kind == kind), "%s: E%d %s", text,
       (int)e.id, e.what);
    json_free(doc);
}

int main(void)
{
    test_choice();
    test_ends();
    test_table();
    test_rule("{\"t\": null}", ERR_NONE, THRESHOLD_NONE);
    test_rule("{}", ERR_NONE, THRESHOLD_NONE);
    test_rule("{\"t\": {\"maximize\": \"f1\"}}", ERR_NONE, THRESHOLD_F1);
    test_rule("{\"t\": {\"costs\": {\"fn\": 1, \"fp\": 5}}}", ERR_NONE, THRESHOLD_COSTS);
    test_rule("{\"t\": {\"recall_at_precision\": 0.9}}", ERR_NONE, THRESHOLD_RECALL_AT_PRECISION);
    test_rule("{\"t\": {\"recall_at_precision\": 1.5}}", ERR_CONFIG_RANGE, 0);
    test_rule("{\"t\": {\"recall_at_precision\": \"x\"}}", ERR_CONFIG_TYPE, 0);
    test_rule("{\"t\": {\"maximize\": \"auc\"}}", ERR_CONFIG_TYPE, 0);
    test_rule("{\"t\": {\"costs\": {\"fp\": 1}}}", ERR_CONFIG_TYPE, 0);
    test_rule("{\"t\": {\"costs\": {\"fp\": 1, \"fn\": 0}}}", ERR_CONFIG_RANGE, 0);
    test_rule("{\"t\": {\"costs\": {\"fp\": 1, \"fm\": 1}}}", ERR_CONFIG_TYPE, 0);
    test_rule("{\"t\": {\"other\": 1}}", ERR_CONFIG_TYPE, 0);
    test_rule("{\"t\": 0.3}", ERR_NONE, THRESHOLD_FIXED);
    test_rule("{\"t\": 0}", ERR_CONFIG_RANGE, 0);
    test_rule("{\"t\": 1}", ERR_CONFIG_RANGE, 0);
    test_rule("{\"t\": true}", ERR_CONFIG_TYPE, 0);
    test_rule("{\"t\": {\"maximize\": \"f1\", \"costs\": {}}}", ERR_CONFIG_TYPE, 0);
    return done();
}
