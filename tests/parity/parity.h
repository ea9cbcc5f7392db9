/* parity.h - what the parts of the parity program share: one list of results, written as JSON. */
#ifndef DNN_TESTS_PARITY_H
#define DNN_TESTS_PARITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "backend/machine.h"

struct parity {
    FILE *out;
    const char *only;  /* an operation's, a network's or a precision's name; NULL: all */
    bool least;        /* of products in each precision the smallest that have each tile */
    uint64_t most;     /* cases of more floating-point operations are left out */
    unsigned passed, failed, left_out;
    unsigned lines;    /* of the array being written */
};

void parity_array(struct parity *p, const char *name); /* begins it; ended by parity_array_end */
void parity_array_end(struct parity *p);
/* One result: passed when `bad` is "", which else says what was seen. */
void parity_result(struct parity *p, const char *name, double worst, double gate, const char *bad);

/* Every case of every operation on the device (parity_cases.c). False: the device has failed. */
bool parity_cases(struct parity *p, struct machine *device, struct machine *cpu, struct err *e);
/* Gradients and trainings of small networks (parity_training.c); a machine each. */
void parity_trainings(struct parity *p, const char *backend);
/* Trainings on two cards at the same time; breaks: the test has planned a fault of the second
 * (parity_cards.c). */
void parity_cards(struct parity *p, bool breaks);
/* Large products in each precision that the device has (parity_precision.c); a machine each. */
void parity_precisions(struct parity *p, const char *backend);
/* Rows, shards, records and tables so many elements apart; 0: as many as the device has room for.
 * False with *e: the device has failed, or does not open (parity_large.c). */
bool parity_large(struct parity *p, uint64_t apart, struct err *e);
/* That many steps, so many times, of one of the benchmark's networks, "small", "preset" or "large"
 * by p->only (parity_steps.c). False with *e: the device has failed. */
bool parity_steps(const struct parity *p, const char *backend, uint32_t steps, uint32_t epochs,
                  struct err *e);

#endif
