/* serve.h - a model file on a machine, ready to answer records. predict, evaluate and verify stand
 * on it. */
#ifndef DNN_ANSWER_SERVE_H
#define DNN_ANSWER_SERVE_H

#include "answer/stream/held.h"
#include "answer/stream/reading.h"
#include "choose/select.h"
#include "measure/criterion.h"
#include "measure/probability.h"
#include "model/file/modelfile.h"
#include "model/network/step.h"

enum { SERVE_ANSWERS = 4096 }; /* answers that a GPU keeps until all are computed */

struct serve;
/* The loss that counts for its answers. Borrows from s. */
struct criterion serve_criterion(const struct serve *s);
/* A network of the model at work. */
struct serve_member {
    struct network *network; /* made by the first answer */
    struct stepper *stepper;
};
/* Records on their way to their answers. */
struct answering {
    struct serve *s;
    unsigned char *records;
    uint64_t count;
    uint64_t reads; /* what the network reads at once: windows, or records */
    const uint32_t *windows; /* of records, as of a source; NULL: each record is read alone */
    const uint32_t *begins;  /* NULL: no state is carried */
    real *logits;
    struct source source;
    unsigned char *chunk; /* of the source */
    bool beside;          /* the thread of the device computes it */
    bool good;
    struct err e;
};

struct serve {
    struct modelfile *file;
    const struct schema *schema; /* of the first encoder */
    struct encoder *const *encoders; /* [encoder_count] */
    uint32_t encoder_count;
    /* bytes of the longest record: n records of encoder k begin at k * n * stride, and are
     * contiguous */
    size_t stride;
    struct features **features; /* [encoder_count] */
    struct selection backend;
    uint32_t outputs;
    struct serve_member *members; /* [member_count], as in the file */
    uint32_t member_count;
    double *weights; /* of the members in the mean of their answers; the sum is 1 */
    struct decision decision; /* the model's, with its offsets; serve_threshold changes it */
    struct held held;        /* of --part: the records to be answered; else none */
    const struct target_coding **codings; /* [member_count], of each one's encoder */
    struct backend_options options;
    bool has_options;
    enum job job;
    /* A thread of its own drives the device (device_thread.h), so that a call which hangs ends in
     * an error. True; set before the first answer. */
    bool beside;
    uint64_t expected; /* rows of the first answer, if more than its call gives */
    struct setting *settings;
    size_t setting_count;
    struct machine *machine; /* opened by the first answer */
    struct plan plan;
    struct answering now;
};

/* The options of a network that answers, without the rows of a batch. serve_rows sets the rows for
 * `count` rows to come: as chosen, or (0) few enough that activations stay small. */
struct network_options serve_network(const struct architecture *a,
                                     const struct features *features, bool gpu);
bool serve_rows(struct network_options *o, struct machine *m, uint64_t count, int64_t chosen,
                struct err *e);

/* Reads the model, says which machine serves. Starts no thread, takes no memory but the file's. */
bool serve_open(struct serve *s, const struct rows_request *q, enum job job, struct err *e);
/* Another threshold than the model's; NULL: that one. E10: not from 0 to 1, or no binary task. */
bool serve_threshold(struct serve *s, const double *threshold, struct err *e);
/* Before the first stream: files are read as q says, and streams answer its part alone. */
bool serve_take(struct serve *s, const struct rows_request *q, struct err *e);
/* Starts the thread pool if `records` records or `bytes` bytes of input (0: not known) are worth
 * it, and chooses the machine. Call it before the first answer. piped: the input is a pipe. */
void serve_threads(struct serve *s, uint64_t records, uint64_t bytes, bool piped);
/* Logits [members][count][outputs] of applied records [encoders][count]. A function of
 * each record alone. */
bool serve_answer(struct serve *s, unsigned char *records, uint64_t count, real *logits,
                  struct err *e);
/* Logits [members][windows][answers][outputs] of windows of such records, SOURCE_NONE after the end
 * of each; answers: one, or one each record. They depend on the window only; with carry_state also
 * on earlier windows of the group: begins [windows] is 1 for the first one of a group; the first
 * window may continue the last one of the call before. */
bool serve_answer_windows(struct serve *s, unsigned char *records, uint64_t count,
                          const uint32_t *windows, const uint32_t *begins, uint64_t window_count,
                          real *logits, struct err *e);
/* serve_answer in two halves: in between, records and logits are left alone, and nothing else is
 * asked. A device computes meanwhile; elsewhere, and the first time, all is done at the end. */
void serve_begin(struct serve *s, unsigned char *records, uint64_t count, real *logits);
bool serve_end(struct serve *s, struct err *e);
/* The answers of `rows` records as the mean of all members, from those logits. */
struct answer_mean serve_mean(const struct serve *s, const real *logits, uint64_t rows);
/* True: a device computes while this thread works; known after serve_threads. */
bool serve_overlaps(const struct serve *s);
void serve_close(struct serve *s);

#endif
