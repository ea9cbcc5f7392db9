/* cuda_freest.cu - which of several cards has the most memory left. To ask CUDA would open a
 * context on each, so the driver's own library is asked (backend/nvml.h); where it is not there,
 * the first card it is. */
#include "cuda.cuh"

#include "backend/nvml.h"

int cuda_device_freest(int count)
{
    int best = 0;
    uint64_t most = 0;
    char why[160];
    struct nvml *n = count > 1 ? nvml_open(why, sizeof why) : NULL;
    for (int i = 0; n && i < count; i++) {
        char uuid[48];
        uint64_t left = cuda_device_uuid(i, uuid, sizeof uuid) ? nvml_free(n, uuid) : 0;
        if (left > most) {
            most = left;
            best = i;
        }
    }
    nvml_close(n);
    return best;
}
