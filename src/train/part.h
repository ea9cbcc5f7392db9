/* part.h - a finished run of an ensemble: its network, encoder, and the answers to the rows that it
 * did not train on. In a file (kind "part") it is the result of `train --run` and a checkpoint of
 * the whole training, MODEL.ckpt-run-<run>.
 *
 * Tensors: schema.*, encoders.0.*; params, buffers (F32); left.logits, test.logits, sample.logits
 * (F32 [rows][outputs]); left.label, test.label (I32) or left.target, test.target (F64);
 * left.weight, test.weight (F32); left.group, test.group (I64, if rows have groups); left.judged,
 * test.judged (I64: the number of all rows, then the place of each; if the time limit left no time
 * to answer all of them); sample.text (U8), sample.offsets (I64 [rows * cells + 1]); constant (F64
 * [outputs]); counters (I64: run, member, fold, rows, epochs, best epoch); fingerprint.* as in a
 * model; times (F64: seconds, used); history (F64 [epochs * 4]); config (U8). Tensors without
 * elements are absent. Metadata: kind, format, plan, data, stopped. */
#ifndef DNN_TRAIN_PART_H
#define DNN_TRAIN_PART_H

#include "backend/backend.h"
#include "model/file/modelfile.h"
#include "table/dataset/dataset.h"

#define PART_FORMAT 1

/* Rows with their truth and the answers of a run. */
struct part_rows {
    uint64_t count;
    int32_t *label; /* classes: [count] */
    double *target; /* regression: [count], in its own units */
    float *weight;  /* [count] */
    uint64_t *group; /* [count], a hash of the row's group; NULL: rows have none */
    real *logits;   /* [count][outputs] */
    uint64_t *at; /* [count] places among all rows, ascending; NULL: these are all */
    uint64_t of;  /* all rows, if `at` is given */
};
struct run_part {
    uint32_t run, member, fold, outputs;
    uint64_t rows; /* of the data, but the test rows */
    int64_t epochs, best_epoch;
    char stopped[16];
    double seconds;
    double used; /* seconds of the whole training when it ended, with earlier processes */
    struct plan plan;
    struct encoder *encoder; /* of the run; only read */
    bool owns;               /* it and known, as a part that was read does */
    real *params, *buffers;
    bool borrows; /* them: they are a network's */
    uint64_t param_count, buffer_count;
    double *history; /* [history_rows][HISTORY_COLUMNS] of modelfile.h */
    uint32_t history_rows;
    struct part_rows left, test; /* left out by the fold; test rows */
    struct table_sample sample;  /* first rows as text */
    real *sample_logits;         /* [sample.rows][outputs] */
    double *constant; /* [outputs]: class shares of the run's training rows; or score_center */
    const struct fingerprint *known; /* of the rows of the whole training; NULL: none */
    char *config;     /* JSON text: the portable resolved config */
    char data[65];
};

/* Writes aside, syncs, renames: durable when true. */
bool part_save(const struct run_part *p, const char *path, struct err *e);
/* Checks everything but param_count and buffer_count, which follow from the config. E15, exit 76.
 * Caller: part_free. */
struct run_part *part_load(const char *path, struct err *e);
void part_free(struct run_part *p);
bool part_whole(const struct run_part *p); /* not cut short by the time limit */
void part_rows_free(struct part_rows *r);
uint64_t part_rows_all(const struct part_rows *r); /* also rows without an answer */
/* Keeps the answers to rows that `as` has: they are among r's. A smaller sample is part of a larger
 * one (judged_draw); else CHECKPOINT_OTHER. */
bool part_rows_keep(struct part_rows *r, const struct part_rows *as, uint32_t outputs,
                    struct err *e);
/* Joins rows of one line [count], a number below `lines` each, that rises: their logits are
 * averaged, their truth is that of the last. */
void part_rows_join(struct part_rows *r, const uint32_t *line, uint64_t lines, uint32_t outputs);

#endif
