/* cuda_runtime_api.h - the part of the CUDA runtime this program calls, as the emulator has it: the
 * names, arguments, constants and error codes of the interface, on a device made of fibres
 * (tests/emulate/cudart.cc). */
#ifndef EMULATE_CUDA_RUNTIME_API_H
#define EMULATE_CUDA_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

/* name, number, sticky: after it every call fails until the process ends */
#define CUDA_ERRORS(ERROR)                                                                         \
    ERROR(cudaSuccess, 0, 0)                                                                       \
    ERROR(cudaErrorInvalidValue, 1, 0)                                                             \
    ERROR(cudaErrorMemoryAllocation, 2, 0)                                                         \
    ERROR(cudaErrorInitializationError, 3, 0)                                                      \
    ERROR(cudaErrorInvalidConfiguration, 9, 0)                                                     \
    ERROR(cudaErrorStubLibrary, 34, 0)                                                             \
    ERROR(cudaErrorInsufficientDriver, 35, 0)                                                      \
    ERROR(cudaErrorDevicesUnavailable, 46, 0)                                                      \
    ERROR(cudaErrorInvalidDeviceFunction, 98, 0)                                                   \
    ERROR(cudaErrorNoDevice, 100, 0)                                                               \
    ERROR(cudaErrorInvalidDevice, 101, 0)                                                          \
    ERROR(cudaErrorInvalidKernelImage, 200, 0)                                                     \
    ERROR(cudaErrorNoKernelImageForDevice, 209, 0)                                                 \
    ERROR(cudaErrorECCUncorrectable, 214, 1)                                                       \
    ERROR(cudaErrorInvalidPtx, 218, 0)                                                             \
    ERROR(cudaErrorNvlinkUncorrectable, 220, 1)                                                    \
    ERROR(cudaErrorJitCompilerNotFound, 221, 0)                                                    \
    ERROR(cudaErrorUnsupportedPtxVersion, 222, 0)                                                  \
    ERROR(cudaErrorJitCompilationDisabled, 223, 0)                                                 \
    ERROR(cudaErrorInvalidResourceHandle, 400, 0)                                                  \
    ERROR(cudaErrorNotReady, 600, 0)                                                               \
    ERROR(cudaErrorIllegalAddress, 700, 1)                                                         \
    ERROR(cudaErrorLaunchTimeout, 702, 1)                                                          \
    ERROR(cudaErrorLaunchFailure, 719, 1)                                                          \
    ERROR(cudaErrorCooperativeLaunchTooLarge, 720, 0)                                              \
    ERROR(cudaErrorNotSupported, 801, 0)                                                           \
    ERROR(cudaErrorSystemNotReady, 802, 0)                                                         \
    ERROR(cudaErrorSystemDriverMismatch, 803, 0)                                                   \
    ERROR(cudaErrorCompatNotSupportedOnDevice, 804, 0)                                             \
    ERROR(cudaErrorStreamCaptureUnsupported, 900, 0)                                               \
    ERROR(cudaErrorStreamCaptureInvalidated, 901, 0)                                               \
    ERROR(cudaErrorStreamCaptureMerge, 902, 0)                                                     \
    ERROR(cudaErrorStreamCaptureUnmatched, 903, 0)                                                 \
    ERROR(cudaErrorStreamCaptureUnjoined, 904, 0)                                                  \
    ERROR(cudaErrorCapturedEvent, 907, 0)                                                          \
    ERROR(cudaErrorUnknown, 999, 1)
#define ERROR(name, number, sticky) name = number,
enum cudaError { CUDA_ERRORS(ERROR) };
#undef ERROR
typedef enum cudaError cudaError_t;

typedef struct emulated_stream *cudaStream_t;
typedef struct emulated_event *cudaEvent_t;
typedef struct emulated_graph *cudaGraph_t;
typedef struct emulated_graph *cudaGraphExec_t;

enum cudaMemcpyKind {
    cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
};
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed
};
enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };
enum { cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocWriteCombined = 4 };
enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
};
enum { cudaSharedmemCarveoutDefault = -1 };
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10, cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrClockRate = 13,
    cudaDevAttrMultiProcessorCount = 16, cudaDevAttrIntegrated = 18, cudaDevAttrComputeMode = 20,
    cudaDevAttrEccEnabled = 32, cudaDevAttrPciBusId = 33, cudaDevAttrPciDeviceId = 34,
    cudaDevAttrMemoryClockRate = 36, cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38, cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40, cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrComputeCapabilityMajor = 75, cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrClusterLaunch = 120
};
struct cudaUUID { char bytes[16]; };
struct cudaDeviceProp {
    char name[256];
    struct cudaUUID uuid;
    size_t totalGlobalMem;
    int major, minor, multiProcessorCount;
};

enum cudaLaunchAttributeID {
    cudaLaunchAttributeCooperative = 2, cudaLaunchAttributeClusterDimension = 4
};
struct cudaLaunchAttribute {
    enum cudaLaunchAttributeID id;
    union { int cooperative; struct { unsigned x, y, z; } clusterDim; } val;
};
typedef struct cudaLaunchConfig_st {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    struct cudaLaunchAttribute *attrs;
    unsigned numAttrs;
} cudaLaunchConfig_t;

#define CALL(name, parameters, arguments) cudaError_t cuda##name parameters;
#include "../../../kernels/card/cudart.def"
#undef CALL
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);

#endif
