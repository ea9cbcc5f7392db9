/* device_cuda.cuh - the dialect under nvcc. Included by device.cuh alone. */
#ifndef DNN_KERNELS_DEVICE_CUDA_CUH
#define DNN_KERNELS_DEVICE_CUDA_CUH

#include <cuda_runtime.h>
#if defined(BLOCKS_MEET) /* its header takes nvcc two seconds a file */
#include <cooperative_groups.h>
#endif

#define DEVICE static __device__ __forceinline__
#define DEVICE_CALL static __device__ __noinline__
#define HOST_DEVICE static __host__ __device__ __forceinline__
#define KERNEL(name) static __global__ void name
#define KERNEL_BOUNDED(lanes, name) static __global__ void __launch_bounds__(lanes) name
#define KERNEL_SHARING(lanes, blocks, name)                                                        \
    static __global__ void __launch_bounds__(lanes, blocks) name
#define SHARED(type, name, n) __shared__ __align__(16) type name[n]
#define DYNAMIC(type, name)                                                                        \
    extern __shared__ __align__(16) unsigned char dynamic_memory[];                                \
    type *name = (type *)dynamic_memory
#define ARGUMENT(type) const __grid_constant__ type
#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")

template <class... P> static inline void launch_known(const char *, void (*)(P...)) {}

DEVICE unsigned thread_id() { return threadIdx.x; }
DEVICE unsigned lane_id() { return threadIdx.x % WARP; }
DEVICE unsigned warp_id() { return threadIdx.x / WARP; }
DEVICE unsigned block_size() { return blockDim.x; }
DEVICE unsigned block_x() { return blockIdx.x; }
DEVICE unsigned block_y() { return blockIdx.y; }
DEVICE unsigned block_z() { return blockIdx.z; }
DEVICE unsigned grid_x() { return gridDim.x; }
DEVICE unsigned grid_y() { return gridDim.y; }
DEVICE unsigned grid_z() { return gridDim.z; }

DEVICE void sync_warp(unsigned mask) { __syncwarp(mask); }
DEVICE void sync_block() { __syncthreads(); }
#if defined(BLOCKS_MEET)
DEVICE void sync_grid() { cooperative_groups::this_grid().sync(); }
DEVICE void sync_cluster()
{
#if __CUDA_ARCH__ >= 900
    cooperative_groups::this_cluster().sync();
#else
    __trap(); /* in code for cards before sm_90: see device.cuh */
#endif
}
#endif
template <class T> DEVICE T shuffle(unsigned mask, T v, int lane)
{
    return __shfl_sync(mask, v, lane);
}
template <class T> DEVICE T shuffle_xor(unsigned mask, T v, int bits)
{
    return __shfl_xor_sync(mask, v, bits);
}
template <class T> DEVICE T shuffle_down(unsigned mask, T v, int by)
{
    return __shfl_down_sync(mask, v, (unsigned)by);
}
DEVICE unsigned ballot(unsigned mask, bool yes) { return __ballot_sync(mask, yes); }
DEVICE unsigned lowest_bit(unsigned bits) { return (unsigned)__ffs((int)bits) - 1; }

/* sm_75 has no asynchronous copy: it copies at once, which the interface allows. */
template <int bytes> DEVICE void copy_async(void *to, const void *from)
{
    static_assert(bytes == 4 || bytes == 8 || bytes == 16, "copy_async of 4, 8 or 16 bytes");
#if __CUDA_ARCH__ >= 800
    unsigned at = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (bytes == 16) /* past the first cache: other blocks read it from the second */
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from) : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(at), "l"(from), "n"(bytes)
                     : "memory");
#else
    if (bytes == 16)
        *(uint4 *)to = *(const uint4 *)from;
    else if (bytes == 8)
        *(uint2 *)to = *(const uint2 *)from;
    else
        *(uint32_t *)to = *(const uint32_t *)from;
#endif
}
DEVICE void copy_commit()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
template <int left> DEVICE void copy_wait()
{
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(left) : "memory");
#endif
}

DEVICE four load4(const float *p)
{
    float4 v = *(const float4 *)p;
    return four{{v.x, v.y, v.z, v.w}};
}
DEVICE void store4(float *p, four v)
{
    *(float4 *)p = make_float4(v.v[0], v.v[1], v.v[2], v.v[3]);
}

DEVICE void publish(uint32_t *flag, uint32_t value)
{
    __threadfence();
    *(volatile uint32_t *)flag = value;
}
DEVICE void spin_until(const uint32_t *flag, uint32_t value)
{
    while (*(const volatile uint32_t *)flag < value)
        ;
    __threadfence();
}
DEVICE uint32_t arrive(uint32_t *counter)
{
    uint32_t old; /* what a barrier of the block made known to this lane is published with it */
    asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], 1;" : "=r"(old) : "l"(counter) : "memory");
    return old;
}

/* Plain assembler: the headers of these types take longer to compile than most kernels. */
DEVICE fp16 to_fp16(float x)
{
    fp16 y;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
}
DEVICE bf16 to_bf16(float x)
{
#if __CUDA_ARCH__ >= 800
    bf16 y;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    return y;
#else
    uint32_t u = __float_as_uint(x);
    if (x != x)
        return bf16{0x7fff};
    return bf16{(uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16)};
#endif
}
DEVICE float to_float(fp16 x)
{
    float y;
    asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
    return y;
}
DEVICE float to_float(bf16 x) { return __uint_as_float((uint32_t)x.bits << 16); }
DEVICE float to_tf32(float x)
{
#if __CUDA_ARCH__ >= 800
    uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return __uint_as_float(bits);
#else
    return x; /* no such tensor cores: fp32 is used */
#endif
}

#endif
