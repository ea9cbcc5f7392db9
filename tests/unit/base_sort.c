#include <stdlib.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/sort.h"
#include "tap.h"

struct pair {
    int key, place;
};

static int by_key(const void *a, const void *b, const void *context)
{
    const struct pair *x = a, *y = b;
    int sign = *(const int *)context;
    return sign * ((x->key > y->key) - (x->key < y->key));
}

static void check_items(size_t count, int keys, int sign)
{
    struct pair *p = mem_alloc(count + 1, sizeof *p);
    for (size_t i = 0; i < count; i++)
        p[i] = (struct pair){(int)(rng_bits(1, i, 0, (uint32_t)count, RNG_TEST) % (uint32_t)keys),
                             (int)i};
    p[count].place = -77;
    sort_stable(p, count, sizeof *p, by_key, &sign);
    bool good = p[count].place == -77;
    for (size_t i = 1; i < count; i++)
        good = good && (sign * p[i - 1].key < sign * p[i].key ||
                        (p[i - 1].key == p[i].key && p[i - 1].place < p[i].place));
    ok(good, "%zu items of %d keys, %s", count, keys, sign > 0 ? "up" : "down");
    mem_free(p);
}

static void check_floats(size_t count)
{
    float *v = mem_alloc(count, sizeof *v), *w = mem_alloc(count, sizeof *w);
    uint32_t *order = mem_alloc(count, sizeof *order);
    double sum = 0, after = 0;
    for (size_t i = 0; i < count; i++) {
        v[i] = (float)rng_normal(3, i, 0, 0, RNG_TEST) * (i % 3 ? 1e-20f : 1e20f);
        if (i % 5 == 0)
            v[i] = i % 2 ? -0.0f : 0.0f;
        sum += (double)v[i];
        w[i] = v[i];
    }
    sort_order_floats(order, v, count);
    sort_floats(w, count);
    bool good = true, stable = true;
    for (size_t i = 0; i < count; i++) {
        after += (double)w[i];
        good = good && (i == 0 || w[i - 1] <= w[i]) && w[i] == v[order[i]];
        if (i && v[order[i - 1]] == v[order[i]])
            stable = stable && order[i - 1] < order[i];
    }
    ok(good, "%zu floats ascend, and so does their order", count);
    ok(stable, "equal floats keep their order (%zu)", count);
    is_near(after, sum, 1e-9 * 1e20 * (double)count, "nothing is lost");
    mem_free(v);
    mem_free(w);
    mem_free(order);
}

static void check_select(size_t count, uint32_t spread)
{
    float *v = mem_alloc(count, sizeof *v), *sorted, pairs[64][2], pair[2];
    uint32_t ranks[64], found = 0;
    bool same = true;
    for (size_t i = 0; i < count; i++)
        v[i] = (float)(rng_bits(3, i, 0, 0, RNG_TEST) % spread) * 0.37f - 5;
    v[0] = -0.0f;
    sorted = mem_copy(v, count * sizeof *v);
    sort_floats(sorted, count);
    uint32_t step = 1 + (uint32_t)count / 37;
    for (uint32_t rank = 0; rank + 1 < count; rank += found % 3 == 1 ? 0 : step) {
        ranks[found++] = rank; /* some twice */
        select_floats(v, count, &rank, 1, &pair);
        same &= memcmp(pair, sorted + rank, sizeof pair) == 0;
    }
    select_floats(v, count, ranks, found, pairs);
    for (uint32_t i = 0; i < found; i++)
        same &= memcmp(pairs[i], sorted + ranks[i], sizeof *pairs) == 0;
    ok(same, "%u values of %u: selected as sorted", (unsigned)count, spread);
    mem_free(v);
    mem_free(sorted);
}

int main(void)
{
    static const size_t selected[] = {2, 3, 100, 5001};
    for (size_t i = 0; i < 4; i++) {
        check_select(selected[i], 3);
        check_select(selected[i], 1000000);
    }
    static const size_t counts[] = {0, 1, 2, 3, 11, 12, 13, 24, 25, 100, 1000, 12345};
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        check_items(counts[i], 5, 1);
        check_items(counts[i], 100000, -1);
        check_floats(counts[i]);
    }
    float special[] = {INFINITY, 1e-45f, -1e-45f, 0.0f, -INFINITY, -0.0f, 3.4e38f, -3.4e38f};
    sort_floats(special, 8);
    ok(isinf(special[0]) && special[0] < 0 && isinf(special[7]) && special[1] == -3.4e38f &&
           special[2] == -1e-45f && special[3] == 0 && special[4] == 0 && special[5] == 1e-45f,
       "infinities, subnormals, both zeros");
    return done();
}
