/* pass.h - one way through the layers, forward or backward: the arenas in machine memory, and the
 * batch. */
#ifndef DNN_MODEL_PASS_H
#define DNN_MODEL_PASS_H

#include "backend/backend.h"
#include "model/planner.h"

struct pass {
    struct machine *m;
    real *params, *grads, *buffers, *reals;
    real *moved; /* training: running statistics that become the buffers when the step is good */
    void *shadow, *acts;
    const struct step *now;
    struct schedule schedule;
    const struct source *from; /* machine memory */
    /* of the batch; the width and the steps are the layer's own */
    struct dims dims;
    uint32_t micro; /* which micro-batch of the step this is, from 0 */
    uint32_t whole; /* rows of the step: the last micro-batch may have fewer; 0: no end */
    uint32_t most;  /* steps of its longest sequence or more, at least 2; 0: as planned */
    bool training, more; /* more: a further micro-batch of the same step adds to the gradients */
    bool exact;          /* row-independent products */
    /* the batch */
    int32_t *ids;
    uint32_t ids_ld;
    real *target, *weight;
    double *part_loss, *part_weight; /* training: the sums of each shard */
    const int32_t *length; /* [rows]: steps of each sequence */
    /* State that passes from window to window, of all layers; in answers `from` and `to` are the
     * same. from NULL: none */
    struct recur_state state;
    const void *tables; /* machine memory: the bytes of plan_table */
    /* Called before each layer, with its input, when layers are fitted on the way (netfit.c);
     * NULL: they are not. fitting: its own. */
    void (*before)(const struct layer *l, struct pass *p, struct act x);
    struct fitting *fitting;
};
/* Places in an arena, computed as integers: a network that is only counted has no arena. */
static inline void *bytes_at(const void *arena, uint64_t at)
{
    return (void *)((uintptr_t)arena + (uintptr_t)at);
}
static inline real *reals_at(real *arena, uint64_t at)
{
    return bytes_at(arena, at * sizeof(real));
}
static inline struct act pass_act(const struct pass *p, struct act_place at)
{
    return act_at(p->m, p->acts, at);
}
/* The begin of part j of a row, in parts `width` wide; none stays none. */
static inline struct act act_part(struct machine *m, struct act a, uint32_t j, uint32_t width)
{
    size_t bytes = a.form == FORM_REAL ? machine_act_bytes(m) : sizeof(uint16_t);
    if (a.at)
        a.at = bytes_at(a.at, (uint64_t)j * width * bytes);
    return a;
}
static inline const void *pass_table(const struct pass *p, uint64_t at)
{
    return bytes_at(p->tables, at);
}
/* The shape of an operation of the batch that takes `width` numbers a step. */
static inline struct dims pass_dims(const struct pass *p, uint32_t width)
{
    struct dims d = p->dims;
    d.width = width;
    return d;
}
/* The padding among the rows of such an operation. */
static inline struct padding pass_padding(const struct pass *p)
{
    struct padding some = {p->length, p->dims.steps, 0}, none = {NULL, 0, 0};
    return p->length && p->dims.steps > 1 ? some : none;
}
/* The steps at a place in this batch. */
uint32_t pass_steps(const struct pass *p, const struct span *at);
/* Lengths that stand in the reals. */
static inline int32_t *lengths_at(const struct pass *p, uint64_t at)
{
    return (int32_t *)(void *)reals_at(p->reals, at);
}
/* Writes the lengths after a layer that changes the number of steps, (length + more) / divide,
 * rounded up, to `to` of the reals. */
void pass_lengths(struct pass *p, uint64_t to, uint32_t more, uint32_t divide);
/* The machine's private copy of the weights at this parameter offset; NULL: it keeps none. */
static inline struct act pass_shadow(const struct pass *p, uint64_t at)
{
    return p->shadow ? machine_shadow_of(p->m, p->shadow, at) : no_act();
}

#endif
