/* ops_series.h - the arguments of the operations of sequences. Part of ops.h. dims.steps is the
 * number of steps of the longest sequence, or of the longest of a batch; a shorter one has `length`
 * steps, the others are padding. Values in padding reach no answer and no gradient. */
#ifndef DNN_BACKEND_OPS_SERIES_H
#define DNN_BACKEND_OPS_SERIES_H

/* y[r][t][c] = x[r][c * x_steps + t]. A sequence ends after its last step with a number that was
 * not missing. */
struct op_series {
    DIMS(channels);
    struct act y;              /* [rows * steps][channels] */
    int32_t *length;           /* [rows]: 0 to steps */
    struct act x;              /* [rows][ldx]: numbers, then for each of them 1 if it was missing */
    uint32_t ldx, x_steps;     /* x_steps: of x, at least steps; further ones are padding */
};

/* The tokens of a text: ids in the columns [at, at + steps) of ids, 0 after the last. */
struct op_tokens {
    DIMS(width);
    int32_t *tokens;           /* [rows * steps] */
    int32_t *length;           /* [rows]: 0 to steps */
    const int32_t *ids;        /* [rows][ids_ld] */
    uint32_t ids_ld, at;
};

/* A recurrent layer in one direction. `gates` holds the inputs' part of the sums; each step adds h'
 * u, with h' the output of the step before, 0 at first (see recur_state).
 *
 * LSTM (Hochreiter and Schmidhuber, 1997; Gers et al., 2000), gates i, f, g, o, all of them columns
 * of u: c = sigmoid(f) c' + sigmoid(i) tanh(g), h = sigmoid(o) tanh(c). GRU (Cho et al., 2014; with
 * the product before the reset, as most libraries), gates n, r, z, q, where r, z, q are columns of
 * u, and the inputs add to n, r, z: n = tanh(n + sigmoid(r) (q + b)), h = n + sigmoid(z) (h' -
 * n). */
enum recur_kind { RECUR_LSTM, RECUR_GRU };
enum { RECUR_GATES = 4 };
/* Gates that are columns of u, the last ones. */
#define RECUR_COLUMNS(kind) ((kind) == RECUR_GRU ? 3u : 4u)
/* The inputs of a recurrent layer, for a machine that computes the whole layer at once: a machine
 * whose need of recur, asked with kind, shape and `in`, keeps bytes. in 0: gates hold the inputs'
 * sums. Else they do not, and the machine leaves there what its recur_back needs. */
struct recur_inputs {
    struct act x;              /* [rows * steps][ldx] */
    struct act shadow;         /* of w */
    const real *w, *b;         /* [in][columns], [columns] */
    void *kept;                /* of the size of its need */
    uint32_t in, ldx;
};
/* State that passes from batch to batch, if windows of one sequence follow each other in a row: h
 * and c go from the end of a window to the begin of the next, gradients do not. For forward layers
 * only. */
struct recur_state {
    const real *from;          /* [rows][ld]: h, then c (LSTM); NULL: each window begins at 0 */
    real *to;                  /* [rows][ld]: the state after a row's last step; may be `from` */
    const int32_t *begins;     /* [rows]: 1: the window is the first of its sequence: from 0 */
    uint32_t ld, pad;
};
struct op_recur {
    DIMS(units);
    /* [rows * steps][ldy]: h in columns [at, at + units); 0 in padding */
    struct act y;
    /* [rows * steps][4 units]: sums, which become gates. GRU's q is written alone. */
    real *gates;
    real *before;              /* [rows * steps][units]: h' */
    real *cells;               /* [rows * steps][units]: c; NULL for GRU */
    const real *u;             /* [units][RECUR_COLUMNS(kind) units] */
    const real *b;             /* GRU: [3 units], added to r, z, q; else NULL */
    const int32_t *length;     /* [rows] */
    uint32_t ldy, at, kind;
    uint32_t reverse;          /* 1: from the last step to the first */
    uint32_t exact, pad;       /* exact: as of dense */
    struct recur_inputs from;
    struct recur_state state;
};
/* The gradients of a whole layer: of its inputs (at; NULL: not wanted), w, b, u and GRU's b. */
struct recur_gradients {
    struct act dx;             /* [rows * steps][from.ldx] */
    real *dw, *db, *du, *du_b;
    uint32_t add_dx, more;
    const struct step *now;
};
struct op_recur_back {
    DIMS(units);
    real *gates;               /* as recur left them; become the gradients of the sums */
    real *carry;               /* [rows][2 units]: room */
    struct act dy;             /* as y of recur */
    const real *before, *cells, *u;
    const int32_t *length;
    uint32_t lddy, at, kind, reverse;
    /* from.in above 0: as recur had them, and what it wrote */
    struct recur_inputs from;
    struct recur_gradients to;
    struct act y;
    const real *b;
    struct recur_state state;  /* as of recur; `to` is not used */
};

/* Over the steps of a sequence; 0 of one without steps. Of equal ones, the first is the largest. */
enum pool_kind { POOL_MEAN, POOL_MAX, POOL_LAST, POOL_FIRST, POOL_KINDS };
struct op_pool {
    DIMS(width);
    struct act y;              /* [rows][ldy] */
    struct act x;              /* [rows * steps][ldx] */
    const int32_t *length;     /* [rows] */
    uint32_t ldx, ldy, kind, pad;
};
struct op_pool_back {
    DIMS(width);
    struct act dx;             /* [rows * steps][lddx] */
    struct act dy, x;          /* x: for the largest */
    const int32_t *length;
    uint32_t ldx, lddx, lddy, kind, add_dx, pad;
};

/* --- convolution over the steps, and random convolution features --- */

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

/* --- attention: positions, attention itself, pooling by weights --- */

/* y[r][t] (= or +=) x[r][t + shift] + p[t]: x is 0 outside its steps, p from step `count` on. */
struct op_position {
    DIMS(width);
    struct act y;              /* [rows * steps][width] */
    struct act x;              /* [rows * x_steps][width] */
    const real *p;             /* [count][width]; NULL: none */
    uint32_t x_steps, count, add;
    int32_t shift;
};
/* dp[t] (= or +=, with more) the sum of dy[r][t] over the rows, 0 past the steps. */
struct op_position_back {
    DIMS(width);
    real *dp;                  /* [count][width], in one piece */
    struct act dy;             /* [rows * steps][width] */
    uint32_t count, more;
};

/* to[r] = (from[r] + more) / divide, rounded up */
struct op_lengths {
    DIMS(width);
    int32_t *to;               /* [rows] */
    const int32_t *from;
    uint32_t more, divide;
};

/* Rotary positions (Su et al., 2021), in place: with turn[t][j] = cos, sin of pair j, the numbers
 * a at j and b at half + j of each part of 2 half columns become a cos - b sin and b cos + a sin;
 * back: the other way round. */
struct op_rotary {
    DIMS(width);               /* columns from 0 on that are turned */
    struct act x;              /* [rows * steps][ld] */
    const real *turn;          /* [steps][half][2] */
    uint32_t ld, half, back, pad;
};

/* Self attention of several heads (Vaswani et al., 2017), each of width / heads columns:
 * y[t] = sum over u of p[t][u] v[u], with p[t] the softmax over u of q[t] k[u] / root(columns of a
 * head), u < length; causal: u <= t. After a sequence's end y is 0. The way forward may leave p in
 * `kept`, in the machine's own layout; the way back reads it there. */
struct op_attention {
    DIMS(width);
    void *kept;                /* of the size of its need, or NULL: p is computed again */
    struct act y;              /* [rows * steps][width] */
    struct act x;              /* [rows * steps][3 width]: q, k, v */
    const int32_t *length;     /* [rows] */
    uint32_t heads, causal;
    uint32_t exact, pad;       /* exact: as of dense */
};
struct op_attention_back {
    DIMS(width);
    void *kept;                /* of op_attention */
    struct act dx;             /* [rows * steps][3 width], overwritten */
    real *room;                /* [rows * steps][2 heads] */
    struct act dy, x;
    const int32_t *length;
    uint32_t heads, causal;
};

/* y = the sum over steps of share[t] x[t], with share the softmax of score over the steps of the
 * sequence; 0 of one without steps. */
struct op_weigh {
    DIMS(width);
    struct act y;              /* [rows][width] */
    real *share;               /* [rows * steps], 0 in padding */
    struct act x, score;       /* [rows * steps][width], [rows * steps] */
    const int32_t *length;
};
struct op_weigh_back {
    DIMS(width);
    struct act dx;             /* [rows * steps][width]; none: not wanted */
    struct act dscore;         /* [rows * steps] */
    struct act dy, x;
    const real *share;
    const int32_t *length;
    uint32_t add_dx, pad;
};

#endif
