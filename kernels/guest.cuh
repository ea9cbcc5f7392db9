/* guest.cuh - where a library that is a guest (backend/guests.h) may serve in the place of kernels:
 * asked by those who would launch them. The door is shut until a card lets guests in; from then on
 * each card says for itself. Without one there is none (guest.cu). Guests serve in training alone:
 * who issues an exact operation does not ask. */
#ifndef DNN_KERNELS_GUEST_CUH
#define DNN_KERNELS_GUEST_CUH

#include "form.cuh"

extern "C" {
#include "backend/guests.h"
}

struct guest_door {
    /* Of any size: nothing is fused, for then it could not be theirs. */
    bool (*everything)(const struct machine *m);
    /* Whether this product would be served; sums are not. */
    bool (*takes)(struct machine *m, const struct gemm *g, enum product how);
    /* True: it is on the stream, with all that struct gemm says of it. */
    bool (*product)(struct machine *m, const struct gemm *g, enum product how);
    bool (*act)(struct machine *m, const struct op_act *a);
    bool (*act_back)(struct machine *m, const struct op_act_back *a);
};
extern const struct guest_door *guest_door; /* NULL: shut */

/* They are given two factors of one form, and what comes of it is in that form as well, or in fp32.
 */
static inline bool guest_knows(const struct gemm *g)
{
    return g->a.form == g->b.form &&
           (is_plain(g->c) || g->c.form == g->a.form);
}

static inline bool guest_takes(struct machine *m, const struct gemm *g, enum product how)
{
    return guest_door && guest_knows(g) && guest_door->takes(m, g, how);
}
static inline bool guest_product(struct machine *m, const struct gemm *g, enum product how)
{
    return guest_door && guest_knows(g) && guest_door->product(m, g, how);
}
static inline bool guest_act(struct machine *m, const struct op_act *a)
{
    return guest_door && is_plain(a->x) && is_plain(a->y) && guest_door->act(m, a);
}
static inline bool guest_act_back(struct machine *m, const struct op_act_back *a)
{
    return guest_door && is_plain(a->x) && is_plain(a->dx) && is_plain(a->dy) &&
           guest_door->act_back(m, a);
}
/* C holds A B: the rest of what g says of each element. */
void guest_finish(struct machine *m, const struct gemm *g);

/* --- when: guest_rule.cu --- */

/* A library serves what has `side` numbers and more along its shortest side, and `work` multiply-
 * adds (of a product) or numbers (of activations) and more. Of what timings choose: timed. */
struct guest_rule { uint32_t side; uint64_t work; bool timed; };
/* The rule of a library on a kind of card ("sm_90") at a precision ("bf16"); false: it does not
 * serve there. A test puts a setting in place of the table: none, always, or a
 * list LIBRARY:PRECISION:SIDE:WORK,.. */
bool guest_rule_find(enum guest_id id, const char *core, const char *precision,
                     struct guest_rule *r);
bool guest_rule_always(void);
/* In a plan: "cuBLASLt 13.1.0 from 64 and 1048576", several with "; " between. */
void guest_rule_write(enum guest_id id, unsigned version, const struct guest_rule *r, char *to,
                      size_t room);
/* False: the plan has no such library, or not of that version. */
bool guest_rule_read(const char *plan, enum guest_id id, unsigned version, struct guest_rule *r);

#endif
