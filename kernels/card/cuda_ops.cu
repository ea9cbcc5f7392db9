/* cuda_ops.cu - launches the kernels of operations (kernels.h), and holds their shared scratch. */
#include "card/cuda_guests.cuh"
#include "card/cuda_memory.cuh"
#include "card/cuda_routine.cuh"

void cuda_need(const struct machine *m, enum op_id op, const void *arguments, struct need *n)
{
    uint64_t besides = cuda_guest_scratch(card_of(m), op);
    kernels_need((uint32_t)op, arguments, n);
    if (n->scratch < besides)
        n->scratch = besides;
    cuda_recur_need(card_of(m), op, arguments, n);
}

/* Routines hold the address of the scratch: a block that became too small lives as long as the
 * machine, and the new one is at least twice as large. */
bool cuda_reserve_bytes(struct machine *machine, uint64_t bytes, struct err *e)
{
    struct card *m = card_of(machine);
    if (bytes <= m->scratch_bytes)
        return true;
    machine->kind = MEMORY_ACTIVATIONS;
    void *scratch = cuda_allocate(m, bytes, e);
    if (!scratch)
        return false;
    m->scratch = scratch;
    m->scratch_bytes = bytes;
    return true;
}

bool cuda_reserve(struct card *m, enum op_id op, const void *arguments)
{
    struct need n = {};
    struct err e = {};
    cuda_need(&m->head, op, arguments, &n);
    if (n.scratch <= m->scratch_bytes)
        return true;
    bool good = cuda_reserve_bytes(
        &m->head, n.scratch > 2 * m->scratch_bytes ? n.scratch : 2 * m->scratch_bytes, &e);
    if (!good)
        cuda_fail(m, &e);
    return good;
}

/* a guest library may serve it without a kernel */
static void begin(struct card *m, enum op_id op)
{
    if (!m->capturing)
        m->last = {op_name(op), NULL, NULL, 1};
}

void cuda_run(struct card *m, enum op_id op, const void *arguments)
{
    begin(m, op);
    m->op = op_name(op);
    kernels_issue(&m->head, (uint32_t)op, arguments, m->products, m->scratch);
    m->op = NULL;
}

uint32_t cuda_run_front(struct card *m, const struct kernel_op *ops, uint32_t count)
{
    begin(m, (enum op_id)ops[0].op);
    return kernels_issue_front(&m->head, ops, count, m->products, m->scratch);
}
