/* card.h - the table of GPU models and their expected speed. `auto` estimates with it, gpucheck
 * compares its measurements with it. The figures are the makers' published ones, reduced to what a
 * real loop reaches. dnn bench does not use it: its limits are measured. */
#ifndef DNN_BACKEND_CARD_H
#define DNN_BACKEND_CARD_H

#include <stdbool.h>

/* Operations and bytes a second; 0: the card lacks it, or it is not known. */
struct card_figures {
    const char *name;         /* of the row; "unknown": no row has this name */
    bool known;               /* found by its name, not only by its architecture */
    double start_s;           /* until the first kernel runs */
    double launch_s;          /* of one node of a graph */
    double copy;              /* host to device, pinned */
    double memory;            /* read and written by a copy on the card */
    double fp32, tf32, half; /* CUDA cores; tensor cores; half: bf16, else fp16 */
};
/* Finds a card by the driver's name for it ("NVIDIA H200", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"),
 * else by its architecture ("sm_90"). Both "": a card that is not known yet. An emulated card
 * ("emulated") has figures for start and launch only. */
void card_find(const char *name, const char *architecture, struct card_figures *f);
/* Operations a second in this precision ("fp32", "tf32", "bf16", "fp16"); in fp32 if the card lacks
 * it. */
double card_rate(const struct card_figures *f, const char *precision);
/* True: the system has a GPU driver's device file, and CUDA_VISIBLE_DEVICES does not hide all
 * cards. Opens nothing, so it can be true although no card works. */
bool card_present(void);

#endif
