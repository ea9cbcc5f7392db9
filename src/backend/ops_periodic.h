/* ops_periodic.h - the arguments of the operations of periodic numbers. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_PERIODIC_H
#define DNN_BACKEND_OPS_PERIODIC_H

/* The periodic embedding of RealMLP (PBLD; Holzmueller et al., "Better by default", 2024) of a
 * number x: h[k] = cos(2 pi frequency[k] x + phase[k]), and for each of its outputs j
 * bias[j] + sum over k of h[k] weight[k][j]. */
enum { PERIODIC_WAVES = 16, PERIODIC_OUTPUTS = 3 };
struct periodic_column {
    uint32_t number, at;       /* columns of x: the number, the first output */
};
/* Parameters or gradients, number by number. */
struct periodic {
    real *frequency, *phase;   /* [columns][PERIODIC_WAVES] */
    real *weight;              /* [columns][PERIODIC_WAVES][PERIODIC_OUTPUTS] */
    real *bias;                /* [columns][PERIODIC_OUTPUTS] */
};
struct op_periodic {
    DIMS(columns);
    struct act x;              /* [rows][ld] */
    struct periodic p;         /* read */
    const struct periodic_column *column;
    uint32_t ld, pad;
};
struct op_periodic_back {
    DIMS(columns);
    struct periodic d;         /* not sharded: written whole unless more */
    struct act dx, x;          /* [rows][ld] */
    struct periodic p;
    const struct periodic_column *column;
    uint32_t ld, more;
};

#endif
