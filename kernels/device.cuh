/* device.cuh - the dialect kernels are written in: one source, two compilers. nvcc makes machine
 * code of it (toolkits 11.8 to 13, sm_75 to sm_120); g++ makes a test of it, with every lane a
 * fibre (tests/emulate/device_emulated.h). A HIP build is another branch here, not other kernels.
 *
 *   KERNEL(name)(arguments)            a kernel of at most 1024 lanes a block, a multiple of 32;
 *                                      KERNEL_BOUNDED(lanes, name) says fewer, KERNEL_SHARING(
 *                                      lanes, blocks, name) how many blocks a multiprocessor holds:
 *                                      told nothing, ptxas may spill for more than anybody needs
 *   ARGUMENT(type)                     a struct by value whose address the kernel may take
 *   DEVICE, DEVICE_CALL, HOST_DEVICE   a function of the device, one never inlined, one of both
 *   LAUNCH(kernel, grid, block, bytes, m, ...)   on the machine's stream; grid, block: dim3;
 *                                      bytes of DYNAMIC memory. LAUNCH_CLUSTER and LAUNCH_GRID keep
 *                                      several blocks alive, for sync_cluster and sync_grid
 *   SHARED(type, name, n)              array of the block, not cleared; n is a constant
 *   DYNAMIC(type, name)                the block's array whose bytes LAUNCH gave; one a kernel
 *   thread_id() block_size()           within the block (x only: blocks are lines of lanes)
 *   lane_id() warp_id()                within the warp; the warp within the block
 *   block_x() block_y() block_z(), grid_x() grid_y() grid_z()     the block, and how many
 *   sync_warp(mask) sync_block() sync_cluster() sync_grid()       collectives: all lanes named must
 *                                      come to the same line; for the last two BLOCKS_MEET is
 *                                      defined before this is included
 *   shuffle(mask, v, lane) shuffle_xor(mask, v, bits) shuffle_down(mask, v, by)  v: 32 bits or
 *                                      double; ballot(mask, yes)
 *   lowest_bit(bits)                   the number of the lowest bit that is set, from 0; not of 0
 *   copy_async<bytes>(to, from)        4, 8 or 16 bytes from device memory to SHARED, some time
 *   copy_commit() copy_wait<left>()    closes a group; waits until at most `left` of this lane's
 *                                      groups are open. Others see the bytes after a sync_block
 *   load4(p) store4(p, v)              four floats at a 16-byte boundary
 *   publish(flag, value)               what this lane did before can be seen; flags only grow
 *   spin_until(flag, value)            until *flag >= value; between blocks alive together
 *   arrive(counter)                    adds 1, gives the old value; both publishes and receives
 *   to_fp16 to_bf16 to_tf32            round to nearest (ties to even; tf32: away), to_float back
 *
 * Of a card's architecture a kernel may ask whether it is 800 or more, in device_cuda.cuh and
 * mma.cuh: all cards of 80 to 90 have one text, that of 80 (scripts/build/kernels.mk), so that
 * `>= 890` or `>= 900` is never true of them, however new the card. What needs more than that is
 * compiled for its card alone, as KERNELS_90A are, or as a whole program is (tests/bench): clusters
 * of blocks (BLOCKS_MEET) are for such and for the emulator, not for a kernel of the library.
 *
 * Random numbers and permutations: base/rng.h. No floating-point atomics exist here, on purpose:
 * sums are in an order fixed by shapes. */
#ifndef DNN_KERNELS_DEVICE_CUH
#define DNN_KERNELS_DEVICE_CUH

#include <stddef.h>
#include <stdint.h>

struct machine;

/* Sixteen-bit numbers as their bits. */
struct fp16 { uint16_t bits; };
struct bf16 { uint16_t bits; };
struct alignas(16) four { float v[4]; };

#define FULL_WARP 0xffffffffu
enum { WARP = 32 };

/* A launch; the machine (card/cuda_launch.cu) or a test (tests/emulate) performs it. */
struct launch {
    const char *name;
    const void *kernel;
    unsigned grid[3], block[3];
    unsigned cluster;  /* blocks of a cluster along x; 0: none */
    unsigned together; /* 1: all blocks alive at once (sync_grid) */
    size_t bytes;
};
void device_launch(struct machine *m, const struct launch *how, void **arguments);
/* Multiprocessors; 3 when emulated. For grid sizes only: the number of partial sums never depends
 * on it. */
unsigned device_sms(const struct machine *m);
/* Shared memory of a block, SHARED and DYNAMIC together; with both, SHARED may take BESIDE_DYNAMIC
 * bytes. */
enum { BESIDE_DYNAMIC = 1024 };
size_t device_block_bytes(const struct machine *m);
/* True: products of warpgroups (wgmma.cuh) are used on it. */
bool device_wgmma(const struct machine *m);

#if !defined(__CUDACC__)
#include "device_emulated.h"
#else
#include "device_cuda.cuh"
#endif

/* --- the same for both --- */

DEVICE float float_of_word(uint32_t u)
{
    union { uint32_t u; float f; } bits;
    bits.u = u;
    return bits.f;
}

/* Deduces the parameter types from the kernel, so that arguments convert as in a call. */
template <class T> struct same { typedef T type; };

template <class... P>
static inline void launch_kernel(struct machine *m, const char *name, void (*kernel)(P...),
                                 dim3 grid, dim3 block, size_t bytes, unsigned cluster,
                                 unsigned together, typename same<P>::type... a)
{
    void *arguments[] = {(void *)&a..., nullptr};
    struct launch how = {name, (const void *)kernel, {grid.x, grid.y, grid.z},
                         {block.x, block.y, block.z}, cluster, together, bytes};
    launch_known(name, kernel);
    device_launch(m, &how, arguments);
}
/* the kernel in brackets when its template arguments hold commas */
#define LAUNCH(kernel, grid, block, bytes, m, ...)                                                 \
    launch_kernel(m, #kernel, kernel, grid, block, bytes, 0, 0, __VA_ARGS__)
#define LAUNCH_CLUSTER(kernel, grid, block, bytes, cluster, m, ...)                                \
    launch_kernel(m, #kernel, kernel, grid, block, bytes, cluster, 0, __VA_ARGS__)
#define LAUNCH_GRID(kernel, grid, block, bytes, m, ...)                                            \
    launch_kernel(m, #kernel, kernel, grid, block, bytes, 0, 1, __VA_ARGS__)

/* How many groups of `of` hold n. */
static inline unsigned parts(uint64_t n, uint64_t of)
{
    return (unsigned)((n + of - 1) / of);
}
/* LAUNCH with a lane (global_id) for each of n elements; for none, nothing. */
#define LAUNCH_EACH(kernel, n, lanes, m, ...)                                                      \
    do {                                                                                           \
        uint64_t each_ = n;                                                                        \
        if (each_)                                                                                 \
            LAUNCH(kernel, dim3(parts(each_, lanes)), dim3(lanes), 0, m, __VA_ARGS__);             \
    } while (0)

/* A grid for n independent elements; with many elements a lane takes several. */
static inline dim3 spread(const struct machine *m, uint64_t n, unsigned lanes)
{
    uint64_t wanted = (n + lanes - 1) / lanes, most = 8ull * device_sms(m);
    return dim3((unsigned)(wanted < most ? wanted : most));
}

DEVICE uint64_t global_id() { return (uint64_t)block_x() * block_size() + thread_id(); }
DEVICE uint64_t global_count() { return (uint64_t)grid_x() * block_size(); }

/* The sum of the warp in a fixed order; every lane has it. */
template <class T> DEVICE T warp_sum(T v)
{
    for (int bits = 16; bits > 0; bits >>= 1)
        v += shuffle_xor(FULL_WARP, v, bits);
    return v;
}

/* The sum over the block in a fixed order, valid in lane 0; room: SHARED, one T a warp, free again
 * at return. */
template <class T> DEVICE T block_sum(T v, T *room)
{
    v = warp_sum(v);
    if (lane_id() == 0)
        room[warp_id()] = v;
    sync_block();
    T sum = 0;
    if (thread_id() == 0)
        for (unsigned w = 0; w < (block_size() + WARP - 1) / WARP; w++)
            sum += room[w];
    sync_block();
    return sum;
}

#endif
