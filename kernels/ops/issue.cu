/* issue.cu - the table of operations; an operation without a kernel does not link. */
#include "backend/backend.h"
#include "form.cuh"
#include "product/guest.cuh"
#include "ops/mlp.cuh"

#define GIVEN(name) ((const struct op_##name *)arguments)

void kernels_need(uint32_t op, const void *arguments, struct need *n)
{
    const struct op_dense *dense = (const struct op_dense *)arguments;
    const struct op_embed_back *embed = (const struct op_embed_back *)arguments;
    const struct op_norm2 *norm2 = (const struct op_norm2 *)arguments;
    const struct op_bnorm_stats *stats = (const struct op_bnorm_stats *)arguments;
    const struct op_bnorm_sums *sums = (const struct op_bnorm_sums *)arguments;
    const struct op_dropout *dropout = (const struct op_dropout *)arguments;
    n->scratch = n->kept = 0;
    if (op == OP_norm2) {
        n->scratch = cuda_norm2_scratch(norm2->from.n);
        n->kept = cuda_norm2_kept(norm2->from.n);
    } else if (op == OP_dropout) { /* a bit a value, in words */
        n->kept = dropout->width % 16 ? 0 : (uint64_t)dropout->rows * dropout->width / 8;
    } else if (op == OP_embed_back) {
        n->scratch = cuda_embed_back_scratch(embed);
    } else if (op == OP_recur) {
        n->scratch = cuda_recur_scratch(GIVEN(recur)->dims, GIVEN(recur)->kind, false);
    } else if (op == OP_recur_back) { /* recur_again uses it too */
        n->scratch = cuda_recur_scratch(GIVEN(recur_back)->dims, GIVEN(recur_back)->kind, true);
    } else if (op == OP_bnorm_stats) {
        n->scratch = cuda_bnorm_scratch(stats->rows, stats->width);
    } else if (op == OP_bnorm_sums) {
        n->scratch = cuda_bnorm_scratch(sums->rows, sums->width);
    } else if (op == OP_sgd || op == OP_rmsprop || op == OP_adam) {
        n->scratch = SCRATCH_HEAD; /* the end of a step may come with it */
    } else if (op == OP_score) {
        n->scratch = cuda_score_scratch(((const struct op_score *)arguments)->rows);
    } else if (op == OP_dense) { /* it may be the first of a stack */
        n->scratch = dense->rows <= MLP_ROWS ? mlp_scratch(dense->rows) : 0;
    }
}

static bool is_exact(const struct op_dense *a) { return a->exact != 0; }
static bool is_exact(const struct op_dense_back *) { return false; }

/* The call of each operation: with its arguments alone, with scratch, or with more. */
struct issued {
    struct machine *m;
    const void *arguments;
    struct products by;
    void *scratch;
};

template <class A> void call(void (*f)(struct machine *, const A *), const struct issued &i)
{
    f(i.m, (const A *)i.arguments);
}
template <class A> void call(void (*f)(struct machine *, const A *, void *), const struct issued &i)
{
    f(i.m, (const A *)i.arguments, i.scratch);
}
template <class A>
void call(void (*f)(struct machine *, const A *, const struct op_advance *, void *),
          const struct issued &i)
{
    f(i.m, (const A *)i.arguments, nullptr, i.scratch);
}
/* dense and dense_back */
template <class A>
void call(void (*f)(struct machine *, const A *, enum product), const struct issued &i)
{
    const A *a = (const A *)i.arguments;
    f(i.m, a, product_of(i.by, a->rows, a->in, a->out, is_exact(a)));
}
/* recur and recur_back: the rule for the product of their inputs, if they compute that as well */
template <class A>
void call(void (*f)(struct machine *, const A *, enum product, struct products, void *),
          const struct issued &i)
{
    const A *a = (const A *)i.arguments;
    uint32_t columns = RECUR_COLUMNS(a->kind) * a->units;
    f(i.m, a, product_of(i.by, a->rows * a->steps, a->from.in, columns, false), i.by, i.scratch);
}

void kernels_issue(struct machine *m, uint32_t op, const void *arguments, struct products by,
                   void *scratch)
{
    struct issued i = {m, arguments, by, scratch};
    switch ((enum op_id)op) {
#define ROW(name, text) case OP_##name: call(cuda_##name, i); break;
#include "backend/ops.def"
    case OP_COUNT: break;
    }
}

/* An optimiser with the end of its step. */
static bool issue_end(struct machine *m, const struct kernel_op *ops, void *scratch)
{
    const void *arguments = ops[0].arguments;
    const struct op_advance *end = (const struct op_advance *)ops[1].arguments;
    if (ops[1].op != OP_advance)
        return false;
    if (ops[0].op == OP_adam && GIVEN(adam)->now == end->now)
        cuda_adam(m, GIVEN(adam), end, scratch);
    else if (ops[0].op == OP_rmsprop && GIVEN(rmsprop)->now == end->now)
        cuda_rmsprop(m, GIVEN(rmsprop), end, scratch);
    else if (ops[0].op == OP_sgd && GIVEN(sgd)->now == end->now)
        cuda_sgd(m, GIVEN(sgd), end, scratch);
    else
        return false;
    return true;
}

/* Dense layers on their way back. */
static uint32_t issue_backs(struct machine *m, const struct kernel_op *ops, uint32_t count,
                            struct products by)
{
    const struct op_dense_back *back[KERNEL_FRONT];
    uint32_t n = 0;
    for (; n < count && n < KERNEL_FRONT && ops[n].op == OP_dense_back; n++) {
        back[n] = (const struct op_dense_back *)ops[n].arguments;
        if (back[n]->rows != back[0]->rows || back[n]->shards != back[0]->shards)
            break;
    }
    if (n > 0)
        cuda_dense_backs(m, back, n, by);
    return n;
}

/* Fused layers compute in fp32, as they would one by one. */
static bool all_fp32(const struct mlp *f, struct products by)
{
    bool all = true;
    for (uint32_t i = 0; i < f->count; i++)
        all &= product_of(by, f->rows, f->layer[i].in, f->layer[i].out, f->answers != 0) ==
               PRODUCT_FP32;
    return all;
}

/* Nothing that passes through is in 16 bits. */
static bool all_plain(const struct kernel_op *ops, uint32_t count)
{
    bool all = true;
    for (uint32_t i = 0; i < count; i++) {
        const void *arguments = ops[i].arguments;
        if (ops[i].op == OP_dense)
            all &= is_plain(GIVEN(dense)->y) && is_plain(GIVEN(dense)->x);
        else if (ops[i].op == OP_dense_back)
            all &= is_plain(GIVEN(dense_back)->dy) && is_plain(GIVEN(dense_back)->dx);
        else if (ops[i].op == OP_lnorm)
            all &= is_plain(GIVEN(lnorm)->y);
        else if (ops[i].op == OP_lnorm_back)
            all &= is_plain(GIVEN(lnorm_back)->dy) && is_plain(GIVEN(lnorm_back)->dx);
        else if (ops[i].op == OP_act)
            all &= is_plain(GIVEN(act)->y);
        else if (ops[i].op == OP_act_back)
            all &= is_plain(GIVEN(act_back)->dx);
        else if (ops[i].op == OP_dropout)
            all &= is_plain(GIVEN(dropout)->y) && is_plain(GIVEN(dropout)->x);
    }
    return all;
}

/* A stack of small layers, and the gradients left to other kernels. */
static uint32_t issue_stack(struct machine *m, const struct kernel_op *ops, uint32_t count,
                            struct products by, void *scratch)
{
    struct mlp f;
    struct mlp_rest rest;
    uint32_t taken = mlp_match(&f, &rest, ops, count, device_block_bytes(m), device_sms(m),
                               scratch);
    if (!taken || !all_fp32(&f, by) || !all_plain(ops, taken) || device_guest(m))
        return 0;
    mlp_start(m, &f);
    if (f.answers)
        return taken;
    cuda_dense_gradients(m, rest.dense, f.count);
    for (uint32_t i = 0; i < rest.norms; i++) {
        struct op_lnorm_back norm = *rest.norm[i];
        norm.dx = no_act(); /* no gradient here: it is computed already */
        cuda_lnorm_back(m, &norm);
    }
    return taken;
}

uint32_t kernels_issue_front(struct machine *m, const struct kernel_op *ops, uint32_t count,
                             struct products by, void *scratch)
{
    uint32_t taken = issue_stack(m, ops, count, by, scratch);
    if (!taken && count > 1 && issue_end(m, ops, scratch))
        taken = 2;
    if (!taken)
        taken = issue_backs(m, ops, count, by);
    if (taken)
        return taken;
    kernels_issue(m, ops[0].op, ops[0].arguments, by, scratch);
    return 1;
}
