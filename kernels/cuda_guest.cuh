/* cuda_guest.cuh - guests on a card: what its files share. Private to kernels/cuda*.cu. */
#ifndef DNN_KERNELS_CUDA_GUEST_CUH
#define DNN_KERNELS_CUDA_GUEST_CUH

#include "cuda.cuh"
#include "guest.cuh"

/* One library on one card. */
struct guest_use {
    bool tried, on, failed;
    void *handle;
    struct guest_rule rule;
};

/* A product that cuBLASLt was asked about: its shape, and how it does it. */
struct guest_shape {
    uint64_t c_part;
    uint32_t m, n, k, parts, a_row, a_col, b_row, b_col, c_row;
    uint32_t how, end, add;         /* end: CUBLASLT_END_ */
    uint32_t align_a, align_b, align_c;
    uint16_t form, form_c;          /* no holes: shapes are compared by their bytes */
};
struct guest_served {
    struct guest_shape shape;
    bool serves;                    /* else our kernels are to */
    void *product, *of_a, *of_b, *of_c;
    struct cublaslt_way way;
};
/* An activation whose times were compared. */
struct guest_sheet { uint32_t rows, width, act, back, ldx, ldy; bool serves; };
struct guests {
    struct guest_use use[GUESTS];
    bool may, timed, trains;        /* they may serve at all; by timings; and it is a training */
    struct guest_served *served;
    size_t count, room;
    size_t workspace;
    void *activation, *tensors[3];  /* cuDNN's descriptions, filled in for each call */
    struct guest_sheet sheets[32];
    unsigned sheet_count;           /* timed so far; of more our kernels serve */
};

/* A call of a library. */
#define GUEST_CALL(calls, name, arguments)                                                         \
    (cuda_guest_enter(#name) ? cuda_guest_leave((calls)->name arguments) : cuda_guest_refusal())

/* Its handle could not be made: whether an older version of it is there, which takes its place. */
bool guest_other(enum guest_id id, const char *call, int status);
/* The library failed: it serves no more, which is said. */
void guest_failed(struct card *m, enum guest_id id, const char *call, int status);

/* Whether the guest is faster, each run some times; not while a graph is made. Returns the status
 * of a run that failed. */
typedef int guest_run(struct card *m, const void *with);
int guest_faster(struct card *m, enum guest_id id, const char *what, guest_run *own,
                 guest_run *guest, const void *with, bool *faster);

/* --- cuBLASLt: cuda_cublaslt.cu --- */

bool cublaslt_open(struct card *m);
void cublaslt_close(struct card *m);
bool cublaslt_takes(struct machine *m, const struct gemm *g, enum product how);
bool cublaslt_product(struct machine *m, const struct gemm *g, enum product how);

/* --- cuDNN: cuda_cudnn.cu --- */

bool cudnn_open(struct card *m);
void cudnn_close(struct card *m);
bool cudnn_act(struct machine *m, const struct op_act *a);
bool cudnn_act_back(struct machine *m, const struct op_act_back *a);

#endif
