/* tree.c - see tree.h. A leaf is a range of the sorted rows; its best cut is found by one pass over
 * it, with running sums. */
#include "table/fit/tree.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

#define VALUE_UNIT 0x1p20
#define VALUE_MOST 1000.0 /* in spreads: 2^31 rows of that value still fit an int64 */
#define NOISE 1e-12       /* a smaller share of the sum is rounding */

struct leaf {
    uint32_t begin, end;
    uint32_t cut; /* first row of the right part; 0: none */
    double gain;
};

struct growth {
    const struct tree *t;
    int64_t *left, *right; /* [classes] rows of each class */
};

int32_t tree_value(double y)
{
    double limited = y > VALUE_MOST ? VALUE_MOST : y < -VALUE_MOST ? -VALUE_MOST : y;
    return (int32_t)lrint(limited * VALUE_UNIT);
}

/* Moves on to the best cut seen so far. both: the sum of squares over the rows, of either part. */
static void consider(struct leaf *leaf, uint32_t at, double both, double whole)
{
    double gain = both - whole;
    if (gain > leaf->gain && gain > NOISE * both) {
        leaf->gain = gain;
        leaf->cut = at;
    }
}

/* True if a cut before row i leaves enough rows on both sides and divides no value. */
static bool may_cut(const struct tree *t, const struct leaf *leaf, uint32_t i)
{
    return i - leaf->begin >= t->least && leaf->end - i >= t->least && t->v[i] > t->v[i - 1];
}

static void search_values(const struct tree *t, struct leaf *leaf)
{
    int64_t all = 0, left = 0;
    double rows = leaf->end - leaf->begin;
    for (uint32_t i = leaf->begin; i < leaf->end; i++)
        all += t->y[i];
    double whole = (double)all * (double)all / rows;
    for (uint32_t i = leaf->begin + 1; i < leaf->end; i++) {
        left += t->y[i - 1];
        if (!may_cut(t, leaf, i))
            continue;
        double a = (double)left, b = (double)(all - left), n = i - leaf->begin;
        consider(leaf, i, a * a / n + b * b / (rows - n), whole);
    }
}

static void search_classes(const struct growth *g, struct leaf *leaf)
{
    const struct tree *t = g->t;
    int64_t low = 0, high = 0; /* sums of squares of left and right */
    double rows = leaf->end - leaf->begin;
    memset(g->left, 0, t->classes * sizeof *g->left);
    memset(g->right, 0, t->classes * sizeof *g->right);
    for (uint32_t i = leaf->begin; i < leaf->end; i++)
        high += 2 * g->right[t->y[i]]++ + 1;
    double whole = (double)high / rows;
    for (uint32_t i = leaf->begin + 1; i < leaf->end; i++) {
        int32_t class = t->y[i - 1];
        low += 2 * g->left[class]++ + 1;
        high -= 2 * g->right[class]-- - 1;
        if (!may_cut(t, leaf, i))
            continue;
        double n = i - leaf->begin;
        consider(leaf, i, (double)low / n + (double)high / (rows - n), whole);
    }
}

static struct leaf leaf_of(const struct growth *g, uint32_t begin, uint32_t end)
{
    struct leaf leaf = {.begin = begin, .end = end};
    if (end - begin < 2 * (uint64_t)g->t->least)
        return leaf;
    if (g->t->classes)
        search_classes(g, &leaf);
    else
        search_values(g->t, &leaf);
    return leaf;
}

/* The middle between two neighbours, or the upper one if no float lies between. */
static float between(float low, float high)
{
    float middle = (float)(((double)low + (double)high) / 2);
    return middle > low ? middle : high;
}

uint32_t tree_cuts(const struct tree *t, float *cuts)
{
    struct growth g = {.t = t,
                       .left = mem_alloc(t->classes + 1, sizeof *g.left),
                       .right = mem_alloc(t->classes + 1, sizeof *g.right)};
    struct leaf *leaves = mem_alloc(t->leaves, sizeof *leaves);
    uint32_t count = 1;
    leaves[0] = leaf_of(&g, 0, t->count);
    while (count < t->leaves) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < count; i++)
            best = leaves[i].gain > leaves[best].gain ? i : best;
        struct leaf cut = leaves[best];
        if (!cut.cut)
            break;
        memmove(leaves + best + 2, leaves + best + 1, (count - best - 1) * sizeof *leaves);
        leaves[best] = leaf_of(&g, cut.begin, cut.cut);
        leaves[best + 1] = leaf_of(&g, cut.cut, cut.end);
        count++;
    }
    for (uint32_t i = 1; i < count; i++)
        cuts[i - 1] = between(t->v[leaves[i].begin - 1], t->v[leaves[i].begin]);
    mem_free(leaves);
    mem_free(g.left);
    mem_free(g.right);
    return count - 1;
}
