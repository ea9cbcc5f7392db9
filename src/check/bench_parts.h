/* bench_parts.h - shared by the files of bench. Private to bench*.c. */
#ifndef DNN_CHECK_BENCH_PARTS_H
#define DNN_CHECK_BENCH_PARTS_H

#include "check/bench.h"
#include "model/file/modelfile.h"
#include "model/network/step.h"

/* Runs the work of a row `iterations` times and waits for all of it. */
typedef bool bench_work(void *context, uint32_t times, struct err *e);

struct bench_task {
    const struct bench_request *q;
    struct bench *b;
    struct machine *machines[BENCH_SIDES];
    /* further ones, on which OpenBLAS, or cuBLASLt and cuDNN, compute; NULL: not installed */
    struct machine *libraries[BENCH_SIDES];
    struct modelfile *file; /* of q->model */
    double until;           /* no row begins after it */
};
/* The size of one iteration: its rows, and the bytes and operations of the limit. */
struct bench_size_of { double items, flops, bytes; };
/* Times it and fills the figure. False: the machine failed, or a signal asked to end. */
bool bench_time(struct bench_task *t, enum bench_side side, bench_work *work, void *context,
                const struct bench_size_of *of, const char *precision, struct bench_figure *f,
                struct err *e);

/* Figures of an emulated device describe the emulator. */
static inline bool bench_claims(const struct bench *b, int side)
{
    return side == BENCH_CPU || !b->emulated;
}
/* Rows and width of a size; rows are --batch-size if given. */
void bench_shape(const struct bench_task *t, enum bench_size size, uint32_t *rows,
                 uint32_t *width);
bool bench_operation(struct bench_task *t, enum op_id op, enum bench_size size,
                     enum bench_side side, struct bench_figure *f, struct err *e);
/* preset: NULL, or the network's. */
bool bench_job(struct bench_task *t, enum job job, const char *preset, enum bench_size size,
               enum bench_side side, struct bench_figure *f, struct err *e);
/* Cells of CSV found by a reader: 28 numbers a row. */
bool bench_read(struct bench_task *t, bool libcsv, enum bench_size size, struct bench_figure *f,
                struct err *e);
/* The way this side plays a step and a batch of answers of a network of that preset. */
bool bench_path(struct bench_task *t, const char *preset, bool answers, enum bench_side side,
                struct bench_path *p, struct err *e);

#endif
