/* conform.c - see conform.h. All sums are in the order of the rows, or of their scores. */
#include "measure/conform.h"

#include <math.h>

#include "base/mem.h"
#include "base/sort.h"
#include "measure/weighted.h"

#define SURE 1.0        /* the probability that no other label reaches */
#define NARROWER 0.98   /* of the additive rule's width: what another rule must reach */
#define ROUNDING 1e-12
#define HOLDS 1e-9      /* of a score, and of a target's size: rounding there and back */

struct grouped {
    uint64_t group;
    double weight;
};
enum half { EVEN, ODD, ALL };

static int by_group(const void *a, const void *b, const void *context)
{
    const struct grouped *x = a, *y = b;
    (void)context;
    return (x->group > y->group) - (x->group < y->group);
}

static double weight_of(const struct conform_rows *r, uint64_t i)
{
    return r->label && r->label[i] < 0 ? 0 : (double)r->weight[i];
}

/* Every second row, or the groups by a bit of their hash. */
static bool is_in(const struct conform_rows *r, enum half h, uint64_t i)
{
    return h == ALL || ((r->group ? r->group[i] >> 32 : i) & 1) == (uint64_t)h;
}

/* The sum of the squared weights of the groups; without groups, of the rows. */
static double squares_of(const struct conform_rows *r, enum half h)
{
    struct grouped *all = mem_alloc(r->count + 1, sizeof *all);
    double squares = 0;
    size_t count = 0;
    for (uint64_t i = 0; i < r->count; i++)
        if (is_in(r, h, i) && weight_of(r, i) > 0)
            all[count++] = (struct grouped){r->group ? r->group[i] : i, weight_of(r, i)};
    if (r->group)
        sort_stable(all, count, sizeof *all, by_group, NULL);
    for (size_t from = 0, to = 0; from < count; from = to) {
        double weight = 0;
        for (; to < count && all[to].group == all[from].group; to++)
            weight += all[to].weight;
        squares += weight * weight;
    }
    mem_free(all);
    return squares;
}

uint64_t conform_least(double level)
{
    return (uint64_t)ceil(level / (1 - level) - ROUNDING);
}

/* The score of row i: the reach that covers it. A score is infinite if no reach covers its target,
 * e.g. beyond the ends of a transform. */
static double score_of(const struct conform_rows *r, const struct conformal *c, uint64_t i)
{
    if (c->rule == CONFORMAL_SETS) {
        const double *p = r->probability + i * r->classes;
        const uint32_t label = (uint32_t)r->label[i];
        return decision_label(r->decision, p, r->classes) == label ? -SURE : -p[label];
    }
    double value = r->value[i], target = r->target[i], off = fabs(target - value);
    if (c->rule == CONFORMAL_SPREAD)
        off /= r->spread[i] + c->floor;
    if (c->rule == CONFORMAL_LEARNT) {
        off = fabs(coding_encode(r->coding, target) - coding_encode(r->coding, value));
        const struct conformal up_to = {.rule = c->rule, .reach = off * (1 + HOLDS) + HOLDS};
        const struct calibration none = {0};
        double ends[2];
        conformal_interval(&up_to, &none, r->coding, value, 0, ends);
        const double slack = HOLDS * fabs(target);
        off = ends[0] - slack <= target && target <= ends[1] + slack ? off : (double)INFINITY;
    }
    return isnan(off) ? (double)INFINITY : off;
}

/* Sets c->reach by the rows of a half. False: see conform_fit. */
static bool set_reach(const struct conform_rows *r, enum half h, struct conformal *c)
{
    struct weighted *s = mem_alloc(r->count + 1, sizeof *s);
    const double squares = squares_of(r, h);
    double weight = 0;
    size_t count = 0;
    for (uint64_t i = 0; i < r->count; i++) {
        double w = weight_of(r, i);
        if (!(w > 0) || !is_in(r, h, i))
            continue;
        s[count++] = (struct weighted){score_of(r, c, i), w};
        weight += w;
    }
    weighted_sort(s, count);
    const double needed = c->level * (weight + (count ? squares / weight : 0));
    const size_t at = weighted_reach(s, count, needed * (1 - ROUNDING));
    bool enough = at < count;
    while (!enough && count && isinf(s[count - 1].value))
        count--;
    c->reach = enough ? s[at].value : count ? s[count - 1].value : 0;
    mem_free(s);
    return enough && isfinite(c->reach);
}

/* --- intervals: which rule --- */

static double mean_spread(const struct conform_rows *r)
{
    double sum = 0, weight = 0;
    for (uint64_t i = 0; r->spread && i < r->count; i++) {
        const double w = weight_of(r, i);
        sum += w > 0 ? w * r->spread[i] : 0;
        weight += w;
    }
    return weight > 0 && isfinite(sum) ? sum / weight : 0;
}

/* The mean width on the rows of one half by the reach of the other one. */
static double width_of(const struct conform_rows *r, const struct conformal *rule)
{
    double width = 0, weight = 0;
    struct conformal c = *rule;
    for (enum half k = EVEN; k <= ODD; k++) {
        if (!set_reach(r, k == EVEN ? ODD : EVEN, &c))
            return INFINITY;
        for (uint64_t i = 0; i < r->count; i++) {
            double ends[2], w = weight_of(r, i);
            if (!(w > 0) || !is_in(r, k, i))
                continue;
            conformal_interval(&c, r->limits, r->coding, r->value[i],
                               r->spread ? r->spread[i] : 0, ends);
            width += w * (ends[1] - ends[0]);
            weight += w;
        }
    }
    width /= weight;
    return isnan(width) ? (double)INFINITY : width;
}

static void choose_rule(const struct conform_rows *r, struct conformal *c,
                        struct conform_widths *w)
{
    static const double floors[] = {0.1, 1}; /* of the mean spread */
    const double spread = mean_spread(r);
    const struct conformal plain = *c;
    double best = w->of[CONFORMAL_VALUE] = width_of(r, c);
    best *= NARROWER;
    struct conformal others[3] = {plain, plain, plain};
    int count = 0;
    if (r->coding->transform)
        others[count++].rule = CONFORMAL_LEARNT;
    for (int k = 0; spread > 0 && k < 2; k++, count++) {
        others[count].rule = CONFORMAL_SPREAD;
        others[count].floor = floors[k] * spread;
        others[count].folds = r->folds;
    }
    for (int k = 0; k < count; k++) {
        double width = width_of(r, &others[k]);
        double *of = &w->of[others[k].rule];
        *of = fmin(*of, width);
        if (width < best) {
            best = width;
            *c = others[k];
        }
    }
}

bool conform_fit(const struct conform_rows *r, double level, struct conformal *c,
                 struct conform_widths *w)
{
    struct conform_widths widths;
    double weight = 0;
    for (int k = 0; k < CONFORMAL_RULES; k++)
        widths.of[k] = INFINITY;
    *c = (struct conformal){.rule = r->classes ? CONFORMAL_SETS : CONFORMAL_VALUE, .level = level};
    for (uint64_t i = 0; i < r->count; i++)
        weight += fmax(weight_of(r, i), 0);
    if (!r->classes && weight > 0)
        choose_rule(r, c, &widths);
    bool enough = weight > 0 && set_reach(r, ALL, c);
    if (c->rule == CONFORMAL_SETS) /* too few: every label */
        c->reach = enough ? -c->reach : 0;
    if (!(weight > 0))
        *c = (struct conformal){0};
    widths.share = weight > 0 ? level * (1 + squares_of(r, ALL) / (weight * weight)) : level;
    if (w)
        *w = widths;
    return enough;
}
