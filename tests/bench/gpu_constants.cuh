/* gpu_constants.cuh - what the files of gpu_constants share: numbers told, data, the clock. */
#ifndef DNN_BENCH_GPU_CONSTANTS_CUH
#define DNN_BENCH_GPU_CONSTANTS_CUH

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card/card.cuh"

extern cudaStream_t stream; /* where work is put and timed */
extern int sms;             /* multiprocessors of the card */

void say(const char *name, double value, const char *unit);
void without(const char *name, const char *why); /* null, and why */
/* True when there is no error; else the number is left out, and the error forgotten. */
bool had(const char *name, cudaError_t code);

/* Random: zeros are faster than anybody's data. */
void fill(float *at, size_t n, unsigned seed);

__global__ void nothing(int *sink);

void launches(void);
void barriers(void);
void copies(void);
void products(void);

/* Milliseconds of one call of `work`, which puts `each` of them on the stream; the median of 7
 * rounds after one that is not counted. Negative: it failed. */
template <class W> static double milliseconds(W work, int each)
{
    enum { ROUNDS = 7 };
    double took[ROUNDS];
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    work();
    if (cudaStreamSynchronize(stream) != cudaSuccess)
        return -1;
    for (int i = 0; i < ROUNDS; i++) {
        float ms = 0;
        cudaEventRecord(from, stream);
        for (int k = 0; k < each; k++)
            work();
        cudaEventRecord(to, stream);
        if (cudaEventSynchronize(to) != cudaSuccess)
            return -1;
        cudaEventElapsedTime(&ms, from, to);
        double v = ms / each;
        int at = i;
        for (; at > 0 && took[at - 1] > v; at--)
            took[at] = took[at - 1];
        took[at] = v;
    }
    cudaEventDestroy(from);
    cudaEventDestroy(to);
    return took[ROUNDS / 2];
}

#endif
