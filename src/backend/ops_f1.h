/* ops_f1.h - the arguments of loss_f1. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_F1_H
#define DNN_BACKEND_OPS_F1_H

enum { F1_CLASSES = 64 };
/* The mean over some classes of 1 - F, with F = (2 sum w p t + 1) / (sum w p + sum w t + 1) over
 * all rows, where p is the softmax of the logits, t is 1 in rows of the class and w their weights.
 * The 1 makes F 1 for a class that no row has and no row is answered. The loss is that mean times
 * sum w, which the optimiser divides by. part_loss, part_weight: as in op_loss_class, all in the
 * first shard. */
struct op_loss_f1 {
    DIMS(classes);             /* at most F1_CLASSES */
    struct act dlogits;        /* given always: it holds p meanwhile */
    double *part_loss, *part_weight;
    struct act logits;
    const real *target, *weight;
    uint64_t chosen;           /* bit c: class c counts; none above the classes */
    uint32_t ld, ldd, more, pad;
};

#endif
