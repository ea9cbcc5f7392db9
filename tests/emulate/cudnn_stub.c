/* cudnn_stub.c - a stand-in for cuDNN's recurrent layers on the emulated GPU: the same symbols, the
 * real computation by plain loops in double, on the host in the order of the stream. Its parts of
 * the weights lie in an order of their own, with gaps. guest_recur.sh and guest.sh build it:
 *   -DVERSION=N  its version
 *   -DLACKING    without one of its functions
 *   -DFAIL_AT=N  the Nth computation is refused
 *   -DCREATE=N   creating a handle gives that status
 *   -DREFUSES    no layer is supported
 *   -DSWAPPED    it takes two gates for each other: a wrong layout must be noticed
 *   -DTELLS      every computation is told on standard error: "forward 2 64 12 8 5 3":
 *                cell, rows, steps, inputs, units, mathematics
 * Types are those of src/backend/cudnn.def, where each function is described. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int cudaLaunchHostFunc(void *stream, void (*call)(void *), void *data);

#ifdef LACKING
#define cudnnRNNBackwardWeights_v8 not_to_be_found
#endif
#ifndef FAIL_AT
#define FAIL_AT 0
#endif
#ifndef CREATE
#define CREATE 0
#endif
enum { BAD = 2000, FAILED = 8, NOT_SUPPORTED = 3000, LSTM = 2, GRU = 3, MOST_GATES = 4, GAP = 7 };

struct handle { void *stream; };
struct tensor { int count, dims[3]; };
struct rnn { int cell, biases, in, units, math, set; };
struct data { int steps, rows, width; };

size_t cudnnGetVersion(void)
{
    return VERSION;
}
#define MAKES(name, type)                                                                          \
    int cudnnCreate##name(void **to)                                                               \
    {                                                                                              \
        *to = calloc(1, sizeof(struct type));                                                      \
        return 0;                                                                                  \
    }                                                                                              \
    int cudnnDestroy##name(void *at)                                                               \
    {                                                                                              \
        free(at);                                                                                  \
        return 0;                                                                                  \
    }
MAKES(TensorDescriptor, tensor)
MAKES(DropoutDescriptor, tensor)
MAKES(RNNDescriptor, rnn)
MAKES(RNNDataDescriptor, data)
int cudnnCreate(void **handle)
{
    *handle = calloc(1, sizeof(struct handle));
    return CREATE;
}
int cudnnDestroy(void *handle)
{
    free(handle);
    return 0;
}
int cudnnSetStream(void *handle, void *stream)
{
    ((struct handle *)handle)->stream = stream;
    return 0;
}
int cudnnSetTensorNdDescriptor(void *at, int type, int count, const int *dims, const int *strides)
{
    struct tensor *t = at;
    if (type != 0 || count != 3 || strides[2] != 1 || strides[1] != dims[2] ||
        strides[0] != dims[1] * dims[2])
        return BAD;
    t->count = 3;
    memcpy(t->dims, dims, sizeof t->dims);
    return 0;
}
int cudnnGetTensorNdDescriptor(const void *at, int most, int *type, int *count, int *dims,
                               int *strides)
{
    const struct tensor *t = at;
    *type = 0;
    *count = t->count;
    for (int i = 0; i < most; i++) {
        dims[i] = t->dims[i];
        strides[i] = i == 2 ? 1 : i == 1 ? t->dims[2] : t->dims[1] * t->dims[2];
    }
    return 0;
}
int cudnnSetDropoutDescriptor(void *at, void *handle, float p, void *states, size_t bytes,
                              unsigned long long seed)
{
    return !at || !handle || p != 0 || states || bytes || seed ? BAD : 0;
}
int cudnnSetRNNDescriptor_v8(void *at, int algorithm, int cell, int biases, int directions,
                             int inputs, int type, int sums, int math, int32_t in, int32_t units,
                             int32_t projection, int32_t layers, void *dropout, uint32_t flags)
{
    struct rnn *r = at;
    if (algorithm || (cell != LSTM && cell != GRU) || biases != (cell == GRU ? 2 : 1) ||
        directions || inputs || type || sums || (math != 0 && math != 3) || projection != units ||
        layers != 1 || !dropout || flags != 1)
        return BAD;
#ifdef REFUSES
    return NOT_SUPPORTED;
#endif
    *r = (struct rnn){cell, biases, in, units, math, 1};
    return 0;
}
int cudnnSetRNNDataDescriptor(void *at, int type, int layout, int steps, int rows, int width,
                              const int *lengths, void *fill)
{
    struct data *d = at;
    for (int i = 0; i < rows; i++)
        if (lengths[i] != steps)
            return NOT_SUPPORTED;
    *d = (struct data){steps, rows, width};
    return type || layout || fill ? BAD : 0;
}

/* --- where things lie --- */

static int gates_of(const struct rnn *r)
{
    return r->cell == GRU ? 3 : 4;
}
/* The last part first, all matrices, then all biases; numbers between them belong to nothing. */
static size_t matrix_at(const struct rnn *r, int part)
{
    size_t at = GAP;
    for (int i = 2 * gates_of(r) - 1; i > part; i--)
        at += (size_t)(i < gates_of(r) ? r->in : r->units) * (size_t)r->units + GAP;
    return at;
}
static size_t bias_at(const struct rnn *r, int part)
{
    size_t matrices = matrix_at(r, 0) + (size_t)r->in * (size_t)r->units + GAP;
    return matrices + (size_t)part * ((size_t)r->units + GAP);
}
int cudnnGetRNNWeightSpaceSize(void *handle, void *at, size_t *bytes)
{
    const struct rnn *r = at;
    *bytes = 4 * bias_at(r, r->biases * gates_of(r));
    return !handle || !r->set ? BAD : 0;
}
int cudnnGetRNNWeightParams(void *handle, void *at, int32_t layer, size_t bytes,
                            const void *weights, int32_t part, void *of_matrix, void **matrix,
                            void *of_bias, void **bias)
{
    const struct rnn *r = at;
    int gates = gates_of(r), biased = r->biases * gates;
    float *from = (float *)(uintptr_t)weights;
    if (!handle || layer || bytes != 4 * bias_at(r, biased) || part < 0 || part >= 2 * gates)
        return BAD;
    *(struct tensor *)of_matrix =
        (struct tensor){3, {1, r->units, part < gates ? r->in : r->units}};
    *(struct tensor *)of_bias = (struct tensor){3, {1, r->units, 1}};
    *matrix = from + matrix_at(r, part);
    *bias = part < biased ? from + bias_at(r, part) : NULL;
    return 0;
}

/* The reserve: per step, row and unit the gates, GRU's product before the reset, LSTM's c. */
enum { KEPT = 6 };
int cudnnGetRNNTempSpaceSizes(void *handle, void *rnn, int mode, void *at, size_t *work,
                              size_t *reserve)
{
    const struct rnn *r = rnn;
    const struct data *x = at;
    size_t each = (size_t)x->rows * (size_t)r->units;
    *work = 4 * (size_t)(2 * MOST_GATES + 4) * each;
    *reserve = 4 * KEPT * each * (size_t)x->steps;
    return !handle || mode != 1 || x->width != r->in ? BAD : 0;
}

struct work {
    struct rnn r;
    int steps, rows;
    const int32_t *lengths;
    const float *x, *y, *dy, *weights;
    float *to_y, *dx, *dweights, *kept;
};

static const float *matrix(const struct work *w, const float *from, int part)
{
    return from + matrix_at(&w->r, part);
}
/* Gate `g` of cuDNN's numbering. */
static int gate(int g)
{
#ifdef SWAPPED
    return g < 2 ? 1 - g : g;
#else
    return g;
#endif
}
static float *kept_at(const struct work *w, int t, int row, int unit)
{
    return w->kept + KEPT * (((size_t)t * (size_t)w->rows + (size_t)row) * (size_t)w->r.units +
                             (size_t)unit);
}
static double squash(double x)
{
    return 1 / (1 + exp(-x));
}
static const float *row_of(const struct work *w, const float *from, int t, int row, int width)
{
    return from + ((size_t)t * (size_t)w->rows + (size_t)row) * (size_t)width;
}
static double product(const float *m, int unit, const float *x, int width)
{
    double sum = 0;
    for (int i = 0; i < width; i++)
        sum += (double)m[(size_t)unit * (size_t)width + (size_t)i] * (double)x[i];
    return sum;
}

static void check_lengths(const struct work *w)
{
    for (int i = 0; i < w->rows; i++)
        if (w->lengths[i] != w->steps)
            fprintf(stderr, "cudnn_stub: length %d of row %d is not %d\n", w->lengths[i], i,
                    w->steps);
}

static void step(const struct work *w, int t, int row, int unit)
{
    int gates = gates_of(&w->r), in = w->r.in, units = w->r.units;
    const float *x = row_of(w, w->x, t, row, in);
    const float *before = t ? row_of(w, w->to_y, t - 1, row, units) : NULL;
    float *k = kept_at(w, t, row, unit);
    double a[MOST_GATES], b[MOST_GATES] = {0}, h;
    for (int g = 0; g < gates; g++) {
        int p = gate(g);
        a[g] = product(matrix(w, w->weights, p), unit, x, in) +
               (double)w->weights[bias_at(&w->r, p) + (size_t)unit];
        if (before)
            b[g] = product(matrix(w, w->weights, gates + p), unit, before, units);
        if (w->r.cell == GRU)
            b[g] += (double)w->weights[bias_at(&w->r, gates + p) + (size_t)unit];
    }
    if (w->r.cell == LSTM) {
        double c = squash(a[1] + b[1]) * (t ? (double)kept_at(w, t - 1, row, unit)[4] : 0);
        c += squash(a[0] + b[0]) * tanh(a[2] + b[2]);
        h = squash(a[3] + b[3]) * tanh(c);
        for (int g = 0; g < 4; g++)
            k[g] = (float)(g == 2 ? tanh(a[g] + b[g]) : squash(a[g] + b[g]));
        k[4] = (float)c;
    } else {
        double r = squash(a[0] + b[0]), z = squash(a[1] + b[1]), n = tanh(a[2] + r * b[2]);
        h = (1 - z) * n + z * (before ? (double)before[unit] : 0);
        k[0] = (float)r;
        k[1] = (float)z;
        k[2] = (float)n;
        k[3] = (float)b[2];
    }
    w->to_y[((size_t)t * (size_t)w->rows + (size_t)row) * (size_t)units + (size_t)unit] = (float)h;
}

static void forward(void *data)
{
    const struct work *w = data;
    check_lengths(w);
    for (int t = 0; t < w->steps; t++)
        for (int row = 0; row < w->rows; row++)
            for (int unit = 0; unit < w->r.units; unit++)
                step(w, t, row, unit);
}

/* The gates become the gradients of the sums of x (k[0..3]); k[5]: GRU's of q. dh, dc: [units]. */
static void step_back(const struct work *w, int t, int row, double *dh, double *dc)
{
    int units = w->r.units;
    for (int u = 0; u < units; u++) {
        float *k = kept_at(w, t, row, u);
        double d = dh[u] + (double)row_of(w, w->dy, t, row, units)[u];
        double i = (double)k[0], f = (double)k[1], g = (double)k[2], o = (double)k[3];
        if (w->r.cell == LSTM) {
            double tan = tanh((double)k[4]), old = t ? (double)kept_at(w, t - 1, row, u)[4] : 0;
            double e = dc[u] + d * o * (1 - tan * tan);
            k[0] = (float)(e * g * i * (1 - i));
            k[1] = (float)(e * old * f * (1 - f));
            k[2] = (float)(e * i * (1 - g * g));
            k[3] = (float)(d * tan * o * (1 - o));
            dc[u] = e * f;
            dh[u] = 0;
        } else { /* i: r, f: z, g: n, o: q */
            double old = t ? (double)row_of(w, w->y, t - 1, row, units)[u] : 0;
            double dn = d * (1 - f) * (1 - g * g);
            k[0] = (float)(dn * o * i * (1 - i));
            k[1] = (float)(d * (old - g) * f * (1 - f));
            k[2] = (float)dn;
            k[5] = (float)(dn * i);
            dh[u] = d * f;
        }
    }
    for (int u = 0; u < units; u++)
        for (int g = 0; g < gates_of(&w->r); g++) {
            const float *k = kept_at(w, t, row, u);
            const float *m = matrix(w, w->weights, gates_of(&w->r) + gate(g));
            double d = (double)k[w->r.cell == GRU && g == 2 ? 5 : g];
            for (int j = 0; j < units; j++)
                dh[j] += d * (double)m[(size_t)u * (size_t)units + (size_t)j];
        }
}

static void backward(void *data)
{
    const struct work *w = data;
    int in = w->r.in, units = w->r.units;
    double *dh = calloc((size_t)units, sizeof *dh), *dc = calloc((size_t)units, sizeof *dc);
    check_lengths(w);
    for (int row = 0; row < w->rows; row++) {
        memset(dh, 0, (size_t)units * sizeof *dh);
        memset(dc, 0, (size_t)units * sizeof *dc);
        for (int t = w->steps - 1; t >= 0; t--) {
            step_back(w, t, row, dh, dc);
            for (int i = 0; i < in; i++) {
                double sum = 0;
                for (int u = 0; u < units; u++)
                    for (int g = 0; g < gates_of(&w->r); g++)
                        sum += (double)kept_at(w, t, row, u)[g] *
                               (double)matrix(w, w->weights, gate(g))[(size_t)u * (size_t)in +
                                                                      (size_t)i];
                w->dx[((size_t)t * (size_t)w->rows + (size_t)row) * (size_t)in + (size_t)i] =
                    (float)sum;
            }
        }
    }
    free(dh);
    free(dc);
}

/* Adds the gradients of one part: of its matrix and its bias. */
static void part_back(const struct work *w, int g, int recurrent, int unit)
{
    int width = recurrent ? w->r.units : w->r.in;
    int part = gate(g) + (recurrent ? gates_of(&w->r) : 0);
    float *to = w->dweights + matrix_at(&w->r, part) + (size_t)unit * (size_t)width;
    double bias = 0;
    for (int i = -1; i < width; i++) {
        double sum = 0;
        for (int t = 0; t < w->steps; t++)
            for (int row = 0; row < w->rows; row++) {
                const float *k = kept_at(w, t, row, unit);
                double d = (double)k[recurrent && w->r.cell == GRU && g == 2 ? 5 : g];
                const float *x = recurrent ? (t ? row_of(w, w->y, t - 1, row, width) : NULL)
                                           : row_of(w, w->x, t, row, width);
                sum += i < 0 ? d : x ? d * (double)x[i] : 0;
            }
        if (i < 0)
            bias = sum;
        else
            to[i] = (float)((double)to[i] + sum);
    }
    if (recurrent && w->r.cell == LSTM)
        return;
    float *b = w->dweights + bias_at(&w->r, part) + (size_t)unit;
    *b = (float)((double)*b + bias);
}
static void weights_back(void *data)
{
    const struct work *w = data;
    for (int g = 0; g < gates_of(&w->r); g++)
        for (int unit = 0; unit < w->r.units; unit++) {
            part_back(w, g, 0, unit);
            part_back(w, g, 1, unit);
        }
}

static int begin(void *handle, const char *what, const struct work *filled, void (*call)(void *))
{
    static int calls;
    if (FAIL_AT && ++calls == FAIL_AT)
        return FAILED;
#ifdef TELLS
    fprintf(stderr, "%s %d %d %d %d %d %d\n", what, filled->r.cell, filled->rows, filled->steps,
            filled->r.in, filled->r.units, filled->r.math);
#endif
    (void)what;
    struct work *w = malloc(sizeof *w);
    memcpy(w, filled, sizeof *w);
    return cudaLaunchHostFunc(((struct handle *)handle)->stream, call, w) ? FAILED : 0;
}

/* Whether the descriptors and sizes of a call belong together. */
static int fits(const struct rnn *r, const struct data *x, const struct data *y,
                const struct tensor *h, size_t weight_bytes, size_t work, const void *room,
                size_t reserve, const void *kept)
{
    size_t each = (size_t)x->rows * (size_t)r->units;
    return x->width == r->in && y->width == r->units && y->rows == x->rows &&
           y->steps == x->steps && h->dims[1] == x->rows && h->dims[2] == r->units &&
           weight_bytes == 4 * bias_at(r, r->biases * gates_of(r)) && room && kept &&
           work >= 4 * (size_t)(2 * MOST_GATES + 4) * each &&
           reserve >= 4 * KEPT * each * (size_t)x->steps && (uintptr_t)kept % 256 == 0;
}
static struct work work_of(void *r, const void *x, const int32_t *lengths)
{
    const struct data *d = x;
    return (struct work){.r = *(struct rnn *)r, .steps = d->steps, .rows = d->rows,
                         .lengths = lengths};
}

int cudnnRNNForward(void *handle, void *r, int mode, const int32_t *lengths, void *of_x,
                    const void *x, void *of_y, void *y, void *of_h, const void *hx, void *hy,
                    void *of_c, const void *cx, void *cy, size_t weight_bytes, const void *weights,
                    size_t work, void *room, size_t reserve, void *kept)
{
    struct work w = work_of(r, of_x, lengths);
    if (mode != 1 || hx || hy || cx || cy || !of_c ||
        !fits(r, of_x, of_y, of_h, weight_bytes, work, room, reserve, kept))
        return BAD;
    w.x = x;
    w.to_y = y;
    w.weights = weights;
    w.kept = kept;
    return begin(handle, "forward", &w, forward);
}
int cudnnRNNBackwardData_v8(void *handle, void *r, const int32_t *lengths, void *of_y,
                            const void *y, const void *dy, void *of_x, void *dx, void *of_h,
                            const void *hx, const void *dhy, void *dhx, void *of_c, const void *cx,
                            const void *dcy, void *dcx, size_t weight_bytes, const void *weights,
                            size_t work, void *room, size_t reserve, void *kept)
{
    struct work w = work_of(r, of_x, lengths);
    if (hx || dhy || dhx || cx || dcy || dcx || !of_c || !dx ||
        !fits(r, of_x, of_y, of_h, weight_bytes, work, room, reserve, kept))
        return BAD;
    w.y = y;
    w.dy = dy;
    w.dx = dx;
    w.weights = weights;
    w.kept = kept;
    return begin(handle, "backward", &w, backward);
}
int cudnnRNNBackwardWeights_v8(void *handle, void *r, int add, const int32_t *lengths, void *of_x,
                               const void *x, void *of_h, const void *hx, void *of_y,
                               const void *y, size_t weight_bytes, void *dweights, size_t work,
                               void *room, size_t reserve, void *kept)
{
    struct work w = work_of(r, of_x, lengths);
    if (add || hx || !fits(r, of_x, of_y, of_h, weight_bytes, work, room, reserve, kept))
        return BAD;
    w.x = x;
    w.y = y;
    w.dweights = dweights;
    w.kept = kept;
    return begin(handle, "weights", &w, weights_back);
}
