/* cuda_runtime_api.h - the part of the CUDA runtime this program calls, as the emulator has it: the
 * names, arguments and error codes of the interface, on a device made of fibres. */
#ifndef EMULATE_CUDA_RUNTIME_API_H
#define EMULATE_CUDA_RUNTIME_API_H

#include <stddef.h>
#include <stdint.h>

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

#endif
