/* card.h - what a GPU should give: the one table of cards. `auto` reckons with it before a card was
 * tried, gpucheck holds what it measures against it. The figures are makers' public ones less what
 * no loop reaches; dnn bench asks this table for nothing: its limits are measured. */
#ifndef DNN_BACKEND_CARD_H
#define DNN_BACKEND_CARD_H

#include <stdbool.h>

/* Operations and bytes a second; 0: the card has no such thing, or nobody can tell. */
struct card_figures {
    const char *name;         /* the row's, "unknown" where none fits */
    bool known;               /* by its name, not by its architecture alone */
    double start_s;           /* from nothing to the first kernel */
    double launch_s;          /* of one node of a graph behind another */
    double copy;              /* host to device, pinned */
    double memory;            /* read and written by a copy on the card */
    double fp32, tf32, half; /* CUDA cores; tensor cores; half: bf16, else fp16 */
};
/* By a device's name, as the driver tells it ("NVIDIA H200", "NVIDIA A100-SXM4-40GB MIG 1g.5gb"),
 * else by the code of its architecture ("sm_90"). Both may be "": a card of these years that nobody
 * has looked at yet. Of an emulated one ("emulated") only start and launch are figures. */
void card_find(const char *name, const char *architecture, struct card_figures *f);
/* Of this precision ("fp32", "tf32", "bf16", "fp16"); what the card lacks is served by fp32. */
double card_rate(const struct card_figures *f, const char *precision);

#endif
