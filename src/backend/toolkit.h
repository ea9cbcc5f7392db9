/* toolkit.h - CUDA toolkits that build the kernels: the driver each needs and the cards it makes
 * machine code for. The one list: refusals, gpucheck, `dnn help gpu` and the README's table are
 * made from it. Source: the makers' release notes of each toolkit (its table of driver versions,
 * minor-version compatibility included) and of cuDNN. extern "C" clean. */
#ifndef DNN_BACKEND_TOOLKIT_H
#define DNN_BACKEND_TOOLKIT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct toolkit {
    unsigned first, last; /* releases, 10 * major + minor: 128 is 12.8 */
    const char *driver;   /* on Linux, at least */
    const char *cudnn;    /* that goes with it, as a guest */
    unsigned least, most; /* compute capability of cards, 10 * major + minor */
    const char *newest;   /* the newest card of the row */
};

/* Row i, NULL after the last. */
const struct toolkit *toolkit_at(size_t i);
/* The row of a release, 10 * major + minor. Newer than the list: the last row; older: NULL. */
const struct toolkit *toolkit_of(unsigned release);
/* The oldest row whose toolkits compile for a card of this capability; NULL: none. */
const struct toolkit *toolkit_for(unsigned capability);

#ifdef __cplusplus
}
#endif
#endif
