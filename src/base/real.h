/* real.h - the type of parameters, their gradients, optimiser state, logits and losses: float;
 * double in the gradient build (make REAL=double), which central differences need. */
#ifndef DNN_BASE_REAL_H
#define DNN_BASE_REAL_H

#ifdef DNN_DOUBLE
typedef double real;
#else
typedef float real;
#endif

#endif
