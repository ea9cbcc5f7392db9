/* table_bins.c - piecewise-linear numbers: cuts of a tree against a plain search, edges by
 * quantiles and by a tree, columns without bins, log1p and the smooth clip. */
#include <math.h>

#include "base/rng.h"
#include "base/sort.h"
#include "table/fit/tree.h"
#include "table_help.h"

enum { MOST = 300, CLASSES = 4 };

/* --- trees --- */

static double squared_error(const struct tree *t, uint32_t begin, uint32_t end)
{
    double error = 0, sum[CLASSES] = {0}, n = end - begin;
    uint32_t columns = t->classes ? t->classes : 1;
    for (uint32_t i = begin; i < end; i++)
        sum[t->classes ? t->y[i] : 0] += t->classes ? 1 : t->y[i];
    for (uint32_t i = begin; i < end; i++)
        for (uint32_t k = 0; k < columns; k++) {
            double y = t->classes ? t->y[i] == (int32_t)k : t->y[i];
            error += (y - sum[k] / n) * (y - sum[k] / n);
        }
    return error;
}

/* Tries every cut of every leaf, and takes the one with the largest gain. */
static uint32_t plain_cuts(const struct tree *t, uint32_t *begins)
{
    uint32_t count = 1;
    begins[0] = 0;
    for (; count < t->leaves; count++) {
        double most = 1e-9;
        uint32_t found = 0, leaf = 0;
        for (uint32_t l = 0; l < count; l++) {
            uint32_t begin = begins[l], end = l + 1 < count ? begins[l + 1] : t->count;
            double whole = squared_error(t, begin, end);
            for (uint32_t i = begin + t->least; i + t->least <= end; i++) {
                if (!(t->v[i] > t->v[i - 1]))
                    continue;
                double gain = whole - squared_error(t, begin, i) - squared_error(t, i, end);
                if (gain > most * (1 + 1e-9)) {
                    most = gain;
                    found = i;
                    leaf = l;
                }
            }
        }
        if (!found)
            break;
        memmove(begins + leaf + 2, begins + leaf + 1, (count - leaf - 1) * sizeof *begins);
        begins[leaf + 1] = found;
    }
    return count - 1;
}

static void check_tree(uint64_t seed, uint32_t classes)
{
    float v[MOST], cuts[MOST];
    int32_t y[MOST];
    uint32_t begins[MOST + 1], wide = 5 + rng_bits(seed, 0, 9, 0, RNG_TEST) % 200;
    for (uint32_t i = 0; i < MOST; i++)
        v[i] = (float)(rng_bits(seed, i, 1, 0, RNG_TEST) % wide);
    sort_floats(v, MOST);
    for (uint32_t i = 0; i < MOST; i++) {
        double level = (int)v[i] / 7 % 3 + 0.3 * rng_normal(seed, i, 2, 0, RNG_TEST);
        y[i] = classes ? (int32_t)((uint32_t)(level < 0 ? 0 : level + 0.5) % classes)
                       : tree_value(level);
    }
    struct tree t = {.v = v, .y = y, .count = MOST, .classes = classes,
                     .leaves = 2 + rng_bits(seed, 0, 8, 0, RNG_TEST) % 12,
                     .least = 1 + rng_bits(seed, 0, 7, 0, RNG_TEST) % 20};
    uint32_t count = tree_cuts(&t, cuts), want = plain_cuts(&t, begins), same = 0;
    for (uint32_t i = 0; i < count && i < want; i++)
        same += cuts[i] > v[begins[i + 1] - 1] && cuts[i] <= v[begins[i + 1]];
    ok(count == want && same == count, "tree %llu of %u classes: %u cuts, %u of %u as expected",
       (unsigned long long)seed, classes, count, same, want);
}

static void trees(void)
{
    static const uint32_t classes[] = {0, 2, 4};
    for (uint64_t seed = 1; seed <= 12; seed++)
        for (int i = 0; i < 3; i++)
            check_tree(seed, classes[i]);
    float v[] = {1, 1, 2, 3, 3, 3}, cuts[5];
    int32_t same[6] = {0}, y[] = {0, 0, 0, 1, 1, 1};
    struct tree t = {.v = v, .y = same, .count = 6, .classes = 2, .leaves = 6, .least = 1};
    is_int(tree_cuts(&t, cuts), 0, "a target of one class is not cut");
    t.y = y;
    is_int(tree_cuts(&t, cuts), 1, "pure leaves are not cut");
    is_near((double)cuts[0], 2.5, 0, "half way between two values");
    t.least = 4;
    is_int(tree_cuts(&t, cuts), 0, "a leaf has its least rows");
    is_int(tree_value(1e30), 1000 << 20, "a far target is limited");
}

/* --- edges --- */

/* A column with these options and values; the target of row i is i % 5 < 2, of a regression i. */
static struct encoder *fitted(const char *options, int task, const float *v, uint64_t rows,
                             bool backwards)
{
    struct err e = {0};
    struct text config = {0};
    text_printf(&config, COLUMNS("\"a\": {\"type\": \"numeric\", %s}"), options);
    struct schema *s = schema_need(config.data, task);
    struct sheet *t = table_make(s, rows, 4);
    if (task == TASK_BINARY) {
        vocab_add(s->labels, "0", 1);
        vocab_add(s->labels, "1", 1);
    }
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t row = backwards ? rows - 1 - i : i;
        put_number(t, row, 0, v[i]);
        if (task == TASK_REGRESSION)
            t->target[row] = (double)i;
        else
            put_int(t, row, s->raw.at_target, i % 5 < 2);
    }
    table_index(t);
    ok(table_fit(s, t, &e), "fitted with %s: %s", options, e.what);
    struct encoder *c = t->encoder;
    t->encoder = NULL;
    table_drop(t);
    schema_free(s);
    text_free(&config);
    return c;
}

static void check_edges(const char *options, int task, const float *v, uint64_t rows,
                        const float *want, uint32_t count, const char *name)
{
    for (int backwards = 0; backwards < 2; backwards++) {
        struct encoder *c = fitted(options, task, v, rows, backwards);
        const struct number_slot *n = &c->numbers[0];
        bool same = n->edge_count == count;
        for (uint32_t i = 0; same && i < count; i++)
            same = n->edges[i] >= want[i] && n->edges[i] <= want[i];
        ok(same, "%s%s: %u edges", name, backwards ? ", rows in another order" : "",
           n->edge_count);
        encoder_free(c);
    }
}

#define PLE(scale) "\"encode\": \"ple\", \"bins\": 4, \"scale\": \"" scale "\""
static void edges(void)
{
    const float line[] = {9, 1, 2, NAN, 3, 4, 5, 6, 7, 8}, ties[] = {0, 0, 0, 0, 0, 0, 0, 4, 8};
    const float same[] = {3, 3, 3, 3}, two[] = {0, 1, 0, 1, 1};
    check_edges(PLE("none"), TASK_REGRESSION, line, 10, (const float[]){1, 3, 5, 7, 9}, 5,
                "quantiles");
    check_edges(PLE("minmax"), TASK_REGRESSION, line, 10,
                (const float[]){0, 0.25f, 0.5f, 0.75f, 1}, 5, "scaled");
    check_edges(PLE("none"), TASK_REGRESSION, ties, 9, (const float[]){0, 8}, 0,
                "quantiles that collapse to one bin");
    check_edges(PLE("none"), TASK_REGRESSION, ties + 3, 6, (const float[]){0, 3, 8}, 3,
                "quantiles that collapse");
    check_edges(PLE("none"), TASK_REGRESSION, same, 4, NULL, 0, "a constant");
    check_edges(PLE("none"), TASK_BINARY, two, 5, NULL, 0, "two values");
    float steps[100];
    for (int i = 0; i < 100; i++)
        steps[i] = (float)(i / 25); /* the target of a regression grows with it */
    check_edges(PLE("none") ", \"edges\": \"tree\"", TASK_REGRESSION, steps, 100,
                (const float[]){0, 0.5f, 1.5f, 2.5f, 3}, 5, "a tree");
    check_edges("\"encode\": \"ple\", \"bins\": 2, \"scale\": \"none\", \"edges\": \"tree\"",
                TASK_REGRESSION, steps, 100, (const float[]){0, 1.5f, 3}, 3,
                "a tree of two leaves");
    for (int i = 0; i < 100; i++)
        steps[i] = i % 5 < 2 ? (float)(i % 2) : (float)(5 + i % 3);
    check_edges(PLE("none") ", \"edges\": \"tree\"", TASK_BINARY, steps, 100,
                (const float[]){0, 3, 7}, 3, "a tree on two classes");
    struct encoder *c = fitted(PLE("none"), TASK_REGRESSION, line, 10, false);
    struct features *f = encoder_features(c);
    ok(f->numbers && f->numbers[0].bins == 4 && f->numbers[0].alone && f->edge_count == 5,
       "features have the edges; the number is no input");
    features_free(f);
    encoder_free(c);
    c = fitted("\"encode\": [\"plain\", \"ple\"]", TASK_REGRESSION, line, 10, false);
    ok(c->numbers[0].edge_count && !c->numbers[0].alone, "both: the number is an input");
    encoder_free(c);
    c = fitted("\"encode\": \"plain\"", TASK_REGRESSION, line, 10, false);
    ok(!c->numbers[0].edge_count && !c->numbers[0].alone, "plain: no edges");
    encoder_free(c);
}

/* --- log1p, clip --- */

static void scales(void)
{
    const float v[] = {0, 1, 3, 7, -1, NAN};
    struct encoder *c = fitted("\"transform\": \"log1p\", \"scale\": \"none\"", TASK_REGRESSION, v,
                              6, false);
    float x[] = {0, 1, -1, 7, NAN};
    number_apply(&c->numbers[0], x, 5);
    is_near((double)x[1], log(2), 1e-7, "log1p");
    is_near((double)x[2], -log(2), 1e-7, "log1p of a negative number");
    is_near((double)x[3], log(8), 1e-7, "log1p of a larger one");
    is_near((double)x[4], log(2), 1e-7, "the median is imputed behind log1p");
    ok(c->numbers[0].low >= -1 && c->numbers[0].low <= -1 && c->numbers[0].high >= 7,
       "the range is that of the file");
    encoder_free(c);
    const float w[] = {1, 2, 3, 4, 5};
    c = fitted("\"scale\": \"clip\"", TASK_REGRESSION, w, 5, false);
    float y[] = {3, 5, 1e6f, -1e6f};
    number_apply(&c->numbers[0], y, 4);
    is_near((double)y[0], 0, 1e-7, "the median is 0");
    is_near((double)y[1], 1 / sqrt(1 + 1.0 / 9), 1e-6, "a quartile range away");
    is_near((double)y[2], 3, 1e-5, "far above");
    is_near((double)y[3], -3, 1e-5, "far below");
    encoder_free(c);
}

int main(void)
{
    trees();
    edges();
    scales();
    return done();
}
