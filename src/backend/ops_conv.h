/* ops_conv.h - the arguments of convolution over the steps of sequences, and of random convolution
 * features. Part of ops.h. Lengths and padding: ops_series.h. */
#ifndef DNN_BACKEND_OPS_CONV_H
#define DNN_BACKEND_OPS_CONV_H

/* y[t] = b + sum over taps k of x[t stride - before + k dilation] w[k], x 0 outside its sequence. A
 * sequence of n steps gives n / stride, rounded up; after them y is 0. */
struct convolution { uint32_t out, kernel, dilation, stride, before, steps; /* steps: of y */ };
struct op_conv {
    DIMS(in);                  /* steps: of x */
    struct act y;              /* [rows * c.steps][out] */
    struct act x;              /* [rows * steps][in] */
    const real *w, *b;         /* [kernel][in][out], [out] */
    const int32_t *length;     /* [rows]: of x */
    struct convolution c;
    uint32_t exact, pad;       /* exact: as of dense */
};
struct op_conv_back {
    DIMS(in);
    struct act dx;             /* none: not wanted */
    real *dw, *db;             /* shard 0 */
    struct act dy, x;
    const real *w;
    const int32_t *length;
    struct convolution c;
    uint32_t add_dx, more;
};

/* Random convolution features (MiniRocket, Dempster et al., 2021). A kernel has ROCKET_TAPS taps,
 * `dilation` apart, of weight -1, but 2 at the three that `three` names. Kernel k at dilation d
 * reads the sum of its channels (a channel of -1 is none), and answers at each step with zeros
 * outside, or only if all of it is inside. Feature b of a kernel is the share of answers above bias
 * b. */
enum { ROCKET_TAPS = 9, ROCKET_KERNELS = 84, ROCKET_CHANNELS = 9 };
struct rocket {
    const real *bias;          /* [dilations][kernels][each] */
    const real *channels;      /* [dilations][kernels][ROCKET_CHANNELS] */
    const uint32_t *dilation;  /* [dilations] */
    const uint8_t *three;      /* [kernels][4] */
    uint32_t dilations, each;
};
#define ROCKET_FEATURES(of) ((of)->dilations * ROCKET_KERNELS * (of)->each)
struct op_rocket {
    DIMS(width);
    struct act y;              /* [rows][features] */
    struct act x;              /* [rows * steps][width] */
    struct rocket of;
    const int32_t *length;
};
/* True: kernel k answers at all steps: every second kernel, and kernels longer than the
 * sequence. */
#define rocket_padded(k, dilation, length)                                                         \
    (((k) + (dilation)) % 2 == 0 || (length) <= (ROCKET_TAPS - 1) * (dilation))

#endif
