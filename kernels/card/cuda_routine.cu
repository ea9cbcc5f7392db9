/* cuda_routine.cu - operations, with their shared scratch, and routines as CUDA graphs. A routine
 * has graphs of 1, 8 and 64 rounds of its operations, and of a whole epoch if the same number of
 * rounds was asked for twice in a row. A graph is made at its first use. Without graphs the
 * operations are issued one by one. */
#include <string.h>

#include "card/cuda_guests.cuh"
#include "card/cuda_memory.cuh"
#include "card/cuda_routine.cuh"

extern "C" {
#include "backend/op_list.h"
#include "base/log.h"
#include "base/mem.h"
}

/* --- operations: kernels.h launches their kernels --- */

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

static bool reserve(struct card *m, enum op_id op, const void *arguments)
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

static void run(struct card *m, enum op_id op, const void *arguments)
{
    begin(m, op);
    m->op = op_name(op);
    kernels_issue(&m->head, (uint32_t)op, arguments, m->products, m->scratch);
    m->op = NULL;
}

static uint32_t run_front(struct card *m, const struct kernel_op *ops, uint32_t count)
{
    begin(m, (enum op_id)ops[0].op);
    return kernels_issue_front(&m->head, ops, count, m->products, m->scratch);
}

/* --- recorded down --- */

static const uint32_t unrolled[] = {1, 8, 64};
enum { WHOLE = 3, SIZES, WHOLE_MOST = 4096 }; /* WHOLE_MOST: operations in an epoch's graph */

struct cuda_routine {
    struct routine head;
    struct op_list list;
    bool played;              /* its kernels are loaded */
    struct machine_path path; /* of the last round that was issued one by one */
    uint32_t asked, whole;    /* rounds of the last play; of the epoch's graph, 0: not chosen */
    cudaGraphExec_t graphs[SIZES];
};

void cuda_issue(struct machine *machine, enum op_id op, const void *arguments)
{
    struct card *m = card_of(machine);
    if (m->recorded)
        op_list_add(&m->recorded->list, op, arguments);
    else if (reserve(m, op, arguments)) {
        m->work++;
        run(m, op, arguments);
    }
}

void cuda_record(struct machine *machine)
{
    card_of(machine)->recorded = (struct cuda_routine *)mem_zero(1, sizeof(struct cuda_routine));
}

struct routine *cuda_stop(struct machine *machine)
{
    struct card *m = card_of(machine);
    struct cuda_routine *r = m->recorded;
    m->recorded = NULL;
    for (uint32_t i = 0; i < r->list.count; i++) /* a capture cannot reserve */
        if (!reserve(m, r->list.ops[i].op, op_list_at(&r->list, i))) {
            r->head.machine = machine;
            cuda_drop(machine, &r->head);
            return NULL;
        }
    return &r->head;
}

void cuda_drop(struct machine *machine, struct routine *routine)
{
    struct cuda_routine *r = (struct cuda_routine *)routine;
    for (int i = 0; i < SIZES; i++)
        if (r->graphs[i] && !cuda_gone(card_of(machine)))
            CUDA(card_of(machine), GraphExecDestroy, (r->graphs[i]));
    op_list_free(&r->list);
    mem_free(r);
}

/* --- playing: the first round of a routine is issued without a graph, so that all its kernels are
 * loaded: drivers before CUDA 12.3 refuse to load one in a capture --- */

/* After a launch has failed in a capture, the others would fail as well. */
static bool capture_is_lost(const struct card *m)
{
    return m->capturing && m->capture_failed != cudaSuccess;
}

/* Operations that are fused go together (kernels_issue_front). */
static void issue_all(struct card *m, struct cuda_routine *r)
{
    r->path = {"plain", r->list.count, 0, 0};
    for (uint32_t i = 0; i < r->list.count && !cuda_lost(m) && !capture_is_lost(m);) {
        struct kernel_op front[KERNEL_FRONT];
        uint32_t n = 0;
        for (; n < KERNEL_FRONT && i + n < r->list.count; n++)
            front[n] = {(uint32_t)r->list.ops[i + n].op, op_list_at(&r->list, i + n)};
        n = run_front(m, front, n);
        i += n;
        r->path.pieces++;
        r->path.longest = n > r->path.longest ? n : r->path.longest;
    }
    if (r->path.longest > 1)
        r->path.name = "fused";
}

bool cuda_path(const struct routine *r, struct machine_path *path)
{
    *path = ((const struct cuda_routine *)r)->path;
    return path->pieces > 0;
}

/* No graphs from here on; said once. */
static void without_graphs(struct card *m, cudaError_t code, const char *call)
{
    m->no_graphs = true;
    if (cuda_ended(m->runtime)) {
        cuda_good(m, code, call);
        return;
    }
    call_GetLastError(m->runtime);
    log_note("dnn_gpu: no CUDA graphs (%s from %s): steps are issued one by one, which is slower",
             cudaGetErrorName(code), call);
}

static cudaGraph_t capture(struct card *m, struct cuda_routine *r, uint32_t rounds)
{
    cudaGraph_t graph = NULL;
    const char *call = "cudaStreamEndCapture";
    cudaError_t code =
        call_StreamBeginCapture(m->runtime, m->stream, cudaStreamCaptureModeThreadLocal);
    if (code != cudaSuccess) {
        without_graphs(m, code, "cudaStreamBeginCapture");
        return NULL;
    }
    m->capturing = true;
    m->capture_failed = cudaSuccess;
    for (uint32_t i = 0; i < rounds; i++)
        issue_all(m, r);
    m->capturing = false;
    code = call_StreamEndCapture(m->runtime, m->stream, &graph);
    if (m->capture_failed != cudaSuccess) {
        call = "cudaLaunchKernelExC";
        code = m->capture_failed;
    }
    if (code == cudaSuccess)
        return graph;
    if (graph && !cuda_gone(m))
        CUDA(m, GraphDestroy, (graph));
    without_graphs(m, code, call);
    return NULL;
}

static uint32_t rounds_of(const struct cuda_routine *r, int size)
{
    return size == WHOLE ? r->whole : unrolled[size];
}

static void make_graph(struct card *m, struct cuda_routine *r, int size)
{
    cudaGraph_t graph = capture(m, r, rounds_of(r, size));
    if (!graph)
        return;
    cudaError_t code = call_GraphInstantiateWithFlags(m->runtime, &r->graphs[size], graph, 0);
    if (code != cudaSuccess) {
        r->graphs[size] = NULL;
        without_graphs(m, code, "cudaGraphInstantiateWithFlags");
    }
    if (!cuda_gone(m))
        CUDA(m, GraphDestroy, (graph));
}

/* False: the driver had no memory for the graph, and nothing has run. A graph does not tell which
 * of its kernels failed. */
static bool launch(struct card *m, struct cuda_routine *r, int size)
{
    const struct op_list *l = &r->list;
    m->last = {op_name(l->ops[0].op), NULL, op_name(l->ops[l->count - 1].op), l->count};
    cudaError_t code = call_GraphLaunch(m->runtime, r->graphs[size], m->stream);
    if (code != cudaErrorMemoryAllocation) {
        cuda_good(m, code, "cudaGraphLaunch");
        return true;
    }
    without_graphs(m, code, "cudaGraphLaunch");
    return false;
}

/* The first number that repeats is an epoch's steps, or its validation's batches. It stays: a graph
 * that may still be running is not destroyed. */
static void choose_whole(struct cuda_routine *r, uint32_t times)
{
    bool is_size = times == unrolled[0] || times == unrolled[1] || times == unrolled[2];
    if (!r->whole && times == r->asked && !is_size && (uint64_t)times * r->list.count <= WHOLE_MOST)
        r->whole = times;
    r->asked = times;
}

/* The largest graph that `times` rounds fill. */
static int size_for(const struct cuda_routine *r, uint32_t times)
{
    if (r->played && times == r->whole)
        return WHOLE;
    int size = WHOLE - 1;
    while (unrolled[size] > (r->played ? times : 1))
        size--;
    return size;
}

void cuda_play(struct machine *machine, struct routine *routine, uint32_t times)
{
    struct card *m = card_of(machine);
    struct cuda_routine *r = (struct cuda_routine *)routine;
    m->work++;
    choose_whole(r, times);
    while (times && !cuda_lost(m)) {
        int size = size_for(r, times);
        if (!r->graphs[size] && !m->no_graphs && r->played)
            make_graph(m, r, size);
        if (cuda_lost(m))
            return;
        bool graph = r->graphs[size] && !m->no_graphs;
        if (graph && !launch(m, r, size))
            continue;
        if (!graph)
            issue_all(m, r);
        r->played = true;
        times -= graph ? rounds_of(r, size) : 1;
    }
}
