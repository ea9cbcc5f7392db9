/* Bytes that a step moves between memory and the chip: of three wide layers with a narrow output,
 * in bf16 with activations, their gradients and a copy of the weights in 16 bits about half of
 * those with the same tiles and fp32. The shadow counts them. test_bytes [WIDTH ROWS]. */
#include "form.cuh"
#include "harness.h"

enum { LAYERS = 4, INPUTS = 28, SHARDS = 2 };
static uint32_t width = 96, rows = 160;

struct stack {
    uint32_t in[LAYERS], out[LAYERS];
    struct act y[LAYERS], dy[LAYERS], x;
    float *w[LAYERS], *b[LAYERS], *dw[LAYERS];
    struct act shadow[LAYERS];
};

static struct act room(uint64_t n, uint32_t form)
{
    return form_act(device_room((size_t)n * form_bytes(form)), form);
}

static struct stack stack_of(struct products by)
{
    struct stack s = {};
    s.x = plain_act(device_numbers(1, (size_t)rows * INPUTS, NULL));
    for (uint32_t i = 0; i < LAYERS; i++) {
        bool last = i + 1 == LAYERS;
        s.in[i] = i ? width : (uint32_t)INPUTS;
        s.out[i] = last ? 1 : width;
        size_t n = (size_t)s.in[i] * s.out[i];
        s.y[i] = room((uint64_t)rows * s.out[i],
                      last ? (uint32_t)FORM_REAL : form_kept(by, rows, width, false));
        s.dy[i] = last ? plain_act(device_numbers(2, rows, NULL))
                       : room((uint64_t)rows * width, form_kept(by, rows, width, true));
        s.w[i] = device_numbers(3 + i, n, NULL);
        s.b[i] = device_numbers(9 + i, s.out[i], NULL);
        s.dw[i] = device_empty<float>(SHARDS * (n + s.out[i]));
        if (form_product(by.how) == FORM_REAL)
            continue;
        s.shadow[i] = room(n, form_product(by.how));
        cuda_round(NULL, s.shadow[i].at, s.w[i], form_product(by.how), n);
    }
    return s;
}

/* What is copied counts as read. */
static uint64_t moved()
{
    return emulate_counts.device_read + emulate_counts.device_written;
}

/* Forward and back, as training issues them; how many bytes. */
static uint64_t step_bytes(enum product how)
{
    const struct products by = {how, 1, 1};
    struct stack s = stack_of(by);
    struct op_dense forward[LAYERS] = {};
    struct op_dense_back back[LAYERS] = {};
    const struct op_dense_back *backs[LAYERS];
    uint64_t before = moved();
    for (uint32_t i = 0; i < LAYERS; i++) {
        struct op_dense *f = &forward[i];
        struct op_dense_back *g = &back[i];
        f->x = i ? s.y[i - 1] : s.x;
        f->y = s.y[i];
        f->w = s.w[i];
        f->b = s.b[i];
        f->shadow = s.shadow[i];
        f->rows = rows;
        f->in = f->ldx = s.in[i];
        f->out = f->ldy = s.out[i];
        f->act = i + 1 < LAYERS ? ACT_RELU : ACT_NONE;
        cuda_dense(NULL, f, product_of(by, rows, f->in, f->out, false));
        g->x = f->x;
        g->y = f->y;
        g->dy = s.dy[i];
        g->dx = i ? s.dy[i - 1] : no_act();
        g->w = f->w;
        g->shadow = f->shadow;
        g->dw = s.dw[i];
        g->db = g->dw + (size_t)f->in * f->out;
        g->shard_stride = (uint64_t)f->in * f->out + f->out;
        g->rows = rows;
        g->shards = SHARDS;
        g->in = g->ldx = g->lddx = f->in;
        g->out = g->ldy = g->lddy = f->out;
        g->act = f->act;
        backs[LAYERS - 1 - i] = g;
    }
    cuda_dense_backs(NULL, backs, LAYERS, by);
    uint64_t bytes = moved() - before;
    device_drop_all();
    return bytes;
}

/* One large product: both operands in fp32, or both in 16 bits. */
static uint64_t product_bytes(enum product how, bool half)
{
    enum { SIDES = 256, DEPTH = 64 };
    uint32_t form = half ? form_product(how) : (uint32_t)FORM_REAL;
    float *x = device_numbers(1, SIDES * DEPTH, NULL);
    struct act copy = room(SIDES * DEPTH, form);
    cuda_round(NULL, copy.at, x, form, SIDES * DEPTH);
    struct gemm g = {};
    g.a = g.b = copy;
    g.c = room(SIDES * SIDES, form);
    g.m = g.n = SIDES;
    g.k = DEPTH;
    g.parts = 1;
    g.a_row = DEPTH;
    g.a_col = g.b_col = 1;
    g.b_row = g.c_row = SIDES;
    uint64_t before = moved(), copied = emulate_counts.copied;
    gemm_wide_start(NULL, &g, how);
    is_int((int64_t)(emulate_counts.copied - copied), half ? 4 * 2 * 128 * DEPTH * 2 : 0,
           "operands in 16 bits are copied, each tile of them once");
    uint64_t bytes = moved() - before;
    device_drop_all();
    return bytes;
}

int main(int count, char **words)
{
    if (count > 2) {
        width = (uint32_t)strtoul(words[1], NULL, 10);
        rows = (uint32_t)strtoul(words[2], NULL, 10);
    }
    uint64_t tf32 = step_bytes(PRODUCT_TF32), bf16 = step_bytes(PRODUCT_BF16);
    uint64_t fp16 = step_bytes(PRODUCT_FP16);
    uint64_t whole = product_bytes(PRODUCT_BF16, false), half = product_bytes(PRODUCT_BF16, true);
    printf("# %u x 3, %u rows: tf32 %llu bytes, bf16 %llu, fp16 %llu\n", width, rows,
           (unsigned long long)tf32, (unsigned long long)bf16, (unsigned long long)fp16);
    ok(!shadow_present || bf16 < tf32 * 6 / 10, "a step in bf16 moves about half of the bytes");
    ok(!shadow_present || (fp16 < tf32 * 9 / 10 && bf16 < fp16),
       "one in fp16 more than that, for gradients stay in fp32");
    ok(!shadow_present || 2 * half == whole, "a large product moves half");
    is_int(emulate_findings(), 0, "no findings");
    return done();
}
