/* ops_attend.h - the arguments of the operations of attention: positions, attention itself, and
 * pooling by weights. Part of ops.h. Lengths and padding: ops_series.h. */
#ifndef DNN_BACKEND_OPS_ATTEND_H
#define DNN_BACKEND_OPS_ATTEND_H

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
