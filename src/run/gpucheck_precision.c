/* gpucheck_precision.c - the products of a training in every precision that the card has, against
 * the CPU's: tensor cores, which no case of an operation is large enough for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/opcase.h"
#include "base/text.h"
#include "run/gpucheck_parts.h"

/* Twice the step between two neighbouring numbers, of the largest value. What a training of that
 * precision keeps in 16 bits is given so: activations, their gradients, the copy of the weights. */
static const struct {
    const char *name;
    double gate;
    uint32_t form;
} kinds[] = {{"tf32", 0x1p-9, FORM_REAL}, {"bf16", 0x1p-6, FORM_BF16}, {"fp16", 0x1p-9, FORM_FP16}};
enum { KINDS = sizeof kinds / sizeof *kinds, LARGE = 8192 /* rows */ };

/* Negative: there is no room for it. */
static double difference(const struct opcase *c, struct machine *gpu, struct machine *cpu)
{
    struct opdata *got = opcase_make(c, gpu, 42), *want = opcase_make(c, cpu, 42);
    const char *where;
    if (!opcase_ready(got, NULL) || !opcase_ready(want, NULL)) {
        opcase_free(got);
        opcase_free(want);
        return -1;
    }
    if (c->op == OP_dense)
        got->arguments.dense.exact = want->arguments.dense.exact = 0; /* as in training */
    machine_issue(gpu, c->op, &got->arguments);
    machine_issue(cpu, c->op, &want->arguments);
    double d = opcase_difference(got, want, &where);
    if (isnan(d) || !opcase_inside(got, &where))
        d = (double)INFINITY;
    opcase_free(got);
    opcase_free(want);
    return d;
}

/* False: the card has it not. */
static bool computes_in(const struct gpu_job *j, const char *name)
{
    struct plan plan = j->plan;
    snprintf(plan.precision, sizeof plan.precision, "%s", name);
    plan.batch = LARGE;
    machine_obey(j->machine, &plan);
    machine_plan(j->machine, plan.batch, plan.micro, &plan);
    return strcmp(plan.precision, name) == 0;
}

void gpucheck_precision(struct gpu_job *j, struct gpu_check *c, enum op_id op,
                        struct machine *cpu)
{
    /* large enough for tensor cores, on a card and on the emulated one */
    struct opcase large = {.op = op, .rows = LARGE, .in = 256, .out = 256, .flags = CASE_SHADOW},
                  small = {.op = op, .rows = 64, .in = 32, .out = 36, .flags = CASE_SHADOW};
    struct text measured = {0};
    const char *bad = NULL;
    if (op != OP_dense && op != OP_dense_back)
        return;
    for (int i = 0; i < KINDS; i++) {
        if (!computes_in(j, kinds[i].name))
            continue;
        large.form = small.form = kinds[i].form;
        double worst = difference(j->emulated ? &small : &large, j->machine, cpu);
        if (worst < 0) {
            text_printf(&measured, "%s%s no room", measured.length ? ", " : "", kinds[i].name);
            continue;
        }
        text_printf(&measured, "%s%s %.2g", measured.length ? ", " : "", kinds[i].name, worst);
        bad = worst <= kinds[i].gate ? bad : kinds[i].name;
    }
    machine_obey(j->machine, &j->plan);
    if (measured.length) {
        char said[sizeof c->reason];
        snprintf(said, sizeof said, "%s", c->reason);
        gpucheck_reason(c, "%s; rounded: %s", said, measured.data);
    }
    if (bad && c->status != GPU_FAIL) {
        gpucheck_fail(c, GPU_FAULTY);
        gpucheck_reason(c, "products in %s are further from the CPU's than rounding explains: %s",
                        bad, measured.data);
        gpucheck_fix(c, "train with \"precision\": \"fp32\"; run it once more, try another driver, "
                        "and report it with the output of `dnn gpucheck --level full --json`");
    }
    text_free(&measured);
}
