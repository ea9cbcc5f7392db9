/* clock.h - CLOCK_MONOTONIC in seconds. dnn never reads the wall clock. */
#ifndef DNN_BASE_CLOCK_H
#define DNN_BASE_CLOCK_H

double clock_now(void);

#endif
