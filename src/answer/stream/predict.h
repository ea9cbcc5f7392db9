/* predict.h - rows in, answers out: bounded memory, same order, same count. Needs nothing but the
 * model file. */
#ifndef DNN_ANSWER_PREDICT_H
#define DNN_ANSWER_PREDICT_H

#include "answer/stream/serve.h"
#include "answer/stream/stream.h"
#include "choose/select.h"
#include "measure/gate.h"

struct predict_request {
    struct rows_request rows; /* tsv: out as well; csv, or neither: CSV out */
    const char *output;       /* "-" is standard output */
    const char *passthrough; /* list of names, or "all" */
    uint32_t top;            /* 0, or the number of likeliest classes to write */
    bool uncertainty;        /* a last column with it */
    const double *threshold; /* NULL: the model's */
    const char *null_text;   /* --null */
    char *const *require;    /* "unseen<=0.01" */
    size_t require_count;
};
struct predict_result {
    uint64_t rows, bad_rows; /* records read; of these, without an answer */
    uint64_t answers;
    uint64_t held[2]; /* values that the model's range held at its low and at its high end */
    struct serve serve;      /* the model; freed by predict_release */
    struct drift *drift;     /* freed by predict_release */
    struct gate *gates;      /* of --require, in order */
    size_t gate_count;
    bool passed;             /* every gate passed; the answers are written in any case */
    double load_s, predict_s, total_s;
};
/* On failure a file that was to be written is as it was; lines on standard output stay. */
bool predict_run(const struct predict_request *q, struct predict_result *r, struct err *e);
void predict_write(const struct predict_result *r, struct json_out *out); /* dnn.predict/1 */
void predict_release(struct predict_result *r); /* after success and after failure */

#endif
