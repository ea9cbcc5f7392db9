/* threshold.c - see threshold.h. */
#include "measure/threshold.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "measure/probability.h"

/* --- the rule --- */

static bool refuse(const struct json_doc *doc, const struct json *v, const char *what,
                   struct err *e)
{
    json_fail(doc, v, e, ERR_CONFIG_TYPE, "`threshold`: %s", what);
    err_key(e, "threshold");
    return err_expected(e, "null, a number between 0 and 1, {\"maximize\": \"f1\"}, "
                           "{\"recall_at_precision\": 0.9}, "
                           "{\"precision_at_recall\": 0.8} or {\"costs\": {\"fp\": 1, \"fn\": 5}}");
}

static bool read_fixed(const struct json_doc *doc, const struct json *v, struct threshold_rule *r,
                       struct err *e)
{
    *r = (struct threshold_rule){.kind = THRESHOLD_FIXED, .at = json_number(v)};
    if (r->at > 0 && r->at < 1)
        return true;
    json_fail(doc, v, e, ERR_CONFIG_RANGE, "`threshold`: %.9g is not a number between 0 and 1",
              r->at);
    err_key(e, "threshold");
    return err_help(e, "it is a probability; answers are never below 0 or above 1");
}

/* A number above 0, at most `most`. */
static bool read_number(const struct json_doc *doc, const struct json *v, double most, double *to,
                        struct err *e)
{
    if (!v || json_kind(v) != JSON_NUMBER)
        return refuse(doc, v, "a number is missing", e);
    *to = json_number(v);
    if (*to > 0 && *to <= most)
        return true;
    json_fail(doc, v, e, ERR_CONFIG_RANGE, "`threshold`: %.9g is not above 0 and at most %.9g",
              *to, most);
    err_key(e, "threshold");
    return false;
}

bool threshold_is_chosen(const struct threshold_rule *r)
{
    return r->kind != THRESHOLD_NONE && r->kind != THRESHOLD_FIXED;
}

bool threshold_read(const struct json_doc *doc, const struct json *v, struct threshold_rule *r,
                    struct err *e)
{
    *r = (struct threshold_rule){.kind = THRESHOLD_NONE};
    if (!v || json_kind(v) == JSON_NULL)
        return true;
    if (json_kind(v) == JSON_NUMBER)
        return read_fixed(doc, v, r, e);
    if (json_kind(v) != JSON_OBJECT || json_count(v) != 1)
        return refuse(doc, v, "it is no rule to choose one by", e);
    const struct json *rule = json_at(v, 0);
    const char *key = json_key(rule);
    if (strcmp(key, "maximize") == 0) {
        r->kind = THRESHOLD_F1;
        return (json_kind(rule) == JSON_STRING && strcmp(json_string(rule), "f1") == 0) ||
               refuse(doc, rule, "what can be maximized is \"f1\"", e);
    }
    if (strcmp(key, "recall_at_precision") == 0 || strcmp(key, "precision_at_recall") == 0) {
        r->kind = *key == 'r' ? THRESHOLD_RECALL_AT_PRECISION : THRESHOLD_PRECISION_AT_RECALL;
        return read_number(doc, rule, 1, &r->at, e);
    }
    if (strcmp(key, "costs") != 0)
        return refuse(doc, rule, "unknown rule", e);
    r->kind = THRESHOLD_COSTS;
    if (json_kind(rule) != JSON_OBJECT || json_count(rule) != 2)
        return refuse(doc, rule, "the costs are \"fp\" and \"fn\"", e);
    return read_number(doc, json_get(rule, "fp"), 1e12, &r->fp, e) &&
           read_number(doc, json_get(rule, "fn"), 1e12, &r->fn, e);
}

/* --- the choice --- */

/* Probabilities that are nearer to each other, relative to their size, are one group: rounding may
 * put them on either side of what lies between. */
#define NEAR 1e-14

/* One walk from the highest score down; each group of equal probabilities is flagged as a whole. */
struct search {
    const struct threshold_rule *rule;
    double positives, negatives;       /* all of them */
    double hits, alarms;               /* flagged so far: positive and negative rows */
    double last;                       /* the probability of the last group; 2: none */
    struct threshold_point best, near; /* near: the point closest to rule->at */
    double best_score, near_score;
    bool any, waits, waits_near; /* their threshold lies below this group: the next one tells */
    bool open;                   /* the last group has weight, and is not offered yet */
};

static double precision_of(const struct search *s)
{
    return s->hits + s->alarms > 0 ? s->hits / (s->hits + s->alarms) : (double)NAN;
}

static double recall_of(const struct search *s)
{
    return s->positives > 0 ? s->hits / s->positives : (double)NAN;
}

/* Settles thresholds once the next lower score is known: in the middle between two scores, taken as
 * floats if these stay apart. */
static void settle(struct search *s, double score)
{
    const float above = (float)s->last, below = (float)score;
    double middle = s->last > 1     ? (1 + score) / 2
                    : above > below ? ((double)above + (double)below) / 2
                                    : (s->last + score) / 2;
    if (!(middle > score)) /* neighbours, or a score of 1 */
        middle = s->last > 1 ? nextafter(1, 2) : s->last;
    if (!(middle > 0)) /* a score of 0 */
        middle = DBL_MIN;
    if (s->waits)
        s->best.threshold = middle;
    if (s->waits_near)
        s->near.threshold = middle;
    s->waits = s->waits_near = false;
}

static void offer(struct search *s)
{
    const struct threshold_rule *r = s->rule;
    double precision = precision_of(s), recall = recall_of(s), score = (double)NAN, near = score;
    struct threshold_point p = {(double)NAN, precision, recall};
    switch ((enum threshold_kind)r->kind) {
    case THRESHOLD_NONE:
    case THRESHOLD_FIXED: return;
    case THRESHOLD_F1: score = 2 * s->hits / (s->positives + s->hits + s->alarms); break;
    case THRESHOLD_RECALL_AT_PRECISION:
        score = precision >= r->at ? recall : (double)NAN;
        near = precision;
        break;
    case THRESHOLD_PRECISION_AT_RECALL:
        score = recall >= r->at ? precision : (double)NAN;
        near = recall;
        break;
    case THRESHOLD_COSTS: score = -r->fp * s->alarms - r->fn * (s->positives - s->hits); break;
    }
    if (score > s->best_score) {
        s->best = p;
        s->best_score = score;
        s->any = s->waits = true;
    }
    if (near > s->near_score) {
        s->near = p;
        s->near_score = near;
        s->waits_near = true;
    }
}

/* The last group is whole: the next one has the probability `next`. */
static void end_group(struct search *s, double next)
{
    if (s->open)
        offer(s);
    s->open = false;
    settle(s, next);
}

static bool search_group(void *context, double odds, double positive, double negative)
{
    struct search *s = context;
    const double probability = answer_of_odds(odds);
    if (s->last > 1 || s->last - probability > NEAR * s->last) {
        end_group(s, probability);
        s->last = probability;
    }
    s->hits += positive;
    s->alarms += negative;
    s->open = s->open || positive + negative > 0;
    return true;
}

bool threshold_choose(struct rank *scores, const struct threshold_rule *r,
                      struct threshold_point *p)
{
    struct search s = {.rule = r,
                       .positives = scores->positive,
                       .negatives = scores->negative,
                       .last = 2,
                       .best_score = -(double)INFINITY,
                       .near_score = -(double)INFINITY};
    *p = (struct threshold_point){DECISION_HALF, (double)NAN, (double)NAN};
    if (!(scores->positive > 0))
        return false;
    if (r->kind == THRESHOLD_COSTS)
        offer(&s); /* no row at all */
    rank_groups(scores, search_group, &s);
    end_group(&s, 0);
    *p = s.any ? s.best : s.near;
    return s.any;
}

double threshold_best_at(struct rank *scores, enum threshold_kind kind, double at)
{
    const struct threshold_rule r = {.kind = kind, .at = at};
    struct threshold_point p;
    if (!threshold_choose(scores, &r, &p))
        return (double)NAN;
    return kind == THRESHOLD_PRECISION_AT_RECALL ? p.precision : p.recall;
}

/* --- the table --- */

#define ODDS_STEP 0.5

void threshold_table_begin(struct threshold_table *t, double center)
{
    *t = (struct threshold_table){.count = 0};
    double inside = center < 0.001 ? 0.001 : center > 0.999 ? 0.999 : center;
    double odds = log(inside / (1 - inside));
    for (int i = 0; i < THRESHOLD_ROWS; i++) {
        char digits[32];
        double at = 1 / (1 + exp(-odds - ODDS_STEP * (i - THRESHOLD_ROWS / 2)));
        snprintf(digits, sizeof digits, "%.3g", at);
        if (i == THRESHOLD_ROWS / 2)
            at = center;
        else if (!text_to_double(digits, &at))
            continue;
        bool beyond = i < THRESHOLD_ROWS / 2 ? at >= center
                                             : i > THRESHOLD_ROWS / 2 && at <= center;
        if (!beyond && (!t->count || at > t->at[t->count - 1]))
            t->at[t->count++] = at;
    }
}

void threshold_table_round(struct threshold_table *t, double own)
{
    static const double steps[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4,
                                   0.5,  0.6,  0.7,  0.8, 0.9, 0.95};
    bool there = false;
    *t = (struct threshold_table){.count = 0};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (!there && own < steps[i])
            t->at[t->count++] = own;
        there = there || own <= steps[i];
        t->at[t->count++] = steps[i];
    }
    if (!there)
        t->at[t->count++] = own;
}

void threshold_table_add(struct threshold_table *t, double probability, bool positive,
                         double weight)
{
    uint32_t k = 0;
    while (k < t->count && probability >= t->at[k])
        k++;
    t->between[k][positive] += weight;
}

struct threshold_row threshold_table_row(const struct threshold_table *t, uint32_t i)
{
    double hits = 0, alarms = 0, missed = 0, rest = 0;
    for (uint32_t k = 0; k <= t->count; k++) {
        *(k > i ? &hits : &missed) += t->between[k][1];
        *(k > i ? &alarms : &rest) += t->between[k][0];
    }
    double all = hits + alarms + missed + rest, flagged = hits + alarms;
    return (struct threshold_row){
        .threshold = t->at[i],
        .precision = flagged > 0 ? hits / flagged : (double)NAN,
        .recall = hits + missed > 0 ? hits / (hits + missed) : (double)NAN,
        .f1 = flagged + hits + missed > 0 ? 2 * hits / (flagged + hits + missed) : (double)NAN,
        .flagged = all > 0 ? flagged / all : (double)NAN,
        .false_positives = alarms,
        .false_negatives = missed};
}
