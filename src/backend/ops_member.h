/* ops_member.h - the arguments of the operations of members: k networks that share their weights
 * and see a batch in views of their own (TabM: Gorishniy et al., 2025, after Wen et al.,
 * "BatchEnsemble", 2020). A row of k members is [members][width], without gaps. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_MEMBER_H
#define DNN_BACKEND_OPS_MEMBER_H

/* y[r][j] = x[r][j] * w[j] + b[j], number by number. */
struct op_member_scale {
    DIMS(width);
    struct act y;              /* [rows][members][width] */
    struct act x;              /* the same; shared: [rows][width], one row for all members */
    const real *w, *b;         /* [members][width]; b NULL: none */
    uint32_t members, shared;
};
struct op_member_scale_back {
    DIMS(width);
    struct act dx;             /* the shape of x, or none; shared: the sum over the members */
    real *dw, *db;             /* not sharded: written whole unless more; db NULL: none */
    struct act dy, x;
    const real *w;
    uint32_t members, shared, add_dx, more;
};
/* y = the log of the mean over the members of softmax(x[r][j]); of values the mean. */
struct op_member_mean {
    DIMS(outputs);
    struct act y;              /* [rows][outputs] */
    struct act x;              /* [rows][members][outputs] */
    uint32_t members, values;
};

#endif
