/* card.cuh - a CUDA device as a machine: its state, its failure, waiting for it. */
#ifndef DNN_KERNELS_CARD_CUH
#define DNN_KERNELS_CARD_CUH

#include "card/cuda_device.cuh"
#include "kernels.h"

extern "C" {
#include "backend/machine.h"
}

/* A block of device memory. mapped: a copy of these host bytes, lent `uses` times; uses 0: a
 * spare, kept for the next rows of that size. */
struct block {
    void *at;
    size_t bytes;
    const void *host;
    size_t host_bytes;
    unsigned uses;
    bool mapped;
    enum memory_kind kind;
};
struct pinned { char *at; size_t bytes; bool plain; }; /* plain: it could not be pinned */
struct card_memory {
    struct block *blocks;
    size_t block_count, block_room;
    struct pinned *pins;
    size_t pin_count, pin_room;
    uint64_t limit, allocated, peak; /* bytes */
    uint64_t allocated_of[MEMORY_KINDS], peak_of[MEMORY_KINDS]; /* peak_of: the parts of `peak` */
    bool unpinned;                   /* some memory could not be pinned: said once */
};

/* A line of transfers. Bytes that are not pinned pass through `stage`. */
enum { STAGE_BYTES = 1 << 20, STAGE_PENDING = 64 };
struct slot {
    cudaStream_t stream;
    cudaEvent_t done;
    struct pinned stage;   /* of STAGE_BYTES, or empty */
    size_t staged;
    struct { void *to; size_t at, bytes; } pending[STAGE_PENDING]; /* from the stage at the fence */
    unsigned pending_count;
    bool busy;
    uint64_t behind;       /* the value of card.work that it waits for */
};

/* The last work given to the stream: the only trace when a card breaks. op NULL: a kernel of no
 * operation, or of several; kernel NULL: not a kernel of ours; until: a recorded round of `count`
 * operations, from op to until. */
struct given { const char *op, *kernel, *until; uint32_t count; };

struct cuda_routine; /* cuda_routine.cu */
struct card {
    struct machine head;
    struct cuda_runtime *runtime;
    struct cuda_device device;
    struct products products;
    bool wgmma;            /* warpgroup kernels serve large 16-bit products */
    char precision_why[96];
    unsigned guests;         /* of machine_options */
    struct guest_use *guest; /* cuBLASLt: cuda_guest.cu */
    struct recur_use *recur; /* cuDNN: cuda_recur.cu */
    cudaStream_t stream;   /* of the operations */
    cudaEvent_t issued;
    cudaEvent_t *marks;    /* [MACHINE_MARKS], each created at first use; NULL: none yet */
    struct slot slots[MACHINE_SLOTS];
    struct card_memory memory;
    /* Numbers of the newest work given to the stream and of the newest known to be done. */
    uint64_t work, done;
    const char *op;        /* the operation whose kernels are launched; NULL: none, or several */
    struct given last;     /* not changed in captures */
    bool one_by_one;       /* CUDA_LAUNCH_BLOCKING=1: wait for each kernel, no graphs */
    double longest;        /* seconds: the limit of any wait */
    double patience;       /* seconds: the limit of the current work */
    void *scratch;         /* the largest so far; older ones live on in routines */
    size_t scratch_bytes;
    struct cuda_routine *recorded; /* the routine being recorded, or NULL */
    bool no_graphs;        /* graphs failed: said once */
    bool capturing;
    cudaError_t capture_failed; /* the first launch that did */
};
static inline struct card *card_of(struct machine *m) { return (struct card *)m; }
static inline const struct card *card_of(const struct machine *m)
{
    return (const struct card *)m;
}
/* True: the card has failed; issue nothing more. */
static inline bool cuda_lost(const struct card *m)
{
    return m->head.failure.id != ERR_NONE || cuda_ended(m->runtime);
}
/* True: the card has failed, not only by lack of memory: its device memory is not released any
 * more. */
static inline bool cuda_gone(const struct card *m)
{
    return cuda_ended(m->runtime) ||
           (m->head.failure.id != ERR_NONE && m->head.failure.id != ERR_GPU_MEMORY);
}

/* --- failure and waiting: cuda_fault.cu --- */

/* True if code is no error. Otherwise the machine has failed; the message names the call and the
 * last work given to the card. Out of memory is no fault (any call may return it, as kernels are
 * loaded at first use): work in flight is waited for, and the card stays usable (machine_forgive).
 */
bool cuda_good(struct card *m, cudaError_t code, const char *call);
void cuda_fail(struct card *m, const struct err *e);
/* "; last given to it: dense (kernel gemm_tile)" into `room` bytes; "" if nothing was given. */
const char *cuda_last(const struct card *m, char *text, size_t room);
#define CUDA(m, name, arguments)                                                                   \
    cuda_good(m, call_##name((m)->runtime CUDA_AFTER arguments), "cuda" #name)
/* Fills e: no memory for `what`; false. */
bool cuda_full(const struct card *m, const char *what, const char *why, struct err *e);
/* Clears the destinations of pending downloads. */
void slot_abandon(struct slot *s);
/* Waits for the event. False, with a failure, after `seconds`. */
bool cuda_await(struct card *m, cudaEvent_t event, double seconds);

bool cuda_wait(struct machine *m, double seconds);
/* From now on a wait, or a call, may take so long. */
void cuda_expect(struct machine *m, double seconds);

#endif
