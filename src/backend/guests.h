/* guests.h - NVIDIA's libraries. cuBLASLt can compute the dense products of a training
 * (kernels/card/cuda_guest.cu), cuDNN its recurrent layers (kernels/card/cuda_recur.cu); of NCCL
 * only the version is read. No header of the toolkit is needed: cublaslt.def and cudnn.def list the
 * calls, and the values of their enumerations stand here (a test compares them with the headers if
 * these are installed). extern "C" clean. */
#ifndef DNN_BACKEND_GUESTS_H
#define DNN_BACKEND_GUESTS_H

#include <stdint.h>

#include "base/process/guest.h"

#ifdef __cplusplus
extern "C" {
#endif

/* --- cuBLASLt --- */

/* The library's algorithm for a product; opaque. */
struct cublaslt_algorithm { uint64_t words[8]; };
struct cublaslt_way {
    struct cublaslt_algorithm how;
    size_t workspace;
    int status;
    float waves;
    int reserved[4];
};
enum {
    /* types of matrices; scale and sums are floats */
    CUBLASLT_FLOAT = 0, CUBLASLT_HALF = 2, CUBLASLT_BFLOAT = 14,
    CUBLASLT_FP32 = 68, CUBLASLT_FP16 = 74, CUBLASLT_BF16 = 75, CUBLASLT_TF32 = 77, /* compute */
    CUBLASLT_ACROSS_A = 3, CUBLASLT_ACROSS_B = 4, CUBLASLT_EPILOGUE = 7, CUBLASLT_BIAS = 8,
    CUBLASLT_END_NONE = 1, CUBLASLT_END_RELU = 2, CUBLASLT_END_BIAS = 4, /* as bits, none is 1 */
    CUBLASLT_BATCH = 5, CUBLASLT_STRIDE = 6,
    CUBLASLT_WORKSPACE = 1, CUBLASLT_REDUCTIONS = 3, CUBLASLT_ALIGNMENT = 5 /* of a; b, c, d next */
};
struct cublaslt {
#define NEED GUEST_MEMBER
#include "backend/cublaslt.def"
};

/* --- cuDNN --- */

enum {
    CUDNN_FLOAT = 0,
    CUDNN_STANDARD = 0,        /* algorithm */
    CUDNN_CELL_LSTM = 2, CUDNN_CELL_GRU = 3,
    CUDNN_BIAS_INPUT = 1, CUDNN_BIAS_BOTH = 2,
    CUDNN_ONE_WAY = 0, CUDNN_INPUTS_LINEAR = 0,
    CUDNN_MATH_DEFAULT = 0, CUDNN_MATH_FMA = 3, /* TF32 if the card has it; fp32 */
    CUDNN_STEPS_FIRST = 0,     /* layout: [steps][rows][width], padded */
    CUDNN_PADDED = 1,          /* flag */
    CUDNN_TRAINING = 1,        /* mode */
    CUDNN_ADD = 0              /* to gradients of weights */
};
struct cudnn {
#define NEED GUEST_MEMBER
#include "backend/cudnn.def"
};

/* --- all --- */

enum guest_id { GUEST_CUBLASLT, GUEST_CUDNN, GUEST_NCCL, GUESTS };
const char *guest_name(enum guest_id id); /* "cuBLASLt" */
/* Opens a library and fills `found`: its version, or why it cannot serve. It stays open until the
 * process ends, as NVIDIA's libraries expect. */
bool guest_find(enum guest_id id, struct guest *found);
bool cublaslt_open(struct guest *found, struct cublaslt *calls);
bool cudnn_open(struct guest *found, struct cudnn *calls);

#ifdef __cplusplus
}
#endif

#endif
