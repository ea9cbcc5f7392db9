/* bench.h - `dnn bench`: every operation, steps of training and the other jobs on each machine
 * there is, held against the most that this machine does in loops of our own (backend/peak.h), and
 * the GPU against the CPU. Nothing is compared with a data sheet. */
#ifndef DNN_CHECK_BENCH_H
#define DNN_CHECK_BENCH_H

#include "backend/peak.h"
#include "choose/select.h"

enum bench_size { BENCH_SMALL, BENCH_MEDIUM, BENCH_LARGE, BENCH_SIZES };
enum bench_side { BENCH_CPU, BENCH_GPU, BENCH_SIDES };
extern const char *const bench_size_names[]; /* NULL-terminated */

struct bench_request {
    const char *model;             /* its network in place of ours, jobs alone; NULL */
    const char *const *operations; /* of bench_names; none: all */
    size_t operation_count;
    int size;                      /* enum bench_size; -1: all */
    int64_t iterations;            /* of each row; 0: as many as the time allows */
    struct overrides command;      /* --backend, --device, --threads, --batch-size */
};
/* One row on one side. The median of some repeats; a repeat times many iterations. */
struct bench_figure {
    bool made;
    double seconds;    /* of one iteration, the mean of the middle repeat */
    /* rows a second; parameters a second of an operation that works on parameters */
    double throughput;
    double success;    /* 1: an iteration that fails gives no row */
    double percent;    /* of the limit; negative: none was measured */
    double rate;       /* bytes a second of a reader; 0 elsewhere */
};
/* The way a machine plays a job of a preset. */
struct bench_path {
    bool made, stacks; /* stacks: its layers say that they may be one piece (model_stacks) */
    struct machine_path path;
};
enum { BENCH_PRESETS = 16 };
enum { BENCH_PATHS = 2 }; /* of steps, of answers */
struct bench_preset {
    const char *name;
    struct bench_path path[BENCH_PATHS][BENCH_SIDES];
};
struct bench_row {
    const char *name;  /* of an operation or a job */
    struct bench_figure figures[BENCH_SIZES][BENCH_SIDES];
};
enum { BENCH_COPIES = 4, BENCH_ROWS = 96 };
struct bench_limits {
    double peaks[PEAK_KINDS];      /* 0: none; copies: the largest one's */
    double copy_bytes[BENCH_COPIES], copies[BENCH_COPIES];
};
struct bench {
    struct selection backend;
    bool has[BENCH_SIDES];
    char device[BENCH_SIDES][96], precision[BENCH_SIDES][8];
    bool emulated;                 /* the device: nothing is claimed of it */
    char missing[256];             /* why there is no GPU; "": it exists, or none was asked for */
    struct bench_limits limits[BENCH_SIDES];
    struct bench_row rows[BENCH_ROWS];
    unsigned count;
    struct bench_preset presets[BENCH_PRESETS]; /* filled if all rows were wanted */
    unsigned preset_count;
    unsigned left_out;             /* figures that the time did not allow */
    double seconds;
};

/* The name of each row: operations, then jobs. NULL after the last. */
const char *bench_name(size_t index);
bool bench_run(const struct bench_request *q, struct bench *b, struct err *e);
void bench_json(const struct bench *b, struct json_out *out); /* dnn.bench/1 */
void bench_text(const struct bench *b, struct text *out);

#endif
