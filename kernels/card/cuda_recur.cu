/* cuda_recur.cu - cuDNN in the place of our recurrent kernels. It serves with "cudnn" in
 * backend.guests, in a test build with DNN_GUESTS=always or cuDNN (base/fault.h), and if a plan
 * names it. On an H200 our own layers were 1.6 to 5 times as fast (tests/bench/results), so "auto"
 * never chooses it. It trains a direction of a layer in three
 * calls; answers are never its own. Its layout: recur_guest.cuh. After its first failure
 * our kernels serve. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card/cuda_guests.cuh"
#include "ops/recur_guest.cuh"

extern "C" {
#include "base/log.h"
#include "base/mem.h"
}

/* A layer by its shape, and what cuDNN says of it. */
struct recur_shape { uint32_t kind, rows, steps, in, units, rounds; };
struct recur_served {
    struct recur_shape shape;
    bool serves;                    /* else our kernels do */
    void *rnn, *of_x, *of_y, *of_h;
    struct recur_places places;
    size_t weights, work, reserve;  /* bytes */
};
struct recur_use {
    struct card_guest guest; /* the first member */
    struct cudnn calls;
    void *dropout, *matrix, *bias;
    struct recur_served *served;
    size_t count, room;
};

/* A call of the library. */
#define DNN(name, arguments)                                                                       \
    (cuda_guest_enter(m->runtime, #name)                                                           \
         ? cuda_guest_leave(m->runtime, m->recur->calls.name arguments)                            \
         : m->runtime->refusal)
/* The next one of several: after a failure none is made, and `call` names the one. */
#define NEXT(name, arguments)                                                                      \
    do {                                                                                           \
        if (!status) {                                                                             \
            call = #name;                                                                          \
            status = DNN(name, arguments);                                                         \
        }                                                                                          \
    } while (0)

/* --- opening --- */

static bool find(struct card_guest *g)
{
    return cudnn_open(&g->library, &((struct recur_use *)g)->calls);
}

/* NVIDIA: recurrent layers give the same bits each time with one of these values alone. */
static bool repeats(void)
{
    const char *word = getenv("CUBLAS_WORKSPACE_CONFIG");
    return word && (strcmp(word, ":4096:2") == 0 || strcmp(word, ":16:8") == 0);
}

static void open_library(struct card *m, struct card_guest *g)
{
    struct recur_use *use = m->recur;
    const char *call = "";
    char why[96];
    bool warns = m->guests & GUESTS_CUDNN; /* the config asks for it */
    int status = 0;
    if (!cuda_guest_load(g) || !repeats()) {
        cuda_guest_cannot(g, warns, g->library.library ? "CUBLAS_WORKSPACE_CONFIG is not :4096:2"
                                                       : g->library.why);
        return;
    }
    NEXT(cudnnCreate, (&g->handle));
    NEXT(cudnnSetStream, (g->handle, m->stream));
    NEXT(cudnnCreateDropoutDescriptor, (&use->dropout));
    NEXT(cudnnSetDropoutDescriptor, (use->dropout, g->handle, 0, NULL, 0, 0));
    NEXT(cudnnCreateTensorDescriptor, (&use->matrix));
    NEXT(cudnnCreateTensorDescriptor, (&use->bias));
    if (status) {
        g->failed = true;
        snprintf(why, sizeof why, "%s: %d", call, status);
        cuda_guest_cannot(g, warns, why);
        return;
    }
    cuda_guest_opened(g);
}

void cuda_recur_begin(struct card *m)
{
    m->recur = (struct recur_use *)mem_zero(1, sizeof *m->recur);
    m->recur->guest.find = find;
    m->recur->guest.open = open_library;
    cuda_guest_init(m, &m->recur->guest, GUEST_CUDNN);
}

static void forget(struct card *m, struct recur_served *s)
{
    if (s->rnn)
        DNN(cudnnDestroyRNNDescriptor, (s->rnn));
    if (s->of_x)
        DNN(cudnnDestroyRNNDataDescriptor, (s->of_x));
    if (s->of_y)
        DNN(cudnnDestroyRNNDataDescriptor, (s->of_y));
    if (s->of_h)
        DNN(cudnnDestroyTensorDescriptor, (s->of_h));
    s->rnn = s->of_x = s->of_y = s->of_h = NULL;
}

void cuda_recur_end(struct card *m)
{
    struct recur_use *use = m->recur;
    if (!use)
        return;
    for (size_t i = 0; i < use->count && !cuda_gone(m); i++)
        forget(m, &use->served[i]);
    if (use->matrix && !cuda_gone(m))
        DNN(cudnnDestroyTensorDescriptor, (use->matrix));
    if (use->bias && !cuda_gone(m))
        DNN(cudnnDestroyTensorDescriptor, (use->bias));
    if (use->dropout && !cuda_gone(m))
        DNN(cudnnDestroyDropoutDescriptor, (use->dropout));
    if (use->guest.handle && !cuda_gone(m))
        DNN(cudnnDestroy, (use->guest.handle));
    mem_free(use->served);
    mem_free(use);
    m->recur = NULL;
}

void cuda_recur_plan(const struct card *m, struct plan *plan)
{
    cuda_guest_add(&m->recur->guest, plan);
}

void cuda_recur_set_plan(struct card *m, const struct plan *plan)
{
    cuda_guest_obey(m, &m->recur->guest, plan);
}

/* --- shapes --- */

/* The layer as cuDNN knows it. A layer of ours is one layer of one direction: norms, dropout and
 * further layers are operations of their own, the other direction is a further call. fp32 is fp32;
 * if products are rounded it may take TF32, which is finer than 16 bits. */
static int describe_layer(struct card *m, struct recur_served *s, const char **failed)
{
    const struct recur_shape *h = &s->shape;
    const char *call = "";
    bool gru = h->kind == RECUR_GRU;
    int status = 0, rows = (int)h->rows, units = (int)h->units, steps = (int)h->steps;
    const int state[] = {1, rows, units}, strides[] = {rows * units, units, 1};
    int *lengths = (int *)mem_alloc(h->rows, sizeof *lengths);
    for (uint32_t i = 0; i < h->rows; i++)
        lengths[i] = steps;
    NEXT(cudnnCreateRNNDescriptor, (&s->rnn));
    NEXT(cudnnCreateRNNDataDescriptor, (&s->of_x));
    NEXT(cudnnCreateRNNDataDescriptor, (&s->of_y));
    NEXT(cudnnCreateTensorDescriptor, (&s->of_h));
    NEXT(cudnnSetRNNDescriptor_v8,
         (s->rnn, CUDNN_STANDARD, gru ? CUDNN_CELL_GRU : CUDNN_CELL_LSTM,
          gru ? CUDNN_BIAS_BOTH : CUDNN_BIAS_INPUT, CUDNN_ONE_WAY, CUDNN_INPUTS_LINEAR,
          CUDNN_FLOAT, CUDNN_FLOAT, h->rounds ? CUDNN_MATH_DEFAULT : CUDNN_MATH_FMA,
          (int32_t)h->in, units, units, 1, m->recur->dropout, CUDNN_PADDED));
    NEXT(cudnnSetRNNDataDescriptor, (s->of_x, CUDNN_FLOAT, CUDNN_STEPS_FIRST, steps, rows,
                                     (int)h->in, lengths, NULL));
    NEXT(cudnnSetRNNDataDescriptor, (s->of_y, CUDNN_FLOAT, CUDNN_STEPS_FIRST, steps, rows, units,
                                     lengths, NULL));
    NEXT(cudnnSetTensorNdDescriptor, (s->of_h, CUDNN_FLOAT, 3, state, strides));
    NEXT(cudnnGetRNNWeightSpaceSize, (m->recur->guest.handle, s->rnn, &s->weights));
    NEXT(cudnnGetRNNTempSpaceSizes, (m->recur->guest.handle, s->rnn, CUDNN_TRAINING, s->of_x,
                                     &s->work, &s->reserve));
    mem_free(lengths);
    *failed = call;
    return status;
}

/* True: the matrix that was told has this shape; row by row, as recur_pack writes it. */
static bool is_matrix(struct card *m, int rows, int columns)
{
    int type = -1, count = 0, dims[3] = {0}, strides[3] = {0};
    int status = DNN(cudnnGetTensorNdDescriptor,
                     (m->recur->matrix, 3, &type, &count, dims, strides));
    return !status && type == CUDNN_FLOAT && count == 3 && dims[0] == 1 && dims[1] == rows &&
           dims[2] == columns;
}

/* Addresses are told for weights at any address. */
static int find_places(struct card *m, struct recur_served *s, const char **failed)
{
    const struct recur_shape *h = &s->shape;
    const char *call = "";
    char *const base = (char *)((uintptr_t)1 << 20);
    uint32_t parts = recur_parts(h->kind), half = parts / 2;
    int status = 0;
    for (uint32_t i = 0; i < parts && !status; i++) {
        void *matrix = NULL, *bias = NULL;
        bool biased = i < half || h->kind == RECUR_GRU;
        NEXT(cudnnGetRNNWeightParams,
             (m->recur->guest.handle, s->rnn, 0, s->weights, base, (int32_t)i, m->recur->matrix,
              &matrix, m->recur->bias, &bias));
        if (!status && (!matrix || (biased && !bias) ||
                        !is_matrix(m, (int)h->units, (int)(i < half ? h->in : h->units))))
            status = -1;
        if (status)
            break;
        s->places.matrix[i] = (uint64_t)((char *)matrix - base) / sizeof(float);
        s->places.bias[i] = biased ? (uint64_t)((char *)bias - base) / sizeof(float) : 0;
    }
    *failed = call;
    return status;
}

/* The layers that cuDNN computes. Its sizes are ints. */
static bool suits(const struct card *m, const struct recur_shape *h)
{
    uint64_t widest = h->in > 4 * (uint64_t)h->units ? h->in : 4 * (uint64_t)h->units;
    return m->recur && m->recur->guest.on && !cuda_lost(m) && h->rows && h->steps &&
           (uint64_t)h->rows * h->steps <= INT32_MAX / widest;
}

static struct recur_served *server_of(struct card *m, const struct recur_shape *h)
{
    struct recur_use *use = m->recur;
    if (!suits(m, h))
        return NULL;
    for (size_t i = 0; i < use->count; i++)
        if (memcmp(&use->served[i].shape, h, sizeof *h) == 0)
            return use->served[i].serves ? &use->served[i] : NULL;
    if (use->count == use->room) {
        use->room = use->room ? 2 * use->room : 8;
        use->served = (struct recur_served *)mem_grow(use->served, use->room, sizeof *use->served);
    }
    struct recur_served *s = &use->served[use->count++];
    const char *call = "";
    char why[128];
    *s = recur_served{};
    s->shape = *h;
    int status = describe_layer(m, s, &call);
    if (!status)
        status = find_places(m, s, &call);
    s->serves = !status;
    if (status) {
        forget(m, s);
        snprintf(why, sizeof why, "a layer of %u units on %u inputs, %u steps: %s: %d", h->units,
                 h->in, h->steps, call, status);
        cuda_guest_cannot(&use->guest, false, why);
    }
    return s->serves ? s : NULL;
}

/* The scratch of a layer, after its head. */
struct recur_room {
    float *weights, *gradients, *x, *dx, *dy;
    int32_t *lengths;
    void *work;
    uint64_t bytes;
};
enum { ALIGNED = 256 };
static void *take(char *from, uint64_t *at, uint64_t bytes)
{
    char *here = (char *)((uintptr_t)from + (uintptr_t)*at);
    *at += (bytes + ALIGNED - 1) / ALIGNED * ALIGNED;
    return here;
}
static struct recur_room room_of(const struct recur_served *s, void *scratch)
{
    const struct recur_shape *h = &s->shape;
    uint64_t at = SCRATCH_HEAD, numbers = (uint64_t)h->rows * h->steps * sizeof(float);
    struct recur_room r = {};
    char *from = (char *)scratch;
    r.weights = (float *)take(from, &at, s->weights);
    r.gradients = (float *)take(from, &at, s->weights);
    r.x = (float *)take(from, &at, numbers * h->in);
    r.dx = (float *)take(from, &at, numbers * h->in);
    r.dy = (float *)take(from, &at, numbers * h->units);
    r.lengths = (int32_t *)take(from, &at, h->rows * sizeof(int32_t));
    r.work = take(from, &at, s->work);
    r.bytes = at;
    return r;
}

static struct recur_shape shape_of(uint32_t kind, struct dims d, uint32_t in, enum product how)
{
    return {kind, d.rows, d.steps, in, d.width, how != PRODUCT_FP32};
}

void cuda_recur_need(const struct card *card, enum op_id op, const void *arguments, struct need *n)
{
    struct card *m = const_cast<struct card *>(card); /* a shape that comes first is noted */
    const struct op_recur *a = (const struct op_recur *)arguments;
    const struct op_recur_back *back = (const struct op_recur_back *)arguments;
    if (op != OP_recur && op != OP_recur_back)
        return;
    uint32_t kind = op == OP_recur ? a->kind : back->kind;
    uint32_t in = op == OP_recur ? a->from.in : back->from.in;
    struct dims d = op == OP_recur ? a->dims : back->dims;
    if (!in || !d.rows)
        return;
    enum product how = product_of(m->products, d.rows * d.steps, in,
                                  RECUR_COLUMNS(kind) * d.width, false);
    struct recur_shape h = shape_of(kind, d, in, how);
    const struct recur_served *s = server_of(m, &h);
    if (!s)
        return;
    uint64_t bytes = room_of(s, NULL).bytes;
    n->scratch = bytes > n->scratch ? bytes : n->scratch;
    if (op == OP_recur)
        n->kept = s->reserve + ALIGNED;
}

/* --- serving --- */

/* The begin of the reserve. */
static void *reserve_at(void *kept)
{
    return (void *)(((uintptr_t)kept + ALIGNED - 1) / ALIGNED * ALIGNED);
}

/* NULL: our kernels serve. */
static const struct recur_served *served_in(struct card *m, const struct recur_shape *h,
                                            struct recur_room *r)
{
    const struct recur_served *s = server_of(m, h);
    if (s)
        *r = room_of(s, m->scratch);
    return s && m->scratch_bytes >= r->bytes ? s : NULL;
}

static struct recur_weights weights_of(const struct recur_served *s, const struct recur_room *r)
{
    const struct recur_shape *h = &s->shape;
    struct recur_weights w = {};
    w.theirs = r->weights;
    w.lengths = r->lengths;
    w.at = s->places;
    w.numbers = s->weights / sizeof(float);
    w.kind = h->kind;
    w.in = h->in;
    w.units = h->units;
    w.rows = h->rows;
    w.steps = h->steps;
    return w;
}
static void pack(struct card *m, struct recur_weights w, const struct recur_inputs *from,
                 const real *u, const real *u_b)
{
    w.w = (float *)const_cast<real *>(from->w);
    w.b = (float *)const_cast<real *>(from->b);
    w.u = (float *)const_cast<real *>(u);
    w.u_b = (float *)const_cast<real *>(u_b);
    recur_pack(&m->head, &w);
}

/* False: our kernels serve. A failure in a capture spoils the capture alone. */
static bool ended(struct card *m, const char *call, int status)
{
    if (status)
        cuda_guest_fail(m, &m->recur->guest, call, status);
    return !status || cuda_lost(m);
}

bool device_recur(struct machine *machine, const struct op_recur *a, enum product how)
{
    struct card *m = card_of(machine);
    struct recur_shape h = shape_of(a->kind, a->dims, a->from.in, how);
    struct recur_room r;
    const struct recur_served *s = served_in(m, &h, &r);
    if (!s)
        return false;
    struct recur_steps x = {a->from.x, r.x, a->length, a->rows, a->steps, a->from.in,
                            a->from.ldx, 0, a->reverse, 0, 0};
    float *y = (float *)a->before; /* stays for the way back */
    const char *call = "";
    int status = 0;
    pack(m, weights_of(s, &r), &a->from, a->u, a->b);
    recur_hand_over(machine, &x);
    NEXT(cudnnRNNForward,
         (m->recur->guest.handle, s->rnn, CUDNN_TRAINING, r.lengths, s->of_x, r.x, s->of_y, y,
          s->of_h, NULL, NULL, s->of_h, NULL, NULL, s->weights, r.weights, s->work, r.work,
          s->reserve, reserve_at(a->from.kept)));
    if (!status) {
        struct recur_steps of_y = {a->y, y, a->length, a->rows, a->steps, a->units, a->ldy, a->at,
                                   a->reverse, 0, 0};
        recur_take_back(machine, &of_y);
    }
    return ended(m, call, status);
}

static void take_gradients(struct card *m, const struct recur_served *s,
                           const struct recur_room *r, const struct op_recur_back *a)
{
    struct recur_weights w = weights_of(s, r);
    w.theirs = r->gradients;
    w.w = (float *)a->to.dw;
    w.b = (float *)a->to.db;
    w.u = (float *)a->to.du;
    w.u_b = (float *)a->to.du_b;
    w.shards = a->shards;
    w.shard_stride = a->shard_stride;
    w.more = a->to.more;
    recur_unpack(&m->head, &w);
    struct recur_steps dx = {a->to.dx, r->dx, a->length, a->rows, a->steps, a->from.in,
                             a->from.ldx, 0, a->reverse, a->to.add_dx, 0};
    if (a->to.dx.at)
        recur_take_back(&m->head, &dx);
}

bool device_recur_back(struct machine *machine, const struct op_recur_back *a, enum product how)
{
    struct card *m = card_of(machine);
    struct recur_shape h = shape_of(a->kind, a->dims, a->from.in, how);
    struct recur_room r;
    const struct recur_served *s = served_in(m, &h, &r);
    if (!s)
        return false;
    struct recur_weights w = weights_of(s, &r);
    struct recur_steps x = {a->from.x, r.x, a->length, a->rows, a->steps, a->from.in,
                            a->from.ldx, 0, a->reverse, 0, 0};
    struct recur_steps dy = {a->dy, r.dy, a->length, a->rows, a->steps, a->units, a->lddy, a->at,
                             a->reverse, 0, 0};
    void *handle = m->recur->guest.handle, *reserve = reserve_at(a->from.kept);
    const char *call = "";
    int status = 0;
    w.cleared = r.gradients;
    pack(m, w, &a->from, a->u, a->b);
    recur_hand_over(machine, &x);
    recur_hand_over(machine, &dy);
    NEXT(cudnnRNNBackwardData_v8,
         (handle, s->rnn, r.lengths, s->of_y, a->before, r.dy, s->of_x, r.dx, s->of_h, NULL, NULL,
          NULL, s->of_h, NULL, NULL, NULL, s->weights, r.weights, s->work, r.work, s->reserve,
          reserve));
    NEXT(cudnnRNNBackwardWeights_v8,
         (handle, s->rnn, CUDNN_ADD, r.lengths, s->of_x, r.x, s->of_h, NULL, s->of_y, a->before,
          s->weights, r.gradients, s->work, r.work, s->reserve, reserve));
    if (!status)
        take_gradients(m, s, &r, a);
    return ended(m, call, status);
}
