/* cuda_launch.cu - what kernels ask of a card (device.cuh): launches, and its sizes. */
#include "card/card.cuh"

/* By default a block may use 48 KiB of shared memory, SHARED and DYNAMIC together. A kernel that
 * needs more gets the device's limit, so that a later launch never lowers it for a recorded one. */
static cudaError_t allow_shared_bytes(const struct card *m, const struct launch *how)
{
    enum { UNASKED = 48 << 10 };
    size_t most = m->device.block_bytes - BESIDE_DYNAMIC;
    if (how->bytes == 0 || how->bytes + BESIDE_DYNAMIC <= UNASKED)
        return cudaSuccess;
    most = most < how->bytes ? how->bytes : most;
    return call_FuncSetAttribute(m->runtime, how->kernel,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, (int)most);
}

void device_launch(struct machine *machine, const struct launch *how, void **arguments)
{
    struct card *m = card_of(machine);
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attributes[2] = {};
    if (cuda_lost(m))
        return;
    m->work++;
    config.gridDim = dim3(how->grid[0], how->grid[1], how->grid[2]);
    config.blockDim = dim3(how->block[0], how->block[1], how->block[2]);
    config.dynamicSmemBytes = how->bytes;
    config.stream = m->stream;
    config.attrs = attributes;
    if (how->cluster) {
        attributes[config.numAttrs].id = cudaLaunchAttributeClusterDimension;
        attributes[config.numAttrs].val.clusterDim.x = how->cluster;
        attributes[config.numAttrs].val.clusterDim.y = 1;
        attributes[config.numAttrs++].val.clusterDim.z = 1;
    }
    if (how->together) {
        attributes[config.numAttrs].id = cudaLaunchAttributeCooperative;
        attributes[config.numAttrs++].val.cooperative = 1;
    }
    if (!m->capturing)
        m->last = {m->op, how->name, NULL, 1};
    cudaError_t code = allow_shared_bytes(m, how);
    if (code == cudaSuccess)
        code = call_LaunchKernelExC(m->runtime, &config, how->kernel, arguments);
    if (m->capturing) /* a capture does not report its failed launches */
        m->capture_failed = m->capture_failed != cudaSuccess ? m->capture_failed : code;
    else if (cuda_good(m, code, "cudaLaunchKernelExC") && m->one_by_one)
        cuda_wait(machine, m->patience);
}

unsigned device_sms(const struct machine *m)
{
    return card_of(m)->device.sms;
}
size_t device_block_bytes(const struct machine *m)
{
    return card_of(m)->device.block_bytes;
}
bool device_wgmma(const struct machine *m)
{
    return card_of(m)->wgmma;
}
