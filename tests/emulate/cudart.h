/* cudart.h - the emulated runtime: what tests ask of it, and what its files share.
 *
 * Work on a stream is put off: in order UP until somebody waits for it, in DOWN it is done at once,
 * in the seeded orders some of it at every call. So a host that reads too early, or overwrites what
 * is still to be copied, sees it. The work of a stream comes from one thread. */
#ifndef EMULATE_CUDART_H
#define EMULATE_CUDART_H

#include <pthread.h>

#include "emulate.h"
#include "include/cuda_runtime_api.h"

/* --- for tests --- */

/* The nth call of that name from now on (1: the next) returns `code`; a sticky code sticks. "any"
 * is the nth call of all. Several may wait at once. */
void cudart_fail(const char *call, unsigned nth, cudaError_t code);
/* The nth kernel from now on breaks the device with this sticky error, which the next calls that
 * look find. */
void cudart_break_after(unsigned kernels, cudaError_t code);
/* The nth piece of work from now on never ends. Whoever waits for it waits for ever. */
void cudart_hang_after(unsigned work);
/* The device is gone: every call fails. */
void cudart_vanish(void);
/* As many devices, of so many bytes each; 2 of 64 MiB at first. */
void cudart_devices(unsigned count, size_t bytes);
/* Of that name, or of all when NULL, since cudart_restart. */
unsigned cudart_calls(const char *call);
/* Calls made although a sticky error had been given back. */
unsigned cudart_calls_after_fault(void);
/* As in a new process, all memory given back. DNN_EMULATE in the environment is read again: a list
 * like "Malloc:3:2,break:5:700,hang:9,devices:1:16777216,driver:12040,vanish,hide,stall:4,term:6,
 * order:2,report"; with hide the host may not touch device memory, the 4th call does not come back,
 * the 6th kernel sends the program SIGTERM, with report the program's end tells on standard error
 * what was left, and a call after a fault is that end; with calls it tells how often the host
 * waited, and what it called. term:6:9 is SIGKILL; with on:1 faults are
 * counted, and happen, on device 1 only. */
void cudart_restart(void);
/* Allocations, streams, events and graphs that nobody has destroyed. */
unsigned cudart_left(void);

/* --- inside --- */

enum { MOST_DEVICES = 4, MOST_ARGUMENTS = 4096, MOST_NEEDS = 12 };
enum work_kind { WORK_COPY, WORK_SET, WORK_KERNEL, WORK_RECORD, WORK_WAIT, WORK_GRAPH,
                 WORK_HOST };

/* One piece of work, on a stream or in a graph. */
struct emulated_node {
    enum work_kind kind;
    void *to, *staged;          /* staged: pageable bytes taken when the call was made */
    const void *from;
    size_t bytes;
    int value;
    struct emulate_launch launch;
    unsigned char arguments[MOST_ARGUMENTS];
    cudaEvent_t event;
    unsigned generation;
    cudaGraphExec_t graph;
    void (*host)(void *data);   /* given `to` */
    unsigned needs[MOST_NEEDS], need_count; /* in a graph: nodes that come before */
    struct emulated_node *next;
};
struct emulated_graph {
    struct emulated_node **nodes;
    unsigned count, room;
    bool exec;
    int device;
};
struct emulated_stream {
    int device;
    pthread_t caller;           /* who made it */
    bool hung;
    struct emulated_node *first, *last;
    struct capture *capture;
    unsigned tail;              /* in a capture: its last node + 1; 0: none */
    unsigned waits[MOST_NEEDS], wait_count; /* nodes the next one comes after */
};
struct emulated_event {
    int device;
    bool timing;
    unsigned recorded, done;    /* generations */
    unsigned asked;             /* for the last time, by the host */
    double at;                  /* ms when the last was done */
    struct capture *capture;    /* recorded in it, after node + 1 */
    cudaStream_t stream;
    unsigned node;
};
struct capture {
    struct emulated_graph *graph;
    cudaStream_t origin;
    enum cudaStreamCaptureMode mode;
    pthread_t caller; /* who began it */
    bool invalid;
};

struct cudart_state {
    unsigned devices, capability, driver; /* 90, 13000 at first */
    size_t bytes;
    cudaError_t last, sticky[MOST_DEVICES];
    bool fault_told[MOST_DEVICES];
    unsigned break_after, hang_after; /* 0: not */
    cudaError_t break_code;
    unsigned left;
    unsigned stall_after; /* a call that does not come back */
    unsigned kernels;     /* started */
    bool dry;             /* and not run: calls are counted, whatever the size */
    unsigned signal_after; /* a kernel at which the program is sent this signal */
    int signal_number;
    unsigned only;        /* the device, from 1, of all faults; 0: any */
    unsigned wrong_after; /* a copy to the host whose first float has the other sign */
    bool reports;
    unsigned waits;       /* of the host: events that it asked for */
    unsigned char shown[16]; /* which device, from 1, each index is; 0: the index says it */
    cudaError_t end_fails; /* what the end of a capture says */
};
extern struct cudart_state cudart;
extern thread_local int cudart_device; /* the current one of this thread */

void cudart_plan(void);    /* reads DNN_EMULATE */
void cudart_visible(void); /* reads CUDA_VISIBLE_DEVICES, behind it */
/* For libraries that compute in a stream's order, as stand-ins for NVIDIA's do (guest_stub.c); this
 * program calls it nowhere. data lives as long as the process. */
extern "C" cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*call)(void *), void *data);
/* Whether the planned faults are counted on this device. */
static inline bool cudart_faults_on(int device)
{
    return !cudart.only || cudart.only == (unsigned)device + 1;
}
static inline cudaError_t cudart_sticky(void)
{
    return cudart.sticky[cudart_device];
}
/* Gives `code` back from a call: remembered as the last error, or for ever. */
cudaError_t cudart_give(cudaError_t code);
bool cudart_is_sticky(cudaError_t code);

struct emulated_node *work_new(enum work_kind kind);
void work_free(struct emulated_node *w);
/* To the end of the stream, or of its capture; owns w. */
cudaError_t work_put(cudaStream_t stream, struct emulated_node *w);
/* Runs one piece; false when it may not run yet. */
bool work_run(cudaStream_t stream, struct emulated_node *w);
bool graph_run(cudaGraphExec_t graph, cudaStream_t stream); /* false: it hangs there */
/* Does all of a stream's work; false when it hangs or the device broke. */
bool stream_finish(cudaStream_t stream);
bool streams_finish(int device); /* all of that device */
void streams_pass(void);         /* some work, as the order has it */
bool stream_known(cudaStream_t stream);
bool event_known(cudaEvent_t event);
void streams_drop_all(void);
/* Whether a capture forbids a call that may not be captured; then the capture is lost. */
bool capture_forbids(void);
bool stream_capture_forbids(cudaStream_t stream);
bool capture_leave(struct capture *c);
/* what cudaNAME does when it is not failed */
#define CALL(name, parameters, arguments) cudaError_t do_##name parameters;
#include "../../kernels/card/cudart.def"
#undef CALL

#endif
