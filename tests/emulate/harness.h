/* harness.h - what tests of kernels share: memory of the emulated device filled from the host, and
 * a machine that starts kernels at once. */
#ifndef EMULATE_HARNESS_H
#define EMULATE_HARNESS_H

#include <stdlib.h>
#include <string.h>

#include "device.cuh"
#include "emulate.h"
#define TAP_ALONE
#include "tap.h"

/* Device memory with these bytes; freed by device_drop_all. */
void *device_put(const void *from, size_t bytes);
/* Never written: 0xff bytes that the shadow knows as such. */
void *device_room(size_t bytes);
void device_drop_all(void);
/* All of it written by kernels or the host: the host would read rubbish otherwise. */
bool device_written(const void *at, size_t bytes);

template <class T> static inline T *device_array(const T *from, size_t n)
{
    return (T *)device_put(from, n * sizeof(T));
}
template <class T> static inline T *device_empty(size_t n)
{
    return (T *)device_room(n * sizeof(T));
}

/* What device_sms says: 3 at first. */
extern unsigned device_sms_wanted;
/* Called after each launch, unless NULL. */
extern void (*device_launched)(const char *kernel);

/* How many random shapes a test tries: EMULATE_SHAPES, else `usual`. */
unsigned shapes_wanted(unsigned usual);
static inline void shape_try(const char *test, uint32_t seed, void (*one)(uint32_t seed))
{
    int before = tap_failed;
    one(seed);
    if (tap_failed > before)
        printf("# again: %s shape %u\n", test, seed);
}
/* The random shapes of a test, seeds 0 to wanted - 1; one that fails is told with the words that
 * try it again, "TEST shape SEED". True: the command line has these, and it alone was tried. */
static inline bool shapes_try(int count, char **words, unsigned wanted, void (*one)(uint32_t seed))
{
    const char *slash = strrchr(words[0], '/'), *test = slash ? slash + 1 : words[0];
    if (count > 2)
        shape_try(test, (uint32_t)strtoul(words[2], NULL, 10), one);
    for (uint32_t seed = 0; seed < wanted && count <= 2; seed++)
        shape_try(test, seed, one);
    return count > 2;
}
/* What device_wgmma answers; false at first. */
extern bool harness_wgmma;

/* What device_block_bytes says: a test may play a smaller card. */
extern size_t block_bytes;

/* Whether a child that runs this dies of it. */
bool dies(void (*body)(void));

/* Small numbers of both signs, from a seed; exact in few bits when `coarse`. */
static inline float number(uint32_t seed, size_t i)
{
    uint32_t x = (uint32_t)i * 0x9E3779B1u + seed * 0x85EBCA77u;
    x ^= x >> 15;
    x *= 0x2C1B3C6Du;
    x ^= x >> 12;
    return (float)(x >> 8) / 8388608.0f - 1.0f;
}
/* n of them on the device, with a copy for the host; *host is freed by device_drop_all too. */
float *device_numbers(uint32_t seed, size_t n, float **host);

#endif
