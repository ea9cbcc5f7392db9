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

#endif
