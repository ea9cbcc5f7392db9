/* number.c - three methods, one result. Up to 16 bytes without an exponent: two words of eight
 * digits, without a loop (most cells). Others: the first 19 digits by Clinger's exact division or
 * the product of Eisel and Lemire. Undecided cases: strtod. */
#include "csv/form/number.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "csv/form/number_powers.h"
#include "csv/form/number_short.h"

__extension__ typedef unsigned __int128 wide;

/* Midpoint of the largest float and the next power of two: this and larger numbers round to
 * infinity. */
#define FLOAT_BEYOND 0x1.ffffffp127
#define DIGITS_MOST 19 /* always fit 64 bits */

/* Rounds w * 10^q to the nearest double, ties to even; w is not 0. False: undecided, or outside the
 * table. */
static bool eisel_lemire(uint64_t w, int64_t q, double *value)
{
    if (q < POWER_LOW || q > POWER_HIGH)
        return false;
    int zeros = __builtin_clzll(w);
    w <<= zeros;
    const uint64_t *power = power_of_five[q - POWER_LOW];
    wide product = (wide)w * power[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if ((high & 0x1FF) == 0x1FF) { /* the power's lower half may carry into the result */
        uint64_t more = (uint64_t)((wide)w * power[1] >> 64);
        low += more;
        high += low < more;
    }
    if (low == UINT64_MAX && (q < -27 || q > 55))
        return false;
    int top = (int)(high >> 63), shift = top + 9;
    uint64_t mantissa = high >> shift; /* 54 bits: 53 and one to round */
    /* floor(q * log2(5)) + q: the binary exponent of 10^q */
    int64_t exponent = (q * 217706 >> 16) + 63 + top - zeros + 1023;
    if (exponent <= 0 || exponent >= 2046)
        return false;
    /* a tie with an even result: round down */
    if (low <= 1 && q >= -4 && q <= 23 && (mantissa & 3) == 1 && mantissa << shift == high)
        mantissa &= ~UINT64_C(1);
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= UINT64_C(1) << 53) {
        mantissa = UINT64_C(1) << 52;
        exponent++;
    }
    uint64_t bits = (mantissa & ((UINT64_C(1) << 52) - 1)) | (uint64_t)exponent << 52;
    memcpy(value, &bits, sizeof bits);
    return true;
}

/* Parses with strtod. The locale is always "C". */
static double library(const char *text, size_t length, char decimal)
{
    char small[128], *copy = length < sizeof small ? small : mem_alloc(length + 1, 1);
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (decimal != '.') {
        char *point = memchr(copy, decimal, length);
        if (point)
            *point = '.';
    }
    int before = errno;
    double v = strtod(copy, NULL);
    errno = before;
    if (copy != small)
        mem_free(copy);
    return v;
}

/* State while reading digits. */
struct digits {
    uint64_t w; /* the first DIGITS_MOST significant digits */
    size_t significant; /* all digits without leading zeros */
    bool dropped; /* a digit other than 0 did not fit w */
};

static const char *read_digits(struct digits *d, const char *at, const char *end)
{
    while (end - at >= 8 && d->significant + 8 <= DIGITS_MOST) {
        uint64_t x = number_load8(at) ^ NUMBER_EACH('0');
        if (!number_all_digits(x))
            break;
        d->w = d->w * 100000000 + number_eight_digits(x);
        if (d->significant)
            d->significant += 8;
        else if (x) /* skip leading zeros: find the first byte that is not 0 */
            d->significant = 8 - (size_t)__builtin_ctzll(x) / 8;
        at += 8;
    }
    for (; at < end && text_is_digit(*at); at++) {
        unsigned digit = (unsigned)(*at - '0');
        if (d->significant < DIGITS_MOST) {
            d->w = d->w * 10 + digit;
            d->significant += d->significant || digit;
        } else {
            d->dropped |= digit != 0;
            d->significant++;
        }
    }
    return at;
}

/* Reads an exponent after its e; NULL: invalid. Saturates beyond the range of doubles. */
static const char *read_exponent(const char *at, const char *end, int64_t *exponent)
{
    bool minus = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end || !text_is_digit(*at))
        return NULL;
    int64_t v = 0;
    for (; at < end && text_is_digit(*at); at++)
        if (v < INT64_C(1) << 40)
            v = v * 10 + (*at - '0');
    *exponent = minus ? -v : v;
    return at;
}

static enum number_result long_decimal(const char *text, size_t length, char decimal, double *value)
{
    const char *end = text + length, *at = text + (*text == '-' || *text == '+');
    struct digits d = {0};
    const char *from = at;
    at = read_digits(&d, from, end);
    int64_t whole = at - from, places = 0, exponent = 0;
    if (at < end && *at == decimal) {
        from = at + 1;
        at = read_digits(&d, from, end);
        places = at - from;
    }
    if (!whole && !places)
        return NUMBER_BAD;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at = read_exponent(at + 1, end, &exponent);
        if (!at)
            return NUMBER_BAD;
    }
    if (at != end)
        return NUMBER_BAD;

    int64_t unread = d.significant > DIGITS_MOST ? (int64_t)(d.significant - DIGITS_MOST) : 0;
    int64_t q = exponent - places + unread;
    double v, other;
    if (d.w == 0) {
        v = 0;
    } else if (!d.dropped && d.w <= NUMBER_EXACT && q >= -NUMBER_TENS && q <= NUMBER_TENS) {
        v = q < 0 ? (double)d.w / number_tens[-q] : (double)d.w * number_tens[q];
    } else if (!eisel_lemire(d.w, q, &v) ||
               (d.dropped && (!eisel_lemire(d.w + 1, q, &other) || v != other))) {
        v = fabs(library(text, length, decimal));
    }
    if (v >= FLOAT_BEYOND)
        return NUMBER_RANGE;
    *value = number_signed(v, *text == '-');
    return NUMBER_OK;
}

enum number_result number_parse(const char *text, size_t length, char decimal, double *value)
{
    if (length == 0)
        return NUMBER_BAD;
    return number_short(text, length, decimal, value) ? NUMBER_OK
                                                      : long_decimal(text, length, decimal, value);
}

bool number_is_code(const char *text, size_t length)
{
    size_t at = 0, behind;
    while (at < length && text[at] >= '0' && text[at] <= '9')
        at++;
    for (behind = at + 1; behind < length && text[behind] >= '0' && text[behind] <= '9';)
        behind++;
    return at > 0 && at + 1 < length && text[at] == 'E' && behind == length;
}
