/* stream_input.h - the inputs of a stream: opens one after another and matches its columns with the
 * model's. Private to stream*.c. */
#ifndef DNN_ANSWER_STREAM_INPUT_H
#define DNN_ANSWER_STREAM_INPUT_H

#include "answer/stream/stream.h"

/* Splits the names of --columns into t->given; E10. */
bool input_columns(struct stream *t, const char *columns, struct err *e);
/* Opens input t->at, reads its header and binds its columns. */
bool input_open(struct stream *t, struct err *e);
/* Takes note if the open input looks like text in another encoding. */
void stream_look(struct stream *t);
void input_close(struct stream *t);
const char *input_name(const struct stream *t, size_t at); /* its path, or "standard input" */

/* An input that was open before the present one. */
struct input {
    struct csv *csv;
    const char *const *names;
    size_t name_count, least, at;
    struct binding binding;
    bool bound;
};
/* Takes the open input out of the stream, for another one to be opened. */
void input_keep(struct stream *t, struct input *before);
void input_swap(struct stream *t, struct input *other);
/* True: both are known to have the same columns in the same order. */
bool input_alike(const struct stream *t, const struct input *before);
void input_forget(struct stream *t, struct input *before);
/* The error that the first row has `count` cells, other than the model or --columns. False; without
 * an error if the width is known from a header. */
bool stream_width(const struct stream *t, const char *path, int64_t line, size_t count,
                  struct err *e);

#endif
