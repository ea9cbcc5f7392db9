/* cuda_graph.cu - routines: operations taken down, and played as graphs of one, 8 and 64 rounds of
 * them, so that the host has a call for many steps; and of as many as were asked for twice running,
 * so that it has none inside an epoch that is short. A graph is made when it is first worth it.
 * Where the driver makes none, the operations are issued each time. */
#include <string.h>

#include "cuda.cuh"

static const uint32_t unrolled[] = {1, 8, 64};
static const uint32_t NO_WHOLE = ~0u;
enum { WHOLE = 3, SIZES, WHOLE_MOST = 4096 }; /* operations in the graph of an epoch */

struct taken { enum op_id op; size_t at; };
struct cuda_routine {
    struct routine head;
    struct taken *ops;
    uint32_t count, room;
    unsigned char *bytes;
    size_t used, bytes_room;
    bool played;
    bool refused; /* a capture of it was */
    bool heavy;   /* one of its graphs found no room: it is issued */
    struct machine_path path; /* of the last round that was issued */
    uint32_t asked, whole; /* rounds: of the last play; of WHOLE, 0: not chosen, or NO_WHOLE */
    cudaGraphExec_t graphs[SIZES];
};

/* --- taking down --- */

static void take(struct cuda_routine *r, enum op_id op, const void *arguments)
{
    size_t size = (op_size(op) + 15) / 16 * 16;
    if (r->count == r->room) {
        r->room = r->room ? 2 * r->room : 32;
        r->ops = (struct taken *)mem_grow(r->ops, r->room, sizeof *r->ops);
    }
    if (r->used + size > r->bytes_room) {
        r->bytes_room = 2 * (r->used + size);
        r->bytes = (unsigned char *)mem_grow(r->bytes, r->bytes_room, 1);
    }
    memcpy(r->bytes + r->used, arguments, op_size(op));
    r->ops[r->count].op = op;
    r->ops[r->count++].at = r->used;
    r->used += size;
}

void cuda_issue(struct machine *machine, enum op_id op, const void *arguments)
{
    struct card *m = card_of(machine);
    if (m->taking)
        take(m->taking, op, arguments);
    else if (cuda_reserve(m, op, arguments)) {
        m->work++;
        cuda_run(m, op, arguments);
    }
}

void cuda_record(struct machine *machine)
{
    card_of(machine)->taking = (struct cuda_routine *)mem_zero(1, sizeof(struct cuda_routine));
}

struct routine *cuda_stop(struct machine *machine)
{
    struct card *m = card_of(machine);
    struct cuda_routine *r = m->taking;
    m->taking = NULL;
    for (uint32_t i = 0; i < r->count; i++) /* a capture cannot */
        if (!cuda_reserve(m, r->ops[i].op, r->bytes + r->ops[i].at)) {
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
    mem_free(r->ops);
    mem_free(r->bytes);
    mem_free(r);
}

/* --- playing. The first round of a routine is issued as it is: a driver that loads kernels at
 * their first use may not do so in a capture before CUDA 12.3, and the kernels of operations that
 * belong together (kernels_issue_front) have not been used by whoever issued them one by one --- */

/* Whatever it was given would be refused, and a guest blamed for it. */
static bool capture_is_lost(const struct card *m)
{
    return m->capturing && m->capture_failed != cudaSuccess;
}

/* Those that belong together go together (kernels_issue_front). */
static void issue_all(struct card *m, struct cuda_routine *r)
{
    r->path = {"plain", r->count, 0, 0};
    for (uint32_t i = 0; i < r->count && !cuda_lost(m) && !capture_is_lost(m);) {
        struct kernel_op front[KERNEL_FRONT];
        uint32_t n = 0;
        for (; n < KERNEL_FRONT && i + n < r->count; n++)
            front[n] = {(uint32_t)r->ops[i + n].op, r->bytes + r->ops[i + n].at};
        n = cuda_run_front(m, front, n);
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

/* Why there are no graphs: said once, and the work goes on without them. */
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

/* A guest that fails in a capture leaves its place to a kernel of ours, which may be a new one: a
 * plain round loads it, and then the graph is tried again. */
static bool once_more(struct card *m, struct cuda_routine *r, cudaError_t code)
{
    bool again = !r->refused && !cuda_ended(m->runtime) &&
                 (code == cudaErrorStreamCaptureUnsupported ||
                  code == cudaErrorStreamCaptureInvalidated);
    if (again) {
        call_GetLastError(m->runtime);
        r->refused = true;
        r->played = false;
    }
    return again;
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
    if (!once_more(m, r, code))
        without_graphs(m, code, call);
    return NULL;
}

static uint32_t rounds_of(const struct cuda_routine *r, int size)
{
    return size == WHOLE ? r->whole : unrolled[size];
}

/* Where there is no room for an epoch's graph, there may be for the smaller ones. */
static void without_graph(struct card *m, struct cuda_routine *r, int size, cudaError_t code,
                          const char *call)
{
    bool small = size == WHOLE && code == cudaErrorMemoryAllocation && !cuda_ended(m->runtime);
    if (small) {
        call_GetLastError(m->runtime);
        r->whole = NO_WHOLE;
    } else {
        without_graphs(m, code, call);
    }
}

static void make_graph(struct card *m, struct cuda_routine *r, int size)
{
    cudaGraph_t graph = capture(m, r, rounds_of(r, size));
    if (!graph)
        return;
    cudaError_t code = call_GraphInstantiateWithFlags(m->runtime, &r->graphs[size], graph, 0);
    if (code != cudaSuccess) {
        r->graphs[size] = NULL;
        without_graph(m, r, size, code, "cudaGraphInstantiateWithFlags");
    }
    if (!cuda_gone(m))
        CUDA(m, GraphDestroy, (graph));
}

/* Which of its kernels failed, a graph does not tell. A driver may want memory for a graph when it
 * is first launched: without that nothing has run, and false. */
static bool launch(struct card *m, struct cuda_routine *r, int size)
{
    m->last = {op_name(r->ops[0].op), NULL, op_name(r->ops[r->count - 1].op), r->count};
    cudaError_t code = call_GraphLaunch(m->runtime, r->graphs[size], m->stream);
    if (code != cudaErrorMemoryAllocation) {
        cuda_good(m, code, "cudaGraphLaunch");
        return true;
    }
    r->heavy = size != WHOLE;
    without_graph(m, r, size, code, "cudaGraphLaunch");
    return false;
}

/* The first number that repeats is that of an epoch's steps, or of its validation's batches; it
 * stays, as a graph that may still be played is not taken away. */
static void choose_whole(struct cuda_routine *r, uint32_t times)
{
    bool is_size = times == unrolled[0] || times == unrolled[1] || times == unrolled[2];
    if (!r->whole && times == r->asked && !is_size && (uint64_t)times * r->count <= WHOLE_MOST)
        r->whole = times;
    r->asked = times;
}

/* The largest that `times` rounds fill. */
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
        bool graph = r->graphs[size] && !r->heavy;
        if (graph && !launch(m, r, size))
            continue;
        if (!graph)
            issue_all(m, r);
        r->played = true;
        times -= graph ? rounds_of(r, size) : 1;
    }
}
