/* cuda_guests.cuh - libraries of NVIDIA in the place of kernels: what they share (cuda_guests.cu),
 * then each. */
#ifndef DNN_KERNELS_CUDA_GUESTS_CUH
#define DNN_KERNELS_CUDA_GUESTS_CUH

#include "card/card.cuh"

extern "C" {
#include "backend/guests.h"
}

struct card_guest {
    enum guest_id id;
    bool loaded, tried, on, failed;
    bool all;               /* the config or a test asks for it, at all sizes */
    struct guest library;
    void *handle;           /* NULL: not opened, or in vain */
    bool (*find)(struct card_guest *g);                 /* finds the library and its calls */
    void (*open)(struct card *m, struct card_guest *g); /* opens it on the card: the handle */
};
/* A library of this card, which is opened now if it is asked for. */
void cuda_guest_init(struct card *m, struct card_guest *g, enum guest_id id);
/* True: the library is there, with its calls. It stays loaded until the process ends, as it
 * expects. */
bool cuda_guest_load(struct card_guest *g);
/* It serves from now on if it is wanted, and can; opened once. */
void cuda_guest_want(struct card *m, struct card_guest *g, bool wanted);
/* It serves if the plan names it, with this version; another one gives other bits. */
void cuda_guest_obey(struct card *m, struct card_guest *g, const struct plan *plan);
/* Tells that it serves, or why it cannot: as a warning, or for the curious. */
void cuda_guest_opened(struct card_guest *g);
void cuda_guest_cannot(const struct card_guest *g, bool warns, const char *why);
/* A size from which on a library was measured faster on a card, and both rates, in operations a
 * second. `of`: the kind of work, an enumeration of the library's file. */
struct guest_row { int capability; uint32_t of; double least, ours, theirs; };
enum { GUEST_EMULATED = 0 }; /* in place of the capability */
/* The row of the largest size that is not above `size`; NULL: our kernels serve. */
const struct guest_row *cuda_guest_row(const struct card *m, const struct guest_row *rows,
                                       size_t count, uint32_t of, double size);
/* Seconds that the library saves in this number of operations; row NULL: 0. */
double cuda_guest_saves(const struct guest_row *row, double operations);
/* True: the library may serve unasked, by its rows. In a test build DNN_GUESTS=rule means yes, any
 * other word no; on an emulated card only that word does. */
bool cuda_guest_may(const struct card *m);
void cuda_guest_add(const struct card_guest *g, struct plan *plan); /* if it is on */
/* Switches the library off after a failure, with a warning; or the card itself has failed. */
void cuda_guest_fail(struct card *m, struct card_guest *g, const char *call, int status);

/* --- cuBLASLt in the place of product kernels: cuda_guest.cu --- */

void cuda_guest_begin(struct card *m);
void cuda_guest_end(struct card *m);
void cuda_guest_plan(const struct card *m, struct plan *plan);
void cuda_guest_set_plan(struct card *m, const struct plan *plan);
/* Opens it for this training if that pays (machine_work). */
void cuda_guest_work(struct card *m, const struct machine_work *work);
/* Scratch bytes that the library needs for this operation. */
size_t cuda_guest_scratch(const struct card *m, enum op_id op);

/* --- cuDNN in the place of recurrent kernels: cuda_recur.cu --- */

void cuda_recur_begin(struct card *m);
void cuda_recur_end(struct card *m);
void cuda_recur_plan(const struct card *m, struct plan *plan); /* adds itself */
void cuda_recur_set_plan(struct card *m, const struct plan *plan);
/* Adds the workspace of cuDNN for a whole layer (struct recur_inputs); kept stays 0: not
 * supported. */
void cuda_recur_need(const struct card *m, enum op_id op, const void *arguments, struct need *n);

#endif
