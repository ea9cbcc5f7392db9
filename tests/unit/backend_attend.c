/* Attention keeps its shares for the way back where they take little room: the same bits as those
 * that are computed again, of every case, in fp32 and bf16. */
#include "tap.h"

#include "backend/cpu/cpu.h"
#include "backend/cases/opcase.h"
#include "base/mem.h"
#include "base/process/thread.h"

static size_t kept_cases, other_cases, differ;

/* The way forward on the inputs of the way back. */
static void *keep(struct machine *m, const struct op_attention_back *a)
{
    struct act y = a->dy;
    real *mixed = mem_zero((size_t)a->rows * a->steps * a->width, sizeof *mixed);
    y.at = mixed;
    struct op_attention forward = {.y = y, .x = a->x, .length = a->length, .dims = a->dims,
                                   .heads = a->heads, .causal = a->causal};
    struct need need;
    machine_need(m, OP_attention, &forward, &need);
    forward.kept = need.kept ? mem_zero((size_t)need.kept, 1) : NULL;
    machine_issue(m, OP_attention, &forward);
    mem_free(mixed);
    return forward.kept;
}

static void run_case(struct machine *m, const struct opcase *c)
{
    struct opdata *kept = opcase_make(c, m, 42), *again = opcase_make(c, m, 42);
    const char *where = "";
    char text[128];
    struct op_attention_back *a = &kept->arguments.attention_back;
    void *shares = keep(m, a);
    kept_cases += shares != NULL;
    other_cases += shares == NULL;
    a->kept = shares;
    machine_issue(m, OP_attention_back, a);
    machine_issue(m, OP_attention_back, &again->arguments.attention_back);
    if (!opcase_same(kept, again, &where)) {
        differ++;
        opcase_name(c, text, sizeof text);
        ok(false, "%s: %s", text, where);
    }
    opcase_free(kept);
    opcase_free(again);
    mem_free(shares);
}

static void all_cases(const char *precision)
{
    struct err e = {0};
    struct machine *m = machine_open(&(struct machine_options){.precision = precision}, &e);
    ok(m != NULL, "a machine for %s %s", precision, e.what);
    threads_start(2);
    const struct opcase *c;
    kept_cases = other_cases = differ = 0;
    for (size_t i = 0; m && (c = opcase_at(i)); i++)
        if (c->op == OP_attention_back)
            run_case(m, c);
    threads_stop();
    ok(differ == 0 && kept_cases > 3 && other_cases > 1,
       "%s: the same bits in %zu cases with kept shares; %zu have no room for them", precision,
       kept_cases, other_cases);
    machine_close(m);
}

int main(void)
{
    all_cases("fp32");
    if (bf16_choose())
        all_cases("bf16");
    return done();
}
