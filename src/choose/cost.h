/* cost.h - estimates the seconds of a job before it begins, from four parts: start-up, transfer, a
 * constant cost of each step, throughput. `auto` compares the estimates of CPU and GPU. With
 * "deterministic": true they are a function of tables and shapes. With false a probe replaces a
 * constant that is wrong by more than a factor of two; a smaller difference may be a busy moment.
 */
#ifndef DNN_CHOOSE_COST_H
#define DNN_CHOOSE_COST_H

#include "backend/backend.h"
#include "backend/card.h"

/* The size of a job. */
struct select_work {
    double rows;         /* of all epochs, or of the input to answer */
    double flops;        /* per row, of a step or an answer */
    double steps;        /* batches of all epochs */
    double bytes;        /* to copy to a GPU */
};
struct cost_rates {
    double start_s;        /* until the first kernel */
    double product, share; /* operations a second of a large product; share of a network */
    double node_s, nodes;  /* constant cost of one operation; operations of a step */
    double row_s;          /* constant cost of a row */
    double bytes;          /* copied to the machine per second; 0: no copy is needed */
    double threads, grain; /* of a CPU: threads; least rows of a batch per thread */
};
#define COST_SMALL 1.0  /* seconds: for less than this no GPU is opened */
#define COST_THREADS 8u /* in a deterministic estimate, of the CPU of every machine */

struct cost_rates cost_of_cpu(const char *core, unsigned threads);
struct cost_rates cost_of_card(const struct card_figures *f, const char *precision);
double cost_seconds(const struct cost_rates *r, const struct select_work *work);
bool cost_prefers_gpu(double cpu_s, double gpu_s);

/* Result of a probe; 0: not measured. */
struct cost_probe {
    double start_s, product, node_s, bytes;
};
/* Times a copy, a small operation and products. It takes some milliseconds, 0.2 s on a slow
 * machine. False: the machine failed, e says why. */
bool cost_probe(struct machine *m, bool device, struct cost_probe *p, struct err *e);
/* Replaces each constant that is more than twice, or less than half, of the probe's value. */
void cost_refine(struct cost_rates *r, const struct cost_probe *p);

#endif
