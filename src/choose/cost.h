/* cost.h - how long a job will take, reckoned before it begins: start-up, transfer, what each step
 * costs whatever it does, and throughput. `auto` compares two of these. Where the constants of a
 * processor or a card are far from what a probe in this process finds, the probe counts; near
 * them, they stand, so that a busy moment does not change a decision. */
#ifndef DNN_CHOOSE_COST_H
#define DNN_CHOOSE_COST_H

#include "backend/backend.h"
#include "backend/card.h"

/* How much there is to do, as far as it is known. */
struct select_work {
    double rows;         /* of all epochs; answers: of the input */
    double flops;        /* a row, of a step or an answer */
    double steps;        /* batches, of all epochs */
    double bytes;        /* that a GPU must be given */
};
struct cost_rates {
    double start_s;        /* until the first kernel */
    double product, share; /* operations a second of a large product; a whole network's share */
    double node_s, nodes;  /* of one operation, whatever it does; how many a step has */
    double row_s;          /* a row, whatever the network */
    double bytes;          /* a second to the machine; 0: nothing has to be moved */
    double threads, grain; /* of a CPU: how many, and rows of a batch that one takes at least */
};
#define COST_SMALL 1.0 /* seconds: a CPU that needs less is not worth a look at the GPU */

struct cost_rates cost_of_cpu(const char *core, unsigned threads);
struct cost_rates cost_of_card(const struct card_figures *f, const char *precision);
double cost_seconds(const struct cost_rates *r, const struct select_work *work);
bool cost_prefers_gpu(double cpu_s, double gpu_s);

/* What one probe found; 0: not measured. */
struct cost_probe {
    double start_s, product, node_s, bytes;
};
/* A copy, and the first replays of a small operation and of products: some milliseconds, and 0.2 s
 * on a machine that is slow. False when the machine failed. */
bool cost_probe(struct machine *m, bool device, struct cost_probe *p, struct err *e);
/* Each constant stands unless the probe found less than half or more than twice of it. */
void cost_refine(struct cost_rates *r, const struct cost_probe *p);

#endif
