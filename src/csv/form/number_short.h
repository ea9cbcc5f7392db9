/* number_short.h - parses most numbers without a loop: at most 16 bytes, no exponent, as two words
 * of eight digits. Inlined by its users. Private to number.c and src/table. */
#ifndef DNN_CSV_NUMBER_SHORT_H
#define DNN_CSV_NUMBER_SHORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__BYTE_ORDER__) || __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "digits are read as little-endian words"
#endif

#define NUMBER_EACH(byte) (0x0101010101010101u * (uint64_t)(byte))
#define NUMBER_EXACT (UINT64_C(1) << 53)

static const double number_tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                      1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
#define NUMBER_TENS 22

static inline uint64_t number_load8(const char *at)
{
    uint64_t w;
    memcpy(&w, at, sizeof w);
    return w;
}

static inline uint64_t number_load4(const char *at)
{
    uint32_t w;
    memcpy(&w, at, sizeof w);
    return w;
}

static inline uint64_t number_load1(const char *at)
{
    return (unsigned char)*at;
}

/* Sets 0x80 in each byte of x that is zero, 0 in the others. */
static inline uint64_t number_zero_bytes(uint64_t x)
{
    return ~(((x & NUMBER_EACH(0x7F)) + NUMBER_EACH(0x7F)) | x | NUMBER_EACH(0x7F));
}

/* True if every byte of x is 0..9. */
static inline bool number_all_digits(uint64_t x)
{
    return (((x + NUMBER_EACH(0x76)) | x) & NUMBER_EACH(0x80)) == 0;
}

/* Converts eight bytes 0..9, first digit lowest, to a number: pairs, then fours, then eight. */
static inline uint64_t number_eight_digits(uint64_t x)
{
    x = x * 10 + (x >> 8);
    uint64_t low = (x & 0x000000FF000000FFu) * (100 + (UINT64_C(1000000) << 32));
    uint64_t high = (x >> 16 & 0x000000FF000000FFu) * (1 + (UINT64_C(10000) << 32));
    return (low + high) >> 32;
}

static inline double number_signed(double v, bool negative)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    bits |= (uint64_t)negative << 63;
    memcpy(&v, &bits, sizeof v);
    return v;
}

/* Parses -?digits[.digits], at most 16 bytes without the sign. False: another form, or more than 53
 * bits. */
static inline bool number_short(const char *text, size_t length, char decimal, double *value)
{
    bool negative = length && *text == '-';
    size_t n = length - negative;
    const char *end = text + length;
    text += negative;
    if (n == 0 || n > 16)
        return false;
    uint64_t low, high; /* the last sixteen characters, padded with '0' in front */
    const uint64_t zeros = NUMBER_EACH('0');
    if (n >= 8) {
        size_t half = 4 * (16 - n); /* two shifts: a shift by 64 is undefined */
        high = number_load8(end - 8);
        low = number_load8(text) << half << half | zeros >> (4 * (n - 8)) >> (4 * (n - 8));
    } else if (n >= 4) {
        high = number_load4(text) | number_load4(end - 4) << (8 * (n - 4));
        high = high << (8 * (8 - n)) | zeros >> (8 * n);
        low = zeros;
    } else {
        size_t middle = n >> 1;
        high = number_load1(text) | number_load1(text + middle) << (8 * middle) |
               number_load1(end - 1) << (8 * (n - 1));
        high = high << (8 * (8 - n)) | zeros >> (8 * n);
        low = zeros;
    }
    high ^= zeros;
    low ^= zeros;
    uint64_t point = NUMBER_EACH((unsigned char)decimal ^ '0');
    uint64_t point_high = number_zero_bytes(high ^ point);
    uint64_t point_low = number_zero_bytes(low ^ point);
    size_t places = 0;
    if (point_high) { /* move the digits before the point right by one byte, over it */
        places = (size_t)__builtin_clzll(point_high) / 8;
        size_t shift = 8 * (7 - places); /* bits of the point's place */
        uint64_t left = high & ((UINT64_C(1) << shift) - 1);
        uint64_t right = high >> shift >> 8 << shift << 8;
        high = right | left << 8 | low >> 56;
        low <<= 8;
    } else if (point_low) {
        size_t in_low = (size_t)__builtin_clzll(point_low) / 8, shift = 8 * (7 - in_low);
        uint64_t left = low & ((UINT64_C(1) << shift) - 1);
        uint64_t right = low >> shift >> 8 << shift << 8;
        low = right | left << 8;
        places = 8 + in_low;
    }
    bool point_found = (point_high | point_low) != 0;
    if (!number_all_digits(high) || !number_all_digits(low))
        return false;
    if (point_found && (places == 0 || places + 1 == n))
        return false;
    uint64_t w = number_eight_digits(low) * 100000000 + number_eight_digits(high);
    if (w > NUMBER_EXACT)
        return false;
    *value = number_signed((double)w / number_tens[places], negative);
    return true;
}


#endif
