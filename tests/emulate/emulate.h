/* emulate.h - a device on the CPU that is hard to please: what the emulator's own files and the
 * tests share. Kernels see device_emulated.h, host code the runtime in include/cuda_runtime_api.h.
 *
 * A launch runs its blocks one after another (those of a cluster, or of a grid that meets, are
 * alive together); within, every lane is a fibre that runs until its next collective. What is wrong
 * with a kernel is a finding: counted by kind, printed, and never an abort, so that a test can
 * provoke it and see it. */
#ifndef EMULATE_EMULATE_H
#define EMULATE_EMULATE_H

#include <stddef.h>
#include <stdint.h>

#include "fibre.h"

enum finding {
    FIND_DIVERGED,      /* lanes wait at different collectives, or one has left the kernel */
    FIND_RACE,          /* two lanes, one of them writing, with no barrier between */
    FIND_UNINITIALISED, /* a read of device or shared memory nobody has written */
    FIND_EARLY,         /* a byte touched between copy_async and its copy_wait */
    FIND_BOUNDS,        /* device or shared memory outside every allocation */
    FIND_LAUNCH,        /* a launch or collective a device would refuse or answer with rubbish */
    FIND_HOST,          /* the runtime used as CUDA forbids */
    FIND_COUNT
};
void emulate_find(enum finding kind, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void emulate_find_again(enum finding kind); /* another of the same: counted, not told */
/* How many since the last call for that kind, and forgets them: a test that provokes one asks. */
unsigned emulate_found(enum finding kind);
/* All that nobody has asked for; 0 is what a test wants. */
unsigned emulate_findings(void);
/* The text of the newest. */
const char *emulate_last(void);
/* Findings that are provoked are printed only when not quiet. */
void emulate_quiet(bool quiet);

/* The order lanes and blocks take their turns in, and the moments of asynchronous copies. */
enum { ORDER_UP, ORDER_DOWN, ORDER_SEEDED, ORDER_SEEDED_OTHER, ORDER_COUNT };
void emulate_order(unsigned order);
/* for (EACH_ORDER(order)) runs its body in each of the four. */
#define EACH_ORDER(order)                                                                          \
    unsigned order = 0; order < ORDER_COUNT && (emulate_order(order), true); order++
/* A random number from the order's seed. */
uint32_t emulate_draw(void);

/* What kernels moved since somebody cleared it: bytes by the shadow build alone, else 0. fetched,
 * stored: a byte of the device counts once in each block that reads or writes it, which is what
 * passes between the blocks and the memory behind them; least_read, least_written: once in a
 * launch, and not at all when the launch wrote it before. accesses: loads and stores of lanes as
 * they are written, of 16 bytes at most (ptxas may make one of two); collectives: barriers,
 * shuffles, votes and products of fragments, by lane. */
struct emulate_counts {
    uint64_t launches, collectives;
    uint64_t device_read, device_written, shared_read, shared_written, copied;
    uint64_t fetched, stored, least_read, least_written;
    uint64_t accesses;
};
extern struct emulate_counts emulate_counts;

/* --- inside --- */

enum wait_kind {
    WAIT_NOTHING, WAIT_WARP, WAIT_SHUFFLE, WAIT_XOR, WAIT_DOWN, WAIT_BALLOT, WAIT_EXCHANGE,
    WAIT_WARPGROUP, WAIT_BLOCK, WAIT_CLUSTER, WAIT_GRID, WAIT_FLAG
};
enum { LANES = 1024, BLOCKS = 16, GRID_MOST = 65535, EXCHANGE_BYTES = 64, PENDING = 512 };

/* An asynchronous copy on its way. */
struct pending_copy {
    void *to;
    const void *from;
    unsigned bytes, group, after; /* delivered when `after` of this lane's events have passed */
    bool delivered;
};

struct lane {
    struct fibre fibre;
    struct block *block;
    unsigned thread, index;     /* in the block; in the launch */
    bool done;
    enum wait_kind wait;
    const char *file;
    int line;
    unsigned mask;
    uint64_t value;             /* posted, and the answer */
    int parameter;
    const uint32_t *flag;
    /* order of events: when it last met its warp, and whom; what it alone has received by flags */
    uint32_t warp_time;
    unsigned warp_mask;
    struct received *received;
    unsigned char posted[2][EXCHANGE_BYTES];
    unsigned exchanges;
    struct pending_copy pending[PENDING];
    unsigned pending_count, open_group;
    /* products: when it last said wgmma_ready, what of that the last barrier made known, and the
     * first group it has not waited for */
    uint32_t ready_time, ready_known;
    unsigned products_waited;
};

struct block {
    unsigned x, y, z, cluster, number; /* number: place among those alive */
    unsigned linear;                   /* place in the grid */
    struct lane *lanes;
    unsigned left;                     /* lanes not done */
    uint32_t block_time, cluster_time, grid_time;
    struct received *received;
    unsigned char *shared;             /* its arena */
    size_t shared_used, dynamic_bytes;
    void *dynamic;
    struct shared_site { const void *key; const char *name; void *at; size_t bytes; } sites[32];
    unsigned site_count;
};

struct emulate_state {
    struct lane *lane;       /* the one that runs; NULL on the host */
    const char *kernel;
    unsigned grid[3], block_size, cluster;
    uint32_t time, begin;    /* steps at every collective; at the start of the launch */
    unsigned seed, order;
    bool broken;             /* the launch is given up */
};
extern struct emulate_state emulate;

bool lanes_agree(const struct lane *a, const struct lane *b); /* they wait at the same line */

/* Products of warpgroups (products.cc): of the nth block alive there are none; where all lanes of a
 * warpgroup have come to one, it begins: true; the lane that runs ends. */
void products_begin(unsigned block);
bool products_resolve(struct block *b);
void products_end(void);
/* The lane that runs gives way, until what it waits for is resolved. */
void lane_waits(enum wait_kind kind, unsigned mask, const char *file, int line);

/* Runs one launch to its end; false when it was given up. `call` runs the kernel once, in a lane.
 */
struct emulate_launch {
    const char *name;
    unsigned grid[3], block[3], cluster, together;
    size_t bytes;
    size_t beside; /* most that may be SHARED; the harness gives all there is */
    void (*call)(const void *kernel, void **arguments);
    const void *kernel;
    void **arguments;
};
bool emulate_run(const struct emulate_launch *l);
/* From now on so many of the first blocks of a launch and of its last are run, and not those
 * between; 0: all. For grids too large to be run. */
void emulate_some(unsigned count);
/* Says what a bad address was, where no sanitizer does. */
void emulate_watch(void);

/* What launch_known has told of a kernel: how to call it, and the bytes of each argument. */
struct emulate_kernel {
    const void *kernel;
    const char *name;
    void (*call)(const void *kernel, void **arguments);
    unsigned count;
    size_t bytes[32];
    size_t dynamic_limit;    /* cudaFuncSetAttribute */
    bool asked;              /* by that */
    bool loaded;             /* by the runtime: it was started or asked for */
};
struct emulate_kernel *emulate_kernel_of(const void *kernel);

/* Memory: device, pinned and shared bytes lie in one range of addresses with gaps between. */
void *memory_alloc(size_t bytes, int device); /* NULL: no room; device -1: pinned by the host */
bool memory_free(void *at, int device);       /* false: not such an allocation */
struct memory_block { unsigned char *at; size_t bytes; int device; };
/* The allocation that holds that byte, or NULL. */
const struct memory_block *memory_find(const void *at);
size_t memory_used(int device);
/* From now on the host dies when it touches device memory; the runtime opens it for its own work.
 */
void memory_hide(bool hide);
void memory_open(void);
void memory_close(void);
bool memory_is_hidden(const void *at);
void memory_drop_all(void);
unsigned char *memory_shared(unsigned number); /* the arena of the nth block alive */
void memory_allow(void *at, size_t bytes);     /* from here on, or not, an access is in bounds */
void memory_forbid(void *at, size_t bytes);
enum { SHARED_BYTES = 288 * 1024, SHARED_STATIC_MOST = 48 * 1024, SHARED_MOST = 227 * 1024 };

/* The shadow; does nothing in a build without it. */
extern bool shadow_present;
void shadow_allow(void *at, size_t bytes);
void shadow_forbid(void *at, size_t bytes);
void shadow_written(void *at, size_t bytes);   /* by the host or the runtime */
bool shadow_is_written(const void *at, size_t bytes);
void shadow_copy_issued(void *to, const void *from, size_t bytes, const void *caller);
void shadow_copy_landed(void *to, const void *from, size_t bytes);
/* Bytes that a product of the running lane's warp reads from now on, until it has waited. */
void shadow_product_begins(void *at, size_t bytes, const void *caller);
void shadow_product_ends(void *at, size_t bytes);
/* The lane that runs published or received through a flag. */
void shadow_publish(const void *flag);
void shadow_receive(const void *flag);
void shadow_meet(struct block *const *blocks, unsigned count); /* at a grid's barrier */
void shadow_begin(void);
/* file:line of an address of the program, as far as addr2line knows */
const char *emulate_where(const void *code);

#endif
