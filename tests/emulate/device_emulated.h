/* device_emulated.h - the dialect of kernels/device.cuh under g++. Every collective knows the line
 * it stands on, and gives the processor to the next lane. Included by device.cuh alone. */
#ifndef EMULATE_DEVICE_EMULATED_H
#define EMULATE_DEVICE_EMULATED_H

#include <math.h>
#include <string.h>

#include "include/cuda_runtime_api.h"

#define DEVICE static inline
#define DEVICE_CALL static inline
#define HOST_DEVICE static inline
#define KERNEL(name) static void name
#define KERNEL_BOUNDED(lanes, name) static void name
#define KERNEL_SHARING(lanes, blocks, name) static void name
#define SHARED(type, name, n)                                                                      \
    static const char name##_site = 0;                                                             \
    type(&name)[n] = *(type(*)[n])emulate_shared(&name##_site, #name, sizeof(type) * (n))
#define DYNAMIC(type, name) type *name = (type *)emulate_dynamic()
#define ARGUMENT(type) const type
#define UNROLL
#define ROLLED
#define HERE const char *file = __builtin_FILE(), int line = __builtin_LINE()

/* The lane that runs. */
struct emulate_place { unsigned thread, block_size, block[3], grid[3]; };
extern struct emulate_place emulate_here;

void *emulate_shared(const void *site, const char *name, size_t bytes);
void *emulate_dynamic(void);
void emulate_sync_warp(unsigned mask, const char *file, int line);
void emulate_sync_block(const char *file, int line);
void emulate_sync_cluster(const char *file, int line);
void emulate_sync_grid(const char *file, int line);
enum emulate_shuffle { EMULATE_FROM, EMULATE_XOR, EMULATE_DOWN, EMULATE_BALLOT };
uint64_t emulate_shuffle(enum emulate_shuffle kind, unsigned mask, uint64_t v, int parameter,
                         const char *file, int line);
/* All lanes of the warp show up to 64 bytes; until the next exchange each may look at the others'.
 */
void emulate_exchange(const void *mine, size_t bytes, const char *file, int line);
const void *emulate_exchanged(unsigned lane);
void emulate_copy(void *to, const void *from, unsigned bytes);
void emulate_copy_commit(void);
void emulate_copy_wait(unsigned left);
/* Products of a warpgroup: kernels/product/wgmma.cuh. Operands by descriptor; columns: of B, and so
 * of C. */
struct emulate_product { uint64_t a, b; uint32_t columns; bool bf16, a_fast, b_fast, spare; };
uint32_t emulate_shared_address(const void *at);
void emulate_product_ready(void);
void emulate_product_fence(void);
void emulate_product_begin(float *sums, const struct emulate_product *p, const char *file,
                           int line);
void emulate_product_commit(void);
void emulate_product_wait(unsigned left);
void emulate_publish(uint32_t *flag, uint32_t value);
void emulate_spin_until(const uint32_t *flag, uint32_t value, const char *file, int line);
uint32_t emulate_arrive(uint32_t *counter);
void emulate_known(const void *kernel, const char *name, unsigned count, const size_t *bytes,
                   void (*call)(const void *kernel, void **arguments));

DEVICE unsigned thread_id() { return emulate_here.thread; }
DEVICE unsigned lane_id() { return emulate_here.thread % WARP; }
DEVICE unsigned warp_id() { return emulate_here.thread / WARP; }
DEVICE unsigned block_size() { return emulate_here.block_size; }
DEVICE unsigned block_x() { return emulate_here.block[0]; }
DEVICE unsigned block_y() { return emulate_here.block[1]; }
DEVICE unsigned block_z() { return emulate_here.block[2]; }
DEVICE unsigned grid_x() { return emulate_here.grid[0]; }
DEVICE unsigned grid_y() { return emulate_here.grid[1]; }
DEVICE unsigned grid_z() { return emulate_here.grid[2]; }

DEVICE void sync_warp(unsigned mask, HERE) { emulate_sync_warp(mask, file, line); }
DEVICE void sync_block(HERE) { emulate_sync_block(file, line); }
DEVICE void sync_cluster(HERE) { emulate_sync_cluster(file, line); }
DEVICE void sync_grid(HERE) { emulate_sync_grid(file, line); }

template <class T>
DEVICE T emulate_shuffled(enum emulate_shuffle kind, unsigned mask, T v, int parameter,
                          const char *file, int line)
{
    static_assert(sizeof v == 4 || sizeof v == 8, "shuffles move 32 or 64 bits");
    uint64_t bits = 0;
    memcpy(&bits, &v, sizeof v);
    bits = emulate_shuffle(kind, mask, bits, parameter, file, line);
    memcpy(&v, &bits, sizeof v);
    return v;
}
template <class T> DEVICE T shuffle(unsigned mask, T v, int lane, HERE)
{
    return emulate_shuffled(EMULATE_FROM, mask, v, lane, file, line);
}
template <class T> DEVICE T shuffle_xor(unsigned mask, T v, int bits, HERE)
{
    return emulate_shuffled(EMULATE_XOR, mask, v, bits, file, line);
}
template <class T> DEVICE T shuffle_down(unsigned mask, T v, int by, HERE)
{
    return emulate_shuffled(EMULATE_DOWN, mask, v, by, file, line);
}
DEVICE unsigned ballot(unsigned mask, bool yes, HERE)
{
    return (unsigned)emulate_shuffle(EMULATE_BALLOT, mask, yes, 0, file, line);
}

DEVICE unsigned lowest_bit(unsigned bits) { return (unsigned)__builtin_ctz(bits); }

template <int bytes> DEVICE void copy_async(void *to, const void *from)
{
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "copy_async of 4, 8 or 16 bytes");
    emulate_copy(to, from, bytes);
}
DEVICE void copy_commit() { emulate_copy_commit(); }
template <int left> DEVICE void copy_wait() { emulate_copy_wait(left); }

/* One access, as on the hardware, which wants an address that is a multiple of 16
 * (-fsanitize=alignment looks). */
typedef float four_wide __attribute__((vector_size(16), may_alias));
DEVICE four load4(const float *p)
{
    four_wide v = *(const four_wide *)(const void *)p;
    return {{v[0], v[1], v[2], v[3]}};
}
DEVICE void store4(float *p, four v)
{
    *(four_wide *)(void *)p = four_wide{v.v[0], v.v[1], v.v[2], v.v[3]};
}

DEVICE void publish(uint32_t *flag, uint32_t value) { emulate_publish(flag, value); }
DEVICE void spin_until(const uint32_t *flag, uint32_t value, HERE)
{
    emulate_spin_until(flag, value, file, line);
}
DEVICE uint32_t arrive(uint32_t *counter) { return emulate_arrive(counter); }

/* --- sixteen bits, exactly as the hardware rounds --- */

DEVICE uint32_t float_bits(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}
DEVICE float bits_float(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}
DEVICE bf16 to_bf16(float x)
{
    uint32_t u = float_bits(x);
    if (x != x)
        return bf16{0x7fff};
    return bf16{(uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16)};
}
DEVICE float to_float(bf16 x) { return bits_float((uint32_t)x.bits << 16); }
DEVICE fp16 to_fp16(float x)
{
    uint32_t u = float_bits(x), sign = u >> 16 & 0x8000u, low = u & 0x7fffffffu;
    if (low > 0x7f800000u)
        return fp16{0x7fff};
    if (low >= 0x47800000u) /* 65536 and more */
        return fp16{(uint16_t)(sign | 0x7c00u)};
    if (low < 0x38800000u) { /* below 2^-14: multiples of 2^-24, rounded by a float addition */
        float steps = bits_float(low) + 0.5f; /* an ulp of 0.5 is 2^-24 */
        return fp16{(uint16_t)(sign | (float_bits(steps) - 0x3f000000u))};
    }
    low += 0xfffu + (low >> 13 & 1);
    return fp16{(uint16_t)(sign | ((low >> 13) - 0x1c000u))};
}
DEVICE float to_float(fp16 x)
{
    uint32_t sign = (uint32_t)(x.bits & 0x8000) << 16, low = x.bits & 0x7fffu;
    if (low >= 0x7c00u)
        return bits_float(sign | 0x7f800000u | (low & 0x3ff) << 13);
    if (low < 0x400u)
        return bits_float(sign | float_bits((float)low * 0x1p-24f));
    return bits_float(sign | ((low << 13) + 0x38000000u));
}
/* to nearest, ties away from zero, as cvt.rna does */
DEVICE float to_tf32(float x)
{
    uint32_t u = float_bits(x);
    if ((u & 0x7f800000u) == 0x7f800000u)
        return x;
    return bits_float((u + 0x1000u) & ~0x1fffu);
}

/* --- what a launch must know of a kernel to keep its arguments --- */

template <class... P> struct emulate_arguments;
template <> struct emulate_arguments<> {
    template <class F, class... A> static void call(F kernel, void **, A &&...a)
    {
        kernel(a...);
    }
};
template <class P, class... Rest> struct emulate_arguments<P, Rest...> {
    template <class F, class... A> static void call(F kernel, void **arguments, A &&...a)
    {
        emulate_arguments<Rest...>::call(kernel, arguments + 1, a..., *(P *)arguments[0]);
    }
};
template <class... P> static void emulate_call(const void *kernel, void **arguments)
{
    emulate_arguments<P...>::call((void (*)(P...))kernel, arguments);
}
template <class... P> static inline void launch_known(const char *name, void (*kernel)(P...))
{
    const size_t bytes[] = {sizeof(P)..., 0};
    emulate_known((const void *)kernel, name, sizeof...(P), bytes, emulate_call<P...>);
}

#endif
