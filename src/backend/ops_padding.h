/* ops_padding.h - which rows of an operation are padding. Part of ops.h. */
#ifndef DNN_BACKEND_OPS_PADDING_H
#define DNN_BACKEND_OPS_PADDING_H

/* Row i is step i % each of sequence i / each, padding from its length on. A machine may leave out
 * the products of such rows and put 0 for them. length NULL: there is no padding. */
struct padding {
    const int32_t *length;     /* [rows / each] */
    uint32_t each, pad;
};

#endif
