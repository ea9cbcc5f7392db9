/* train_norms.c - gradient norms: when ten steps in a row say that a training explodes, and that a
 * checkpoint takes the verdict with it. Ids: N02. */
#include <math.h>

#include "tap.h"
#include "train/norms.h"

/* Step s of a training whose norms sway between 0.5 and 2. */
static double calm(int64_t s)
{
    return exp2(sin((double)s));
}

/* Adds `count` calm norms; true when one of them was the end. */
static bool add_calm(struct norms *n, int64_t count)
{
    bool over = false;
    for (int64_t i = 0; i < count; i++)
        over = norms_add(n, calm(n->seen)) || over;
    return over;
}

/* How many steps of this norm it takes to end the training; 0: fifty do not. */
static int ends_after(struct norms n, double norm)
{
    for (int i = 1; i <= 50; i++)
        if (norms_add(&n, norm))
            return i;
    return 0;
}

static void rule(void)
{
    static struct norms n;
    ok(!add_calm(&n, 99), "99 calm steps");
    is_int(ends_after(n, 1000), 11, "N02 no median before a hundred steps: the tenth after it");
    ok(!add_calm(&n, 901), "a thousand");
    ok(fabs(n.median - 1) < 0.02, "the median is that of calm steps: %g", n.median);
    is_int(ends_after(n, 9.5), 0, "N02 below ten times the median: never");
    is_int(ends_after(n, 10.5), NORMS_ROW, "N02 above: at the tenth step in a row");
    bool over = false;
    for (int i = 0; i < 500; i++)
        over = over || norms_add(&n, i % 10 == 9 ? 1 : 1e6);
    ok(!over || n.above < NORMS_ROW, "N02 nine in a row and a calm one between them: not yet");
    static struct norms falling;
    double norm = 1;
    for (int i = 0; i < 5000 && !over; i++, norm *= 0.998)
        over = norms_add(&falling, norm);
    ok(!over, "norms that fall");
    ok(falling.median < 1e-2, "the median follows: %g", falling.median);
    static struct norms still;
    for (int i = 0; i < 200; i++)
        over = over || norms_add(&still, 0);
    ok(!over && ends_after(still, 1) == 0, "a median of zero is no measure");
}

static void kept(void)
{
    static const int64_t counts[] = {0, 7, 150, 1000, 1234};
    static double values[NORMS_MOST + 1];
    for (int k = 0; k < 5; k++) {
        static struct norms a, b;
        a = (struct norms){0};
        add_calm(&a, counts[k]);
        for (int i = 0; i < 4; i++)
            norms_add(&a, 100);
        uint64_t count = norms_pack(&a, values);
        ok(count <= NORMS_MOST && norms_unpack(&b, values, count), "after %lld steps",
           (long long)counts[k]);
        is_int(ends_after(b, 100), ends_after(a, 100), "the same verdict at the same step");
        ok(!norms_unpack(&b, values, count + 1) && !norms_unpack(&b, values, count - 1),
           "not with one more or less");
        values[count - 1] = (double)NAN;
        ok(!norms_unpack(&b, values, count), "nor with one that is not a number");
    }
}

int main(void)
{
    rule();
    kept();
    return done();
}
