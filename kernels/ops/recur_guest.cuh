/* recur_guest.cuh - recurrent layers by cuDNN (backend/guests.h) in the place of our kernels. The
 * kernels of recur ask; the card answers (cuda_recur.cu). How its layout differs from ours:
 *
 * Cells. Both libraries have the same LSTM, and the GRU with the product before the reset:
 *     r = sigmoid(x Wr + br + h' Ur + cr)       ours: gates n, r, z, q
 *     z = sigmoid(x Wz + bz + h' Uz + cz)       cuDNN: r, i (our z), h~ (our n)
 *     n = tanh(x Wn + bn + r (h' Uq + cq))
 *     h = (1 - z) n + z h'
 *
 * Parts of the weights. cuDNN numbers its matrices: LSTM i f g o of x: 0 to 3, of h': 4 to 7; GRU r
 * z n of x: 0 to 2, r z q of h': 3 to 5. Our columns are i f g o; n r z of x; r z q of h'. So
 *     LSTM  part = gate,               of h': 4 + gate
 *     GRU   part = (gate + 2) mod 3,   of h': 3 + gate
 * Our matrix is [inputs][gate][unit], a part of cuDNN's [unit][inputs], at an address that it
 * gives. Biases: LSTM has the inputs' alone, GRU both.
 *
 * Steps. Ours are [row][step][number], and cuDNN gets [step][row][number]. It wants to know the
 * lengths on the host, and a recorded step has them on the device: so all rows have all steps, and
 * we mask. Forward, a step does not depend on later ones: outputs in padding become 0. Backward, dy
 * is 0 in padding, and so is every gradient there. A reversed layer gets each row's steps from the
 * last to the first, then padding. */
#ifndef DNN_KERNELS_RECUR_GUEST_CUH
#define DNN_KERNELS_RECUR_GUEST_CUH

#include "kernels.h"

/* True: the whole layer was issued; a->from.in is above 0. */
bool device_recur(struct machine *m, const struct op_recur *a, enum product how);
bool device_recur_back(struct machine *m, const struct op_recur_back *a, enum product how);

enum { RECUR_PARTS = 8 };
static inline uint32_t recur_parts(uint32_t kind)
{
    return 2 * RECUR_COLUMNS(kind);
}
/* The offsets of the parts, in floats from the beginning of cuDNN's weights. */
struct recur_places { uint64_t matrix[RECUR_PARTS], bias[RECUR_PARTS]; };

/* The weights of a direction, or their gradients: w, b, u and GRU's b of u here, and there. */
struct recur_weights {
    float *w, *b, *u, *u_b;
    float *theirs;
    float *cleared;            /* [numbers]: becomes 0; NULL: none */
    int32_t *lengths;          /* [rows]: becomes steps */
    struct recur_places at;
    uint64_t numbers;          /* of theirs */
    uint64_t shard_stride;
    uint32_t kind, in, units, rows, steps, shards, more, pad;
};
/* Parameters to theirs; gradients from theirs: the sum to shard 0, to others 0. */
void recur_pack(struct machine *m, const struct recur_weights *a);
void recur_unpack(struct machine *m, const struct recur_weights *a);

/* Numbers of all steps, in our layout and cuDNN's. */
struct recur_steps {
    struct act ours;           /* [rows * steps][ld], from column `at` */
    float *theirs;             /* [steps][rows][width] */
    const int32_t *length;
    uint32_t rows, steps, width, ld, at, reverse, add, pad;
};
void recur_hand_over(struct machine *m, const struct recur_steps *a);
void recur_take_back(struct machine *m, const struct recur_steps *a);

#endif
