/* form.c - bf16 is the upper half of a float; fp16 has 5 bits of exponent, 10 of mantissa, and
 * below 2^-14 multiples of 2^-24 (IEEE 754). */
#include "backend/form.h"

#include <math.h>
#include <string.h>

#include "backend/ops.h"

enum { NOT_A_NUMBER = 0x7fff };

float form_widen(uint32_t form, uint16_t bits)
{
    uint32_t word = (uint32_t)bits << 16;
    int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    float x;
    if (form == FORM_BF16) {
        memcpy(&x, &word, sizeof x);
        return x;
    }
    if (exponent == 31)
        x = mantissa ? NAN : INFINITY;
    else
        x = ldexpf((float)(exponent ? mantissa + 1024 : mantissa), (exponent ? exponent : 1) - 25);
    return bits >> 15 ? -x : x;
}

/* For x >= 0: the nearest multiple of the distance between neighbours of that size. */
static uint16_t half_of(float x)
{
    int exponent;
    if (x >= 65520)
        return 0x7c00;
    if (x < 0x1p-14f)
        return (uint16_t)nearbyintf(ldexpf(x, 24));
    frexpf(x, &exponent); /* x = f 2^exponent, f in [0.5, 1) */
    unsigned steps = (unsigned)nearbyintf(ldexpf(x, 11 - exponent)); /* 1024 to 2048 */
    return (uint16_t)(((unsigned)(exponent + 13) << 10) + steps);
}

uint16_t form_narrow(uint32_t form, float x)
{
    uint32_t word;
    if (isnan(x))
        return NOT_A_NUMBER;
    memcpy(&word, &x, sizeof word);
    if (form == FORM_BF16)
        return (uint16_t)((word + 0x7fffu + (word >> 16 & 1)) >> 16);
    return (uint16_t)(half_of(fabsf(x)) | (word >> 16 & 0x8000u));
}
