/* The dense layer forward and backward, on CUDA cores and on tensor cores, against sums in double:
 * ragged shapes, every layout, shards, every activation, one-hot inputs; the same bits in all
 * four orders, and for a row whatever its place. */
#include <math.h>

#include "harness.h"
#include "form.cuh"

static double reference_act(uint32_t kind, double x, double slope)
{
    const double scale = 1.0507009873554805, tail = 1.7580993408473766;
    switch (kind) {
    case ACT_RELU: return x < 0 ? 0 : x;
    case ACT_LEAKY_RELU: return x < 0 ? slope * x : x;
    case ACT_GELU: return 0.5 * x * (1 + erf(x * sqrt(0.5)));
    case ACT_SILU: return x / (1 + exp(-x));
    case ACT_ELU: return x > 0 ? x : slope * expm1(x);
    case ACT_SELU: return x > 0 ? scale * x : tail * expm1(x);
    case ACT_TANH: return tanh(x);
    case ACT_SIGMOID: return 1 / (1 + exp(-x));
    case ACT_MISH: return x * tanh(log1p(exp(x)));
    default: return x;
    }
}
static double reference_derivative(uint32_t kind, double x, double slope)
{
    double h = 1e-5;
    return (reference_act(kind, x + h, slope) - reference_act(kind, x - h, slope)) / (2 * h);
}

/* How the inputs of a product are rounded. */
static double rounded(float x, enum product how)
{
    switch (how) {
    case PRODUCT_TF32: return (double)to_tf32(x);
    case PRODUCT_BF16: return (double)to_float(to_bf16(x));
    case PRODUCT_FP16: return (double)to_float(to_fp16(x));
    case PRODUCT_FP32:
    default: return (double)x;
    }
}

struct dense_shape { uint32_t rows, in, out, act, shards; };

/* Two one-hot columns of three and two categories, behind the `in` rows of w, some ids of
 * neither; *ids is on the device too. */
static struct onehot_column columns[] = {{0, 0, 3}, {1, 3, 2}};
static struct onehot_inputs onehot_of(bool wanted, uint32_t rows, uint32_t in, int32_t **ids)
{
    struct onehot_inputs onehot = {};
    if (!wanted)
        return onehot;
    *ids = device_empty<int32_t>(2 * (size_t)rows);
    for (uint32_t i = 0; i < 2 * rows; i++)
        (*ids)[i] = (int32_t)(i * 7 % 4) - 1;
    shadow_written(*ids, 8 * (size_t)rows);
    columns[0].at = in;
    columns[1].at = in + 3;
    onehot.ids = *ids;
    onehot.columns = device_array(columns, 2);
    onehot.ids_ld = onehot.column_count = 2;
    onehot.width = 5;
    return onehot;
}

static double worst; /* of the case, relative to the size of what was summed */

static void compare(float got, double want, double size)
{
    double error = fabs((double)got - want) / (size > 1 ? size : 1);
    if (!(error <= worst)) /* a NaN counts */
        worst = error;
}

static void test_forward(const struct dense_shape *s, enum product how, bool onehot)
{
    uint32_t ldx = s->in + 3, ldy = s->out + 1, ldz = s->out + 2, width = onehot ? 5 : 0;
    float *xh, *wh, *bh, *x = device_numbers(1, (size_t)s->rows * ldx, &xh);
    float *w = device_numbers(2, (size_t)(s->in + width) * s->out, &wh);
    float *b = device_numbers(3, s->out, &bh);
    float *y = device_empty<float>((size_t)s->rows * ldy);
    float *z = device_empty<float>((size_t)s->rows * ldz);
    int32_t *ids = NULL;
    struct op_dense a = {};
    a.y = plain_act(y);
    a.z = plain_act(z);
    a.x = plain_act(x);
    a.w = w;
    a.b = b;
    a.rows = s->rows;
    a.in = s->in;
    a.out = s->out;
    a.ldx = ldx;
    a.ldy = ldy;
    a.ldz = ldz;
    a.act = s->act;
    a.slope = 0.3;
    a.onehot = onehot_of(onehot, s->rows, s->in, &ids);
    cuda_dense(NULL, &a, how);
    worst = 0;
    for (uint32_t r = 0; r < s->rows; r++)
        for (uint32_t j = 0; j < s->out; j++) {
            double sum = (double)bh[j], size = 1;
            for (uint32_t k = 0; k < s->in; k++) {
                double p = rounded(xh[(size_t)r * ldx + k], how) *
                           rounded(wh[(size_t)k * s->out + j], how);
                sum += p;
                size += fabs(p);
            }
            for (uint32_t c = 0; onehot && c < 2; c++) {
                uint32_t id = (uint32_t)ids[2 * r + c];
                if (id < columns[c].count)
                    sum += (double)wh[(size_t)(columns[c].at + id) * s->out + j];
            }
            compare(z[(size_t)r * ldz + j], sum, size);
            compare(y[(size_t)r * ldy + j], reference_act(s->act, sum, 0.3), size);
        }
    ok(worst <= 1e-6 * (1 + s->in / 64.0), "forward %ux%u %ux%u act %u product %d%s: %.1e", s->rows,
       s->in, s->in, s->out, s->act, how, onehot ? " hot" : "", worst);
}

static uint32_t begin_of(uint32_t rows, uint32_t shards, uint32_t s)
{
    uint64_t at = ((uint64_t)rows + 7) / 8 * s / shards * 8;
    return at < rows ? (uint32_t)at : rows;
}

static void test_backward(const struct dense_shape *s, enum product how, bool more, bool onehot)
{
    /* rows that begin anywhere, or where four numbers are read at once */
    bool fours = s->in % 4 == 0 && s->out % 4 == 0;
    uint32_t ldx = s->in + (fours ? 4 : 1), ld = s->out + (fours ? 4 : 2), width = onehot ? 5 : 0;
    uint64_t stride = (uint64_t)(s->in + width) * s->out + s->out + 4;
    float *xh, *wh, *dyh, *zh, *dxh, *dwh;
    float *x = device_numbers(1, (size_t)s->rows * ldx, &xh);
    float *w = device_numbers(2, (size_t)(s->in + width) * s->out, &wh);
    float *dy = device_numbers(4, (size_t)s->rows * ld, &dyh);
    float *z = device_numbers(5, (size_t)s->rows * ld, &zh),
          *y = device_empty<float>((size_t)s->rows * ld);
    float *dx = device_numbers(6, (size_t)s->rows * ldx, &dxh);
    float *dw = device_numbers(7, stride * s->shards, &dwh);
    int32_t *ids = NULL;
    for (size_t i = 0; i < (size_t)s->rows * ld; i++)
        y[i] = (float)reference_act(s->act, (double)zh[i], 0.3);
    shadow_written(y, (size_t)s->rows * ld * 4);
    struct op_dense_back a = {};
    a.dx = plain_act(dx);
    a.dw = dw;
    a.db = dw + (size_t)(s->in + width) * s->out;
    a.dy = plain_act(dy);
    a.y = plain_act(y);
    a.z = plain_act(z);
    a.x = plain_act(x);
    a.w = w;
    a.shard_stride = stride;
    a.shards = s->shards;
    a.rows = s->rows;
    a.in = s->in;
    a.out = s->out;
    a.ldx = a.lddx = ldx;
    a.ldy = a.ldz = a.lddy = ld;
    a.act = s->act;
    a.add_dx = a.more = more;
    a.slope = 0.3;
    a.onehot = onehot_of(onehot, s->rows, s->in, &ids);
    cuda_dense_back(NULL, &a, how);
    worst = 0;
    for (size_t i = 0; i < (size_t)s->rows * ld; i++) {
        double want = (double)dyh[i];
        if (i % ld < s->out)
            want *= reference_derivative(s->act, (double)zh[i], 0.3);
        compare(dy[i], want, 1e2); /* the reference is a difference quotient */
    }
    ok(worst < 1e-7, "dz act %u: %.1e", s->act, worst);
    worst = 0;
    for (uint32_t r = 0; r < s->rows; r++)
        for (uint32_t i = 0; i < s->in; i++) {
            double sum = 0, size = 1;
            for (uint32_t j = 0; j < s->out; j++) {
                double p = rounded(dy[(size_t)r * ld + j], how) *
                           rounded(wh[(size_t)i * s->out + j], how);
                sum += p;
                size += fabs(p);
            }
            compare(dx[(size_t)r * ldx + i], sum + (more ? (double)dxh[(size_t)r * ldx + i] : 0),
                    size);
        }
    for (uint32_t shard = 0; shard < s->shards; shard++)
        for (uint32_t i = 0; i <= s->in + width; i++)
            for (uint32_t j = 0; j < s->out; j++) {
                size_t at = shard * stride + (size_t)i * s->out + j;
                double sum = more ? (double)dwh[at] : 0, size = 1;
                for (uint32_t r = begin_of(s->rows, s->shards, shard);
                     r < begin_of(s->rows, s->shards, shard + 1); r++) {
                    double dz = (double)dy[(size_t)r * ld + j], p = dz;
                    if (i < s->in)
                        p = rounded(xh[(size_t)r * ldx + i], how) *
                            rounded(dy[(size_t)r * ld + j], how);
                    else if (i < s->in + width)
                        p *= ids[2 * r + (i - s->in) / 3] == (int32_t)((i - s->in) % 3);
                    sum += p;
                    size += fabs(p);
                }
                compare(dw[at], sum, size);
            }
    ok(worst <= 1e-6 * (1 + s->rows / 64.0), "backward %ux%ux%u shards %u product %d%s: %.1e",
       s->rows, s->in, s->out, s->shards, how, more ? " more" : "", worst);
}

/* A row has the same bits wherever it stands and whatever stands with it. */
static void test_row_alone(enum product how)
{
    enum { ROWS = 77, IN = 45, OUT = 19 };
    float *xh, *x = device_numbers(1, ROWS * IN, &xh), *w = device_numbers(2, IN * OUT, NULL);
    float *y = device_empty<float>(ROWS * OUT), *alone = device_empty<float>(OUT);
    struct op_dense a = {};
    a.x = plain_act(x);
    a.w = w;
    a.y = plain_act(y);
    a.rows = ROWS;
    a.in = a.ldx = IN;
    a.out = a.ldy = OUT;
    cuda_dense(NULL, &a, how);
    bool same = true;
    for (uint32_t r = 0; r < ROWS; r += 19) {
        a.x = plain_act(x + r * IN);
        a.y = plain_act(alone);
        a.rows = 1;
        cuda_dense(NULL, &a, how);
        same &= memcmp(alone, y + r * OUT, OUT * 4) == 0;
    }
    ok(same, "product %d: a row alone has the bits it has among others", how);
}

/* Gradients too small for fp16 are scaled into its range, those too large run over. */
static void test_scale(double scale, float size, bool runs_over)
{
    enum { ROWS = 40, IN = 21, OUT = 34 };
    struct step now = {};
    now.scale = scale;
    float *xh, *wh, *dyh, *x = device_numbers(1, ROWS * IN, &xh);
    float *w = device_numbers(2, IN * OUT, &wh), *dy = device_numbers(3, ROWS * OUT, &dyh);
    float *dx = device_empty<float>(ROWS * IN), *dw = device_empty<float>(IN * OUT);
    for (uint32_t i = 0; i < ROWS * OUT; i++)
        dy[i] = dyh[i] *= size;
    struct op_dense_back a = {};
    a.dx = plain_act(dx);
    a.dw = dw;
    a.dy = plain_act(dy);
    a.x = plain_act(x);
    a.w = w;
    a.now = device_array(&now, 1);
    a.rows = ROWS;
    a.shards = 1;
    a.in = a.ldx = a.lddx = IN;
    a.out = a.lddy = OUT;
    cuda_dense_back(NULL, &a, PRODUCT_FP16);
    double times = scale > 0 ? scale : 1, far = 0;
    bool finite = true;
    /* one sum of `terms` products, of dy at dy0 + k dy_step and x or w at other0 + k other_step */
    auto compare = [&](float got, uint32_t terms, uint32_t dy0, uint32_t dy_step,
                       const float *other, uint32_t other0, uint32_t other_step) {
        double sum = 0, all = 0;
        for (uint32_t k = 0; k < terms; k++) {
            double p = rounded((float)((double)dyh[dy0 + k * dy_step] * times), PRODUCT_FP16) /
                       times * rounded(other[other0 + k * other_step], PRODUCT_FP16);
            sum += p;
            all += fabs(p);
        }
        far = fmax(far, all > 0 ? fabs((double)got - sum) / all : 0);
        finite &= isfinite(got) != 0;
    };
    for (uint32_t r = 0; r < ROWS; r++)
        for (uint32_t i = 0; i < IN; i++)
            compare(dx[r * IN + i], OUT, r * OUT, 1, wh, i * OUT, 1);
    for (uint32_t i = 0; i < IN; i++)
        for (uint32_t j = 0; j < OUT; j++)
            compare(dw[i * OUT + j], ROWS, j, OUT, xh, i, IN);
    ok(finite != runs_over, "scale %g of gradients of %g: %s", scale, (double)size,
       runs_over ? "runs over" : "is finite");
    ok(runs_over || far <= 1e-6, "and as the sums of the scaled and rounded: %.1e", far);
    device_drop_all();
}

/* The rule by which products are chosen. */
static void test_rule(void)
{
    const struct products by = {PRODUCT_BF16, 1000, 4096}, half = {PRODUCT_FP16, 1000, 4096};
    is_int(product_of(by, 1, 32, 32, false), PRODUCT_BF16, "large enough");
    is_int(product_of(by, 1, 31, 32, false), PRODUCT_FP32, "one less");
    is_int(product_of(by, 1, 32, 32, true), PRODUCT_FP32, "answers");
    is_int(product_of(by, 4096, 32, 2, false), PRODUCT_FP32, "few outputs");
    is_int(product_of(by, 4096, 14, 32, false), PRODUCT_FP32, "few inputs");
    is_int(product_of(by, 1u << 31, 1u << 16, 1u << 16, false), PRODUCT_BF16, "very many");
    is_int(form_kept(by, 128, 32, false), FORM_BF16, "numbers enough to be kept in 16 bits");
    is_int(form_kept(by, 127, 32, false), FORM_REAL, "too few");
    is_int(form_kept(by, 4096, 36, false), FORM_REAL, "rows that begin anywhere");
    is_int(form_kept(by, 4096, 24, false), FORM_REAL, "narrow ones");
    is_int(form_kept(by, 128, 32, true), FORM_BF16, "gradients as well");
    is_int(form_kept(half, 128, 32, true), FORM_REAL, "but not of fp16");
    is_int(form_kept(half, 128, 32, false), FORM_FP16, "whose activations are");
    is_int(form_kept({PRODUCT_TF32, 0, 0}, 4096, 32, false), FORM_REAL, "tf32 has no 16 bits");
}

static void test_shape(uint32_t seed)
{
    uint32_t r[6];
    for (uint32_t k = 0; k < 6; k++)
        r[k] = (uint32_t)((number(seed, k) + 1) * 32768);
    struct dense_shape s = {1 + r[0] % 90, 1 + r[1] % 70, 1 + r[2] % 90, r[3] % ACT_KINDS,
                            1 + r[4] % 4};
    emulate_order(seed % ORDER_COUNT);
    test_forward(&s, (enum product)(r[5] % 4), r[5] / 4 % 2);
    test_backward(&s, (enum product)(r[5] % 4), r[5] / 8 % 2, r[5] / 16 % 2);
    device_drop_all();
}

/* test_gemm [shape SEED]: else as many random shapes as EMULATE_SHAPES says, and those below. */
int main(int count, char **words)
{
    if (shapes_try(count, words, shapes_wanted(4), test_shape))
        return done();
    static const struct dense_shape shapes[] = {
        {1, 1, 1, ACT_NONE, 1},        {33, 17, 5, ACT_RELU, 1},     {70, 40, 33, ACT_TANH, 2},
        {65, 31, 2, ACT_SIGMOID, 3},   {9, 70, 65, ACT_GELU, 1},     {40, 3, 130, ACT_MISH, 2}};
    for (EACH_ORDER(order))
        for (uint32_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            for (int how = PRODUCT_FP32; how <= PRODUCT_FP16; how++) {
                if ((i + (uint32_t)how) % ORDER_COUNT != order && i != 2)
                    continue;
                test_forward(&shapes[i], (enum product)how, i % 2);
                test_backward(&shapes[i], (enum product)how, i % 3 == 1, i % 2);
                device_drop_all();
            }
    for (uint32_t kind = ACT_NONE; kind < ACT_KINDS; kind++) {
        struct dense_shape s = {20, 6, 7, kind, 1};
        test_forward(&s, PRODUCT_FP32, false);
        test_backward(&s, PRODUCT_FP32, false, false);
        device_drop_all();
    }
    for (int how = PRODUCT_FP32; how <= PRODUCT_FP16; how++)
        test_row_alone((enum product)how);
    test_scale(0, 1, false);
    test_scale(0x1p16, 0x1p-20f, false);
    test_scale(0x1p-3, 0x1p12f, false);
    test_scale(0x1p24, 1, true);
    /* so many shards have tiles enough for large ones, and db comes with them */
    const struct dense_shape many = {64 * 8 + 4, 20, 68, ACT_RELU, 64};
    test_backward(&many, PRODUCT_BF16, true, false);
    test_rule();
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
