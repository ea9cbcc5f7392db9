/* Our own exp, expm1, log, tanh and erf, seen through the activations and the loss: their error in
 * units of the last place, their special values, and the same bits from every vector code. */
#include "tap.h"

#include "backend/cpu/vec.h"
#include "base/rng.h"

enum { COUNT = 40000 };
static real x[COUNT], y[3][COUNT];

/* Every size of number: many near 0, up to 100. */
static void fill(void)
{
    for (size_t i = 0; i < COUNT; i++) {
        double u = rng_uniform(1, i, 0, 0, RNG_TEST), e = rng_uniform(2, i, 0, 0, RNG_TEST);
        x[i] = (real)((u < 0.5 ? -1 : 1) * exp(e * 18 - 13.4));
    }
    static const double special[] = {0, -0.0, 1, -1, 0.5, 88, -88, 87.4, -87.4, 1e-30, -1e-30, 1e30,
                                     -1e30, 20, -20, 4, -4};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        x[i] = (real)special[i];
}

static double truth(double v, uint32_t kind)
{
    switch (kind) {
    case ACT_TANH: return tanh(v);
    case ACT_SIGMOID: return 1 / (1 + exp(-v));
    case ACT_ELU: return v > 0 ? v : expm1(v);
    case ACT_SILU: return v / (1 + exp(-v));
    case ACT_GELU: return 0.5 * v * (1 + erf(v * 0.70710678118654752440));
    case ACT_MISH: return v * tanh(log1p(exp(v < 40 ? v : 40)));
    default: return v;
    }
}

/* gelu loses digits where 1 + erf cancels: its error is taken over |v|, as those of its use are. */
static double worst_error(const struct vec *vec, uint32_t kind, real *out)
{
    double worst = 0;
    vec->act(out, x, COUNT, kind, 1);
    for (size_t i = 0; i < COUNT; i++) {
        double want = truth((double)x[i], kind), scale = fabs(kind == ACT_GELU ? (double)x[i]
                                                              : want);
        if (fabs((double)x[i]) > 80 || scale < 1e-35)
            continue;
        worst = fmax(worst, fabs((double)out[i] - want) / scale);
    }
    return worst / (sizeof(real) == sizeof(float) ? 0x1p-24 : 0x1p-53);
}

static void specials(const struct vec *vec)
{
    real nan = (real)NAN, inf = (real)INFINITY;
    real in[5] = {nan, inf, -inf, 100, -100}, out[5];
    bool kept = true, finite = true;
    for (uint32_t kind = ACT_NONE + 1; kind < ACT_KINDS; kind++) {
        vec->act(out, in, 5, kind, (real)0.5);
        kept = kept && isnan((double)out[0]);
        finite = finite && isfinite((double)out[3]) && isfinite((double)out[4]);
    }
    ok(kept, "%s: not a number stays so through every activation", vec->name);
    ok(finite, "%s: 100 and -100 give finite numbers", vec->name);
    vec->act(out, in, 5, ACT_SIGMOID, 0);
    ok(out[1] == 1 && out[2] == 0, "%s: the sigmoid of the infinities is 1 and 0", vec->name);
    vec->act(out, in, 5, ACT_TANH, 0);
    ok(out[1] == 1 && out[2] == -1, "%s: their tanh is 1 and -1", vec->name);
}

/* log, through the loss of two classes: log(1 + e^-d) */
static double loss_error(const struct vec *vec)
{
    double worst = 0;
    for (size_t i = 0; i < 2000; i++) {
        real logits[2] = {x[i], 0}, target = 0, weight = 1, d[2], room[2 * LANES];
        if (fabs((double)x[i]) > 60)
            continue;
        struct softmax s = {.dlogits = d, .logits = logits, .target = &target, .weight = &weight,
                            .room = room, .rows = 1, .classes = 2, .ld = 2, .ldd = 2};
        vec->softmax(&s);
        worst = fmax(worst, fabs(s.loss - log1p(exp(-(double)x[i]))) / fmax(1, fabs((double)x[i])));
    }
    return worst;
}

/* What optimisers keep ends at 0 where the gradients have ended, not below the normal numbers. */
static void fades(const struct vec *vec)
{
    enum { MEANS = 37 };
    real p[MEANS], m[3][MEANS], g[MEANS] = {0};
    bool good = true;
    for (int i = 0; i < MEANS; i++) {
        p[i] = 1;
        m[0][i] = m[1][i] = m[2][i] = i % 2 ? (real)1e-36 : (real)-1e-36;
    }
    for (int step = 0; step < 100; step++) {
        struct update u = {.p = p, .m1 = m[0], .m2 = m[1], .g = g, .n = MEANS, .scale = 1,
                           .beta1 = 0.9, .beta2 = 0.9, .epsilon = (real)1e-8, .root = 1};
        for (int i = 0; i < MEANS; i++)
            m[1][i] = (real)fabs((double)m[1][i]);
        vec->adam(&u);
        u.m1 = m[2];
        vec->sgd(&u);
        u.m2 = m[1];
        vec->rmsprop(&u);
    }
    for (int i = 0; i < MEANS; i++)
        good = good && m[0][i] == 0 && m[1][i] == 0 && m[2][i] == 0 && p[i] == 1;
    ok(good, "%s: running means fade to 0", vec->name);
}

/* The vector code's permutation is the one of base/rng.h, whatever the first and the count. */
static void permutes(const struct vec *vec)
{
    static const uint32_t sizes[] = {1, 2, 15, 16, 17, 1000, 45000, 65536, 65537};
    bool good = true;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        struct shuffle s = {.seed = 11, .epoch = 3, .model = 1, .n = sizes[k]};
        uint32_t at = 0, out[150];
        for (uint32_t count = 1; at < s.n && at < 2000; at += count, count = count * 3 % 149 + 1) {
            if (count > s.n - at)
                count = s.n - at;
            vec->permute(out, at, count, &s);
            for (uint32_t i = 0; i < count; i++)
                good = good && out[i] == rng_permute(11, 3, 1, s.n, at + i);
        }
    }
    ok(good, "%s: positions of the shuffled order", vec->name);
}

int main(void)
{
    static const char *const cores[] = {"c", "avx2", "avx512"};
    static const uint32_t kinds[] = {ACT_TANH, ACT_SIGMOID, ACT_ELU, ACT_SILU, ACT_GELU, ACT_MISH};
    static const char *const names[] = {"tanh", "sigmoid", "expm1", "silu", "gelu", "mish"};
    fill();
    for (int i = 0; i < 3; i++) {
        const struct vec *vec = vec_find(cores[i]);
        if (!vec) {
            tap_skip(cores[i], "not on this processor or in this build");
            continue;
        }
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            double worst = worst_error(vec, kinds[k], y[i]);
            ok(worst < 8, "%s: %s within 8 half units of the last place: %.2f", cores[i], names[k],
               worst);
            if (i) {
                vec_c.act(y[0], x, COUNT, kinds[k], 1);
                ok(memcmp(y[0], y[i], sizeof y[i]) == 0, "%s: %s has the bits of the plain C code",
                   cores[i], names[k]);
            }
        }
        specials(vec);
        fades(vec);
        permutes(vec);
        double loss = loss_error(vec);
        ok(loss < 2e-7, "%s: the loss of two classes within 2e-7: %.2g", cores[i], loss);
    }
    return done();
}
