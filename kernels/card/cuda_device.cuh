/* cuda_device.cuh - devices: choice and properties. */
#ifndef DNN_KERNELS_CUDA_DEVICE_CUH
#define DNN_KERNELS_CUDA_DEVICE_CUH

#include "card/cuda_runtime.cuh"

struct cuda_device {
    int index, count;      /* of how many */
    char name[64], uuid[48], core[24], driver[32];
    unsigned sms;
    size_t block_bytes;    /* of a block's memory, at most */
    int capability;        /* 90 for sm_90 */
    uint64_t total;        /* bytes */
};
/* Chooses a device by wish (auto, 0, cuda:0, GPU-.. or MIG-..; NULL: auto) and opens it
 * (cuda_choose.cu). */
bool cuda_device_open(struct cuda_runtime *r, struct cuda_device *d, const char *wish,
                      cudaStream_t *stream, struct err *e);
/* Makes the device current, creates its first stream and loads a kernel: so a card without kernels
 * in this build is found now, not in the middle of the work. d->count is set. */
bool cuda_device_begin(struct cuda_runtime *r, struct cuda_device *d, int index,
                       cudaStream_t *stream, struct err *e);
bool cuda_device_uuid(struct cuda_runtime *r, int index, char *text, size_t room); /* "GPU-.." */

#endif
