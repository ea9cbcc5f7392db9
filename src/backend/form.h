/* form.h - 16-bit numbers on the host (enum act_form in ops.h), to read and to make the data of a
 * device. Kernels have their own (kernels/form.cuh). */
#ifndef DNN_BACKEND_FORM_H
#define DNN_BACKEND_FORM_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Not for FORM_REAL. Widening is exact; narrowing rounds to nearest, ties to even; overflow gives
 * infinity. */
float form_widen(uint32_t form, uint16_t bits);
uint16_t form_narrow(uint32_t form, float x);

#ifdef __cplusplus
}
#endif

#endif
