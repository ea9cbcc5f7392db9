/* kernels.h - how the machine (cuda.cu) starts each kernel. Every pointer is device memory unless
 * it says host; every call only puts work on the machine's stream, and the first failure sticks in
 * the machine. Arguments are the operations' (backend/ops.h): their struct is on the host,
 * everything it points at on the device. */
#ifndef DNN_KERNELS_KERNELS_H
#define DNN_KERNELS_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "backend/ops.h"

struct machine;
struct need;

/* A kernel that stands for all: to ask whether the card has code for it. */
const void *kernels_any(void);

/* The arithmetic of a product: fp32 on CUDA cores, or tensor cores with rounded inputs and fp32
 * sums. */
enum product { PRODUCT_FP32, PRODUCT_TF32, PRODUCT_BF16, PRODUCT_FP16 };
/* Products of a training: `how` for layers with at least `least` multiply-adds, else fp32. */
struct products {
    enum product how;
    uint64_t least;
    uint64_t kept; /* least numbers of activations kept in 16 bits: form_kept */
};
/* The one rule by which a dense layer's products are computed, from its shape alone. Answers
 * (exact) are in fp32 always: tensor cores have little to do with few rows, and an answer is then
 * the same on every kind of machine. So are layers too narrow for a tile. */
enum product product_of(struct products by, uint32_t rows, uint32_t in, uint32_t out, bool exact);

/* The form (enum act_form) in which a training's rows x width activations are kept, and their
 * gradients (back): the one rule, by shape alone. In 16 bits if products are, for `kept` numbers
 * and more in rows of 32, 40, ..: smaller ones stay in a cache, or are fused and never leave the
 * chip. The range of fp16 is too small for gradients, except in products, which scale them: others
 * stay in fp32. */
uint32_t form_kept(struct products by, uint32_t rows, uint32_t width, bool back);
/* The form of numbers rounded to that precision, if it has 16 bits; else FORM_REAL. */
uint32_t form_product(enum product how);
/* to[i] = x[i] in that form. */
void cuda_round(struct machine *m, void *to, const float *x, uint32_t form, size_t n);

/* --- the operations of ops.def, one call each ---
 *
 * shards: row shards of a gradient, of the plan (plan_shards of the rows).
 *
 * scratch: memory of the machine's own. It begins with SCRATCH_HEAD bytes that are 0 at every call,
 * and again after it: counters of blocks that are done. The rest is undefined. Its size:
 * kernels_need. */
enum { SCRATCH_HEAD = 4096 };

/* Issues an operation by its id (enum op_id). */
void kernels_issue(struct machine *m, uint32_t op, const void *arguments, struct products by,
                   void *scratch);
/* The operations at the front of a list that are fused into fewer launches, with the same bits but
 * for the order in which the loss is summed: small layers with the gather of their batch, their
 * loss and their way back, or up to their answers; dense layers on their way back; an optimiser and
 * the end of the step. Else the first operation alone. Values of small layers that no later
 * operation reads are not written. Returns how many operations it took. */
struct kernel_op { uint32_t op; const void *arguments; };
enum { KERNEL_FRONT = 52 }; /* no more are looked at */
uint32_t kernels_issue_front(struct machine *m, const struct kernel_op *ops, uint32_t count,
                             struct products by, void *scratch);
/* The memory needs of an operation (backend.h); scratch includes its head. */
void kernels_need(uint32_t op, const void *arguments, struct need *n);

/* *from and all it points to: on the device. */
void cuda_gather(struct machine *m, const struct op_gather *a);
void cuda_onehot(struct machine *m, const struct op_onehot *a);
void cuda_embed(struct machine *m, const struct op_embed *a);
void cuda_embed_back(struct machine *m, const struct op_embed_back *a, void *scratch);
size_t cuda_embed_back_scratch(const struct op_embed_back *a);

/* Bins and shares of piecewise-linear numbers, their components, a dense layer's sums over them. */
void cuda_view_scale(struct machine *m, const struct op_view_scale *a);
void cuda_view_scale_back(struct machine *m, const struct op_view_scale_back *a);
void cuda_view_mean(struct machine *m, const struct op_view_mean *a);
void cuda_ple(struct machine *m, const struct op_ple *a);
void cuda_ple_wide(struct machine *m, const struct op_ple_wide *a);
void cuda_series(struct machine *m, const struct op_series *a);
void cuda_tokens(struct machine *m, const struct op_tokens *a);
/* how: the rule for the product of the inputs, if the sums are not computed yet (a->from) */
void cuda_recur(struct machine *m, const struct op_recur *a, enum product how, struct products by,
                void *scratch);
void cuda_recur_back(struct machine *m, const struct op_recur_back *a, enum product how,
                     struct products by, void *scratch);
size_t cuda_recur_scratch(struct dims d, uint32_t kind, bool back); /* d.width: units */
void cuda_pool(struct machine *m, const struct op_pool *a);
void cuda_pool_back(struct machine *m, const struct op_pool_back *a);
void cuda_conv(struct machine *m, const struct op_conv *a);
void cuda_conv_back(struct machine *m, const struct op_conv_back *a);
void cuda_rocket(struct machine *m, const struct op_rocket *a);
void cuda_position(struct machine *m, const struct op_position *a);
void cuda_position_back(struct machine *m, const struct op_position_back *a);
void cuda_lengths(struct machine *m, const struct op_lengths *a);
void cuda_rotary(struct machine *m, const struct op_rotary *a);
void cuda_attention(struct machine *m, const struct op_attention *a);
void cuda_attention_back(struct machine *m, const struct op_attention_back *a);
void cuda_weigh(struct machine *m, const struct op_weigh *a);
void cuda_weigh_back(struct machine *m, const struct op_weigh_back *a);
void cuda_ple_dense(struct machine *m, const struct op_ple_dense *a);
void cuda_ple_dense_back(struct machine *m, const struct op_ple_dense_back *a);

/* Scales of texts as hashed terms, and a dense layer's sums over them. */
void cuda_text(struct machine *m, const struct op_text *a);
void cuda_text_dense(struct machine *m, const struct op_text_dense *a);
void cuda_text_dense_back(struct machine *m, const struct op_text_dense_back *a);
/* Sums of cosines of periodic numbers. */
void cuda_periodic(struct machine *m, const struct op_periodic *a);
void cuda_periodic_back(struct machine *m, const struct op_periodic_back *a);

void cuda_dense(struct machine *m, const struct op_dense *a, enum product how);
/* dy becomes dz; then dw and db by row shards, then dx. */
void cuda_dense_back(struct machine *m, const struct op_dense_back *a, enum product how);
/* Several in turn, with the same bits: if the dx of one is the dy of the next, it becomes dz on its
 * way to memory. */
void cuda_dense_backs(struct machine *m, const struct op_dense_back *const *a, unsigned count,
                      struct products by);
/* dw and db alone, for layers whose dz is computed. */
void cuda_dense_gradients(struct machine *m, const struct op_dense_back *const *a, unsigned count);
void cuda_act(struct machine *m, const struct op_act *a);
void cuda_act_back(struct machine *m, const struct op_act_back *a);
void cuda_blend(struct machine *m, const struct op_blend *a);
void cuda_blend_back(struct machine *m, const struct op_blend_back *a);
void cuda_dropout(struct machine *m, const struct op_dropout *a);
void cuda_add(struct machine *m, const struct op_add *a);

void cuda_bnorm_stats(struct machine *m, const struct op_bnorm_stats *a, void *scratch);
void cuda_bnorm(struct machine *m, const struct op_bnorm *a);
void cuda_bnorm_sums(struct machine *m, const struct op_bnorm_sums *a, void *scratch);
void cuda_bnorm_back(struct machine *m, const struct op_bnorm_back *a);
size_t cuda_bnorm_scratch(uint32_t rows, uint32_t width); /* of stats and of sums */
void cuda_lnorm(struct machine *m, const struct op_lnorm *a);
void cuda_lnorm_back(struct machine *m, const struct op_lnorm_back *a);
/* True: four numbers at once; the order of sums follows from it. */
bool lnorm_is_wide(const struct op_lnorm *a);
bool lnorm_back_is_wide(const struct op_lnorm_back *a);

void cuda_loss_class(struct machine *m, const struct op_loss_class *a);
void cuda_loss_value(struct machine *m, const struct op_loss_value *a);
void cuda_loss_f1(struct machine *m, const struct op_loss_f1 *a);

void cuda_score(struct machine *m, const struct op_score *a, void *scratch);
size_t cuda_score_scratch(uint32_t rows);
void cuda_keep(struct machine *m, const struct op_keep *a);

/* a->sums: the weight, and the summed gradient; norm2_kept bytes. */
void cuda_norm2(struct machine *m, const struct op_norm2 *a, void *scratch);
size_t cuda_norm2_kept(uint64_t n);
size_t cuda_norm2_scratch(uint64_t n);
/* a->shadow: none, or the 16-bit copy of the parameters. end: NULL, or the end of the step, done in
 * the same launch; only that needs scratch (its head). */
void cuda_sgd(struct machine *m, const struct op_sgd *a, const struct op_advance *end,
              void *scratch);
void cuda_rmsprop(struct machine *m, const struct op_rmsprop *a, const struct op_advance *end,
                  void *scratch);
void cuda_adam(struct machine *m, const struct op_adam *a, const struct op_advance *end,
               void *scratch);
void cuda_advance(struct machine *m, const struct op_advance *a);

/* One product for both kinds of cores: C[m][n] = A B, then the epilogue. A(i, k) is at a[i * a_row
 * + k * a_col], and so on: transposes are strides. Sums run over k = 0, 1, .. in each part; part z
 * of `parts` takes k in [part_begin(z), part_begin(z + 1)) and writes C + z * c_part. Tiles follow
 * from m, n alone. A, B, C, z and by are fp32 or in 16 bits, as their form says; the layout of such
 * a matrix: form.cuh. */
enum scaled { SCALED_A, SCALED_B };
struct gemm {
    struct act c;
    struct act a, b;
    uint32_t m, n, k, parts;
    uint32_t a_row, a_col, b_row, b_col, c_row;
    uint64_t c_part;
    /* 0: overwrite, 1: add to C */
    uint32_t add;
    /* C = act(A B + bias), and A B + bias to z */
    uint32_t act;
    const float *bias;
    struct act z;
    uint32_t z_row;
    float slope;
    /* instead: C = (A B) act'(by), with the derivative at z or y as act needs; A B is first rounded
     * as C is, so the bits equal two operations */
    struct act by;
    uint32_t by_row;
    /* sums[j] of a part: B's column j summed over its k, into sums + z * c_part, overwritten or
     * added as C is. Not in the tiles of gemm_mma.cu. */
    float *sums;
    /* fp16: operands are multiplied by *scale before rounding, sums divided by it. NULL or 0: no
     * scaling */
    const double *scale;
    enum scaled scaled;
    /* one-hot inputs: C(i, j) also gets onehot_b[(at + id(i)) * b_row + j] for each column */
    struct onehot_inputs onehot;
    const float *onehot_b;
};
void gemm_simt(struct machine *m, const struct gemm *g);
/* As above, with a fixed tile size: same bits, as tests show. */
enum simt_size { SIMT_NARROW, SIMT_SMALL, SIMT_MEDIUM, SIMT_LARGE };
void gemm_simt_sized(struct machine *m, const struct gemm *g, enum simt_size size);
void gemm_mma(struct machine *m, const struct gemm *g, enum product how);
/* Large products on tensor cores, same bits: whether it can, whether it pays. */
bool gemm_wide_can(const struct gemm *g);
bool gemm_wide_pays(const struct gemm *g);
void gemm_wide_start(struct machine *m, const struct gemm *g, enum product how);
/* Large products with two 16-bit operands, same bits: whether it can. */
bool gemm_half_can(const struct gemm *g, enum product how);
void gemm_half_start(struct machine *m, const struct gemm *g, enum product how);
/* As gemm_half and gemm_wide for bf16 and fp16, on machines whose tensor cores take products of
 * warpgroups (sm_90a). built: this build has it; serves: this machine takes it for `g`. */
bool gemm_wgmma_built(void);
bool gemm_wgmma_serves(const struct machine *m, const struct gemm *g, enum product how);
void gemm_wgmma_start(struct machine *m, const struct gemm *g, enum product how);
/* As above, by the caller's choice: two blocks share a multiprocessor, or one has it alone. The
 * bits are equal. */
void gemm_wgmma_in(struct machine *m, const struct gemm *g, enum product how, bool sharing);

/* Products that do not wait for each other, on CUDA cores in one launch; the same bits as one by
 * one. onehot: NULL, or the rows of its dw that belong to one-hot inputs as well. */
enum { GEMMS = 8 };
void gemm_together(struct machine *m, const struct gemm *g, unsigned count,
                   const struct op_dense_back *onehot);

#endif
