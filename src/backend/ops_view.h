/* ops_view.h - the arguments of the operations of views: k networks share weights, and each sees
 * the rows scaled by weights of its own (TabM: Gorishniy et al., 2025, after Wen et al.,
 * "BatchEnsemble", 2020). A row of all views is [views][width], without gaps. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_VIEW_H
#define DNN_BACKEND_OPS_VIEW_H

/* y[r][j] = x[r][j] * w[j] + b[j], number by number. */
struct op_view_scale {
    DIMS(width);
    struct act y;              /* [rows][views][width] */
    struct act x;              /* the same; shared: [rows][width], one row for all views */
    const real *w, *b;         /* [views][width]; b NULL: none */
    uint32_t views, shared;
};
struct op_view_scale_back {
    DIMS(width);
    struct act dx;             /* the shape of x, or none; shared: the sum over the views */
    real *dw, *db;             /* not sharded: written whole unless more; db NULL: none */
    struct act dy, x;
    const real *w;
    uint32_t views, shared, add_dx, more;
};
/* y = the log of the mean over the views of softmax(x[r][j]); of values the mean. */
struct op_view_mean {
    DIMS(outputs);
    struct act y;              /* [rows][outputs] */
    struct act x;              /* [rows][views][outputs] */
    uint32_t views, values;
};

#endif
