/* cuda_cudnn.cu - activations by cuDNN, those of ours that it has: relu, sigmoid, tanh and elu on
 * the way forward, relu on the way back (for the others it wants y, which is not kept). A batch is
 * to it a tensor of rows x width x 1 x 1. It has no normalisation or softmax that ends where an
 * operation of ours ends (backend/ops.def): ours are fused with what stands beside them. */
#include <stdio.h>

#include "cuda_guest.cuh"

#define DNN(name, arguments) GUEST_CALL(cudnn_calls(), name, arguments)

bool cudnn_open(struct card *m)
{
    struct guests *g = m->guests;
    struct guest_use *use = &g->use[GUEST_CUDNN];
    int status;
    do
        status = DNN(cudnnCreate, (&use->handle));
    while (status && guest_other(GUEST_CUDNN, "cudnnCreate", status));
    if (status)
        use->handle = NULL;
    else
        status = DNN(cudnnSetStream, (use->handle, m->stream));
    if (!status)
        status = DNN(cudnnCreateActivationDescriptor, (&g->activation));
    for (int i = 0; i < 3 && !status; i++)
        status = DNN(cudnnCreateTensorDescriptor, (&g->tensors[i]));
    if (status)
        guest_failed(m, GUEST_CUDNN, "cudnnCreate", status);
    return !status;
}

void cudnn_close(struct card *m)
{
    struct guests *g = m->guests;
    for (int i = 0; i < 3; i++)
        if (g->tensors[i])
            DNN(cudnnDestroyTensorDescriptor, (g->tensors[i]));
    if (g->activation)
        DNN(cudnnDestroyActivationDescriptor, (g->activation));
    DNN(cudnnDestroy, (g->use[GUEST_CUDNN].handle));
}

/* -1: it has not this one. */
static int kind_of(uint32_t act)
{
    switch (act) {
    case ACT_RELU: return CUDNN_RELU;
    case ACT_SIGMOID: return CUDNN_SIGMOID;
    case ACT_TANH: return CUDNN_TANH;
    case ACT_ELU: return CUDNN_ELU;
    default: return -1;
    }
}

static int set_tensor(struct card *m, int which, uint32_t rows, uint32_t width, uint32_t ld)
{
    return DNN(cudnnSetTensor4dDescriptorEx, (m->guests->tensors[which], CUDNN_FLOAT, (int)rows,
                                              (int)width, 1, 1, (int)ld, 1, 1, 1));
}

static int set_activation(struct card *m, uint32_t act, double slope)
{
    return DNN(cudnnSetActivationDescriptor,
               (m->guests->activation, kind_of(act), CUDNN_KEEP_NAN, slope));
}

static int forward(struct card *m, const void *with)
{
    const struct op_act *a = (const struct op_act *)with;
    struct guests *g = m->guests;
    const float one = 1, zero = 0;
    int status = set_activation(m, a->act, a->slope);
    if (!status)
        status = set_tensor(m, 0, a->rows, a->width, a->ldx);
    if (!status)
        status = set_tensor(m, 1, a->rows, a->width, a->ldy);
    return status ? status
                  : DNN(cudnnActivationForward, (g->use[GUEST_CUDNN].handle, g->activation, &one,
                                                 g->tensors[0], a->x.at, &zero, g->tensors[1],
                                                 a->y.at));
}

/* Of relu, whose y is positive where x is: x stands for it. */
static int backward(struct card *m, const void *with)
{
    const struct op_act_back *a = (const struct op_act_back *)with;
    struct guests *g = m->guests;
    const float one = 1, from = a->add_dx ? 1.0f : 0.0f;
    int status = set_activation(m, a->act, a->slope);
    if (!status)
        status = set_tensor(m, 0, a->rows, a->width, a->ldx);
    if (!status)
        status = set_tensor(m, 1, a->rows, a->width, a->lddy);
    if (!status)
        status = set_tensor(m, 2, a->rows, a->width, a->lddx);
    return status ? status
                  : DNN(cudnnActivationBackward,
                        (g->use[GUEST_CUDNN].handle, g->activation, &one, g->tensors[0], a->x.at,
                         g->tensors[1], a->dy.at, g->tensors[0], a->x.at, &from, g->tensors[2],
                         a->dx.at));
}

/* --- serving --- */

static int own_forward(struct card *m, const void *with)
{
    const struct guest_door *door = guest_door;
    guest_door = NULL;
    cuda_act(&m->head, (const struct op_act *)with);
    guest_door = door;
    return 0;
}
static int own_backward(struct card *m, const void *with)
{
    const struct guest_door *door = guest_door;
    guest_door = NULL;
    cuda_act_back(&m->head, (const struct op_act_back *)with);
    guest_door = door;
    return 0;
}

static bool is_worth(const struct card *m, uint32_t rows, uint32_t width, uint32_t ld)
{
    const struct guest_use *use = &m->guests->use[GUEST_CUDNN];
    uint32_t side = rows < width ? rows : width;
    return use->on && !cuda_lost(m) && side >= use->rule.side &&
           (uint64_t)rows * width >= use->rule.work && (uint64_t)rows * ld <= INT32_MAX;
}

/* Where timings choose: that of this shape. repeats: running it again changes nothing. */
static bool is_faster(struct card *m, struct guest_sheet shape, bool repeats, guest_run *own,
                      guest_run *guest, const void *with, int *status)
{
    struct guests *g = m->guests;
    if (!g->use[GUEST_CUDNN].rule.timed)
        return true;
    for (unsigned i = 0; i < g->sheet_count; i++) {
        const struct guest_sheet *s = &g->sheets[i];
        if (s->rows == shape.rows && s->width == shape.width && s->act == shape.act &&
            s->back == shape.back && s->ldx == shape.ldx && s->ldy == shape.ldy)
            return s->serves;
    }
    if (m->capturing || !repeats || g->sheet_count == sizeof g->sheets / sizeof *g->sheets)
        return false;
    char what[64];
    snprintf(what, sizeof what, "activation %u x %u%s", shape.rows, shape.width,
             shape.back ? ", back" : "");
    *status = guest_faster(m, GUEST_CUDNN, what, own, guest, with, &shape.serves);
    g->sheets[g->sheet_count++] = shape;
    return shape.serves;
}

static bool serve(struct card *m, bool faster, guest_run *run, const char *call, const void *with,
                  int status)
{
    if (status == 0 && faster)
        status = run(m, with);
    if (status)
        guest_failed(m, GUEST_CUDNN, call, status);
    return faster && (status == 0 || cuda_lost(m));
}

bool cudnn_act(struct machine *machine, const struct op_act *a)
{
    struct card *m = card_of(machine);
    struct guest_sheet shape = {a->rows, a->width, a->act, 0, a->ldx, a->ldy, false};
    uint32_t ld = a->ldx > a->ldy ? a->ldx : a->ldy;
    int status = 0;
    if (kind_of(a->act) < 0 || (a->x.at == a->y.at && a->ldx != a->ldy) ||
        !is_worth(m, a->rows, a->width, ld))
        return false;
    bool faster = is_faster(m, shape, a->x.at != a->y.at, own_forward, forward, a, &status);
    return serve(m, faster, forward, "cudnnActivationForward", a, status);
}

bool cudnn_act_back(struct machine *machine, const struct op_act_back *a)
{
    struct card *m = card_of(machine);
    struct guest_sheet shape = {a->rows, a->width, a->act, 1, a->ldx, a->lddx, false};
    int status = 0;
    /* a tensor and its gradient have to lie alike */
    if (a->act != ACT_RELU || a->ldx != a->lddx || a->ldx != a->lddy ||
        !is_worth(m, a->rows, a->width, a->ldx))
        return false;
    bool faster = is_faster(m, shape, !a->add_dx && a->dx.at != a->dy.at, own_backward, backward, a,
                            &status);
    return serve(m, faster, backward, "cudnnActivationBackward", a, status);
}
