/* Every case of every operation (backend/cases/opcase.h) on emulated kernels, against the
 * reference in double: within the case's gate, the same bits in all four orders of lanes (large
 * cases: in two), nothing written outside; most also with activations in 16 bits, attention on a
 * smaller card. Then as many random shapes as EMULATE_SHAPES says, each in two orders; the number
 * of one brings it back. NIGHTLY=no (environment): two orders of each case; OPS_SHARE=I/N: share I
 * of N, from 0. */
#include "harness.h"
#include "kernel_machine.h"
#include "random_case.h"
#include "reference_op.h"

static struct machine *device, *host;

/* Parameters that begin anywhere: a copy of them one further, back in their place afterwards. */
static float **parameters_of(struct opdata *d)
{
    switch ((int)d->of->op) {
    case OP_sgd: return &d->arguments.sgd.p;
    case OP_rmsprop: return &d->arguments.rmsprop.p;
    case OP_adam: return &d->arguments.adam.p;
    default: return NULL;
    }
}
static void issue_odd(struct opdata *d)
{
    float **p = parameters_of(d), *there = p ? *p : NULL;
    size_t bytes = (size_t)opcase_items(d->of) * sizeof *there;
    if (!p) {
        machine_issue(device, d->of->op, &d->arguments);
        return;
    }
    float *odd = (float *)device_room(bytes + sizeof *there) + 1;
    memcpy(odd, there, bytes);
    shadow_written(odd, bytes);
    *p = odd;
    machine_issue(device, d->of->op, &d->arguments);
    memcpy(there, odd, bytes);
    *p = there;
    device_drop_all();
}

/* One case in that order and in `others` further ones; the bits are the same wherever parameters
 * begin. */
static void run_case(const struct opcase *c, uint64_t seed, unsigned order, unsigned others,
                     const char *again)
{
    char name[128];
    const char *where = "";
    opcase_name(c, name, sizeof name);
    emulate_order(order % ORDER_COUNT);
    struct opdata *first = opcase_make(c, device, seed);
    machine_issue(device, c->op, &first->arguments);
    for (unsigned other = order + 1; other <= order + others; other++) {
        emulate_order(other % ORDER_COUNT);
        struct opdata *d = opcase_make(c, device, seed);
        issue_odd(d);
        if (!opcase_same(d, first, &where))
            ok(false, "%s: the same bits in order %u: %s%s", name, other % ORDER_COUNT, where,
               again);
        opcase_free(d);
    }
    if (!opcase_inside(first, &where))
        ok(false, "%s: nothing is written outside %s%s", name, where, again);
    struct opdata *want = opcase_make(c, host, seed);
    reference_op(c->op, &want->arguments);
    double worst = opcase_difference(first, want, &where);
    ok(worst <= c->gate, "%s: %.2g within %.2g %s%s", name, worst, c->gate, where, again);
    opcase_free(want);
    opcase_free(first);
    unsigned found = emulate_findings();
    if (found)
        ok(false, "%s: %u findings%s", name, found, again);
}

/* The same with activations of 16 bits, rounded where they are written: within two steps between
 * neighbouring numbers, of the largest value. */
static void run_half(const struct opcase *of, uint32_t form)
{
    static const enum op_id ops[] = {OP_dense, OP_dense_back, OP_act, OP_act_back, OP_dropout,
                                     OP_add, OP_bnorm_stats, OP_bnorm, OP_bnorm_sums,
                                     OP_bnorm_back, OP_lnorm, OP_lnorm_back, OP_blend,
                                     OP_blend_back, OP_position, OP_position_back, OP_rotary,
                                     OP_attention, OP_attention_back, OP_weigh, OP_weigh_back};
    struct opcase c = *of;
    for (enum op_id op : ops)
        if (op == of->op)
            c.form = kernel_form = form;
    c.gate = form == FORM_BF16 ? 0x1p-6 : 0x1p-9;
    if (c.form)
        run_case(&c, 42, form, 0, "");
    kernel_form = FORM_REAL;
}

/* Attention on a card whose blocks own fewer steps at once, for want of memory: the same bits. */
static void run_small(const struct opcase *c)
{
    char name[128];
    const char *where = "";
    opcase_name(c, name, sizeof name);
    struct opdata *large = opcase_make(c, device, 42), *small = opcase_make(c, device, 42);
    machine_issue(device, c->op, &large->arguments);
    block_bytes = 20 << 10;
    machine_issue(device, c->op, &small->arguments);
    block_bytes = SHARED_MOST;
    ok(opcase_same(small, large, &where) && opcase_inside(small, &where),
       "%s: the same bits on a smaller card%s%s", name, *where ? ": " : "", where);
    opcase_free(large);
    opcase_free(small);
}

static void run_random(uint64_t seed)
{
    char again[64];
    struct opcase c = random_case(seed);
    snprintf(again, sizeof again, "; again: test_ops shape %llu", (unsigned long long)seed);
    run_case(&c, seed, (unsigned)(seed / OP_COUNT), 1, again);
}

/* test_ops [OPERATION | shape SEED] */
int main(int count, char **words)
{
    const char *nightly = getenv("NIGHTLY"), *share_text = getenv("OPS_SHARE");
    bool day = nightly && strcmp(nightly, "no") == 0;
    unsigned share = 0, shares = 1;
    if (share_text && (sscanf(share_text, "%u/%u", &share, &shares) != 2 || share >= shares))
        ok(false, "OPS_SHARE=%s is no share", share_text);
    struct machine_options o = {};
    struct err e = {};
    o.backend = "cpu";
    device = kernel_machine();
    host = machine_open(&o, &e);
    const struct opcase *c;
    uint64_t shapes = count > 1 ? 0 : shapes_wanted(2 * OP_COUNT);
    if (count > 2)
        run_random(strtoull(words[2], NULL, 10));
    for (size_t i = 0; count < 3 && (c = opcase_at(i)); i++) {
        /* two orders have to do */
        bool two = day || (uint64_t)c->rows * (c->in + c->out) > 1 << 13;
        if ((count > 1 && strcmp(words[1], op_name(c->op)) != 0) || i / 2 % shares != share)
            continue;
        run_case(c, 42, (unsigned)i, two ? 1 : ORDER_COUNT - 1, "");
        run_half(c, i % 2 ? FORM_BF16 : FORM_FP16);
        if (c->op == OP_attention || c->op == OP_attention_back)
            run_small(c);
    }
    for (uint64_t seed = share; seed < shapes; seed += shares)
        run_random(seed);
    machine_close(host);
    return done();
}
