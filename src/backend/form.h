/* form.h - numbers of 16 bits on the host (enum act_form in ops.h): what a device has kept, and
 * what it is given by whoever compares. Kernels have their own (kernels/form.cuh). */
#ifndef DNN_BACKEND_FORM_H
#define DNN_BACKEND_FORM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Not of FORM_REAL. Exact; and to nearest, ties to even, what is too large to infinity. */
float form_widen(uint32_t form, uint16_t bits);
uint16_t form_narrow(uint32_t form, float x);

#ifdef __cplusplus
}
#endif

#endif
