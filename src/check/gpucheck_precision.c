/* gpucheck_precision.c - a case of an operation on both machines; and products of a training, large
 * enough for large tiles, in fp32 and in every precision that the card has: no case is. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cases/opcase.h"
#include "base/process/stop.h"
#include "base/text.h"
#include "check/gpucheck_parts.h"

double gpucheck_case(const struct opcase *c, struct machine *gpu, struct machine *cpu, bool exact,
                     const char **where, struct err *e)
{
    struct opdata *got = opcase_make(c, gpu, 42), *want = opcase_make(c, cpu, 42);
    if (!opcase_ready(got, e) || !opcase_ready(want, e)) {
        opcase_free(got);
        opcase_free(want);
        return -1;
    }
    if (!exact) /* as in training */
        got->arguments.dense.exact = want->arguments.dense.exact = 0;
    machine_issue(gpu, c->op, &got->arguments);
    machine_issue(cpu, c->op, &want->arguments);
    double worst = opcase_difference(got, want, where);
    if (!opcase_inside(got, where))
        worst = (double)INFINITY;
    opcase_free(got);
    opcase_free(want);
    return worst;
}

/* Twice the step between two neighbouring numbers, of the largest value; fp32 as the cases have it.
 * Operands that a training of that precision keeps in 16 bits are given so: activations, their
 * gradients, the copy of the weights. */
static const struct {
    const char *name;
    double gate, gate_back;
    uint32_t form;
} kinds[] = {{"fp32", 1e-5, 1e-4, FORM_REAL},
             {"tf32", 0x1p-9, 0x1p-9, FORM_REAL},
             {"bf16", 0x1p-6, 0x1p-6, FORM_BF16},
             {"fp16", 0x1p-9, 0x1p-9, FORM_FP16}};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* The smallest shapes that are sure of their tile; tensor cores need 2^25 multiply-adds. FEW: for
 * emulated cards alone, whose limit is lower. KEPT: operands come in 16 bits if a training keeps
 * them so; UNKEPT: they do not, as x of the first layer. WIDE: by warpgroups too, if the card has
 * them. A weight gradient alone is CASE_BARE. */
enum { FP32 = 1, TENSOR = 2, QUICK = 4, FEW = 8, KEPT = 16, UNKEPT = 32, WIDE = 64,
       WIDER = TENSOR | KEPT | UNKEPT | WIDE | QUICK };
static const struct shape {
    enum op_id op;
    uint32_t rows, in, out, flags, used;
} shapes[] = {
    {OP_dense, 64, 32, 36, 0, FP32 | TENSOR | KEPT | QUICK | FEW},
    {OP_dense_back, 64, 32, 36, 0, FP32 | TENSOR | KEPT | QUICK | FEW},
    /* 64 x 64 and 128 x 64 of C a block: y, dx, dw */
    {OP_dense, 8195, 37, 67, 0, FP32 | QUICK},
    {OP_dense, 33000, 19, 131, 0, FP32},
    {OP_dense_back, 8195, 67, 37, 0, FP32 | QUICK},
    {OP_dense_back, 33000, 131, 19, 0, FP32},
    {OP_dense_back, 37, 731, 727, CASE_BARE, FP32 | QUICK},
    {OP_dense_back, 19, 2053, 2051, CASE_BARE, FP32},
    /* 64 x 8 */
    {OP_dense_back, 75000, 7, 5, 0, FP32},
    {OP_dense_back, 37, 66000, 8, CASE_BARE, FP32},
    /* 32 x 32 and 64 x 64 of tensor cores */
    {OP_dense, 520, 260, 252, 0, TENSOR | KEPT},
    {OP_dense_back, 520, 260, 252, 0, TENSOR | KEPT},
    {OP_dense, 8195, 65, 67, 0, TENSOR | UNKEPT},
    {OP_dense_back, 8195, 65, 67, 0, TENSOR | UNKEPT},
    {OP_dense_back, 1031, 183, 181, CASE_BARE, TENSOR | UNKEPT},
    /* 128 x 128, read by four, by eight, and by warpgroups */
    {OP_dense, 8072, 72, 72, 0, WIDER},
    {OP_dense_back, 8072, 72, 72, 0, WIDER},
    {OP_dense_back, 1032, 136, 248, CASE_BARE, WIDER},
};

/* False: the card has it not. With the kernels written here alone. */
static bool computes_in(const struct gpu_job *j, const char *name, bool warpgroups)
{
    struct plan plan = j->plan;
    snprintf(plan.precision, sizeof plan.precision, "%s", name);
    snprintf(plan.guests, sizeof plan.guests, "%s", warpgroups ? "wgmma" : "");
    machine_set_plan(j->machine, &plan);
    machine_plan(j->machine, plan.batch, plan.micro, &plan);
    return strcmp(plan.precision, name) == 0 && (!warpgroups || strstr(plan.guests, "wgmma"));
}

static bool wanted(const struct gpu_job *j, const struct shape *s, unsigned used)
{
    bool quick = j->o->level == GPU_QUICK;
    if ((s->used & used) != used || (s->used & FEW && !j->emulated))
        return false;
    return !quick || (s->used & QUICK && (!j->emulated || s->used & FEW));
}

/* The emulated card is slow, and a tile does not follow from how much is summed. */
static uint32_t depth(const struct gpu_job *j, uint32_t k)
{
    enum { THIN = 24 };
    return j->emulated && k > THIN ? THIN - k % 2 : k;
}

/* The worst of the shapes so `used`, as the card is set; negative: there is no room. */
static double worst_of(struct gpu_job *j, enum op_id op, unsigned used, uint32_t form,
                       struct machine *cpu)
{
    double worst = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes && !stop_wanted(); i++) {
        const struct shape *s = &shapes[i];
        struct opcase c = {.op = op, .rows = s->rows, .in = s->in, .out = s->out, .form = form,
                           .flags = s->flags | CASE_SHADOW};
        if (s->op != op || !wanted(j, s, used))
            continue;
        if (op == OP_dense)
            c.in = depth(j, c.in);
        else if (!(s->flags & CASE_BARE))
            c.out = depth(j, c.out);
        const char *where;
        struct err full = {0};
        double d = gpucheck_case(&c, j->machine, cpu, op != OP_dense, &where, &full);
        if (d < 0)
            return d;
        worst = fmax(worst, d);
    }
    return worst;
}

/* As activations are kept, as they come, and both by warpgroups. */
static double worst_of_kind(struct gpu_job *j, enum op_id op, int kind, struct machine *cpu)
{
    unsigned use = kind ? TENSOR : FP32;
    uint32_t form = kinds[kind].form;
    bool quick = j->o->level == GPU_QUICK;
    if (form == FORM_REAL)
        return worst_of(j, op, use, form, cpu);
    double worst = worst_of(j, op, use | KEPT, form, cpu);
    if (quick || worst < 0)
        return worst;
    double d = worst_of(j, op, use | UNKEPT, FORM_REAL, cpu);
    for (int i = 0; i < 2 && d >= 0; i++) {
        worst = fmax(worst, d);
        if (!computes_in(j, kinds[kind].name, true))
            return worst;
        d = worst_of(j, op, use | WIDE, i ? (uint32_t)FORM_REAL : form, cpu);
    }
    return d < 0 ? d : fmax(worst, d);
}

void gpucheck_precision(struct gpu_job *j, struct gpu_check *c, enum op_id op,
                        struct machine *cpu)
{
    struct text measured = {0};
    const char *bad = NULL;
    if (op != OP_dense && op != OP_dense_back)
        return;
    for (int i = 0; i < KINDS && !stop_wanted(); i++) {
        double gate = op == OP_dense ? kinds[i].gate : kinds[i].gate_back;
        if (!computes_in(j, kinds[i].name, false))
            continue;
        double worst = worst_of_kind(j, op, i, cpu);
        if (worst < 0) {
            text_printf(&measured, "%s%s no room", measured.length ? ", " : "", kinds[i].name);
            continue;
        }
        text_printf(&measured, "%s%s %.2g", measured.length ? ", " : "", kinds[i].name, worst);
        bad = worst <= gate ? bad : kinds[i].name;
    }
    machine_set_plan(j->machine, &j->plan);
    if (measured.length) {
        char said[sizeof c->reason];
        snprintf(said, sizeof said, "%s", c->reason);
        gpucheck_reason(c, "%s; large ones: %s", said, measured.data);
    }
    if (bad && c->status != GPU_FAIL) {
        gpucheck_faulty(c, "train with \"precision\": \"fp32\"; run it once more, try another "
                           "driver, and " GPU_REPORT,
                        "products in %s are further from the CPU's than rounding explains: %s", bad,
                        measured.data);
    }
    text_free(&measured);
}
