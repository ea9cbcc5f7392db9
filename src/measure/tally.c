/* tally.c - one pass over the rows; sums in double, in the order of the rows. */
#include "measure/tally.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"

#define BIN_BYTES ((size_t)32 << 20)
#define BINS_MOST 65536u
#define BINS_LEAST 64u
#define GROUPS_LEAST 64u
#define GROWS ((size_t)1 << 20) /* bytes: beyond, a copy costs more than room that is not used */

struct tally *tally_new(int task, uint32_t classes, unsigned needs)
{
    struct tally *t = mem_zero(1, sizeof *t);
    t->task = task;
    t->classes = classes;
    t->needs = needs;
    t->decision.threshold = DECISION_HALF;
    if (task == TASK_REGRESSION)
        return t;
    assert(classes >= 2 && (task != TASK_BINARY || classes == 2));
    t->support = mem_zero(classes, sizeof *t->support);
    t->answered = mem_zero(classes, sizeof *t->answered);
    t->hit = mem_zero(classes, sizeof *t->hit);
    t->class_weight2 = mem_zero(classes, sizeof *t->class_weight2);
    if (needs & TALLY_CONFUSED && classes <= TALLY_CONFUSION) {
        t->confusion = mem_zero((size_t)classes * classes, sizeof *t->confusion);
        t->confusion2 = mem_zero((size_t)classes * classes, sizeof *t->confusion2);
    }
    return t;
}

static void groups_free(struct tally_groups *g)
{
    if (!g)
        return;
    for (uint32_t i = 0; i < g->count; i++)
        tally_free(g->part[i]);
    vocab_free(g->keys);
    mem_free(g->part);
    mem_free(g);
}

void tally_free(struct tally *t)
{
    if (!t)
        return;
    mem_free(t->support);
    mem_free(t->answered);
    mem_free(t->hit);
    mem_free(t->class_weight2);
    mem_free(t->confusion);
    mem_free(t->confusion2);
    rank_free(&t->rank);
    groups_free(t->groups);
    mem_free(t->kept);
    mem_free(t->kept_odds);
    mem_free(t->binned);
    mem_free(t->own_weight);
    mem_free(t);
}

/* --- scores of many classes --- */

/* Bins finer towards both ends: below a half by the bits of p as a float (octaves down to 2^-33),
 * above mirrored. */
static uint32_t bin_of(double odds, uint32_t bins)
{
    const float q = (float)answer_of_odds(-fabs(odds));
    uint32_t half = bins / 2, bits, at = 0, low = (127u - 33u) << 23, high = (127u - 1u) << 23;
    memcpy(&bits, &q, sizeof bits);
    if (q > 0 && bits >= high)
        at = half - 1;
    else if (q > 0 && bits > low)
        at = (uint32_t)((uint64_t)(bits - low) * half / (high - low));
    return odds < 0 ? at : bins - 1 - at;
}

static void bin_add(struct tally *t, uint32_t c, double odds, int32_t label, double weight)
{
    double *bin = t->binned + 2 * ((size_t)c * t->bin_count + bin_of(odds, t->bin_count));
    bin[label == (int32_t)c] += weight;
}

/* A power of two. */
static uint32_t bins_for(uint32_t classes)
{
    size_t most = BIN_BYTES / (2 * sizeof(double)) / classes;
    uint32_t bins = BINS_MOST;
    while (bins > most && bins > BINS_LEAST)
        bins /= 2;
    return bins;
}

/* When bins replace the kept rows, both exist for a moment. Large blocks come in pages of up to
 * 2 MiB, the last one in part. */
uint64_t tally_bytes(uint32_t classes, uint64_t rows)
{
    uint64_t rank = rows * sizeof(struct rank_row);
    if (classes <= 2)
        return classes ? rank : 0;
    uint64_t row = classes * sizeof(double) + sizeof(struct tally_row);
    if (rows <= TALLY_EXACT / classes)
        return rows * row + rank + (rows * row > GROWS ? 2 * GROWS : 0);
    return TALLY_EXACT / classes * row +
           (uint64_t)classes * bins_for(classes) * 2 * sizeof(double);
}

static void start_bins(struct tally *t)
{
    t->bin_count = bins_for(t->classes);
    t->binned = mem_zero((size_t)t->classes * t->bin_count * 2, sizeof *t->binned);
    for (uint64_t r = 0; r < t->kept_rows; r++)
        for (uint32_t c = 0; c < t->classes; c++)
            bin_add(t, c, t->kept_odds[r * t->classes + c], t->kept[r].label,
                    (double)t->kept[r].weight);
    mem_free(t->kept);
    mem_free(t->kept_odds);
    t->kept = NULL;
    t->kept_odds = NULL;
    t->kept_rows = t->kept_room = 0;
}

static void keep_scores(struct tally *t, const double *p, int32_t label, float weight,
                        uint32_t group)
{
    const size_t width = t->classes;
    if (!t->binned && (t->kept_rows + 1) * t->classes > TALLY_EXACT)
        start_bins(t);
    if (t->binned) {
        for (uint32_t c = 0; c < t->classes; c++)
            bin_add(t, c, answer_class_odds(p, t->classes, c), label, (double)weight);
        return;
    }
    if (t->kept_rows == t->kept_room) {
        uint64_t most = TALLY_EXACT / t->classes;
        t->kept_room = t->kept_room ? 2 * t->kept_room : 256;
        if (t->kept_room > most || t->kept_room * width * sizeof *t->kept_odds > GROWS)
            t->kept_room = most; /* not below kept_rows + 1: see above */
        t->kept = mem_grow(t->kept, t->kept_room, sizeof *t->kept);
        t->kept_odds = mem_grow(t->kept_odds, t->kept_room * width, sizeof *t->kept_odds);
    }
    for (uint32_t c = 0; c < t->classes; c++)
        t->kept_odds[t->kept_rows * width + c] = answer_class_odds(p, t->classes, c);
    t->kept[t->kept_rows++] = (struct tally_row){label, weight, group};
}

struct rank_areas tally_areas(struct tally *t, uint32_t class_number)
{
    if (t->classes == 2) {
        if (!t->has_areas)
            t->areas = rank_finish(&t->rank);
        t->has_areas = true;
        return t->areas;
    }
    if (t->binned) {
        double rest = 0, rest2 = 0; /* summed: a difference loses small shares beside large ones */
        for (uint32_t c = 0; c < t->classes; c++)
            if (c != class_number) {
                rest += t->support[c];
                rest2 += t->class_weight2[c];
            }
        struct rank_walk w = {.positive = t->support[class_number],
                              .negative = rest,
                              .positive2 = t->class_weight2[class_number],
                              .negative2 = rest2};
        const double *bins = t->binned + 2 * (size_t)class_number * t->bin_count;
        for (const double *bin = bins + 2 * (size_t)t->bin_count; bin > bins;) {
            bin -= 2;
            if (bin[0] > 0 || bin[1] > 0)
                rank_walk_group(&w, bin[1], bin[0]);
        }
        return rank_walk_end(&w);
    }
    rank_clear(&t->rank);
    for (uint64_t r = 0; r < t->kept_rows; r++)
        rank_add(&t->rank, t->kept_odds[r * t->classes + class_number],
                 t->kept[r].label == (int32_t)class_number, t->kept[r].weight, t->kept[r].group);
    return rank_finish(&t->rank);
}

bool tally_pulls(struct tally *t, uint32_t class_number, struct rank_areas *areas, double *auc,
                 double *precision)
{
    *areas = tally_areas(t, class_number);
    if (t->binned || isnan(areas->auc))
        return false;
    rank_pulls(&t->rank, areas, auc, precision);
    return true;
}

/* --- groups --- */

static struct tally_groups *groups_new(uint32_t classes)
{
    struct tally_groups *g = mem_zero(1, sizeof *g);
    const size_t bytes = sizeof(struct tally) + 4 * (size_t)classes * sizeof(double);
    g->keys = vocab_new();
    g->most = TALLY_GROUPS;
    while (g->most > GROUPS_LEAST && g->most * bytes > TALLY_GROUP_BYTES)
        g->most /= 2;
    g->part = mem_zero(g->most, sizeof(struct tally *));
    g->last = UINT32_MAX;
    return g;
}

/* The number of a group, whose tally is made if it is new. */
static uint32_t groups_find(struct tally_groups *g, const struct tally *t, uint64_t key)
{
    if (g->last != UINT32_MAX && g->last_key == key)
        return g->last;
    uint32_t at = vocab_find(g->keys, (const char *)&key, sizeof key);
    if (at == UINT32_MAX && g->count < g->most) {
        at = vocab_add(g->keys, (const char *)&key, sizeof key);
        g->part[at] =
            tally_new(t->task, t->classes, t->needs & ~(unsigned)(TALLY_RANKS | TALLY_CONFUSED));
        tally_judge_by(g->part[at], &t->criterion);
        g->part[at]->conformal = t->conformal;
        g->count++;
    }
    if (at == UINT32_MAX)
        at = (uint32_t)(key % g->most);
    g->last_key = key;
    g->last = at;
    return at;
}

/* --- rows --- */

static void add_class_row(struct tally *t, const double *p, int32_t label, float row_weight,
                          uint32_t group)
{
    double w = (double)row_weight;
    size_t truth = (size_t)label;
    uint32_t answer = decision_label(&t->decision, p, t->classes);
    bool right = answer == truth;
    t->support[truth] += w;
    t->answered[answer] += w;
    t->class_weight2[truth] += w * w;
    if (right) {
        t->right += w;
        t->hit[truth] += w;
    }
    if (t->confusion) {
        t->confusion[truth * t->classes + answer] += w;
        t->confusion2[truth * t->classes + answer] += w * w;
    }
    if (t->conformal) {
        uint32_t size = 0;
        for (uint32_t c = 0; c < t->classes; c++)
            size += conformal_holds(t->conformal, p, answer, c);
        t->inside += conformal_holds(t->conformal, p, answer, (uint32_t)label) ? w : 0;
        mean_add(&t->size, w, size);
    }
    if (t->needs & TALLY_LOSS) {
        double loss = -log(p[truth]);
        mean_add(&t->loss, w, loss > TALLY_LOSS_MOST ? TALLY_LOSS_MOST : loss);
    }
    bool two = t->task == TASK_BINARY;
    if (two && t->needs & TALLY_BRIER) {
        double off = p[1] - (label == 1);
        mean_add(&t->brier, w, off * off);
    }
    if (t->needs & TALLY_CALIBRATION) {
        double said = p[two ? 1 : answer];
        int b = said > 0 ? (int)(said * TALLY_BINS) : 0;
        struct tally_bin *bin = &t->bins[b < TALLY_BINS ? b : TALLY_BINS - 1];
        bin->rows += 1;
        bin->weight += w;
        bin->predicted += w * said;
        bin->observed += (two ? label == 1 : right) ? w : 0;
    }
    if (t->needs & TALLY_RANKS) {
        if (t->classes == 2)
            rank_add(&t->rank, answer_odds(p[1], p[0]), label == 1, row_weight, group);
        else
            keep_scores(t, p, label, row_weight, group);
    }
}

static void add_quantiles(struct tally *t, const double *value, double target, double w)
{
    const uint32_t count = criterion_values(&t->criterion);
    mean_add(&t->pinball, w, criterion_row(&t->criterion, value, target));
    for (uint32_t k = 0; k < count; k++)
        t->below[k] += target <= value[k] ? w : 0;
    t->covered +=
        (count == 1 || value[0] <= target) && target <= value[count - 1] ? w : 0;
}

/* Errors are the middle quantile's. */
static void add_value_row(struct tally *t, const double *value, double target, double w)
{
    const uint32_t count = criterion_values(&t->criterion);
    double e = value[count > 1 ? loss_middle(t->criterion.loss.q, count) : 0] - target, e2 = e * e;
    mean_add(&t->square, w, e2);
    mean_add(&t->absolute, w, fabs(e));
    if (t->criterion.loss.kind == LOSS_QUANTILE)
        add_quantiles(t, value, target, w);
    double before = target - t->target_mean; /* t->weight holds this row already */
    if (t->weight > 0)
        t->target_mean += before * (w / t->weight);
    t->target_square += w * before * (target - t->target_mean);
    struct tally_moments *m = &t->moments;
    if (t->rows == 1)
        m->shift = target;
    double d = target - m->shift, w2 = w * w;
    for (int k = 0; k < 5; k++, w2 *= d)
        m->t[k] += w2;
    w2 = w * w;
    m->e4 += w2 * e2 * e2;
    for (int k = 0; k < 3; k++, w2 *= d)
        m->e2_t[k] += w2 * e2;
}

static void add_interval(struct tally *t, double low, double high, double target, double w)
{
    t->inside += low <= target && target <= high ? w : 0;
    mean_add(&t->size, w, high - low);
}

/* Adds row r to the tally of its group too. Returns the number of that. */
static uint32_t add_to_group(struct tally *t, const struct scores *s, uint64_t r)
{
    struct scores one = *s;
    if (!t->groups)
        t->groups = groups_new(t->classes);
    const uint32_t group = groups_find(t->groups, t, s->group[r]);
    one.rows = 1;
    one.bad = NULL; /* this row counts */
    one.group = NULL;
    one.weight = s->weight ? s->weight + r : NULL;
    if (t->task == TASK_REGRESSION) {
        one.value = s->value + r * criterion_values(&t->criterion);
        one.target = s->target + r;
        one.low = s->low ? s->low + r : NULL;
        one.high = s->high ? s->high + r : NULL;
    } else {
        one.probability = s->probability + r * s->classes;
        one.raw = s->raw ? s->raw + r * s->classes : NULL;
        one.label = s->label + r;
    }
    t->groups->part[group]->decision = t->decision;
    tally_add(t->groups->part[group], &one);
    return group;
}

void tally_judge_by(struct tally *t, const struct criterion *c)
{
    mem_free(t->own_weight);
    t->own_weight =
        c->class_weight ? mem_copy(c->class_weight, t->classes * sizeof *t->own_weight) : NULL;
    t->criterion = *c;
    t->criterion.class_weight = t->own_weight;
    if (criterion_is_metric(c))
        t->needs &= ~(unsigned)TALLY_CRITERION;
}

/* Adds rows by the criterion, if no metric equals it. */
static void add_criterion(struct tally *t, const struct scores *s, uint64_t r, double weight)
{
    const double *p = s->raw ? s->raw : s->probability;
    if (t->task == TASK_REGRESSION)
        criterion_add(&t->criterion, &t->own, s->value + r, 0, s->target[r], weight);
    else
        criterion_add(&t->criterion, &t->own, p + r * s->classes, s->label[r], 0, weight);
}

void tally_add(struct tally *t, const struct scores *s)
{
    assert(s->task == t->task && (s->task == TASK_REGRESSION || s->classes == t->classes));
    t->has_areas = false;
    for (uint64_t r = 0; r < s->rows; r++) {
        float w = s->weight ? s->weight[r] : 1;
        if (s->bad && s->bad[r])
            continue;
        const uint32_t group = s->group ? add_to_group(t, s, r) : 0;
        t->rows++;
        t->weight += (double)w;
        t->weight2 += (double)w * (double)w;
        if (t->task == TASK_REGRESSION && t->conformal)
            add_interval(t, s->low[r], s->high[r], s->target[r], (double)w);
        if (t->task == TASK_REGRESSION)
            add_value_row(t, s->value + r * criterion_values(&t->criterion), s->target[r],
                          (double)w);
        else
            add_class_row(t, s->probability + r * s->classes, s->label[r], w, group);
        if (t->needs & TALLY_CRITERION && !criterion_is_metric(&t->criterion))
            add_criterion(t, s, r, (double)w);
    }
}

/* --- all rows without those of a group --- */

#define ROUNDING 1e-12 /* of a sum: less is nothing */

static void less(double *rest, const double *all, const double *part, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const double left = all[i] - part[i];
        rest[i] = left > ROUNDING * all[i] || left < -ROUNDING * all[i] ? left : 0;
    }
}

/* Chan, Golub and LeVeque, 1979: the squares of the whole are the squares of both parts, plus the
 * distance of their means. */
static void less_target(struct tally *rest, const struct tally *all, const struct tally *part)
{
    const double w = rest->weight;
    if (!(w > 0))
        return;
    rest->target_mean = all->target_mean +
                        (all->target_mean - part->target_mean) * (part->weight / w);
    const double apart = rest->target_mean - part->target_mean,
                 own = part->target_square + apart * apart * w * part->weight / all->weight;
    less(&rest->target_square, &all->target_square, &own, 1);
}

void tally_less(struct tally *rest, const struct tally *all, const struct tally *part)
{
    rest->rows = all->rows - part->rows;
    less(&rest->weight, &all->weight, &part->weight,
         (offsetof(struct tally, covered) - offsetof(struct tally, weight)) / sizeof(double) + 1);
    if (all->classes) {
        less(rest->support, all->support, part->support, all->classes);
        less(rest->answered, all->answered, part->answered, all->classes);
        less(rest->hit, all->hit, part->hit, all->classes);
    } else {
        less_target(rest, all, part);
    }
}
